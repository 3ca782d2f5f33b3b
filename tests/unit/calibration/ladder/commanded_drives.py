"""Drives from commands over a known powertrain and a known track to sensors with known faults; no code of the fit is used."""

import numpy as np

from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import COMMANDS, ENCODERS, IMU, POSE, POSE_COLUMNS

ROBOT = find_robot("husky")
STEP_S = 0.005


def commanded_drive(
    *, seed=1, steps=50, gain=1.0, lag_s=0.3, delay_s=0.2, turn_limit_mps=np.inf, track_m=0.9, gyro_sign=1.0, pose_late_s=0.0
):
    """Commands that stand for 6 s; both sides follow as a first-order lag, late; an ideal drive with another track."""
    rng = np.random.default_rng(seed)
    v, w = np.repeat(rng.uniform(-0.7, 0.7, steps), 1200), np.repeat(rng.uniform(-0.6, 0.6, steps), 1200)
    half = 0.5 * ROBOT.track_m
    told = np.column_stack([v - half * w, v + half * w])
    turn = np.clip(gain * 0.5 * (told[:, 1] - told[:, 0]), -turn_limit_mps, turn_limit_mps)
    mean = gain * told.mean(axis=1)
    aim = np.column_stack([mean - turn, mean + turn])
    late = round(delay_s / STEP_S)
    aim = np.vstack([np.zeros((late, 2)), aim])[: len(told)]
    rims, x = np.zeros_like(told), np.zeros(2)
    for k in range(len(told)):
        x = x + (1.0 - np.exp(-STEP_S / lag_s)) * (aim[k] - x)
        rims[k] = x
    ahead, rate = rims.mean(axis=1), (rims[:, 1] - rims[:, 0]) / track_m
    heading = np.concatenate([[0.0], np.cumsum(rate * STEP_S)])[:-1]
    place = np.column_stack([np.cumsum(ahead * turn_(heading + 0.5 * rate * STEP_S) * STEP_S) for turn_ in (np.cos, np.sin)])
    time_s = np.arange(len(told)) * STEP_S
    radius = ROBOT.wheels.radius_m.value
    sides = ("left_speed_radps", "right_speed_radps")
    rows = np.arange(0, len(told), 10)  # 20 Hz
    older = np.maximum(rows - round(pose_late_s / STEP_S), 0)
    stamps = np.round(time_s[rows] * 1e9).astype(np.int64)
    wheels = rims[rows] / radius + 1e-4 * rng.standard_normal((len(rows), 2))
    gyro = gyro_sign * (rate[rows] + 0.002 * rng.standard_normal(len(rows)))
    pose = np.column_stack([place[older], heading[older]]) + 1e-3 * rng.standard_normal((len(rows), 3))
    return DriveLog(
        {
            COMMANDS: Channel(COMMANDS, stamps, told[rows] / radius, sides),
            ENCODERS: Channel(ENCODERS, stamps, wheels, sides),
            IMU: Channel(IMU, stamps, gyro[:, None], ("gyro_z_radps",)),
            POSE: Channel(POSE, stamps, pose, POSE_COLUMNS),
        },
        source="made here",
    )
