"""Forces of one wheel against its slip: a table that was measured on a test rig, checked and in our conventions.

    s_x = (w - u) / V,    s_y = -v / V,    V `slip.transport_speed`

From slip k and slip angle a:  w = 1, u = 1 - k when driving;  u = 1, w = 1 + k when braking;  v = u tan(a).
From rim speed w, travel speed c and slip angle:  u = c cos(a), v = c sin(a).

Symbols    u, v speed of the wheel's centre along and across · w rim speed · V what slip is a share of
Reference  docs/conventions.md for slip and signs
"""

import hashlib
import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from slipfit.calibration.tyre.columns import UNITS, TyreColumns
from slipfit.contact.slip import transport_speed
from slipfit.errors import LogError
from slipfit.logs.csv_table import Table

#: Slip ratios go from -2 to 2; a few readings beyond are a sensor's, a median share of the column is a unit's.
LARGEST_SLIP = 2.0

#: A wheel that points where it is going has at most a right angle of slip; rigs read a little more.
LARGEST_ANGLE_RAD = math.radians(95.0)

AXES = ("along", "across")


@dataclass(frozen=True, eq=False, slots=True)
class TyreData:
    """Rows of a table. Forces are those of the ground on the wheel; an axis that was not measured is None."""

    name: str
    digest: str
    rim_mps: np.ndarray  # (T,); of tables of slip ratios in units of V
    ground_mps: np.ndarray  # (T, 2) along and across
    slip: np.ndarray  # (T, 2) along and across
    load_n: np.ndarray
    along_n: np.ndarray | None
    across_n: np.ndarray | None
    repeat: np.ndarray  # (T,) whole numbers from 0
    cell: np.ndarray | None  # (T,) rows that were meant to be the same
    findings: tuple[str, ...] = ()
    further: dict[str, np.ndarray] = field(default_factory=dict)  # what maps of other tests name besides, (T,) each

    def __len__(self) -> int:
        return len(self.load_n)

    @property
    def resultant_slip(self) -> np.ndarray:
        return np.asarray(np.hypot(self.slip[:, 0], self.slip[:, 1]))

    @property
    def mean_load_n(self) -> float:
        return float(self.load_n.mean())

    @property
    def repeats(self) -> int:
        return int(self.repeat.max()) + 1

    def forces(self) -> dict[str, np.ndarray]:
        """Measured forces (N) by axis."""
        both = {"along": self.along_n, "across": self.across_n}
        return {axis: force for axis, force in both.items() if force is not None}

    def rows(self, chosen: np.ndarray) -> "TyreData":
        """Some of the rows."""
        return replace(
            self,
            rim_mps=self.rim_mps[chosen],
            ground_mps=self.ground_mps[chosen],
            slip=self.slip[chosen],
            load_n=self.load_n[chosen],
            along_n=None if self.along_n is None else self.along_n[chosen],
            across_n=None if self.across_n is None else self.across_n[chosen],
            repeat=self.repeat[chosen],
            cell=None if self.cell is None else self.cell[chosen],
            further={name: values[chosen] for name, values in self.further.items()},
        )

    def spread_within_cells(self) -> dict[str, float]:
        """Standard deviation (N) of forces that were meant to be the same, pooled over all settings; none without repeats."""
        if self.cell is None:
            return {}
        _, index, count = np.unique(self.cell, return_inverse=True, return_counts=True)
        free = int((count - 1).sum())
        if free < 1:
            return {}
        spreads = {}
        for axis, force in self.forces().items():
            mean = np.bincount(index, force) / count
            spreads[axis] = float(np.sqrt(((force - mean[index]) ** 2).sum() / free))
        return spreads


def read_tyre_data(path: Path | str, columns: TyreColumns | Path | str) -> TyreData:
    """Read a table of wheel forces by its column map."""
    path, columns = Path(path), TyreColumns.find(columns)
    table = columns.table(path)
    found = {name: _numbers(table, columns, name) for name in ("slip", "slip_angle", "rim_speed", "travel_speed")}
    found |= {name: _numbers(table, columns, name) for name in columns.units() if name not in found}
    n = len(table.rows)
    if found["load"] is None:
        found["load"] = np.full(n, columns.load_n)
    whole = np.all([np.isfinite(values) for values in found.values() if values is not None], axis=0)
    findings = list(table.notes)
    if not whole.all():
        first = table.first_line + int(np.argmin(whole))
        if not whole.any():
            raise LogError(
                f"{path}: every row has an empty cell or NaN in a column that the map names, the first in line {first}"
            )
        findings.append(f"{int((~whole).sum())} of {n} rows have empty cells or NaN and are left out, the first in line {first}")
    kept = {name: None if values is None else values[whole] for name, values in found.items()}
    _check_ranges(path, kept, columns)
    rim, ground = _motion(kept, columns)
    speeds = np.array([transport_speed(u, v, w) for (u, v), w in zip(ground.tolist(), rim.tolist(), strict=True)])
    slip = np.column_stack([rim - ground[:, 0], -ground[:, 1]]) / speeds[:, None]
    repeat, cell = _repeats(table, columns, whole)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    forces = (kept["force_along"], kept["force_across"])
    further = {name: values for name, values in kept.items() if name not in UNITS and values is not None}
    data = TyreData(path.name, digest, rim, ground, slip, kept["load"], *forces, repeat, cell, tuple(findings), further)  # type: ignore[arg-type]
    _check_signs(path, data)
    return data


def _numbers(table: Table, columns: TyreColumns, name: str) -> np.ndarray | None:
    source = columns.source(name)
    if source is None:
        return None
    column, times = source
    return np.asarray(table.numbers(column) * times)


def _check_ranges(path: Path, kept: dict[str, np.ndarray | None], columns: TyreColumns) -> None:
    slip, angle, load = kept["slip"], kept["slip_angle"], kept["load"]
    if slip is not None:
        most = float(np.abs(slip).max())
        limit = LARGEST_SLIP if columns.slip_over == "larger" else 50.0
        if most > limit:
            hint = "if it is in percent, write scale: 0.01 beside the column" if most <= 200.0 else "check column and scale"
            if columns.slip_over == "larger" and float(slip.min()) >= -1.0 and most <= 50.0:
                hint += "; if it is a share of the ground's speed, write slip_over: ground"
            raise LogError(f"{path}: slip reaches {most:g}; expected between -{limit:g} and {limit:g}; {hint}")
        if columns.slip_over == "ground" and float(slip.min()) < -1.0:
            raise LogError(
                f"{path}: slip over ground speed goes down to {slip.min():g}; a locked wheel has -1; check column and sign"
            )
    if angle is not None and np.abs(angle).max() > LARGEST_ANGLE_RAD:
        most = float(np.abs(angle).max())
        hint = "if it is in degrees, write unit: deg beside the column" if most <= 95.0 else "check column and unit"
        raise LogError(f"{path}: the slip angle reaches {most:g} rad; expected at most {math.pi / 2:.2f}; {hint}")
    if angle is not None and columns.rim_speed is None and np.abs(np.cos(angle)).min() < 1e-3:
        raise LogError(
            f"{path}: a slip angle of 90 degrees has no slip ratio; name rim_speed and travel_speed in the map instead of slip"
        )
    assert load is not None
    if (load <= 0.0).any():
        bad = float(load[load <= 0.0][0])
        hint = (
            "if the file counts it negative, write scale: -1 beside the column" if (load < 0.0).all() else "leave such rows out"
        )
        raise LogError(f"{path}: a load of {bad:g} N; expected more than 0 N; {hint}")


def _motion(kept: dict[str, np.ndarray | None], columns: TyreColumns) -> tuple[np.ndarray, np.ndarray]:
    """Rim speed (T,) and ground speed (T, 2)."""
    angle, rim, travel, slip = (kept[name] for name in ("slip_angle", "rim_speed", "travel_speed", "slip"))
    if rim is not None and travel is not None:
        angle = np.zeros_like(rim) if angle is None else angle
        return rim, np.column_stack([travel * np.cos(angle), travel * np.sin(angle)])
    if slip is None:
        assert angle is not None
        slip = np.zeros_like(angle)
    if columns.slip_over == "ground":
        slip = np.where(slip > 0.0, slip / (1.0 + np.maximum(slip, 0.0)), slip)
    rim = np.where(slip >= 0.0, 1.0, 1.0 + slip)
    ahead = np.where(slip >= 0.0, 1.0 - slip, 1.0)
    return rim, np.column_stack([ahead, np.zeros_like(ahead) if angle is None else ahead * np.tan(angle)])


def _repeats(table: Table, columns: TyreColumns, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Number of the repeat, and which rows were meant to be the same. Without a column of repeats, the first row of a setting
    is its first repeat, the second its second."""
    cell = None
    if columns.settings:
        keys = [tuple(cells) for cells in zip(*(table.cells(place) for place in columns.settings), strict=True)]
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        cell = np.array([numbers[key] for key in keys])[whole]
    if columns.repeat is not None:
        names = [name for name, keep in zip(table.cells(columns.repeat), whole, strict=True) if keep]
        order = {name: k for k, name in enumerate(dict.fromkeys(names))}
        return np.array([order[name] for name in names]), cell
    if cell is None:
        return np.zeros(int(whole.sum()), dtype=int), None
    seen: dict[int, int] = {}
    repeat = []
    for setting in cell.tolist():
        repeat.append(seen.get(setting, 0))
        seen[setting] = repeat[-1] + 1
    return np.array(repeat), cell


def _check_signs(path: Path, data: TyreData) -> None:
    """Friction takes power out: force and slip velocity point the same way, on the whole, on each axis."""
    for axis, force in data.forces().items():
        slip = data.slip[:, AXES.index(axis)]
        if np.abs(slip).max() > 0.0 and float(force @ slip) < 0.0:
            way = "ahead" if axis == "along" else "to the left"
            raise LogError(
                f"{path}: force_{axis} drives the slip instead of opposing it, on the whole; expected the force of the ground on "
                f"the wheel, positive {way}; write scale: -1 beside its column, or beside that of the slip"
                f"{' angle' * (axis == 'across')}"
            )
