"""Shares, regions and swings of runs that cells have different numbers of."""

import numpy as np
import pytest

from slipfit.study.modes import failure_modes, quantiles, tornado
from slipfit.study.result import span_text


def test_quantiles_count_weights_not_runs():
    """Nine runs of weight 1 at 0, one of weight 9 at 1: half of the weight lies at each."""
    values, weight = np.r_[np.zeros(9), 1.0], np.r_[np.ones(9), 9.0]
    assert quantiles(values, weight, (0.4, 0.5, 0.6)) == [0.0, 0.0, 1.0]


def test_equal_weights_give_the_values_in_order():
    assert quantiles(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), (0.05, 0.25, 0.5, 0.95)) == [1.0, 1.0, 2.0, 4.0]


@pytest.fixture
def adaptive():
    """Ten heights, the sixth with fifty times the runs of the others, which fail from there on."""
    runs = [20] * 5 + [1000] + [20] * 4
    cell = np.repeat(np.arange(10), runs)
    outcome = np.where(cell > 5, 1, np.where((cell == 5) & (np.arange(len(cell)) % 2 == 0), 1, 0))
    return {"run": np.arange(len(cell)), "cell": cell, "outcome": outcome, "success": outcome == 0, "h": 0.1 * cell}


def test_a_tenth_of_the_design_is_a_tenth_however_many_runs_it_has(adaptive):
    """The lowest of ten heights always succeeds, the highest never; most runs are at neither."""
    (swing,) = tornado(adaptive, ("h",), 0.9)
    assert swing.at_low[0] == 1.0
    assert swing.at_high[0] == 0.0


def test_the_middle_of_a_failure_is_that_of_the_design(adaptive):
    """Failures: half of the sixth height and four whole ones, each counted alike; their middle is the eighth."""
    (mode,) = failure_modes(adaptive, ("h",), ("good", "bad"), 0.9)
    assert mode.share == pytest.approx(0.45)
    assert mode.region["h"][1] == pytest.approx(0.7)


def test_a_single_run_has_a_place_and_no_range():
    """The 5 % and 95 % quantiles of one value are that value."""
    assert (span_text(803.2, 803.2), span_text(0.12, 0.16)) == ("803", "0.12 to 0.16")
