"""A gyro that reads too much, and no pose to tell: the interval holds the truth once the scale may be off."""

from dataclasses import replace

import pytest

from recovery.drives import GOOD_IMU, MANY_STEPS, drive
from slipfit.calibration import calibrate
from slipfit.errors import ParameterError


@pytest.fixture(scope="module")
def log():
    """Half a per cent too much."""
    readings = drive(sensors=GOOD_IMU, commands=MANY_STEPS, seed=3).readings
    imu = readings["imu"]
    values = imu.values.copy()
    values[:, imu.columns.index("gyro_z_radps")] *= 1.005
    return readings.having(replace(imu, values=values))


def test_a_scale_that_may_be_off_widens_what_hangs_on_it(log):
    """w / w_t = 1 / (1 + l² / (b² ratio)): of the P3AT's .9628, .5 % more make the ratio 1 + 10 (b/l)² = 27 times .5 % larger."""
    exact, loose = (calibrate(log, robot="p3at", gyro_scale_std=std).combinations["c_lat/c_long"] for std in (0.0, 0.005))
    assert exact.value == pytest.approx(10.0 * (1.0 + 27.0 * 0.005), rel=0.03)
    assert exact.interval_90[0] > 10.0
    assert loose.interval_90[0] < 10.0 < loose.interval_90[1]


def test_a_scale_in_per_cent_is_refused(log):
    with pytest.raises(ParameterError, match=r"gyro_scale_std = 0\.5; expected a share"):
        calibrate(log, robot="p3at", gyro_scale_std=0.5)
