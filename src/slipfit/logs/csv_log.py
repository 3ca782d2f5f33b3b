"""A drive log from somebody's CSV file and a column map, and from our own CSV files."""

from collections import defaultdict
from itertools import accumulate
from pathlib import Path

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import channels as names
from slipfit.logs.column_map import ColumnMap, PoseColumns, Source
from slipfit.logs.csv_table import Table, is_own, read_channel, read_table
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.geodesy import east_north
from slipfit.logs.rotation import yaw_of

#: A clock of one sensor repeats at most every second stamp (two publishers of each row), and runs backward seldom or by little.
MOST_REPEATED, MOST_BACKWARD = 0.55, 0.1

#: Of fewer rows nothing is said.
LEAST_ROWS = 20

_UNIT_NS = {"s": NANOSECONDS, "ms": 1_000_000, "us": 1_000, "ns": 1}


def read_csv(path: Path, columns: ColumnMap | None) -> DriveLog:
    """One file: with a column map, or one that `save_csv` wrote."""
    if columns is not None:
        return _read_mapped(path, columns)
    if is_own(path):
        channel, notes = read_channel(path)
        return DriveLog({channel.name: channel}, notes=notes)
    raise LogError(
        f"{path}: what its columns mean is not known; give a column map: --columns map.yaml (docs/howto/read_a_log.md)"
    )


def read_csv_folder(folder: Path) -> DriveLog:
    """All files of a folder, as `save_csv` wrote it."""
    found = own_files(folder)
    channels, notes = {}, []
    for path in found:
        channel, about = read_channel(path)
        if channel.name in channels:
            raise LogError(f"{folder}: channel {channel.name} is there as .csv and as .csv.gz; remove one of them")
        channels[channel.name] = channel
        notes += [f"{path.name}: {note}" for note in about]
    return DriveLog(channels, notes=tuple(notes))


def own_files(folder: Path) -> list[Path]:
    """CSV files that `save_csv` wrote, by name."""
    return [path for path in sorted(folder.iterdir()) if path.name.endswith((".csv", ".csv.gz")) and is_own(path)]


def _read_mapped(path: Path, columns: ColumnMap) -> DriveLog:
    table = read_table(
        path,
        separator=columns.separator,
        header_rows=columns.header_rows,
        name_row=columns.name_row,
        skip_rows=columns.skip_rows,
    )
    notes = list(table.notes)
    stamps = _stamps(table, columns)
    log: dict[str, Channel] = {}
    if columns.segments:
        index = _segments(table, columns.segments.column)
        stamps, note = _end_to_end(path, stamps, index)
        notes += note
        log[names.SEGMENTS] = Channel(names.SEGMENTS, stamps, index[:, None], names.SEGMENT_COLUMNS)
    for name, content in _contents(table, columns).items():
        values = np.column_stack(list(content.values()))
        # A file of several sensors has rows in which one of them did not speak.
        spoke = ~np.isnan(values).all(axis=1)
        empty = ~spoke & _blank(table, columns, name)
        if empty.all():
            notes.append(f"{name} is left out: its columns are empty")
            continue
        _require_times(path, columns, name, stamps[~empty])
        log[name] = Channel(name, stamps[~empty], values[~empty], tuple(content))
        if empty.any():
            notes.append(f"{name}: {int(empty.sum())} rows with empty cells are no samples")
    if not log:
        raise LogError(f"{path}: all columns that the map names are empty; check the map, or record the drive again")
    order = [name for name in names.ABOUT if name in log]
    order += [name for name in log if name not in order]
    return DriveLog({name: log[name] for name in order}, about=columns.about, notes=tuple(notes))


def _stamps(table: Table, columns: ColumnMap) -> np.ndarray:
    time = columns.time
    if time.column is not None:
        return table.stamps_ns(time.column, _UNIT_NS[time.unit])
    assert time.rate_hz is not None  # the map has one of the two
    return np.round(np.arange(len(table.rows)) * (NANOSECONDS / time.rate_hz)).astype(np.int64)


def _require_times(path: Path, columns: ColumnMap, channel: str, stamps_ns: np.ndarray) -> None:
    """A column that is no clock: it stands still, or goes up and down. A few stamps may do so; inspection deals with them."""
    if columns.time.column is None or len(stamps_ns) < LEAST_ROWS:
        return
    steps = np.diff(stamps_ns).astype(float)
    still, back = float((steps == 0.0).mean()), float((steps < 0.0).mean())
    forth_ns, back_ns = steps[steps > 0.0].sum(), -steps[steps < 0.0].sum()
    wanders = MOST_BACKWARD < back < 1.0 - MOST_BACKWARD and back_ns > 0.5 * forth_ns
    if still <= MOST_REPEATED and not wanders:
        return
    found = (
        f"{100 * still:.0f} % of the stamps repeat the one before"
        if not wanders
        else f"{100 * back:.0f} % of the stamps run backward"
    )
    raise LogError(
        f"{path}: column '{columns.time.column}' is no time of {channel}: {found}; expected times that grow from row to row; "
        f"name another column or unit under time in the column map (--columns), or give rate_hz there instead"
    )


def _contents(table: Table, columns: ColumnMap) -> dict[str, dict[str, np.ndarray]]:
    """Values by channel and column, in the order of the standard names."""
    content: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for source in columns.sources():
        content[source.channel][source.name] = _values(table, source)
    for name, pose in ((names.POSE, columns.pose), (names.ODOMETRY, columns.odometry)):
        if pose and pose.quaternion:
            content[name] = _with_yaw(content[name], table, pose)
    if names.GNSS in content:
        gnss = content[names.GNSS]
        gnss.setdefault("altitude_m", np.full(len(table.rows), np.nan))
        gnss["x_m"], gnss["y_m"] = east_north(gnss["latitude_rad"], gnss["longitude_rad"], gnss["altitude_m"]).T
    if names.IMU in content:
        content[names.IMU] = {c: content[names.IMU][c] for c in names.IMU_COLUMNS if c in content[names.IMU]}
    return content


def _with_yaw(content: dict[str, np.ndarray], table: Table, pose: PoseColumns) -> dict[str, np.ndarray]:
    """Heading from a quaternion, put where it belongs among the columns."""
    assert pose.quaternion is not None
    content["yaw_rad"] = yaw_of(*(table.numbers(place) for place in pose.quaternion))
    return {c: content[c] for c in names.ODOMETRY_COLUMNS if c in content}


def _values(table: Table, source: Source) -> np.ndarray:
    """Numbers in our unit. A factor of one leaves the bits alone."""
    values = table.numbers(source.column)
    with np.errstate(all="ignore"):  # infinities pass through; to find them is the inspection's part
        if source.increments:
            values = np.cumsum(values)
        return values * source.factor if source.factor != 1.0 else values


def _blank(table: Table, columns: ColumnMap, channel: str) -> np.ndarray:
    """Rows in which all cells of a channel are empty, which is not the same as a sensor that said NaN."""
    places: list[str | int] = [source.column for source in columns.sources() if source.channel == channel]
    pose = {names.POSE: columns.pose, names.ODOMETRY: columns.odometry}.get(channel)
    places += pose.quaternion or () if pose else ()
    cells = [table.cells(place) for place in places]
    return np.array([not any(cell.strip() for cell in row) for row in zip(*cells, strict=True)])


def _segments(table: Table, column: str | int) -> np.ndarray:
    """Numbers as they are; texts numbered in the order in which they come."""
    try:
        return table.numbers(column)
    except LogError:
        seen: dict[str, int] = {}
        return np.array([float(seen.setdefault(cell, len(seen))) for cell in table.cells(column)])


def _end_to_end(path: Path, stamps_ns: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Segments whose clock starts anew are put one after another, a median step apart, so that stamps stay in order."""
    starts = np.flatnonzero(np.diff(index) != 0) + 1
    if not len(starts) or not (stamps_ns[starts] < stamps_ns[starts - 1]).any():
        return stamps_ns, []
    inside = np.delete(np.diff(stamps_ns), starts - 1)
    step = int(np.median(inside)) if len(inside) else 0
    # In whole numbers of any size: a hostile clock may jump by centuries.
    gaps = [int(stamps_ns[start]) - int(stamps_ns[start - 1]) for start in starts]
    moves = [0, *accumulate(step - gap if gap < 0 else 0 for gap in gaps)]
    if abs(int(stamps_ns.max())) + abs(step) + moves[-1] >= 2**63 or min(moves) < 0:
        raise LogError(f"{path}: segments put end to end last longer than stamps can tell; check the unit of the time")
    moved = stamps_ns + np.repeat(np.array(moves, dtype=np.int64), np.diff([0, *starts, len(stamps_ns)]))
    note = f"time starts anew in {len(starts) + 1} segments: they are put end to end, {step / NANOSECONDS:g} s apart"
    return moved, [note]
