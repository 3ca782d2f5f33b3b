"""Files of a run: one table of its columns, with what is said of the whole run beside it."""

import glob
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.errors import SimulationError
from slipfit.library.files import check_target, write_through
from slipfit.library.interrupts import undisturbed
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.quantities import Quantities
from slipfit.simulation.record import (
    BODY_COLUMNS,
    ENERGY_COLUMNS,
    SLIP_COLUMNS,
    SPACE_COLUMNS,
    WHEEL_COLUMNS,
    from_table,
)
from slipfit.vehicles.track_record import TRACK_COLUMNS

TRAJECTORY_FORMATS = (".parquet", ".csv", ".tum")

_TEXTS = ("robot", "ground", "scenario", "drive", "shape")
_NUMBERS = (
    "effort_limit", "slope_rad", "uphill_rad", "gravity_mps2", "commanded_turn_rad", "arrived_at_s", "stopped_at_s",
)  # fmt: skip

#: How files before schema version 2 call the outcome: of drives, and of climbs.
_OLD_OUTCOMES = ("status", "verdict")


# --- writing ------------------------------------------------------------------------------------------------------------------


def write_run(run: Quantities, path: Path, *, force: bool) -> None:
    """Write a run in the format that the path's ending names."""
    writers: dict[str, Callable[[Quantities, Path], None]] = {".parquet": _parquet, ".csv": _csv, ".tum": _tum}
    check_target(path, force=force, formats=TRAJECTORY_FORMATS)
    write_through(path, lambda target: writers[path.suffix](run, target), force=force)


def _parquet(run: Quantities, path: Path) -> None:
    import slipfit

    about = {"slipfit": slipfit.__version__, **_said_of(run)}
    pairs = ", ".join(f"{key}: '{_quoted(value)}'" for key, value in about.items())
    _copy(run, path, f"FORMAT parquet, KV_METADATA {{{pairs}}}")


def _csv(run: Quantities, path: Path) -> None:
    """A table; of tracked robots its first line holds what is said of the whole run."""
    _copy(run, path, "FORMAT csv, HEADER")
    if run.has_tracks:
        path.write_text(f"# {json.dumps(_said_of(run))}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


def _tum(run: Quantities, path: Path) -> None:
    height = run.columns.get("z_m", np.zeros(len(run.time_s)))
    rows = np.column_stack([run.time_s, run.x_m, run.y_m, height, run.quaternions_xyzw()])
    lines = (" ".join(repr(number) for number in row) for row in rows.tolist())
    path.write_text("# stamp_s x_m y_m z_m qx qy qz qw\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _said_of(run: Quantities) -> dict[str, str]:
    """What a file says of the whole run, as text."""
    texts = {name: getattr(run, name) for name in _TEXTS}
    numbers = {name: repr(float(getattr(run, name))) for name in _NUMBERS}
    margin = {} if run.margin is None else {"margin": repr(run.margin)}
    lists = {"waypoints_m": json.dumps(run.waypoints_m), "notes": json.dumps(run.notes)}
    return {**texts, "outcome": run.outcome.name, **numbers, **margin, **lists}


@undisturbed()
def _copy(run: Quantities, path: Path, options: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("trajectory", run.table())
        try:
            connection.execute(f"COPY trajectory TO '{_quoted(str(path))}' ({options})")
        except duckdb.IOException as error:
            raise OSError(str(error).splitlines()[0]) from None


# --- reading ------------------------------------------------------------------------------------------------------------------


@undisturbed()
def read_run(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Columns of a .parquet or .csv file, and what it says of the whole run as fields of a trajectory."""
    import duckdb

    if path.suffix not in (".parquet", ".csv"):
        raise SimulationError(f"{path}: cannot read '{path.suffix}' back; expected .parquet or .csv")
    if not path.is_file():
        raise SimulationError(f"{path}: there is no such file; check the path")
    said: Mapping[str, Any] = {}
    try:
        with duckdb.connect() as connection:
            source = f"'{_quoted(glob.escape(str(path)))}'"
            if path.suffix == ".parquet":
                found = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({source})").fetchall()
                said = {bytes(key).decode(): bytes(value).decode() for key, value in found}
            else:
                said = _first_line(path)
                source = f"read_csv({source}, skip = 1, header = true)" if said else source
            table = connection.execute(f"SELECT * FROM {source}").fetchnumpy()
        _check_columns(table, path)
        columns = from_table(table)
        return columns, _fields(said, columns)
    except (duckdb.Error, OSError, ValueError, KeyError, TypeError) as error:  # not the format, text for numbers, unknown outcome
        raise SimulationError(f"{path}: cannot be read as a trajectory ({str(error).splitlines()[0]})") from None


def _first_line(path: Path) -> dict[str, Any]:
    """What a .csv file says of the whole run in its first line, if it does."""
    with path.open("rb") as file:
        first = file.readline()
    if not first.startswith(b"# {"):
        return {}
    found: dict[str, Any] = json.loads(first[2:])
    return found


def _check_columns(table: Mapping[str, Any], path: Path) -> None:
    """All columns of the drive type are there, for all wheels."""
    if "belt_left_mps" in table:
        wanted = ["time_s", *TRACK_COLUMNS]
    else:
        wheels = max(1, sum(name.startswith(f"{WHEEL_COLUMNS[0]}_") for name in table))
        has_balance = any(name in table for name in ENERGY_COLUMNS)
        body = (*BODY_COLUMNS, *SPACE_COLUMNS, *ENERGY_COLUMNS) if has_balance else BODY_COLUMNS
        per_wheel = (*WHEEL_COLUMNS, *SLIP_COLUMNS) if has_balance else WHEEL_COLUMNS
        wanted = [*body, *(f"{name}_{w}" for name in per_wheel for w in range(wheels))]
    missing = [name for name in wanted if name not in table]
    if missing:
        raise SimulationError(f"{path}: column '{missing[0]}' is missing; not a trajectory of slipfit")


def _fields(said: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The inverse of `_said_of`, as far as a file has it; also of what earlier versions wrote."""
    fields: dict[str, Any] = {name: said[name] for name in _TEXTS if name in said}
    fields |= {name: float(said[name]) for name in (*_NUMBERS, "margin") if said.get(name) is not None}
    if "waypoints_m" in said:
        fields["waypoints_m"] = tuple((float(x), float(y)) for x, y in _list(said["waypoints_m"]))
    if "notes" in said:
        fields["notes"] = tuple(_list(said["notes"]))
    if "belt_left_mps" in columns:
        fields.setdefault("drive", "tracked")
    is_finite = all(np.isfinite(columns[name]).all() for name in ("x_m", "y_m", "heading_rad") if name in columns)
    assumed = Outcome.FINISHED if is_finite else Outcome.DIVERGED
    name = next((said[key] for key in ("outcome", *_OLD_OUTCOMES) if key in said), assumed.name)
    return {**fields, "outcome": Outcome[name]}


def _list(entry: Any) -> Any:
    """A list as it is, or as text."""
    return json.loads(entry) if isinstance(entry, str) else entry


def _quoted(text: str) -> str:
    return text.replace("'", "''")
