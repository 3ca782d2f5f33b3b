"""When poses were taken, by their stamps: loggers repeat the last pose at the first row of a segment."""

from dataclasses import dataclass

import numpy as np

from slipfit.logs.channels import POSE, POSE_COLUMNS
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.rims import Rims

#: A pose is silent where it is longer than this (s) and than so many usual periods to the next.
SILENT_S, SILENT_PERIODS = 3.0, 5.0

#: Poses come regularly where 95 % of their intervals are below so many usual ones.
REGULAR = 1.6


@dataclass(frozen=True, eq=False, slots=True)
class Poses:
    """Poses that are finite; times are seconds on the grid of the wheels."""

    time_s: np.ndarray
    taken_s: np.ndarray  # when each was new
    x_m: np.ndarray
    y_m: np.ndarray
    yaw_rad: np.ndarray
    segment: np.ndarray

    def is_silent(self, first: int, last: int) -> bool:
        """Whether a silence lies between two rows: whole turns may be missing there."""
        return bool((silent_steps(self.time_s)[first:last]).any())


def silent_steps(time_s: np.ndarray) -> np.ndarray:
    """Whether a silence lies between each pose and the next, (N - 1,)."""
    periods = np.diff(time_s)
    return np.asarray(periods > max(SILENT_S, SILENT_PERIODS * float(np.median(periods)))) if len(periods) else np.empty(0, bool)


def has_pose(log: DriveLog) -> bool:
    """Whether two rows and more tell x, y and yaw: a column that never says anything is no pose."""
    if POSE not in log or not set(POSE_COLUMNS) <= set(log[POSE].columns):
        return False
    told = np.column_stack([log[POSE].column(name) for name in POSE_COLUMNS])
    return bool(np.isfinite(told).all(axis=1).sum() > 1)


def poses_of(log: DriveLog, rims: Rims) -> Poses:
    """The poses of a log, and when each was new."""
    channel = log[POSE]
    x, y, yaw = (channel.column(name) for name in ("x_m", "y_m", "yaw_rad"))
    kept = np.isfinite(x) & np.isfinite(y) & np.isfinite(yaw)
    time_s = rims.seconds(channel.stamps_ns[kept])
    segment = log.segment_at(channel.stamps_ns[kept])
    taken = time_s.copy()
    anew = np.flatnonzero(np.diff(segment) != 0) + 1
    within = np.delete(np.diff(time_s), anew - 1)
    if len(anew) and len(within):
        # The first row of a segment shows the pose that came last, unless that is longer ago than poses are apart.
        apart, long = float(np.median(within)), float(np.quantile(within, 0.95))
        taken[anew] = np.maximum(time_s[anew - 1], time_s[anew] - 2.0 * apart)
        # Of a regular source it may be new: else there would have been none for unusually long.
        waited = time_s[np.minimum(anew + 1, len(time_s) - 1)] - time_s[anew - 1]
        is_new = (waited > long + 1e-6) & (long < REGULAR * apart)
        taken[anew[is_new]] = time_s[anew[is_new]]
    return Poses(time_s, taken, x[kept], y[kept], yaw[kept], segment)
