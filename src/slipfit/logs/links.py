"""Links of the transform tree: all messages that give one child frame in its parent frame, checked and sorted by time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.rigid import Rigid, interpolate_rotation

if TYPE_CHECKING:
    from slipfit.logs.layout import Group
    from slipfit.logs.messages import Messages

#: Smaller differences are rounding of a publisher that computes the same transform again, in meters and radians.
SAME = 1e-6

#: A quaternion that is shorter has no direction. Others are normalized.
_SHORTEST_QUATERNION = 1e-6

#: Larger numbers are neither meters nor parts of a quaternion; squares of the largest would overflow.
_LARGEST = 1e12

#: tf2 ignores transforms with NaN and goes on. So do we up to this share of a link's messages: drivers send some as they start.
_FEW_BAD = 0.01

#: A clock was set back where so many messages in a row are stamped this much before an earlier one. Less is a late message.
_BACKWARDS_NS, _BACKWARDS_RUN = NANOSECONDS, 5

#: A link is silent where two messages are this far apart: half a second at least, five usual periods for slow publishers.
_GAP_NS, _GAP_PERIODS = NANOSECONDS // 2, 5

#: Before its first and after its last message a link holds its value this long: stamps of one moment differ by rounding.
_HOLD_NS = 5_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """The transform from a parent frame to its child over time.

    Stamps (N,) ascend strictly; of messages with equal stamps the value of the last counts and the receipt of the first.
    `is_latched` links came on a static topic only: a value holds until the next. `is_static` links never change, on whatever
    topic they were published.
    """

    parent: str
    child: str
    stamps_ns: np.ndarray
    received_ns: np.ndarray
    translation: np.ndarray
    quaternion: np.ndarray
    is_static: bool
    is_latched: bool
    topics: tuple[str, ...]

    @property
    def name(self) -> str:
        """parent->child."""
        return f"{self.parent}->{self.child}"

    @property
    def usual_period_s(self) -> float:
        """Median time between messages; NaN for a single one."""
        return float(np.median(np.diff(self.stamps_ns))) / NANOSECONDS if len(self.stamps_ns) > 1 else float("nan")

    @property
    def is_changed(self) -> np.ndarray:
        """Whether each message has another value than the one before, shape (N,); False for the first."""
        moved = np.abs(np.diff(self.translation, axis=0)).max(axis=1, initial=0.0)
        turned = _angle(self.quaternion[:-1], self.quaternion[1:])
        return np.concatenate([[False], (moved > SAME) | (turned > SAME)])

    @property
    def changes_per_second(self) -> float:
        """How often the value changes, on average."""
        span_s = (int(self.stamps_ns[-1]) - int(self.stamps_ns[0])) / NANOSECONDS
        return float(self.is_changed.sum()) / span_s if span_s else 0.0

    def constant(self) -> Rigid:
        """The last value; the only one of a static link."""
        return Rigid(self.translation[-1], self.quaternion[-1])

    def sample(self, at_ns: np.ndarray) -> "Samples":
        """Values at any stamps: linear interpolation of the translation, spherical of the rotation."""
        count, first, last = len(at_ns), self.stamps_ns[0], self.stamps_ns[-1]
        never = np.zeros(count, dtype=bool)
        if self.is_static:
            only = self.constant()
            return Samples(np.tile(only.translation, (count, 1)), np.tile(only.quaternion, (count, 1)), never, never)
        if np.array_equal(at_ns, self.stamps_ns):
            return Samples(self.translation, self.quaternion, never, never)
        low = np.clip(np.searchsorted(self.stamps_ns, at_ns, side="right") - 1, 0, len(self.stamps_ns) - 1)
        if self.is_latched:
            return Samples(self.translation[low], self.quaternion[low], never, never)
        low = np.minimum(low, len(self.stamps_ns) - 2)
        since = np.clip(at_ns, first, last) - self.stamps_ns[low]
        apart = self.stamps_ns[low + 1] - self.stamps_ns[low]
        fraction = since / apart
        longest = max(_GAP_NS, _GAP_PERIODS * self.usual_period_s * NANOSECONDS)
        return Samples(
            self.translation[low] + fraction[:, None] * (self.translation[low + 1] - self.translation[low]),
            interpolate_rotation(self.quaternion[low], self.quaternion[low + 1], fraction),
            (at_ns < first - _HOLD_NS) | (at_ns > last + _HOLD_NS),
            (apart > longest) & (since > 0) & (since < apart),
        )


class Samples(NamedTuple):
    """A link at given stamps; rows outside its time or in a gap of its messages hold no usable value."""

    translation: np.ndarray
    quaternion: np.ndarray
    is_outside: np.ndarray
    is_in_gap: np.ndarray


class Links(NamedTuple):
    """Links by parent and child, sentences about those that cannot be used, and notes on what was ignored."""

    links: dict[tuple[str, str], Link]
    unusable: dict[tuple[str, str], str]
    notes: tuple[str, ...]


class _Part(NamedTuple):
    topic: str
    stamps_ns: np.ndarray
    received_ns: np.ndarray
    values: np.ndarray  # x, y, z, qx, qy, qz, qw


def read_links(topics: "Mapping[str, Messages]", path: object) -> Links:
    """All links of the messages of TF topics, given by topic. A topic whose name ends in tf_static is latched."""
    parts: dict[tuple[str, str], list[_Part]] = {}
    notes: list[str] = []
    for topic, messages in topics.items():
        for group, stem, (parent, child) in _transforms(messages):
            if not parent or not child or parent == child:
                notes.append(f"{topic}: transform {parent!r}->{child!r} ignored; expected two different frames")
                continue
            parts.setdefault((parent, child), []).append(_part(topic, messages, group, stem))
    links: dict[tuple[str, str], Link] = {}
    unusable: dict[tuple[str, str], str] = {}
    for frames, found in parts.items():
        link = _link(frames, found, notes, path)
        if isinstance(link, Link):
            links[frames] = link
        else:
            unusable[frames] = link
    return Links(links, unusable, tuple(dict.fromkeys(notes)))


def _transforms(messages: "Messages") -> "Iterator[tuple[Group, str, tuple[str, str]]]":
    """Every transform of every layout: group, path, frames."""
    for group in messages.groups:
        for path in group.layout.texts:
            if path.endswith(".child_frame_id"):
                stem = path.removesuffix(".child_frame_id")
                parent, child = (str(group.layout.texts[f"{stem}.{key}"]) for key in ("header.frame_id", "child_frame_id"))
                yield group, stem, (frame_name(parent), frame_name(child))


def frame_name(frame: str) -> str:
    """A frame's name as ROS 2 writes it: ROS 1 also allowed a slash in front."""
    return frame.strip().strip("/")


def _part(topic: str, messages: "Messages", group: "Group", stem: str) -> _Part:
    seconds, rest = (group.block(f"{stem}.header.stamp.{key}")[:, 0].astype(np.int64) for key in ("sec", "nanosec"))
    names = [f"translation.{axis}" for axis in "xyz"] + [f"rotation.{part}" for part in "xyzw"]
    values = np.column_stack([group.block(f"{stem}.transform.{name}")[:, 0] for name in names]).astype(float)
    return _Part(topic, seconds * NANOSECONDS + rest, messages.received_ns[group.rows], values)


def _link(frames: tuple[str, str], parts: list[_Part], notes: list[str], path: object) -> Link | str:
    """A link of its parts; a sentence where its messages cannot be used."""
    name = "->".join(frames)
    received = np.concatenate([part.received_ns for part in parts])
    arrival = np.argsort(received, kind="stable")
    received = received[arrival]
    stamps = np.concatenate([part.stamps_ns for part in parts])[arrival]
    values = np.concatenate([part.values for part in parts])[arrival]
    good = (np.abs(values) < _LARGEST).all(axis=1)  # NaN is not
    good[good] = np.linalg.norm(values[good, 3:], axis=1) > _SHORTEST_QUATERNION
    bad = int((~good).sum())
    if bad > _FEW_BAD * len(good):
        return (
            f"{path}: transform {name} has a non-finite value or a quaternion of length zero in {bad} of {len(good)} messages; "
            f"expected finite numbers and unit quaternions; fix its publisher and record again, or leave this transform out"
        )
    if bad:
        notes.append(f"transform {name}: {bad} of {len(good)} messages ignored (non-finite or zero-length quaternion)")
        received, stamps, values = received[good], stamps[good], values[good]
    translation = values[:, :3]
    quaternion = values[:, 3:] / np.linalg.norm(values[:, 3:], axis=1)[:, None]
    is_static = _never_changes(translation, quaternion)
    if not stamps.any():
        stamps = received
        if not is_static:
            notes.append(f"transform {name}: all headers have time 0; stamped when received")
    elif not is_static and (back := _backwards(stamps)):
        return (
            f"{path}: transform {name} runs backwards in time: after message {back[0]} the stamps jump back by {back[1]:.1f} s "
            f"and stay behind for {back[2]} messages; expected one clock that is never set back and a recording played once; "
            f"cut the recording there"
        )
    order = np.lexsort((received, stamps))
    ordered = stamps[order]
    is_first = np.concatenate([[True], np.diff(ordered) > 0])
    is_last = np.concatenate([np.diff(ordered) > 0, [True]])
    if not is_static:
        late, twice = int((np.diff(stamps) < 0).sum()), int((~is_first).sum())
        if late or twice:
            notes.append(f"transform {name}: {late} messages out of order (sorted), {twice} with the stamp of another (merged)")
    topics = tuple(dict.fromkeys(part.topic for part in parts))
    return Link(
        *frames,
        ordered[is_last],
        received[order[is_first]],
        translation[order[is_last]],
        quaternion[order[is_last]],
        is_static=is_static,
        is_latched=all(topic.rstrip("/").endswith("tf_static") for topic in topics),
        topics=topics,
    )


def _never_changes(translation: np.ndarray, quaternion: np.ndarray) -> bool:
    moved = np.abs(translation - translation[0]).max()
    return bool(moved <= SAME and _angle(quaternion, quaternion[:1]).max() <= SAME)


def _angle(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Angle between rotations, to first order; q and -q are the same rotation."""
    apart = np.minimum(((first - second) ** 2).sum(axis=1), ((first + second) ** 2).sum(axis=1))
    return np.asarray(2.0 * np.sqrt(apart))


def _backwards(stamps: np.ndarray) -> tuple[int, float, int] | None:
    """Where stamps, in the order of arrival, fall behind an earlier one and stay there: message number, seconds, messages."""
    behind = np.maximum.accumulate(stamps) - stamps
    edges = np.flatnonzero(np.diff(np.concatenate([[False], behind > _BACKWARDS_NS, [False]]).astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    if not len(begins) or (ends - begins).max() < _BACKWARDS_RUN:
        return None
    longest = int(np.argmax(ends - begins))
    begin, end = int(begins[longest]), int(ends[longest])
    return begin, float(behind[begin]) / NANOSECONDS, end - begin
