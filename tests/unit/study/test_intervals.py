"""Intervals of a probability, against SciPy's own and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from slipfit.study.intervals import exact, over_scramblings, wilson

CASES = [(0, 10), (1, 10), (5, 10), (10, 10), (3, 64), (459, 1000), (0, 100_000)]


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.99])
@pytest.mark.parametrize(("k", "n"), CASES)
def test_as_scipy_has_them(k, n, confidence):
    for ours, method in ((wilson, "wilson"), (exact, "exact")):
        found = stats.binomtest(k, n).proportion_ci(confidence_level=confidence, method=method)
        assert [float(end) for end in ours(np.array(k), np.array(n), confidence)] == pytest.approx(
            [found.low, found.high], abs=1e-12
        )


def test_nothing_is_known_without_runs():
    low, high = wilson(np.array([0]), np.array([0]), 0.9)
    assert [low[0], high[0]] == [0.0, 1.0]


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5])
def test_exact_intervals_cover_at_least_as_often_as_they_say(p):
    """By summing the binomial distribution: no chance in this test."""
    n, k = 80, np.arange(81)
    low, high = exact(k, np.full(81, n), 0.9)
    assert stats.binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() >= 0.9


def test_scramblings_give_students_interval():
    """Mean .5, standard deviation of 16 shares, t of 15 degrees: 1.7531 for 90 %."""
    successes = np.array([[40, 60] * 8])
    low, high = over_scramblings(successes, np.full((1, 16), 100), 0.9)
    half = 1.7531 * np.std([0.4, 0.6] * 8, ddof=1) / 4.0
    assert [low[0], high[0]] == pytest.approx([0.5 - half, 0.5 + half], abs=1e-5)


def test_near_the_ends_scramblings_hold_the_exact_interval():
    """3 of 1024 in three of 16 scramblings, or as many failures. Student's interval ends at .0029 + 1.7531 x .0063 / 4 = .0057,
    the exact one at .0075 (SciPy); with 160 successes there are enough to tell their spread."""
    few = np.array([[1, 1, 1] + [0] * 13])
    ends = stats.binomtest(3, 1024).proportion_ci(0.9, method="exact")
    low, high = over_scramblings(few, np.full((1, 16), 64), 0.9)
    assert low[0] <= ends.low
    assert high[0] == pytest.approx(ends.high)
    assert high[0] > 0.0075
    mirrored = over_scramblings(64 - few, np.full((1, 16), 64), 0.9)
    assert [1.0 - mirrored[1][0], 1.0 - mirrored[0][0]] == pytest.approx([low[0], high[0]])
    low, high = over_scramblings(np.array([[9, 11] * 8]), np.full((1, 16), 64), 0.9)
    assert high[0] - low[0] < 0.5 * np.diff(exact(np.array([160]), np.array([1024]), 0.9), axis=0)[0, 0]


def test_scramblings_that_agree_do_not_claim_to_know_exactly():
    low, high = over_scramblings(np.zeros((1, 16)), np.full((1, 16), 32), 0.9)
    assert low[0] == 0.0
    assert high[0] == pytest.approx(1.0 - 0.05 ** (1.0 / 512))  # exact upper end of 0 of 512
