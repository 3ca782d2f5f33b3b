"""Bags of ROS 1 and ROS 2 through rosbags, without ROS: what is in them, and a drive log from it."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from slipfit.errors import LogError, SlipfitError
from slipfit.logs import channels as names
from slipfit.logs.bag_poses import body_imu, body_pose, frames_of, require_connected, robots_of, tree_pose, tree_poses
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.layout import group
from slipfit.logs.messages import Messages, channel_of
from slipfit.logs.provenance.source import PoseSource
from slipfit.logs.topics import EXACT_PREFIX, JOINT_STATE, TRANSFORMS, Choice, Topic, TopicUse, choose
from slipfit.logs.transforms import TransformTree

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
        said = re.sub(r"\b\w+Error\((.*)\)", r"\1", " ".join(str(error).split()))[:200].rstrip(".")
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


def read_bag(path: Path, kind: str, named: Mapping[str, str], truth: str | None = None) -> DriveLog:
    """A drive log from a bag; `named` topics are taken as they are, others are found. All pose-like topics are in its `poses`;
    which of them is the truth is not decided here. A `truth` that is named excuses transforms that are broken."""
    bag = None
    try:
        with _damage_told(path, kind, lambda: "opening"):
            for file in [path] if kind == "db3" else path.glob("*.db3") if kind == "folder" else ():
                _check_length(file)
            bag = Bag(path, kind)
        with _damage_told(path, kind, lambda: "reading"):
            return _read(bag, named, truth)
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


def _read(bag: Bag, named: Mapping[str, str], truth: str | None) -> DriveLog:
    topics = _of_one_robot(bag.topics(), named)
    choices, notes = choose(bag.path, topics, named)
    trees = {topic.name: topic.type for topic in topics if topic.type in TRANSFORMS and topic.count}
    _require(bag.path, topics, choices, trees)
    messages = bag.read({**{choice.topic: choice.type for choice in choices}, **trees})
    notes += _missing(topics, messages)
    _require_one_robot(bag, choices, messages, named)
    frames = _Frames.of(bag, {name: messages[name] for name in trees if name in messages}, named, truth)
    log: dict[str, Channel] = {}
    sources: dict[str, str] = {}
    poses: list[PoseSource] = []
    mounts: dict[str, tuple[float, float, float]] = {}
    for choice in choices:
        if choice.type in TRANSFORMS:
            source = tree_pose(frames.known(choice.topic), choice.frame or frames.body or "base_link", choice.channel)
            poses += [source] if choice.channel == names.POSE else []
            log |= {} if choice.channel == names.POSE else {choice.channel: source.channel}
            notes.append(f"{choice.channel}: transform {source.frame}->{source.child_frame} of {choice.topic}")
            continue
        made = _channel(bag, choice, messages)
        if isinstance(made, str):
            if choice.channel in named or choice.fields:
                raise LogError(f"{bag.path}: topic {choice.topic} does not give {choice.channel}: {made}")
            notes.append(f"left out: {choice.topic} ({choice.type}), {made}")
            continue
        channel, about = made
        if choice.channel == names.POSE and not choice.fields:
            found = PoseSource(choice.topic, channel, choice.type, *frames_of(choice, messages[choice.topic]))
            found, moved = body_pose(found, frames.tree, frames.body)
            poses.append(found)
            notes += [*about, *moved]
            continue
        if choice.channel in log and len(channel.columns) <= len(log[choice.channel].columns):
            notes.append(f"left out: {choice.topic} ({choice.type}), {choice.channel} comes from {sources[choice.channel]}")
            continue
        if choice.channel == names.IMU and not choice.fields:
            frame, _ = frames_of(choice, messages[choice.topic])
            channel, mount, moved = body_imu(channel, frame, frames.tree, frames.body)
            mounts |= {names.IMU: mount} if mount else {}
            about = [*about, *moved]
        log[choice.channel] = channel
        sources[choice.channel] = choice.topic
        notes += [f"{choice.channel}: {choice.topic} ({choice.type})", *about]
    if frames.tree is not None and names.POSE not in named and not any(p.name.startswith(EXACT_PREFIX) for p in poses):
        in_tree, said = tree_poses(frames.tree, frames.body, poses) if not frames.is_broken else ([], [])
        poses += in_tree
        notes += [*frames.tree.notes, *said]
    if not log and not poses:
        raise LogError(f"{bag.path}: nothing in it can be used: {'; '.join(notes)[:600]}")
    order = [*(name for name in names.ABOUT if name in log), *(name for name in log if name not in names.ABOUT)]
    kept = {name: log[name] for name in order}
    uses = _uses(topics, messages, sources, poses)
    return DriveLog(kept, notes=tuple(dict.fromkeys(notes)), poses=tuple(poses), topics=uses, mounts_m=mounts)


def _uses(
    topics: list[Topic], messages: Mapping[str, Messages], sources: Mapping[str, str], poses: list[PoseSource]
) -> tuple[TopicUse, ...]:
    """All topics with their rates over the recording, and what became of them."""
    stamps = [those.received_ns for those in messages.values() if len(those.received_ns)]
    span_s = (max(s.max() for s in stamps) - min(s.min() for s in stamps)) / 1e9 if stamps else 0.0
    found = []
    for topic in topics:
        uses = [channel for channel, name in sources.items() if name == topic.name]
        uses += ["pose source"] if any(pose.name == topic.name for pose in poses) else []
        uses += ["transforms"] if topic.type in TRANSFORMS and topic.name in messages else []
        own = messages[topic.name].received_ns if topic.name in messages else None
        lasted_s = span_s if own is None else (own.max() - own.min()) / 1e9
        rate = (topic.count - 1) / lasted_s if lasted_s > 0.0 and topic.count > 1 else float("nan")
        found.append(TopicUse(topic.name, topic.type, topic.count, rate, ", ".join(uses) or "not used"))
    return tuple(found)


class _Frames(NamedTuple):
    """The transform tree of a bag, the robot's body in it, and whether no pose can be read from it."""

    tree: TransformTree | None
    body: str | None
    is_broken: bool = False

    @classmethod
    def of(cls, bag: Bag, messages: Mapping[str, Messages], named: Mapping[str, str], truth: str | None) -> "_Frames":
        if not messages:
            return cls(None, None)
        tree = TransformTree.from_messages(messages, bag.path)
        is_excused = names.POSE in named or (truth is not None and not truth.lstrip("/").startswith("tf#"))
        space = named.get(names.ENCODERS, "").strip("/").rpartition("/")[0]
        own = [frame for frame in tree.bodies if space and frame.startswith(space)]
        try:
            body = own[0] if own else tree.body()
            require_connected(tree, body)
        except LogError:
            if not is_excused:
                raise
            return cls(tree, None, is_broken=True)
        return cls(tree, body)

    def known(self, topic: str) -> TransformTree:
        assert self.tree is not None, topic  # a topic of transforms was chosen because it has messages
        return self.tree


def _of_one_robot(topics: list[Topic], named: Mapping[str, str]) -> list[Topic]:
    """Without the topics of other robots, where encoders are named and others have joint states of the same name."""
    chosen = "/" + named.get(names.ENCODERS, "").strip("/")
    spaces = robots_of([topic.name for topic in topics if topic.type == JOINT_STATE and topic.count])
    others = [space for space in spaces if space and not chosen.startswith(f"{space}/")] if names.ENCODERS in named else []
    return [topic for topic in topics if not any(topic.name.startswith(f"{space}/") for space in others)]


def _require_one_robot(bag: Bag, choices: Sequence[Choice], messages: Mapping[str, Messages], named: Mapping[str, str]) -> None:
    """Wheels under the same name in several namespaces are those of several robots; joints of an arm are not."""
    if names.ENCODERS in named:
        return
    joints = [choice for choice in choices if choice.channel == names.ENCODERS and choice.type == JOINT_STATE]
    wheels = [choice.topic for choice in joints if len(joints) > 1 and not isinstance(_channel(bag, choice, messages), str)]
    robots = robots_of(wheels)
    if robots:
        raise LogError(
            f"{bag.path}: the wheels of {len(robots)} robots, {' and '.join(space or '/' for space in robots[:4])}; expected one "
            f"robot; specify its wheels, as --topic encoders={sorted(wheels)[0]}"
        )


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


def _require(path: Path, topics: list[Topic], choices: list[Choice], trees: Mapping[str, str]) -> None:
    if choices or trees:
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
