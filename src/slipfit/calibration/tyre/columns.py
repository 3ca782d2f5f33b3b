"""What the columns of a table of wheel forces mean: the file `slipfit/tyre_columns/1`."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from slipfit.calibration.table_columns import TableColumns
from slipfit.logs.column_map import Entry, Place, _number

#: Our unit of every quantity that a map may name; slips have none.
UNITS = {
    "slip": "",
    "slip_angle": "rad",
    "rim_speed": "m/s",
    "travel_speed": "m/s",
    "load": "N",
    "force_along": "N",
    "force_across": "N",
}


class TyreColumns(TableColumns):
    """A whole file. The wheel's motion is told by slip and slip angle, or by rim speed, travel speed and slip angle."""

    schema_: Literal["slipfit/tyre_columns/1"] = Field("slipfit/tyre_columns/1", alias="schema")
    slip: Entry | None = None
    slip_over: Literal["larger", "ground"] = (
        "larger"  # what slip is a share of: the larger of rim and ground speed, or the ground's
    )
    slip_angle: Entry | None = None  # positive where the wheel moves to the left of where it points
    rim_speed: Entry | None = None
    travel_speed: Entry | None = None  # of the wheel's centre, in the direction of the slip angle
    load_: Entry | None = Field(None, alias="load")
    load_n: Annotated[float, Field(gt=0.0, le=1e7), BeforeValidator(_number)] | None = None  # one for all rows
    force_along: Entry | None = None  # of the ground on the wheel, positive ahead
    force_across: Entry | None = None  # the same, positive to the left
    repeat: Place | None = None  # rows of one run through the programme have the same entry
    settings: Annotated[list[Place], Field(min_length=1, max_length=8)] | None = None  # what was set: equal rows are repeats

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.force_along is None and self.force_across is None:
            raise ValueError("no force is named; expected force_along, force_across or both")
        if (self.load_ is None) == (self.load_n is None):
            found = "no load" if self.load_ is None else "load and load_n"
            raise ValueError(f"found {found}; expected the column `load`, or `load_n` where one load holds for all rows")
        if (self.rim_speed is None) != (self.travel_speed is None):
            raise ValueError("rim_speed and travel_speed go together; expected both, or slip")
        if self.slip is not None and self.rim_speed is not None:
            raise ValueError("slip and rim_speed tell the same; expected slip, or rim_speed with travel_speed")
        if self.slip is None and self.rim_speed is None and self.slip_angle is None:
            raise ValueError("nothing tells the slip; expected slip, slip_angle, or rim_speed with travel_speed")
        if self.force_across is not None and self.slip_angle is None:
            raise ValueError("force_across is named, but no slip_angle; forces across need it")
        return self

    @classmethod
    def units(cls) -> dict[str, str]:
        return UNITS

    def entry(self, name: str) -> Entry | None:
        return self.load_ if name == "load" else super().entry(name)
