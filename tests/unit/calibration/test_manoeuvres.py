"""Manoeuvres are found where the commands put them, whatever the encoders tell."""

import numpy as np
import pytest

from robots import wheel_slip
from slipfit.calibration.manoeuvres import ManoeuvreKind, find_manoeuvres
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.wheel_motion import wheel_motion
from slipfit.simulation import Scenario, simulate

P3AT = find_robot("p3at")
COMMANDS = [
    {"for_s": 1.0, "v_mps": 0.0},
    {"for_s": 2.0, "v_mps": 0.2},
    {"for_s": 2.0, "v_mps": 1.0},
    {"for_s": 2.0, "v_mps": 0.0},
    {"for_s": 6.0, "yaw_rate_radps": -1.0},
    {"for_s": 3.0, "v_mps": 0.5, "yaw_rate_radps": 0.5},
    {"for_s": 1.5, "v_mps": 0.0},
]
SENSORS = {"encoders": {"rate_hz": 100.0}, "imu": {"rate_hz": 100.0, "gyro_noise_radps": 0.002}}


@pytest.fixture(scope="module")
def log():
    return simulate(P3AT, Scenario(commands=COMMANDS, sensors=SENSORS), ground=wheel_slip()).readings


def kinds(found):
    return [m.kind.value for m in found if m.kind is not ManoeuvreKind.STRAIGHT]


def test_manoeuvres_are_found_in_order(log):
    """As commanded: rest, three steps of speed with a rest at the end, a spin, an arc, rest."""
    assert kinds(find_manoeuvres(log, P3AT)) == ["rest", "step", "step", "step", "rest", "spin", "arc", "rest"]


def test_speeds_and_rates_are_those_commanded(log):
    """One count of 4096 is .17 mm; over a plateau of a second that is nothing."""
    found = find_manoeuvres(log, P3AT)
    steps = [(m.from_mps, m.to_mps) for m in found if m.kind is ManoeuvreKind.STEP]
    assert steps == [pytest.approx(pair, abs=0.005) for pair in ((0.0, 0.2), (0.2, 1.0), (1.0, 0.0))]
    (spin,) = [m for m in found if m.kind is ManoeuvreKind.SPIN]
    assert spin.yaw_rate_radps == pytest.approx(-1.0, abs=0.005)
    (arc,) = [m for m in found if m.kind is ManoeuvreKind.ARC]
    assert (arc.to_mps, arc.yaw_rate_radps) == pytest.approx((0.5, 0.5), abs=0.01)


def test_a_step_begins_and_ends_at_steady_speed(log):
    """Commanded at 3 s; with 2 N m the wheels take .3 s. The window holds that and margins of its own."""
    step = [m for m in find_manoeuvres(log, P3AT) if m.kind is ManoeuvreKind.STEP][1]
    assert step.start_ns < step.change_start_ns < 3.0e9 < 3.2e9 < step.change_end_ns < step.end_ns
    assert step.has_margins


def test_the_run_in_of_a_spin_is_left_out(log):
    """Commanded from 7 to 13 s."""
    (spin,) = [m for m in find_manoeuvres(log, P3AT) if m.kind is ManoeuvreKind.SPIN]
    assert spin.start_ns > 7.3e9
    assert spin.end_ns < 13.0e9
    assert spin.duration_s > 5.0


def test_a_slow_run_in_is_seen_by_the_gyro(log):
    """A gyro that creeps to its rate with a time constant of .5 s: after 1.5 s 5 % of the change are still to come."""
    imu = log["imu"]
    values = imu.values.copy()
    late = np.clip(imu.stamps_ns / 1e9 - 7.0, 0.0, None)
    spinning = (late > 0.0) & (late < 6.0)
    values[spinning, 5] *= 1.0 - np.exp(-late[spinning] / 0.5)
    creeping = log.having(Channel("imu", imu.stamps_ns, values, imu.columns))
    (spin,) = [m for m in find_manoeuvres(creeping, P3AT) if m.kind is ManoeuvreKind.SPIN]
    assert spin.start_ns > 8.5e9


def as_told(log, quantity):
    """The same encoders, telling something else."""
    channel = log["encoders"]
    angles = channel.values
    match quantity:
        case "wheel ticks":
            return np.round(angles * 4096 / (2 * np.pi)), tuple(f"wheel_{k}_ticks" for k in range(4))
        case "side angles":
            return angles[:, :2], ("left_angle_rad", "right_angle_rad")
        case "side speeds":
            return np.gradient(angles[:, :2], channel.time_s, axis=0), ("left_speed_radps", "right_speed_radps")
        case "wrapped angles":
            return np.angle(np.exp(1j * angles)), channel.columns
    raise ValueError(quantity)


@pytest.mark.parametrize("quantity", ["wheel ticks", "side angles", "side speeds", "wrapped angles"])
def test_whatever_the_encoders_tell(log, quantity):
    """Angles, ticks or speeds, of wheels or sides: the same manoeuvres, and the same distance within a count or two."""
    values, columns = as_told(log, quantity)
    other = DriveLog({"encoders": Channel("encoders", log["encoders"].stamps_ns, values, columns)})
    assert kinds(find_manoeuvres(other, P3AT, counts_per_turn=4096)) == kinds(find_manoeuvres(log, P3AT))
    expected, got = (wheel_motion(given, P3AT, counts_per_turn=4096).left_m[-1] for given in (log, other))
    assert got == pytest.approx(expected, abs=1e-3)


def test_ticks_need_the_counts_of_a_turn(log):
    values, columns = as_told(log, "wheel ticks")
    other = DriveLog({"encoders": Channel("encoders", log["encoders"].stamps_ns, values, columns)})
    with pytest.raises(LogError, match="give counts_per_turn"):
        find_manoeuvres(other, P3AT)


def test_nan_and_backward_stamps_are_left_out(log):
    channel = log["encoders"]
    values, stamps = channel.values.copy(), channel.stamps_ns.copy()
    values[500:505, 0] = np.nan
    stamps[900] = stamps[890]
    broken = DriveLog({"encoders": Channel("encoders", stamps, values, channel.columns)})
    assert kinds(find_manoeuvres(broken, P3AT)) == kinds(find_manoeuvres(log, P3AT))


def test_a_pause_of_the_encoders_makes_no_step(log):
    """Two seconds lost around the second step: nothing is made up in between."""
    channel = log["encoders"]
    keep = (channel.stamps_ns < 2.5e9) | (channel.stamps_ns > 4.2e9)
    torn = DriveLog({"encoders": Channel("encoders", channel.stamps_ns[keep], channel.values[keep], channel.columns)})
    steps = [m for m in find_manoeuvres(torn, P3AT) if m.kind is ManoeuvreKind.STEP]
    assert [(round(m.from_mps, 1), round(m.to_mps, 1)) for m in steps] == [(0.0, 0.2), (1.0, 0.0)]


def test_a_standing_robot_only_rests():
    stamps = (np.arange(500) * 10_000_000).astype(np.int64)
    still = DriveLog({"encoders": Channel("encoders", stamps, np.zeros((500, 2)), ("left_angle_rad", "right_angle_rad"))})
    assert kinds(find_manoeuvres(still, P3AT)) == ["rest"]
