"""[Shilliday2023], Lynxmotion rover: those numbers of SPEC 4(b) that the planar vehicle on a plane already gives."""

import math

import numpy as np
import pytest

from slipfit.simulate import Scenario, simulate


def drive(volts, seconds=5.0, **ground):
    place = {"surface": "rover_tyre"} | ground
    return simulate("lynxmotion_4wd3", Scenario(commands=[{"for_s": seconds, "wheels_v": volts}], ground=place))


@pytest.mark.parametrize("volts", [10.0, 6.0, 2.0, -6.0])
def test_steady_speed_follows_the_voltage(volts):
    """SPEC: no-load speed .13677 m/s/V; without air drag (which comes with rovers) the rover reaches it."""
    assert drive([volts, volts]).vx_mps[-1] == pytest.approx(0.13677 * volts, abs=1e-4)


def test_a_rigid_shaft_does_not_overshoot():
    """SPEC: 0 %, the damping ratio of motor and load is about 1.4."""
    motion = drive([10.0, 10.0])
    assert motion.vx_mps.max() <= motion.vx_mps[-1] * (1 + 1e-9)


def test_pivot():
    """SPEC: ±6 V: r = 3.0645 rad/s, rim .6029 m/s, ratio to kinematic .632, tolerance 1e-3."""
    motion = drive([-6.0, 6.0])
    rim = motion.wheel_speed_radps[-1, 1] * 0.0635
    assert motion.yaw_rate_radps[-1] == pytest.approx(3.0645, abs=1e-3)
    assert rim == pytest.approx(0.6029, abs=1e-3)
    assert motion.yaw_rate_radps[-1] * 0.1245 / rim == pytest.approx(0.632, abs=1e-3)


def test_loads_while_climbing():
    """SPEC: nose up 20°: FL 3.869, BL 6.031 N; at constant speed the specific force is gravity's alone."""
    motion = drive([3.0, 3.0], slope_rad=math.radians(20.0))
    assert motion.load_n[-1] == pytest.approx(np.array([3.869, 3.869, 6.031, 6.031]), abs=1e-3)
