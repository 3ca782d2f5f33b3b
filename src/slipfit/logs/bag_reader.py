"""Bags of ROS 1 and ROS 2 through rosbags, without ROS: what is in them, and a drive log from it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.errors import LogError, SlipfitError
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.layout import group
from slipfit.logs.messages import Messages, channel_of
from slipfit.logs.topics import EXACT_PREFIX, Choice, Topic, choose

ROS1_MAGIC = b"#ROSBAG V"
MCAP_MAGIC = b"\x89MCAP0\r\n"
SQLITE_MAGIC = b"SQLite format 3\x00"

_REMEDY = {
    "bag": "record it again, or try `rosbag reindex` or `rosbag fix` on it",
    "mcap": "record it again, or try `mcap recover` on it",
    "db3": "record it again, or try `sqlite3 FILE .recover` on it",
    "folder": "record it again, or try `ros2 bag reindex` on it",
}


@contextmanager
def _damage_told(path: Path, kind: str, doing: Callable[[], str]) -> Iterator[None]:
    """A sentence for whatever a parser stumbles over: rosbags meets bytes that cannot be with assertions, struct, Unicode
    and key errors, and more."""
    try:
        yield
    except SlipfitError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise LogError(
            f"{path}: {doing()} failed ({said or type(error).__name__}); the file is damaged: {_REMEDY[kind]}"
        ) from None


class Bag:
    """An open bag: its topics, and the messages of some of them."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self._reader = _reader(path, kind)
        self._reader.open()
        self._connections: dict[str, list[Any]] = {}
        for connection in self._reader.connections:
            self._connections.setdefault(connection.topic, []).append(connection)

    def topics(self) -> list[Topic]:
        """Topics by name. One whose publishers disagree on the type counts as the type with most messages."""
        found = []
        for name, connections in sorted(self._connections.items()):
            main = max(connections, key=lambda c: c.msgcount)
            count = sum(c.msgcount for c in connections if c.msgtype == main.msgtype)
            found.append(Topic(name, main.msgtype, count))
        return found

    def read(self, topics: Mapping[str, str]) -> dict[str, Messages]:
        """All messages of the topics, given with their types."""
        wanted = [c for name, type_name in topics.items() for c in self._connections[name] if c.msgtype == type_name]
        definitions = self._definitions(wanted)
        received: dict[str, list[int]] = {name: [] for name in topics}
        raws: dict[str, list[bytes]] = {name: [] for name in topics}
        topic = "any topic"
        with _damage_told(self.path, self.kind, lambda: f"reading on after a message of {topic}"):
            for connection, received_ns, raw in self._reader.messages(wanted):
                topic = connection.topic
                received[topic].append(received_ns)
                raws[topic].append(raw)
        messages = {}
        for topic, type_name in topics.items():
            if raws[topic]:
                with self._told(f"decoding topic {topic} ({type_name})"):
                    groups = group(raws[topic], type_name, definitions, is_ros1=self.kind == "bag")
                    messages[topic] = Messages(np.array(received[topic], dtype=np.int64), groups)
        return messages

    def _definitions(self, connections: Collection[Any]) -> dict[str, Any]:
        """Fields of the types that are wanted, as the bag defines them. Others are not looked at: bags hold types that no
        parser knows. Old ROS 2 bags have no definitions; then the standard ones are meant."""
        from rosbags.interfaces import MessageDefinitionFormat
        from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

        fields: dict[str, Any] = dict(get_typestore(Stores.EMPTY).fielddefs)  # time and duration, which ROS 1 does not define
        for connection in {c.msgtype: c for c in connections}.values():
            kind, text = connection.msgdef.format, connection.msgdef.data
            with self._told(f"reading the definition of {connection.msgtype}"):
                if kind == MessageDefinitionFormat.MSG:
                    found = get_types_from_msg(text, connection.msgtype)
                elif kind == MessageDefinitionFormat.IDL:
                    parts = text.split("=" * 80 + "\n")
                    found = {}
                    for part in parts[1:] if len(parts) > 1 else parts:
                        found.update(get_types_from_idl(part.split("\n", 1)[1] if part.startswith("IDL: ") else part))
                else:
                    found = dict(get_typestore(Stores.LATEST).fielddefs)
                    if connection.msgtype not in found:
                        raise LogError(
                            f"{self.path}: topic {connection.topic} has messages of type {connection.msgtype}, which the bag "
                            f"does not define; record it with ROS 2 Iron or newer, or leave the topic out"
                        )
                fields = {**found, **fields}
        return fields

    def _told(self, doing: str) -> AbstractContextManager[None]:
        return _damage_told(self.path, self.kind, lambda: doing)

    def close(self) -> None:
        self._reader.close()


def _reader(path: Path, kind: str) -> Any:
    """The parser for a kind of bag; chosen by content, so that a wrong ending does not matter."""
    if kind == "bag":
        from rosbags.rosbag1 import Reader as Reader1

        return Reader1(path)
    from rosbags.rosbag2 import Reader as Reader2

    return Reader2.STORAGE_PLUGINS["dir" if kind == "folder" else f".{kind}"](path)


def kind_of(path: Path) -> str:
    """bag, mcap or db3 by the first bytes; empty for anything else."""
    with path.open("rb") as file:
        begin = file.read(16)
    magic = {ROS1_MAGIC: "bag", MCAP_MAGIC: "mcap", SQLITE_MAGIC: "db3"}
    return next((kind for bytes_, kind in magic.items() if begin.startswith(bytes_)), "")


def read_bag(path: Path, kind: str, named: Mapping[str, str]) -> DriveLog:
    """A drive log from a bag; `named` topics are taken as they are, others are found."""
    bag = None
    try:
        with _damage_told(path, kind, lambda: "opening"):
            for file in [path] if kind == "db3" else path.glob("*.db3") if kind == "folder" else ():
                _check_length(file)
            bag = Bag(path, kind)
        with _damage_told(path, kind, lambda: "reading"):
            return _read(bag, named)
    finally:
        if bag is not None:
            bag.close()


def _check_length(path: Path) -> None:
    """SQLite takes what is missing in its last page for zeros; its header tells the number of pages (bytes 28 to 31) and
    their size (bytes 16 and 17, 1 for 65536). https://www.sqlite.org/fileformat.html"""
    with path.open("rb") as file:
        begin = file.read(100)
    page = int.from_bytes(begin[16:18], "big")
    expected = (65536 if page == 1 else page) * int.from_bytes(begin[28:32], "big")
    if path.stat().st_size < expected:
        raise LogError(f"{path}: has {path.stat().st_size} bytes of {expected}; the file was cut off: {_REMEDY['db3']}")


def _read(bag: Bag, named: Mapping[str, str]) -> DriveLog:
    topics = bag.topics()
    choices, notes = choose(bag.path, topics, named)
    _require(bag.path, topics, choices)
    messages = bag.read({choice.topic: choice.type for choice in choices})
    notes += _missing(topics, messages)
    log: dict[str, Channel] = {}
    sources: dict[str, str] = {}
    for choice in choices:
        made = _channel(bag, choice, messages)
        if isinstance(made, str):
            if choice.channel in named or choice.fields:
                raise LogError(f"{bag.path}: topic {choice.topic} does not give {choice.channel}: {made}")
            notes.append(f"left out: {choice.topic} ({choice.type}), {made}")
        elif choice.channel in log and len(made[0].columns) <= len(log[choice.channel].columns):
            notes.append(f"left out: {choice.topic} ({choice.type}), {choice.channel} comes from {sources[choice.channel]}")
        else:
            log[choice.channel], about = made
            sources[choice.channel] = choice.topic
            notes += [f"{choice.channel}: {choice.topic} ({choice.type})", *about]
    notes += _pose_from_odometry(log, sources)
    if not log:
        raise LogError(f"{bag.path}: nothing in it can be used: {'; '.join(notes)[:600]}")
    order = [*(name for name in names.ABOUT if name in log), *(name for name in log if name not in names.ABOUT)]
    return DriveLog({name: log[name] for name in order}, notes=tuple(dict.fromkeys(notes)))


def _missing(topics: list[Topic], messages: Mapping[str, Messages]) -> list[str]:
    """Topics of which the index promises another number of messages than could be read."""
    counts = {topic.name: topic.count for topic in topics}
    read = {name: len(those.received_ns) for name, those in messages.items()}
    return [f"{name}: the index has {counts[name]} messages, the bag {n}" for name, n in read.items() if n != counts[name]]


def _channel(bag: Bag, choice: Choice, messages: Mapping[str, Messages]) -> tuple[Channel, list[str]] | str:
    if choice.topic not in messages:
        return "it has no messages"
    with _damage_told(bag.path, bag.kind, lambda: f"reading topic {choice.topic} ({choice.type})"):
        try:
            return channel_of(choice, messages[choice.topic])
        except LogError as error:
            raise LogError(f"{bag.path}: {error}") from None


def _pose_from_odometry(log: dict[str, Channel], sources: Mapping[str, str]) -> list[str]:
    """Where nothing else tells a pose, the robot's own odometry must do, and this is said."""
    if names.POSE in log or names.ODOMETRY not in log or sources[names.ODOMETRY].startswith(EXACT_PREFIX):
        return []  # a bag of ours says what it has
    own = log[names.ODOMETRY]
    if not set(names.POSE_COLUMNS) <= set(own.columns):
        return []
    columns = [own.columns.index(name) for name in names.POSE_COLUMNS]
    log[names.POSE] = Channel(names.POSE, own.stamps_ns, own.values[:, columns], names.POSE_COLUMNS)
    return [f"pose: nothing but {sources[names.ODOMETRY]} tells one; it serves as pose and as odometry"]


def _require(path: Path, topics: list[Topic], choices: list[Choice]) -> None:
    if choices:
        return
    if not topics:
        raise LogError(f"{path}: the bag has no topics; record the drive again")
    if not any(topic.count for topic in topics):
        raise LogError(f"{path}: the bag has no messages on its {len(topics)} topics; record the drive again")
    found = ", ".join(f"{topic.name} ({topic.type})" for topic in topics[:8])
    raise LogError(
        f"{path}: none of its {len(topics)} topics is of a type that is known here: {found[:500]}; "
        f"name one with its fields, as {{'encoders.left_angle_rad': '/topic:field'}}"
    )
