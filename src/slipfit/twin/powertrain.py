"""What lies between a setpoint and a wheel, and between a wheel and its counter, as calibrations found it.

    omega_wheel(t) = lag( limited( setpoint(t - delay_s) / setpoint_per_radps ) )
    rolled distance = metres_per_count · counts
    yaw rate = (v_right - v_left) / effective_track_m

A setpoint below the dead band turns nothing; above it the loop follows in full. The lag is first order (lag_s) or two first
orders in a row (lag_s, second_lag_s). Each side has its own constants: a difference is a difference of radius or gain.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_serializer, model_validator

from slipfit.library.files import FileModel
from slipfit.twin.fitted import FittedParameter, Number

#: Smallest and largest setpoint of a Roboteq controller, [Haas2009] section 2.3.
USUAL_LIMITS = (-126.0, 127.0)

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


class Side(FileModel):
    """Constants of one side's motor, wheel and encoder; what was not found is left out."""

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

    def merged(self, newer: "Side") -> "Side":
        """This side with what a newer calibration found in its place."""
        return self.model_copy(update={name: entry for name, entry in newer if entry is not None})


class FittedPowertrain(FileModel):
    """Odometer, speed and turning constants of a robot.

    `setpoint_unit` says what the robot is told: units of its `controller` (a Roboteq: -126 to 127), or wheel speeds in `radps`,
    of which setpoint_per_radps is then the plain number commanded over reached.
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

    def merged(self, newer: "FittedPowertrain") -> "FittedPowertrain":
        """This record with what a newer calibration found in its place; constants of another setpoint unit go."""
        tells = any(side.setpoint_per_radps is not None for side in (newer.left, newer.right))
        update: dict[str, object] = {name: entry for name, entry in newer if isinstance(entry, FittedParameter)}
        left, right = self.left, self.right
        if tells:
            update |= {"setpoint_unit": newer.setpoint_unit, "setpoint_limits": newer.setpoint_limits}
        if tells and self.setpoint_unit != newer.setpoint_unit:
            left, right = (side.model_copy(update=dict.fromkeys(_PER_SETPOINT)) for side in (left, right))
        return self.model_copy(update={**update, "left": left.merged(newer.left), "right": right.merged(newer.right)})
