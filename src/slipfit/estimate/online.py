"""The same filter on a robot: readings as they come, late ones put where they belong, an answer at any time.

    slip = OnlineSlipFilter(twin)
    slip.rims(t, left_mps, right_mps)
    slip.gyro(t, yaw_rate)
    now = slip.pose(t - 0.2, x, y, yaw)      # late: what came after it is run again
    now.slip_left, now.stuck

Times are seconds of any clock that all readings share. Nothing here raises for a bad reading: it is counted and left out.
"""

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from slipfit.errors import ParameterError
from slipfit.estimate.filter import Start, start_of
from slipfit.estimate.from_log import CORRELATION_S, TOLD_MPS, TOLD_STD
from slipfit.estimate.immobilisation import LEAST_STD, STUCK_SLIP, TURNING_MPS
from slipfit.estimate.motion import Motion, motion_of
from slipfit.estimate.settings import FilterSettings
from slipfit.library import OmniRobot, Robot
from slipfit.twin import Twin
from slipfit.vehicles import slip_filter as kernel
from slipfit.vehicles.slip_filter import ACCELEROMETER, GATED, GYRO, LARGEST_READING, NOTHING, POSE, RECORD, VELOCITY, N, Q

#: How much of the past is kept for late readings (s), and how many readings at most.
HISTORY_S, HISTORY = 2.0, 4000

#: After a late reading what followed it is run again in parts of so many readings, each of which ends with a memory.
PART = 50

#: No clock says more seconds than this.
LARGEST_TIME_S = 1e12

_NO_STATES, _NO_COVS = np.empty((0, N)), np.empty((0, N, N))
_NOTHING_TOLD = np.full(3, np.nan)


class SlipNow(NamedTuple):
    """Slip at one moment. Ratios are held where `left_is_told`, `right_is_told` or `angle_is_told` are False."""

    time_s: float
    slip_left: float
    slip_right: float
    slip_angle_rad: float
    slip_left_std: float
    slip_right_std: float
    slip_angle_std_rad: float
    left_is_told: bool
    right_is_told: bool
    angle_is_told: bool
    x_m: float
    y_m: float
    yaw_rad: float
    vx_mps: float
    vy_mps: float
    yaw_rate_radps: float
    stuck: float  # probability


class _Event(NamedTuple):
    kind: int
    values: np.ndarray
    stds: np.ndarray
    inputs: np.ndarray


class OnlineSlipFilter:
    """For robots that are driven by their left and right side."""

    def __init__(
        self, driver: Twin | Robot | OmniRobot, *, ground: str | None = None, settings: FilterSettings | None = None,
        gyro: bool = True, accelerometer: bool = False,
    ) -> None:  # fmt: skip
        self.motion: Motion = motion_of(driver, ground=ground)
        if self.motion.is_omni:
            raise ParameterError(
                "the online filter is for robots with a left and a right side; expected a skid-steer or tracked robot"
            )
        if settings is None:
            settings = FilterSettings(correlation_s=CORRELATION_S if self.motion.expected is not None else None)
        self.settings = settings
        noise = settings.noise()
        self._noise = noise._replace(
            gyro_bias=noise.gyro_bias if gyro else 0.0, accel_bias=noise.accel_bias if accelerometer else 0.0
        )
        self._sensors = {"gyro": gyro, "accelerometer": accelerometer}
        self._times: list[float] = []
        self._events: list[_Event] = []
        self._after: list[Start | None] = []  # what the filter knew after each event; None inside a part that was run again
        self._first: Start | None = None
        self._rims = np.zeros((1, 2))
        self._row = np.zeros(RECORD)
        self._held = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        self.left_out = 0  # readings that are not finite, or older than the history
        self.refused = 0  # by the gate

    # --- readings -------------------------------------------------------------------------------------------------------

    def rims(self, time_s: float, left_mps: float, right_mps: float) -> SlipNow | None:
        """Speeds of both sides' rims: wheel speed times radius."""
        if not (abs(left_mps) < LARGEST_READING and abs(right_mps) < LARGEST_READING):
            self.left_out += 1
            return self.now()
        self._rims = np.array([[left_mps, right_mps]])
        return self._take(time_s, NOTHING, _NOTHING_TOLD, _NOTHING_TOLD)

    def gyro(self, time_s: float, yaw_rate_radps: float) -> SlipNow | None:
        stds = np.array([self.settings.gyro_radps, np.nan, np.nan])
        return self._take(time_s, GYRO, np.array([yaw_rate_radps, np.nan, np.nan]), stds)

    def accelerometer(self, time_s: float, ahead_mps2: float, left_mps2: float) -> SlipNow | None:
        stds = np.array([self.settings.accel_mps2, self.settings.accel_mps2, np.nan])
        return self._take(time_s, ACCELEROMETER, np.array([ahead_mps2, left_mps2, np.nan]), stds)

    def pose(
        self, time_s: float, x_m: float, y_m: float, yaw_rad: float = float("nan"), *, std_m: float | None = None,
        std_rad: float | None = None,
    ) -> SlipNow | None:  # fmt: skip
        """A pose, or a place alone (GNSS); `time_s` is when it was true."""
        place, angle = std_m or self.settings.pose_m, std_rad or self.settings.pose_rad
        return self._take(time_s, POSE, np.array([x_m, y_m, yaw_rad]), np.array([place, place, angle]))

    def velocity(self, time_s: float, vx_mps: float, vy_mps: float, yaw_rate_radps: float = float("nan")) -> SlipNow | None:
        """Of the body, by something other than its wheels."""
        s = self.settings
        stds = np.array([s.velocity_mps, s.velocity_mps, s.velocity_radps])
        return self._take(time_s, VELOCITY, np.array([vx_mps, vy_mps, yaw_rate_radps]), stds)

    # --- answers --------------------------------------------------------------------------------------------------------

    def now(self) -> SlipNow | None:
        """After the newest reading; None before the first."""
        if not self._times:
            return None
        row, rims = self._row, self._events[-1].inputs
        u, v, r = row[2 * N : 2 * N + 3]
        half = 0.5 * self.motion.track_m * r
        found = []
        for k, ground in enumerate((u - half, u + half)):
            rim, std = rims[k], row[N + Q + k]
            fastest = max(abs(rim), abs(ground), TOLD_MPS)
            slip, spread = (rim - ground) / fastest, std / fastest
            found.append((slip, spread, fastest > TOLD_MPS and spread < TOLD_STD))
        safe = u if abs(u) > TOLD_MPS else TOLD_MPS
        angle, spread = float(np.arctan(-v / safe)), row[N + Q + 2] / abs(safe)
        found.append((angle, spread, abs(u) > TOLD_MPS and spread < TOLD_STD))
        for k, (value, spread, told) in enumerate(found):
            if told:
                self._held[k], self._held[3 + k] = float(value), float(spread)
        told = [bool(t) for _, _, t in found]
        motion = (float(value) for value in (*row[:3], u, v, r))
        return SlipNow._make((self._times[-1], *self._held, *told, *motion, self._stuck(rims, told)))

    def _stuck(self, rims: np.ndarray, told: list[bool]) -> float:
        sides = [k for k in (0, 1) if abs(rims[k]) > TURNING_MPS]
        if not sides:
            return 0.0
        k = min(sides, key=lambda side: self._held[side] * np.sign(rims[side]))
        if not told[k]:
            return 0.0
        return float(ndtr((self._held[k] * np.sign(rims[k]) - STUCK_SLIP) / max(self._held[3 + k], LEAST_STD)))

    # --- the past -------------------------------------------------------------------------------------------------------

    def _take(self, time_s: float, kind: int, values: np.ndarray, stds: np.ndarray) -> SlipNow | None:
        if not abs(time_s) < LARGEST_TIME_S or (kind != NOTHING and not np.isfinite(values).any()):
            self.left_out += 1
            return self.now()
        if self._times and time_s < self._times[0]:
            self.left_out += 1
            return self.now()
        at = bisect_right(self._times, time_s)
        # A late reading saw the rims of its own time.
        inputs = self.motion.inputs(self._rims)[0] if at == len(self._times) else self._events[at - 1].inputs
        self._times.insert(at, float(time_s))
        self._events.insert(at, _Event(kind, values, stds, inputs))
        if at == 0:
            self._first = self._begin(time_s, inputs, values if kind == POSE else _NOTHING_TOLD)
        del self._after[at:]
        while self._after and self._after[-1] is None:
            self._after.pop()
        self._replay()
        self._forget()
        return self.now()

    def _begin(self, time_s: float, inputs: np.ndarray, pose: np.ndarray) -> Start:
        return start_of(self.motion, self.settings, float(time_s), inputs, pose=pose, **self._sensors)

    def _replay(self) -> None:
        """From the last event that is remembered on to the newest."""
        start = self._after[-1] if self._after else self._first
        assert start is not None
        while len(self._after) < len(self._times):
            begin, end = len(self._after), min(len(self._after) + PART, len(self._times))
            events = self._events[begin:end]
            state, cov, book, out = start.state.copy(), start.cov.copy(), start.book.copy(), np.empty((len(events), RECORD))
            kernel.run(
                self.motion.model, self._noise, np.array(self._times[begin:end]), np.array([e.kind for e in events]),
                np.array([e.values for e in events]), np.array([e.stds for e in events]), np.array([e.inputs for e in events]),
                state, cov, book, out, _NO_STATES, _NO_COVS,
            )  # fmt: skip
            self.refused += int((out[:, 2 * N + 8] == GATED).sum())
            start = Start(state, cov, book)
            self._after += [None] * (len(events) - 1) + [start]
            self._row = out[-1]

    def _forget(self) -> None:
        old = max(bisect_right(self._times, self._times[-1] - HISTORY_S) - 1, len(self._times) - HISTORY)
        while old > 0 and self._after[old] is None:
            old -= 1
        if old > 64:  # a few at a time: lists move what follows
            del self._times[:old], self._events[:old], self._after[:old]
