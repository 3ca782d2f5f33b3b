"""How the wheels of an omnidirectional robot slipped, from its records: along the rollers' axes, where they grip, and across.

    s = R theta. e - (velocity of the body at the contact),    s_g = s . g,    s_h = s . h

Symbols    as in `vehicles.omni_kinematics`; h is a quarter turn left of g
Reference  [Williams2002] eqs. (3), (7), with the sign of docs/conventions: positive where the wheel outruns the ground
"""

import numpy as np

from slipfit.library import OmniRobot
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.omni_kinematics import grip_axes


def roller_slip(trajectory: Trajectory, robot: OmniRobot) -> np.ndarray:
    """Slip velocities (m/s) of each wheel, along its roller's axis and across it, shape (T, n, 2)."""
    t, at = trajectory, robot.at_m
    ground_x = t.vx_mps[:, None] - t.yaw_rate_radps[:, None] * at[:, 1]
    ground_y = t.vy_mps[:, None] + t.yaw_rate_radps[:, None] * at[:, 0]
    rim = t.wheel_speed_radps * robot.radii_m
    slip_x, slip_y = rim * np.cos(robot.rolling_rad) - ground_x, rim * np.sin(robot.rolling_rad) - ground_y
    return in_roller_axes(slip_x, slip_y, robot)


def roller_forces(trajectory: Trajectory, robot: OmniRobot) -> np.ndarray:
    """Forces (N) of the ground on each wheel, along its roller's axis and across it, shape (T, n, 2)."""
    return in_roller_axes(trajectory.force_x_n, trajectory.force_y_n, robot)


def in_roller_axes(x: np.ndarray, y: np.ndarray, robot: OmniRobot) -> np.ndarray:
    """Vectors of each wheel in the body's axes (T, n), turned into its roller's: shape (T, n, 2)."""
    g = grip_axes(robot.rolling_rad, robot.roller_rad)
    return np.stack([x * g[:, 0] + y * g[:, 1], y * g[:, 0] - x * g[:, 1]], axis=-1)


def touches_rigid(trajectory: Trajectory, robot: OmniRobot) -> np.ndarray:
    """Whether each wheel stands on the rigid part between two rollers, shape (T, n)."""
    wheels = robot.wheels
    sectors = trajectory.wheel_angle_rad * wheels.rollers.value / (2.0 * np.pi) + wheels.each(wheels.phase_sectors)
    return np.asarray(sectors - np.floor(sectors) >= 1.0 - wheels.rigid_share)
