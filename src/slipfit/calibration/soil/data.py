"""Tables of soil tests, checked and in SI: plates (sinkage, pressure), shear (displacement, stress), single wheels."""

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slipfit.calibration.soil.columns import PlateColumns, PlateTest, ShearColumns, WheelColumns
from slipfit.calibration.tyre.data import TyreData, read_tyre_data
from slipfit.errors import LogError
from slipfit.logs.csv_table import Table

#: Ground pressures of soil tests, Pa: beyond, a unit is wrong.
LEAST_PA, MOST_PA = 300.0, 5e7

#: A plate that is pressed in deeper than this, m, is rather a reading in mm.
DEEPEST_M = 1.5

#: Sinkages and displacements of whole tests that stay below this, m, are rather metres taken for mm.
SHALLOWEST_M = 2e-4

#: Diameters and widths of plates, m.
PLATES_M = (0.005, 2.0)

#: Largest shear over largest normal stress: beyond, one of both is in another unit.
SHEAR_SHARES = (0.01, 200.0)

#: Wheels that point where they go, within this angle.
STRAIGHT_RAD = math.radians(2.0)


@dataclass(frozen=True, eq=False, slots=True)
class PlateData:
    """Rows of plate tests. `width_m` is Bekker's b: the radius of round plates, the smaller side of others."""

    name: str
    digest: str
    test: np.ndarray  # (T,) whole numbers from 0
    tests: tuple[str, ...]
    width_m: np.ndarray
    sinkage_m: np.ndarray
    pressure_pa: np.ndarray
    findings: tuple[str, ...] = ()
    is_round: tuple[bool, ...] = ()  # of each test's plate

    def __len__(self) -> int:
        return len(self.sinkage_m)

    def size_words(self, width_m: float) -> str:
        """A plate of this b as its owner calls it: round ones by their diameter."""
        kinds = {self.is_round[k] if self.is_round else None for k in np.unique(self.test[self.width_m == width_m])}
        if kinds == {True}:
            return f"diameter {2e3 * width_m:.3g} mm"
        return f"width {1e3 * width_m:.3g} mm" if kinds == {False} else f"b = {1e3 * width_m:.3g} mm"

    @property
    def widths_m(self) -> np.ndarray:
        """Different widths, in rising order."""
        return np.unique(self.width_m)


@dataclass(frozen=True, eq=False, slots=True)
class ShearData:
    """Rows of shear tests."""

    name: str
    digest: str
    test: np.ndarray
    tests: tuple[str, ...]
    displacement_m: np.ndarray
    shear_pa: np.ndarray
    normal_pa: np.ndarray
    findings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.shear_pa)


@dataclass(frozen=True, eq=False, slots=True)
class WheelData:
    """Rows of a wheel that rolls straight ahead on soil."""

    name: str
    digest: str
    radius_m: float
    width_m: float
    grouser_m: float
    slip: np.ndarray
    load_n: np.ndarray
    pull_n: np.ndarray
    sinkage_m: np.ndarray
    repeat: np.ndarray
    spread: tuple[float, float] | None  # between repeats of a setting: pull over load, sinkage (m)
    findings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.slip)

    @property
    def repeats(self) -> int:
        return int(self.repeat.max()) + 1


def read_plates(path: Path | str, columns: PlateColumns | Path | str) -> PlateData:
    """Read a table of plate tests by its column map."""
    path, columns = Path(path), PlateColumns.find(columns)
    table = columns.table(path)
    numbers = {name: _numbers(table, columns, name) for name in columns.units()}
    labels = np.array(table.cells(columns.test) if columns.test is not None else ["1"] * len(table.rows))
    listed = columns.tests or [PlateTest(test=label) for label in dict.fromkeys(labels.tolist())]
    pieces: list[np.ndarray] = []
    names: list[str] = []
    for one in listed:
        rows = labels == one.test
        if not rows.any():
            raise LogError(f"{path}: there is no test '{one.test}', which the column map lists; known are {_some(labels)}")
        pieces.append(_plate_rows(path, columns, one, numbers, rows, len(names)))
        names.append(one.test)
    stacked = np.concatenate(pieces, axis=1)
    whole, findings = _whole(path, table, stacked)
    number, width, sinkage, pressure = stacked[:, whole]
    _check_depth(path, sinkage)
    _check_pressure(path, "pressure" if columns.pressure is not None else "force over area", pressure)
    used = sinkage > 0.0
    if not used.any():
        raise LogError(f"{path}: no row has a sinkage above zero; if the file counts it negative, write scale: -1 beside it")
    _check_way(path, "sinkage", sinkage)
    return PlateData(
        path.name, _digest(path), number[used].astype(int), tuple(names), width[used], sinkage[used], pressure[used], findings,
        tuple(numbers["diameter"] is not None or _diameter(columns, one) is not None for one in listed),
    )  # fmt: skip


def _plate_rows(
    path: Path, columns: PlateColumns, one: PlateTest, numbers: dict[str, np.ndarray | None], rows: np.ndarray, number: int
) -> np.ndarray:
    """Number of the test, width, sinkage and pressure, (4, rows of the test)."""
    time = numbers["time"]
    if time is not None:
        rows = rows & (time >= (-np.inf if one.from_s is None else one.from_s))
        rows = rows & (time <= (np.inf if one.to_s is None else one.to_s))
        if not rows.any():
            raise LogError(f"{path}: test '{one.test}' has no rows between from_s and to_s; check the times")
    count = int(rows.sum())
    diameters = numbers["diameter"]
    if diameters is not None:
        _check_plate(path, one, "diameter", diameters[rows])
        width, area = 0.5 * diameters[rows], np.pi * (0.5 * diameters[rows]) ** 2
    else:
        width, area = (np.full(count, value) for value in _size(path, columns, one))
    sinkage, pressure, force = numbers["sinkage"], numbers["pressure"], numbers["force"]
    assert sinkage is not None
    push = pressure[rows] if pressure is not None else (force[rows] - one.force_zero_n) / area  # type: ignore[index]
    return np.array([np.full(count, number), width, sinkage[rows] - one.sinkage_zero_m, push])


def _diameter(columns: PlateColumns, one: PlateTest) -> float | None:
    """Diameter of the plate of one test as the map has it; None for rectangular plates."""
    return one.diameter_m or (None if one.width_m else columns.diameter_m)


def _size(path: Path, columns: PlateColumns, one: PlateTest) -> tuple[float, float]:
    """b and area of the plate of one test."""
    diameter = _diameter(columns, one)
    if diameter:
        _check_plate(path, one, "diameter", np.array([diameter]))
        return 0.5 * diameter, math.pi * (0.5 * diameter) ** 2
    width, area = one.width_m or columns.width_m, one.area_m2 or columns.area_m2
    if width and (area or columns.pressure is not None):
        _check_plate(path, one, "width", np.array([width]))
        return width, area or math.nan
    raise LogError(
        f"{path}: nothing tells the plate of test '{one.test}'; name the column `diameter`, or give diameter_m, or width_m with "
        f"area_m2, for all rows or in `tests`"
    )


def read_shear(path: Path | str, columns: ShearColumns | Path | str) -> ShearData:
    """Read a table of shear tests by its column map."""
    path, columns = Path(path), ShearColumns.find(columns)
    table = columns.table(path)
    numbers = {name: _numbers(table, columns, name) for name in columns.units()}
    labels = table.cells(columns.test) if columns.test is not None else ["1"] * len(table.rows)
    normal = numbers["normal"]
    if columns.tests:
        given = {one.test: one.normal_pa for one in columns.tests}
        normal = np.array([given.get(label, math.nan) for label in labels])
    elif normal is None:
        normal = np.full(len(labels), columns.normal_pa)
    if columns.test is None:  # tests are then told apart by their normal stress
        labels = [f"{value:g} Pa" for value in normal]
    names = tuple(dict.fromkeys(labels))
    number = np.array([names.index(label) for label in labels], dtype=float)
    stacked = np.array([number, numbers["displacement"], numbers["shear"], normal])
    whole, findings = _whole(path, table, stacked)
    number, displacement, shear, normal = stacked[:, whole]
    _check_pressure(path, "normal stress", normal)
    if displacement.max() <= 0.0:
        raise LogError(f"{path}: no displacement above zero; if the file counts it negative, write scale: -1 beside it")
    if displacement.max() > DEEPEST_M:
        raise LogError(
            f"{path}: the displacement reaches {displacement.max():g} m; if in millimetres, write unit: mm beside its column"
        )
    _check_way(path, "displacement", displacement)
    _check_shear(path, shear, normal)
    used = displacement >= 0.0
    return ShearData(
        path.name, _digest(path), number[used].astype(int), names, displacement[used], shear[used], normal[used], findings
    )


def read_wheel(path: Path | str, columns: WheelColumns | Path | str) -> WheelData:
    """Read a table of single-wheel tests by its column map; only rows of straight driving are kept."""
    columns = WheelColumns.find(columns)
    data = read_tyre_data(path, columns)
    ahead = np.abs(np.arctan2(data.ground_mps[:, 1], np.maximum(data.ground_mps[:, 0], 1e-12))) <= STRAIGHT_RAD
    straight = data.rows(ahead)
    if len(straight) < 3:
        raise LogError(f"{path}: {len(straight)} rows of straight driving; expected 3 or more, with slip angles below 2 degrees")
    sinkage = straight.further["sinkage"]
    _check_depth(Path(path), sinkage)
    if (sinkage < 0.0).mean() > 0.5:
        raise LogError(f"{path}: the sinkage is negative; if the file counts it so, write scale: -1 beside its column")
    assert straight.along_n is not None
    findings = list(data.findings)
    if len(straight) < len(data):
        findings.append(f"{len(data) - len(straight)} of {len(data)} rows have a slip angle and are left out")
    return WheelData(
        data.name,
        data.digest,
        columns.radius_m,
        columns.width_m,
        columns.grouser_m,
        straight.slip[:, 0],
        straight.load_n,
        straight.along_n,
        sinkage,
        straight.repeat,
        _spread(straight),
        tuple(findings),
    )


def _spread(data: TyreData) -> tuple[float, float] | None:
    """Standard deviation between rows that were meant to be the same: pull over load, and sinkage (m)."""
    if data.cell is None:
        return None
    _, index, count = np.unique(data.cell, return_inverse=True, return_counts=True)
    free = int((count - 1).sum())
    if free < 1:
        return None
    assert data.along_n is not None
    found = []
    for values in (data.along_n / data.load_n, data.further["sinkage"]):
        mean = np.bincount(index, values) / count
        found.append(float(np.sqrt(((values - mean[index]) ** 2).sum() / free)))
    return found[0], found[1]


def _numbers(table: Table, columns: PlateColumns | ShearColumns, name: str) -> np.ndarray | None:
    source = columns.source(name)
    return None if source is None else np.asarray(table.numbers(source[0]) * source[1])


def _whole(path: Path, table: Table, stacked: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows without gaps, and what was left out."""
    whole = np.isfinite(stacked).all(axis=0)
    if not whole.any():
        raise LogError(f"{path}: every row has an empty cell or NaN in a column that the map names, or lacks a normal stress")
    missing = int((~whole).sum())
    notes = (f"{missing} of {len(whole)} rows have empty cells or NaN and are left out",) if missing else ()
    return whole, (*table.notes, *notes)


def _check_depth(path: Path, sinkage: np.ndarray) -> None:
    if sinkage.max() > DEEPEST_M:
        raise LogError(
            f"{path}: the sinkage reaches {sinkage.max():g} m; expected at most {DEEPEST_M:g} m; if it is in millimetres, write "
            f"unit: mm beside its column"
        )


def _check_way(path: Path, what: str, way: np.ndarray) -> None:
    if way.max() < SHALLOWEST_M:
        raise LogError(
            f"{path}: the {what} reaches {way.max():g} m only; expected more than {SHALLOWEST_M:g} m; if the column is in metres "
            f"and the map says mm, take the unit away, a factor of 1000"
        )


def _check_plate(path: Path, one: PlateTest, what: str, sizes: np.ndarray) -> None:
    """Sizes of plates that can be; the sentence names the factor where one would mend it."""
    least, most = PLATES_M
    wrong = sizes[(sizes < least) | (sizes > most)]
    if not len(wrong):
        return
    size, hint = float(wrong[0]), "check the column and its unit"
    if least <= 1e-3 * size <= most:
        hint = "if it is in millimetres, a factor of 1000, write unit: mm beside its column, or metres in the map"
    elif least <= 1e3 * size <= most:
        hint = "if it is in metres and the map says mm, a factor of 1000, take the unit away"
    raise LogError(f"{path}: test '{one.test}' has a plate with a {what} of {size:g} m; expected {least:g} to {most:g} m; {hint}")


def _check_shear(path: Path, shear: np.ndarray, normal: np.ndarray) -> None:
    share = float(shear.max()) / float(normal.max())
    if share > 0.0 and not SHEAR_SHARES[0] <= share <= SHEAR_SHARES[1]:
        raise LogError(
            f"{path}: the shear stress reaches {shear.max():.4g} Pa at normal stresses to {normal.max():.4g} Pa; expected "
            f"{SHEAR_SHARES[0]:g} to {SHEAR_SHARES[1]:g} of them; check the units of both columns, kPa and "
            f"Pa are a factor of 1000 apart"
        )


def _check_pressure(path: Path, what: str, values: np.ndarray) -> None:
    most = float(values.max())
    if float(np.median(values)) < 0.0 and -float(values.min()) > max(most, LEAST_PA):
        raise LogError(
            f"{path}: the {what} is negative, to {values.min():g} Pa; if the file counts it so, write scale: -1 beside its column"
        )
    if most < LEAST_PA:
        raise LogError(
            f"{path}: the {what} reaches {most:g} Pa; expected more than {LEAST_PA:g} Pa; if it is in kPa, a factor of "
            f"1000, write unit: kPa beside its column"
        )
    if most > MOST_PA:
        raise LogError(f"{path}: the {what} reaches {most:g} Pa; expected at most {MOST_PA:g} Pa; check column, unit and area")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _some(labels: np.ndarray) -> str:
    known = list(dict.fromkeys(labels.tolist()))
    return ", ".join(known[:8]) + (" ..." if len(known) > 8 else "")
