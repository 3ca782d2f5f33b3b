"""Rim speeds of both sides on an even grid, from whatever the encoders tell.

Loggers repeat a value until the next one comes, each side on its own clock: a repeated value says nothing about its own moment.
Speeds are taken where they change and joined by straight lines; a value that stays (a robot at rest, a steady speed told exactly)
holds until one interval before the next: that of the source, by how often values change, or of the rows where they hardly do.
"""

from dataclasses import dataclass, field

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs.channels import COMMANDS, ENCODERS, SIDES, side_column
from slipfit.logs.drive_log import NANOSECONDS, DriveLog
from slipfit.logs.wheel_motion import TurnCounts, wheel_motion

#: Interval of the grid (s): ten times finer than what kinematic models resolve.
GRID_S = 0.02

#: Speeds from angles are means over at least this long (s): shorter ones are mostly counts.
SPEED_OVER_S = 0.1


#: Speeds that come more seldom than this (Hz) do not tell accelerations: the joint fit of `calibrate` needs those, a ladder not.
SELDOM_HZ = 15.0

#: No logger holds a value for longer than this (s): the slowest encoders of our recordings speak at 4 Hz. Changes farther
#: apart are those of the drive, and say nothing of how often the source speaks.
LONGEST_HELD_S = 0.5

#: A sensor is silent where no row comes for so many usual intervals (nine of ten are shorter), and for so long (s): what a line
#: across a shorter pause misses, slow encoders miss all the time.
SILENT_INTERVALS, SILENT_S = 5.0, 0.25


def silences(time_s: np.ndarray) -> np.ndarray:
    """Begin and end of every pause of a sensor, (k, 2), by its stamps alone: a value that repeats is a value. What lies before
    its first row and after its last one is a pause without end."""
    if len(time_s) < 3:
        return np.array([[-np.inf, np.inf]])
    intervals = np.diff(time_s)
    long = max(SILENT_INTERVALS * float(np.quantile(intervals, 0.9, method="lower")), SILENT_S)
    at = np.flatnonzero(intervals > long)
    ends = [[-np.inf, time_s[0] - long], [time_s[-1] + long, np.inf]]
    return np.vstack([ends[0], np.column_stack([time_s[at], time_s[at + 1]]), ends[1]])


@dataclass(frozen=True, eq=False, slots=True)
class Rims:
    """Speeds of both sides' rims (m/s), the k-th at start + k GRID_S."""

    start_ns: int
    left_mps: np.ndarray
    right_mps: np.ndarray
    silent_s: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))  # begin and end of the encoders' pauses, on the grid

    @property
    def time_s(self) -> np.ndarray:
        return np.arange(len(self.left_mps)) * GRID_S

    def seconds(self, stamps_ns: np.ndarray) -> np.ndarray:
        """Stamps as seconds on the grid."""
        return np.asarray((np.asarray(stamps_ns) - self.start_ns) / NANOSECONDS)

    def rolled_m(self, from_s: np.ndarray, to_s: np.ndarray) -> np.ndarray:
        """How far the faster side rolled between times: no robot moves farther."""
        fastest = np.maximum(np.abs(self.left_mps), np.abs(self.right_mps))
        rolled = np.concatenate([[0.0], np.cumsum(fastest[:-1]) * GRID_S])
        return np.asarray(np.interp(to_s, self.time_s, rolled) - np.interp(from_s, self.time_s, rolled))


def rims_of(log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None) -> Rims:
    """From the encoders: side speeds as they are told, or differences of angles and ticks."""
    channel = log[ENCODERS]
    names = [side_column("speed", side) for side in SIDES]
    if set(names) <= set(channel.columns):
        radius = robot.wheels.radius_m.value
        return _on_grid(channel.stamps_ns, *(radius * channel.column(name) for name in names))
    motion = wheel_motion(log, robot, counts_per_turn=counts_per_turn)
    time_s = motion.time_s
    grid = np.arange(0.0, time_s[-1], GRID_S)
    half = 0.5 * max(SPEED_OVER_S, 2.0 / motion.rate_hz)
    before, after = np.maximum(grid - half, 0.0), np.minimum(grid + half, time_s[-1])
    left, right = (
        (np.interp(after, time_s, way) - np.interp(before, time_s, way)) / (after - before)
        for way in (motion.left_m, motion.right_m)
    )
    return Rims(int(motion.stamps_ns[0]), left, right, silences(time_s))


def seldom_hz(log: DriveLog) -> float | None:
    """How often a side's speed is told anew, where that is too seldom for accelerations; None where it is not, or where angles
    or ticks are told, which say all that happened between two of them."""
    names = [side_column("speed", side) for side in SIDES]
    if ENCODERS not in log or not set(names) <= set(log[ENCODERS].columns):
        return None
    channel = log[ENCODERS]
    intervals = []
    for name in names:
        fresh = np.flatnonzero(np.diff(channel.column(name)) != 0.0) + 1
        if len(fresh) > 2:
            intervals.append(_told_every_s((channel.stamps_ns - channel.stamps_ns[0]) / NANOSECONDS, fresh, 0.5))
    rate = 1.0 / max(intervals) if intervals and max(intervals) > 0.0 else None
    return rate if rate is not None and rate < SELDOM_HZ else None


def commanded_rims(log: DriveLog, robot: SkidSteerRobot) -> Rims | None:
    """What both sides were told to do, held from command to command; None where the log does not say."""
    if COMMANDS not in log:
        return None
    channel, radius = log[COMMANDS], robot.wheels.radius_m.value
    names = [side_column("speed", side) for side in SIDES]
    if set(names) <= set(channel.columns):
        left, right = (radius * channel.column(name) for name in names)
    elif {"v_mps", "yaw_rate_radps"} <= set(channel.columns):
        ahead, turning = channel.column("v_mps"), 0.5 * robot.track_m * channel.column("yaw_rate_radps")
        left, right = ahead - turning, ahead + turning
    else:
        return None
    time_s = (channel.stamps_ns - channel.stamps_ns[0]) / NANOSECONDS
    grid = np.arange(0.0, time_s[-1], GRID_S)
    latest = np.clip(np.searchsorted(time_s, grid + 1e-9, side="right") - 1, 0, len(time_s) - 1)
    return Rims(int(channel.stamps_ns[0]), left[latest], right[latest])


def _on_grid(stamps_ns: np.ndarray, left: np.ndarray, right: np.ndarray) -> Rims:
    time_s = (stamps_ns - stamps_ns[0]) / NANOSECONDS
    grid = np.arange(0.0, time_s[-1], GRID_S)
    sides, silent = [], []
    for side in (left, right):
        finite = np.isfinite(side)
        knots, values = _knots(time_s[finite], side[finite])
        sides.append(np.interp(grid, knots, values))
        silent.append(silences(time_s[finite]))
    return Rims(int(stamps_ns[0]), sides[0], sides[1], np.unique(np.vstack(silent), axis=0))


def _knots(time_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a value is new; and one interval before each new one, where the old one had stayed for longer."""
    fresh = np.concatenate([[True], np.diff(values) != 0.0])
    at = np.flatnonzero(fresh)
    if len(at) < 3:
        return time_s, values
    # The lower quartile: of a drive at a constant speed most changes are far apart.
    interval = _told_every_s(time_s, at, 0.25)
    stayed = at[1:][np.diff(time_s[at]) > 1.5 * interval]
    # To the row next to that moment: stamps are rounded, and may jitter.
    until = np.searchsorted(time_s, time_s[stayed] - interval + 0.5 * float(np.median(np.diff(time_s))), side="right") - 1
    until = np.minimum(until, stayed - 1)
    keep = np.unique(np.concatenate([at, until, [len(values) - 1]]))
    return time_s[keep], values[keep]


def _told_every_s(time_s: np.ndarray, fresh: np.ndarray, share: float) -> float:
    """How often a source speaks: a quantile of the times between its changes; of rows, where values stay for longer than any
    logger holds them."""
    of_rows = float(np.median(np.diff(time_s)))
    of_changes = float(np.quantile(np.diff(time_s[fresh]), share, method="lower"))
    return of_changes if of_changes <= max(LONGEST_HELD_S, 1.5 * of_rows) else of_rows
