"""An IMU that is mounted askew is turned upright; a floor that slopes, or a gyro whose axes leak, is not taken for that."""

from dataclasses import replace

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.logs import inspect_log

P3AT = find_robot("p3at")
ACCEL = ["accel_x_mps2", "accel_y_mps2", "accel_z_mps2"]
GYRO = ["gyro_x_radps", "gyro_y_radps", "gyro_z_radps"]


def about_x_and_y(roll_deg, pitch_deg):
    """Rotation from the robot's axes to those of an IMU that is rolled and then pitched."""
    (cr, cp), (sr, sp) = np.cos(np.radians([roll_deg, pitch_deg])), np.sin(np.radians([roll_deg, pitch_deg]))
    return np.array([[1, 0, 0], [0, cr, sr], [0, -sr, cr]]) @ np.array([[cp, 0, -sp], [0, 1, 0], [sp, 0, cp]])


def mounted(log, roll_deg, pitch_deg, columns=(ACCEL, GYRO)):
    """The log as an IMU told it whose axes are turned."""
    imu, turn = log["imu"], about_x_and_y(roll_deg, pitch_deg)
    values = imu.values.copy()
    for three in columns:
        places = [imu.columns.index(name) for name in three]
        values[:, places] = values[:, places] @ turn.T
    return log.having(replace(imu, values=values))


@pytest.mark.parametrize(("roll_deg", "pitch_deg"), [(0.0, 4.0), (15.0, -5.0), (-2.0, 0.0), (20.0, 25.0)])
def test_a_tilted_imu_is_turned_upright(good, roll_deg, pitch_deg):
    """cos of the angle between the axes is cos(roll) cos(pitch); the gyro tells as much turning as before."""
    inspection = inspect_log(mounted(good, roll_deg, pitch_deg), P3AT)
    (tilt,) = inspection.of_kind("tilt")
    angle = np.degrees(np.arccos(np.cos(np.radians(roll_deg)) * np.cos(np.radians(pitch_deg))))
    assert tilt.value == pytest.approx(angle, abs=0.1)
    assert tilt.is_corrected
    assert inspection.corrections == (f"tilt of imu {tilt.value:.2f}°",)
    before, after = good["imu"], inspection.corrected["imu"]
    turned = before.column("gyro_z_radps")
    scale = float(turned @ after.column("gyro_z_radps") / (turned @ turned))
    assert scale == pytest.approx(1.0, abs=2e-4)
    assert after.column("accel_z_mps2").mean() == pytest.approx(before.column("accel_z_mps2").mean(), abs=0.01)


def test_an_upright_imu_is_left_alone(good):
    inspection = inspect_log(good, P3AT)
    assert not inspection.of_kind("tilt")
    np.testing.assert_array_equal(inspection.corrected["imu"].values, good["imu"].values)


@pytest.mark.parametrize("columns", [(ACCEL,), (GYRO,)])
def test_where_gyro_and_gravity_disagree_nothing_is_turned(good, columns):
    """Gravity alone: a floor that slopes. The gyro alone: an axis that leaks into another."""
    assert not inspect_log(mounted(good, 0.0, 4.0, columns), P3AT).of_kind("tilt")
