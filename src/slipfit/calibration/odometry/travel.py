"""A recorded run as odometry sees it, and the path that a set of constants makes of it.

    ds = (g_r r + g_l l) / 2,    d(heading) = (g_r r - g_l l) ((1 - sigma) / W + sigma / W_spin)
    sigma = w^4 / (w^4 + (2 s)^4)

Symbols    l, r rolled by the left and right wheels in a step, with nominal radii · g radius of a side over the nominal ·
           W effective track on arcs · W_spin on the spot · s = (r + l) / 2, w = r - l, means over a while · sigma 1 on the spot,
           0 on a straight line
Reference  derived in docs/theory/odometry, eq. (arc and spin); W = W_spin is the textbook differential drive
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import POSE
from slipfit.logs.poses import SILENT_S, silent_steps
from slipfit.logs.provenance import with_truth
from slipfit.logs.provenance.truth import POSES_TO_RECORD
from slipfit.logs.wheel_motion import TurnCounts, WheelMotion, wheel_motion

#: A pose that is silent while the wheels roll farther than this (m) has missed a part of the path.
SILENT_M = 0.1

#: Encoder steps are averaged over this long to tell a spin from an arc: single counts would do so by chance.
SMOOTHED_S = 0.35


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """Rolled distances (with nominal radii) and true poses of one run at common times; both start with it."""

    name: str
    time_s: np.ndarray
    left_m: np.ndarray  # (T,) since the start
    right_m: np.ndarray
    poses: np.ndarray  # (T, 3) x, y, heading (unwrapped); NaN where not seen, but for first and last
    kind: str = ""

    def __post_init__(self) -> None:
        if len(self.time_s) < 2 or not np.isfinite(self.poses[[0, -1]]).all():
            raise LogError(f"{self.name}: a run needs a true pose at its start and at its end")

    @property
    def way_m(self) -> float:
        """Rolled path of the middle."""
        return float(np.abs(np.diff(0.5 * (self.left_m + self.right_m))).sum())

    @property
    def turned_rad(self) -> float:
        return float(self.poses[-1, 2] - self.poses[0, 2])

    def rolled_by(self, factor: float) -> "Run":
        """The run with wheels of another nominal radius, by this factor."""
        return replace(self, left_m=factor * self.left_m, right_m=factor * self.right_m)


class Steps(NamedTuple):
    """What a run's wheels rolled in each step (nominal radii), and how much of a spin each was; from where."""

    left: np.ndarray
    right: np.ndarray
    share: np.ndarray
    start: np.ndarray  # x, y, heading

    @classmethod
    def of(cls, run: Run) -> "Steps":
        left, right = np.diff(run.left_m), np.diff(run.right_m)
        return cls(left, right, spin_share(left, right, float(np.median(np.diff(run.time_s)))), run.poses[0])


@dataclass(frozen=True, slots=True)
class OdometryModel:
    """Constants of dead reckoning; `heading_offset_rad` is how far the truth's heading points to the right of straight ahead."""

    gain_left: float = 1.0
    gain_right: float = 1.0
    track_m: float = 1.0
    spin_track_m: float = 1.0
    heading_offset_rad: float = 0.0

    @classmethod
    def ideal(cls, track_m: float) -> "OdometryModel":
        return cls(1.0, 1.0, track_m, track_m)

    def path(self, run: Run) -> np.ndarray:
        """Poses (T, 3) by dead reckoning from the run's true start; exact for steps of constant curvature."""
        steps = Steps.of(run)
        return np.vstack([steps.start, steps.start + np.cumsum(self._moves(steps), axis=0)])

    def end(self, steps: Steps) -> np.ndarray:
        """The last pose alone."""
        return np.asarray(steps.start + self._moves(steps).sum(axis=0))

    def _moves(self, steps: Steps) -> np.ndarray:
        """Change of x, y and heading in each step."""
        left, right = self.gain_left * steps.left, self.gain_right * steps.right
        turn = (right - left) * (1.0 / self.track_m + steps.share * (1.0 / self.spin_track_m - 1.0 / self.track_m))
        towards = steps.start[2] + self.heading_offset_rad + np.cumsum(turn) - 0.5 * turn
        chord = 0.5 * (left + right) * np.sinc(turn / (2.0 * np.pi))
        return np.column_stack([chord * np.cos(towards), chord * np.sin(towards), turn])

    def end_error_m(self, run: Run) -> float:
        """Distance between where dead reckoning ends and where the robot was."""
        return float(np.hypot(*(self.end(Steps.of(run))[:2] - run.poses[-1, :2])))


def spin_share(left: np.ndarray, right: np.ndarray, step_s: float) -> np.ndarray:
    """sigma of every step, (T,)."""
    width = min(len(left), max(1, round(SMOOTHED_S / step_s)))
    window = np.full(width, 1.0 / width)
    s, w = np.convolve(0.5 * (left + right), window, "same"), np.convolve(right - left, window, "same")
    turning, rolling = w**4, (2.0 * s) ** 4
    both = turning + rolling
    return np.asarray(np.divide(turning, both, out=np.zeros_like(w), where=both > 0.0))


def error_percent(model: OdometryModel, runs: Sequence[Run]) -> np.ndarray:
    """End-position error of each run as % of its rolled path."""
    return np.array([100.0 * model.end_error_m(run) / run.way_m for run in runs])


def run_of_log(log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None) -> Run:
    """A log's encoders and true poses as a run, at the encoders' stamps while both were recorded."""
    log = with_truth(log)
    motion = wheel_motion(log, robot, counts_per_turn=counts_per_turn)
    kept, poses = poses_at(log, motion.stamps_ns)
    _require_no_silence(log, motion)
    at = (motion.stamps_ns[kept] - motion.stamps_ns[kept][0]) / 1e9
    left, right = motion.left_m[kept], motion.right_m[kept]
    return Run(name_of(log), at, left - left[0], right - right[0], poses)


def _require_no_silence(log: DriveLog, motion: WheelMotion) -> None:
    """A path is the line through its poses: where they are silent while the wheels roll, a turn may be missing."""
    pose = log[POSE]
    stamps = np.sort(pose.stamps_ns[np.isfinite(pose.values[:, :3]).all(axis=1)])
    time_s = (stamps - motion.stamps_ns[0]) / 1e9
    for k in np.flatnonzero(silent_steps(time_s)):
        ends = time_s[[k, k + 1]]
        rolled = max(abs(float(np.diff(np.interp(ends, motion.time_s, side))[0])) for side in (motion.left_m, motion.right_m))
        if rolled > SILENT_M:
            raise LogError(
                f"{name_of(log)}: the pose is silent from {ends[0]:.1f} to {ends[1]:.1f} s while the wheels roll {rolled:.2f} m; "
                f"expected poses on the whole path, {SILENT_S:g} s apart at most; split the recording there, or record it again"
            )


def name_of(log: DriveLog) -> str:
    """What to call a log in sentences."""
    return log.source or log.about or "log"


def poses_at(log: DriveLog, stamps_ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which stamps lie within the pose's recording, and the true poses there (x, y, heading unwrapped)."""
    if POSE not in log:
        told = log.truth.sentence() if log.truth is not None and log.truth.poses else "there is no pose"
        raise LogError(
            f"{name_of(log)}: {told}; expected a recording of where the robot was, beside its encoders: record "
            f"{POSES_TO_RECORD}; --truth TOPIC overrules this"
        )
    pose = log[POSE]
    seen = np.isfinite(pose.values[:, :3]).all(axis=1)
    order = np.argsort(pose.stamps_ns[seen], kind="stable")
    stamps, values = pose.stamps_ns[seen][order], pose.values[seen][order]
    kept = (stamps_ns >= stamps[0]) & (stamps_ns <= stamps[-1]) if len(stamps) else np.zeros(len(stamps_ns), dtype=bool)
    if kept.sum() < 2:
        raise LogError(f"{name_of(log)}: pose and encoders do not overlap in time; expected both from start to end of the drive")
    at, when = (stamps_ns[kept] - stamps[0]) / 1e9, (stamps - stamps[0]) / 1e9
    columns = [values[:, pose.columns.index(c)] for c in ("x_m", "y_m")] + [np.unwrap(values[:, pose.columns.index("yaw_rad")])]
    return kept, np.column_stack([np.interp(at, when, column) for column in columns])
