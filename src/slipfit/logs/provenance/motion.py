"""Motion between poses, beside what wheels and gyro say of the same intervals. Nothing here knows the robot.

Dead reckoning moves a robot along its own heading. Over the interval from pose k to pose k+1, with the wheels' distance S and
a heading h(s) whose shape comes from wheels or gyro and whose ends are the pose's own headings,

    P_k = ∫ exp(i (h(s) - h̄_k)) dS(s),    f_k + i l_k = (Δx_k + i Δy_k) exp(-i h̄_k),    h̄_k = arg ∫ exp(i h(s)) |v(s)| ds,

so that of dead reckoning f_k = a Re P_k and l_k = a Im P_k, whatever rate it is published at. Of a measured pose, l_k also holds
sideways slip and the noise of the measurement.

Symbols    S mean angle of all wheels (rad) · h heading · v mean absolute wheel speed · a effective radius · f forward, l lateral
           displacement (m) · Reference derived in docs/theory/provenance, eq. (dead reckoning)
"""

from dataclasses import dataclass

import numpy as np

from slipfit.library.deviation import robust_std
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.signals import ROTATIONS, rolled
from slipfit.logs.provenance.source import PoseSource

#: Shortest interval between poses that are compared (s): shorter ones hold mostly encoder counts.
INTERVAL_S = 0.1

#: Grid on which distance and heading are integrated (s).
GRID_S = 0.01

#: Poses farther apart than this many usual intervals, and than this (s), are not compared: the sensor was silent.
SILENT_INTERVALS, SILENT_S = 5.0, 3.0

#: More intervals than this are not needed: of drives of an hour and more, intervals are longer.
MOST_INTERVALS = 36_000

#: An interval whose displacement or change of heading is so many times the usual (robust standard deviation; 95 % quantile) is
#: a jump: odometry that was reset, a localizer that found itself.
JUMP_STDS, JUMP_QUANTILES = 10.0, 5.0

#: Yaw beyond this many turns may be in degrees.
_MANY_TURNS = 3.25


#: No wheel, gyro or pose says more, in any unit; sums and squares of it are still numbers.
_LARGEST = 1e12


@dataclass(frozen=True, eq=False, slots=True)
class Turned:
    """Running angles of all wheels (T, W), which of them are left and right (empty for omni robots), and their resolution."""

    time_s: np.ndarray
    angle_rad: np.ndarray
    left: tuple[int, ...]
    right: tuple[int, ...]
    step_rad: float

    @property
    def period_s(self) -> float:
        return float(np.median(np.diff(self.time_s)))

    def at(self, when_s: np.ndarray) -> np.ndarray:
        """(len, W)."""
        return np.column_stack([np.interp(when_s, self.time_s, column) for column in self.angle_rad.T])

    @property
    def difference(self) -> np.ndarray:
        """Right minus left, (T,); of robots without sides the direction in which wheels differ most is left to regressions."""
        if not self.left:
            return np.zeros(len(self.time_s))
        return np.asarray(self.angle_rad[:, self.right].mean(axis=1) - self.angle_rad[:, self.left].mean(axis=1))


@dataclass(frozen=True, eq=False, slots=True)
class Gyro:
    """Running angle about z, (T,)."""

    time_s: np.ndarray
    angle_rad: np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Track:
    """Poses that are new: times, complex positions, unwrapped headings, and resolution of both."""

    time_s: np.ndarray
    place_m: np.ndarray  # complex
    yaw_rad: np.ndarray
    segment: np.ndarray
    position_step_m: float
    yaw_step_rad: float


def turned_wheels(log: DriveLog, origin_ns: int) -> Turned | None:
    """Angles of the wheels or sides from whatever the encoders report; None where they report nothing."""
    channel = log.channels.get(names.ENCODERS)
    if channel is None or len(channel.stamps_ns) < 20:
        return None
    channel = _in_order(channel)
    for quantity in ROTATIONS:
        sided = names.rotation_columns((quantity,), 0)
        if set(sided) <= set(channel.columns):
            return _turned(channel, quantity, list(sided), origin_ns, (0,), (1,))
        wheels = [c for c in names.wheel_columns(quantity, len(channel.columns)) if c in channel.columns]
        if len(wheels) >= 2:
            is_paired = len(wheels) >= 4 and len(wheels) % 2 == 0
            count = len(wheels)
            left, right = (tuple(range(0, count, 2)), tuple(range(1, count, 2))) if is_paired else ((), ())
            return _turned(channel, quantity, wheels, origin_ns, left, right)
    return None


def are_at_rest(log: DriveLog) -> bool:
    """Whether there are encoders, and nothing that they report changes."""
    channel = log.channels.get(names.ENCODERS)
    if channel is None:
        return False
    values = channel.values[np.isfinite(channel.values).all(axis=1)]
    return len(values) >= 20 and not np.ptp(values, axis=0).any()


def _turned(
    channel: Channel, quantity: str, columns: list[str], origin_ns: int, left: tuple[int, ...], right: tuple[int, ...]
) -> Turned | None:
    values = np.column_stack([channel.column(name) for name in columns])
    fine = (np.abs(values) < _LARGEST).all(axis=1)
    if fine.sum() < 20:
        return None
    time_s = (channel.stamps_ns[fine] - origin_ns) / NANOSECONDS
    angles = rolled(values[fine], time_s, quantity)
    if not np.isfinite(angles).all() or not np.ptp(angles, axis=0).any():
        return None
    return Turned(time_s, angles, left, right, 0.0 if quantity == "speed" else resolution(values[fine].ravel()))


def gyro_of(log: DriveLog, origin_ns: int) -> Gyro | None:
    """Running angle of the IMU's z gyro; None without one, or where it never moves."""
    channel = log.channels.get(names.IMU)
    if channel is None or "gyro_z_radps" not in channel.columns or len(channel.stamps_ns) < 20:
        return None
    channel = _in_order(channel)
    rate = channel.column("gyro_z_radps")
    fine = np.abs(rate) < 1e6
    if fine.sum() < 20 or not np.ptp(rate[fine]) > 0.0:
        return None
    time_s, rate = (channel.stamps_ns[fine] - origin_ns) / NANOSECONDS, rate[fine]
    return Gyro(time_s, np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(time_s))]))


def tracks_of(source: PoseSource, log: DriveLog, origin_ns: int) -> list[Track]:
    """The poses of a source; twice where its yaw may be in radians or in degrees. Empty where there are fewer than three."""
    found = _track(source, log, origin_ns, 2.0 * np.pi)
    if found is None:
        return []
    if np.abs(source.channel.column("yaw_rad")[np.isfinite(source.channel.column("yaw_rad"))]).max() < 2.0 * np.pi * _MANY_TURNS:
        return [found]
    degrees = _track(source, log, origin_ns, 360.0)
    return [found] if degrees is None else [found, degrees]


def _track(source: PoseSource, log: DriveLog, origin_ns: int, turn: float) -> Track | None:
    """Poses that differ from the one before (loggers repeat a slow source's last one), with a yaw of `turn` per turn."""
    channel = source.channel
    if not set(names.POSE_COLUMNS) <= set(channel.columns):
        return None
    channel = _in_order(channel)
    x, y, yaw = (channel.column(name) for name in names.POSE_COLUMNS)
    kept = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(yaw)) < _LARGEST
    if kept.sum() < 3:
        return None
    rows = np.flatnonzero(kept)
    steps = np.column_stack([np.diff(c[rows]) for c in (x, y, yaw)])
    rows = rows[np.concatenate([[True], (steps != 0.0).any(axis=1)])]
    if len(rows) < 3:
        return None
    heading = np.unwrap(yaw[rows], period=turn) * (2.0 * np.pi / turn)
    time_s = (channel.stamps_ns[rows] - origin_ns) / NANOSECONDS
    segment = log.segment_at(channel.stamps_ns[rows])
    step_m = source.step_m or max(resolution(x[rows]), resolution(y[rows]))
    step_rad = (source.step_rad or resolution(yaw[rows])) * (2.0 * np.pi / turn)
    return Track(time_s, x[rows] + 1j * y[rows], heading, segment, step_m, step_rad)


def _in_order(channel: Channel) -> Channel:
    order = np.argsort(channel.stamps_ns, kind="stable")
    fresh = order[np.diff(channel.stamps_ns[order], prepend=np.iinfo(np.int64).min // 2) > 0]
    if len(fresh) == len(order) and (order == np.arange(len(order))).all():
        return channel
    return Channel(channel.name, channel.stamps_ns[fresh], channel.values[fresh], channel.columns)


def resolution(values: np.ndarray) -> float:
    """Step of numbers that are written in steps (whole millimeters, encoder counts); 0 where they are not."""
    values = values[np.abs(values) < _LARGEST]
    steps = np.abs(np.diff(np.unique(np.round(values, 12))))
    steps = steps[steps > 1e-9]
    if len(steps) < 5:
        return 0.0
    least = float(np.quantile(steps, 0.02))
    off = np.abs(steps / least - np.round(steps / least))
    return least if float(np.mean(off < 0.05)) > 0.95 else 0.0


@dataclass(frozen=True, eq=False, slots=True)
class Intervals:
    """Intervals between poses that follow each other: begin and end (s), displacement, change of heading."""

    begin_s: np.ndarray
    end_s: np.ndarray
    moved_m: np.ndarray  # complex, in the world
    yaw_rad: np.ndarray  # at the begin
    turned_rad: np.ndarray
    is_next: np.ndarray  # begins where the one before ends

    def __len__(self) -> int:
        return len(self.begin_s)

    @property
    def usual_s(self) -> float:
        return float(np.median(self.end_s - self.begin_s))


def intervals_of(track: Track, wheels: Turned, longest_lag_s: float) -> Intervals | None:
    """Poses thinned to `INTERVAL_S`, and intervals that both sensors saw from begin to end, wherever the delay lies."""
    chosen, last = [0], float(track.time_s[0])
    shortest_s = max(INTERVAL_S, float(track.time_s[-1] - track.time_s[0]) / MOST_INTERVALS)
    for k in range(1, len(track.time_s)):
        if track.time_s[k] - last >= shortest_s - 1e-6:
            chosen.append(k)
            last = float(track.time_s[k])
    rows = np.array(chosen)
    if len(rows) < 3:
        return None
    time_s = track.time_s[rows]
    spans = np.diff(time_s)
    silent = max(SILENT_INTERVALS * float(np.median(spans)), SILENT_S)
    inside = (time_s[:-1] - longest_lag_s >= wheels.time_s[0]) & (time_s[1:] + longest_lag_s <= wheels.time_s[-1])
    unseen = np.interp(time_s, wheels.time_s, _paused(wheels.time_s))
    kept = (spans < silent) & (np.diff(track.segment[rows]) == 0) & inside & (np.diff(unseen) <= 0.0)
    kept &= ~_jumps(np.abs(np.diff(track.place_m[rows]))) & ~_jumps(np.diff(track.yaw_rad[rows]))
    at = np.flatnonzero(kept)
    if len(at) < 3:
        return None
    begin, end = rows[at], rows[at + 1]
    return Intervals(
        track.time_s[begin],
        track.time_s[end],
        track.place_m[end] - track.place_m[begin],
        track.yaw_rad[begin],
        track.yaw_rad[end] - track.yaw_rad[begin],
        np.concatenate([[False], np.diff(at) == 1]),
    )


def _jumps(steps: np.ndarray) -> np.ndarray:
    size = np.abs(steps)
    return np.asarray(size > max(JUMP_STDS * robust_std(steps), JUMP_QUANTILES * float(np.quantile(size, 0.95)), 1e-9))


def _paused(time_s: np.ndarray) -> np.ndarray:
    """Running sum of the time that the encoders were silent."""
    periods = np.diff(time_s)
    pause = max(SILENT_INTERVALS * float(np.median(periods)), 0.3)
    return np.concatenate([[0.0], np.cumsum(np.where(periods > pause, periods, 0.0))])


@dataclass(frozen=True, eq=False, slots=True)
class Reckoned:
    """Displacements in the frame of dead reckoning (N,), and what dead reckoning predicts for them, per radian of the wheels."""

    forward_m: np.ndarray
    lateral_m: np.ndarray
    predicted: np.ndarray  # complex, P_k of the module's docstring


def reckoned(steps: Intervals, wheels: Turned, shape: Gyro, lag_s: float) -> Reckoned:
    """Displacements along the heading of `shape` (running angle of wheels or gyro), bent so that its ends are the pose's own."""
    count = max(2, int(np.ceil(steps.usual_s / GRID_S)) + 1)
    share = np.linspace(0.0, 1.0, count)
    at = steps.begin_s[:, None] + share * (steps.end_s - steps.begin_s)[:, None] - lag_s
    turned = np.interp(at, shape.time_s, shape.angle_rad)
    turned -= turned[:, :1]
    heading = turned + share * (steps.turned_rad - turned[:, -1])[:, None]
    mean = np.interp(at, wheels.time_s, wheels.angle_rad.mean(axis=1))
    speed = np.abs(np.diff(wheels.at(at.ravel()).reshape(*at.shape, -1), axis=1)).mean(axis=2)
    middle = 0.5 * (heading[:, 1:] + heading[:, :-1])
    along = np.exp(1j * middle)
    level = speed.sum(axis=1) / speed.shape[1]
    direction = np.angle((along * (speed + 1e-3 * level[:, None] + 1e-9)).sum(axis=1))
    seen = steps.moved_m * np.exp(-1j * (steps.yaw_rad + direction))
    predicted = (along * np.diff(mean, axis=1)).sum(axis=1) * np.exp(-1j * direction)
    return Reckoned(seen.real, seen.imag, predicted)
