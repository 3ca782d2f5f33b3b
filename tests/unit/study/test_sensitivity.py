"""Sobol indices of verdicts: the estimators of SALib, intervals that cover as often as they say, the same bits every time."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from SALib.analyze import sobol
from scipy import stats

from slipfit.study import prepare
from slipfit.study.sample import Span
from slipfit.study.sensitivity import SaltelliSampler, _problem, sobol_indices
from studies import DOCUMENT, study

MORE = DOCUMENT["uncertain"] | {"mass_ahead_m": {"normal": [0.254, 0.02]}, "mass_above_m": {"normal": [0.075, 0.01]}}

#: S and T of SPEC 5's Monte Carlo, by quadrature (checked below).
TRUTH = {"curb.height_m": (0.8070, 0.9703), "curb.friction": (0.0297, 0.1930)}


def design(base_runs, **changes):
    prepared = prepare(study(**{"uncertain": MORE} | changes))
    sampler = SaltelliSampler.of(prepared.sampler, base_runs)
    return sampler, prepared.model.evaluate(sampler.inputs([Span(0, 0, sampler.runs)]), 1).outcome == 0


@pytest.mark.parametrize("correlated", [[], [{"between": ["curb.height_m", "mass_ahead_m"], "value": 0.5}]])
def test_indices_are_those_of_salib(correlated):
    """SALib's own analysis of the same verdicts, all scramblings together."""
    sampler, verdict = design(512, correlated=correlated)
    found = sobol_indices(sampler, verdict, 0.9)
    known = sobol.analyze(_problem(sampler.groups), verdict.astype(float), calc_second_order=False, seed=5)
    assert [index.first for index in found] == pytest.approx(known["S1"], abs=1e-12)
    assert [index.total for index in found] == pytest.approx(known["ST"], abs=1e-12)


def test_half_widths_are_those_of_a_jackknife_over_scramblings():
    """SALib's indices of the design without one scrambling, for each of the 16; t(15) at 95 % is 1.75305 (tables)."""
    sampler, verdict = design(512)
    found = sobol_indices(sampler, verdict, 0.9)
    each = len(verdict) // 16
    without = [np.delete(verdict, slice(r * each, (r + 1) * each)).astype(float) for r in range(16)]
    known = [sobol.analyze(_problem(sampler.groups), left, calc_second_order=False, num_resamples=2, seed=5) for left in without]
    for name, halves in (("S1", [i.first_half_width for i in found]), ("ST", [i.total_half_width for i in found])):
        scatter = np.array([left[name] for left in known])
        expected = 1.75305 * np.sqrt(15.0 / 16.0 * np.sum((scatter - scatter.mean(axis=0)) ** 2, axis=0))
        assert halves == pytest.approx(expected, rel=1e-5)


def test_every_scrambling_is_a_net_of_its_own():
    """A sixteenth of the rows has one row in each of as many equal strips of every input [Owen1997]; no two of them are alike."""
    sampler, _ = design(512)
    u = sampler.inputs([Span(0, 0, sampler.runs)])["curb.height_m"].reshape(16, 32, -1)[:, :, 0]  # of A
    strips = np.floor((u - 0.05) / 0.15 * 32).astype(int)
    assert all(sorted(one) == list(range(32)) for one in strips.tolist())
    assert len(np.unique(u.round(12), axis=0)) == 16


class TestCoverage:
    """SPEC 5's Monte Carlo, whose indices follow from two integrals: S_h = V(P(h)) / (P (1 - P)) and S_mu likewise; of two
    inputs, T_mu = 1 - S_h and T_h = 1 - S_mu."""

    def test_the_truth_is_that_of_quadrature(self):
        """From the tip's own equation (SPEC 5): h(theta) = (a - e tan theta) sin theta + R (1 - cos theta), mu = tan theta."""
        theta = np.linspace(0.0, 1.2, 200_001)
        heights = (0.254 - 0.075 * np.tan(theta)) * np.sin(theta) + 0.089 * (1.0 - np.cos(theta))
        rising = slice(0, int(heights.argmax()) + 1)
        h = np.linspace(0.05, 0.2, 100_001)
        needed = np.interp(h, heights[rising], np.tan(theta[rising]), right=np.inf)
        climbs = stats.norm.sf(needed, 0.6, 0.1)
        p = np.trapezoid(climbs, h) / 0.15
        mu = np.linspace(0.0, 1.2, 100_001)
        share = np.clip((np.interp(mu, np.tan(theta[rising]), heights[rising]) - 0.05) / 0.15, 0.0, 1.0)
        s_h = (np.trapezoid(climbs**2, h) / 0.15 - p * p) / (p * (1.0 - p))
        s_mu = (np.trapezoid(share**2 * stats.norm.pdf(mu, 0.6, 0.1), mu) - p * p) / (p * (1.0 - p))
        assert p == pytest.approx(0.4596, abs=1e-4)
        assert [s_h, 1.0 - s_mu] == pytest.approx(TRUTH["curb.height_m"], abs=1e-4)
        assert [s_mu, 1.0 - s_h] == pytest.approx(TRUTH["curb.friction"], abs=1e-4)

    def measured(self, studies, base_runs):
        """Share of 90 % intervals that hold the truth, and mean half width over 1.645 standard deviations of the estimates, of
        S_h, T_h, S_mu, T_mu."""
        found, halves = [], []
        prepared = prepare(study())
        for seed in range(studies):
            sampler = SaltelliSampler.of(replace(prepared.sampler, seed=seed), base_runs)
            verdict = prepared.model.evaluate(sampler.inputs([Span(0, 0, sampler.runs)]), 1).outcome == 0
            indices = {index.name: index for index in sobol_indices(sampler, verdict, 0.9)}
            both = [indices[name] for name in TRUTH]
            found.append([entry for index in both for entry in (index.first, index.total)])
            halves.append([entry for index in both for entry in (index.first_half_width, index.total_half_width)])
        truth = [entry for both in TRUTH.values() for entry in both]
        covers = np.mean(np.abs(np.array(found) - truth) <= halves, axis=0)
        return covers, np.mean(halves, axis=0) / (1.645 * np.std(found, axis=0))

    def test_of_sixty_studies(self):
        """Three standard deviations of 60 are 12 %, of all four indices (were they independent) 6 %. A bootstrap of rows as if
        they were independent covers all of them, with a ratio of 1.9 to 2.9."""
        covers, ratio = self.measured(60, 256)
        assert np.all(covers >= 0.9 - 0.12)
        assert 0.84 <= covers.mean() <= 0.96
        assert np.all((ratio > 0.7) & (ratio < 1.5))

    @pytest.mark.slow
    @pytest.mark.parametrize("base_runs", [512, 1024])
    def test_of_two_hundred_studies(self, base_runs):
        covers, ratio = self.measured(200, base_runs)
        assert np.all((covers >= 0.85) & (covers <= 0.95))
        assert np.all((ratio > 0.7) & (ratio < 1.5))


def test_an_input_that_turned_no_verdict_is_not_surely_without_effect():
    """None of N = 128 rows: the share of turned verdicts lies below 1 - 0.05^(1/N) = 2.31 % [Clopper1934], T below that / 2V."""
    sampler, verdict = design(128, uncertain=DOCUMENT["uncertain"] | {"underside_m": {"normal": [0.508, 0.001]}})
    index = next(index for index in sobol_indices(sampler, verdict, 0.9) if index.name == "underside_m")
    share = verdict.mean()
    assert index.first == index.total == 0.0  # flippers put the robot's front on the step, whatever its length
    assert index.total_half_width == pytest.approx(0.5 * 0.023132 / (share * (1.0 - share)), rel=1e-4)
    assert index.first_half_width == index.total_half_width


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_study_has_the_same_half_widths(seed):
    """Seed 0, which is the default, is a seed like others; SALib takes it for none."""
    first, again = (sobol_indices(*design(128, seed=seed), 0.9) for _ in range(2))
    assert first == again
    assert first != sobol_indices(*design(128, seed=seed + 5), 0.9)


def test_intervals_need_no_more_memory_than_the_verdicts():
    """2^18 base runs: SALib's arrays of rows x resamples would take 2 GB each. Ours have one number per row, 2 MB each."""
    sampler = SaltelliSampler.of(prepare(study()).sampler, 2**18)
    verdict = np.random.default_rng(1).random(sampler.runs) < 0.3
    tracemalloc.start()
    sobol_indices(sampler, verdict, 0.9)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e7
