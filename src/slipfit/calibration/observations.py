"""What the sensors said, ready to be compared with a replay: forces and turning rates of an IMU, and motion between poses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU, POSE
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.simulation.sensors import force_at
from slipfit.vehicles.skid_steer import BODY_COLUMNS

#: Seconds at either end of the drive that are left out: the start speed is only guessed, curves end there.
EDGE_S = 0.15

#: Poses farther apart than this are not joined.
LONGEST_STEP_S = 1.0

_AT = {name: k for k, name in enumerate(BODY_COLUMNS)}


@dataclass(frozen=True, eq=False, slots=True)
class Inertial:
    """Readings of an IMU at its own stamps, seconds from the drive's start."""

    time_s: np.ndarray
    readings: np.ndarray  # (T, 3): accel x, accel y, gyro z


@dataclass(frozen=True, eq=False, slots=True)
class PoseSteps:
    """Motion from one pose to the next, in the frame of the first: what a drift far back does not disturb."""

    from_s: np.ndarray
    to_s: np.ndarray
    moved: np.ndarray  # (T, 3): ahead, to the left, turned
    is_next: np.ndarray  # whether a step starts where the one before ends: they share a pose, and its error


@dataclass(frozen=True, eq=False, slots=True)
class Observations:
    """All that a fit compares."""

    imu: Inertial | None
    pose: PoseSteps | None

    def predict(
        self, body: np.ndarray, step_s: float, robot: SkidSteerRobot, gravity_mps2: float, x: Mapping[str, float]
    ) -> list[np.ndarray]:
        """What the sensors would have said of a replay's motion: readings of the IMU (T, 3), steps of the pose (T, 3)."""
        found = []
        if self.imu:
            found.append(_felt(self.imu, body, step_s, robot, gravity_mps2, x))
        if self.pose:
            found.append(_moved(self.pose, body, step_s, x))
        return found

    @property
    def measured(self) -> list[np.ndarray]:
        """The same of the log."""
        return ([self.imu.readings] if self.imu else []) + ([self.pose.moved] if self.pose else [])


def observe(log: DriveLog, start_ns: int, end_ns: int) -> Observations:
    """Everything in a log that tells the body's motion while the encoders ran."""
    return Observations(_inertial(log, start_ns, end_ns), _pose_steps(log, start_ns, end_ns))


def _inside(stamps_ns: np.ndarray, start_ns: int, end_ns: int) -> tuple[np.ndarray, np.ndarray]:
    time_s = (stamps_ns - start_ns) / NANOSECONDS
    return time_s, (time_s > EDGE_S) & (time_s < (end_ns - start_ns) / NANOSECONDS - EDGE_S)


def _inertial(log: DriveLog, start_ns: int, end_ns: int) -> Inertial | None:
    if IMU not in log:
        return None
    channel = log[IMU]
    readings = np.column_stack([channel.column(name) for name in ("accel_x_mps2", "accel_y_mps2", "gyro_z_radps")])
    time_s, inside = _inside(channel.stamps_ns, start_ns, end_ns)
    inside &= np.isfinite(readings).all(axis=1)
    return Inertial(time_s[inside], readings[inside]) if inside.sum() > 10 else None


def _pose_steps(log: DriveLog, start_ns: int, end_ns: int) -> PoseSteps | None:
    if POSE not in log:
        return None
    channel = log[POSE]
    poses = np.column_stack([channel.column(name) for name in ("x_m", "y_m", "yaw_rad")])
    time_s, inside = _inside(channel.stamps_ns, start_ns, end_ns)
    inside &= np.isfinite(poses).all(axis=1)
    time_s, poses, stamps = time_s[inside], poses[inside], channel.stamps_ns[inside]
    if len(time_s) < 10:
        return None
    ahead, turned = np.diff(poses[:, :2], axis=0), np.diff(np.unwrap(poses[:, 2]))
    c, s = np.cos(poses[:-1, 2]), np.sin(poses[:-1, 2])
    moved = np.column_stack([c * ahead[:, 0] + s * ahead[:, 1], c * ahead[:, 1] - s * ahead[:, 0], turned])
    joined = (np.diff(time_s) <= LONGEST_STEP_S) & (np.diff(log.segment_at(stamps)) == 0)
    kept = np.nonzero(joined)[0]
    follows = np.concatenate([[False], np.diff(kept) == 1])
    return PoseSteps(time_s[:-1][joined], time_s[1:][joined], moved[joined], follows) if len(kept) > 10 else None


def _columns(
    body: np.ndarray, times_s: np.ndarray, step_s: float, names: Sequence[str], *, of_step: bool = False
) -> list[np.ndarray]:
    """Columns at any times; those that belong to a step (accelerations) are the mean over it, so they sit in its middle."""
    position = times_s / step_s + (0.5 if of_step else 0.0)
    k = np.clip(np.floor(position).astype(int), 0, len(body) - 2)
    share = np.clip(position - k, 0.0, 1.0)
    return [(1.0 - share) * body[k, _AT[name]] + share * body[k + 1, _AT[name]] for name in names]


def _felt(
    imu: Inertial, body: np.ndarray, step_s: float, robot: SkidSteerRobot, gravity_mps2: float, x: Mapping[str, float]
) -> np.ndarray:
    time_s = imu.time_s - x["imu_clock_s"]
    rate, heading = _columns(body, time_s, step_s, ("yaw_rate_radps", "heading_rad"))
    fx, fy, turn = _columns(body, time_s, step_s, ("fx_mps2", "fy_mps2", "yaw_accel_radps2"), of_step=True)
    com_x, com_y = x.get("centre_of_mass_x_m", 0.0), x.get("centre_of_mass_y_m", 0.0)
    arm_x, arm_y = x["imu_x_m"] - com_x, x["imu_y_m"] - com_y
    # A floor that rises gives the accelerometer a share of gravity that turns with the robot.
    c, s = np.cos(heading), np.sin(heading)
    slope_x, slope_y = x["floor_slope_x"], x["floor_slope_y"]
    fx, fy = force_at(fx, fy, rate, turn, arm_x, arm_y)
    fx = fx + gravity_mps2 * (c * slope_x + s * slope_y)
    fy = fy + gravity_mps2 * (c * slope_y - s * slope_x)
    c_imu, s_imu, scale = np.cos(x["imu_yaw_rad"]), np.sin(x["imu_yaw_rad"]), x["accel_scale"]
    return np.column_stack(
        [
            scale * (c_imu * fx + s_imu * fy) + x["accel_bias_x_mps2"],
            scale * (c_imu * fy - s_imu * fx) + x["accel_bias_y_mps2"],
            x.get("gyro_scale", 1.0) * rate + x["gyro_bias_radps"],
        ]
    )


def _moved(pose: PoseSteps, body: np.ndarray, step_s: float, x: Mapping[str, float]) -> np.ndarray:
    late, arm_x, arm_y = x["pose_clock_s"], x["pose_x_m"], x["pose_y_m"]
    places = []
    for times_s in (pose.from_s, pose.to_s):
        px, py, heading = _columns(body, times_s - late, step_s, ("x_m", "y_m", "heading_rad"))
        c, s = np.cos(heading), np.sin(heading)
        places.append((px + c * arm_x - s * arm_y, py + s * arm_x + c * arm_y, heading))
    (x0, y0, h0), (x1, y1, h1) = places
    c, s = np.cos(h0 + x["pose_yaw_rad"]), np.sin(h0 + x["pose_yaw_rad"])
    scale = x["pose_scale"]
    return np.column_stack([scale * (c * (x1 - x0) + s * (y1 - y0)), scale * (c * (y1 - y0) - s * (x1 - x0)), h1 - h0])
