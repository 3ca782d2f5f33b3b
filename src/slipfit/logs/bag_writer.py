"""Drive logs as bags that any ROS tool reads: standard messages, and exact numbers beside them where those lose bits.

A pose becomes an Odometry message, whose quaternion does not give back the heading to the last bit (nor a heading beyond
half a turn); motor currents have no standard message at all. Such channels are also written as `slipfit_msgs/msg/Channel`
under /slipfit/, whose definition the bag carries. `read_log` prefers these.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from slipfit.errors import LogError
from slipfit.library.files import check_target, write_through
from slipfit.logs import channels as names
from slipfit.logs import topics as t
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.rotation import quaternion_of
from slipfit.logs.wheels import joint_names

EXACT_DEFINITION = "std_msgs/Header header\nstring[] columns\nfloat64[] values\n"

#: rosbag2's metadata version 8: Iron and newer read it, older ones read the files in it.
_METADATA_VERSION: Literal[8] = 8

TOPICS = {
    names.ENCODERS: "/joint_states",
    names.IMU: "/imu/data",
    names.POSE: "/ground_truth/odom",
    names.ODOMETRY: "/odom",
    names.GNSS: "/gnss/fix",
    names.DRAWBAR: "/drawbar",
}


@dataclass(frozen=True, slots=True)
class _Stream:
    """Messages of one topic: `make(header, row)` gives the message of a row of the channel."""

    topic: str
    type: str
    channel: Channel
    make: Callable[[Any, np.ndarray], Any]
    frame: str = "base_link"


def write_mcap(log: DriveLog, path: Path | str, *, force: bool = False) -> None:
    """One ROS 2 .mcap file."""
    from rosbags.rosbag2 import StoragePlugin

    path = Path(path)

    def write(temporary: Path) -> None:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".slipfit-") as folder:
            inner = Path(folder) / path.stem
            _write2(log, inner, StoragePlugin.MCAP)
            (inner / f"{path.stem}.mcap").replace(temporary)

    _check(log, path)
    write_through(path, write, force=force, formats=(".mcap",))


def write_bag1(log: DriveLog, path: Path | str, *, force: bool = False) -> None:
    """One ROS 1 .bag file."""
    from rosbags.rosbag1 import Writer

    path = Path(path)

    def write(temporary: Path) -> None:
        temporary.unlink(missing_ok=True)
        store = _Store(is_ros1=True)
        with Writer(temporary) as writer:
            streams = list(store.streams(log))
            connections = [writer.add_connection(s.topic, s.type, typestore=store.types) for s in streams]
            for k, received_ns, message in _in_order(streams, store):
                writer.write(connections[k], received_ns, store.types.serialize_ros1(message, streams[k].type))

    _check(log, path)
    write_through(path, write, force=force, formats=(".bag",))


def write_bag2(log: DriveLog, path: Path | str, *, force: bool = False) -> None:
    """A ROS 2 bag as a folder with metadata.yaml, stored by sqlite3. `force` replaces a bag, never another folder."""
    from rosbags.rosbag2 import StoragePlugin

    path = Path(path)
    _check(log, path)
    if path.is_dir():
        files = {file.suffix for file in path.iterdir()}
        if not force or not files <= {".yaml", ".db3", ".mcap"} or not (path / "metadata.yaml").exists():
            raise LogError(
                f"{path}: exists already; choose another name" + (", or overwrite it with --force" if not force else "")
            )
    else:
        check_target(path, force=False)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".slipfit-") as folder:
            inner = Path(folder) / path.name
            _write2(log, inner, StoragePlugin.SQLITE3)
            if path.is_dir():
                shutil.rmtree(path)
            inner.replace(path)
    except OSError as error:
        raise LogError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from None


def _write2(log: DriveLog, folder: Path, plugin: Any) -> None:
    from rosbags.rosbag2 import Writer

    store = _Store(is_ros1=False)
    with Writer(folder, version=_METADATA_VERSION, storage_plugin=plugin) as writer:
        streams = list(store.streams(log))
        connections = [writer.add_connection(s.topic, s.type, typestore=store.types) for s in streams]
        for k, received_ns, message in _in_order(streams, store):
            writer.write(connections[k], received_ns, store.types.serialize_cdr(message, streams[k].type))


def _check(log: DriveLog, path: Path) -> None:
    """Times of ROS are seconds in 31 bits and nanoseconds, not negative."""
    if not log.channels:
        raise LogError(f"{path}: the log has no channels; there is nothing to write")
    for channel in log.channels.values():
        first, last = int(channel.stamps_ns.min()), int(channel.stamps_ns.max())
        if first < 0 or last >= 2**31 * NANOSECONDS:
            outside = first if first < 0 else last
            raise LogError(
                f"{path}: channel {channel.name} has a stamp of {outside} ns; ROS tells times from 1970 to 2038: shift them"
            )


def _in_order(streams: list[_Stream], store: "_Store") -> Iterator[tuple[int, int, Any]]:
    """Messages of all topics as they would have been received: never before an earlier one of the same topic, so that
    readers, which sort by that time, keep the order even where a sensor's clock ran backwards."""
    received = [np.maximum.accumulate(s.channel.stamps_ns) for s in streams]
    which = np.repeat(np.arange(len(streams)), [len(r) for r in received])
    within = np.concatenate([np.arange(len(r)) for r in received])
    times = np.concatenate(received)
    for at in np.argsort(times, kind="stable"):
        k, row = int(which[at]), int(within[at])
        stream = streams[k]
        header = store.header(row, int(stream.channel.stamps_ns[row]), stream.frame)
        yield k, int(times[at]), stream.make(header, stream.channel.values[row])


class _Store:
    """Message classes of ROS 1 or ROS 2, and the messages that each channel becomes."""

    def __init__(self, *, is_ros1: bool) -> None:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        self.is_ros1 = is_ros1
        self.types = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE)
        self.types.register(get_types_from_msg(EXACT_DEFINITION, t.EXACT_TYPE))

    def new(self, name: str, *args: Any) -> Any:
        return self.types.types[name](*args)

    def header(self, number: int, stamp_ns: int, frame: str) -> Any:
        stamp = self.new("builtin_interfaces/msg/Time", stamp_ns // NANOSECONDS, stamp_ns % NANOSECONDS)
        return self.new("std_msgs/msg/Header", *((number,) if self.is_ros1 else ()), stamp, frame)

    def vector(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Any:
        return self.new("geometry_msgs/msg/Vector3", float(x), float(y), float(z))

    def streams(self, log: DriveLog) -> Iterator[_Stream]:
        """Standard messages where there are some; exact numbers where those would lose bits or columns."""
        for channel in log.channels.values():
            stream, is_exact = self._standard(channel)
            if stream:
                yield stream
            if not is_exact:
                yield _Stream(f"{t.EXACT_PREFIX}{channel.name}", t.EXACT_TYPE, channel, self._exactly(channel))

    def _exactly(self, channel: Channel) -> Callable[[Any, np.ndarray], Any]:
        columns = list(channel.columns)
        return lambda header, row: self.new(t.EXACT_TYPE, header, columns, np.ascontiguousarray(row, dtype=np.float64))

    def _standard(self, channel: Channel) -> tuple[_Stream | None, bool]:
        """The topic that other tools read, and whether it carries the whole channel to the bit."""
        columns = set(channel.columns)
        match channel.name:
            case names.ENCODERS | names.COMMANDS if (shape := _rotation_shape(channel)) is not None:
                return self._joint_states(channel, *shape), True
            case names.COMMANDS if set(names.COMMAND_COLUMNS) <= columns:
                return self._twists(channel), channel.columns == names.COMMAND_COLUMNS
            case names.IMU if columns & set(names.IMU_COLUMNS):
                return self._imus(channel), _is_whole_imu(channel)
            case names.POSE | names.ODOMETRY if set(names.POSE_COLUMNS) <= columns:
                return self._odometry(channel), False
            case names.GNSS if {"latitude_rad", "longitude_rad"} <= columns:
                return self._fixes(channel), False
            case names.DRAWBAR if "force_n" in columns:
                return self._wrenches(channel), channel.columns == names.DRAWBAR_COLUMNS
        return None, False

    def _joint_states(self, channel: Channel, quantities: tuple[str, ...], wheels: int) -> _Stream:
        joints, count, none = joint_names(wheels), wheels or 2, np.zeros(0)

        def make(header: Any, row: np.ndarray) -> Any:
            blocks = {q: np.ascontiguousarray(row[k * count : (k + 1) * count]) for k, q in enumerate(quantities)}
            return self.new(t.JOINT_STATE, header, joints, blocks.get("angle", none), blocks.get("speed", none), none)

        topic = "/wheel_commands/command" if channel.name == names.COMMANDS else TOPICS[names.ENCODERS]
        return _Stream(topic, t.JOINT_STATE, channel, make)

    def _twists(self, channel: Channel) -> _Stream:
        v, vy, rate = (_place(channel, name) for name in names.OMNI_COMMAND_COLUMNS)

        def make(header: Any, row: np.ndarray) -> Any:
            turning = self.vector(z=row[rate])
            twist = self.new(t.TWIST, self.vector(row[v], 0.0 if vy is None else row[vy]), turning)
            return self.new(t.TWIST_STAMPED, header, twist)

        return _Stream("/cmd_vel", t.TWIST_STAMPED, channel, make)

    def _imus(self, channel: Channel) -> _Stream:
        """What an IMU did not measure is NaN; a covariance of -1 says that there is no orientation."""
        places = [_place(channel, name) for name in (*names.IMU_COLUMNS, *names.ORIENTATION_COLUMNS)]
        has_orientation = places[6:] != [None] * 4
        none, known = np.zeros(9), np.zeros(9)
        none[0] = -1.0

        def make(header: Any, row: np.ndarray) -> Any:
            r = [float("nan") if k is None else float(row[k]) for k in places]
            turn = self.new("geometry_msgs/msg/Quaternion", *(r[6:] if has_orientation else (0.0, 0.0, 0.0, 1.0)))
            cov = known if has_orientation else none
            return self.new(t.IMU, header, turn, cov, self.vector(*r[3:6]), known, self.vector(*r[:3]), known)

        return _Stream(TOPICS[names.IMU], t.IMU, channel, make, frame="imu_link")

    def _odometry(self, channel: Channel) -> _Stream:
        places = [_place(channel, name) for name in names.ODOMETRY_COLUMNS]
        unknown = np.zeros(36)

        def make(header: Any, row: np.ndarray) -> Any:
            x, y, yaw, vx, vy, rate = (0.0 if k is None else float(row[k]) for k in places)
            at = self.new("geometry_msgs/msg/Point", x, y, 0.0)
            pose = self.new("geometry_msgs/msg/Pose", at, self.new("geometry_msgs/msg/Quaternion", *quaternion_of(yaw)))
            twist = self.new(t.TWIST, self.vector(vx, vy), self.vector(z=rate))
            with_covariance = (
                self.new("geometry_msgs/msg/PoseWithCovariance", pose, unknown),
                self.new("geometry_msgs/msg/TwistWithCovariance", twist, unknown),
            )
            return self.new(t.ODOMETRY, header, "base_link", *with_covariance)

        return _Stream(TOPICS[channel.name], t.ODOMETRY, channel, make, frame="map" if channel.name == names.POSE else "odom")

    def _fixes(self, channel: Channel) -> _Stream:
        lat, lon, alt = (_place(channel, name) for name in names.GNSS_COLUMNS[:3])

        def make(header: Any, row: np.ndarray) -> Any:
            place = float(np.degrees(row[lat])), float(np.degrees(row[lon]))
            status = self.new("sensor_msgs/msg/NavSatStatus", 0 if np.isfinite(place).all() else -1, 1)
            altitude = float("nan") if alt is None else float(row[alt])
            return self.new(t.NAV_SAT_FIX, header, status, *place, altitude, np.zeros(9), 0)

        return _Stream(TOPICS[names.GNSS], t.NAV_SAT_FIX, channel, make, frame="gnss_link")

    def _wrenches(self, channel: Channel) -> _Stream:
        force = _place(channel, "force_n")

        def make(header: Any, row: np.ndarray) -> Any:
            return self.new(t.WRENCH, header, self.new("geometry_msgs/msg/Wrench", self.vector(row[force]), self.vector()))

        return _Stream(TOPICS[names.DRAWBAR], t.WRENCH, channel, make)


def _place(channel: Channel, column: str) -> Any:
    """Place of a column, None where there is none."""
    return channel.columns.index(column) if column in channel.columns else None


def _rotation_shape(channel: Channel) -> tuple[tuple[str, ...], int] | None:
    """Which quantities of how many wheels (0: sides) a channel tells, if joint states can carry it as it stands."""
    kinds = (("speed",),) if channel.name == names.COMMANDS else (("angle",), ("speed",), ("angle", "speed"))
    for quantities in kinds:
        for wheels in (0, *range(3, 17)):
            if channel.columns == names.rotation_columns(quantities, wheels):
                return quantities, wheels
    return None


def _is_whole_imu(channel: Channel) -> bool:
    """Whether the reader gives back these columns: orientations that are all zero count as none."""
    if channel.columns == names.IMU_COLUMNS:
        return True
    return channel.columns == (*names.IMU_COLUMNS, *names.ORIENTATION_COLUMNS) and bool(channel.values[:, 6:].any())
