"""What can go wrong with a good log is found, named and corrected: constants stay within 2 %."""

import numpy as np
import pytest

from recovery.drives import GOOD, MANY_STEPS, drive
from slipfit.calibration.run import calibrate
from unit.logs.inspection.drives import MUTILATIONS

#: What is done, and the words that must name it.
FAST = {
    "yaw of gyro": "yaw sign of imu",
    "yaw of pose": "yaw sign of pose",
    "sides": "swapped sides of encoders",
    "clock of imu": "clock offset of imu",
    "gyro in deg/s": "unit of imu, gyro in deg/s",
    "wheels in deg": "unit of encoders, encoders in degrees",
    "pose in mm": "unit of pose, position in millimetres",
}

#: The rest. Two yaws that agree with each other may as well be swapped sides: the mirror image of the drive.
SLOW = {
    "clock of pose": "clock offset of pose",
    "both yaws": "swapped sides of encoders",
    "wheels in turns": "unit of encoders, encoders in turns",
    "pose in cm": "unit of pose, position in centimetres",
    "yaw in deg": "unit of pose, yaw in degrees",
    "accel in g": "unit of imu, acceleration in g",
    "accel in mm/s²": "unit of imu, acceleration in",
    "accel_x": "flipped accel_x of imu",  # accel_y tells nothing here: no arc is driven
    "wheels backward": "reversed direction of encoders",
    "left backward": "sign of the left wheels",
    "axes of accel": "swapped axes of imu",
    "axes of pose": "swapped axes of pose",
}


@pytest.fixture(scope="session")
def good():
    """23 s of a P3AT with c_long = .005, c_lat = .05."""
    return drive(sensors=GOOD).readings


@pytest.fixture(scope="session")
def good_fit(good):
    fit = calibrate(good, robot="p3at")
    assert not fit.corrected
    assert fit["c_long"].value == pytest.approx(0.005, abs=4.0 * fit["c_long"].std)
    return fit


def check(good, good_fit, name, seed=3):
    fit = calibrate(MUTILATIONS[name][0](good, np.random.default_rng(seed)), robot="p3at")
    for constant in ("c_long", "c_lat"):
        assert fit[constant].value == pytest.approx(good_fit[constant].value, rel=0.02)
    return fit


@pytest.mark.parametrize(("name", "told"), FAST.items())
def test_a_mutilation_is_named_and_changes_nothing(good, good_fit, name, told):
    fit = check(good, good_fit, name)
    assert any(told in sentence for sentence in fit.corrected)
    assert fit.to_twin().provenance.corrected == fit.corrected


@pytest.mark.slow
@pytest.mark.parametrize(("name", "told"), SLOW.items())
def test_other_mutilations_are_named_and_change_nothing(good, good_fit, name, told):
    assert any(told in sentence for sentence in check(good, good_fit, name).corrected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["clock of imu", "clock of pose"])
def test_any_clock_offset_up_to_a_second_is_corrected(good, good_fit, name, seed):
    """Below 50 ms the fit itself finds the offset, as one of its unknowns."""
    offset_s = np.random.default_rng(seed).uniform(-1.0, 1.0)
    fit = check(good, good_fit, name, seed)
    assert abs(offset_s) < 0.05 or any("clock offset" in sentence for sentence in fit.corrected)


@pytest.mark.slow
def test_half_the_poses_change_nothing():
    """Other data, not corrected data: 42 s, of which c_long is told to 2 %."""
    log = drive(sensors=GOOD, commands=MANY_STEPS).readings
    assert check(log, calibrate(log, robot="p3at"), "half the poses").corrected == []
