"""Bags on disk, written with rosbags."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer

from ordinary_bags.cases import Case
from ordinary_bags.messages import STORE, Stream
from ordinary_bags.streams import streams

_NEVER = QosTime(2147483647, 4294967295)


def write(case: Case, folder: Path) -> Path:
    """Write a case's bag below a folder: the path of its .mcap file, or of the bag's folder, as the case wants it stored."""
    return write_streams(streams(case), Path(folder), case.name, case.storage)


def write_streams(published: Sequence[Stream], folder: Path, name: str, storage: str = "mcap") -> Path:
    """Write messages in the order of their log times."""
    bag = folder / name
    plugin = StoragePlugin.SQLITE3 if storage == "sqlite3_folder" else StoragePlugin.MCAP
    with Writer(bag, version=9, storage_plugin=plugin) as writer:
        connections = {}
        for stream in published:
            if stream.topic not in connections:
                qos = [_qos(is_latched=stream.topic == "/tf_static")]
                connections[stream.topic] = writer.add_connection(
                    stream.topic, stream.msgtype, typestore=STORE, offered_qos_profiles=qos
                )
        log_ns = np.concatenate([stream.log_ns for stream in published])
        data = [row for stream in published for row in stream.data]
        owner = [connections[stream.topic] for stream in published for _ in stream.data]
        for k in np.argsort(log_ns, kind="stable").tolist():
            writer.write(owner[k], int(log_ns[k]), data[k])
    return bag / f"{name}.mcap" if storage == "mcap" else bag


def _qos(*, is_latched: bool) -> Qos:
    durability = QosDurability.TRANSIENT_LOCAL if is_latched else QosDurability.VOLATILE
    return Qos(
        QosHistory.KEEP_LAST, 1 if is_latched else 10, QosReliability.RELIABLE, durability, _NEVER, _NEVER,
        QosLiveliness.AUTOMATIC, _NEVER, False,
    )  # fmt: skip
