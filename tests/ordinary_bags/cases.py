"""What a recorded bag contains: the robot, the ground, the drive, and the nodes whose topics were recorded.

Every case knows what its pose-like topics really are (`Case.truth`). Transforms are listed as `/tf[parent->child]`, where the
parent is the root frame and the child the robot's base.
"""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["independent", "wheel odometry", "fused"]
INDEPENDENT: Kind = "independent"
WHEEL_ODOMETRY: Kind = "wheel odometry"
FUSED: Kind = "fused"

PoseMessage = Literal["Odometry", "PoseStamped", "PoseWithCovarianceStamped"]


@dataclass(frozen=True)
class Slip:
    """A ground with the wheel_slip law."""

    c_long_per_n: float = 0.005
    c_lat_per_n: float = 0.03
    mu: float = 0.8


@dataclass(frozen=True)
class Body:
    """Mass, yaw inertia and center of mass that differ from the library's file."""

    mass_kg: float
    yaw_inertia_kgm2: float
    center_of_mass_m: tuple[float, float]


@dataclass(frozen=True)
class Drive:
    """How the robot was driven. Teleop drives and patrols get their targets from the case's seed."""

    style: Literal["planned", "teleop", "patrol", "parked"] = "teleop"
    speed_mps: float = 0.7
    yaw_rate_radps: float = 0.9
    acceleration_mps2: float = 1.0  # limits of the controller
    yaw_acceleration_radps2: float = 2.0
    duration_s: float = 60.0


@dataclass(frozen=True)
class Controller:
    """The base controller's idea of the robot, relative to the true one; it turns commands into wheel speeds with it."""

    radius_factor: float = 1.0
    track_factor: float = 1.0  # wheel_separation_multiplier, or a wrong track
    rate_hz: float = 100.0  # of its control loop
    counts_per_turn: int = 4096


@dataclass(frozen=True)
class Joints:
    """sensor_msgs/JointState."""

    topic: str = "/joint_states"
    names: tuple[str, ...] = (
        "front_left_wheel_joint",
        "front_right_wheel_joint",
        "rear_left_wheel_joint",
        "rear_right_wheel_joint",
    )
    rate_hz: float = 50.0
    jitter_s: float = 0.0005  # of the stamps, uniform from 0
    is_read_at_stamp: bool = False  # the reading jitters with its stamp, else it comes at regular times and its stamp is late


@dataclass(frozen=True)
class Imu:
    """sensor_msgs/Imu, with the sensor's place on the robot."""

    topic: str = "/imu/data"
    rate_hz: float = 100.0
    accel_noise_mps2: float = 0.05
    accel_bias_mps2: float = 0.03
    gyro_noise_radps: float = 0.003
    gyro_bias_radps: float = 0.002
    vibration_per_mps: float = 0.0  # growth of the accelerometer's noise with speed
    at_m: tuple[float, float, float] = (0.0, 0.0, 0.1)
    rpy_rad: tuple[float, float, float] = (0.0, 0.0, 0.0)
    has_orientation: bool = False  # integrated from the gyro, else unset


@dataclass(frozen=True)
class WheelOdometry:
    """Dead reckoning from encoder counts, as base controllers publish it."""

    topic: str = "/odom"
    method: Literal["rk2", "exact", "euler", "arcos"] = "rk2"
    message: PoseMessage = "Odometry"
    rate_hz: float = 50.0
    delay_s: float = 0.0  # stamped late by this
    smoothing_s: float = 0.0  # time constant of a low-pass filter on the wheel speeds
    is_open_loop: bool = False  # integrates the commands
    starts_at_zero: bool = True
    has_tf: bool = False
    noise_m: float = 0.0  # white, added to what is published: positions (m) and headings (rad)


@dataclass(frozen=True)
class Fused:
    """Wheel odometry and gyro: the EKF of robot_localization in two_d_mode, or a driver that takes its heading from the IMU."""

    topic: str = "/odometry/filtered"
    method: Literal["ekf", "imu_heading"] = "ekf"
    rate_hz: float = 30.0
    fuses: tuple[Literal["orientation", "wheel_yaw_rate", "wheel_pose"], ...] = ()  # besides wheel vx, vy and gyro yaw rate
    has_tf: bool = True
    noise_m: float = 0.0  # as of wheel odometry


@dataclass(frozen=True)
class PoseSource:
    """A pose that does not depend on the wheels."""

    topic: str = "/vrpn/robot/pose"
    sensor: Literal["mocap", "lidar", "amcl", "simulator", "gnss"] = "mocap"
    message: PoseMessage = "PoseStamped"
    frame: str = "world"
    rate_hz: float = 100.0
    position_noise_m: float = 0.002
    yaw_noise_rad: float = 0.003
    drift_m: float = 0.0  # standard deviation of slowly varying errors
    jumps: int = 0
    latency_s: float = 0.0
    is_stamped_on_arrival: bool = True  # else the latency shows in the log time only
    offset_m: tuple[float, float] = (0.0, 0.0)  # tracked point from the base frame
    yaw_offset_rad: float = 0.0
    has_heading: bool = True


@dataclass(frozen=True)
class Nav2:
    """AMCL's transform map -> odom on top of the wheel odometry or the EKF, and the frames that nav2 expects."""

    transform_tolerance_s: float = 1.0
    has_amcl_pose: bool = True
    wheel_frames: bool = True


@dataclass(frozen=True)
class Case:
    """One bag."""

    name: str
    seed: int
    robot: str = "p3at"
    body: Body | None = None
    ground: Slip = Slip()
    drive: Drive = Drive()
    controller: Controller = Controller()
    joints: Joints | None = Joints()
    imu: Imu | None = Imu()
    odometry: tuple[WheelOdometry, ...] = ()
    fused: tuple[Fused, ...] = ()
    poses: tuple[PoseSource, ...] = ()
    nav2: Nav2 | None = None
    base_frame: str = "base_link"
    has_cmd_vel: bool = True
    has_other_topics: bool = True
    storage: Literal["mcap", "mcap_folder", "sqlite3_folder"] = "mcap"
    namespace: str = ""
    fault: Literal["", "tf loop", "two parents", "tf gap", "no imu frame", "clock reset"] = ""
    about: str = field(default="", compare=False)

    @property
    def truth(self) -> dict[str, Kind]:
        """What each pose-like topic, and each chain of transforms from a root frame to the base, really is."""
        kinds: dict[str, Kind] = {o.topic: WHEEL_ODOMETRY for o in self.odometry}
        kinds |= {f.topic: FUSED for f in self.fused}
        kinds |= {p.topic: INDEPENDENT for p in self.poses}
        if self.nav2 and self.nav2.has_amcl_pose:
            kinds["/amcl_pose"] = INDEPENDENT
        kinds = {f"{self.namespace}{topic}": kind for topic, kind in kinds.items()}
        base_tf = self.base_tf
        if base_tf:
            kinds[self._chain("odom")] = base_tf
            if self.nav2:
                kinds[self._chain("map")] = INDEPENDENT
        return kinds

    def _chain(self, root: str) -> str:
        prefix = f"{self.namespace}/".lstrip("/")
        return f"/tf[{prefix}{root}->{prefix}{self.base_frame}]"

    @property
    def base_tf(self) -> Kind | None:
        """Who publishes odom -> base: the EKF if there is one, else the base controller if it is set to."""
        if self.fault == "tf gap":
            return None
        if any(f.has_tf for f in self.fused):
            return FUSED
        if any(o.has_tf for o in self.odometry):
            return WHEEL_ODOMETRY
        return None
