"""What the columns of tables of soil tests mean: plates, shear boxes or rings, and single wheels.

Tests of one table are told apart by a column (`test`); what differs from test to test and stands in no column (the plate's size,
when it touched, the zero of a sensor) is listed in `tests`.
"""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StrictStr, model_validator

from slipfit.calibration.table_columns import TableColumns
from slipfit.calibration.tyre.columns import UNITS, TyreColumns
from slipfit.library.files import FileModel
from slipfit.logs.column_map import Entry, Number, Place, _number
from slipfit.simulation.scenario_numbers import within_range

Length = Annotated[float, Field(gt=0.0, le=10.0), within_range(0.0, 10.0)]
Area = Annotated[float, Field(gt=0.0, le=100.0), BeforeValidator(_number)]


class PlateTest(FileModel):
    """One test of a table of plates."""

    test: StrictStr
    diameter_m: Length | None = None  # of round plates
    width_m: Length | None = None  # smaller side of rectangular plates, with area_m2
    area_m2: Area | None = None
    from_s: Number | None = None  # rows before are left out
    to_s: Number | None = None
    sinkage_zero_m: Number = 0.0  # reading (after unit and scale) where the plate touches, taken off
    force_zero_n: Number = 0.0  # reading without load, taken off


class PlateColumns(TableColumns):
    """A whole file of plate tests: sinkage against pressure or force. `tests` names those that count; without it, all do."""

    schema_: Literal["slipfit/plate_columns/1"] = Field("slipfit/plate_columns/1", alias="schema")
    test: Place | None = None  # rows of one test have the same entry
    time: Entry | None = None
    sinkage: Entry
    pressure: Entry | None = None
    force: Entry | None = None
    diameter: Entry | None = None
    diameter_m: Length | None = None  # one for all rows
    width_m: Length | None = None
    area_m2: Area | None = None
    tests: Annotated[list[PlateTest], Field(min_length=1, max_length=1000)] | None = None

    @classmethod
    def units(cls) -> dict[str, str]:
        return {"time": "s", "sinkage": "m", "pressure": "Pa", "force": "N", "diameter": "m"}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.pressure is None) == (self.force is None):
            found = "neither" if self.pressure is None else "both"
            raise ValueError(f"of pressure and force {found} is named; expected one of them")
        if self.tests and self.test is None:
            raise ValueError("tests are listed, but no column `test` tells them apart; name it")
        if any(t.from_s is not None or t.to_s is not None for t in self.tests or ()) and self.time is None:
            raise ValueError("a test has from_s or to_s, but no column `time` is named")
        return self


class ShearTest(FileModel):
    """One test of a table of shear tests."""

    test: StrictStr
    normal_pa: Annotated[float, Field(gt=0.0, le=1e8), BeforeValidator(_number)]


class ShearColumns(TableColumns):
    """A whole file of shear tests: displacement against shear stress, at normal stresses of a column, of `tests`, or one."""

    schema_: Literal["slipfit/shear_columns/1"] = Field("slipfit/shear_columns/1", alias="schema")
    test: Place | None = None
    displacement: Entry
    shear: Entry
    normal: Entry | None = None
    normal_pa: Annotated[float, Field(gt=0.0, le=1e8), BeforeValidator(_number)] | None = None
    tests: Annotated[list[ShearTest], Field(min_length=1, max_length=1000)] | None = None

    @classmethod
    def units(cls) -> dict[str, str]:
        return {"displacement": "m", "shear": "Pa", "normal": "Pa"}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if sum(entry is not None for entry in (self.normal, self.normal_pa, self.tests)) != 1:
            raise ValueError("expected the normal stress once: a column `normal`, `normal_pa` for all rows, or in `tests`")
        if self.tests and self.test is None:
            raise ValueError("tests are listed, but no column `test` tells them apart; name it")
        return self


class WheelColumns(TyreColumns):
    """A whole file of single-wheel tests: as for tyres, with the sinkage and the wheel's size. Rows across are left out."""

    schema_: Literal["slipfit/wheel_columns/1"] = Field("slipfit/wheel_columns/1", alias="schema")  # type: ignore[assignment]
    sinkage: Entry
    radius_m: Length
    width_m: Length
    grouser_m: Annotated[float, Field(ge=0.0, le=1.0), BeforeValidator(_number)] = 0.0

    @classmethod
    def units(cls) -> dict[str, str]:
        return UNITS | {"sinkage": "m"}

    @model_validator(mode="after")
    def _has_a_pull(self) -> Self:
        if self.force_along is None:
            raise ValueError("force_along is missing; the drawbar pull tells the shear constants")
        return self
