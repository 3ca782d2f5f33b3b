"""Speed loops come back from logs that were made with them."""

from dataclasses import replace

import numpy as np
import pytest

from slipfit.calibration.odometry.commands import has_commands, told_speeds
from slipfit.calibration.odometry.speed_loop import fit_speed_loops
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel
from slipfit.simulation.speed_loop import SpeedLoop
from slipfit.twin import FittedPowertrain, Status
from unit.calibration.odometry.loops import LEFT, RIGHT, loop_log

ROBOT = find_robot("atrv_jr")
TRUTH = {
    (side, name): getattr(loop, key)
    for side, loop in (("left", LEFT), ("right", RIGHT))
    for name, key in (
        ("setpoint_per_radps", "told_per_reached"),
        ("saturation_radps", "saturation_radps"),
        ("lag_s", "lag_s"),
        ("delay_s", "delay_s"),
        ("dead_band_setpoint", "dead_band"),
        ("second_lag_s", "second_lag_s"),
    )
    if not (side == "left" and name == "second_lag_s")
}


def test_constants_of_both_sides_come_back():
    """Truth within four standard deviations, eleven constants at once; first order left, second order right."""
    found = fit_speed_loops(loop_log(7), ROBOT).powertrain
    assert found.setpoint_unit == "radps"
    for (side, name), truth in TRUTH.items():
        p = getattr(getattr(found, side), name)
        assert abs(p.value - truth) < 4.0 * p.std, (side, name)
    assert found.left.second_lag_s is None
    assert found.left.dead_band_setpoint.interval_90 == pytest.approx((0.3, 0.45))  # the levels told on either side of 0.35


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """30 logs with fresh seeds: 90 % intervals hold 80 to 100 % of the truths, taken together 85 to 98 %."""
    inside = dict.fromkeys(TRUTH, 0)
    for seed in range(30):
        found = fit_speed_loops(loop_log(seed), ROBOT).powertrain
        for (side, name), truth in TRUTH.items():
            p = getattr(getattr(found, side), name)
            inside[side, name] += p is not None and p.interval_90 is not None and p.interval_90[0] <= truth <= p.interval_90[1]
    thresholds = {key for key in TRUTH if key[1] == "dead_band_setpoint"}  # these are brackets, and always hold it
    assert all(count >= 24 for count in inside.values()), inside
    assert 0.85 <= np.mean([inside[key] / 30.0 for key in TRUTH.keys() - thresholds]) <= 0.98, inside


def test_coarse_counters_do_not_bend_the_lag():
    """100 counts a turn make steps of 0.06 rad; the lag still comes back."""
    found = fit_speed_loops(loop_log(3, counts_per_turn=100), ROBOT).powertrain
    assert abs(found.left.lag_s.value - LEFT.lag_s) < 3.0 * found.left.lag_s.std
    assert found.left.lag_s.std < 0.02


def test_what_the_log_does_not_show_is_a_bound():
    """An ideal loop told a few modest speeds: no delay, no dead band, no saturation is invented."""
    found = fit_speed_loops(loop_log(1, (SpeedLoop(), SpeedLoop()), levels=(0, 2, 0, 4, 2, 0, -4, 0)), ROBOT).powertrain
    assert found.left.saturation_radps.status is Status.BOUND_ONLY
    assert found.left.saturation_radps.at_least == pytest.approx(4.0, rel=0.02)
    assert found.left.dead_band_setpoint.status is Status.BOUND_ONLY
    assert found.left.dead_band_setpoint.at_most == 2.0
    for p in (found.left.lag_s, found.left.delay_s):
        assert (p.value or p.at_most) < 0.01  # two steps of the model
    assert found.left.setpoint_per_radps.value == pytest.approx(1.0, abs=0.003)


@pytest.mark.parametrize("lag_s", [0.0, 0.004])
def test_a_loop_without_lag_has_none_above_a_few_milliseconds(lag_s):
    """Motors that follow at once, or within 4 ms: lag and delay look alike there, so that each is bounded by both together. That
    no lag shows is no reason to know it exactly, and the bound is not far above the truth: encoders come every 10 ms."""
    loop = SpeedLoop(1.0, lag_s=lag_s)
    found = fit_speed_loops(loop_log(3, (loop, loop)), ROBOT).powertrain
    for side in (found.left, found.right):
        for time, truth in ((side.lag_s, lag_s), (side.delay_s, 0.0)):
            if time.status is Status.BOUND_ONLY:
                assert truth <= time.at_most < 0.03
            else:
                assert time.std > 0.0
                assert abs(time.value - truth) < 4.0 * time.std


def test_a_drivers_speeds_are_setpoints_again():
    """A driver with the constants 12.5 and 12.4 told a controller that really takes 12.75 and 12.0."""
    known = FittedPowertrain.model_validate(
        {
            side: {"setpoint_per_radps": {"value": k, "status": "converged", "source": "table"}}
            for side, k in (("left", 12.5), ("right", 12.4))
        }
    )
    loops = (SpeedLoop(12.75 / 12.5, lag_s=0.1), SpeedLoop(12.0 / 12.4, lag_s=0.1))
    found = fit_speed_loops(loop_log(2, loops, levels=(0, 2, 0, 4, 2, 0, -4, 0)), ROBOT, known=known).powertrain
    assert found.setpoint_unit == "controller"
    assert found.left.setpoint_per_radps.value == pytest.approx(12.75, rel=0.005)
    assert found.right.setpoint_per_radps.value == pytest.approx(12.0, rel=0.005)


def test_body_velocities_become_wheel_speeds():
    """v = 0.3 m/s and 0.5 rad/s on radius 0.152 and track 0.5: (0.3 -+ 0.125) / 0.152."""
    stamps = np.array([0, 10**9])
    log = replace(
        loop_log(1), channels={"commands": Channel("commands", stamps, np.tile([0.3, 0.5], (2, 1)), ("v_mps", "yaw_rate_radps"))}
    )
    assert has_commands(log)
    assert told_speeds(log, ROBOT).values[0] == pytest.approx([0.175 / 0.152, 0.425 / 0.152])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: replace(c["commands"], values=np.ones_like(c["commands"].values)), "throughout"),
        (lambda c: replace(c["commands"], values=-c["commands"].values), "against their commands"),
        (lambda c: replace(c["encoders"], values=np.zeros_like(c["encoders"].values)), "never turn"),
        (lambda c: replace(c["commands"], values=np.full_like(c["commands"].values, np.nan)), "numbers"),
    ],
)
def test_logs_that_cannot_tell_are_refused_in_a_sentence(change, words):
    log = loop_log(1, levels=(0, 2, 4, 0))
    with pytest.raises(LogError, match=words):
        fit_speed_loops(log.having(change(log.channels)), ROBOT)
