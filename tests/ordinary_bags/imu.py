"""Readings of an IMU that sits somewhere on the robot, turned as it was mounted."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ordinary_bags.cases import Case, Imu
from ordinary_bags.drives import Motion, ticks

GRAVITY_MPS2 = 9.81


@dataclass(frozen=True, eq=False)
class Readings:
    """Accelerometer and gyro in the sensor's axes, the orientation that its filter publishes, and the gyro in the base's axes."""

    time_s: np.ndarray
    accel: np.ndarray
    gyro: np.ndarray
    quaternion: np.ndarray  # x, y, z, w
    base_yaw_rate: np.ndarray
    base_yaw: np.ndarray


def read_imu(case: Case, motion: Motion, imu: Imu) -> Readings:
    """Rigid-body motion of the sensor's place, noise and bias; the orientation integrates the gyro."""
    draw = np.random.default_rng([case.seed, 4])
    time_s = ticks(case, "imu", imu.rate_hz)
    names = ("fx_mps2", "fy_mps2", "yaw_rate_radps", "yaw_accel_radps2", "vx_mps")
    fx, fy, rate, turn, vx = motion.at(time_s, *names)
    arm_x, arm_y = np.array(imu.at_m[:2]) - motion.center_of_mass_m
    # Acceleration of a point of a rigid body in the plane: tangential and centripetal on top of the center of mass's.
    felt = np.column_stack(
        [fx - turn * arm_y - rate**2 * arm_x, fy + turn * arm_x - rate**2 * arm_y, np.full_like(fx, GRAVITY_MPS2)]
    )
    turned = np.column_stack([np.zeros_like(rate), np.zeros_like(rate), rate])
    mounted = Rotation.from_euler("xyz", imu.rpy_rad)  # base from imu
    noise = imu.accel_noise_mps2 * np.sqrt(1.0 + (imu.vibration_per_mps * vx) ** 2)
    accel = mounted.inv().apply(felt) + imu.accel_bias_mps2 * draw.standard_normal(3)
    accel += noise[:, None] * draw.standard_normal(felt.shape)
    gyro = mounted.inv().apply(turned) + imu.gyro_bias_radps * draw.standard_normal(3)
    gyro += imu.gyro_noise_radps * draw.standard_normal(felt.shape)
    in_base = mounted.apply(gyro)[:, 2]
    yaw = draw.uniform(-3.1, 3.1) + np.concatenate([[0.0], np.cumsum(0.5 * (in_base[1:] + in_base[:-1])) / imu.rate_hz])
    if imu.has_orientation:
        quaternion = (Rotation.from_euler("z", yaw[:, None]) * mounted).as_quat()
    else:
        quaternion = np.tile([0.0, 0.0, 0.0, 1.0], (len(time_s), 1))
    return Readings(time_s, accel, gyro, quaternion, in_base, yaw)
