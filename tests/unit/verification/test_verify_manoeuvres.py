"""Drives that suit every robot of the library: wheels stay on the ground, and turn round at rest only."""

import numpy as np
import pytest

from known_twins import known_twin
from slipfit.errors import SimulationError
from slipfit.library import find_robot
from slipfit.twin import Twin
from slipfit.verification.manoeuvres import free_drive, side_slope, speed_step, spin, steepest_ramp_mps2
from slipfit.verification.run import Course

ROBOTS = ["p3at", "husky", "jackal", "warthog", "atrv_jr"]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("make", [spin, speed_step, side_slope, free_drive], ids=lambda f: f.__name__)
def test_no_wheel_lifts(name, make):
    # Slip constants of a P3AT with 49 N per wheel, at the same slip per share of the load.
    robot = find_robot(name)
    scale = 20.0 / robot.mass_kg.value
    twin = known_twin(name, 0.005 * scale, 0.05 * scale)
    motion = make(twin.robot, twin.ground()).motion
    assert not motion.lifted_wheels
    assert np.isfinite(motion.x_m).all()


def test_free_drive_lasts_twenty_seconds_and_wheels_turn_round_at_rest():
    twin = known_twin()
    motion = free_drive(twin.robot, twin.ground()).motion
    assert motion.time_s[-1] == pytest.approx(20.0)
    crossing = np.flatnonzero(np.diff(np.sign(motion.wheel_speed_radps), axis=0).any(axis=1))
    assert np.abs(motion.yaw_rate_radps[crossing]).max() < 0.05
    assert np.abs(motion.vx_mps[crossing]).max() < 0.05


def test_ramps_by_balance_and_motors():
    """P3AT: 0.2 g 0.125 / 0.152 = 1.61 m/s², below half of what 4 times its torque gives."""
    found = steepest_ramp_mps2(find_robot("p3at"), known_twin().ground())
    assert found == pytest.approx(0.2 * 9.81 * 0.125 / 0.152, rel=1e-6)


def test_ramps_are_gentler_where_gravity_is_less():
    """On Mars (3.71 m/s²) a robot tips over at 3.71 / 9.81 of the acceleration; none of its wheels lifts in the drives."""
    data = known_twin().to_mapping()
    data["grounds"]["floor"]["gravity_mps2"] = 3.71
    twin = Twin.from_mapping(data, where="mars")
    assert steepest_ramp_mps2(twin.robot, twin.ground()) == pytest.approx(0.2 * 3.71 * 0.125 / 0.152, rel=1e-6)
    assert not free_drive(twin.robot, twin.ground()).motion.lifted_wheels


def test_commands_are_the_speeds_that_the_twin_reached():
    twin = known_twin()
    drive = speed_step(twin.robot, twin.ground())
    np.testing.assert_array_equal(drive.commands.rows_radps, drive.motion.wheel_speed_radps[1:])


def test_other_laws_are_refused():
    data = known_twin().to_mapping()
    data["grounds"]["floor"] = {
        "law": "coulomb",
        "parameters": {"mu_long": {"value": 0.6, "status": "converged", "source": "known"}},
    }
    with pytest.raises(SimulationError, match="verified with wheel_slip"):
        Course(Twin.from_mapping(data, where="coulomb"))
