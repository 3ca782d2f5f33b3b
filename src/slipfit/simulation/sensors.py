"""What sensors on the robot would have said: rates, noise, bias, resolution, delay, lever arm and tilt.

A reading is stamped when it comes out; it tells what was `delay_s` before. Each sensor draws from its own random
stream and reads every step of the run, so adding one does not change what another says.
"""

import numpy as np

from slipfit.library import Ground, OmniRobot, SkidSteerRobot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.simulation.scenario import Encoders, Imu, PoseSensor, Scenario
from slipfit.simulation.trajectory import Trajectory

_STREAMS = ("imu", "encoders", "pose")


def read_sensors(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot, ground: Ground, scenario: Scenario) -> DriveLog:
    """Readings of every sensor that the scenario names, from a trajectory with every step of the run."""
    sensors = scenario.sensors
    draw = random_streams(scenario.seed)
    channels = []
    if sensors.imu:
        into_mps2 = scenario.ground.gravity_on(ground) * float(np.cos(scenario.ground.slope_rad))
        channels.append(_imu(trajectory, robot, sensors.imu, into_mps2, draw["imu"]))
    if sensors.encoders:
        channels.append(encoder_channel(trajectory, sensors.encoders, draw["encoders"]))
    if sensors.pose:
        channels.append(pose_channel(trajectory, sensors.pose, draw["pose"]))
    return DriveLog({c.name: c for c in channels}, about=f"simulated drive of {trajectory.robot} on {trajectory.ground}")


def random_streams(seed: int) -> dict[str, np.random.Generator]:
    """One stream for each sensor."""
    streams = zip(_STREAMS, np.random.SeedSequence(seed).spawn(len(_STREAMS)), strict=True)
    return {name: np.random.default_rng(stream) for name, stream in streams}


def stamps_ns_of(trajectory: Trajectory, rate_hz: float) -> np.ndarray:
    count = int(np.floor(trajectory.time_s[-1] * rate_hz * (1.0 + 1e-12))) + 1
    return np.round(np.arange(count) * (NANOSECONDS / rate_hz)).astype(np.int64)


def sampled(trajectory: Trajectory, stamps_ns: np.ndarray, delay_s: float, *columns: np.ndarray) -> list[np.ndarray]:
    """Columns `delay_s` before each stamp; before the start they have their first value."""
    when_s = stamps_ns / NANOSECONDS - delay_s
    return [np.interp(when_s, trajectory.time_s, column) for column in columns]


def _stepped(values: np.ndarray, step: float) -> np.ndarray:
    return np.round(values / step) * step if step > 0.0 else values


def mounting(roll_rad: float, pitch_rad: float) -> np.ndarray:
    """Matrix that turns what the body feels into what a tilted IMU feels: (R_y(pitch) R_x(roll))^T."""
    cr, sr, cp, sp = np.cos(roll_rad), np.sin(roll_rad), np.cos(pitch_rad), np.sin(pitch_rad)
    body_from_imu = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
    return body_from_imu.T


def force_at(
    fx: np.ndarray, fy: np.ndarray, rate: np.ndarray, turn: np.ndarray, arm_x: float, arm_y: float
) -> tuple[np.ndarray, np.ndarray]:
    """Specific force at an arm from the centre of mass: that point's tangential and centripetal acceleration come on top.

    Symbols    fx, fy specific force of the centre of mass (m/s^2) · rate yaw rate · turn yaw acceleration · rigid body, planar
    """
    return fx - turn * arm_y - rate**2 * arm_x, fy + turn * arm_x - rate**2 * arm_y


def _imu(
    trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot, imu: Imu, gravity_into_mps2: float, draw: np.random.Generator
) -> Channel:
    stamps = stamps_ns_of(trajectory, imu.rate_hz)
    t = trajectory
    (rate,) = sampled(t, stamps, imu.delay_s, t.yaw_rate_radps)
    # Accelerations are means over the step that ends at their record: they belong to its middle.
    half_step_s = 0.5 * float(t.time_s[1] - t.time_s[0])
    fx, fy, accel = sampled(t, stamps, imu.delay_s - half_step_s, t.fx_mps2, t.fy_mps2, t.yaw_accel_radps2)
    arm_x, arm_y = np.asarray(imu.lever_arm_m) - np.asarray(robot.centre_of_mass_m.value[:2])
    felt = np.column_stack([*force_at(fx, fy, rate, accel, arm_x, arm_y), np.full_like(fx, gravity_into_mps2)])
    turned = np.column_stack([np.zeros_like(rate), np.zeros_like(rate), rate])
    return imu_channel(stamps, felt, turned, imu, draw)


def imu_channel(stamps: np.ndarray, felt: np.ndarray, turned: np.ndarray, imu: Imu, draw: np.random.Generator) -> Channel:
    """What an IMU says of the true specific force and turning rate in the body's axes, shape (T, 3) each."""
    seat = mounting(*imu.tilt_rad)
    felt, turned = felt @ seat.T, turned @ seat.T
    bias_x, bias_y = np.broadcast_to(np.asarray(imu.accel_bias_mps2, dtype=float), 2)
    felt += np.array([bias_x, bias_y, 0.0]) + imu.accel_noise_mps2 * draw.standard_normal(felt.shape)
    turned += imu.gyro_bias_radps + imu.gyro_noise_radps * draw.standard_normal(turned.shape)
    values = np.hstack([_stepped(felt, imu.accel_step_mps2), _stepped(turned, imu.gyro_step_radps)])
    names = [f"{kind}_{axis}_{unit}" for kind, unit in (("accel", "mps2"), ("gyro", "radps")) for axis in "xyz"]
    return Channel("imu", stamps, values, tuple(names))


def encoder_channel(trajectory: Trajectory, encoders: Encoders, draw: np.random.Generator) -> Channel:
    stamps = stamps_ns_of(trajectory, encoders.rate_hz)
    angles = np.column_stack(sampled(trajectory, stamps, encoders.delay_s, *trajectory.wheel_angle_rad.T))
    angles += encoders.noise_rad * draw.standard_normal(angles.shape)
    per_count = 2.0 * np.pi / encoders.counts_per_turn
    # Counters start at zero somewhere between two lines, and step up when a line passes: they round down.
    within = draw.uniform(0.0, 1.0, angles.shape[1])
    counted = np.floor(angles / per_count + within) * per_count
    return Channel("encoders", stamps, counted, tuple(f"wheel_angle_{w}_rad" for w in range(angles.shape[1])))


def pose_channel(trajectory: Trajectory, pose: PoseSensor, draw: np.random.Generator) -> Channel:
    stamps = stamps_ns_of(trajectory, pose.rate_hz)
    t = trajectory
    values = np.column_stack(sampled(t, stamps, pose.delay_s, t.x_m, t.y_m, t.heading_rad))
    spread = np.array([pose.position_noise_m, pose.position_noise_m, pose.yaw_noise_rad])
    values += spread * draw.standard_normal(values.shape)
    return Channel("pose", stamps, values, ("x_m", "y_m", "yaw_rad"))
