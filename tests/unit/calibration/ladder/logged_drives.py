"""Drives of a robot with known rotation centres, written as loggers of field robots write them: held, late, in segments."""

import numpy as np

from slipfit.logs import Channel, DriveLog

STEP_S = 0.001
RADIUS_M = 0.165  # the husky's

#: Left and right rotation centre, that of the body, gains, drift: what a fit should find.
TRUTH = {"y_left_m": 0.62, "y_right_m": -0.55, "x_m": -0.06, "gain_left": 0.93, "gain_right": 0.96, "drift_s": 0.25}


def logged_drive(
    *,
    seconds=150,
    seed=0,
    pose_late_s=0.3,
    imu_late_s=0.04,
    wheels_hz=5.0,
    pose_hz=8.0,
    noise_m=0.01,
    segments=False,
    motion=None,
):
    """Commands that change every 4 s, wheels that follow within 0.15 s, a body that follows the wheels at once."""
    random = np.random.default_rng(seed)
    steps = round(seconds / STEP_S)
    told = np.repeat(random.uniform(-1.0, 1.0, (seconds // 4 + 1, 2)), round(4.0 / STEP_S), axis=0)[:steps]
    rims = np.zeros((steps, 2))
    for k in range(1, steps):
        rims[k] = rims[k - 1] + STEP_S / 0.15 * (told[k] - rims[k - 1])
    u, v, r = (motion or moved_by_truth)(rims[:, 0], rims[:, 1])
    yaw = np.cumsum(r) * STEP_S
    x = np.cumsum(u * np.cos(yaw) - v * np.sin(yaw)) * STEP_S
    y = np.cumsum(u * np.sin(yaw) + v * np.cos(yaw)) * STEP_S
    time_s = np.arange(0.0, seconds - 1.0, 0.05)
    rows = (time_s / STEP_S).astype(int)
    stamps = np.round(time_s * 1e9).astype(np.int64)
    wheels = rims[_held(rows, wheels_hz)] / RADIUS_M
    turning = r[np.maximum(rows - round(imu_late_s / STEP_S), 0)] + 0.002 * random.standard_normal(len(rows))
    at = np.maximum(_held(rows, pose_hz) - round(pose_late_s / STEP_S), 0)
    poses = np.column_stack([x[at], y[at], yaw[at]])
    fresh = np.concatenate([[True], np.diff(at) != 0])
    errors = random.standard_normal((fresh.sum(), 3)) * [noise_m, noise_m, 0.005]
    poses += errors[np.cumsum(fresh) - 1]
    channels = [
        Channel("encoders", stamps, wheels, ("left_speed_radps", "right_speed_radps")),
        Channel("imu", stamps, turning[:, None], ("gyro_z_radps",)),
    ]
    if segments:
        index = (time_s // 2.0).astype(int)
        poses = _anew(poses, index)
        channels.append(Channel("segments", stamps, index[:, None].astype(float), ("index",)))
    channels.append(Channel("pose", stamps, poses, ("x_m", "y_m", "yaw_rad")))
    return DriveLog({c.name: c for c in channels}, about="a husky with known rotation centres")


def moved_by_truth(left, right):
    """[Mandow2007] with a centre that moves ahead by drift times speed, written out."""
    t = TRUTH
    left, right = t["gain_left"] * left, t["gain_right"] * right
    width = t["y_left_m"] - t["y_right_m"]
    r = (right - left) / width
    u = (right * t["y_left_m"] - left * t["y_right_m"]) / width
    return u, -(t["x_m"] + t["drift_s"] * u) * r, r


def _held(rows, rate_hz):
    """Rows of the last new value, of a source slower than the log."""
    every = round(1.0 / rate_hz / STEP_S)
    return rows // every * every


def _anew(poses, index):
    """Poses in the frame of the first row of each segment."""
    out = poses.copy()
    for k in np.unique(index):
        rows = np.flatnonzero(index == k)
        c, s = np.cos(poses[rows[0], 2]), np.sin(poses[rows[0], 2])
        d = poses[rows] - poses[rows[0]]
        out[rows] = np.column_stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0], d[:, 2]])
    return out
