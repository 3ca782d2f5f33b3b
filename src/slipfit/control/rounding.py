"""Whole setpoints for wanted velocities: the rule has a name, and its effect on radius and speed is told.

    half_even   each channel to the nearest whole number, a half to the even one
    half_up     the same, a half away from zero: left and right turns stay mirror images
    dither      error feedback, n_k = round(c_k + e_k), e_(k+1) = c_k + e_k - n_k: the mean of K is off by 1 / (2 K) at most
    best_pair   the whole pair nearest in radius whose speed is near; the plan is followed faster or slower to match

Symbols    c wanted channel value · n whole one · e error carried on
Reference  the effect is that of SPEC 2(b): circles of [Haas2009] become up to 6 % too wide; error feedback derived above
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

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

#: Less rotation beside translation (or the other way round) than this was not meant: a radius of 400 m at .8 m track.
UNMEANT = 0.001


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
        """The nearest by radius, then speed; plain rounding where no pair is near in speed."""
        nearest = half_even(wanted[0]), half_even(wanted[1])
        rated = [
            (_distance((v_mps, yaw_rate_radps), self.scale.velocity(*pair, self.mode), self.scale.effective_track_m), pair)
            for pair in _around(nearest)
            if self._can_be_told(pair)
        ]
        cost, pair = min(rated, default=(math.inf, nearest))
        return pair if math.isfinite(cost) else nearest

    def _can_be_told(self, pair: tuple[int, int]) -> bool:
        lowest, highest = self.scale.limits
        left, right = (pair[0] - pair[1], pair[0] + pair[1]) if self.mode is Mode.MIXED else pair
        return lowest <= min(left, right) and max(left, right) <= highest


def _around(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
    steps = sorted(range(-REACH, REACH + 1), key=abs)
    return ((pair[0] + i, pair[1] + k) for i in steps for k in steps)


def _rolled(velocity: tuple[float, float], track_m: float) -> tuple[float, float]:
    """Translation and rotation in the same unit, m/s of the rims."""
    return velocity[0], 0.5 * track_m * velocity[1]


def _progress(wanted: tuple[float, float], told: tuple[float, float], track_m: float) -> float:
    """How much of the plan's way is covered per way that was planned."""
    (v, w), (tv, tw) = _rolled(wanted, track_m), _rolled(told, track_m)
    length = v * v + w * w
    return (v * tv + w * tw) / length if length > 0.0 and v * tv + w * tw > 0.0 else 1.0


def _distance(wanted: tuple[float, float], told: tuple[float, float], track_m: float) -> float:
    """Relative errors of radius and, weighted, of speed; infinite for another direction or a speed too far off."""
    (v, w), (tv, tw) = _rolled(wanted, track_m), _rolled(told, track_m)
    if v * tv + w * tw <= 0.0:
        return 0.0 if v == w == tv == tw == 0.0 else math.inf
    faster = math.hypot(tv, tw) / math.hypot(v, w)
    if abs(faster - 1.0) > SPEED_FREEDOM:
        return math.inf
    (less, more), (told_less, told_more) = ((w, v), (tw, tv)) if abs(w) <= abs(v) else ((v, w), (tv, tw))
    if told_more == 0.0:
        return math.inf
    shape = abs(told_less / told_more - less / more) / max(abs(less / more), FLAT)
    return math.hypot(shape, SPEED_WEIGHT * (faster - 1.0))


# --- what rounding does to a plan --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoundingEffect:
    """The largest errors that whole setpoints bring into a plan, one command at a time."""

    rounding: Rounding
    radius_error: float  # of the radius, as a share; 0 where nothing turns
    radius_m: tuple[float, float]  # wanted and driven, where the error is largest
    channels: tuple[int, int]  # told there
    speed_error: float  # of the speed ahead, as a share
    lost: float  # share of moving commands that whole setpoints or a dead band turn into standstill
    lost_rotation: float = 0.0  # share of turning commands that go straight ahead instead
    lost_translation: float = 0.0  # share of commands ahead that turn on the spot instead
    yaw_rate_error: float = 0.0  # of spins, as a share

    def summary(self) -> str:
        """One line or two."""
        if self.rounding is Rounding.DITHER:
            said = "whole setpoints by dither: each is off by up to one, their mean over time is right"
            return "; ".join([said, *self._losses()])
        rows = [f"whole setpoints by {self.rounding.value}:"]
        if self.radius_error > 0.0:
            wanted, driven = self.radius_m
            rows.append(
                f"radius off by up to {100.0 * self.radius_error:.1f} % ({wanted:.3f} m wanted, {driven:.3f} m driven with "
                f"channels {self.channels[0]} and {self.channels[1]}),"
            )
        rows.append(f"speed by up to {100.0 * self.speed_error:.1f} %")
        if self.yaw_rate_error > 0.0:
            rows[-1] += f", yaw rate on the spot by up to {100.0 * self.yaw_rate_error:.1f} %"
        return "; ".join([" ".join(rows), *self._losses()])

    def _losses(self) -> list[str]:
        """What became exactly zero."""
        losses = [
            (self.lost, "of the moving commands turn no wheel"),
            (self.lost_rotation, "of the turning commands lose their rotation and go straight"),
            (self.lost_translation, "of the commands ahead lose their translation and turn on the spot"),
        ]
        return [f"{_percent(share)} {what}" for share, what in losses if share > 0.0]

    def to_document(self) -> dict[str, object]:
        """For --json."""
        return {
            "rounding": self.rounding.value,
            "radius_error": self.radius_error,
            "radius_wanted_m": self.radius_m[0],
            "radius_driven_m": self.radius_m[1],
            "channels": list(self.channels),
            "speed_error": self.speed_error,
            "lost": self.lost,
            "lost_rotation": self.lost_rotation,
            "lost_translation": self.lost_translation,
            "yaw_rate_error": self.yaw_rate_error,
        }


def effect_of_rounding(
    scale: Scale, v_mps: np.ndarray, yaw_rate_radps: np.ndarray, mode: Mode = Mode.MIXED, rounding: Rounding = Rounding.HALF_EVEN
) -> RoundingEffect:
    """What whole setpoints do to commands, each held."""
    rounder = Rounder(scale, mode, rounding)
    wanted = [(float(v), float(rate)) for v, rate in zip(v_mps, yaw_rate_radps, strict=True)]
    return effect_on(((velocity, rounder(*velocity)) for velocity in wanted), rounder)


def effect_on(sent: Iterable[tuple[tuple[float, float], Told]], rounder: Rounder) -> RoundingEffect:
    """What whole setpoints did to commands, each as wanted (speed, yaw rate) and as told.

    What became exactly zero counts as lost, not as wrong. Of dither the mean is rated, which only a dead band changes.
    """
    track_m, radius = rounder.scale.effective_track_m, _Worst()
    speed_error = yaw_rate_error = 0.0
    ahead = turning = moving = lost = lost_ahead = lost_turning = 0
    for (v, rate), each in sent:
        _, turned = _rolled((v, rate), track_m)
        if v == rate == 0.0:
            continue
        told = rounder.mean(v, rate) if rounder.rounding is Rounding.DITHER else each
        is_ahead, is_turning = abs(v) > UNMEANT * abs(turned), abs(turned) > UNMEANT * abs(v)
        stands = told.v_mps == told.yaw_rate_radps == 0.0
        moving, ahead, turning = moving + 1, ahead + is_ahead, turning + is_turning
        if stands:
            lost += 1
            continue
        lost_ahead += is_ahead and told.v_mps == 0.0
        lost_turning += is_turning and told.yaw_rate_radps == 0.0
        if is_ahead and told.v_mps:
            speed_error = max(speed_error, abs(told.v_mps / v - 1.0))
            if told.yaw_rate_radps and abs(turned) > FLAT * abs(v):
                radius.rate(v / rate, told)
        elif not is_ahead and told.yaw_rate_radps:
            yaw_rate_error = max(yaw_rate_error, abs(told.yaw_rate_radps / rate - 1.0))
    return RoundingEffect(
        rounder.rounding,
        radius.error,
        radius.radii_m,
        radius.channels,
        speed_error,
        lost / max(moving, 1),
        lost_turning / max(turning, 1),
        lost_ahead / max(ahead, 1),
        yaw_rate_error,
    )


@dataclass(slots=True)
class _Worst:
    """The radius that suffers most."""

    error: float = 0.0
    radii_m: tuple[float, float] = (math.nan, math.nan)
    channels: tuple[int, int] = (0, 0)

    def rate(self, wanted_m: float, told: Told) -> None:
        driven_m = told.v_mps / told.yaw_rate_radps
        if abs(driven_m / wanted_m - 1.0) > self.error:
            self.error, self.radii_m = abs(driven_m / wanted_m - 1.0), (wanted_m, driven_m)
            self.channels = told.first, told.second


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share >= 0.01 else "less than 1 %"
