"""Offsets between clocks: recovered, with intervals that hold, and never made up."""

import re
from dataclasses import replace

import numpy as np
import pytest

from drives import drive
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog, inspect_log
from slipfit.logs.inspection.align import _correlations, find_agreement
from slipfit.logs.inspection.signals import Inertial, Wheels

P3AT = find_robot("p3at")


def shifted(log, channel, by_s):
    return log.having(replace(log[channel], stamps_ns=log[channel].stamps_ns + round(by_s * 1e9)))


def test_a_body_follows_a_step_as_the_closed_form_says():
    """v' = (v_r - v) / T from rest, T = q v_r: after a step to v_r the distance is v_r (t - T (1 - exp(-t / T)))."""
    time_s = np.arange(0.0, 2.0, 0.01)
    rim = np.where(time_s < 0.5, 0.0, 0.8 * (time_s - 0.5))
    wheels = Wheels(time_s, np.zeros(200), np.column_stack([rim, rim]), track_m=0.4, yaw_share=1.0)
    t, lag_s = np.maximum(time_s - 0.5, 0.0), 0.1 * 0.8
    expected = 0.8 * (t - lag_s * (1.0 - np.exp(-t / lag_s)))
    # The rim's speed is a mean over five samples: for two samples around the step the lag is shorter.
    np.testing.assert_allclose(wheels.followed(0.1).ahead_m, expected, atol=0.8 * 0.02)
    assert wheels.followed(0.1).ahead_m[-1] == pytest.approx(expected[-1], abs=0.8 * 0.01)


def test_correlations_are_those_of_the_spans_in_common():
    """The definition, shift by shift."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=(2, 300)) + 5.0
    y[7:] += x[:-7]
    x_ok, y_ok = draw.uniform(size=(2, 300)) > 0.1
    r, _ = _correlations(x, y, x_ok, y_ok, 20)
    for k, shift in enumerate(range(-20, 21)):
        ours, theirs = slice(max(0, -shift), 300 - max(0, shift)), slice(max(0, shift), 300 - max(0, -shift))
        ok = x_ok[ours] & y_ok[theirs]
        assert r[k] == pytest.approx(np.corrcoef(x[ours][ok], y[theirs][ok])[0, 1], abs=1e-9)


def test_series_that_have_nothing_in_common_do_not_agree():
    """Slow noise correlates by chance, at some offset or other: of 200 pairs not more than two may be believed."""
    draw, time_s = np.random.default_rng(5), np.arange(0.0, 60.0, 0.05)
    believed = 0
    for _ in range(200):
        slow = [np.convolve(draw.normal(size=1260), np.exp(-np.arange(61) / 20.0), mode="valid") for _ in range(3)]
        left, right, turned = (0.05 * np.cumsum(s) for s in slow)
        wheels = Wheels(time_s, np.zeros(1200), np.column_stack([left, right]), track_m=0.4, yaw_share=1.0)
        still = np.zeros(1200)
        agreed = find_agreement(wheels, Inertial(time_s, np.zeros(1200), np.column_stack([turned, still, still, still])))
        believed += agreed is not None and agreed.is_certain
    assert believed <= 2


@pytest.mark.parametrize("channel", ["imu", "pose"])
@pytest.mark.parametrize("late_s", [-0.9, -0.033, 0.041, 0.4])
def test_a_shifted_clock_is_found(good, channel, late_s):
    """The truth is the shift; its 90 % interval is 1.645 spreads wide, three are allowed."""
    (finding,) = inspect_log(shifted(good, channel, late_s), P3AT).of_kind("clock offset", channel)
    low, high = finding.interval_90
    assert finding.is_corrected
    assert finding.value == pytest.approx(late_s, abs=3.0 / 1.645 * 0.5 * (high - low))
    assert finding.value == pytest.approx(late_s, abs=0.008)
    # One sign in words: ahead or behind, by a number between those of its interval.
    by, least, most = (float(word) for word in re.findall(r"-?\d+\.\d+", finding.found))
    assert 0.0 < least < by < most
    assert ("ahead of" if late_s < 0.0 else "behind") in finding.found


@pytest.mark.parametrize("late_s", [-0.015, 0.012])
def test_small_offsets_are_left_to_calibration(good, late_s):
    inspection = inspect_log(shifted(good, "imu", late_s), P3AT)
    (finding,) = inspection.of_kind("clock offset", "imu")
    assert finding.value == pytest.approx(late_s, abs=0.008)
    assert "left to calibration" in finding.found
    assert inspection.corrections == ()


def unequal(left, right, seed=0, duration_s=40.0):
    """Encoders at 50 Hz and IMU at 100 Hz of a body whose sides do 90 % and 70 % of what rims do: `left(t)`, `right(t)`, m/s."""
    draw = np.random.default_rng(seed)

    def stamps(hz):
        time_s = np.arange(0.0, duration_s, 1.0 / hz)
        return time_s, np.round(time_s * 1e9).astype(np.int64) + 10**9

    time_s, told_ns = stamps(50.0)
    rims = np.column_stack([left(time_s), right(time_s)]) / P3AT.wheels.radius_m.value
    time_s, felt_ns = stamps(100.0)
    sides = 0.9 * left(time_s), 0.7 * right(time_s)
    felt = np.column_stack([np.gradient(0.5 * (sides[0] + sides[1]), time_s), (sides[1] - sides[0]) / P3AT.track_m])
    felt += draw.normal(size=felt.shape) * [0.1, 0.005]
    return DriveLog(
        {
            "encoders": Channel("encoders", told_ns, rims, ("left_speed_radps", "right_speed_radps")),
            "imu": Channel("imu", felt_ns, felt, ("accel_x_mps2", "gyro_z_radps")),
        },
        about="sides that slip unequally",
    )


@pytest.mark.parametrize("late_s", [-0.1, -0.05, 0.0, 0.05, 0.1])
def test_sides_that_slip_unequally_are_no_clock(late_s):
    """The truth is the shift. Such a body turns by its way ahead, too: with one scale for yaw alone, 0.1 s were made up."""
    log = unequal(lambda t: 0.6 + 0.3 * np.sin(0.7 * t), lambda t: 0.6 + 0.3 * np.sin(1.1 * t + 1.0))
    (finding,) = inspect_log(shifted(log, "imu", late_s), P3AT).of_kind("clock offset", "imu")
    assert finding.value == pytest.approx(late_s, abs=0.01)  # a sampling interval
    assert finding.is_corrected == (late_s != 0.0)


@pytest.mark.parametrize("late_s", [-0.05, 0.0, 0.1])
def test_where_slip_and_delay_cannot_be_told_apart_no_clock_is_shifted(late_s):
    """All of one frequency: sides with scales of their own give the yaw any phase, and a phase is a delay."""

    def ahead(t):
        return 0.7 + 0.3 * np.sin(0.5 * t)

    log = unequal(lambda t: ahead(t) - 0.1 * np.sin(0.5 * t + 0.7), lambda t: ahead(t) + 0.1 * np.sin(0.5 * t + 0.7))
    assert inspect_log(shifted(log, "imu", late_s), P3AT).corrections == ()


def test_a_straight_drive_at_one_speed_tells_no_offset():
    """Nothing changes but noise: no offset may be corrected, however the noise falls."""
    commands = [{"for_s": 20.0, "v_mps": 0.5, "profile": "linear", "ramp_s": 4.0}]
    log = shifted(drive(commands=commands).readings, "pose", 0.5)
    assert inspect_log(log, P3AT).corrections == ()


@pytest.mark.slow
@pytest.mark.parametrize("channel", ["imu", "pose"])
def test_intervals_of_the_clock_cover_the_truth(channel):
    """90 % intervals over 60 drives with fresh noise, 50 ms late. They contain half a sampling interval that nobody knows, and
    may be too wide: 80 to 100 %."""
    covered = 0
    for seed in range(60):
        log = shifted(drive(seed=seed).readings, channel, 0.05)
        (finding,) = inspect_log(log, P3AT).of_kind("clock offset", channel)
        covered += finding.interval_90[0] <= 0.05 <= finding.interval_90[1]
    assert covered >= 48
