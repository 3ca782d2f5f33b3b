"""What whole setpoints do to a plan: errors of radius and speed, lines that bend, and motion that is lost.

    radius error = |R_told / R - 1|,    bend = |omega_told / v_told - omega / v|,    off after s = (1 - cos(bend s)) / bend

A line bends where the sides have unequal constants: no whole pair has exactly their ratio. Means are over the way, as of the
bend sum |v_told| bend / sum |v_told|: a slow start of whole setpoints 0 and 1 counts as little as it matters.

Symbols    R = v / omega · told what the whole setpoints mean
Reference  SPEC 2(b): circles of [Haas2009] become up to 6 % too wide
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from slipfit.control.mixing import Mode
from slipfit.control.rounding import FLAT, Rounder, Rounding, Told, rolled
from slipfit.control.setpoints import Scale

#: Less rotation beside translation (or the other way round) than this was not meant: a radius of 400 m at .8 m track.
UNMEANT = 0.001

#: Of a turn that is told with less than this share of its curvature nothing is left: a radius ten times as large is no radius.
LEFT_OF_A_TURN = 0.1

#: A line is told by how far it is off after this way (m), and counts as straight if that is below a millimetre.
LINE_M, STRAIGHT_M = 10.0, 0.001


@dataclass(frozen=True, slots=True)
class RoundingEffect:
    """The errors that whole setpoints bring into a plan, one command at a time: the largest, and means over the way."""

    rounding: Rounding
    radius_error: float  # largest of the radius, as a share; 0 where nothing turns
    radius_error_mean: float
    radius_m: tuple[float, float]  # wanted and driven, where the error is largest
    channels: tuple[int, int]  # told there
    speed_error: float  # largest of the speed ahead, as a share
    speed_error_mean: float
    yaw_rate_error: float  # of spins, as a share
    bend_per_m: float  # largest curvature that a straight line gets
    bend_mean_per_m: float
    lost: float  # share of moving commands that whole setpoints or a dead band turn into standstill
    lost_rotation: float  # share of turning commands that go straight ahead instead
    lost_translation: float  # share of commands ahead that turn on the spot instead

    @property
    def off_line_m(self) -> float:
        """How far a straight line of `LINE_M` ends to the side, by its mean bend; at most the diameter of its circle."""
        bend = self.bend_mean_per_m
        return (1.0 - math.cos(min(bend * LINE_M, math.pi))) / bend if bend > 0.0 else 0.0

    def summary(self) -> str:
        """A few clauses."""
        if self.rounding is Rounding.DITHER:
            said = "whole setpoints by dither: each is off by up to one, their mean over time is right"
            return "; ".join([said, *self._bends(), *self._losses()])
        parts = []
        if self.radius_error > 0.0:
            wanted, driven = self.radius_m
            parts.append(
                f"radius off by up to {_percent(self.radius_error)} ({wanted:.3f} m wanted, {driven:.3f} m driven with channels "
                f"{self.channels[0]} and {self.channels[1]}) and {_percent(self.radius_error_mean)} in the mean"
            )
        parts.append(f"speed by up to {_percent(self.speed_error)} and {_percent(self.speed_error_mean)} in the mean")
        if self.yaw_rate_error > 0.0:
            parts.append(f"yaw rate on the spot by up to {_percent(self.yaw_rate_error)}")
        said = f"whole setpoints by {self.rounding.value}: {', '.join(parts)}"
        return "; ".join([said, *self._bends(), *self._losses()])

    def _bends(self) -> list[str]:
        if self.off_line_m < STRAIGHT_M:
            return []
        off = f"{self.off_line_m:.2g} m off after {LINE_M:g} m"
        return [f"straight lines bend, {off} in the mean, at worst on a radius of {1.0 / self.bend_per_m:.3g} m"]

    def _losses(self) -> list[str]:
        """What became exactly zero."""
        losses = [
            (self.lost, "of the moving commands turn no wheel"),
            (self.lost_rotation, "of the turning commands lose their rotation and go straight"),
            (self.lost_translation, "of the commands ahead lose their translation and turn on the spot"),
        ]
        return [f"{_share(share)} {what}" for share, what in losses if share > 0.0]

    def to_document(self) -> dict[str, object]:
        """For --json."""
        return {
            "rounding": self.rounding.value,
            "radius_error": self.radius_error,
            "radius_error_mean": self.radius_error_mean,
            "radius_wanted_m": self.radius_m[0],
            "radius_driven_m": self.radius_m[1],
            "channels": list(self.channels),
            "speed_error": self.speed_error,
            "speed_error_mean": self.speed_error_mean,
            "yaw_rate_error": self.yaw_rate_error,
            "bend_per_m": self.bend_per_m,
            "bend_mean_per_m": self.bend_mean_per_m,
            "metres_off_after_10_m": self.off_line_m,
            "lost": self.lost,
            "lost_rotation": self.lost_rotation,
            "lost_translation": self.lost_translation,
        }


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _share(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share >= 0.01 else "less than 1 %"


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
    tally = _Tally(rounder.scale.effective_track_m)
    for (v, rate), told in sent:
        if v or rate:
            tally.add(v, rate, rounder.mean(v, rate) if rounder.rounding is Rounding.DITHER else told)
    return tally.effect(rounder.rounding)


@dataclass(slots=True)
class _Mean:
    """A mean by weight, and the largest entry with what belongs to it."""

    largest: float = 0.0
    of_largest: Told | None = None
    wanted: float = math.nan
    _sum: float = 0.0
    _weight: float = 0.0

    def add(self, error: float, told: Told, weight: float = 1.0, wanted: float = math.nan) -> None:
        if error > self.largest:
            self.largest, self.of_largest, self.wanted = error, told, wanted
        self._sum, self._weight = self._sum + weight * error, self._weight + weight

    @property
    def mean(self) -> float:
        return self._sum / self._weight if self._weight else 0.0


@dataclass(slots=True)
class _Tally:
    """Errors and losses of the commands so far."""

    track_m: float
    radius: _Mean = field(default_factory=_Mean)
    speed: _Mean = field(default_factory=_Mean)
    yaw_rate: _Mean = field(default_factory=_Mean)
    bend: _Mean = field(default_factory=_Mean)
    moving: int = 0
    ahead: int = 0
    turning: int = 0
    lost: int = 0
    lost_ahead: int = 0
    lost_turning: int = 0

    def add(self, v: float, rate: float, told: Told) -> None:
        """One command that moves."""
        _, turned = rolled((v, rate), self.track_m)
        is_ahead, is_turning = abs(v) > UNMEANT * abs(turned), abs(turned) > UNMEANT * abs(v)
        self.moving, self.ahead, self.turning = self.moving + 1, self.ahead + is_ahead, self.turning + is_turning
        if told.v_mps == told.yaw_rate_radps == 0.0:
            self.lost += 1
            return
        has_lost_turn = is_turning and self._is_turn_lost(v, rate, told)
        self.lost_ahead += is_ahead and told.v_mps == 0.0
        self.lost_turning += has_lost_turn
        if not is_ahead:
            if told.yaw_rate_radps:
                self.yaw_rate.add(abs(told.yaw_rate_radps / rate - 1.0), told)
        elif told.v_mps:
            way = abs(told.v_mps)
            self.speed.add(abs(told.v_mps / v - 1.0), told, way)
            if abs(turned) <= FLAT * abs(v):
                bend = 0.0 if has_lost_turn else abs(told.yaw_rate_radps / told.v_mps - rate / v)
                self.bend.add(bend, told, way)
            elif not has_lost_turn:
                radius_m = told.v_mps / told.yaw_rate_radps
                self.radius.add(abs(radius_m * rate / v - 1.0), told, way, wanted=v / rate)

    @staticmethod
    def _is_turn_lost(v: float, rate: float, told: Told) -> bool:
        """Sides with unequal constants turn a little even with a channel 2 of zero."""
        if told.yaw_rate_radps == 0.0 or v == 0.0 or told.v_mps == 0.0:
            return told.yaw_rate_radps == 0.0
        return abs(told.yaw_rate_radps / told.v_mps) < LEFT_OF_A_TURN * abs(rate / v)

    def effect(self, rounding: Rounding) -> RoundingEffect:
        worst = self.radius.of_largest
        driven = (worst.v_mps / worst.yaw_rate_radps, (worst.first, worst.second)) if worst else (math.nan, (0, 0))
        return RoundingEffect(
            rounding=rounding,
            radius_error=self.radius.largest,
            radius_error_mean=self.radius.mean,
            radius_m=(self.radius.wanted, driven[0]),
            channels=driven[1],
            speed_error=self.speed.largest,
            speed_error_mean=self.speed.mean,
            yaw_rate_error=self.yaw_rate.largest,
            bend_per_m=self.bend.largest,
            bend_mean_per_m=self.bend.mean,
            lost=self.lost / max(self.moving, 1),
            lost_rotation=self.lost_turning / max(self.turning, 1),
            lost_translation=self.lost_ahead / max(self.ahead, 1),
        )
