"""Whole setpoints for wanted velocities; the rule has a name. What it does to a plan is told by `rounding_effect`.

    half_even   each channel to the nearest whole number, a half to the even one
    half_up     the same, a half away from zero: left and right turns stay mirror images
    dither      error feedback, n_k = round(c_k + e_k), e_(k+1) = c_k + e_k - n_k: the mean of K is off by 1 / (2 K) at most
    best_pair   the whole pair nearest in radius whose speed is near; the plan is followed faster or slower to match

Symbols    c wanted channel value · n whole one · e error carried on
Reference  error feedback derived above
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from slipfit.control.mixing import Mode
from slipfit.control.setpoints import Scale

#: best_pair looks this many setpoints around the wanted pair, and takes no speed further off than this share.
REACH, SPEED_FREEDOM = 3, 0.25

#: best_pair counts an error of speed this much of one of radius: time makes up for speed, nothing for a radius.
SPEED_WEIGHT = 0.1

#: A half is a half to this many digits: 0.2 rad/s times 32.5 is one, whatever the last bit says.
TIE_DIGITS = 9

#: Rotation over translation (or the other way round) below which a path counts as straight (or a spin) (m/s over m/s).
FLAT = 0.01


class Rounding(StrEnum):
    """Rules that make whole setpoints."""

    HALF_EVEN = "half_even"
    HALF_UP = "half_up"
    DITHER = "dither"
    BEST_PAIR = "best_pair"


def half_even(value: float) -> int:
    """6.5 to 6, 7.5 to 8."""
    return round(round(value, TIE_DIGITS))


def half_up(value: float) -> int:
    """6.5 to 7, -6.5 to -7."""
    return int(math.copysign(math.floor(abs(round(value, TIE_DIGITS)) + 0.5), value))


@dataclass(frozen=True, slots=True)
class Told:
    """Whole channel values, the velocity that they mean, and how fast the plan goes by meanwhile (1 but for best_pair)."""

    first: int
    second: int
    v_mps: float
    yaw_rate_radps: float
    progress: float = 1.0


class Rounder:
    """Turns body velocities into whole channel values; dither remembers what it owes."""

    def __init__(self, scale: Scale, mode: Mode = Mode.MIXED, rounding: Rounding = Rounding.HALF_EVEN) -> None:
        self.scale, self.mode, self.rounding = scale, mode, rounding
        self._owed = [0.0, 0.0]

    def __call__(self, v_mps: float, yaw_rate_radps: float) -> Told:
        """Channel values for the next moment."""
        wanted = self.scale.channels(v_mps, yaw_rate_radps, self.mode)
        match self.rounding:
            case Rounding.DITHER:
                first, second = (self._dithered(k, value) for k, value in enumerate(wanted))
            case Rounding.BEST_PAIR:
                first, second = self._best_pair(v_mps, yaw_rate_radps, wanted)
            case Rounding.HALF_UP:
                first, second = map(half_up, wanted)
            case _:
                first, second = map(half_even, wanted)
        v, rate = self.scale.velocity(first, second, self.mode)
        progress = 1.0
        if self.rounding is Rounding.BEST_PAIR:
            progress = _progress((v_mps, yaw_rate_radps), (v, rate), self.scale.effective_track_m)
        return Told(first, second, v, rate, progress)

    def mean(self, v_mps: float, yaw_rate_radps: float) -> Told:
        """What dither tells in the mean: the wanted channels, as far as they leave the dead band. Channels are the nearest."""
        wanted = self.scale.channels(v_mps, yaw_rate_radps, self.mode)
        return Told(half_even(wanted[0]), half_even(wanted[1]), *self.scale.velocity(*wanted, self.mode))

    def _dithered(self, channel: int, value: float) -> int:
        if value == 0.0:
            self._owed[channel] = 0.0  # at rest nothing twitches
            return 0
        due = value + self._owed[channel]
        told = min(max(round(due), math.floor(value)), math.ceil(value))  # a tie leads no further than the wanted value
        self._owed[channel] = due - told
        return told

    def _best_pair(self, v_mps: float, yaw_rate_radps: float, wanted: tuple[float, float]) -> tuple[int, int]:
        """The nearest by radius, then speed. Plain rounding is among them at any speed: slow setpoints have no neighbours within
        the freedom of speed but such as turn a line into an arc."""
        nearest, wanted_velocity = (half_even(wanted[0]), half_even(wanted[1])), (v_mps, yaw_rate_radps)
        track_m = self.scale.effective_track_m

        def rated(pair: tuple[int, int], freedom: float) -> tuple[float, tuple[int, int]]:
            return _distance(wanted_velocity, self.scale.velocity(*pair, self.mode), track_m, freedom), pair

        near = [rated(pair, SPEED_FREEDOM) for pair in _around(nearest) if self._can_be_told(pair)]
        cost, pair = min([*near, rated(nearest, math.inf)])
        return pair if math.isfinite(cost) else nearest

    def _can_be_told(self, pair: tuple[int, int]) -> bool:
        lowest, highest = self.scale.limits
        left, right = (pair[0] - pair[1], pair[0] + pair[1]) if self.mode is Mode.MIXED else pair
        return lowest <= min(left, right) and max(left, right) <= highest


def _around(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
    steps = sorted(range(-REACH, REACH + 1), key=abs)
    return ((pair[0] + i, pair[1] + k) for i in steps for k in steps)


def rolled(velocity: tuple[float, float], track_m: float) -> tuple[float, float]:
    """Translation and rotation in the same unit, m/s of the rims."""
    return velocity[0], 0.5 * track_m * velocity[1]


def _progress(wanted: tuple[float, float], told: tuple[float, float], track_m: float) -> float:
    """How much of the plan's way is covered per way that was planned."""
    (v, w), (tv, tw) = rolled(wanted, track_m), rolled(told, track_m)
    length = v * v + w * w
    return (v * tv + w * tw) / length if length > 0.0 and v * tv + w * tw > 0.0 else 1.0


def _distance(wanted: tuple[float, float], told: tuple[float, float], track_m: float, freedom: float) -> float:
    """Relative errors of radius and, weighted, of speed; infinite for another direction or a speed that is farther off."""
    (v, w), (tv, tw) = rolled(wanted, track_m), rolled(told, track_m)
    if v * tv + w * tw <= 0.0:
        return 0.0 if v == w == tv == tw == 0.0 else math.inf
    faster = math.hypot(tv, tw) / math.hypot(v, w)
    if abs(faster - 1.0) > freedom:
        return math.inf
    (less, more), (told_less, told_more) = ((w, v), (tw, tv)) if abs(w) <= abs(v) else ((v, w), (tv, tw))
    if told_more == 0.0:
        return math.inf
    shape = abs(told_less / told_more - less / more) / max(abs(less / more), FLAT)
    return math.hypot(shape, SPEED_WEIGHT * (faster - 1.0))
