"""How every command that reads logs is told its topics and columns, and which files are of one drive."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.logs import DriveLog

TopicOption = Annotated[
    list[str] | None, typer.Option("--topic", help="Topic of a channel, as pose=/vicon/robot; may be repeated.")
]
ColumnsOption = Annotated[
    list[Path] | None,
    typer.Option("--columns", help="Column map of CSV logs: one for all, or one for each file in their order."),
]
TruthOption = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="TOPIC|none",
        help="Pose that serves as ground truth (a topic, /tf#map:base_link, or pose or odometry of a CSV file), or none. "
        "Default: a pose that is independent of the wheels, if there is one.",
    ),
]
SameDriveFlag = Annotated[
    bool,
    typer.Option("--same-drive", help="The files are parts of one drive (IMU in one, wheels in another), not several drives."),
]
RobotOption = Annotated[str, typer.Option("--robot", help="Robot of the library (slipfit robots), or a robot file.")]
CountsOption = Annotated[float | None, typer.Option("--counts-per-turn", help="Of encoders that tell ticks.")]


#: Up to so many logs, the truth of each is stated by itself.
FEW_LOGS = 3


def named_topics(topics: list[str] | None) -> dict[str, str]:
    """--topic pose=/vicon/robot, as `read_log` takes them."""
    named = {}
    for entry in topics or []:
        channel, equals, topic = entry.partition("=")
        if not (channel and equals and topic):
            raise ParameterError(f"--topic {entry}: expected channel=topic, as pose=/vicon/robot")
        named[channel] = topic
    return named


def read_drives(
    paths: Sequence[Path],
    *,
    topics: Mapping[str, str],
    columns: Sequence[Path] | None = None,
    same_drive: bool = False,
    truth: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list["DriveLog"]:
    """Every file as a log, or all of them as one; each CSV file by its own column map, or by the only one."""
    from slipfit.logs import join_logs, read_log
    from slipfit.logs.provenance import with_truth

    maps = _maps(paths, columns or ())
    logs = []
    for path, column_map in zip(paths, maps, strict=True):
        progress(f"reading {path.name}")
        # Beside a CSV file, topics are meant for the bag.
        named = {} if same_drive and column_map is not None else topics
        logs.append(read_log(path, topics=named, columns=column_map, truth=None if same_drive else truth))
    return [with_truth(join_logs(*logs), truth)] if same_drive else logs


def truth_lines(logs: Sequence["DriveLog"]) -> list[str]:
    """Which pose of each log served as truth, and why, as lines to print; counted where there are many logs."""
    if len(logs) <= FEW_LOGS:
        return [f"  truth: {log.truth_line(named=len(logs) > 1)}" for log in logs]
    chosen = [log.truth.chosen if log.truth is not None else None for log in logs]
    kinds = Counter(f"{pose.name}, {pose.origin.value}" if pose is not None else "no pose" for pose in chosen)
    return [f"  truth: {kind}, in {count} of {len(logs)} logs" for kind, count in kinds.most_common()]


def truth_documents(logs: Sequence["DriveLog"]) -> dict[str, Any]:
    """The same for --json, by log."""
    return {"truth": {log.source or log.about or f"log {k}": log.truth_document() for k, log in enumerate(logs)}}


def check_one_drive(paths: Sequence[Path], *, same_drive: bool) -> None:
    """Stop before any work when there are several drives."""
    if len(paths) > 1 and not same_drive:
        raise ParameterError(f"{len(paths)} logs; expected one drive, or its parts with --same-drive")


def _maps(paths: Sequence[Path], columns: Sequence[Path]) -> list[Path | None]:
    from slipfit.logs.read import takes_columns

    if len(columns) <= 1 and len(paths) == 1:
        return [*columns] or [None]
    wanting = [takes_columns(path) for path in paths]
    if len(columns) > 1 and len(columns) != sum(wanting):
        raise ParameterError(
            f"--columns is given {len(columns)} times for {sum(wanting)} CSV files; expected once for all, or once for each "
            f"in the order of the files"
        )
    if len(columns) == 1 and not any(wanting):
        return [columns[0]] * len(paths)  # `read_log` says why it cannot be used
    left = iter(columns if len(columns) > 1 else [*columns] * sum(wanting))
    return [next(left, None) if wants else None for wants in wanting]
