"""Alarms: in time, not twice, and not for robots that wait."""

import numpy as np
import pytest

from slipfit.estimate.immobilisation import immobilisation


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
