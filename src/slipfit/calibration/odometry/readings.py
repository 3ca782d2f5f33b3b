"""What somebody read off a counter, a stopwatch and a tape: the typed tables behind odometer and speed constants."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from slipfit.calibration.readings import names_of_readings, read_readings
from slipfit.errors import ParameterError
from slipfit.library.files import FileModel, NamedFile
from slipfit.library.parameter import as_float
from slipfit.twin.powertrain import LARGEST_SETPOINT, USUAL_LIMITS


def _number(given: Any) -> float:
    return as_float(given, "it")


Plain = Annotated[float, BeforeValidator(_number)]
Counts = Annotated[float, Field(description="counter reading less the one before"), BeforeValidator(_number)]
Above = Annotated[float, Field(gt=0.0), BeforeValidator(_number)]

_TIMED = ("setpoint", "left_counts", "right_counts", "duration_s")


class MarkedTurn(FileModel):
    """A wheel turned by hand or motor from a mark to the mark."""

    side: Literal["left", "right"]
    counts: Above
    turns: Above = 1.0


class StraightRun(FileModel):
    """A straight run along a tape."""

    distance_m: Above
    left_counts: Above
    right_counts: Above


class TimedCounts(FileModel):
    """Both counters over a time at one setpoint, which holds for both sides."""

    setpoint: Plain
    left_counts: Counts
    right_counts: Counts
    duration_s: Above

    @model_validator(mode="after")
    def _turns_as_told(self) -> "TimedCounts":
        if self.setpoint == 0.0:
            raise ValueError("setpoint is 0; expected one that turns the wheels")
        for name in ("left_counts", "right_counts"):
            counts = getattr(self, name)
            if counts * self.setpoint <= 0.0:
                told = "above zero" if self.setpoint > 0.0 else "below zero"
                raise ValueError(f"{name} is {counts:g} at setpoint {self.setpoint:g}; expected {told}: check sign and side")
        return self


class Spin(FileModel):
    """A turn on the spot between two marks on the floor; counts of both sides with their signs."""

    turned_rad: Plain
    left_counts: Counts
    right_counts: Counts

    @model_validator(mode="after")
    def _turns_as_told(self) -> "Spin":
        if self.turned_rad * (self.right_counts - self.left_counts) <= 0.0:
            raise ValueError(
                f"turned_rad is {self.turned_rad:g} with left {self.left_counts:g} and right {self.right_counts:g} counts; "
                f"expected a left turn, above zero, where the right side counts more"
            )
        return self


class ReadingErrors(FileModel):
    """Standard deviations of a single reading, as far as it can be judged; scatter that is larger counts instead."""

    mark_turns: Above = 0.0025  # of a turn: a line on a tyre against a pointer, to a degree or so
    tape_m: Above = 0.003
    stopwatch_s: Above = 0.1  # start and stop by hand
    counts: Above = 1.0
    diameter_m: Above = 0.002  # a loaded tyre
    spin_rad: Above = 0.01


class OdometryReadings(NamedFile):
    """A table of readings, `.yaml`; the timed counts alone may be a `.csv` with setpoint,left_counts,right_counts,duration_s."""

    schema_: Literal["slipfit/odometry/1"] = Field("slipfit/odometry/1", alias="schema")
    about: str = ""
    source: str = ""
    tyre_diameter_m: Above | None = None
    track_m: Above | None = None
    wheelbase_m: Above | None = None
    counts_per_turn: Above | None = None  # where it is known without marked turns
    setpoint_limits: tuple[Plain, Plain] = USUAL_LIMITS
    marked_turns: list[MarkedTurn] = Field(default_factory=list)
    straight_runs: list[StraightRun] = Field(default_factory=list)
    timed_counts: list[TimedCounts] = Field(default_factory=list)
    spins: list[Spin] = Field(default_factory=list)
    errors: ReadingErrors = Field(default_factory=ReadingErrors)

    @model_validator(mode="after")
    def _setpoints_fit(self) -> "OdometryReadings":
        low, high = self.setpoint_limits
        if not -LARGEST_SETPOINT <= low < 0.0 < high <= LARGEST_SETPOINT:
            raise ValueError(
                f"setpoint_limits is [{low:g}, {high:g}]; expected the lowest, below zero, then the highest, above, both within "
                f"the protocol's -{LARGEST_SETPOINT:g} to {LARGEST_SETPOINT:g}"
            )
        for k, row in enumerate(self.timed_counts):
            if not low <= row.setpoint <= high:
                raise ValueError(
                    f"timed_counts[{k}]: setpoint is {row.setpoint:g}; expected {low:g} to {high:g}, the setpoint_limits"
                )
        return self

    @model_validator(mode="after")
    def _has_something(self) -> "OdometryReadings":
        if not (self.marked_turns or self.straight_runs or self.timed_counts or self.spins):
            raise ValueError("there are no readings; expected marked_turns, straight_runs, timed_counts or spins")
        return self

    @classmethod
    def load(cls, path: Path | str) -> "OdometryReadings":
        """Read a file."""
        path = Path(path)
        if path.suffix != ".csv":
            return super().load(path)
        columns = read_readings(path, _TIMED) if set(_TIMED) <= set(names_of_readings(path)) else None
        if columns is None:
            raise ParameterError(f"{path}: columns {', '.join(names_of_readings(path))}; expected {', '.join(_TIMED)}")
        rows = [dict(zip(_TIMED, row, strict=True)) for row in zip(*columns, strict=True)]
        return cls.from_mapping({"schema": cls.kind(), "timed_counts": rows}, where=str(path))


def is_readings(path: Path) -> bool:
    """Whether a file is a table of readings, not a log: a YAML file is, a CSV file if its header has a setpoint."""
    if path.suffix in (".yaml", ".yml"):
        return True
    return path.suffix == ".csv" and "setpoint" in names_of_readings(path)
