"""Channels from the messages of a topic: which fields of which message type, and what they become."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import channels as names
from slipfit.logs import topics as t
from slipfit.logs.drive_log import NANOSECONDS, Channel
from slipfit.logs.geodesy import east_north
from slipfit.logs.layout import Group
from slipfit.logs.rotation import yaw_of
from slipfit.logs.topics import Choice
from slipfit.logs.wheels import wheel_order


class Content(NamedTuple):
    """Columns and values of a channel, its stamps where those are not the messages' own, and what is to be said about it."""

    columns: tuple[str, ...]
    values: np.ndarray
    stamps_ns: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    rows: np.ndarray | slice = slice(None)  # of which messages; all unless told


class Messages(NamedTuple):
    """All messages of a topic."""

    received_ns: np.ndarray
    groups: list[Group]

    def column(self, path: str, dtype: type = float) -> np.ndarray:
        """One number of every message, shape (T,); NaN where a message has no such field, as an array that is too short."""
        name, place = _split(path)
        out = np.full(len(self.received_ns), np.nan) if dtype is float else np.zeros(len(self.received_ns), dtype=dtype)
        for group in self.groups:
            leaf = group.layout.leaves.get(name)
            if leaf and place < leaf.size:
                out[group.rows] = group.block(name)[:, place]
        return out

    def table(self, paths: Sequence[str]) -> np.ndarray:
        """Several numbers of every message, shape (T, columns)."""
        return np.column_stack([self.column(path) for path in paths])

    def text(self, path: str) -> str:
        """A text that all messages are taken to share, as the frame of a header; empty where there is none."""
        found = self.groups[0].layout.texts.get(path, "") if self.groups else ""
        return found if isinstance(found, str) else ""

    def stamps_ns(self, header: str = "header") -> np.ndarray | None:
        """Header stamps in integer arithmetic; None where messages have no header."""
        seconds, rest = f"{header}.stamp.sec", f"{header}.stamp.nanosec"
        if not all(seconds in g.layout.leaves and rest in g.layout.leaves for g in self.groups):
            return None
        return np.asarray(self.column(seconds, np.int64) * NANOSECONDS + self.column(rest, np.int64))


def _split(path: str) -> tuple[str, int]:
    """data[2] as name and place; a plain field is its own first place."""
    found = re.fullmatch(r"(.*)\[(\d{1,5})\]", path)
    return (found[1], int(found[2])) if found else (path, 0)


def channel_of(choice: Choice, messages: Messages) -> tuple[Channel, list[str]] | str:
    """The channel and notes about it; a reason in words where the messages do not hold it."""
    content = _content(choice, messages)
    if isinstance(content, str):
        return content
    notes = list(content.notes)
    stamps = content.stamps_ns if content.stamps_ns is not None else messages.stamps_ns()
    if stamps is None:
        stamps = messages.received_ns
        notes.append(f"{choice.topic} has no header: stamped when received")
    elif not stamps.any() and content.stamps_ns is None:
        stamps = messages.received_ns
        notes.append(f"all headers of {choice.topic} have time 0: stamped when received")
    values = np.ascontiguousarray(content.values, dtype=float)
    return Channel(choice.channel, np.ascontiguousarray(stamps[content.rows]), values, content.columns), notes


# --- one function per kind of message --------------------------------------------------------------------------------

_XYZ = ("x", "y", "z")
_QUATERNION = ("x", "y", "z", "w")

#: Where a message type keeps its pose: position, orientation.
_POSES = {
    t.ODOMETRY: ("pose.pose.position", "pose.pose.orientation"),
    t.POSE_STAMPED: ("pose.position", "pose.orientation"),
    t.POSE_COVARIANCE: ("pose.pose.position", "pose.pose.orientation"),
    t.TRANSFORM: ("transform.translation", "transform.rotation"),
}


def _content(choice: Choice, messages: Messages) -> Content | str:
    """Columns and values; a reason where there are none."""
    if choice.fields:
        return _fields(choice, messages)
    match choice.type:
        case t.JOINT_STATE:
            return _rotation(choice, messages)
        case t.EXACT_TYPE:
            return _exact(messages)
        case t.IMU:
            return _imu(messages)
        case t.TWIST | t.TWIST_STAMPED:
            return _twist(messages, "" if choice.type == t.TWIST else "twist.")
        case t.NAV_SAT_FIX:
            return _gnss(messages)
        case t.WRENCH:
            return Content(names.DRAWBAR_COLUMNS, messages.table(["wrench.force.x"]))
        case t.BATTERY_STATE:
            return Content(names.BATTERY_COLUMNS, messages.table(["voltage", "current"]))
    pose = _planar(messages, *_POSES[choice.type])
    if choice.channel == names.ODOMETRY:
        velocity = messages.table([f"twist.twist.{part}" for part in ("linear.x", "linear.y", "angular.z")])
        return Content(names.ODOMETRY_COLUMNS, np.column_stack([pose, velocity]))
    return Content(names.POSE_COLUMNS, pose)


def _planar(messages: Messages, position: str, orientation: str) -> np.ndarray:
    """x, y and heading, shape (T, 3)."""
    turn = [messages.column(f"{orientation}.{part}") for part in _QUATERNION]
    return np.column_stack([messages.table([f"{position}.x", f"{position}.y"]), yaw_of(*turn)])


def _imu(messages: Messages) -> Content:
    """The first covariance is -1 where an IMU has no orientation; drivers that do not say so leave zeros."""
    felt = [f"{kind}.{axis}" for kind in ("linear_acceleration", "angular_velocity") for axis in _XYZ]
    orientation = messages.table([f"orientation.{part}" for part in _QUATERNION])
    if messages.column("orientation_covariance")[0] == -1.0 or not orientation.any():
        return Content(names.IMU_COLUMNS, messages.table(felt))
    return Content((*names.IMU_COLUMNS, *names.ORIENTATION_COLUMNS), np.column_stack([messages.table(felt), orientation]))


def _twist(messages: Messages, path: str) -> Content:
    """Only robots that can go sideways are told to."""
    values = messages.table([f"{path}linear.x", f"{path}linear.y", f"{path}angular.z"])
    if values[:, 1].any():
        return Content(names.OMNI_COMMAND_COLUMNS, values)
    return Content(names.COMMAND_COLUMNS, values[:, [0, 2]])


def _gnss(messages: Messages) -> Content:
    """Without a fix (status below 0) the numbers mean nothing: NaN."""
    lost = messages.column("status.status") < 0
    fixes = np.where(lost[:, None], np.nan, messages.table(["latitude", "longitude", "altitude"]))
    latitude, longitude, altitude = np.radians(fixes[:, 0]), np.radians(fixes[:, 1]), fixes[:, 2]
    place = east_north(latitude, longitude, altitude)
    notes = [f"gnss: {int(lost.sum())} of {len(lost)} messages are without fix"] if lost.any() else []
    known = np.flatnonzero(np.isfinite(place[:, 0]))
    if len(known):
        first = fixes[known[0]]
        notes.append(f"gnss: x east and y north of {first[0]:.7f}° {first[1]:.7f}°")
    values = np.column_stack([latitude, longitude, altitude, place])
    return Content(names.GNSS_COLUMNS, values, notes=tuple(notes))


def _rotation(choice: Choice, messages: Messages) -> Content | str:
    """Angles and speeds of the wheels. Other joints may be in the same messages, or in other messages of the same topic."""
    orders = [wheel_order(_texts(group, "name")) for group in messages.groups]
    wheels = max((order[1] or 2 for order in orders if order), default=0)
    joints = sorted({joint for group in messages.groups for joint in _texts(group, "name")})
    if not wheels:
        some = ", ".join(joints[:8])[:200] or "none have names"
        return f"its joints ({some}) are not known as wheels; names like front_left_wheel or left_wheel are"
    kept = [(group, order) for group, order in zip(messages.groups, orders, strict=True) if order and (order[1] or 2) == wheels]
    quantities: list[str] = []
    for field, quantity in (("position", "angle"), ("velocity", "speed")):
        has = [group.layout.leaves[field].size == len(_texts(group, "name")) for group, _ in kept]
        if all(has):
            quantities.append(quantity)
        elif any(has):
            return f"some of its messages lack a {field}; mend the publisher"
    if choice.channel == names.COMMANDS:
        quantities = [quantity for quantity in quantities if quantity == "speed"]
    if not quantities:
        return f"its messages have no {'velocities' if choice.channel == names.COMMANDS else 'positions and no velocities'}"
    values = np.empty((len(messages.received_ns), wheels * len(quantities)))
    for group, (places, _) in kept:
        blocks = [group.block({"angle": "position", "speed": "velocity"}[quantity])[:, places] for quantity in quantities]
        values[group.rows] = np.column_stack(blocks)
    rows = np.sort(np.concatenate([group.rows for group, _ in kept]))
    columns = names.rotation_columns(quantities, kept[0][1][1])
    return Content(columns, values[rows], notes=_steered(joints), rows=rows)


def _steered(joints: Sequence[str]) -> tuple[str, ...]:
    steers = [joint for joint in joints if {"steer", "steering"} & set(t.words_of(joint))]
    return (f"joints {', '.join(steers)} steer: this robot does not turn by slip alone",) if steers else ()


def _texts(group: Group, path: str) -> tuple[str, ...]:
    texts = group.layout.texts[path]
    return texts if isinstance(texts, tuple) else (texts,)


def _exact(messages: Messages) -> Content | str:
    """Our own messages: names of columns, and their values."""
    columns = {_texts(group, "columns") for group in messages.groups}
    if len(columns) > 1:
        return "its messages do not all have the same columns"
    (own,) = columns
    if any(group.layout.leaves["values"].size != len(own) for group in messages.groups):
        return "its messages do not have as many values as columns"
    values = np.empty((len(messages.received_ns), len(own)))
    for group in messages.groups:
        values[group.rows] = group.block("values")
    return Content(own, values)


def _fields(choice: Choice, messages: Messages) -> Content:
    """Fields that the caller named, as left.current or data[2]."""
    for _, path in choice.fields:
        name, place = _split(path)
        if not any(name in g.layout.leaves and place < g.layout.leaves[name].size for g in messages.groups):
            known = ", ".join(messages.groups[0].layout.leaves)
            raise LogError(f"topic {choice.topic} ({choice.type}) has no number '{path}'; it has {known[:400]}")
    return Content(tuple(column for column, _ in choice.fields), messages.table([path for _, path in choice.fields]))
