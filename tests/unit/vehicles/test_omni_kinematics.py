"""Inverse kinematics of omni and mecanum wheels by closed forms."""

import math

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.vehicles.omni_kinematics import body_map, free_motions, grip_axes, wheel_map

SQUARE = [[0.1, 0.15], [0.1, -0.15], [-0.1, 0.15], [-0.1, -0.15]]
DIAGONALS = np.array([-1.0, 1.0, 1.0, -1.0]) * math.pi / 4


def test_mecanum_wheels_have_the_textbook_map():
    """Rollers in an X from above: (u ∓ v ∓ (a + b) r) / R, front-left first."""
    arm = 0.1 + 0.15
    textbook = np.array([[1, -1, -arm], [1, 1, arm], [1, 1, -arm], [1, -1, arm]]) / 0.05
    np.testing.assert_allclose(wheel_map(SQUARE, np.zeros(4), DIAGONALS, 0.05), textbook, atol=1e-12)


def test_omni_wheels_on_a_circle_have_the_textbook_map():
    """[Williams2002] eq. (3) with no slip: theta. = -(v . s + r phi.) / rho, the wheels' direction being -s."""
    angles = np.radians([15.0, 165.0, 270.0])
    at = 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
    s_hat = np.column_stack([-np.sin(angles), np.cos(angles)])
    textbook = -np.column_stack([s_hat, np.full(3, 0.1)]) / 0.0254
    np.testing.assert_allclose(wheel_map(at, angles - math.pi / 2, math.pi / 2, 0.0254), textbook, atol=1e-12)


def test_ordinary_wheels_ahead_have_a_differential_drives_map():
    """Limit case: rollers along the rim, wheels ahead: (u - Y r) / R."""
    rows = wheel_map([[0.0, 0.2], [0.0, -0.2]], [0.0, 0.0], [math.pi / 2] * 2, 0.1)
    np.testing.assert_allclose(rows, [[10.0, 0.0, -2.0], [10.0, 0.0, 2.0]], atol=1e-12)


def test_a_wheel_counts_the_other_way_when_it_points_the_other_way():
    ahead = wheel_map(SQUARE, np.zeros(4), DIAGONALS, 0.05)
    back = wheel_map(SQUARE, np.full(4, math.pi), DIAGONALS, 0.05)
    assert np.abs(grip_axes(0.0, math.pi / 2) - [1.0, 0.0]).max() < 1e-12
    np.testing.assert_allclose(back, -ahead, atol=1e-12)


@pytest.mark.parametrize("robot", ["ohio_omni", "robotino", "optiodom_omni3", "optiodom_mecanum"])
def test_forward_kinematics_undo_the_inverse(robot):
    record = find_robot(robot)
    motion = np.array([0.3, -0.2, 0.7])
    back = body_map(record.at_m, record.rolling_rad, record.roller_rad, record.radii_m) @ record.wheel_map() @ motion
    assert back == pytest.approx(motion, abs=1e-12)
    assert len(free_motions(record.at_m, record.rolling_rad, record.roller_rad)) == 0


def test_robots_of_recordings_have_the_directions_that_recordings_show():
    """Robotino: set speeds of motors against those of the body. OptiOdom: wheel increments against tracked motion, to 5 %."""
    robotino = find_robot("robotino")
    assert robotino.wheel_map()[:, :2] * 0.04 == pytest.approx(np.array([[-0.866, 0.5], [0.0, -1.0], [0.866, 0.5]]), abs=1e-3)
    measured = np.array([[-34696.0, -19649.1], [34489.9, -20036.5], [775.4, 39778.6]])  # ticks per metre, 12288 a turn
    omni3 = find_robot("optiodom_omni3").wheel_map()[:, :2] * 12288.0 / (2.0 * math.pi)
    assert np.abs(omni3 - measured).max() < 0.05 * 38347.0
    measured = np.array([[0.918, -0.948, -0.176], [-0.909, -0.954, -0.176], [0.915, 0.958, -0.182], [-0.911, 0.952, -0.182]])
    mecanum = find_robot("optiodom_mecanum").wheel_map() * 0.03
    assert np.abs(mecanum - measured).max() < 0.1  # its wheels roll on more than their nominal radius
    assert (np.sign(mecanum) == np.sign(measured)).all()


def test_parallel_wheels_leave_a_motion_free():
    """Three wheels that all roll ahead neither drive nor hold the robot sideways."""
    (free,) = free_motions([[0.1, 0.1], [0.1, -0.1], [-0.1, 0.0]], np.zeros(3), np.full(3, math.pi / 2))
    assert np.abs(free) == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)
