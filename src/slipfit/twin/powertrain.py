"""What lies between a setpoint and a wheel, and between a wheel and its counter, as calibrations found it.

    omega_wheel(t) = lag( limited( setpoint(t - delay_s) / setpoint_per_radps ) )
    rolled distance = metres_per_count · counts
    yaw rate = (v_right - v_left) / effective_track_m

A setpoint below the dead band turns nothing; above it the loop follows in full. The lag is first order (lag_s) or two first
orders in a row (lag_s, second_lag_s). Each side has its own constants: a difference is a difference of radius or gain.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_serializer, model_validator

from slipfit.library.files import FileModel
from slipfit.twin.fitted import FittedParameter, Number

#: Smallest and largest setpoint of a Roboteq controller, [Haas2009] section 2.3.
USUAL_LIMITS = (-126.0, 127.0)

#: What a Roboteq's two hexadecimal digits and a letter for the direction hold, either way.
LARGEST_SETPOINT = 127.0

#: Constants that divide something; the others may be zero.
_ABOVE_ZERO = ("metres_per_count", "setpoint_per_radps", "saturation_radps", "counts_per_turn", "effective_track_m")


#: Constants of a side that are in setpoints; the others are in SI.
_PER_SETPOINT = ("setpoint_per_radps", "dead_band_setpoint")


def _check_signs(record: FileModel) -> None:
    for name, entry in record:
        if isinstance(entry, FittedParameter) and entry.value is not None:
            if name in _ABOVE_ZERO and entry.value <= 0.0:
                raise ValueError(f"{name} is {entry.value:g}; expected above zero")
            if entry.value < 0.0:
                raise ValueError(f"{name} is {entry.value:g}; expected not below zero")


def _tells(entry: object) -> bool:
    return isinstance(entry, FittedParameter) and entry.value is not None


def _newer_entries(older: FileModel, newer: FileModel) -> dict[str, object]:
    """What of a newer record stands in an older one's place: never an entry without a value for one that has it."""
    return {
        name: entry
        for name, entry in newer
        if isinstance(entry, FittedParameter) and (_tells(entry) or not _tells(getattr(older, name)))
    }


class Side(FileModel):
    """Constants of one side's motor, wheel and encoder; what was not found is left out."""

    counts_per_turn: FittedParameter | None = None
    metres_per_count: FittedParameter | None = None
    setpoint_per_radps: FittedParameter | None = None
    dead_band_setpoint: FittedParameter | None = None
    saturation_radps: FittedParameter | None = None
    lag_s: FittedParameter | None = None
    second_lag_s: FittedParameter | None = None
    delay_s: FittedParameter | None = None

    @model_validator(mode="after")
    def _signs(self) -> "Side":
        _check_signs(self)
        return self

    def value(self, name: str, otherwise: float) -> float:
        """A constant's value; `otherwise` where it was not found."""
        found = getattr(self, name)
        return otherwise if found is None or found.value is None else float(found.value)

    def rolled_at(self, larger: float, *, is_told_radps: bool) -> "Side":
        """This side with speeds in rad/s of a wheel that is smaller by a factor, and so turns faster."""
        times = {"saturation_radps": larger}
        times |= {"dead_band_setpoint": larger} if is_told_radps else {"setpoint_per_radps": 1.0 / larger}
        found = {name: (getattr(self, name), factor) for name, factor in times.items()}
        return self.model_copy(
            update={name: entry.scaled(factor) for name, (entry, factor) in found.items() if entry is not None}
        )

    def merged(self, newer: "Side") -> "Side":
        """This side with what a newer calibration found in its place."""
        update = _newer_entries(self, newer)
        if _tells(newer.lag_s) and not _tells(newer.second_lag_s):
            update["second_lag_s"] = newer.second_lag_s  # lags of two calibrations are not two lags in a row
        return self.model_copy(update=update)


class FittedPowertrain(FileModel):
    """Odometer, speed and turning constants of a robot.

    `setpoint_unit` says what the robot is told: units of its `controller` (a Roboteq: -126 to 127), or wheel speeds in `radps`,
    of which setpoint_per_radps is then the plain number commanded over reached. `counts_per_turn` holds for a side that has none
    of its own.
    """

    setpoint_unit: Literal["controller", "radps"] = "controller"
    setpoint_limits: Annotated[tuple[Number, Number], Field(description="lowest and highest setpoint")] = USUAL_LIMITS
    counts_per_turn: FittedParameter | None = None
    effective_track_m: FittedParameter | None = None
    left: Side = Field(default_factory=Side)
    right: Side = Field(default_factory=Side)

    @model_validator(mode="after")
    def _makes_sense(self) -> "FittedPowertrain":
        _check_signs(self)
        low, high = self.setpoint_limits
        if not low < 0.0 < high:
            raise ValueError(f"setpoint_limits is [{low:g}, {high:g}]; expected the lowest, below zero, then the highest, above")
        return self

    @field_serializer("setpoint_limits")
    def _as_in_a_file(self, limits: tuple[float, float]) -> list[float]:
        return list(limits)

    def parameters(self) -> Iterator[tuple[str, FittedParameter]]:
        """What was found, by name: counts_per_turn, left.lag_s, ..."""
        for name, entry in self:
            if isinstance(entry, FittedParameter):
                yield name, entry
            elif isinstance(entry, Side):
                yield from ((f"{name}.{key}", found) for key, found in entry if found is not None)

    def turn_counts(self, side: Literal["left", "right"]) -> float | None:
        """Counts of one turn of a side's wheels: its own, else those of both."""
        own = (self.left if side == "left" else self.right).counts_per_turn
        found = own if own is not None and own.value is not None else self.counts_per_turn
        return None if found is None else found.value

    @property
    def turn_counts_both(self) -> tuple[float, float] | None:
        """Of left and right, where both are known."""
        left, right = self.turn_counts("left"), self.turn_counts("right")
        return None if left is None or right is None else (left, right)

    def rolling_radius_m(self, side: Literal["left", "right"]) -> float | None:
        """Radius at which a side's wheels roll, metres per count times counts per turn / 2 pi, where both are known."""
        turn, per_count = self.turn_counts(side), (self.left if side == "left" else self.right).value("metres_per_count", 0.0)
        return per_count * turn / (2.0 * math.pi) if turn and per_count else None

    def rolled_at(self, radius_m: float) -> "FittedPowertrain":
        """The same robot told of as if its wheels had one radius: speeds of a side in rad/s are those of its rims over it.

        What is told in setpoints stays. A side whose rolling radius is not known stays as it is.
        """
        radii = {"left": self.rolling_radius_m("left"), "right": self.rolling_radius_m("right")}
        is_told_radps = self.setpoint_unit == "radps"
        sides = {
            name: getattr(self, name).rolled_at(rolling_m / radius_m, is_told_radps=is_told_radps)
            for name, rolling_m in radii.items()
            if rolling_m
        }
        return self.model_copy(update=sides)

    def merged(self, newer: "FittedPowertrain") -> "FittedPowertrain":
        """This record with what a newer calibration found in its place; constants of another setpoint unit go."""
        tells = any(_tells(side.setpoint_per_radps) for side in (newer.left, newer.right))
        update = _newer_entries(self, newer)
        left, right = self.left, self.right
        if _tells(newer.counts_per_turn):
            left, right = (side.model_copy(update={"counts_per_turn": None}) for side in (left, right))
        elif _tells(newer.left.counts_per_turn) and _tells(newer.right.counts_per_turn):
            update["counts_per_turn"] = None
        if tells:
            update |= {"setpoint_unit": newer.setpoint_unit, "setpoint_limits": newer.setpoint_limits}
        if tells and self.setpoint_unit != newer.setpoint_unit:
            left, right = (side.model_copy(update=dict.fromkeys(_PER_SETPOINT)) for side in (left, right))
        return self.model_copy(update={**update, "left": left.merged(newer.left), "right": right.merged(newer.right)})
