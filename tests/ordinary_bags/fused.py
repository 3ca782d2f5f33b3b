"""Fused odometry: a small EKF over x, y, yaw, vx, vy, yaw rate, as robot_localization runs it in two_d_mode.

The motion model and the process noise are those of robot_localization's example file; its accelerations are left out. Each
measurement is fused at its stamp, in order; the filter publishes at its own rate.
"""

import numpy as np

from ordinary_bags.cases import Case, Fused, WheelOdometry
from ordinary_bags.drives import Motion, ticks
from ordinary_bags.imu import Readings, read_imu
from ordinary_bags.wheels import Reckoned, reckon

X, Y, YAW, VX, VY, RATE = range(6)

#: Diagonal of the process noise covariance, per second.
PROCESS_NOISE = np.array([0.05, 0.05, 0.06, 0.025, 0.025, 0.02])

#: Variances that base controllers publish.
WHEEL_SPEED_VARIANCE, WHEEL_YAW_RATE_VARIANCE, WHEEL_POSITION_VARIANCE = 0.001, 0.01, 0.001

#: Variance of the yaw of an IMU's orientation.
YAW_VARIANCE = 0.01


class PlanarEkf:
    """Prediction with constant body velocities, and updates by measured entries of the state."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.state = np.zeros(6)
        self.covariance = np.eye(6) * 1e-9

    def predict(self, until_s: float) -> None:
        dt = until_s - self.time_s
        if dt <= 0.0:
            return
        s = self.state
        c, n = np.cos(s[YAW]) * dt, np.sin(s[YAW]) * dt
        jacobian = np.eye(6)
        jacobian[X, YAW], jacobian[Y, YAW] = -n * s[VX] - c * s[VY], c * s[VX] - n * s[VY]
        jacobian[X, VX], jacobian[X, VY], jacobian[Y, VX], jacobian[Y, VY], jacobian[YAW, RATE] = c, -n, n, c, dt
        self.state = s + np.array([c * s[VX] - n * s[VY], n * s[VX] + c * s[VY], s[RATE] * dt, 0.0, 0.0, 0.0])
        self.covariance = jacobian @ self.covariance @ jacobian.T
        self.covariance[np.diag_indices(6)] += PROCESS_NOISE * dt
        self.time_s = until_s

    def update(self, entry: int, value: float, variance: float) -> None:
        """Fuse one measured entry of the state; angles by their shortest difference."""
        column = self.covariance[:, entry]
        innovation = value - self.state[entry]
        if entry == YAW:
            innovation = (innovation + np.pi) % (2.0 * np.pi) - np.pi
        gain = column / (column[entry] + variance)
        self.state = self.state + gain * innovation
        self.covariance = self.covariance - np.outer(gain, column)


def fuse(case: Case, motion: Motion, fused: Fused) -> Reckoned:
    """Fused odometry of a case: from the first wheel odometry that it publishes, else from one that was not recorded."""
    odometry = next((o for o in case.odometry if o.message == "Odometry"), WheelOdometry())
    assert case.imu, "fused odometry needs an IMU"
    wheels, readings = reckon(case, motion, odometry), read_imu(case, motion, case.imu)
    if fused.method == "imu_heading":
        return _imu_heading(wheels, readings)
    return _ekf(ticks(case, fused.topic, fused.rate_hz), fused, wheels, readings, case.imu.gyro_noise_radps)


def _imu_heading(wheels: Reckoned, readings: Readings) -> Reckoned:
    """Distance from the wheels, heading from the IMU's orientation, as turtlebot3_node does with use_imu."""
    yaw = np.interp(wheels.time_s, readings.time_s, readings.base_yaw - readings.base_yaw[0])
    path = np.diff(wheels.pose, axis=0, prepend=wheels.pose[:1])
    step = path[:, 0] * np.cos(wheels.pose[:, 2]) + path[:, 1] * np.sin(wheels.pose[:, 2])
    middle = yaw - 0.5 * np.diff(yaw, prepend=yaw[:1])
    pose = np.column_stack([np.cumsum(step * np.cos(middle)), np.cumsum(step * np.sin(middle)), yaw])
    rate = np.interp(wheels.time_s, readings.time_s, readings.base_yaw_rate)
    return Reckoned(wheels.time_s, wheels.stamp_s, pose, np.column_stack([wheels.speed[:, 0], rate]))


def _ekf(published_s: np.ndarray, fused: Fused, wheels: Reckoned, readings: Readings, gyro_noise_radps: float) -> Reckoned:
    gyro_variance = max(gyro_noise_radps**2, 1e-6)
    events = [(t, 0, k) for k, t in enumerate(wheels.stamp_s)] + [(t, 1, k) for k, t in enumerate(readings.time_s)]
    events += [(t, 2, k) for k, t in enumerate(published_s)]
    ekf, states = PlanarEkf(), np.empty((len(published_s), 6))
    for when_s, source, k in sorted(events):
        ekf.predict(when_s)
        if source == 0:
            ekf.update(VX, wheels.speed[k, 0], WHEEL_SPEED_VARIANCE)
            ekf.update(VY, 0.0, WHEEL_SPEED_VARIANCE)
            if "wheel_yaw_rate" in fused.fuses:
                ekf.update(RATE, wheels.speed[k, 1], WHEEL_YAW_RATE_VARIANCE)
            if "wheel_pose" in fused.fuses:
                ekf.update(X, wheels.pose[k, 0], WHEEL_POSITION_VARIANCE)
                ekf.update(Y, wheels.pose[k, 1], WHEEL_POSITION_VARIANCE)
        elif source == 1:
            ekf.update(RATE, readings.base_yaw_rate[k], gyro_variance)
            if "orientation" in fused.fuses:
                ekf.update(YAW, readings.base_yaw[k], YAW_VARIANCE)
        else:
            states[k] = ekf.state
    return Reckoned(published_s, published_s, states[:, :3], states[:, [VX, RATE]])
