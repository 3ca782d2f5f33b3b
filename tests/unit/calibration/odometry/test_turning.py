"""The effective track from logs: of a known one, and of a simulated robot that slips."""

import numpy as np
import pytest

from slipfit.calibration.odometry.from_log import constants_of_log
from slipfit.calibration.odometry.turning import effective_track_of_log
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from unit.calibration.odometry.loops import loop_log

P3AT = find_robot("p3at")


def turning_log(wide_m, seed=1, *, gyro=False, bias=0.0, sign=1.0):
    """Spins both ways of a robot that turns by (right - left) / wide_m, seen with 5 mrad, or by a gyro with a bias."""
    draw = np.random.default_rng(seed)
    t = np.arange(0.0, 60.0, 0.02)
    rate = 0.6 * np.sign(np.sin(2.0 * np.pi * t / 15.0))
    heading = np.concatenate([[0.0], np.cumsum(rate[:-1]) * 0.02])
    rolled = 0.5 * wide_m * heading / P3AT.wheels.radius_m.value
    stamps = np.round(t * 1e9).astype(np.int64)
    channels = {
        "encoders": Channel("encoders", stamps, np.column_stack([-rolled, rolled]), ("left_angle_rad", "right_angle_rad"))
    }
    if gyro:
        values = np.zeros((len(t), 6))
        values[:, 5] = sign * rate + bias + 0.01 * draw.standard_normal(len(t))
        names = ("accel_x_mps2", "accel_y_mps2", "accel_z_mps2", "gyro_x_radps", "gyro_y_radps", "gyro_z_radps")
        channels["imu"] = Channel("imu", stamps, values, names)
    else:
        yaw = np.angle(np.exp(1j * (sign * heading + 0.005 * draw.standard_normal(len(t)))))
        channels["pose"] = Channel("pose", stamps, np.column_stack([0 * t, 0 * t, yaw]), ("x_m", "y_m", "yaw_rad"))
    return DriveLog(channels, source="spins")


@pytest.mark.parametrize("kind", [{}, {"gyro": True, "bias": 0.03}], ids=["pose", "gyro with bias"])
def test_a_known_track_comes_back(kind):
    found = effective_track_of_log(turning_log(0.55, **kind), P3AT)
    assert abs(found.value - 0.55) < 4.0 * found.std
    assert found.std < 0.003


@pytest.mark.parametrize("name", ["pose", "imu"])
def test_windows_without_headings_are_left_out(name):
    """In 13 s the robot turns by 3.9 rad and back: a line across them says that it did not turn."""
    log = turning_log(0.55, gyro=name == "imu")
    seen = log[name]
    kept = (seen.time_s < 16.0) | (seen.time_s > 29.0)
    silent = log.having(Channel(name, seen.stamps_ns[kept], seen.values[kept], seen.columns))
    found = effective_track_of_log(silent, P3AT)
    assert abs(found.value - 0.55) < 4.0 * found.std
    assert found.std < 0.005


def test_a_log_without_commands_tells_the_track_alone():
    result = constants_of_log(turning_log(0.55), P3AT)
    assert result.powertrain.effective_track_m.value == pytest.approx(0.55, rel=0.01)
    assert any("no commands" in line for line in result.findings)


def test_a_log_without_turns_tells_the_loops_alone():
    result = constants_of_log(loop_log(1), find_robot("atrv_jr"))
    assert result.powertrain.left.lag_s.value == pytest.approx(0.12, abs=0.005)
    assert any("no effective track" in line for line in result.findings)


@pytest.mark.parametrize(
    ("log", "words"),
    [(turning_log(0.55, sign=-1.0), "yaw sign"), (DriveLog({"encoders": turning_log(0.5)["encoders"]}), "neither pose nor gyro")],
    ids=["yaw flipped", "no witness"],
)
def test_what_cannot_be_is_refused(log, words):
    with pytest.raises(LogError, match=words):
        effective_track_of_log(log, P3AT)
