"""The effective track from a log: how far the robot turned, for how much farther its right side rolled than its left.

    d(heading) = (right - left) / W + b t      over windows; W by least squares, b the gyro's bias where it is the witness

Reference  (v_right - v_left) / W as in [Haas2009] section 3, with W = (T^2 + B^2) / T there; derived in docs/theory/odometry
Valid for  the floor and the kind of turns of the log: turns on the spot and arcs may differ, which the finding says
"""

import math

import numpy as np

from slipfit.calibration.odometry.spreads import Estimate
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU, POSE
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.poses import silent_steps
from slipfit.logs.wheel_motion import TurnCounts, WheelMotion, wheel_motion

#: Length of a window (s): long against clock offsets and lags, short enough that a minute has many.
WINDOW_S = 2.0

#: A log must turn its robot by this much in all (rad), or it does not tell the track.
LEAST_TURN_RAD = 1.0

#: Fewest windows with a turn, so that their scatter tells a spread.
LEAST_WINDOWS = 5


def effective_track_of_log(log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None) -> Estimate:
    """W with its spread, from the pose's heading, or from the gyro where there is no pose."""
    name = log.source or log.about or "log"
    motion = wheel_motion(log, robot, counts_per_turn=counts_per_turn)
    turned, has_bias = _turned(log, motion, name)
    time_s = motion.time_s
    edges = np.arange(time_s[0], time_s[-1], WINDOW_S)
    if len(edges) < LEAST_WINDOWS + 1:
        raise LogError(
            f"{name}: {time_s[-1]:.1f} s of wheels and headings; expected {LEAST_WINDOWS * WINDOW_S:g} s or more, with turns"
        )
    angle = np.diff(np.interp(edges, time_s, turned))
    rolled = np.diff(np.interp(edges, time_s, motion.right_m - motion.left_m))
    seen = np.isfinite(angle)
    angle, rolled = angle[seen], rolled[seen]
    turning = np.abs(rolled) > 0.05 * robot.track_m
    if np.abs(angle).sum() < LEAST_TURN_RAD or turning.sum() < LEAST_WINDOWS:
        raise LogError(
            f"{name}: the robot turned by {np.abs(angle).sum():.2f} rad in all, for {WINDOW_S * turning.sum():g} s; expected "
            f"{LEAST_TURN_RAD:g} rad and {WINDOW_S * LEAST_WINDOWS:g} s of turns or more"
        )
    columns = np.column_stack([rolled, np.ones(len(rolled))]) if has_bias else rolled[:, None]
    slope, *_ = np.linalg.lstsq(columns, angle, rcond=None)
    residual = angle - columns @ slope
    bread = np.linalg.inv(columns.T @ columns)
    freedom = float(turning.sum() - columns.shape[1])
    sandwich = bread @ (columns * residual[:, None] ** 2).T @ columns @ bread * len(angle) / max(1.0, freedom)
    if slope[0] <= 0.0:
        raise LogError(
            f"{name}: the robot turns left where its left wheels roll farther; check sides and yaw sign (slipfit inspect)"
        )
    return Estimate(1.0 / float(slope[0]), math.sqrt(float(sandwich[0, 0])) / float(slope[0]) ** 2, freedom)


def _turned(log: DriveLog, motion: WheelMotion, name: str) -> tuple[np.ndarray, bool]:
    """Heading at the encoders' stamps, NaN where not seen; and whether a constant rate may be in it."""
    if POSE in log:
        stamps, yaw = log[POSE].stamps_ns, log[POSE].column("yaw_rad")
        kept = np.isfinite(yaw)
        heading, stamps = np.unwrap(yaw[kept]), stamps[kept]
    elif IMU in log and "gyro_z_radps" in log[IMU].columns:
        stamps, rate = log[IMU].stamps_ns, log[IMU].column("gyro_z_radps")
        kept = np.isfinite(rate)
        rate, stamps = rate[kept], stamps[kept]
        heading = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(stamps) / NANOSECONDS)])
    else:
        raise LogError(f"{name}: neither pose nor gyro; expected one of them to tell how far the robot turned")
    if len(stamps) < 2:
        raise LogError(f"{name}: fewer than two headings that are numbers")
    at, when = (motion.stamps_ns - stamps[0]) / NANOSECONDS, (stamps - stamps[0]) / NANOSECONDS
    turned = np.interp(at, when, heading, left=np.nan, right=np.nan)
    for k in np.flatnonzero(silent_steps(when)):
        turned[(at > when[k]) & (at < when[k + 1])] = np.nan
    return turned, POSE not in log
