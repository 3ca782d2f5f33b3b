"""Alarms: in time, not twice, and not for robots that wait."""

import numpy as np
import pytest

from slipfit.estimation.immobilisation import Evidence, immobilisation


def judged(slip, rims=0.5, std=0.05, step_s=0.05):
    t = np.arange(len(slip)) * step_s
    pair = np.column_stack([slip, slip])
    n = (len(slip), 2)
    return t, immobilisation(t, pair, np.full(n, std), np.ones(n, dtype=bool), np.full(n, rims))


def test_the_alarm_comes_within_two_seconds_and_once():
    """Slip grows by 0.2 a second and passes 0.8 at 5 s."""
    slip = np.clip(0.2 * (np.arange(300) * 0.05 - 1.0), 0.0, 0.95)
    _, found = judged(slip)
    assert len(found.alarms_s) == 1
    assert 5.0 <= found.alarms_s[0] <= 7.0


def test_the_warning_counts_down_to_the_limit():
    """At a slope of 0.2 a second and a slip of 0.4 there are 2 s left."""
    slip = np.clip(0.2 * (np.arange(300) * 0.05 - 1.0), 0.0, 0.95)
    t, found = judged(slip)
    at = int(np.searchsorted(t, 3.0))
    assert found.warning_s[at] == pytest.approx((0.8 - slip[at]) / 0.2, rel=0.02)
    assert np.isinf(found.warning_s[5])


def test_a_robot_that_waits_or_brakes_is_not_stuck():
    assert judged(np.full(100, 0.95), rims=0.01)[1].alarms_s == ()
    assert judged(np.full(100, -0.95), rims=0.5)[1].alarms_s == ()
    assert len(judged(np.full(100, -0.95), rims=-0.5)[1].alarms_s) == 1  # backwards


def test_one_side_that_grips_is_enough():
    n = (100, 2)
    slip = np.column_stack([np.full(100, 0.95), np.full(100, 0.2)])
    found = immobilisation(np.arange(100) * 0.05, slip, np.full(n, 0.05), np.ones(n, dtype=bool), np.full(n, 0.5))
    assert found.alarms_s == ()


def evident(n, ahead, turning):
    return Evidence(np.full(n, ahead), np.full(n, turning))


def test_an_imu_alone_does_not_tell_how_far_the_robot_gets():
    """Both sides ahead, slip by the filter of 0.95: an alarm with a pose, none with a gyro alone, whatever it believes."""
    n = (100, 2)
    told = (np.arange(100) * 0.05, np.full(n, 0.95), np.full(n, 0.05), np.ones(n, dtype=bool), np.full(n, 0.5))
    assert len(immobilisation(*told, evidence=evident(100, True, True)).alarms_s) == 1
    assert immobilisation(*told, evidence=evident(100, False, True)).alarms_s == ()


def test_a_gyro_is_enough_where_sides_turn_against_each_other():
    n = (100, 2)
    slip, rims = np.tile([-0.95, 0.95], (100, 1)), np.tile([-0.5, 0.4], (100, 1))
    told = (np.arange(100) * 0.05, slip, np.full(n, 0.05), np.ones(n, dtype=bool), rims)
    assert len(immobilisation(*told, evidence=evident(100, False, True)).alarms_s) == 1
    assert immobilisation(*told, evidence=evident(100, False, False)).alarms_s == ()


def test_no_speed_ahead_lifts_the_smaller_slip_above_what_turning_leaves():
    """min(i_l, i_r) <= 1 - r B / (w_r - w_l) for w_l < 0 < w_r and every u: derived in the module's docstring."""
    draw = np.random.default_rng(1)
    left, right = -draw.uniform(0.1, 1.0, 1000), draw.uniform(0.1, 1.0, 1000)
    half = draw.uniform(0.0, 1.0, 1000) * 0.5 * (right - left)  # r B / 2, between no turning and all of it
    u = draw.normal(0.0, 0.5, 1000)
    less = np.minimum(1.0 - (u - half) / left, 1.0 - (u + half) / right)
    assert (less <= 1.0 - 2.0 * half / (right - left) + 1e-12).all()


def test_readings_grow_old():
    """A pose at 1 s and none afterwards: it tells until 2 s."""
    heard = Evidence.of(np.array([0.5, 1.0, 1.9, 2.1]), np.array([1.0]), np.zeros(0))
    assert heard.ahead.tolist() == [False, True, True, False]
    assert not heard.turning.any()
