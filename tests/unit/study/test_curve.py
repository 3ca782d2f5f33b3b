"""Probit and monotone curves: truth comes back, bands cover, and data that tell nothing give nothing."""

import numpy as np
import pytest
from scipy import stats

from slipfit.study.curve import fit_probit, monotone, monotone_curve
from slipfit.study.intervals import wilson

X = np.linspace(0.05, 0.2, 12)
MIDDLE, SPREAD = 0.12, 0.015


def counts(seed, n=200, p=None):
    truth = stats.norm.cdf((MIDDLE - X) / SPREAD) if p is None else p
    return np.full(len(X), n), np.random.default_rng(seed).binomial(n, truth)


def test_probit_of_many_runs_is_the_truth():
    """Phi((.12 - x) / .015): slope -66.67, offset 8; 1e6 runs per point leave 0.3 %."""
    fit = fit_probit(X, *counts(1, n=10**6), 0.9)
    assert [fit.offset, fit.slope] == pytest.approx([8.0, -1.0 / SPREAD], rel=3e-3)
    assert fit.where(0.5)[0] == pytest.approx(MIDDLE, abs=1e-4)
    assert fit.where(0.9)[0] == pytest.approx(MIDDLE - 1.28155 * SPREAD, abs=1e-4)


def test_band_and_crossing_cover_as_often_as_they_say():
    """90 % over 400 repetitions: 85 to 95 % is more than three standard deviations of that count."""
    at, truth = 0.11, stats.norm.cdf((MIDDLE - 0.11) / SPREAD)
    fits = [fit_probit(X, *counts(seed), 0.9) for seed in range(400)]
    bands = [fit.band(np.array([at])) for fit in fits]
    assert 0.85 <= np.mean([low[0] <= truth <= high[0] for low, high in bands]) <= 0.96
    places = [fit.where(0.5) for fit in fits]
    assert 0.85 <= np.mean([low <= MIDDLE <= high for _, low, high in places]) <= 0.96


class TestCrossingsByFieller:
    """[Fieller1954]: the interval holds all x at which the band holds P."""

    Z = 1.6448536  # of 90 %

    def test_its_ends_are_where_the_band_leaves_p(self):
        for seed in range(20):
            fit = fit_probit(X, *counts(seed, n=20), 0.9)
            for p in (0.1, 0.5, 0.9):
                x, low, high = fit.where(p)
                assert low < x < high
                edges = np.array([fit.band(np.array([end])) for end in (low, high)])[:, :, 0]
                assert np.min(np.abs(edges - p), axis=1) == pytest.approx([0.0, 0.0], abs=1e-9)
                assert fit.band(np.array([x]))[0][0] < p < fit.band(np.array([x]))[1][0]

    def test_with_a_clear_slope_it_is_close_to_the_delta_method(self):
        """Var(x) = (V_o + 2 x V_os + x^2 V_s) / slope^2. The two differ by z^2 V_s / slope^2, of 200 runs at each point 2 %."""
        fit = fit_probit(X, *counts(1), 0.9)
        x, low, high = fit.where(0.5)
        half = self.Z * np.sqrt(np.array([1.0, x]) @ fit.covariance @ np.array([1.0, x])) / abs(fit.slope)
        assert self.Z**2 * fit.covariance[1, 1] / fit.slope**2 < 0.02
        assert [low, high] == pytest.approx([x - half, x + half], abs=0.05 * half)

    def test_without_a_sure_slope_there_is_none(self):
        """11 and 9 of 20 alternating, and one more at the first height: a slope, by chance."""
        successes = np.array([12, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9])
        fit = fit_probit(X, np.full(12, 20), successes, 0.9)
        assert abs(fit.slope) < self.Z * np.sqrt(fit.covariance[1, 1])
        assert fit.where(0.5)[1:] == (-np.inf, np.inf)


def test_a_curve_that_is_no_probit_is_told_apart():
    p = np.where(X < 0.1, 0.9, 0.1) * np.where(X > 0.15, 0.0, 1.0) + np.where(X > 0.17, 0.6, 0.0)
    assert fit_probit(X, *counts(3, n=500, p=p), 0.9).is_poor
    assert np.mean([fit_probit(X, *counts(seed), 0.9).is_poor for seed in range(100)]) < 0.06


@pytest.mark.parametrize("successes", [[10] * 12, [0] * 12, [10] * 6 + [0] * 6, [10] * 5 + [4] + [0] * 6])
def test_no_slope_from_points_that_do_not_tell_it(successes):
    assert fit_probit(X, np.full(12, 10), np.array(successes), 0.9) is None


def test_pooling_by_hand():
    """[Barlow1972]: 1, 3, 2, 4 rises when 3 and 2 become 2.5; with weights 1 and 3 they become 2.25."""
    assert monotone(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4), is_rising=True).tolist() == [1.0, 2.5, 2.5, 4.0]
    assert monotone(np.array([1.0, 3.0, 2.0, 4.0]), np.array([1, 1, 3, 1]), is_rising=True).tolist() == [1.0, 2.25, 2.25, 4.0]
    assert monotone(np.array([4.0, 1.0, 2.0]), np.ones(3), is_rising=False).tolist() == [4.0, 1.5, 1.5]


def test_monotone_curve_falls_and_lies_within_its_band():
    runs, successes = counts(5, n=40)
    curve = monotone_curve(X, runs, successes, *wilson(successes, runs, 0.9))
    assert np.all(np.diff(curve.probability) <= 0.0)
    assert np.all(np.diff(curve.low) <= 0.0)
    assert np.all((curve.low <= curve.probability) & (curve.probability <= curve.high))
