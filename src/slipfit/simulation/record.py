"""What is recorded of a run: columns by name, and what is said of the whole run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from slipfit.errors import SimulationError
from slipfit.logs import DriveLog
from slipfit.simulation.outcome import Outcome
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS
from slipfit.vehicles.track_record import TRACK_COLUMNS

#: Columns of every robot on wheels, of the body and of each wheel.
BODY_COLUMNS = (
    "time_s", "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "fx_mps2", "fy_mps2", "yaw_accel_radps2",
)  # fmt: skip
WHEEL_COLUMNS = ("wheel_speed_radps", "wheel_angle_rad", "load_n", "force_x_n", "force_y_n", "effort", "lowest_load_n")

#: Columns that drives with an energy balance add.
SPACE_COLUMNS = (
    "z_m", "roll_rad", "pitch_rad", "vz_mps", "roll_rate_radps", "pitch_rate_radps", "fz_mps2", "tip_over_margin_rad", "waypoint",
    "cross_track_m",
)  # fmt: skip
SLIP_COLUMNS = ("rim_mps", "slip_x_mps", "slip_y_mps", "told", "sinkage_m")
ENERGY_COLUMNS = (*FLOW_COLUMNS, *STORE_COLUMNS)

#: All columns of such a drive, in the order of files.
BALANCE_COLUMNS = (*BODY_COLUMNS, *SPACE_COLUMNS, *WHEEL_COLUMNS, *SLIP_COLUMNS, *ENERGY_COLUMNS)

#: Who records a column, by the first of these groups that has it.
_PROVIDERS = (
    ({*BODY_COLUMNS, *WHEEL_COLUMNS}, "robots on wheels"),
    (set(BALANCE_COLUMNS), "drives on routes, terrains or soil, or with `energy: true` in the scenario"),
    (set(TRACK_COLUMNS), "tracked robots"),
)

_OF_WHEEL = re.compile(r"(.+)_(\d+)")


class MissingColumnError(SimulationError, AttributeError, KeyError):
    """A run has no such column: its drive type or its ground does not provide it."""

    __str__ = Exception.__str__  # a KeyError would quote the sentence


@dataclass(frozen=True, eq=False)
class Record:
    """Columns of a run by name, (T,) for the body and (T, W) for wheels, and what is said of the whole run.

    A column is read as `run["x_m"]` or `run.x_m`. The drive type and the ground decide which there are (docs/reference/files).
    """

    columns: Mapping[str, np.ndarray]
    robot: str = ""
    ground: str = ""
    scenario: str = ""
    drive: str = "skid_steer"
    outcome: Outcome = Outcome.FINISHED
    notes: tuple[str, ...] = ()  # sentences for the reader
    readings: DriveLog = field(default_factory=DriveLog)
    effort_limit: float = float("inf")  # N m of a speed loop; motors are limited by their voltage
    slope_rad: float = 0.0
    uphill_rad: float = 0.0
    shape: str = "plane"  # of the ground: plane, terrain or obstacle
    gravity_mps2: float = float("nan")
    commanded_turn_rad: float = float("nan")  # what the wheels would have turned the robot by, as commanded and without slip
    waypoints_m: tuple[tuple[float, float], ...] = ()
    arrived_at_s: float = float("nan")
    stopped_at_s: float = float("nan")  # when a run ended before its time
    margin: float | None = None  # of a climb: above zero where it succeeded; None where there is no obstacle

    # --- columns -----------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise MissingColumnError(self._missing(name))
        return self.columns[name]

    def __getattr__(self, name: str) -> np.ndarray:
        """A column without a property of its own; called only for names that are not found otherwise."""
        if "columns" not in self.__dict__ or name.startswith("_"):  # no columns while pickle or copy fill a new record
            raise AttributeError(name)
        own = getattr(type(self), name, None)
        if isinstance(own, property | cached_property):  # of a quantity: raises again, with the column that it needs
            return (own.fget if isinstance(own, property) else own.func)(self)  # type: ignore[misc, no-any-return]
        return self[name]

    def _missing(self, name: str) -> str:
        providers = [who for group, who in _PROVIDERS if name in group]
        why = f"; {' and '.join(providers)} have it" if providers else ""
        return f"this run of {self.robot or 'a robot'} has no '{name}'{why}. Its columns: {', '.join(self.columns)}"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.columns})

    def with_columns(self, **columns: np.ndarray) -> Self:
        """The same run with some columns in place of its own, or beside them."""
        return replace(self, columns={**self.columns, **columns})

    @property
    def time_s(self) -> np.ndarray:
        return self["time_s"]

    @property
    def x_m(self) -> np.ndarray:
        return self["x_m"]

    @property
    def y_m(self) -> np.ndarray:
        return self["y_m"]

    @property
    def has_wheels(self) -> bool:
        """Whether there are loads and forces of wheels."""
        return "load_n" in self.columns

    @property
    def has_tracks(self) -> bool:
        """Whether there are speeds and forces of belts."""
        return "belt_left_mps" in self.columns

    @property
    def has_energy_balance(self) -> bool:
        """Whether slip, tip-over margin and energy were recorded besides the motion."""
        return "supplied_j" in self.columns

    @property
    def wheel_names(self) -> list[str]:
        """What wheels are called in sentences and figures, in the order of the columns."""
        return wheel_names(self["load_n"].shape[1], self.drive)

    # --- tables ------------------------------------------------------------------------------------------------------

    def table(self) -> dict[str, np.ndarray]:
        """Every column of a file, (T,): those of wheels end in the wheel's number, from 0. As pandas takes it."""
        flat: dict[str, np.ndarray] = {}
        for name, column in self.columns.items():
            if column.ndim == 1:
                flat[name] = column
            else:
                flat |= {f"{name}_{w}": np.ascontiguousarray(column[:, w]) for w in range(column.shape[1])}
        return flat

    def thinned(self, every: int) -> Self:
        """Every so many records and the last; the lowest loads are those since the record before."""
        last = len(self.time_s) - 1
        kept = np.unique(np.append(np.arange(0, last + 1, every), last))
        thin = {name: column[kept] for name, column in self.columns.items()}
        if "lowest_load_n" in thin:
            thin["lowest_load_n"] = np.minimum.reduceat(self["lowest_load_n"], np.append(0, kept[:-1] + 1), axis=0)
        return replace(self, columns=thin)

    def __repr__(self) -> str:
        where = self.ground or self.scenario or "a ground"
        return f"<{type(self).__name__} of {self.robot or 'a robot'} on {where}, {len(self.time_s)} records>"


def from_table(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Columns of a run from those of a file, the inverse of `Record.table`."""
    columns: dict[str, np.ndarray] = {}
    for name, column in table.items():
        of_wheel = _OF_WHEEL.fullmatch(name)
        if of_wheel is None:
            columns[name] = _floats(column)
        elif of_wheel[2] == "0":
            first, wheels = of_wheel[1], 1
            while f"{first}_{wheels}" in table:
                wheels += 1
            columns[first] = np.column_stack([_floats(table[f"{first}_{w}"]) for w in range(wheels)])
    return columns


def _floats(column: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def wheel_names(count: int, drive: str = "skid_steer") -> list[str]:
    """front left, front right, ..., in the order of columns; numbers from 1 where wheels stand anywhere."""
    if drive == "omni" or count % 2:
        return [f"wheel {k + 1}" for k in range(count)]
    rows = (
        ["front", "rear"]
        if count == 4
        else ["front", "middle", "rear"]
        if count == 6
        else [f"axle {k + 1}" for k in range(count // 2)]
    )
    return [f"{row} {side}" for row in rows for side in ("left", "right")]
