"""Whole setpoints: document 001's circles become those of SPEC 2(b); dither is right in the mean; best_pair in radius."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers import CIRCLES, controlled_twin
from slipfit.control import Mode, Rounder, Rounding, Scale
from slipfit.control.rounding import half_even, half_up


@pytest.fixture
def scale():
    return Scale.of(controlled_twin())


@pytest.mark.parametrize(("v", "rate", "channels", "radius"), CIRCLES)
@pytest.mark.parametrize("direction", [1, -1])
def test_circles_of_the_document(scale, v, rate, channels, radius, direction):
    """Counter-clockwise and clockwise, as the document drove them."""
    told = Rounder(scale)(v, direction * rate)
    assert (told.first, told.second) == (channels[0], direction * channels[1])
    assert told.v_mps / told.yaw_rate_radps == pytest.approx(direction * radius, abs=5e-4)


def test_a_half_by_both_rules(scale):
    """SPEC 2(b): 6.5 is 6 by half_even (1.062 m) and 7 by half_up (.911 m); turns to both sides alike."""
    for direction in (1, -1):
        told = Rounder(scale, rounding=Rounding.HALF_UP)(0.2, direction * 0.2)
        assert told.second == direction * 7
        assert told.v_mps / told.yaw_rate_radps == pytest.approx(direction * 0.911, abs=5e-4)


@given(st.floats(-127, 127))
def test_rules_are_odd_and_near(value):
    for rule in (half_even, half_up):
        assert rule(-value) == -rule(value)
        assert abs(rule(value) - value) <= 0.5 + 1e-9


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.integers(1, 200))
def test_dither_is_right_in_the_mean(v, rate, steps):
    """Error feedback: what is owed never exceeds half a setpoint, so the mean of K is off by 1 / (2 K) at most."""
    scale = Scale.of(controlled_twin())
    rounder = Rounder(scale, rounding=Rounding.DITHER)
    told = np.array([[t.first, t.second] for t in (rounder(v, rate) for _ in range(steps))])
    assert np.abs(told.mean(axis=0) - scale.channels(v, rate)).max() <= 0.5 / steps + 1e-9


def test_dither_rests_at_rest(scale):
    rounder = Rounder(scale, rounding=Rounding.DITHER)
    rounder(0.1, 0.1)
    assert all((t.first, t.second) == (0, 0) for t in (rounder(0.0, 0.0) for _ in range(10)))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(("v", "rate"), [(v, rate) for v, rate, *_ in CIRCLES])
def test_best_pair_is_best(scale, mode, v, rate):
    """By brute force over all pairs whose speed is within a quarter of the wanted: none has a clearly better radius."""
    told = Rounder(scale, mode, Rounding.BEST_PAIR)(v, rate)
    error = abs(told.v_mps / told.yaw_rate_radps / (v / rate) - 1.0)
    nearest = Rounder(scale, mode)(v, rate)
    assert error <= abs(nearest.v_mps / nearest.yaw_rate_radps / (v / rate) - 1.0) + 1e-12
    assert error < 0.013  # against up to 6 % by rounding
    assert abs(told.v_mps / v - 1.0) <= 0.26
    assert told.progress == pytest.approx(told.v_mps / v, rel=0.02)  # the same path in less or more time


def test_best_pair_keeps_lines_straight_and_spins_pure(scale):
    rounder = Rounder(scale, rounding=Rounding.BEST_PAIR)
    assert rounder(0.33, 0.0).yaw_rate_radps == 0.0
    assert rounder(0.0, 0.33).v_mps == 0.0
    assert (rounder(0.0, 0.0).first, rounder(0.0, 0.0).second) == (0, 0)


def test_dither_never_tells_more_than_the_next_whole_number(scale):
    """Half a setpoint owed and a whole one wanted is a tie: 127 must not become 128."""
    rounder = Rounder(scale, rounding=Rounding.DITHER)
    rounder._owed = [0.5, 0.0]
    assert rounder._dithered(0, 127.0) == 127


@pytest.mark.parametrize(("v", "rate", "told"), [(0.01824, 0.0, (1, 0)), (0.0194, 0.0194, (2, 1)), (0.006, 0.0, (0, 0))])
def test_best_pair_at_a_crawl_is_plain_rounding(scale, v, rate, told):
    """1.49 setpoints ahead are a third off 1 and 2, and (1, 1) is as fast as wanted: it would stop the left side."""
    whole = Rounder(scale, rounding=Rounding.BEST_PAIR)(v, rate)
    assert (whole.first, whole.second) == told
