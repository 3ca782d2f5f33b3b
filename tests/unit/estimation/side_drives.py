"""Drives of a robot with two sides whose slip is known: truth by fine steps, poses with noise."""

from dataclasses import dataclass

import numpy as np

from slipfit.logs import Channel, DriveLog
from slipfit.vehicles.kinematic import along_arc

RADIUS_M, TRACK_M = 0.1651, 0.555  # a Husky's wheels


@dataclass(frozen=True, eq=False)
class SideDrive:
    """Truth on a grid of 0.01 s."""

    time_s: np.ndarray
    rims: np.ndarray  # (n, 2)
    slip: np.ndarray  # (n, 3): i_left, i_right, alpha
    twist: np.ndarray  # (n, 3)
    pose: np.ndarray  # (n, 3)


def drive(rims, slip, duration_s, *, track_m=TRACK_M, step_s=0.01, across=None):
    """`rims(t)` and `slip(t)` give arrays for times; u_side = w (1 - i), v = -u tan(alpha), or `across(t)`."""
    time_s = np.arange(round(duration_s / step_s) + 1) * step_s
    w, i = np.column_stack(rims(time_s)), np.column_stack(slip(time_s))
    left, right = w[:, 0] * (1 - i[:, 0]), w[:, 1] * (1 - i[:, 1])
    u, r = 0.5 * (left + right), (right - left) / track_m
    v = -u * np.tan(i[:, 2]) if across is None else across(time_s)
    pose = np.zeros((len(time_s), 3))
    for k in range(len(time_s) - 1):
        u_, v_, r_ = (0.5 * (a[k] + a[k + 1]) for a in (u, v, r))
        pose[k + 1] = along_arc(*pose[k], u_, v_, r_, step_s)
    return SideDrive(time_s, w, i, np.column_stack([u, v, r]), pose)


def log_of(
    truth,
    seed=0,
    *,
    pose_hz=20.0,
    pose_m=0.002,
    pose_rad=0.002,
    encoder_hz=50.0,
    gyro_radps=None,
    accel=None,
    late_s=0.0,
    imu_at_m=(0.0, 0.0),
):
    """What encoders, a pose and, if asked for, an IMU would have said."""
    draw = np.random.default_rng(seed)

    def at(hz):
        return np.arange(int(truth.time_s[-1] * hz) + 1) / hz

    t = at(encoder_hz)
    speeds = np.column_stack([np.interp(t, truth.time_s, w) for w in truth.rims.T]) / RADIUS_M
    channels = {"encoders": Channel("encoders", stamps_of(t), speeds, ("left_speed_radps", "right_speed_radps"))}
    t = at(pose_hz)
    seen = np.column_stack([np.interp(t - late_s, truth.time_s, p) for p in truth.pose.T])
    seen += draw.normal(size=seen.shape) * [pose_m, pose_m, pose_rad]
    channels["pose"] = Channel("pose", stamps_of(t), seen, ("x_m", "y_m", "yaw_rad"))
    if gyro_radps is not None:
        t = at(100.0)
        u, v, r = (np.interp(t, truth.time_s, c) for c in truth.twist.T)
        (x, y), turn = imu_at_m, np.gradient(r, t)
        ahead, left = np.gradient(u, t) - v * r - turn * y - r**2 * x, np.gradient(v, t) + u * r + turn * x - r**2 * y
        felt = np.column_stack([ahead, left, np.full(len(t), 9.81), r])
        felt += draw.normal(size=felt.shape) * [accel or 0.1, accel or 0.1, 0.1, gyro_radps]
        channels["imu"] = Channel("imu", stamps_of(t), felt, ("accel_x_mps2", "accel_y_mps2", "accel_z_mps2", "gyro_z_radps"))
    return DriveLog(channels, about="drive with known slip")


def stamps_of(time_s):
    return np.round(time_s * 1e9).astype(np.int64) + 1_000_000_000


def with_currents(log, truth, robot, *, mu_rolling, mu_lateral, length_m, newton_per_ampere, drag_n=0.0, noise_a=0.1, seed=0):
    """The log with the currents that the two balances of `slipfit.estimation.friction` ask for, solved for the forces;
    coefficients may be functions of time."""
    draw, t = np.random.default_rng(seed), truth.time_s
    u, v, r = truth.twist.T
    rolling, lateral = (m(t) if callable(m) else np.full(len(t), m) for m in (mu_rolling, mu_lateral))
    mass, weight, track = robot.mass_kg.value, robot.mass_kg.value * 9.81, robot.track_m
    sides = np.sign(np.column_stack([u - 0.5 * track * r, u + 0.5 * track * r]))
    ahead = mass * (np.gradient(u, t) - v * r) + 0.5 * rolling * weight * sides.sum(axis=1)
    moment = robot.yaw_inertia_kgm2.value * np.gradient(r, t) + lateral * weight * length_m / 4.0 * np.sign(r)
    moment += rolling * weight * track / 4.0 * (sides[:, 1] - sides[:, 0])
    left, right = 0.5 * ahead - moment / track, 0.5 * ahead + moment / track
    forces = np.column_stack([left, right]) + drag_n * np.sign(truth.rims)
    at = np.arange(int(t[-1] * 20.0) + 1) / 20.0
    said = np.column_stack([np.interp(at, t, f) for f in forces.T]) / newton_per_ampere
    said += noise_a * draw.normal(size=said.shape)
    return log.having(Channel("motors", stamps_of(at), said, ("left_current_a", "right_current_a")))
