"""Books of a drive, and how far it is from tipping over."""

import math

import numpy as np
import pytest

from slipfit.simulation.energy import Energy
from slipfit.simulation.tip_over import tip_over_margin

AT = np.array([[0.1, 0.1245], [0.1, -0.1245], [-0.1, 0.1245], [-0.1, -0.1245]])


def test_books_add_up():
    books = Energy(100.0, 110.0, 1.0, 20.0, 10.0, 5.0, 0.5, 0.25, 0.25, 2.0, 3.0, 50.0, 1.0, 0.5, 0.5)
    assert books.dissipated_j == pytest.approx(37.0)
    assert books.stored_j == pytest.approx(57.0)
    assert books.remainder_j == pytest.approx(6.0)
    assert books.remainder_share == pytest.approx(6.0 / 110.0)
    assert next(word for word, _ in books.rows()) == "motors' resistance"
    assert math.isnan(Energy(*[0.0] * 15).remainder_share)


@pytest.mark.parametrize(("felt", "half", "name"), [((1, 0), 0.1, "rear"), ((-1, 0), 0.1, "front"), ((0, 1), 0.1245, "right")])
def test_margin_is_the_angle_left(felt, half, name):
    """A robot at rest on a slope of 20° feels g along it: atan(half / h) - 20° are left, over the edge on the lower side."""
    slope, g = math.radians(20.0), 9.81
    f = np.array([[g * math.sin(slope) * felt[0], g * math.sin(slope) * felt[1], g * math.cos(slope)]])
    assert tip_over_margin(AT, (0.0, 0.0, 0.06), f)[0] == pytest.approx(math.atan(half / 0.06) - slope)


def test_wheels_within_others_are_no_edge():
    """Six wheels of three axles, and one place twice: the edges are those of the outer four."""
    inner = np.array([[0.0, 0.1245], [0.0, -0.1245], [0.1, 0.1245], [0.02, 0.05]])
    f = np.array([[1.0, -0.7, 9.0], [-2.0, 0.3, 8.0], [0.1, 3.0, 9.81]])
    com = (0.01, -0.02, 0.08)
    outer = tip_over_margin(AT, com, f)
    assert tip_over_margin(np.vstack([inner, AT]), com, f) == pytest.approx(outer, rel=1e-12)


def test_a_flying_robot_has_no_margin():
    assert np.isnan(tip_over_margin(AT, (0.0, 0.0, 0.06), np.array([[0.0, 0.0, 0.01]]))[0])
