"""A side whose encoders are disconnected, of a simulated drive with four wheels: found, named, and told from a real turn."""

from dataclasses import replace

import numpy as np
import pytest

from drives import drive
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog, Severity, inspect_log
from slipfit.logs.channels import wheel_columns

P3AT = find_robot("p3at")
LEFT, RIGHT = [0, 2], [1, 3]


def dead(log, wheels, begin_s=0.0, end_s=np.inf):
    """Angles of some wheels stay as they were while the cable is off, and go on from there."""
    channel = log["encoders"]
    off = (channel.time_s >= begin_s) & (channel.time_s < end_s)
    columns = [channel.columns.index(name) for name in wheel_columns("angle", 4)]
    values = channel.values.copy()
    for k in wheels:
        steps = np.diff(values[:, columns[k]], prepend=values[0, columns[k]])
        values[:, columns[k]] = values[0, columns[k]] + np.cumsum(np.where(off, 0.0, steps))
    return log.having(replace(channel, values=values))


@pytest.mark.parametrize(("wheels", "side"), [(LEFT, "left"), (RIGHT, "right")])
def test_a_side_without_cable_is_fatal(good, wheels, side):
    inspection = inspect_log(dead(good, wheels), P3AT)
    assert inspection.fatal is not None
    assert inspection.fatal.kind == "dead side"
    assert f"the {side} side stays as it is" in inspection.fatal.found


def test_a_cable_that_is_off_for_a_while_costs_these_rows(good):
    """From 3 s to 6 s the robot goes straight at 0.2 to 1 m/s."""
    inspection = inspect_log(dead(good, LEFT, 3.0, 6.0), P3AT)
    assert inspection.fatal is None
    (finding,) = inspection.of_kind("dead side")
    assert finding.severity is Severity.ERROR
    assert finding.is_corrected
    rest = (inspection.corrected["encoders"].stamps_ns - good["encoders"].stamps_ns[0]) / 1e9
    assert not ((rest > 3.1) & (rest < 5.9)).any()


def test_a_good_drive_has_both_sides(good):
    assert not inspect_log(good, P3AT).of_kind("dead side")


def test_a_turn_about_one_side_is_a_turn():
    """v = r b / 2 stands the left side still (b the track): 4 s of it, and back."""
    rate = 0.8
    turn = {"for_s": 4.0, "v_mps": 0.5 * P3AT.track_m * rate, "yaw_rate_radps": rate}
    back = {**turn, "v_mps": -turn["v_mps"], "yaw_rate_radps": -rate}
    log = drive(commands=[{"for_s": 1.5, "v_mps": 0.0}, turn, {"for_s": 1.5, "v_mps": 0.0}, back]).readings
    assert not inspect_log(log, P3AT).of_kind("dead side")


HUSKY = find_robot("husky")


def stuck(*, left=-0.5, right=0.5, yaw_rate=0.0, ahead_mps=0.0, gyro=True, pose=True, commands=None, noise=0.0, seed=0):
    """20 s in which both rims (m/s) keep exactly constant speeds, or `noise` of the right one; `yaw_rate` may be a function."""
    draw, t = np.random.default_rng(seed), np.arange(0.0, 20.0, 0.02)
    stamps = np.round(t * 1e9).astype(np.int64)
    rims = np.column_stack([np.full(len(t), left), right + noise * draw.normal(size=len(t))])
    turning = yaw_rate(t) if callable(yaw_rate) else np.full(len(t), yaw_rate)
    yaw = np.concatenate([[0.0], np.cumsum(turning[1:] * 0.02)])
    way = np.cumsum(ahead_mps * 0.02 * np.column_stack([np.cos(yaw), np.sin(yaw)]), axis=0)
    seen = np.column_stack([way, yaw]) + 0.002 * draw.normal(size=(len(t), 3))
    channels = {
        "encoders": Channel("encoders", stamps, rims / HUSKY.wheels.radius_m.value, ("left_speed_radps", "right_speed_radps"))
    }
    if gyro:
        channels["imu"] = Channel("imu", stamps, (turning + 0.005 * draw.normal(size=len(t)))[:, None], ("gyro_z_radps",))
    if pose:
        channels["pose"] = Channel("pose", stamps, seen, ("x_m", "y_m", "yaw_rad"))
    if commands is not None:
        channels["commands"] = Channel("commands", stamps, np.column_stack(commands(t)), ("v_mps", "yaw_rate_radps"))
    return DriveLog(channels, about="constant rims")


def dead_sides(log):
    return inspect_log(log, HUSKY).of_kind("dead side")


@pytest.mark.parametrize("sensors", [{}, {"pose": False}, {"gyro": False}], ids=["both", "gyro", "pose"])
def test_a_stuck_turn_on_the_spot_with_constant_rims_has_both_sides(sensors):
    """Both sides keep their commanded speeds against each other and nothing turns: the robot is stuck."""
    assert not dead_sides(stuck(**sensors))
    assert not dead_sides(stuck(**sensors, commands=lambda t: (0.0 * t, 1.8 + 0.0 * t)))


@pytest.mark.parametrize("sensors", [{}, {"pose": False}], ids=["both", "gyro"])
def test_a_turn_that_gets_free_has_both_sides(sensors):
    assert not dead_sides(stuck(yaw_rate=lambda t: np.where(t > 10.0, 0.9, 0.0), **sensors))


def test_one_side_that_spins_on_the_spot_beside_a_standing_one_is_stuck():
    """The pose says that the robot stands; without it, nothing tells this from a dead side."""
    assert not dead_sides(stuck(left=0.0, noise=0.02))


def test_a_side_frozen_at_a_speed_beside_a_live_one_is_dead():
    """The robot goes straight at 0.5 m/s, the left side says -0.5 m/s all the time, the right one shakes as it should."""
    assert dead_sides(stuck(noise=0.02, ahead_mps=0.5))
    assert dead_sides(stuck(noise=0.02, pose=False))


def test_a_side_that_says_zero_beside_a_constant_one_is_dead():
    """A simulated drive straight ahead, whose left encoder is off: the right side is exactly constant."""
    assert dead_sides(stuck(left=0.0, ahead_mps=0.5))
    assert dead_sides(stuck(left=0.0, pose=False))


@pytest.mark.parametrize(
    "more",
    [
        {"yaw_rate": lambda t: np.sin(0.5 * t)},
        {"left": 0.2, "ahead_mps": 0.35},
        {"commands": lambda t: (0.5 + 0.3 * np.sign(np.sin(t)), 0.0 * t)},
    ],
    ids=["turns against them", "straight ahead", "commands change"],
)
def test_both_sides_frozen_while_the_robot_does_otherwise_is_found(more):
    """No slip turns a robot against its rims, or lets it go straight ahead with unlike sides; and rims follow commands."""
    assert dead_sides(stuck(**more, pose="commands" not in more))
