"""How sure the numbers from commands to wheels are: intervals hold the truth, limits that nothing reaches are not told."""

import numpy as np
import pytest
from commanded_drives import ROBOT, commanded_drive

from slipfit.calibration.ladder import drive_of
from slipfit.calibration.ladder.command_loop import CommandLoop, fit_command_loop, pieces_of
from slipfit.logs import Channel
from slipfit.logs.channels import ENCODERS

TRUTH = {"gain_mean": 1.4, "gain_turn": 1.4, "turn_limit_mps": 0.15, "lag_s": 0.4, "delay_s": 0.2}


def fitted(seed):
    """Encoders with noise that stays for 2 s, as loads do, and white noise: 8 mm/s of either."""
    log = commanded_drive(seed=seed, steps=20, gain=1.4, lag_s=0.4, delay_s=0.2, turn_limit_mps=0.15)
    random, wheels = np.random.default_rng(100 + seed), log[ENCODERS]
    slow = np.repeat(random.standard_normal((len(wheels.values) // 40 + 1, 2)), 40, axis=0)[: len(wheels.values)]
    values = wheels.values + 0.05 * (slow + random.standard_normal(wheels.values.shape))
    drive = drive_of(log.having(Channel(ENCODERS, wheels.stamps_ns, values, wheels.columns)), ROBOT)
    return fit_command_loop(pieces_of(drive.inspection.corrected, ROBOT, drive.rims, drive.windows))


@pytest.fixture(scope="module")
def loops():
    return [fitted(seed) for seed in range(3)]


def test_intervals_hold_the_truth(loops):
    """90 % intervals of 3 drives and 5 numbers: of 15, 11 and more hold it (binomial, 99 %)."""
    held = sum(low <= TRUTH[n] <= high for loop in loops for n in TRUTH for low, high in [loop.interval_90(n)])
    assert held >= 11


def test_intervals_say_something(loops):
    """Noise of 8 mm/s beside speeds of decimetres a second: gains within some per cent."""
    for loop in loops:
        assert 0.0 < loop.std("gain_mean") < 0.05
        assert loop.std("lag_s") < 0.05
        # Encoders tell moments or means of 0.05 s: evenly spread over half of that.
        assert loop.std("delay_s") > 0.025 / np.sqrt(3.0) - 1e-9


def test_limits_that_nothing_reaches_are_not_told(loops):
    """There is no limit of the mean, of a side, or of acceleration; most drives reach that of turning."""
    for loop in loops:
        assert not any(loop.tells(name) for name in ("mean_limit_mps", "side_limit_mps", "acceleration_mps2"))
    assert sum(loop.tells("turn_limit_mps") for loop in loops) >= 2


def test_it_prints_and_saves_its_spread(loops):
    document = loops[1].to_document()
    assert document["gain_mean"]["value"] == loops[1].gain_mean
    low, high = document["gain_mean"]["interval_90"]
    assert low < loops[1].gain_mean < high
    assert document["mean_limit_mps"]["is_told"] is False
    lines = {line.split()[0]: line for line in loops[1].summary().splitlines()}
    assert "90 % in" in lines["gain_mean"]
    assert "not told by this drive" in lines["mean_limit_mps"]


def test_a_loop_that_nobody_fitted_has_no_spread():
    loop = CommandLoop(gain_mean=1.2)
    assert not loop.tells("gain_mean")
    assert np.isnan(loop.std("gain_mean"))
    assert "90 %" not in loop.summary()
