"""The topics of a case as streams of messages, node by node."""

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import numpy as np
from scipy.spatial.transform import Rotation

from ordinary_bags import messages as ros
from ordinary_bags.cases import Case, Fused, PoseSource, WheelOdometry
from ordinary_bags.drives import Motion, motion, ticks
from ordinary_bags.fused import WHEEL_POSITION_VARIANCE, WHEEL_SPEED_VARIANCE, WHEEL_YAW_RATE_VARIANCE, fuse
from ordinary_bags.imu import read_imu
from ordinary_bags.messages import Stream
from ordinary_bags.references import AMCL_SCAN_HZ, Observed, amcl, composed, inverse, observe
from ordinary_bags.wheels import Reckoned, reckon, wheel_counts

#: When the recordings were made (ns since 1970), a Tuesday in November 2023; each case some time later.
EPOCH_NS = 1_700_000_000 * ros.NANOSECONDS

#: Time between publishing and recording (s), least and most.
TRANSPORT_S = (0.0002, 0.0015)

#: Rates of status texts, and of robot_state_publisher.
STATUS_HZ, WHEEL_FRAMES_HZ = 1.0, 20.0

#: How far a node's clock falls back in the middle of a recording whose clock was reset (s).
CLOCK_RESET_S = 30.0

STATUS_TEXTS = ("idle", "driving", "battery 24.6 V", "driving", "joystick connected")
ENCODER_LINES = ("/motor_driver", "wheel controller running")


def streams(case: Case) -> list[Stream]:
    """Every publisher of a case."""
    return list(Nodes(case).publishers())


class Nodes:
    """The nodes that ran during a case's drive."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.motion: Motion = motion(case)
        draw = np.random.default_rng([case.seed, 7])
        self.start_ns = EPOCH_NS + int(draw.integers(0, 10**7)) * ros.NANOSECONDS + int(draw.integers(0, ros.NANOSECONDS))

    def publishers(self) -> Iterator[Stream]:
        case = self.case
        if case.joints:
            yield self._joint_states()
        if case.imu:
            yield self._imu()
        wheels = [(o, self._noisy(o, reckon(case, self.motion, o))) for o in case.odometry]
        fused = [(f, self._noisy(f, fuse(case, self.motion, f))) for f in case.fused]
        for odometry, reckoned in wheels:
            yield self._wheel_odometry(odometry, reckoned)
        for filtered, reckoned in fused:
            yield self._fused(filtered, reckoned)
        for source in case.poses:
            yield self._pose(source, observe(case, self.motion, source))
        yield from self._transforms([*fused, *wheels])
        if case.has_cmd_vel:
            yield self._cmd_vel()
        if case.has_other_topics:
            yield from self._other_topics()

    def _noisy(self, source: WheelOdometry | Fused, reckoned: Reckoned) -> Reckoned:
        """Noise that a simulator's plugin adds to what it publishes."""
        draw = np.random.default_rng([self.case.seed, 12, crc32(source.topic.encode())])
        return replace(reckoned, pose=reckoned.pose + source.noise_m * draw.standard_normal(reckoned.pose.shape))

    def _ns(self, time_s: np.ndarray) -> np.ndarray:
        """Header stamps."""
        if self.case.fault == "clock reset":
            time_s = time_s - CLOCK_RESET_S * (time_s > 0.5 * self.motion.duration_s)
        return self._wall_ns(time_s)

    def _wall_ns(self, time_s: np.ndarray) -> np.ndarray:
        return self.start_ns + np.round(time_s * ros.NANOSECONDS).astype(np.int64)

    def _log_ns(self, name: str, published_s: np.ndarray) -> np.ndarray:
        draw = np.random.default_rng([self.case.seed, 8, crc32(name.encode())])
        return self._wall_ns(published_s + draw.uniform(*TRANSPORT_S, len(published_s)))

    def _topic(self, name: str) -> str:
        return f"{self.case.namespace}{name}"

    def _frame(self, name: str) -> str:
        return f"{self.case.namespace}/{name}".lstrip("/")

    def _joint_states(self) -> Stream:
        case, joints = self.case, self.case.joints
        assert joints
        draw = np.random.default_rng([case.seed, 9])
        time_s = ticks(case, "controller", joints.rate_hz)
        stamp_s = time_s + draw.uniform(0.0, joints.jitter_s, len(time_s))
        if joints.is_read_at_stamp:
            time_s = stamp_s
        per_count = 2.0 * np.pi / case.controller.counts_per_turn
        count = len(joints.names)
        position = wheel_counts(case, self.motion, time_s)[:, :count] * per_count
        period_s = 1.0 / case.controller.rate_hz  # the driver's speed is the difference over its last cycle
        velocity = (position - wheel_counts(case, self.motion, time_s - period_s)[:, :count] * per_count) / period_s

        def build(v):
            numbers = np.array(v)
            effort = np.array([])
            return ros.message(
                "sensor_msgs/JointState", ros.header(""), list(joints.names), numbers[:count], numbers[count:], effort
            )

        columns = np.hstack([position, velocity])
        topic = self._topic(joints.topic)
        return ros.stream(topic, "sensor_msgs/JointState", build, self._log_ns(topic, stamp_s), self._ns(stamp_s), columns)

    def _imu(self) -> Stream:
        imu = self.case.imu
        assert imu
        readings = read_imu(self.case, self.motion, imu)
        unset = np.array([-1.0, *np.zeros(8)])
        known = ros.covariance(0.001, 0.001, 0.01) if imu.has_orientation else unset
        gyro_covariance = ros.covariance(*[imu.gyro_noise_radps**2] * 3)
        accel_covariance = ros.covariance(*[imu.accel_noise_mps2**2] * 3)

        def build(v):
            return ros.message(
                "sensor_msgs/Imu", ros.header(self._frame("imu_link")), ros.quaternion(v[:4]), known, ros.vector(v[4:7]),
                gyro_covariance, ros.vector(v[7:10]), accel_covariance,
            )  # fmt: skip

        columns = np.hstack([readings.quaternion, readings.gyro, readings.accel])
        topic = self._topic(imu.topic)
        log_ns = self._log_ns(topic, readings.time_s)
        return ros.stream(topic, "sensor_msgs/Imu", build, log_ns, self._ns(readings.time_s), columns)

    def _wheel_odometry(self, odometry: WheelOdometry, reckoned: Reckoned) -> Stream:
        return self._reckoned(odometry.topic, odometry.message, reckoned)

    def _fused(self, fused: Fused, reckoned: Reckoned) -> Stream:
        return self._reckoned(fused.topic, "Odometry", reckoned)

    def _reckoned(self, name: str, kind: str, reckoned: Reckoned) -> Stream:
        columns = ros.planar(reckoned.pose)
        frame, base, topic = self._frame("odom"), self._frame(self.case.base_frame), self._topic(name)
        if kind == "Odometry":
            v, rate = reckoned.speed.T
            columns = np.hstack([columns, ros.twist_columns(v, np.zeros_like(v), rate)])
            position, speed = WHEEL_POSITION_VARIANCE, WHEEL_SPEED_VARIANCE
            pose_covariance = ros.covariance(position, position, 1e6, 1e6, 1e6, 0.01)
            twist_covariance = ros.covariance(speed, speed, 1e6, 1e6, 1e6, WHEEL_YAW_RATE_VARIANCE)
            build, msgtype = ros.odometry(frame, base, pose_covariance, twist_covariance), "nav_msgs/Odometry"
        else:
            build, msgtype = _pose_builder(kind, frame, 0.01)
        log_ns = self._log_ns(topic, reckoned.stamp_s)
        return ros.stream(topic, msgtype, build, log_ns, self._ns(reckoned.stamp_s), columns)

    def _pose(self, source: PoseSource, observed: Observed) -> Stream:
        height_m = 0.3 if source.sensor == "mocap" else 0.0
        columns, topic = ros.planar(observed.pose, height_m), self._topic(source.topic)
        if source.message == "Odometry":
            vx, vy, rate = observed.speed.T
            if source.sensor == "simulator":  # Gazebo's p3d plugin publishes velocities in the world's axes
                yaw = observed.pose[:, 2] - source.yaw_offset_rad
                vx, vy = np.cos(yaw) * vx - np.sin(yaw) * vy, np.sin(yaw) * vx + np.cos(yaw) * vy
            columns = np.hstack([columns, ros.twist_columns(vx, vy, rate)])
            std = max(source.position_noise_m, source.drift_m)
            covariance = ros.covariance(std**2, std**2, 0.0, 0.0, 0.0, source.yaw_noise_rad**2)
            child = self._frame(self.case.base_frame)
            build, msgtype = ros.odometry(self._frame(source.frame), child, covariance, covariance), "nav_msgs/Odometry"
        else:
            build, msgtype = _pose_builder(
                source.message, self._frame(source.frame), max(source.position_noise_m, source.drift_m)
            )
        log_ns = self._log_ns(topic, observed.arrival_s)
        return ros.stream(topic, msgtype, build, log_ns, self._ns(observed.stamp_s), columns)

    def _transforms(self, sources: list[tuple[WheelOdometry | Fused, Reckoned]]) -> Iterator[Stream]:
        case, base = self.case, self._frame(self.case.base_frame)
        publisher = next((reckoned for source, reckoned in sources if source.has_tf), None)
        if publisher and case.fault != "tf gap":
            yield self._tf(self._frame("odom"), base, publisher.stamp_s, publisher.pose, self._log_ns("tf", publisher.stamp_s))
        if case.nav2:
            assert publisher, "nav2 needs a transform odom -> base"
            yield from self._nav2(publisher)
        if case.nav2 and case.nav2.wheel_frames and case.joints:
            yield self._wheel_frames()
        if case.fault == "two parents":
            assert publisher
            shifted = publisher.pose + np.array([1.0, 2.0, 0.3])
            yield self._tf("map_of_another_node", base, publisher.stamp_s, shifted, self._log_ns("tf2", publisher.stamp_s))
        yield self._static_transforms()

    def _tf(self, parent: str, child: str, stamp_s: np.ndarray, pose: np.ndarray, log_ns: np.ndarray) -> Stream:
        build = ros.transforms([(parent, child)])
        topic = "/tf"  # of all robots, as in ROS
        return ros.stream(topic, "tf2_msgs/TFMessage", build, log_ns, self._ns(stamp_s), ros.planar(pose))

    def _nav2(self, odom: Reckoned) -> Iterator[Stream]:
        """AMCL: its pose when it updates, its correction map -> odom at every scan, stamped into the future."""
        assert self.case.nav2
        found = amcl(self.case, self.motion)
        yaw = np.unwrap(odom.pose[:, 2])
        when = np.column_stack([np.interp(found.stamp_s, odom.stamp_s, c) for c in (odom.pose[:, 0], odom.pose[:, 1], yaw)])
        correction = composed(found.pose, inverse(when))
        scans_s = ticks(self.case, "lidar", AMCL_SCAN_HZ)
        latest = np.clip(np.searchsorted(found.stamp_s, scans_s + 1e-9) - 1, 0, None)
        stamp_s = scans_s + self.case.nav2.transform_tolerance_s
        log_ns = self._log_ns("amcl tf", scans_s + 0.04)
        yield self._tf(self._frame("map"), self._frame("odom"), stamp_s, correction[latest], log_ns)
        if self.case.nav2.has_amcl_pose:
            source = PoseSource("/amcl_pose", "amcl", "PoseWithCovarianceStamped", "map", position_noise_m=0.03)
            yield self._pose(source, found)

    def _wheel_frames(self) -> Stream:
        """robot_state_publisher: a frame for each wheel, from the joint states."""
        joints, at = self.case.joints, self.motion.wheel_at_m
        assert joints
        time_s = ticks(self.case, "robot_state_publisher", WHEEL_FRAMES_HZ)
        count = len(joints.names)
        angles = wheel_counts(self.case, self.motion, time_s)[:, :count] * 2.0 * np.pi / self.case.controller.counts_per_turn
        columns = []
        for w in range(count):
            x, y = at[w] if count == 4 else (0.0, at[w][1])
            place = np.tile([x, y, 0.0], (len(time_s), 1))
            spin = np.column_stack([0.0 * time_s, np.sin(0.5 * angles[:, w]), 0.0 * time_s, np.cos(0.5 * angles[:, w])])
            columns += [place, spin]
        pairs = [(self._frame("base_link"), self._frame(name.replace("_joint", "_link"))) for name in joints.names]
        log_ns = self._log_ns("wheel frames", time_s)
        return ros.stream("/tf", "tf2_msgs/TFMessage", ros.transforms(pairs), log_ns, self._ns(time_s), np.hstack(columns))

    def _static_transforms(self) -> Stream:
        case, pairs, places = self.case, [], []
        base = self._frame("base_link")
        if case.base_frame != "base_link":
            pairs.append((self._frame(case.base_frame), base))
            places.append([0.0, 0.0, self.motion.radius_m, 0.0, 0.0, 0.0, 1.0])
        if case.imu and case.fault != "no imu frame":
            pairs.append((base, self._frame("imu_link")))
            places.append([*case.imu.at_m, *Rotation.from_euler("xyz", case.imu.rpy_rad).as_quat()])
        pairs.append((base, self._frame("laser")))
        places.append([0.2, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0])
        if case.fault == "tf loop":
            pairs.append((self._frame("laser"), base))
            places.append([-0.2, 0.0, -0.25, 0.0, 0.0, 0.0, 1.0])
        time_s, columns = np.array([0.0]), np.array(places).reshape(1, -1)
        log_ns = self._log_ns("tf_static", time_s)
        build = ros.transforms(pairs)
        return ros.stream("/tf_static", "tf2_msgs/TFMessage", build, log_ns, self._ns(time_s - 3.0), columns)

    def _cmd_vel(self) -> Stream:
        time_s = self.motion.command_time_s
        v, rate = self.motion.command.T
        columns, topic = ros.twist_columns(v, np.zeros_like(v), rate), self._topic("/cmd_vel")
        log_ns = self._log_ns(topic, time_s)
        if self.case.drive.style == "teleop":  # gamepad nodes are silent while the stick is released
            moving = np.abs(self.motion.command).sum(axis=1) > 0.0
            moving |= np.roll(moving, 1)
            if moving.any():
                columns, log_ns, time_s = columns[moving], log_ns[moving], time_s[moving]
        return ros.stream(topic, "geometry_msgs/Twist", ros.twist, log_ns, self._ns(time_s), columns)

    def _other_topics(self) -> Iterator[Stream]:
        time_s = ticks(self.case, "status", STATUS_HZ)
        status, rosout, diagnostics, camera = (
            self._topic(t) for t in ("/status", "/rosout", "/diagnostics", "/camera/camera_info")
        )

        def text(k, when_ns):
            return ros.message("std_msgs/String", STATUS_TEXTS[k % len(STATUS_TEXTS)])

        def log(k, when_ns):
            node, line = ENCODER_LINES
            return ros.message(
                "rcl_interfaces/Log", ros.stamp_of(when_ns), 20, node, f"{line}, cycle {k}", "driver.cpp", "spin", 88
            )

        def health(k, when_ns):
            value = ros.message("diagnostic_msgs/KeyValue", "battery voltage [V]", f"{25.0 - 0.002 * k:.2f}")
            entry = ros.message("diagnostic_msgs/DiagnosticStatus", 0, "base: battery", "OK", "base", [value])
            return ros.message(
                "diagnostic_msgs/DiagnosticArray", ros.message("std_msgs/Header", ros.stamp_of(when_ns), ""), [entry]
            )

        def lens(v):
            k, p = np.array([600.0, 0, 320, 0, 600, 240, 0, 0, 1]), np.array([600.0, 0, 320, 0, 0, 600, 240, 0, 0, 0, 1, 0])
            region = ros.message("sensor_msgs/RegionOfInterest", 0, 0, 0, 0, False)
            frame = ros.header(self._frame("camera_link"))
            args = (frame, 480, 640, "plumb_bob", np.zeros(5), k, np.eye(3).ravel(), p, 0, 0, region)
            return ros.message("sensor_msgs/CameraInfo", *args)

        yield ros.texts(status, "std_msgs/String", self._log_ns(status, time_s), text)
        yield ros.texts(rosout, "rcl_interfaces/Log", self._log_ns(rosout, time_s[::5]), log)
        yield ros.texts(diagnostics, "diagnostic_msgs/DiagnosticArray", self._log_ns(diagnostics, time_s), health)
        frames_s = ticks(self.case, camera, 10.0)
        log_ns = self._log_ns(camera, frames_s)
        yield ros.stream(camera, "sensor_msgs/CameraInfo", lens, log_ns, self._ns(frames_s), np.empty((len(frames_s), 0)))


def _pose_builder(kind: str, frame: str, std_m: float):
    if kind == "PoseStamped":
        return ros.pose_stamped(frame), "geometry_msgs/PoseStamped"
    covariance = ros.covariance(std_m**2, std_m**2, 0.0, 0.0, 0.0, 0.0685)
    return ros.pose_with_covariance(frame, covariance), "geometry_msgs/PoseWithCovarianceStamped"
