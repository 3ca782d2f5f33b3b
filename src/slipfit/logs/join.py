"""Files of one drive made one log: an IMU's file beside that of the wheels. Nothing is resampled, clocks stay as they are."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog


def join_logs(*logs: DriveLog) -> DriveLog:
    """One log of the files that were recorded during the same drive.

    Their stamps must be of one clock: what all of them saw has to overlap. A channel comes from one file; of two that tell
    different columns of it (accelerometer and gyro) at equal stamps, the columns are put side by side. The digest is the
    sha256 of the files' digests, in their order. Which pose serves as truth is decided anew: wheels and pose may
    have come from different files.
    """
    if not logs:
        raise LogError("join_logs: no log given; expected the files of one drive")
    if len(logs) == 1:
        return logs[0]
    logs = tuple(_with_all_poses(log) for log in logs)
    _require_overlap(logs)
    channels: dict[str, Channel] = {}
    homes: dict[str, str] = {}
    for log in logs:
        for name, channel in log.channels.items():
            channels[name] = _beside(channels[name], channel, homes[name], log.source) if name in channels else channel
            homes[name] = f"{homes[name]} and {log.source}" if name in homes else log.source
    order = [name for name in names.ABOUT if name in channels]
    order += [name for name in channels if name not in order]
    return DriveLog(
        {name: channels[name] for name in order},
        about="; ".join(dict.fromkeys(log.about for log in logs if log.about)),
        source=" + ".join(log.source for log in logs),
        digest=hashlib.sha256("".join(log.digest for log in logs).encode()).hexdigest(),
        notes=tuple(f"{log.source}: {note}" for log in logs for note in log.notes),
        poses=tuple(pose for log in logs for pose in log.poses),
        mounts_m={name: at for log in logs for name, at in log.mounts_m.items()},
    )


def _with_all_poses(log: DriveLog) -> DriveLog:
    """The log as it was before a truth was chosen in it."""
    if log.truth is None:
        return log
    channels = {name: channel for name, channel in log.channels.items() if name != names.POSE}
    own = {pose.channel.name: pose.channel for pose in log.poses if pose.name in (names.POSE, names.ODOMETRY)}
    return replace(log, channels={**channels, **own}, truth=None)


def _require_overlap(logs: Sequence[DriveLog]) -> None:
    spans = [
        (min(int(c.stamps_ns.min()) for c in log.channels.values()), max(int(c.stamps_ns.max()) for c in log.channels.values()))
        for log in logs
    ]
    late, early = max(range(len(logs)), key=lambda k: spans[k][0]), min(range(len(logs)), key=lambda k: spans[k][1])
    if spans[late][0] < spans[early][1]:
        return
    said = " and ".join(
        f"{logs[k].source} is stamped {spans[k][0] / NANOSECONDS:.3f} to {spans[k][1] / NANOSECONDS:.3f} s" for k in (early, late)
    )
    raise LogError(
        f"{said}: they have no moment in common; expected files of one drive, stamped by one clock; "
        f"check the unit of their times, or write both with the same zero"
    )


def _beside(first: Channel, second: Channel, home: str, other: str) -> Channel:
    """One channel of two with different columns at the same stamps."""
    twice = [column for column in second.columns if column in first.columns]
    if twice:
        raise LogError(
            f"{home} and {other}: both have {first.name}.{twice[0]}; expected it in one of them; leave it out of one column map, "
            f"or calibrate them as two drives"
        )
    if not np.array_equal(first.stamps_ns, second.stamps_ns):
        raise LogError(
            f"{home} and {other}: both have a part of {first.name} ({', '.join(first.columns)}; {', '.join(second.columns)}), "
            f"but not at the same stamps; expected equal stamps: write them into one file with one time column"
        )
    columns = (*first.columns, *second.columns)
    values = np.column_stack([first.values, second.values])
    standard = [c for c in {names.IMU: names.IMU_COLUMNS}.get(first.name, ()) if c in columns]
    ordered = (*standard, *(c for c in columns if c not in standard))
    return Channel(first.name, first.stamps_ns, values[:, [columns.index(c) for c in ordered]], ordered)


def one_after_another(*logs: DriveLog, pause_s: float = 0.0) -> DriveLog:
    """One log of several drives, each beginning `pause_s` after the one before ended. What not all of them have is left out; the
    pose starts anew with each."""
    if not logs:
        raise LogError("one_after_another: no log given; expected drives")
    shared = [name for name in logs[0].channels if all(name in log for log in logs) and name != names.SEGMENTS]
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in shared}
    columns = {name: tuple(c for c in logs[0][name].columns if all(c in log[name].columns for log in logs)) for name in shared}
    shift, pieces, count = 0, [], 0
    for log in logs:
        first = min(int(c.stamps_ns.min()) for c in log.channels.values())
        offset = shift - first
        for name in shared:
            values = np.column_stack([log[name].column(c) for c in columns[name]])
            parts[name].append((log[name].stamps_ns + offset, values))
        stamps = log[names.SEGMENTS].stamps_ns if names.SEGMENTS in log else np.array([first])
        numbers = log.segment_at(stamps) + count
        pieces.append((stamps + offset, numbers[:, None].astype(float)))
        count = int(numbers.max()) + 1
        shift = max(int(c.stamps_ns.max()) for c in log.channels.values()) + offset + max(1, round(pause_s * NANOSECONDS))
    parts[names.SEGMENTS] = pieces
    columns[names.SEGMENTS] = names.SEGMENT_COLUMNS
    channels = {}
    for name, found in parts.items():
        stamps, values = np.concatenate([s for s, _ in found]), np.concatenate([v for _, v in found])
        channels[name] = Channel(name, stamps, values, columns[name])
    digest = hashlib.sha256("".join(log.digest for log in logs).encode()).hexdigest()
    return DriveLog(channels, about="drives one after another", source=", then ".join(log.source for log in logs), digest=digest)
