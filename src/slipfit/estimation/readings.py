"""What a log tells a slip filter: events in order of time, each with its readings, its spreads, and the rims' speeds then.

A sensor that is late is moved back to when it saw what it says; sensors of any rate mix. Where the pose starts anew with each
segment of a recording, its first row becomes an anchor. Rows that are not finite are left out here, and counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from slipfit.errors import LogError
from slipfit.estimation.motion import Motion
from slipfit.estimation.settings import FilterSettings
from slipfit.library import OmniRobot, SkidSteerRobot, omni_robot, skid_steer_robot
from slipfit.logs import DriveLog
from slipfit.logs.channels import COMMANDS, ENCODERS, GNSS, IMU, ODOMETRY, POSE, SEGMENTS, rotation_columns
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.poses import has_pose, poses_of
from slipfit.logs.rims import GRID_S, SPEED_OVER_S, Rims, rims_of, silences
from slipfit.logs.wheel_motion import TurnCounts, wheel_angles
from slipfit.vehicles.slip_filter import ACCELEROMETER, ANCHOR, GYRO, NOTHING, VELOCITY
from slipfit.vehicles.slip_filter import POSE as POSE_EVENT

#: Interval of a filter's report (s).
REPORT_S = 0.05

#: Sensors that an estimate can be told to use, in the order in which it looks for them.
SENSORS = ("pose", "gnss", "odometry", "gyro", "accelerometer")

#: Those that tell how far the robot gets ahead. An accelerometer cannot be told from a tilt (docs/theory/estimation).
AHEAD = ("pose", "gnss", "odometry")

#: A robot that was told to go aside by more than this share of what it was told ahead is one that can.
SIDEWAYS = 0.05

#: Beside this rate (Hz) an accelerometer is thinned by means: more would only cost time.
ACCEL_HZ = 50.0

_KINDS = {"pose": POSE_EVENT, "gnss": POSE_EVENT, "odometry": VELOCITY, "gyro": GYRO, "accelerometer": ACCELEROMETER}


@dataclass(frozen=True, eq=False, slots=True)
class Sensor:
    """One sensor's readings: times on the grid of the wheels by its stamps, values (n, 3) with NaN where it tells nothing."""

    name: str
    time_s: np.ndarray
    values: np.ndarray
    stds: np.ndarray  # (3,)
    kind: int
    anchors: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))  # (n,) the pose starts anew here
    taken_s: np.ndarray | None = None  # when anchors were taken


@dataclass(frozen=True, eq=False, slots=True)
class Readings:
    """All that a filter is given of one drive."""

    name: str
    start_ns: int
    time_s: np.ndarray  # (m,) of the rims' grid
    rims_mps: np.ndarray  # (m, 2) left and right; (m, 3) the wheels-as-a-body of an omni robot
    sensors: tuple[Sensor, ...]
    silent_s: np.ndarray  # (k, 2) pauses of the encoders
    left_out: Mapping[str, int] = field(default_factory=dict)  # rows that are not finite, by sensor

    def __getitem__(self, name: str) -> Sensor:
        for sensor in self.sensors:
            if sensor.name == name:
                return sensor
        raise LogError(f"{self.name}: no {name}; it has {', '.join(s.name for s in self.sensors) or 'wheels alone'}")

    def has(self, name: str) -> bool:
        return any(sensor.name == name for sensor in self.sensors)

    @property
    def tell_ahead(self) -> bool:
        """Whether something tells how far the robot gets, as no IMU does."""
        return any(self.has(name) for name in AHEAD)

    def without(self, name: str, *spans_s: tuple[float, float]) -> "Readings":
        """The same without a sensor, or without what it says in some spans of time (by its stamps)."""
        kept = []
        for sensor in self.sensors:
            if sensor.name != name:
                kept.append(sensor)
            elif spans_s:
                heard = np.ones(len(sensor.time_s), dtype=bool)
                for begin, end in spans_s:
                    heard &= (sensor.time_s < begin) | (sensor.time_s > end)
                if heard.any():
                    kept.append(_chosen(sensor, heard))
        return Readings(self.name, self.start_ns, self.time_s, self.rims_mps, tuple(kept), self.silent_s, self.left_out)

    def events(self, motion: Motion, late_s: Mapping[str, float]) -> "Events":
        """In order of time; the report's moments come after what is read at the same time."""
        span = self.time_s[-1] - self.time_s[0]
        report = self.time_s[0] + np.arange(int(span / REPORT_S + 1e-9) + 1) * REPORT_S
        times, kinds = [report], [np.full(len(report), NOTHING)]
        values, stds, order = [np.full((len(report), 3), np.nan)], [np.full((len(report), 3), np.nan)], [np.full(len(report), 9)]
        for rank, sensor in enumerate(self.sensors):
            when = sensor.time_s - late_s.get(sensor.name, 0.0)
            kind = np.full(len(when), sensor.kind)
            if len(sensor.anchors):
                kind[sensor.anchors] = ANCHOR
                assert sensor.taken_s is not None
                when = np.where(sensor.anchors, sensor.taken_s - late_s.get(sensor.name, 0.0), when)
            inside = (when >= report[0]) & (when <= report[-1])
            times.append(when[inside])
            kinds.append(kind[inside])
            values.append(sensor.values[inside])
            stds.append(np.broadcast_to(sensor.stds, (int(inside.sum()), 3)))
            order.append(np.full(int(inside.sum()), rank))
        time_s, kind = np.concatenate(times), np.concatenate(kinds)
        # An anchor repeats the last pose of the segment before, which counts in the old frame.
        ranks = np.where(kind == ANCHOR, 8, np.concatenate(order))
        at = np.lexsort((ranks, time_s))
        rims = np.column_stack([np.interp(time_s[at], self.time_s, column) for column in self.rims_mps.T])
        return Events(time_s[at], kind[at], np.concatenate(values)[at], np.concatenate(stds)[at], motion.inputs(rims), rims)


@dataclass(frozen=True, eq=False, slots=True)
class Events:
    """As the kernel takes them."""

    time_s: np.ndarray
    kinds: np.ndarray
    values: np.ndarray
    stds: np.ndarray
    inputs: np.ndarray
    rims_mps: np.ndarray

    @property
    def is_report(self) -> np.ndarray:
        return np.asarray(self.kinds == NOTHING)


def _chosen(sensor: Sensor, kept: np.ndarray) -> Sensor:
    anchors = sensor.anchors[kept] if len(sensor.anchors) else sensor.anchors
    taken = None if sensor.taken_s is None else sensor.taken_s[kept]
    return Sensor(sensor.name, sensor.time_s[kept], sensor.values[kept], sensor.stds, sensor.kind, anchors, taken)


def readings_of(
    log: DriveLog,
    robot: SkidSteerRobot | OmniRobot,
    motion: Motion,
    settings: FilterSettings,
    *,
    use: tuple[str, ...] = ("pose", "gnss", "gyro", "accelerometer"),
    counts_per_turn: TurnCounts | None = None,
) -> Readings:
    """The sensors of a log that are asked for and there; `gnss` only where there is no pose."""
    name = log.source or log.about or "drive"
    if ENCODERS not in log:
        raise LogError(
            f"{name}: no wheel speeds; expected a channel '{ENCODERS}': slip is what wheels say less what the body does"
        )
    check_vehicle(log, robot)
    rims, table = _rims(log, robot, motion, counts_per_turn)
    sensors: list[Sensor] = []
    left_out: dict[str, int] = {}
    for sensor in use:
        if sensor == "gnss" and any(s.name == "pose" for s in sensors):
            continue
        found, dropped = _sensor(sensor, log, rims, settings)
        if dropped:
            left_out[sensor] = dropped
        if found is not None:
            sensors.append(found)
    if not sensors:
        raise LogError(f"{name}: nothing tells how the body moved; expected a pose, GNSS, odometry or an IMU beside the wheels")
    return Readings(name, rims.start_ns, rims.time_s, table, tuple(sensors), rims.silent_s, left_out)


def check_vehicle(log: DriveLog, robot: SkidSteerRobot | OmniRobot, *, is_tracked: bool = False) -> None:
    """Refuse a log whose wheels cannot be this robot's; each track is driven by one sprocket."""
    name, columns = log.source or log.about or "drive", log[ENCODERS].columns
    has_sides = any(set(rotation_columns((quantity,), 0)) <= set(columns) for quantity in ("angle", "ticks", "speed"))
    told = sum(column.startswith("wheel_") for column in columns) // max(_quantities(columns), 1)
    wheels = len(robot.wheels.at_m.value)
    if not robot.has_sides:
        if told != wheels:
            found = "a left and a right side, as skid-steer and tracked robots have them" if has_sides else f"{told} wheels"
            raise LogError(
                f"{name}: the encoders tell {found}; {robot.name} is an omni robot on {wheels} wheels: is this another "
                f"robot's log?"
            )
        return
    if is_tracked and not has_sides and told > 2:
        raise LogError(
            f"{name}: the encoders tell {told} wheels; {robot.name} has two tracks, each driven by one sprocket: is this the log "
            f"of a robot on wheels? If not, call the columns of the sprockets {' and '.join(rotation_columns(('speed',), 0))}"
        )
    if not has_sides and told not in (0, wheels):
        raise LogError(
            f"{name}: the encoders tell {told} wheels; {robot.name} has {wheels}, on a left and a right side: is this another "
            f"robot's log? If not, call the columns {' and '.join(rotation_columns(('speed',), 0))}"
        )
    if COMMANDS in log and "vy_mps" in log[COMMANDS].columns:
        aside, ahead = (np.nanmax(np.abs(log[COMMANDS].column(way)), initial=0.0) for way in ("vy_mps", "v_mps"))
        if aside > SIDEWAYS * ahead and aside > 0.0:
            raise LogError(
                f"{name}: the robot was told to drive sideways, at up to {aside:.3g} m/s; {robot.name} has a left and a right "
                f"side and cannot: is this the log of an omni robot?"
            )


def _quantities(columns: tuple[str, ...]) -> int:
    """How many of angle, ticks and speed are told of wheels."""
    return sum(rotation_columns((quantity,), 1)[0] in columns for quantity in ("angle", "ticks", "speed"))


def _rims(
    log: DriveLog, robot: SkidSteerRobot | OmniRobot, motion: Motion, counts_per_turn: TurnCounts | None
) -> tuple[Rims, np.ndarray]:
    """The grid of the rims, and their speeds on it: (m, 2) of sides, (m, 3) what an omni robot's wheels say of its body."""
    if robot.has_sides:
        rims = rims_of(log, skid_steer_robot(robot), counts_per_turn=counts_per_turn)
        return rims, np.column_stack([rims.left_mps, rims.right_mps])
    angles = wheel_angles(log, omni_robot(robot), counts_per_turn=counts_per_turn)
    stamps = angles.stamps_ns
    time_s = (stamps - stamps[0]) / NANOSECONDS
    grid = np.zeros(max(2, int(time_s[-1] / GRID_S)))
    rims = Rims(int(stamps[0]), grid, grid, silences(time_s))
    half = 0.5 * max(SPEED_OVER_S, 2.0 * float(np.median(np.diff(time_s))))
    before, after = np.maximum(rims.time_s - half, 0.0), np.minimum(rims.time_s + half, time_s[-1])
    speeds = np.column_stack(
        [(np.interp(after, time_s, a) - np.interp(before, time_s, a)) / (after - before) for a in angles.angle_rad.T]
    )
    assert motion.twist_of_wheels is not None
    return rims, np.asarray(speeds @ motion.twist_of_wheels.T)


def _sensor(name: str, log: DriveLog, rims: Rims, settings: FilterSettings) -> tuple[Sensor | None, int]:
    """A sensor of the log, and how many of its rows are not finite; none where the log lacks it."""
    match name:
        case "pose":
            return _pose(log, rims, settings)
        case "gnss":
            return _plain(name, log, rims, GNSS, ("x_m", "y_m", None), (settings.gnss_m, settings.gnss_m, np.nan))
        case "odometry":
            stds = (settings.velocity_mps, settings.velocity_mps, settings.velocity_radps)
            return _plain(name, log, rims, ODOMETRY, ("vx_mps", "vy_mps", "yaw_rate_radps"), stds)
        case "gyro":
            return _plain(name, log, rims, IMU, ("gyro_z_radps", None, None), (settings.gyro_radps, np.nan, np.nan))
        case "accelerometer":
            stds = (settings.accel_mps2, settings.accel_mps2, np.nan)
            found, dropped = _plain(name, log, rims, IMU, ("accel_x_mps2", "accel_y_mps2", None), stds)
            return (None if found is None else _thinned(found)), dropped
    raise LogError(f"there is no sensor '{name}'; known are {', '.join(SENSORS)}")


def _pose(log: DriveLog, rims: Rims, settings: FilterSettings) -> tuple[Sensor | None, int]:
    if not has_pose(log):
        return None, 0
    poses = poses_of(log, rims)
    values = np.column_stack([poses.x_m, poses.y_m, poses.yaw_rad])
    stds = np.array([settings.pose_m, settings.pose_m, settings.pose_rad])
    anew = np.concatenate([[True], np.diff(poses.segment) != 0])
    anchors = anew if SEGMENTS in log else np.zeros(len(anew), dtype=bool)
    dropped = len(log[POSE].stamps_ns) - len(values)
    return Sensor("pose", poses.time_s, values, stds, POSE_EVENT, anchors, poses.taken_s), dropped


def _plain(
    name: str, log: DriveLog, rims: Rims, channel: str, columns: tuple[str | None, ...], stds: tuple[float, ...]
) -> tuple[Sensor | None, int]:
    """Columns that a channel has to have; None for what the sensor does not tell."""
    wanted = [column for column in columns if column]
    if channel not in log or not set(wanted) <= set(log[channel].columns):
        return None, 0
    source = log[channel]
    values = np.full((len(source.stamps_ns), 3), np.nan)
    for k, column in enumerate(columns):
        if column:
            values[:, k] = source.column(column)
    told = np.isfinite(values[:, [k for k, column in enumerate(columns) if column]]).all(axis=1)
    if told.sum() < 2:
        return None, int((~told).sum())
    sensor = Sensor(name, rims.seconds(source.stamps_ns[told]), values[told], np.asarray(stds, dtype=float), _KINDS[name])
    return sensor, int((~told).sum())


def _thinned(sensor: Sensor) -> Sensor:
    """Means over as many readings as bring the rate to `ACCEL_HZ`; their noise is taken to be vibration, which means keep."""
    span = sensor.time_s[-1] - sensor.time_s[0]
    per = int(len(sensor.time_s) / max(span, 1e-9) / ACCEL_HZ)
    if per < 2:
        return sensor
    whole = len(sensor.time_s) // per * per
    times = sensor.time_s[:whole].reshape(-1, per)[:, -1]
    values = sensor.values[:whole].reshape(-1, per, 3).mean(axis=1)
    return Sensor(sensor.name, times, values, sensor.stds, sensor.kind)
