"""Rim speeds on the grid: what is told exactly stays exact."""

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.rims import GRID_S, rims_of, seldom_hz

HUSKY = find_robot("husky")
RADIUS_M = HUSKY.wheels.radius_m.value
STEPS_S = (5.0, 7.0)


def stepped(t):
    """Both sides' rims (m/s): steps every 5 s on the left and every 7 s on the right."""
    return np.column_stack([0.5 + 0.2 * (np.floor(t / STEPS_S[0]) % 2), 0.6 - 0.2 * (np.floor(t / STEPS_S[1]) % 2)])


def log_of(time_s, speeds_radps):
    stamps = np.round(time_s * 1e9).astype(np.int64) + 1_000_000_000
    return DriveLog({"encoders": Channel("encoders", stamps, speeds_radps, ("left_speed_radps", "right_speed_radps"))})


@pytest.mark.parametrize("hz", [20.0, 50.0, 100.0])
def test_a_stepped_drive_keeps_its_plateaus(hz):
    """Exact speeds: a step lies between two rows, and everywhere else the rims are what they were told to be."""
    time_s = np.arange(int(60.0 * hz) + 1) / hz
    rims = rims_of(log_of(time_s, stepped(time_s) / RADIUS_M), HUSKY)
    for side, every_s in zip((rims.left_mps, rims.right_mps), STEPS_S, strict=True):
        since = (rims.time_s + 1e-9) % every_s
        on_plateau = since < every_s - 1.0 / hz - 1e-6  # not in the last interval before a step
        expected = stepped(rims.time_s + 1e-9)[:, 0 if every_s == STEPS_S[0] else 1]
        np.testing.assert_allclose(side[on_plateau], expected[on_plateau], rtol=0.0, atol=1e-9)


def test_rounded_speeds_keep_their_plateaus():
    """Rounded to 1 rpm: what is told is what is rounded."""
    time_s, rpm = np.arange(3001) / 50.0, 2.0 * np.pi / 60.0
    rounded = np.round(stepped(time_s) / RADIUS_M / rpm) * rpm
    rims = rims_of(log_of(time_s, rounded), HUSKY)
    told = np.column_stack([np.interp(rims.time_s, time_s, column) for column in rounded.T]) * RADIUS_M
    assert np.abs(rims.left_mps - told[:, 0]).max() < 1e-9
    assert np.abs(rims.right_mps - told[:, 1]).max() < 1e-9


def test_a_stepped_drive_is_not_told_too_seldom():
    """50 rows a second, of which few differ: the drive is steady, and not the encoders slow."""
    time_s = np.arange(3001) / 50.0
    assert seldom_hz(log_of(time_s, stepped(time_s))) is None


def test_four_samples_a_second_in_a_table_of_a_hundred_are_joined_by_lines():
    """A ramp whose value is held for 0.25 s is a ramp."""
    time_s = np.arange(2001) / 100.0
    held = np.floor(time_s * 4.0 + 1e-9) / 4.0 * 0.1
    rims = rims_of(log_of(time_s, np.column_stack([held, held]) / RADIUS_M), HUSKY)
    inner = (rims.time_s > 0.5) & (rims.time_s < 19.5)
    np.testing.assert_allclose(rims.left_mps[inner], 0.1 * rims.time_s[inner], atol=0.1 * GRID_S)
    assert seldom_hz(log_of(time_s, np.column_stack([held, held]))) == pytest.approx(4.0)
