"""The same filter on a robot: readings as they come, late ones put where they belong, an answer at any time.

    slip = OnlineSlipFilter(twin)
    slip.rims(t, left_mps, right_mps)
    slip.gyro(t, yaw_rate)
    now = slip.pose(t - 0.2, x, y, yaw)      # late: what came after it is run again
    now.slip_left, now.stuck

Times are seconds of any clock that all readings share. Nothing here raises for a bad reading: it is counted and left out.
"""

from dataclasses import replace
from math import erfc, inf, isfinite, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from slipfit.errors import ParameterError
from slipfit.estimation.filter import Start, start_of
from slipfit.estimation.first_pose import FirstPose
from slipfit.estimation.from_log import turning_slip
from slipfit.estimation.immobilisation import HEARD_S, LEAST_STD, STUCK_SLIP, TURNING_MPS
from slipfit.estimation.motion import BodyMotion, Motion, motion_of
from slipfit.estimation.places import Places
from slipfit.estimation.settings import FilterSettings
from slipfit.library import Robot
from slipfit.twin import Driver, Twin, find_driver
from slipfit.vehicles import slip_filter as kernel
from slipfit.vehicles.slip_filter import (
    ACCELEROMETER,
    ANCHOR,
    COURSE,
    GATED,
    GYRO,
    INPUTS,
    LARGEST_READING,
    NOTHING,
    POSE,
    PSI,
    RECORD,
    USED,
    VELOCITY,
    N,
    Q,
)  # fmt: skip
from slipfit.vehicles.slip_ratios import slip_ratios

#: How much of the past is kept for late readings (s), and how many readings at most.
HISTORY_S, HISTORY = 2.0, 8192

#: The filter's state is remembered after so many readings, and after so many more: late ones start from there.
PART = 100

#: So many readings in a row that are older than the history: the clock was set back, and the filter starts anew. So many in a row
#: far ahead of all others: it was set ahead.
ALL_TOO_OLD = ALL_AHEAD = 100

#: A reading that is stamped by more than this (s) ahead of all others is far ahead: its clock is wrong, or all were silent. Other
#: readings confirm it, so many in a row of the wheels and of another sensor, or `ALL_AHEAD` of any; until then they are left out.
#: A stamp within the bound is no longer ahead than late readings are kept for.
AHEAD_S, CONFIRMED = HISTORY_S, 10

#: Confirmed within this time (s), all were silent, and the filter goes on; beyond, a clock was set, and it starts anew.
LONGEST_SILENCE_S = 60.0

#: No clock says more seconds than this.
LARGEST_TIME_S = 1e12

_NAN = float("nan")
_NO_STATES, _NO_COVS = np.empty((0, N)), np.empty((0, N, N))


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
    heading_is_known: bool  # False: yaw_rad counts from the start, and the place is the last one that was told


class OmniSlipNow(NamedTuple):
    """Slip of an omni robot at one moment: what its wheels say of the body less what it does, over the larger of the two."""

    time_s: float
    slip_ahead: float
    slip_aside: float
    slip_turning: float
    slip_ahead_std: float
    slip_aside_std: float
    slip_turning_std: float
    ahead_is_told: bool
    aside_is_told: bool
    turning_is_told: bool
    x_m: float
    y_m: float
    yaw_rad: float
    vx_mps: float
    vy_mps: float
    yaw_rate_radps: float
    stuck: float  # probability
    heading_is_known: bool  # False: yaw_rad counts from the start, and the place is the last one that was told


class _Memory(NamedTuple):
    """What the filter knew after its first `number` readings."""

    number: int
    time_s: float
    start: Start


class _Past:
    """Readings of the last seconds in arrays, as the kernel takes them; the oldest go when there is no room left."""

    def __init__(self) -> None:
        self.first, self.count = 0, 0  # number of the first reading that is kept, and how many are
        self.time_s = np.empty(HISTORY)
        self.kinds = np.empty(HISTORY, dtype=np.int64)
        self.values, self.stds, self.inputs = np.empty((HISTORY, 3)), np.empty((HISTORY, 3)), np.empty((HISTORY, INPUTS))

    def columns(self) -> tuple[np.ndarray, ...]:
        return self.time_s, self.kinds, self.values, self.stds, self.inputs

    def place(self, time_s: float) -> int:
        """Where a reading of this time belongs, counted from the first that is kept: after those of the same time."""
        if not self.count or time_s >= self.time_s[self.count - 1]:
            return self.count
        return int(np.searchsorted(self.time_s[: self.count], time_s, side="right"))

    def insert(self, at: int, *row: object) -> None:
        for column, value in zip(self.columns(), row, strict=True):
            if at < self.count:
                column[at + 1 : self.count + 1] = column[at : self.count].copy()
            column[at] = value
        self.count += 1

    def forget(self, number: int) -> None:
        """Leave out all readings before this number."""
        gone = number - self.first
        if gone > 0:
            for column in self.columns():
                column[: self.count - gone] = column[gone : self.count].copy()
            self.first, self.count = number, self.count - gone


class OnlineSlipFilter:
    """For skid-steer, tracked and omni robots: `rims` or `wheels`, and whatever else there is, at any rate and delay."""

    def __init__(
        self, driver: Driver | Twin | Robot | str | Path, *, ground: str | None = None, settings: FilterSettings | None = None,
        gyro: bool = True, accelerometer: bool = False, imu_at_m: tuple[float, float] | None = None,
        effective_track_m: float | None = None, expected: BodyMotion | None = None,
    ) -> None:  # fmt: skip
        driver = find_driver(driver)
        self.motion: Motion = motion_of(
            driver, ground=ground, effective_track_m=effective_track_m, expected=expected, imu_at_m=imu_at_m
        )
        self.settings = settings or FilterSettings()
        self.left_out = 0  # not finite, without a positive spread, older than the history, or far ahead of all others
        self.refused = 0  # by the gate
        self.restarts = 0  # after the clock was set
        robot = driver.robot.as_wheeled()
        self._name, self._wheels = robot.name, len(robot.wheels.at_m.value)
        self._radius_m = robot.wheels.radius_m.value if robot.has_sides else None
        self._sensors = {"gyro": gyro, "accelerometer": accelerometer}
        self._noise = self.motion.noise(self.settings, **self._sensors)
        self._rims = np.zeros((1, 3 if self.motion.is_omni else 2))
        self._inputs = self.motion.inputs(self._rims)[0]
        self._out, self._ratios = np.empty((PART, RECORD)), np.empty((1, 9))
        self._row = np.zeros(RECORD)
        self._pose_then = np.zeros(3)  # at the reading that came last
        self._start_anew()

    def _start_anew(self) -> None:
        self._past = _Past()
        self._memories: list[_Memory] = []
        self._begin: Start | None = None
        self._current: Start | None = None
        self._held = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        self._heard_s = {GYRO: -inf, POSE: -inf, VELOCITY: -inf}  # when each kind was used last
        self._anchored, self._too_old = [False] * 3, 0  # which of x, y and heading were told
        self.motion = replace(self.motion, is_heard_ahead=False)  # until a pose, a place with a heading, or a velocity comes
        self._ahead = [0, 0]  # readings in a row that were far ahead, of the wheels and of others
        self._places = Places()

    # --- readings -------------------------------------------------------------------------------------------------------

    def rims(self, time_s: float, left_mps: float, right_mps: float) -> SlipNow | OmniSlipNow | None:
        """Speeds of both sides' rims: wheel speed times radius; of tracks the belts' speeds."""
        if self.motion.is_omni:
            raise ParameterError(f"{self._name} has omni wheels and no sides; give wheels(time_s, speeds_radps)")
        time_s, *sides = _numbers("rims", time_s, left_mps, right_mps)
        return self._take_rims(time_s, tuple(sides))

    def wheels(self, time_s: float, *speeds_radps: float) -> SlipNow | OmniSlipNow | None:
        """Speeds of all wheels in the order of the robot's file, left before right; of two sides left and right do too."""
        time_s, *speeds = _numbers("wheels", time_s, *speeds_radps)
        if self.motion.twist_of_wheels is not None:
            if len(speeds) != self._wheels:
                raise ParameterError(f"{len(speeds)} wheel speeds are given; {self._name} has {self._wheels} wheels")
            return self._take_rims(time_s, tuple((self.motion.twist_of_wheels @ speeds).tolist()))
        if len(speeds) not in (2, self._wheels):
            raise ParameterError(f"{len(speeds)} wheel speeds are given; {self._name} has {self._wheels}, or left and right")
        assert self._radius_m is not None
        per = 2.0 * self._radius_m / len(speeds)
        return self._take_rims(time_s, (per * sum(speeds[::2]), per * sum(speeds[1::2])))

    def gyro(self, time_s: float, yaw_rate_radps: float) -> SlipNow | OmniSlipNow | None:
        time_s, yaw_rate_radps = _numbers("gyro", time_s, yaw_rate_radps)
        return self._take(time_s, GYRO, (yaw_rate_radps, _NAN, _NAN), (self.settings.gyro_radps, _NAN, _NAN))

    def accelerometer(self, time_s: float, ahead_mps2: float, left_mps2: float) -> SlipNow | OmniSlipNow | None:
        """Specific force in the body's axes, at the IMU's place; not used before something tells the way ahead."""
        time_s, ahead_mps2, left_mps2 = _numbers("accelerometer", time_s, ahead_mps2, left_mps2)
        std = self.settings.accel_mps2
        if not self.motion.is_ahead_told:
            return self.now() if _are_usable((ahead_mps2, left_mps2), (std, std)) else self._leave_out()
        return self._take(time_s, ACCELEROMETER, (ahead_mps2, left_mps2, _NAN), (std, std, _NAN))

    def pose(
        self, time_s: float, x_m: float, y_m: float, yaw_rad: float = _NAN, *, std_m: float | None = None,
        std_rad: float | None = None,
    ) -> SlipNow | OmniSlipNow | None:  # fmt: skip
        """A pose, or a place alone (GNSS), whose usual spread is that of the settings' `gnss_m`; `time_s` is when it was true.

        Where no heading was ever told, the way tells it after some places (`slipfit.estimation.course`); until then they tell
        nothing about slip, and `heading_is_known` is False.
        """
        time_s, x_m, y_m, yaw_rad = _numbers("pose", time_s, x_m, y_m, yaw_rad)
        usual_m = self.settings.pose_m if isfinite(yaw_rad) else self.settings.gnss_m
        place = usual_m if std_m is None else std_m
        angle = self.settings.pose_rad if std_rad is None else std_rad
        place, angle = _numbers("pose", place, angle)
        if isfinite(x_m) and isfinite(y_m) and not (isfinite(yaw_rad) or self._anchored[PSI]):
            return self._take_place(time_s, x_m, y_m, place)
        return self._take(time_s, POSE, (x_m, y_m, yaw_rad), (place, place, angle))

    def velocity(self, time_s: float, vx_mps: float, vy_mps: float, yaw_rate_radps: float = _NAN) -> SlipNow | OmniSlipNow | None:
        """Of the body, by something other than its wheels."""
        s = self.settings
        time_s, vx_mps, vy_mps, yaw_rate_radps = _numbers("velocity", time_s, vx_mps, vy_mps, yaw_rate_radps)
        return self._take(time_s, VELOCITY, (vx_mps, vy_mps, yaw_rate_radps), (s.velocity_mps, s.velocity_mps, s.velocity_radps))

    # --- answers --------------------------------------------------------------------------------------------------------

    def now(self) -> SlipNow | OmniSlipNow | None:
        """After the newest reading; None before the first."""
        past, row = self._past, self._row
        if not past.count:
            return None
        newest = past.inputs[past.count - 1 : past.count]
        width = self._rims.shape[1]
        twist, stds = row[2 * N : 2 * N + 3], row[N + Q : N + Q + 3]
        slip_ratios(self.motion.is_omni, self.motion.length_m, newest[:, :width], twist[None], stds[None], self._ratios)
        found = self._ratios[0].tolist()
        told = [flag > 0.0 for flag in found[6:]]
        if not self.motion.is_ahead_told:
            told = [False, False, told[2] and self.motion.is_omni]
        for k in range(3):
            if told[k]:
                self._held[k], self._held[3 + k] = found[k], found[3 + k]
        record: type[SlipNow] | type[OmniSlipNow] = OmniSlipNow if self.motion.is_omni else SlipNow
        x, y, yaw = row[:3].tolist()
        if not self._anchored[PSI] and self._places.newest is not None:
            x, y = self._places.newest.real, self._places.newest.imag
        moving = (x, y, yaw, *twist.tolist())
        time_s, stuck = float(past.time_s[past.count - 1]), self._stuck(newest[0].tolist(), told, float(twist[2]))
        return record._make((time_s, *self._held, *told, *moving, stuck, self._anchored[PSI]))

    def _stuck(self, inputs: list[float], told: list[bool], yaw_rate: float) -> float:
        if not (self.motion.is_ahead_told or self.motion.is_omni):
            return self._stuck_in_turns(inputs[:2], yaw_rate)
        ways = range(3 if self.motion.is_omni else 2)
        speeds = inputs[3:6]  # what each slip is a share of
        driven = [(self._held[k] if speeds[k] > 0.0 else -self._held[k], k) for k in ways if abs(speeds[k]) > TURNING_MPS]
        if not driven or not self._is_judged(speeds):
            return 0.0
        slip, k = min(driven)
        return 0.5 * erfc((STUCK_SLIP - slip) / (sqrt(2.0) * max(self._held[3 + k], LEAST_STD))) if told[k] else 0.0

    def _stuck_in_turns(self, rims_mps: list[float], yaw_rate: float) -> float:
        """By a gyro alone, where sides turn against each other."""
        if not self._is_judged(rims_mps):
            return 0.0
        std = np.array([self._row[2 * N + 5]])
        slip, spread, told = turning_slip(self.motion.track_m, np.array([rims_mps]), np.array([yaw_rate]), std)
        less = float(abs(slip[0, 0])) if slip[0, 0] * rims_mps[0] > 0.0 else 0.0
        return 0.5 * erfc((STUCK_SLIP - less) / (sqrt(2.0) * max(float(spread[0, 0]), LEAST_STD))) if told[0, 0] else 0.0

    def _is_judged(self, speeds: list[float]) -> bool:
        """As `immobilisation.Evidence`: the way ahead was told lately, or sides turn against each other and a gyro tells."""
        newest_s = float(self._past.time_s[self._past.count - 1])
        if newest_s - max(self._heard_s[POSE], self._heard_s[VELOCITY]) <= HEARD_S:
            return True
        left, right = speeds[:2]
        against = not self.motion.is_omni and left * right < 0.0 and min(abs(left), abs(right)) > TURNING_MPS
        return against and newest_s - self._heard_s[GYRO] <= HEARD_S

    # --- the past -------------------------------------------------------------------------------------------------------

    def _take_rims(self, time_s: float, rims_mps: tuple[float, ...]) -> SlipNow | OmniSlipNow | None:
        if not all(abs(rim) < LARGEST_READING for rim in rims_mps):
            return self._leave_out()
        self._rims[0] = rims_mps
        inputs = self.motion.inputs(self._rims)[0]
        return self._take(time_s, NOTHING, (_NAN, _NAN, _NAN), (_NAN, _NAN, _NAN), inputs)

    def _take_place(self, time_s: float, x_m: float, y_m: float, std_m: float) -> SlipNow | OmniSlipNow | None:
        """A place while nobody knows the heading: once places tell it, the filter starts there."""
        values, stds = (x_m, y_m, _NAN), (std_m, std_m, _NAN)
        if not _are_usable(values, stds):
            return self._leave_out()
        before = self.left_out
        now = self._take(time_s, NOTHING, (_NAN,) * 3, (_NAN,) * 3)
        if self.left_out > before:
            return now
        own = self._pose_then
        found = self._places.take(x_m, y_m, std_m, complex(own[0], own[1]))
        if found is None:
            return self.now()
        self._anchored = [True] * 3
        heading = float(own[PSI]) + found.turn_rad
        return self._take(time_s, COURSE, (x_m, y_m, heading), (std_m, std_m, found.std_rad))

    def _leave_out(self) -> SlipNow | OmniSlipNow | None:
        self.left_out += 1
        return self.now()

    def _is_elsewhere(self, time_s: float, *, of_wheels: bool) -> bool:
        """Whether a stamp is older than the history, or far ahead of all others, and not yet confirmed by others; where it is,
        the filter has gone there."""
        if not self._memories:
            return False
        is_old = time_s < self._memories[0].time_s
        apart_s = time_s - float(self._past.time_s[self._past.count - 1])
        if is_old:
            self._too_old += 1
            is_set = self._too_old >= ALL_TOO_OLD
        elif apart_s > AHEAD_S:
            self._ahead[0 if of_wheels else 1] += 1
            wheels, others = self._ahead
            is_confirmed = (wheels > 0 and others > 0 and wheels + others >= CONFIRMED) or wheels + others >= ALL_AHEAD
            if is_confirmed and apart_s <= LONGEST_SILENCE_S:
                self._ahead = [0, 0]
                return False
            is_set = is_confirmed
        else:
            self._too_old, self._ahead = 0, [0, 0]
            return False
        if is_set:
            self.restarts += 1
            self._start_anew()
        return not is_set

    def _take(
        self, time_s: float, kind: int, values: tuple[float, ...], stds: tuple[float, ...], rims: np.ndarray | None = None
    ) -> SlipNow | OmniSlipNow | None:
        if not abs(time_s) < LARGEST_TIME_S or (kind != NOTHING and not _are_usable(values, stds)):
            return self._leave_out()
        if self._is_elsewhere(time_s, of_wheels=rims is not None):
            return self._leave_out()
        past = self._past
        if kind == POSE and not all(self._anchored):
            # Where the robot starts is told by its first place and heading, wherever that is.
            is_first = [isfinite(value) and not known for value, known in zip(values, self._anchored, strict=True)]
            if any(is_first):
                kind, values = ANCHOR, tuple(v if first else _NAN for v, first in zip(values, is_first, strict=True))
                self._anchored = [known or first for known, first in zip(self._anchored, is_first, strict=True)]
        if not self.motion.is_heard_ahead and kind in (ANCHOR, POSE, VELOCITY, COURSE) and isfinite(values[0]):
            self._hear_ahead()
        at = past.place(time_s)
        # A late reading saw the rims of its own time.
        inputs = rims if rims is not None else self._inputs if at == past.count else past.inputs[max(at - 1, 0)].copy()
        past.insert(at, float(time_s), kind, values, stds, inputs)
        if rims is not None:
            self._renew_inputs(at, rims)
        if self._begin is None:
            self._begin = self._first(time_s, inputs)
            self._memories = [_Memory(past.first, float(time_s), self._begin)]
        self._replay(at)
        self._forget()
        return self.now()

    def _hear_ahead(self) -> None:
        """From now on slip belongs to each side's own speed."""
        self.motion = replace(self.motion, is_heard_ahead=True)
        past, width = self._past, self._rims.shape[1]
        past.inputs[: past.count] = self.motion.inputs(past.inputs[: past.count, :width])
        self._inputs = self.motion.inputs(self._inputs[None, :width])[0]

    def _renew_inputs(self, at: int, rims: np.ndarray) -> None:
        """What was read after these rims, and before the next ones, saw them."""
        past = self._past
        for k in range(at + 1, past.count):
            if past.kinds[k] == NOTHING:
                return
            past.inputs[k] = rims
        self._inputs = rims

    def _first(self, time_s: float, inputs: np.ndarray) -> Start:
        s = self.settings
        at = FirstPose(np.zeros(3), np.array([s.pose_m, s.pose_m, s.pose_rad]))
        return start_of(self.motion, s, float(time_s), inputs, pose=at, **self._sensors)

    def _replay(self, at: int) -> None:
        """From the reading at a place on to the newest; a late one starts from the last memory before it."""
        past, memories = self._past, self._memories
        begin = past.count - 1
        if at < begin or self._current is None:
            while memories[-1].number > past.first + at:
                memories.pop()
            begin = memories[-1].number - past.first
            start = memories[-1].start
            self._current = Start(start.state.copy(), start.cov.copy(), start.book.copy())
        current = self._current
        while begin < past.count:
            end = min(past.count, memories[-1].number - past.first + PART)
            rows = self._out[: end - begin]
            part = (column[begin:end] for column in past.columns())
            kernel.run(
                self.motion.model, self._noise, *part, current.state, current.cov, current.book, rows, _NO_STATES, _NO_COVS
            )
            if begin <= at < end:
                self._pose_then = rows[at - begin, :3].copy()
            self.refused += int(begin <= at < end and rows[min(at - begin, len(rows) - 1), 2 * N + 8] == GATED)
            self._hear(begin, end, rows)
            if past.first + end == memories[-1].number + PART:
                kept = Start(current.state.copy(), current.cov.copy(), current.book.copy())
                memories.append(_Memory(past.first + end, float(past.time_s[end - 1]), kept))
            self._row = rows[-1]
            begin = end

    def _hear(self, begin: int, end: int, rows: np.ndarray) -> None:
        """When each kind of reading was used last; readings are in order of time, so that the last one of a kind is it."""
        past = self._past
        kinds, used = past.kinds[begin:end], rows[:, 2 * N + 8] == USED
        if end - begin == 1 and not (used[0] and int(kinds[0]) in self._heard_s):
            return  # as most readings of a robot are
        for kind, heard_s in self._heard_s.items():
            at = np.flatnonzero(used & (kinds == kind))
            if len(at):
                self._heard_s[kind] = max(heard_s, float(past.time_s[begin + at[-1]]))

    def _forget(self) -> None:
        past, memories = self._past, self._memories
        oldest = float(past.time_s[past.count - 1]) - HISTORY_S
        while len(memories) > 1 and (memories[1].time_s < oldest or past.count + PART > HISTORY):
            memories.pop(0)
            if past.count + PART > HISTORY:
                past.forget(memories[0].number)
        if past.count + PART > HISTORY:
            past.forget(memories[0].number)


def _numbers(method: str, *values: float) -> list[float]:
    """The same as floats. A number that is none, as NaN, is a bad reading; a word is an error of the program."""
    try:
        return [float(value + 0.0) for value in values]
    except (TypeError, ValueError):
        raise ParameterError(f"{method}{values!r}: expected numbers: seconds, then what was read") from None


def _are_usable(values: tuple[float, ...], stds: tuple[float, ...]) -> bool:
    """Whether one number at least is one, and none of those has a spread that is not positive."""
    told = [(value, std) for value, std in zip(values, stds, strict=True) if isfinite(value)]
    return bool(told) and all(0.0 < std < LARGEST_READING and abs(value) < LARGEST_READING for value, std in told)
