"""Wheel loads against statics."""

import numpy as np
import pytest

from slipfit.vehicles.loads import wheel_loads, wheels

FOUR = [[0.2, 0.3], [0.2, -0.3], [-0.2, 0.3], [-0.2, -0.3]]
SIX = [[0.4, 0.3], [0.4, -0.3], [0.0, 0.3], [0.0, -0.3], [-0.5, 0.3], [-0.5, -0.3]]


def loads_of(at, weight, x, y):
    out = np.empty(len(at))
    wheel_loads(wheels(at, 0.1), weight, x, y, out)
    return out


@pytest.mark.parametrize("at", [FOUR, SIX])
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.05, 0.0), (-0.07, 0.04)])
def test_loads_balance_weight_and_moments(at, x, y):
    """Statics: the loads add up to the weight, and their moments to the weight's at its place."""
    loads, at = loads_of(at, 100.0, x, y), np.array(at)
    assert loads.sum() == pytest.approx(100.0)
    assert loads @ at[:, 0] == pytest.approx(100.0 * x, abs=1e-12)
    assert loads @ at[:, 1] == pytest.approx(100.0 * y, abs=1e-12)
    assert (loads > 0.0).all()


def test_rover_nose_up_20_degrees():
    """SPEC 4(b): FL 3.869, BL 6.031 N for the Lynxmotion rover (2.148 kg, h .06 m, wheelbase .20 m) at rest, nose up 20°."""
    slope, at = np.radians(20.0), [[0.1, 0.1245], [0.1, -0.1245], [-0.1, 0.1245], [-0.1, -0.1245]]
    weight = 2.148 * 9.81 * np.cos(slope)
    loads = loads_of(at, weight, -0.06 * np.tan(slope), 0.0)  # f_x / g_n = tan(slope) where the robot is held
    assert loads == pytest.approx([3.869, 3.869, 6.031, 6.031], abs=1e-3)


@pytest.mark.parametrize("at", [FOUR, SIX])
def test_a_wheel_in_the_air_carries_nothing_and_the_others_carry_all(at):
    """Beyond lift-off the loads still add up to the weight (SPEC 4(a): clipping the products would break the sum)."""
    loads = loads_of(at, 100.0, 0.0, 0.5)
    assert loads.sum() == pytest.approx(100.0)
    assert (loads[1::2] == 0.0).all()


def test_uneven_axles_share_by_their_distance():
    """Wheels at x = +.135 and -.134 (another public P3AT): K_front = l_r / L = .134 / .269 for a mass at x = 0."""
    at = [[0.135, 0.197], [0.135, -0.197], [-0.134, 0.197], [-0.134, -0.197]]
    assert loads_of(at, 1.0, 0.0, 0.0)[0] == pytest.approx(0.5 * 0.134 / 0.269)
