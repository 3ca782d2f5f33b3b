"""What a place remembers of the wheels that went over it. Plain Python: cells are an array."""

import numpy as np
import pytest

from slipfit.ground import Memory, cell_count, gravity_in_ground, leave_rut, plane, rut_at, rutted, surface

GROUND = rutted(plane(9.81, 0.2), 0.05, window=8)


@pytest.fixture
def memory():
    return Memory(np.zeros(0), np.zeros(cell_count(GROUND)))


def test_untouched_ground_remembers_nothing(memory):
    assert rut_at(GROUND, memory, -3.0, 17.2) == (0.0, 0.0)


@pytest.mark.parametrize("place", [(0.01, 0.01), (-0.3, 2.0), (123.4, -56.7)])
def test_a_place_keeps_its_deepest_sinkage_and_largest_slip(memory, place):
    """Each by itself: the deepest pass need not be the one that slipped the most."""
    for deepest, slip in ((0.01, 0.4), (0.03, 0.1), (0.02, 0.2)):
        leave_rut(GROUND, memory, *place, deepest, slip)
    assert rut_at(GROUND, memory, *place) == (0.03, 0.4)
    assert rut_at(GROUND, memory, place[0] + 0.05, place[1]) == (0.0, 0.0)


def test_tiles_do_not_take_each_others_ruts(memory):
    """A window further on lies the same cell of another tile: untouched, until it is driven over; then the old rut is gone."""
    leave_rut(GROUND, memory, 0.01, 0.01, 0.02, 0.3)
    assert rut_at(GROUND, memory, 0.01 + 8 * 0.05, 0.01) == (0.0, 0.0)
    leave_rut(GROUND, memory, 0.01 + 8 * 0.05, 0.01, 0.01, 0.1)
    assert rut_at(GROUND, memory, 0.01 + 8 * 0.05, 0.01) == (0.01, 0.1)
    assert rut_at(GROUND, memory, 0.01, 0.01) == (0.0, 0.0)


def test_everything_else_is_the_shapes(memory):
    assert surface(GROUND, memory, 1.0, 2.0) == (0.0, 0.0, 0.0)
    assert gravity_in_ground(GROUND) == gravity_in_ground(plane(9.81, 0.2))
