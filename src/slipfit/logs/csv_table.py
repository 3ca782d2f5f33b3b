"""CSV files, plain or gzip: cells as text, numbers and stamps from them, and our own files, which read back to the same bits."""

import csv
import functools
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, Overflow
from itertools import chain
from pathlib import Path

import numpy as np

from slipfit.errors import LogError
from slipfit.library.files import check_folder, make_folder, nearest, write_through
from slipfit.logs.drive_log import Channel

#: A gzip file may grow without bound when unpacked; nobody's drive log in CSV is longer than this.
MOST_BYTES = 2 << 30

_GZIP = b"\x1f\x8b"
_LAST_STAMP = Decimal(2**63 - 1)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of a CSV file as text: names of the columns (none without a header), rows, and the line of the first row."""

    path: Path
    names: tuple[str, ...]
    rows: list[list[str]]
    first_line: int
    notes: tuple[str, ...] = ()

    def index(self, column: str | int) -> int:
        """Place of a column that is given by name or, counted from 0, by place."""
        if isinstance(column, int):
            width = max(map(len, self.rows), default=0)
            if column >= width:
                raise LogError(f"{self.path}: there is no column {column}; the file has {width}, counted from 0")
            return column
        found = [k for k, name in enumerate(self.names) if name == column]
        if not self.names:
            raise LogError(f"{self.path}: column '{column}' is sought by name in a file without header; give its place, from 0")
        if not found:
            near = nearest(column, filter(None, self.names))
            raise LogError(f"{self.path}: there is no column '{column}', which the column map (--columns) names; {near}")
        if len(found) > 1:
            raise LogError(f"{self.path}: column '{column}' stands {len(found)} times in the header; give its place, from 0")
        return found[0]

    def cells(self, column: str | int) -> list[str]:
        """One column as text."""
        k = self.index(column)
        try:
            return [row[k] for row in self.rows]
        except IndexError:
            short = next(i for i, row in enumerate(self.rows) if len(row) <= k)
            raise LogError(
                f"{self.path}: line {self.first_line + short} has {len(self.rows[short])} cells, column {column} would be "
                f"number {k + 1}; complete or delete the line"
            ) from None

    def numbers(self, column: str | int) -> np.ndarray:
        """One column as floats; an empty cell is NaN."""
        cells = self.cells(column)
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            return np.array([self._number(column, i, cell) for i, cell in enumerate(cells)])

    def _number(self, column: str | int, row: int, cell: str) -> float:
        if not cell.strip():
            return float("nan")
        try:
            return float(cell)
        except ValueError:
            place = f"line {self.first_line + row}, column {column}"
            raise LogError(f"{self.path}: {place}: found {cell[:40]!r}; expected a number") from None

    def stamps_ns(self, column: str | int, unit_ns: int) -> np.ndarray:
        """A column of times as integer nanoseconds, in integer arithmetic: seconds since 1970 do not fit a float."""
        stamps = np.empty(len(self.rows), dtype=np.int64)
        for i, cell in enumerate(self.cells(column)):
            try:
                stamp = Decimal(cell.strip()) * unit_ns
                if not abs(stamp) <= _LAST_STAMP:
                    raise ValueError
                stamps[i] = int(stamp.to_integral_value())
            except (ValueError, InvalidOperation, Overflow, OverflowError):
                place = f"line {self.first_line + i}, column {column}"
                raise LogError(f"{self.path}: {place}: found {cell[:40]!r}; expected a time") from None
        return stamps


def read_text(path: Path) -> str:
    """The whole text of a plain or gzip file."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
        with gzip.open(path) if is_packed else path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file; check the path") from None
    except (OSError, EOFError, zlib.error) as error:
        raise LogError(f"{path}: cannot be read ({error}); fetch or record it again") from None
    if len(data) > MOST_BYTES:
        raise LogError(f"{path}: holds more than {MOST_BYTES >> 30} GiB of text; cut it into several drives")
    if not data.strip():
        raise LogError(f"{path}: the file is empty; record the drive again")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LogError(
            f"{path}: not text at byte {error.start}; expected a CSV file in UTF-8, or a bag under its own ending"
        ) from None


def read_table(
    path: Path, *, separator: str = ",", header_rows: int = 1, name_row: int | None = None, skip_rows: int = 0
) -> Table:
    """Cells of a CSV file. Names stand in row `name_row` of the header, counted from 1; the last one unless told."""
    text = read_text(path)
    lines = io.StringIO(text, newline="")
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error as error:
        raise LogError(f"{path}: not a CSV file ({error}); check it in an editor") from None
    header, rows = rows[:header_rows], rows[header_rows + skip_rows :]
    if not rows:
        raise LogError(f"{path}: there are no samples below the header; record the drive again")
    names: Sequence[str] = header[(name_row or header_rows) - 1] if header else ()
    notes = []
    if len(rows) > 1 and len(rows[-1]) < len(rows[0]) and not text.endswith("\n"):
        rows.pop()
        notes.append("the last line was cut off and left out")
    return Table(path, tuple(name.strip() for name in names), rows, 1 + header_rows + skip_rows, tuple(notes))


# --- our own files ---------------------------------------------------------------------------------------------------


def is_own(path: Path) -> bool:
    """Whether a CSV file has our header, as `save_csv` writes it."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
        with gzip.open(path) if is_packed else path.open("rb") as file:
            return file.read(9).startswith(b"stamp_ns,")
    except (OSError, EOFError, zlib.error):
        return False


def read_channel(path: Path) -> tuple[Channel, tuple[str, ...]]:
    """The channel that `save_csv` wrote, named after its file, and notes about what was wrong with it."""
    table = read_table(path)
    stamps = table.stamps_ns(0, 1)
    wide = next((i for i, row in enumerate(table.rows) if len(row) > len(table.names)), None)
    if wide is not None:
        raise LogError(
            f"{path}: line {table.first_line + wide} has {len(table.rows[wide])} cells, the header {len(table.names)}; mend it"
        )
    values = np.column_stack([table.numbers(k) for k in range(1, len(table.names))]) if len(table.names) > 1 else None
    if values is None:
        raise LogError(f"{path}: there is nothing beside stamp_ns; expected columns with units in their names")
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    try:
        return Channel(name, stamps, values, table.names[1:]), table.notes
    except LogError as error:
        raise LogError(f"{path}: {error}") from None


def write_channels(channels: Mapping[str, Channel], folder: Path, *, force: bool) -> list[Path]:
    """One file per channel, named after it."""
    paths = [folder / f"{name}.csv" for name in channels]
    check_folder(folder, [path.name for path in paths], force=force)
    make_folder(folder)
    for path, channel in zip(paths, channels.values(), strict=True):
        write_through(path, functools.partial(_write_channel, channel), force=force)
    return paths


def _write_channel(channel: Channel, path: Path) -> None:
    """Shortest decimals that read back to the same bits; the sign of NaN too, which `repr` drops."""
    rows = [list(map(repr, row)) for row in channel.values.tolist()]
    for i, k in np.argwhere(np.isnan(channel.values) & np.signbit(channel.values)):
        rows[i][k] = "-nan"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stamp_ns", *channel.columns))
        writer.writerows(chain((stamp,), row) for stamp, row in zip(channel.stamps_ns.tolist(), rows, strict=True))
