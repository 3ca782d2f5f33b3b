"""Three witnesses of one motion: what encoders, IMU and pose each say about turning and going ahead, as running sums.

A running sum (angle turned, distance gone) can be compared over any span of time, whatever the rates of the sensors are:
its increments are exact between two stamps, and nothing is differentiated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.stamps import gap_places

#: A step of a pose or of a counter that is this many times as long as 99 % of the others is a new start, not a motion.
JUMP = 20.0

ROTATIONS = ("angle", "speed", "ticks")


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """Running sums of one sensor on its own stamps, shape (T, k); `torn` is the time spent in gaps and jumps."""

    time_s: np.ndarray
    torn_s: np.ndarray
    values: np.ndarray

    @property
    def period_s(self) -> float:
        return float(np.median(np.diff(self.time_s)))

    def at(self, when_s: np.ndarray, *columns: int) -> np.ndarray:
        """Sums at any time, between stamps by straight lines; all columns or some. Shape (len(when_s), columns)."""
        chosen = columns or range(self.values.shape[1])
        return np.column_stack([np.interp(when_s, self.time_s, self.values[:, k]) for k in chosen])

    def is_whole(self, edges_s: np.ndarray) -> np.ndarray:
        """Which of the spans between edges the sensor saw from begin to end."""
        inside = (edges_s >= self.time_s[0]) & (edges_s <= self.time_s[-1])
        torn = np.diff(np.interp(edges_s, self.time_s, self.torn_s))
        return np.asarray(inside[1:] & inside[:-1] & (torn < 1e-9))


@dataclass(frozen=True, eq=False, slots=True)
class Wheels(Sums):
    """Columns: rim distance of the left and right side, m, by the robot's wheel radius."""

    track_m: float
    yaw_share: float  # I / (m b²): how much slower the body turns than it speeds up, for the same compliance

    def followed(self, lag_s2pm: float) -> "Wheels":
        """The same for a body that follows the wheels by slip: v' = (v_r - v) / (q |v_r|), q = c_long m / n, and in yaw
        with q I / (m b²). Steps are integrated exactly; the distance lags by q |v_r| v."""
        if lag_s2pm <= 0.0:
            return self
        periods = np.diff(self.time_s)[:, None]
        sides = np.diff(self.values, axis=0) / periods
        rim = np.convolve(np.pad(np.abs(sides).max(axis=1), 2, mode="edge"), np.full(5, 0.2), mode="valid")[:, None]
        rates = np.column_stack([sides.mean(axis=1), 0.5 * (sides[:, 1] - sides[:, 0])])
        lags = np.maximum(lag_s2pm * rim * np.array([1.0, self.yaw_share]), 1e-9)
        ahead, half = _follow(rates, periods, lags).T
        return replace(self, values=np.column_stack([ahead - half, ahead + half]))

    @property
    def ahead_m(self) -> np.ndarray:
        return np.asarray(self.values.mean(axis=1))

    @property
    def yaw_rad(self) -> np.ndarray:
        """Angle turned if nothing slipped: (right - left) / track."""
        return np.asarray((self.values[:, 1] - self.values[:, 0]) / self.track_m)


def _follow(rates: np.ndarray, periods: np.ndarray, lags_s: np.ndarray) -> np.ndarray:
    """Running sums of rates that follow others with a lag of their own at every step: (T, k) gives (T + 1, k).

    y_k = s_k y_{k-1} + (1 - s_k) w_k is solved for all k at once: two steps in one, then four, eight, until nothing of the
    start is left.
    """
    kept = np.exp(-periods / lags_s)
    following, share, stride = (1.0 - kept) * rates, kept, 1
    following[0] = rates[0]
    while stride < len(rates) and share[stride:].max() > 1e-9:
        following = np.vstack([following[:stride], following[stride:] + share[stride:] * following[:-stride]])
        share = np.vstack([share[:stride], share[stride:] * share[:-stride]])
        stride *= 2
    changes = np.diff(following, axis=0, prepend=rates[:1])
    return np.vstack([np.zeros((1, rates.shape[1])), np.cumsum(rates * periods - lags_s * changes, axis=0)])


@dataclass(frozen=True, eq=False, slots=True)
class Inertial(Sums):
    """Columns: angle turned about z (rad), sum of accel_x and of accel_y over time (m/s), the same twice for x (m)."""


@dataclass(frozen=True, eq=False, slots=True)
class Seen(Sums):
    """Columns: yaw (rad, unwrapped), distance ahead by that yaw (m), length of the path (m)."""


def origin_ns(log: DriveLog) -> int:
    """First stamp of any channel."""
    return min(int(c.stamps_ns.min()) for c in log.channels.values())


def seconds(channel: Channel, origin: int) -> np.ndarray:
    return np.asarray((channel.stamps_ns - origin) / NANOSECONDS)


def _torn(time_s: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Running sum of the time that lies in gaps or jumps; `jumps` flags periods."""
    periods = np.diff(time_s)
    lost = jumps.copy()
    lost[gap_places(periods)] = True
    return np.concatenate([[0.0], np.cumsum(np.where(lost, periods, 0.0))])


def rotation_of(channel: Channel) -> tuple[str, list[int], list[int]] | None:
    """What the encoders tell (angle, speed or ticks), and the places of the columns of the left and of the right side."""
    for quantity in ROTATIONS:
        if set(names.rotation_columns((quantity,), 0)) <= set(channel.columns):
            left, right = (channel.columns.index(names.side_column(quantity, side)) for side in names.SIDES)
            return quantity, [left], [right]
        count = sum(name in channel.columns for name in names.wheel_columns(quantity, len(channel.columns)))
        if count >= 4 and count % 2 == 0:
            wheels = [channel.columns.index(name) for name in names.wheel_columns(quantity, count)]
            return quantity, wheels[0::2], wheels[1::2]
    return None


def rolled(values: np.ndarray, time_s: np.ndarray, quantity: str) -> np.ndarray:
    """Angles (or ticks) of every column since the start, jumps of counters taken out. Shape as `values`."""
    if quantity == "speed":
        steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time_s)[:, None]
    else:
        steps = np.diff(values, axis=0)
        size = np.abs(steps)
        usual = np.percentile(size, 99.0, axis=0) if len(size) else 0.0
        steps = np.where(size > JUMP * np.maximum(usual, 1e-12), 0.0, steps)
    return np.vstack([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])


def wheels_of(log: DriveLog, robot: SkidSteerRobot, origin: int) -> Wheels | None:
    """What the encoders say; ticks are counted as radians until somebody knows better (`ticks_per_turn`)."""
    channel = log.channels.get(names.ENCODERS)
    found = rotation_of(channel) if channel else None
    if channel is None or found is None or len(channel.stamps_ns) < 3:
        return None
    quantity, left, right = found
    time_s = seconds(channel, origin)
    turned = rolled(channel.values, time_s, quantity) * robot.wheels.radius_m.value
    sides = np.column_stack([np.mean(turned[:, left], axis=1), np.mean(turned[:, right], axis=1)])
    share = robot.yaw_inertia_kgm2.value / (robot.mass_kg.value * (0.5 * robot.track_m) ** 2)
    return Wheels(time_s, _torn(time_s, np.zeros(len(time_s) - 1, dtype=bool)), sides, track_m=robot.track_m, yaw_share=share)


def _sum(rate: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(time_s))])


def inertial_of(log: DriveLog, origin: int) -> Inertial | None:
    """What the IMU says. Accelerations lose their mean: twice summed, it would hide everything else."""
    channel = log.channels.get(names.IMU)
    if channel is None or len(channel.stamps_ns) < 3:
        return None
    time_s = seconds(channel, origin)
    still = np.zeros(len(time_s))
    gyro, ahead, left = (
        channel.column(name) if name in channel.columns else still for name in ("gyro_z_radps", "accel_x_mps2", "accel_y_mps2")
    )
    speed = _sum(ahead - np.median(ahead), time_s)
    values = np.column_stack([_sum(gyro, time_s), speed, _sum(left, time_s), _sum(speed, time_s)])
    return Inertial(time_s, _torn(time_s, np.zeros(len(time_s) - 1, dtype=bool)), values)


def seen_of(log: DriveLog, origin: int, *, turn: float = 2.0 * np.pi) -> Seen | None:
    """What the pose says, within pieces that hang together; a whole turn is 360 where its yaw is in degrees."""
    channel = log.channels.get(names.POSE)
    if channel is None or len(channel.stamps_ns) < 3 or not {"x_m", "y_m"} <= set(channel.columns):
        return None
    time_s = seconds(channel, origin)
    steps = np.diff(np.column_stack([channel.column("x_m"), channel.column("y_m")]), axis=0)
    length = np.hypot(*steps.T)
    jumps = (np.diff(log.segment_at(channel.stamps_ns)) != 0) | pose_jumps(length)  # or a new segment begins
    yaw = np.unwrap(channel.column("yaw_rad"), period=turn) if "yaw_rad" in channel.columns else np.zeros(len(time_s))
    middle = 0.5 * (yaw[1:] + yaw[:-1])
    ahead = steps[:, 0] * np.cos(middle) + steps[:, 1] * np.sin(middle)
    kept = [np.where(jumps, 0.0, column) for column in (np.diff(yaw), ahead, length)]
    values = np.vstack([np.zeros(3), np.cumsum(np.column_stack(kept), axis=0)])
    return Seen(time_s, _torn(time_s, jumps), values)


def pose_jumps(length: np.ndarray) -> np.ndarray:
    """Steps of the position that no drive explains."""
    usual = np.percentile(length, 99.0) if len(length) else 0.0
    return np.asarray(length > JUMP * max(float(usual), 1e-9))


def edges_for(parts: Sequence[Sums], shortest_s: float) -> np.ndarray:
    """Edges of spans to compare sensors over: stamps of the slowest sensor, thinned to `shortest_s`.

    On its own stamps a slow sensor need not be interpolated.
    """
    slow = max(parts, key=lambda part: part.period_s)
    every = max(1, int(np.ceil(shortest_s / slow.period_s - 1e-6)))
    return np.asarray(slow.time_s[::every])
