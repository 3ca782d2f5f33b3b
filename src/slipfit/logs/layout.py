"""Numbers from serialised ROS messages, all messages of a topic at once.

Messages of one topic nearly always have one layout: names and array lengths do not change from one to the next. So the
bytes of one message are walked by its definition, which tells where each number stands, and the numbers of all messages
with the same lengths are taken out as columns of one table of bytes. This costs less than decoding them one by one.

ROS 1 packs fields without gaps, little-endian. ROS 2 (CDR) has four bytes in front, the second of which tells the byte
order, aligns each number to its own size, and ends texts with a zero byte.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

#: numpy's codes of ROS's types.
_CODES = {
    "bool": "u1",
    "byte": "i1",
    "octet": "u1",
    "char": "u1",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "float32": "f4",
    "float64": "f8",
}

#: A damaged or hostile bag may claim anything. Transforms of a whole robot are some hundred fields, layouts of a topic a few.
_MOST_LEAVES, _MOST_LAYOUTS = 20_000, 500

_BASE, _NAME, _ARRAY, _SEQUENCE = 1, 2, 3, 4  # rosbags' Nodetype


class LayoutError(Exception):
    """Bytes that do not fit the message's definition."""


class Leaf(NamedTuple):
    """Where a number, or `size` numbers, stand in a message."""

    offset: int
    code: str
    size: int


class Layout:
    """Where everything stands in messages that have the same lengths as the one given."""

    def __init__(self, raw: bytes, type_name: str, definitions: Mapping[str, Any], *, is_ros1: bool) -> None:
        self._raw, self._definitions, self._is_ros1 = raw, definitions, is_ros1
        self._start = 0 if is_ros1 else 4
        self._order = "<" if is_ros1 or (len(raw) > 1 and raw[1] & 1) else ">"
        self._at = self._start
        self.leaves: dict[str, Leaf] = {}
        self.texts: dict[str, str | tuple[str, ...]] = {}
        self.same = [] if is_ros1 else [slice(0, 2)]  # bytes that messages of this layout have in common
        self._walk(type_name, "")
        if self._at > len(raw) or len(raw) - self._at > (0 if is_ros1 else 3):
            raise LayoutError(f"{len(raw)} bytes, expected {self._at}")

    def _walk(self, type_name: str, path: str) -> None:
        for name, description in self._definitions[type_name][1]:
            if not (self._is_ros1 and name == "structure_needs_at_least_one_member"):
                self._field(description, f"{path}{name}")

    def _field(self, description: Any, path: str) -> None:
        kind, detail = description
        if kind == _NAME:
            self._walk(detail, f"{path}.")
        elif kind == _BASE and detail[0] == "string":
            self.texts[path] = self._text(is_part="[" in path)
        elif kind == _BASE:
            self._numbers(detail[0], 1, path)
        else:
            self._many(detail[0], detail[1] if kind == _ARRAY else self._length(), path)

    def _many(self, description: Any, count: int, path: str) -> None:
        kind, detail = description
        if kind == _BASE and detail[0] != "string":
            self._numbers(detail[0], count, path)
            return
        if count > len(self._raw) or count + len(self.leaves) > _MOST_LEAVES:
            raise LayoutError(f"{path} claims {count} entries")
        if kind == _BASE:
            self.texts[path] = tuple(self._text(is_part=True) for _ in range(count))
        else:
            for k in range(count):
                self._field(description, f"{path}[{k}]")

    def _numbers(self, type_name: str, count: int, path: str) -> None:
        if type_name not in _CODES:
            raise LayoutError(f"{path} is of type {type_name}, which is not supported")
        code = _CODES[type_name]
        size = int(code[1])
        if count:
            self._align(size)
        if self._at + count * size > len(self._raw) or len(self.leaves) > _MOST_LEAVES:
            raise LayoutError(f"{path} would end at byte {self._at + count * size} of {len(self._raw)}")
        self.leaves[path] = Leaf(self._at, self._order + code, count)
        self._at += count * size

    def _align(self, size: int) -> None:
        if not self._is_ros1:
            self._at += -(self._at - self._start) % size

    def _length(self) -> int:
        self._align(4)
        if self._at + 4 > len(self._raw):
            raise LayoutError(f"a length would stand at byte {self._at} of {len(self._raw)}")
        (length,) = struct.unpack_from(self._order + "I", self._raw, self._at)
        self.same.append(slice(self._at, self._at + 4))
        self._at += 4
        return int(length)

    def _text(self, *, is_part: bool) -> str:
        """Texts in lists (names of joints, frames) belong to the layout; others, such as a header's frame, may change."""
        length = self._length()
        begin, end = self._at, self._at + length
        if end > len(self._raw) or (not self._is_ros1 and (not length or self._raw[end - 1])):
            raise LayoutError(f"a text at byte {begin} of {len(self._raw)} would have {length} bytes")
        if is_part:
            self.same.append(slice(begin, end))
        self._at = end
        return self._raw[begin : end if self._is_ros1 else end - 1].decode()


class Group(NamedTuple):
    """Messages of one layout: which of the topic they are, and their bytes, shape (messages, length)."""

    rows: np.ndarray
    layout: Layout
    table: np.ndarray

    def block(self, path: str) -> np.ndarray:
        """All numbers under a path, shape (messages, size)."""
        leaf = self.layout.leaves[path]
        end = leaf.offset + leaf.size * int(leaf.code[2])
        return np.ascontiguousarray(self.table[:, leaf.offset : end]).view(leaf.code).reshape(-1, leaf.size)


def group(raws: Sequence[bytes], type_name: str, definitions: Mapping[str, Any], *, is_ros1: bool) -> list[Group]:
    """Messages of a topic by layout, each group in the order of the messages."""
    by_length: dict[int, list[int]] = {}
    for k, raw in enumerate(raws):
        by_length.setdefault(len(raw), []).append(k)
    groups: list[Group] = []
    for length, members in by_length.items():
        rows = np.array(members)
        table = np.frombuffer(b"".join([raws[k] for k in members]), dtype=np.uint8).reshape(len(members), length)
        while len(rows):
            try:
                layout = Layout(bytes(raws[rows[0]]), type_name, definitions, is_ros1=is_ros1)
            except (LayoutError, UnicodeDecodeError) as error:
                raise LayoutError(f"message {rows[0] + 1}: {error}") from None
            fits = np.ones(len(rows), dtype=bool)
            for part in layout.same:
                fits &= (table[:, part] == table[0, part]).all(axis=1)
            groups.append(Group(rows[fits], layout, table[fits]))
            rows, table = rows[~fits], table[~fits]
            if len(groups) > _MOST_LAYOUTS:
                raise LayoutError(f"more than {_MOST_LAYOUTS} layouts among {len(raws)} messages")
    return groups
