"""The independent simulator agrees with ours where both hold the same truth, and differs where it should."""

import numpy as np
import pytest

from other_truths import RobotNumbers, Truth, TruthSensors, other_drive, other_motion, wheel_commands
from robots import busy_scenario, wheel_slip
from slipfit.contact.wheel_slip import spin_yaw_rate
from slipfit.library import find_robot
from slipfit.simulation import simulate
from slipfit.simulation.commands import command_table

P3AT = find_robot("p3at")
NUMBERS = RobotNumbers.of(P3AT)


@pytest.mark.parametrize("mu", [10.0, 0.3])
def test_both_simulators_end_at_the_same_place(mu):
    """Two sets of equations, one truth; 2 mm and 2 mrad after six busy seconds at steps of .1 and .25 ms, also when sliding."""
    scenario = busy_scenario(step_s=1e-4)
    ours = simulate(P3AT, scenario, ground=wheel_slip(mu=mu))
    other = other_motion(NUMBERS, command_table(P3AT, busy_scenario()), Truth(mu=mu))
    assert other.x_m[-1] == pytest.approx(ours.x_m[-1], abs=2e-3)
    assert other.y_m[-1] == pytest.approx(ours.y_m[-1], abs=2e-3)
    assert other.yaw_rad[-1] == pytest.approx(ours.heading_rad[-1], abs=2e-3)


@pytest.mark.parametrize("relaxation_m", [0.0, 0.1])
def test_the_spin_has_the_closed_form_rate(relaxation_m):
    """[Trimble2022] eq. (3): .962765 rad/s. Relaxation delays forces and does not change steady ones;
    the swing it allows dies with 2 sigma / w = 1 s."""
    commands = wheel_commands(NUMBERS, [(30.0, 0.0, 1.0, 0.0)])
    motion = other_motion(NUMBERS, commands, Truth(relaxation_long_m=relaxation_m, relaxation_lat_m=relaxation_m))
    assert motion.yaw_rate_radps[-1] == pytest.approx(spin_yaw_rate(1.0, 10.0, 0.201, 0.125), abs=1e-4)


def test_relaxation_delays_the_spin():
    """A lag of sigma / w = .1 m / .2 m/s = .5 s: far slower than the contact's few milliseconds."""
    commands = wheel_commands(NUMBERS, [(4.0, 0.0, 1.0, 0.0)])
    prompt, late = (other_motion(NUMBERS, commands, Truth(relaxation_lat_m=s)).yaw_rate_radps for s in (0.0, 0.1))
    assert abs(prompt[30] - prompt[-1]) < 1e-4  # the torque limit lets the wheels take .12 s
    assert abs(late[30] - late[-1]) > 1e-2


def test_a_floor_that_changes_slips_more_from_there_on():
    """Slip on the straight is c (m / 4) ∫ w a dt: 10 % more of it where both constants are 10 % larger."""
    commands = wheel_commands(NUMBERS, [(1.0, 0.2, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0)])
    slipped = [
        NUMBERS.radius_m * motion.angle_rad[-1, 0] - motion.x_m[-1]
        for motion in (other_motion(NUMBERS, commands, Truth(floor_change=0.1, other_floor_from_s=t)) for t in (1e9, 0.0))
    ]
    assert slipped[1] / slipped[0] == pytest.approx(1.1, abs=0.01)


def test_a_hard_start_lifts_wheels():
    """Front wheels lift at a = g l / h = 8.07 m/s²: 5 N m per wheel give 4 x 5 / .11 / 20 = 9.1 m/s², ENGINES."""
    commands = wheel_commands(NUMBERS, [(1.0, 0.2, 0.0, 0.0), (1.0, 2.0, 0.0, 0.0)])
    gentle = other_motion(NUMBERS, commands, Truth())
    hard = other_motion(NUMBERS._replace(torque_limit_nm=5.0), commands, Truth())
    assert gentle.lowest_load_n.min() > 0.0 >= hard.lowest_load_n.min()


def test_the_imu_feels_the_wheels_centre():
    """A centre of mass .05 m ahead circles the wheels' centre in a spin; the IMU there feels next to nothing of omega² x."""
    commands = wheel_commands(NUMBERS, [(4.0, 0.0, 1.0, 0.5)])
    log = other_drive(NUMBERS, commands, Truth(com_shift_x_m=0.05), TruthSensors(pose_hz=20.0), 1)
    accel = log["imu"].column("accel_x_mps2")[-1]
    assert abs(accel) < 0.2 * 0.9628**2 * 0.05
    assert log["encoders"].rate_hz == pytest.approx(100.0)
    assert log["pose"].rate_hz == pytest.approx(20.0)
    counts = log["encoders"].values * 4096 / (2 * np.pi)
    assert counts == pytest.approx(np.round(counts), abs=1e-6)
