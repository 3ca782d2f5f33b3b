"""What whole setpoints do to a plan: SPEC 2(b)'s circles, lines of unequal sides, and motion that is lost."""

import numpy as np
import pytest

from controllers import CIRCLES, EFFECTIVE_TRACK_M, K2, TYRE_M, controlled_twin
from slipfit.control import Mode, Rounding, Scale, effect_of_rounding


@pytest.fixture
def scale():
    return Scale.of(controlled_twin())


def test_effect_tells_the_worst_circle(scale):
    """SPEC 2(b): up to 6 %, at 1 m and 2 m."""
    v, rate = np.array([c[:2] for c in CIRCLES]).T
    effect = effect_of_rounding(scale, v, rate)
    assert effect.radius_error == pytest.approx(0.0624, abs=5e-4)
    assert effect.channels in ((8, 3), (16, 6), (16, 3))
    assert "radius off by up to 6.2 %" in effect.summary()
    better = effect_of_rounding(scale, v, rate, rounding=Rounding.BEST_PAIR)
    assert better.radius_error < 0.013
    assert "mean over time is right" in effect_of_rounding(scale, v, rate, rounding=Rounding.DITHER).summary()


@pytest.mark.parametrize(
    ("v", "rate", "share", "sentence"),
    [
        (
            0.3,
            0.015,
            "lost_rotation",
            "100 % of the turning commands lose their rotation and go straight",
        ),  # .4875
        (0.005, 0.3, "lost_translation", "100 % of the commands ahead lose their translation and turn on the spot"),  # .41
    ],
)
def test_rotation_and_translation_that_become_zero(scale, v, rate, share, sentence):
    """A circle of 20 m becomes a line, and a slow arc a spin: no error of a radius says so."""
    effect = effect_of_rounding(scale, np.array([v]), np.array([rate]))
    assert effect.to_document()[share] == 1.0
    assert sentence in effect.summary()


def test_spins_have_an_error_of_yaw_rate(scale):
    """.05 rad/s is 1.625 setpoints, told as 2: 23.1 % too fast."""
    effect = effect_of_rounding(scale, np.zeros(1), np.array([0.05]))
    assert effect.yaw_rate_error == pytest.approx(2 / 1.625 - 1.0)
    assert "yaw rate on the spot by up to 23.1 %" in effect.summary()


def test_commands_below_one_setpoint_are_lost(scale):
    """One setpoint is .304 / 24.8 = 12.3 mm/s; 5 mm/s is less than half of it."""
    effect = effect_of_rounding(scale, np.array([0.005, 0.1]), np.zeros(2))
    assert effect.lost == 0.5
    assert "50 % of the moving commands turn no wheel" in effect.summary()


def test_the_mean_stands_beside_the_worst(scale):
    """The six circles of SPEC 2(b) are off by 6.2, 4.4, 6.2, 4.4, 6.2 and 4.4 % on ways of 8, 12, 16, 24, 16 and 24 setpoints."""
    v, rate = np.array([c[:2] for c in CIRCLES]).T
    effect = effect_of_rounding(scale, v, rate)
    errors, ways = [abs(c[3] * c[1] / c[0] - 1.0) for c in CIRCLES], [c[2][0] for c in CIRCLES]
    assert effect.radius_error_mean == pytest.approx(np.average(errors, weights=ways), abs=5e-4)
    assert "and 5.1 % in the mean" in effect.summary()


def test_what_is_left_of_a_turn_by_unequal_sides_is_no_radius():
    """A circle of 20 m, channel 2 of .49 less .24 (.02) for a right side with 2 % (.2 %) smaller a constant, is told as 0. The
    robot still turns by its unequal sides: on W / .0202 = 39.4 m, which is a radius; on 398 m, where the turn is lost."""
    few, hardly = (Scale.of(controlled_twin(right_gain=gain)) for gain in (0.98, 0.998))
    arc = np.array([0.3]), np.array([0.015])
    found = effect_of_rounding(few, *arc)
    assert found.lost_rotation == 0.0
    assert found.radius_m == pytest.approx((20.0, EFFECTIVE_TRACK_M / 0.0202), rel=1e-3)
    lost = effect_of_rounding(hardly, *arc)
    assert lost.lost_rotation == 1.0
    assert lost.radius_error == 0.0


@pytest.mark.parametrize(("mode", "whole"), [(Mode.MIXED, (25, 25)), (Mode.SEPARATE, (24, 25))])
def test_a_line_bends_where_the_sides_have_unequal_constants(mode, whole):
    """.3 m/s is 24.47 and, with 2 % more on the right, 24.96 setpoints. Mixed, the channels are 24.72 and .24, told as 25 and 0.

    Rims run at whole / g: omega = (v_r - v_l) / E, and a line of 10 m ends (1 - cos(10 / R)) R beside its end.
    """
    scale = Scale.of(controlled_twin(right_gain=1.02))
    effect = effect_of_rounding(scale, np.array([0.3]), np.zeros(1), mode)
    left, right = whole[0] * TYRE_M / K2, whole[1] * TYRE_M / K2 / 1.02
    radius = abs(0.5 * (left + right) * EFFECTIVE_TRACK_M / (right - left))
    assert 1.0 / effect.bend_per_m == pytest.approx(radius, rel=1e-9)
    off = radius * (1.0 - np.cos(10.0 / radius))
    assert effect.to_document()["metres_off_after_10_m"] == pytest.approx(off)
    assert (
        f"straight lines bend, {off:.2g} m off after 10 m in the mean, at worst on a radius of {radius:.3g} m" in effect.summary()
    )


def test_lines_of_equal_sides_and_dithered_ones_stay_straight(scale):
    assert effect_of_rounding(scale, np.array([0.3]), np.zeros(1)).bend_per_m == 0.0
    unequal = Scale.of(controlled_twin(right_gain=1.02))
    effect = effect_of_rounding(unequal, np.array([0.3]), np.zeros(1), rounding=Rounding.DITHER)
    assert effect.bend_per_m == pytest.approx(0.0, abs=1e-12)
    assert "bend" not in effect.summary()


def test_a_slow_start_counts_by_its_way():
    """Separate sides at 6 mm/s are .49 and .52 setpoints, told as 0 and 1: a tiny circle, and 2 % of the way at .3 m/s."""
    scale = Scale.of(controlled_twin(right_gain=1.06))
    effect = effect_of_rounding(scale, np.array([0.006, 0.3]), np.zeros(2), Mode.SEPARATE)
    assert 1.0 / effect.bend_per_m == pytest.approx(0.5 * EFFECTIVE_TRACK_M)
    slow, fast = 0.5 / 1.06, 0.5 * (24 + 26 / 1.06)
    bend = abs(26 / 1.06 - 24) / fast / EFFECTIVE_TRACK_M
    assert effect.bend_mean_per_m == pytest.approx((slow * effect.bend_per_m + fast * bend) / (slow + fast))
