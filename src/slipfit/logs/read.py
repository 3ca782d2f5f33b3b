"""One door for all logs."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from slipfit.errors import LogError
from slipfit.logs.bag_reader import kind_of, read_bag
from slipfit.logs.column_map import ColumnMap
from slipfit.logs.csv_log import own_files, read_csv, read_csv_folder
from slipfit.logs.csv_table import is_own
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.provenance import with_truth

_BAG_ENDINGS = (".bag", ".mcap", ".db3")


def read_log(
    path: Path | str,
    *,
    topics: Mapping[str, str] | None = None,
    columns: ColumnMap | Path | str | None = None,
    truth: str | None = None,
) -> DriveLog:
    """A drive log from a file or folder: ROS 1 bag, ROS 2 bag (folder, .mcap, .db3), or CSV, plain or gzip.

    Parameters
    ----------
    path : what was recorded. What it is, is seen from its content.
    topics : for bags, channel to topic where the choice is not to be left to the rules: {"pose": "/vicon/robot"}. A single
        column may come from any field of any message: {"motors.left_current_a": "/status:left.current"}; of a TF topic the
        robot's frame may be given: {"pose": "/tf#base_link"}.
    columns : for CSV files that slipfit did not write, what their columns mean: a ColumnMap or its file.
    truth : which pose serves as truth: a topic (of a transform /tf#map:base_link; in CSV files pose or odometry), or "none".
        Without it, one that is independent of the wheels by its data, or none (`log.truth` says why).

    The digest is the sha256 of the file; of a folder, that of its one data file, or of the digests of its several data
    files, in the order of their names. Stamps are those of message headers; a message without header counts when received.
    """
    path = Path(path)
    try:
        log, files = _read(path, topics or {}, ColumnMap.find(columns) if columns is not None else None, truth)
        return with_truth(replace(log, source=path.name, digest=_digest(files)), truth)
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        raise LogError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); check path and rights") from None


def loaded(log: DriveLog | Path | str, truth: str | None = None) -> DriveLog:
    """A log, or the log of a path, with its truth chosen."""
    return with_truth(log, truth) if isinstance(log, DriveLog) else read_log(log, truth=truth)


def _read(path: Path, topics: Mapping[str, str], columns: ColumnMap | None, truth: str | None) -> tuple[DriveLog, list[Path]]:
    if not path.exists():
        raise LogError(f"{path}: there is no such file; check the path")
    if path.is_dir():
        return _read_folder(path, topics, columns, truth)
    if path.stat().st_size == 0:
        raise LogError(f"{path}: the file is empty; record the drive again")
    kind = kind_of(path)
    if kind:
        _refuse_columns(path, columns)
        return read_bag(path, kind, topics, truth), [path]
    if path.suffix in _BAG_ENDINGS:
        raise LogError(f"{path}: does not begin as a {path.suffix} file does; the file is damaged or has another's ending")
    _refuse_topics(path, topics)
    return read_csv(path, columns), [path]


def _read_folder(
    path: Path, topics: Mapping[str, str], columns: ColumnMap | None, truth: str | None
) -> tuple[DriveLog, list[Path]]:
    _refuse_columns(path, columns)
    bags = [file for file in sorted(path.iterdir()) if file.suffix in (".mcap", ".db3") or ".zst" in file.suffixes]
    if (path / "metadata.yaml").exists():
        return read_bag(path, "folder", topics, truth), bags
    if len(bags) == 1:
        return _read(bags[0], topics, None, truth)
    if bags:
        raise LogError(f"{path}: there are {len(bags)} bag files, but no metadata.yaml; try `ros2 bag reindex`, or read one file")
    own = own_files(path)
    if own:
        _refuse_topics(path, topics)
        return read_csv_folder(path), own
    raise LogError(f"{path}: neither a ROS 2 bag (metadata.yaml) nor CSV files as slipfit writes them; name the file itself")


def _refuse_columns(path: Path, columns: ColumnMap | None) -> None:
    if columns is not None:
        raise LogError(
            f"{path}: a column map (--columns) is for CSV files, this is none; leave it out, or choose topics (--topic)"
        )


def _refuse_topics(path: Path, topics: Mapping[str, str]) -> None:
    if topics:
        raise LogError(f"{path}: topics (--topic) are for bags, this is a CSV file; give a column map (--columns) instead")


def takes_columns(path: Path | str) -> bool:
    """Whether a file is CSV of somebody else's, so that a column map has to say what it means."""
    path = Path(path)
    try:
        return path.is_file() and not kind_of(path) and not is_own(path)
    except (OSError, ValueError):  # `read_log` says what is wrong with it
        return False


def _digest(files: list[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
