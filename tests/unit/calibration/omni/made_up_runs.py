"""Runs of a made-up Robotino whose true motion is known: lines in every direction, and arcs."""

import numpy as np

from slipfit.calibration.omni import OmniRun
from slipfit.calibration.omni.runs import dead_reckoned, tracked_point
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import ENCODERS, POSE, POSE_COLUMNS, wheel_columns

ROBOT = find_robot("robotino")
STEP_S = 0.03


def run(ideal_velocity, true_velocity, *, duration_s=12.0, offset_m=(0.0, 0.0), noise=None, name="run", currents_a=None):
    """Wheels that turn as the ideal velocity (u, v, r) wants, and a body that moves with another, both constant."""
    steps = round(duration_s / STEP_S)
    wheels = np.arange(steps + 1)[:, None] * STEP_S * (ROBOT.wheel_map() @ ideal_velocity)
    poses = dead_reckoned(np.array([1.0, -2.0, 0.7]), np.tile(np.asarray(true_velocity) * STEP_S, (steps, 1)))
    poses = tracked_point(poses, np.asarray(offset_m))
    if noise is not None:
        poses[:, :2] += noise.normal(0.0, 0.001, (steps + 1, 2))
    return OmniRun(name, np.arange(steps + 1) * STEP_S, wheels, poses, currents_a)


def line(travel_rad, along, across, turn_radpm, *, speed_mps=0.1, **others):
    """A line along a direction of the body, of which a share is lost, with drift and turning per rolled metre."""
    ideal = speed_mps * np.array([np.cos(travel_rad), np.sin(travel_rad), 0.0])
    moved = speed_mps * (along + 1j * across) * np.exp(1j * travel_rad)
    others.setdefault("name", f"{np.degrees(travel_rad):.0f}")
    return run(ideal, (moved.real, moved.imag, speed_mps * turn_radpm), **others)


def log_of(made: OmniRun) -> DriveLog:
    """The run as a log with wheel angles and poses."""
    stamps = np.round(made.time_s * 1e9).astype(np.int64)
    encoders = Channel(ENCODERS, stamps, made.wheels_rad, wheel_columns("angle", made.wheels_rad.shape[1]))
    return DriveLog({ENCODERS: encoders, POSE: Channel(POSE, stamps, made.poses, POSE_COLUMNS)}, source=made.name)
