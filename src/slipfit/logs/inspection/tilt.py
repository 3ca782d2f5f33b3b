"""An IMU that is mounted askew: its axes are turned upright.

A robot on a plane turns about its normal, whose direction in the axes of the IMU is that of all three rates: u ~ (k_x, k_y, 1)
with gyro_x = k_x gyro_z, gyro_y = k_y gyro_z. Left alone, gyro_z tells only cos(tilt) of the turning. 4° are 0.24 %, which change
c_lat / c_long of a P3AT by 5 % (docs/theory/calibration, "What cannot be told apart"). At rest gravity must lie along u, too:
where it does not, the floor slopes or one axis of the gyro leaks into another, and nothing is turned.
"""

from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.rest import rest_of

#: Smaller tilts (rad) change the turning by less than 0.004 %.
LEAST_TILT_RAD = np.radians(0.5)

#: Gravity may lie this far off u: accelerometers have biases, of 0.17 m/s² per degree.
USUAL_BIAS_RAD, LARGEST_BIAS_RAD, BIAS_SHARE = np.radians(1.0), np.radians(3.0), 0.6

#: Turning that tells the tilt: standard deviation of gyro_z (rad/s), samples, and tilt over its spread.
LEAST_TURNING_RADPS, FEWEST_SAMPLES, CLEARLY = 0.05, 200, 10.0

_ACCEL, _GYRO = names.IMU_COLUMNS[:3], names.IMU_COLUMNS[3:6]


def level_axes(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Turn the axes of a tilted IMU upright, where gyro and gravity agree on the tilt."""
    if names.IMU not in log or not set(names.IMU_COLUMNS) <= set(log[names.IMU].columns):
        return Step(log)
    channel = log[names.IMU]
    up, rest = _axis_of_turning(channel), rest_of(log, robot)
    if up is None or rest is None:
        return Step(log)
    tilt = _angle(up, np.array([0.0, 0.0, 1.0]))
    off = _angle(up, _columns(channel, _ACCEL)[rest].mean(axis=0))
    if tilt < LEAST_TILT_RAD or off > min(LARGEST_BIAS_RAD, max(USUAL_BIAS_RAD, BIAS_SHARE * tilt)):
        return Step(log)
    turn, values = _upright(up), channel.values.copy()
    for columns in (_ACCEL, _GYRO):
        values[:, [channel.columns.index(name) for name in columns]] = _columns(channel, columns) @ turn.T
    degrees = float(np.degrees(tilt))
    finding = Finding(
        Severity.WARNING if degrees > 1.5 else Severity.INFO,
        names.IMU,
        "tilt",
        f"the robot turns about an axis {degrees:.2f}° off the IMU's z axis, and gravity lies along it within "
        f"{np.degrees(off):.2f}°: the IMU is mounted askew",
        "mount it level, or give its frame in the log",
        degrees,
        is_corrected=True,
    )
    return Step(log.having(replace(channel, values=values)), (finding,), (f"tilt of imu {degrees:.2f}°",))


def _columns(channel: Channel, columns: tuple[str, ...]) -> np.ndarray:
    return np.column_stack([channel.column(name) for name in columns])


def _axis_of_turning(channel: Channel) -> np.ndarray | None:
    """Unit vector about which the robot turns, in the IMU's axes; None where turning does not tell it."""
    rates = _columns(channel, _GYRO)
    rates = rates - rates.mean(axis=0)
    power = float(rates[:, 2] @ rates[:, 2])
    if len(rates) < FEWEST_SAMPLES or power < len(rates) * LEAST_TURNING_RADPS**2:
        return None
    leaks = rates[:, :2].T @ rates[:, 2] / power
    left = rates[:, :2] - rates[:, 2:] * leaks
    spread = float(np.sqrt((left**2).sum(axis=1).mean() / power))
    if np.hypot(*leaks) < CLEARLY * spread:
        return None
    up = np.array([*leaks, 1.0])
    return np.asarray(up / np.linalg.norm(up))


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _upright(up: np.ndarray) -> np.ndarray:
    """The smallest rotation that turns a unit vector to z: about up x z (Rodrigues)."""
    x, y, z = up
    cross = np.array([[0.0, 0.0, -x], [0.0, 0.0, -y], [x, y, 0.0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / (1.0 + z))
