"""Numbers of a scenario's file: read as numbers, within ranges whose sentences recognize other units."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from slipfit.library.parameter import as_float, out_of_range

#: Angles reach to a full turn, slopes to just below vertical.
TURN_RAD, STEEPEST_RAD = 6.2832, 1.5707


def _number(given: Any, info: ValidationInfo) -> float:
    return as_float(given, info.field_name or "value")


def within_range(lower: float, upper: float) -> BeforeValidator:
    """A range whose sentence recognises degrees, millimetres and the like."""

    def check(given: Any, info: ValidationInfo) -> float:
        number = _number(given, info)
        problem = out_of_range(info.field_name or "value", number, lower, upper)
        if problem:
            raise ValueError(problem)
        return number

    return BeforeValidator(check)


def _whole(given: Any, info: ValidationInfo) -> Any:
    if isinstance(given, bool):
        raise ValueError(f"{info.field_name} is {given}; expected a whole number")
    return given


AS_NUMBER = BeforeValidator(_number)  # comes after the Field that bounds it, else schemas do not show the bounds
AS_WHOLE = BeforeValidator(_whole)
Number = Annotated[float, AS_NUMBER]
NonNegative = Annotated[float, Field(ge=0.0), AS_NUMBER]
Rate = Annotated[float, Field(gt=0.0, le=100_000.0), AS_NUMBER]
Angle = Annotated[float, Field(ge=-TURN_RAD, le=TURN_RAD), within_range(-TURN_RAD, TURN_RAD)]
Slope = Annotated[float, Field(ge=0.0, le=STEEPEST_RAD), within_range(0.0, STEEPEST_RAD)]
Gravity = Annotated[float, Field(ge=0.1, le=30.0), within_range(0.1, 30.0)]
Pair = tuple[Number, Number]
