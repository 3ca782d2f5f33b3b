"""Stamps that jitter: which readings follow them is found, and both kinds give the speeds of a log without jitter."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from slipfit.calibration.stamp_jitter import jitter_of, without_jitter
from slipfit.calibration.wheel_speeds import speeds_at
from slipfit.logs.wheel_motion import WheelAngles

#: A wheel that rests, goes at 8 rad/s, at 3 and backward at 5 (s, rad/s).
CORNERS = (
    np.array([0.0, 1.0, 1.5, 5.0, 5.5, 9.0, 10.0, 13.0, 13.5, 15.0]),
    np.array([0.0, 0.0, 8.0, 8.0, 3.0, 3.0, -5.0, -5.0, 0.0, 0.0]),
)

JITTER_S, RATE_HZ = 0.002, 100.0


def recorded(*, jitter_s=JITTER_S, is_read_at_stamp=False, counts_per_turn=16384, lost=(), wander_s=0.0):
    fine = np.linspace(0.0, 15.0, 1_500_001)
    angle = cumulative_trapezoid(np.interp(fine, *CORNERS), fine, initial=0.0)
    time_s = np.arange(0.05, 14.95, 1.0 / RATE_HZ)
    stamp_s = time_s + np.random.default_rng(5).uniform(0.0, jitter_s, len(time_s)) + wander_s * np.sin(0.4 * time_s)
    read_s = stamp_s if is_read_at_stamp else time_s
    step = 2.0 * np.pi / counts_per_turn
    angles = np.floor(np.interp(read_s, fine, angle) / step) * step
    wheels = WheelAngles((1e9 * stamp_s).astype(np.int64), np.tile(angles[:, None], (1, 4)), step)
    kept = ~np.isin(np.arange(len(time_s)), lost)
    return replace(wheels, stamps_ns=wheels.stamps_ns[kept], angle_rad=wheels.angle_rad[kept])


def worst_even_speed(wheels):
    """Largest error of the speed (rad/s) more than .15 s away from corners."""
    speeds = speeds_at(wheels, 0.001)[:, 0]
    time_s = wheels.stamps_ns[0] / 1e9 + 0.001 * np.arange(1, len(speeds) + 1)
    away = np.min(np.abs(time_s[:, None] - CORNERS[0]), axis=1) > 0.15
    return np.abs(speeds - np.interp(time_s, *CORNERS))[away].max()


@pytest.mark.parametrize("is_read_at_stamp", [False, True])
@pytest.mark.parametrize("lost", [(), (300, 301, 850)])
def test_readings_that_follow_their_stamps_are_known(is_read_at_stamp, lost):
    found = jitter_of(recorded(is_read_at_stamp=is_read_at_stamp, lost=lost))
    assert found.share == float(is_read_at_stamp)
    assert found.std_s == pytest.approx(JITTER_S / np.sqrt(12.0), rel=0.05)


@pytest.mark.parametrize("is_read_at_stamp", [False, True])
def test_speeds_are_as_good_as_without_jitter(is_read_at_stamp):
    """A millisecond of 10 ms would make 10 % of 8 rad/s, and did; without jitter .02 rad/s are left. The mean delay of stamps, a
    clock offset, shifts ramps of 16 rad/s² by 1 ms."""
    jittering = recorded(is_read_at_stamp=is_read_at_stamp)
    assert worst_even_speed(recorded(jitter_s=0.0)) < 0.03
    assert worst_even_speed(jittering) > 0.1
    assert worst_even_speed(without_jitter(jittering)) < 0.05


@pytest.mark.parametrize("left_alone", [{"jitter_s": 0.0}, {"jitter_s": 1e-5}, {"wander_s": 0.02}])
def test_exact_stamps_and_clocks_that_wander_are_left_alone(left_alone):
    wheels = recorded(**left_alone)
    assert without_jitter(wheels) is wheels


def test_noise_stays_that_of_counts():
    wheels = recorded(is_read_at_stamp=True)
    assert without_jitter(wheels).noise_rad == wheels.noise_rad == pytest.approx(wheels.step_rad / np.sqrt(12.0))
