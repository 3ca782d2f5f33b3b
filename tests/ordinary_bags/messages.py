"""ROS 2 messages in CDR: the typestore serializes one message of each stream, and arrays fill in the numbers of the others.

Messages of one stream have the same names and frames, so their bytes have the same layout. A builder is called once with
marks in place of its numbers; where the marks are found in the bytes, the columns of the stream go.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)
_TYPES = STORE.types

_MARK_SEC, _MARK_NANOSEC = 0x5A5B5C5D, 0x3A3B3C3D
NANOSECONDS = 10**9

#: Numbers of one message: x, y, z and quaternion of a pose.
POSE = 7
#: Linear and angular velocity.
TWIST = 6


@dataclass(frozen=True, eq=False)
class Stream:
    """Messages of one publisher."""

    topic: str
    msgtype: str
    log_ns: np.ndarray
    data: list[bytes]


def message(name: str, *args: Any, **kwargs: Any) -> Any:
    """A message by its type's name, such as geometry_msgs/Twist."""
    package, kind = name.split("/")
    return _TYPES[f"{package}/msg/{kind}"](*args, **kwargs)


def now() -> Any:
    """The mark of the stream's stamps."""
    return message("builtin_interfaces/Time", _MARK_SEC, _MARK_NANOSEC)


def header(frame: str) -> Any:
    return message("std_msgs/Header", stamp=now(), frame_id=frame)


def stream(
    topic: str,
    msgtype: str,
    build: Callable[[Sequence[float]], Any],
    log_ns: np.ndarray,
    stamps_ns: np.ndarray,
    columns: np.ndarray,
) -> Stream:
    """Messages with the columns' numbers (messages, numbers) and these stamps; `build` gets the numbers of one message."""
    marks = [struct.unpack("<d", b"\xa5\x5a\xc3\x3c" + k.to_bytes(2, "little") + b"\x9d\x41")[0] for k in range(columns.shape[1])]
    kind = f"{msgtype.split('/')[0]}/msg/{msgtype.split('/')[1]}"
    template = bytes(STORE.serialize_cdr(build(marks), kind))
    rows = np.tile(np.frombuffer(template, dtype=np.uint8), (len(stamps_ns), 1))
    for k, mark in enumerate(marks):
        _fill(rows, template, struct.pack("<d", mark), columns[:, k].astype("<f8"))
    time = np.divmod(stamps_ns, NANOSECONDS)
    stamp_bytes = np.column_stack([part.astype("<u4") for part in time])
    mark_bytes = struct.pack("<II", _MARK_SEC, _MARK_NANOSEC)
    if mark_bytes in template:
        _fill(rows, template, mark_bytes, np.ascontiguousarray(stamp_bytes))
    width, raw = rows.shape[1], rows.tobytes()
    return Stream(topic, kind, log_ns, [raw[k : k + width] for k in range(0, len(raw), width)])


def _fill(rows: np.ndarray, template: bytes, mark: bytes, values: np.ndarray) -> None:
    found = template.find(mark)
    if found < 0:
        raise ValueError("a column of the stream has no place in its message")
    while found >= 0:
        rows[:, found : found + 8] = np.ascontiguousarray(values).view(np.uint8).reshape(len(rows), 8)
        found = template.find(mark, found + 8)


def texts(topic: str, msgtype: str, log_ns: np.ndarray, build: Callable[[int, int], Any]) -> Stream:
    """Messages that differ in more than numbers: `build` gets the index and the time (ns)."""
    kind = f"{msgtype.split('/')[0]}/msg/{msgtype.split('/')[1]}"
    data = [bytes(STORE.serialize_cdr(build(k, int(when)), kind)) for k, when in enumerate(log_ns)]
    return Stream(topic, kind, log_ns, data)


def stamp_of(when_ns: int) -> Any:
    return message("builtin_interfaces/Time", *divmod(when_ns, NANOSECONDS))


def yaw_quaternion(yaw_rad: np.ndarray) -> np.ndarray:
    """Quaternions (x, y, z, w), shape (T, 4)."""
    half = 0.5 * np.asarray(yaw_rad)
    return np.column_stack([np.zeros_like(half), np.zeros_like(half), np.sin(half), np.cos(half)])


def planar(pose: np.ndarray, z_m: float = 0.0) -> np.ndarray:
    """The seven numbers of poses x, y, yaw."""
    return np.column_stack([pose[:, :2], np.full(len(pose), z_m), yaw_quaternion(pose[:, 2])])


def twist_columns(vx: np.ndarray, vy: np.ndarray, rate: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(vx)
    return np.column_stack([vx, vy, zero, zero, zero, rate])


def vector(v: Sequence[float]) -> Any:
    return message("geometry_msgs/Vector3", *v)


def quaternion(q: Sequence[float]) -> Any:
    return message("geometry_msgs/Quaternion", *q)


def pose_message(v: Sequence[float]) -> Any:
    return message("geometry_msgs/Pose", message("geometry_msgs/Point", *v[:3]), quaternion(v[3:7]))


def twist(v: Sequence[float]) -> Any:
    return message("geometry_msgs/Twist", vector(v[:3]), vector(v[3:6]))


def covariance(*diagonal: float) -> np.ndarray:
    return np.diag(np.array(diagonal, dtype=float)).ravel()


def pose_stamped(frame: str) -> Callable[[Sequence[float]], Any]:
    return lambda v: message("geometry_msgs/PoseStamped", header(frame), pose_message(v))


def pose_with_covariance(frame: str, pose_covariance: np.ndarray) -> Callable[[Sequence[float]], Any]:
    def build(v: Sequence[float]) -> Any:
        pose = message("geometry_msgs/PoseWithCovariance", pose_message(v), pose_covariance)
        return message("geometry_msgs/PoseWithCovarianceStamped", header(frame), pose)

    return build


def odometry(
    frame: str, child: str, pose_covariance: np.ndarray, twist_covariance: np.ndarray
) -> Callable[[Sequence[float]], Any]:
    def build(v: Sequence[float]) -> Any:
        pose = message("geometry_msgs/PoseWithCovariance", pose_message(v), pose_covariance)
        speed = message("geometry_msgs/TwistWithCovariance", twist(v[POSE:]), twist_covariance)
        return message("nav_msgs/Odometry", header(frame), child, pose, speed)

    return build


def transforms(pairs: Sequence[tuple[str, str]]) -> Callable[[Sequence[float]], Any]:
    """One TFMessage with these (parent, child) pairs, seven numbers each."""

    def build(v: Sequence[float]) -> Any:
        entries = []
        for k, (parent, child) in enumerate(pairs):
            w = v[POSE * k : POSE * (k + 1)]
            transform = message("geometry_msgs/Transform", vector(w[:3]), quaternion(w[3:]))
            entries.append(message("geometry_msgs/TransformStamped", header(parent), child, transform))
        return message("tf2_msgs/TFMessage", entries)

    return build
