"""Tables of readings that somebody wrote down: .csv with a header line, or .yaml with lists by name."""

import csv
from pathlib import Path
from typing import Any

from slipfit.errors import ParameterError
from slipfit.library.files import nearest, read_yaml
from slipfit.library.parameter import as_float


def read_readings(path: Path, names: tuple[str, ...]) -> list[list[float]]:
    """The named columns, each as long as the table."""
    table = _table(path)
    columns = []
    for name in names:
        if name not in table:
            raise ParameterError(f"{path}: there is no column '{name}'; {nearest(name, map(str, table))}")
        try:
            columns.append([as_float(entry, f"{name}, reading {k}") for k, entry in enumerate(table[name], 1)])
        except ValueError as error:
            raise ParameterError(f"{path}: {error}") from None
    if not columns[0]:
        raise ParameterError(f"{path}: there are no readings below the header; write one per line")
    return columns


def names_of_readings(path: Path) -> list[str]:
    """Columns of a table."""
    return list(_table(path))


def _table(path: Path) -> dict[str, list[Any]]:
    if path.suffix in (".yaml", ".yml"):
        data = read_yaml(path)
        if not isinstance(data, dict) or not all(isinstance(entry, list) for entry in data.values()):
            raise ParameterError(f"{path}: expected lists of numbers by name, as 'angle_deg: [31.2, 30.8]'")
        return data
    if path.suffix != ".csv":
        raise ParameterError(f"{path}: cannot read '{path.suffix}'; expected .csv or .yaml")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise ParameterError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError, csv.Error) as error:
        raise ParameterError(f"{path}: cannot be read as a table ({error})") from None
    if not rows:
        raise ParameterError(f"{path}: the file is empty; expected a header line and readings")
    header, *lines = ([cell.strip() for cell in row] for row in rows)
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise ParameterError(f"{path}: line {number} has {len(line)} cells; expected {len(header)}, as in the header")
    return {name: [line[k] for line in lines] for k, name in enumerate(header)}
