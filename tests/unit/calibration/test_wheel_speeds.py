"""Speeds from counts: close to the truth on straights, ramps and at corners, at any fineness of the encoder."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from slipfit.calibration.wheel_speeds import speeds_at, uncertain_acceleration
from slipfit.logs.wheel_motion import WheelAngles

#: Corners of a wheel's speed (s, rad/s), off the grid of the samples: rest, ramp, even speed, ramp down.
CORNERS = (np.array([0.0, 0.503, 0.753, 1.507, 1.757, 2.5]), np.array([0.0, 0.0, 8.0, 8.0, 2.0, 2.0]))


def counted(counts_per_turn, rate_hz=100.0, phase=0.3):
    """Angles of four wheels alike, rounded down to counts."""
    fine = np.linspace(0.0, 2.5, 250_001)
    angle = cumulative_trapezoid(np.interp(fine, *CORNERS), fine, initial=0.0)
    time_s = np.arange(0.0, 2.5, 1.0 / rate_hz)
    step = 2.0 * np.pi / counts_per_turn
    angles = np.floor(np.interp(time_s, fine, angle) / step + phase) * step
    return WheelAngles((time_s * 1e9).astype(np.int64), np.tile(angles[:, None], (1, 4)), step)


def away_from_corners(time_s, by_s):
    return np.min(np.abs(time_s[:, None] - CORNERS[0]), axis=1) > by_s


@pytest.mark.parametrize("counts_per_turn", [500, 4096, 20_000])
def test_speeds_come_out_far_below_one_count_per_sample(counts_per_turn):
    """A count per 10 ms is 2 pi / counts / .01 rad/s: 1.26, .153, .031. Away from corners a tenth of it is left, or less."""
    wheels = counted(counts_per_turn)
    speeds = speeds_at(wheels, 0.001)[:, 0]
    time_s = 0.001 * np.arange(1, len(speeds) + 1)
    error = speeds - np.interp(time_s, *CORNERS)
    of_one_count = wheels.step_rad / 0.01
    assert np.sqrt(np.mean(error[away_from_corners(time_s, 0.08)] ** 2)) < 0.1 * of_one_count
    assert np.sqrt(np.mean(error**2)) < 0.3 * of_one_count


def test_corners_are_where_accelerations_are_uncertain():
    """24 to 32 rad/s² come and go: at corners a good part of it is uncertain, well away from them next to nothing."""
    wheels = counted(4096)
    at_s = np.arange(0.1, 2.4, 0.01)
    uncertain = uncertain_acceleration(wheels, at_s)
    near = np.min(np.abs(at_s[:, None] - CORNERS[0][1:5]), axis=1) < 0.01
    assert uncertain[near].min() > 0.2 * 24.0
    assert np.median(uncertain[away_from_corners(at_s, 0.08)]) < 1.0
