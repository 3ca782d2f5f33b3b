"""A recorded run of an omnidirectional robot: wheel angles and true poses, and what dead reckoning makes of body motions.

    (dx, dy, dpsi) = G^+ dtheta        body motion of a step if nothing slips
    p += Rot(psi + dpsi / 2) (dx, dy)

Symbols    G `vehicles.omni_kinematics.wheel_map` · theta wheel angles · psi heading
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.calibration.odometry.travel import name_of, poses_at
from slipfit.errors import LogError
from slipfit.library import OmniRobot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import ENCODERS, MOTORS, motor_column, wheel_columns
from slipfit.logs.wheel_motion import wheel_angles

#: The driven path is measured in chords of this long (s): single poses shake by millimetres.
CHORD_S = 1.0

#: An end error as a share of the way says nothing of shorter ways than this (m), such as turns on the spot.
LEAST_WAY_M = 0.1

#: Wheels that turn less than this (rad) in all do not drive the robot anywhere.
_AT_REST_RAD = 1e-3


@dataclass(frozen=True, eq=False, slots=True)
class OmniRun:
    """Wheel angles since the start, true poses and mean motor currents of one run, at common times."""

    name: str
    time_s: np.ndarray  # (T,)
    wheels_rad: np.ndarray  # (T, n)
    poses: np.ndarray  # (T, 3) x, y, heading (unwrapped)
    currents_a: np.ndarray | None = None  # (n,) mean of each motor while the wheels turn, as recorded

    def __post_init__(self) -> None:
        if len(self.time_s) < 2 or not np.isfinite(self.poses).all() or not np.isfinite(self.wheels_rad).all():
            raise LogError(f"{self.name}: a run needs wheel angles and true poses, two or more of each and all finite")

    @property
    def duration_s(self) -> float:
        return float(self.time_s[-1] - self.time_s[0])

    @property
    def end_m(self) -> np.ndarray:
        """True displacement from start to end, (2,)."""
        return np.asarray(self.poses[-1, :2] - self.poses[0, :2])

    @property
    def turned_rad(self) -> float:
        return float(self.poses[-1, 2] - self.poses[0, 2])

    @property
    def way_m(self) -> np.ndarray:
        """Length of the true path until each time, (T,), in chords of `CHORD_S`."""
        at = np.unique(
            np.append(np.searchsorted(self.time_s, np.arange(self.time_s[0], self.time_s[-1], CHORD_S)), len(self.time_s) - 1)
        )
        chords = np.hypot(*np.diff(self.poses[at, :2], axis=0).T)
        return np.asarray(np.interp(np.arange(len(self.time_s)), at, np.concatenate([[0.0], np.cumsum(chords)])))

    def ideal_motion(self, robot: OmniRobot) -> np.ndarray:
        """Body motion of each step without slip, (T - 1, 3): ahead, to the left (m), turn (rad)."""
        return np.asarray(np.diff(self.wheels_rad, axis=0) @ np.linalg.pinv(robot.wheel_map()).T)


def omni_run_of_log(log: DriveLog, robot: OmniRobot, *, counts_per_turn: float | None = None) -> OmniRun:
    """A log's encoders, poses and currents as a run, at the encoders' stamps while the pose was recorded.

    Ticks without `counts_per_turn` are scaled to the wheel speeds of the same log, where it has both.
    """
    count = len(robot.at_m)
    counts = counts_per_turn or counts_by_speeds(log[ENCODERS], count)
    angles = wheel_angles(log, robot, counts_per_turn=counts)
    kept, poses = poses_at(log, angles.stamps_ns)
    stamps, turned = angles.stamps_ns[kept], angles.angle_rad[kept]
    if np.abs(turned[-1] - turned[0]).max() < _AT_REST_RAD:
        raise LogError(f"{name_of(log)}: no wheel turns; expected a recording of a drive")
    return OmniRun(name_of(log), (stamps - stamps[0]) / 1e9, turned - turned[0], poses, _mean_currents(log, count))


def counts_by_speeds(encoders: Channel, wheels: int) -> float | None:
    """Counts of a turn by the ticks and the integrated speeds of the same wheels; none where a log lacks either."""
    ticks, speeds = wheel_columns("ticks", wheels), wheel_columns("speed", wheels)
    if not {*ticks, *speeds} <= set(encoders.columns):
        return None
    counted = np.array([encoders.column(name)[[0, -1]] for name in ticks])
    turned = np.array([np.trapezoid(encoders.column(name), encoders.time_s) for name in speeds])
    moved = counted[:, 1] - counted[:, 0]
    if not np.abs(turned).max() > _AT_REST_RAD:
        return None
    return float(2.0 * math.pi * (moved @ turned) / (turned @ turned))


def with_counts(logs: Sequence[DriveLog], robot: OmniRobot) -> float | None:
    """Counts of a turn that serve a whole recording: the median over its logs, one of which alone is less sure."""
    found = [counts_by_speeds(log[ENCODERS], len(robot.at_m)) for log in logs]
    known = [counts for counts in found if counts]
    return float(np.median(known)) if known else None


def _mean_currents(log: DriveLog, wheels: int) -> np.ndarray | None:
    names = [motor_column("current", k) for k in range(wheels)]
    if MOTORS not in log or not set(names) <= set(log[MOTORS].columns):
        return None
    currents = np.abs(np.column_stack([log[MOTORS].column(name) for name in names]))
    moving = currents.max(axis=1) > 0.2 * np.median(currents.max(axis=1))  # before the start and after the end there is none
    return np.asarray(currents[moving].mean(axis=0)) if moving.any() else None


def dead_reckoned(start: np.ndarray, motion: np.ndarray, *, heading_rad: np.ndarray | None = None) -> np.ndarray:
    """Poses (T, 3) that body motions (T - 1, 3) make from a start; a measured heading (T,) takes the place of their turns."""
    turned = np.concatenate([[0.0], np.cumsum(motion[:, 2])]) + start[2] if heading_rad is None else heading_rad
    middle = 0.5 * (turned[1:] + turned[:-1])
    c, s = np.cos(middle), np.sin(middle)
    x = start[0] + np.concatenate([[0.0], np.cumsum(c * motion[:, 0] - s * motion[:, 1])])
    y = start[1] + np.concatenate([[0.0], np.cumsum(s * motion[:, 0] + c * motion[:, 1])])
    return np.column_stack([x, y, turned])


def tracked_point(poses: np.ndarray, offset_m: np.ndarray) -> np.ndarray:
    """Poses of a point of the body, from those of its centre."""
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    moved = poses.copy()
    moved[:, 0] += c * offset_m[0] - s * offset_m[1]
    moved[:, 1] += s * offset_m[0] + c * offset_m[1]
    return np.asarray(moved)
