"""Sobol indices of verdicts: the estimators of SALib, a bootstrap that costs nothing, and the same bits whatever the seed."""

import tracemalloc

import numpy as np
import pytest
from SALib.analyze import sobol

from slipfit.study import prepare
from slipfit.study.sample import Span
from slipfit.study.sensitivity import RESAMPLES, SaltelliSampler, _problem, sobol_indices
from studies import DOCUMENT, study

MORE = DOCUMENT["uncertain"] | {"mass_ahead_m": {"normal": [0.254, 0.02]}, "mass_above_m": {"normal": [0.075, 0.01]}}


def design(base_runs, **changes):
    prepared = prepare(study(uncertain=MORE, **changes))
    sampler = SaltelliSampler.of(prepared.sampler, base_runs)
    return sampler, prepared.model.evaluate(sampler.inputs([Span(0, 0, sampler.runs)]), 1).outcome == 0


@pytest.mark.parametrize("correlated", [[], [{"between": ["curb.height_m", "mass_ahead_m"], "value": 0.5}]])
def test_indices_and_intervals_are_those_of_salib(correlated):
    """SALib's own analysis of the same verdicts. Its half widths are standard deviations of 1000 resamples as ours: each is sure
    to 1 / sqrt(2000), and four times the difference of two of them is 13 %."""
    sampler, verdict = design(512, correlated=correlated)
    found = sobol_indices(sampler, verdict, 0.9)
    known = sobol.analyze(
        _problem(sampler.groups), verdict.astype(float), calc_second_order=False, num_resamples=RESAMPLES, conf_level=0.9, seed=5
    )
    assert [index.first for index in found] == pytest.approx(known["S1"], abs=1e-12)
    assert [index.total for index in found] == pytest.approx(known["ST"], abs=1e-12)
    assert [index.first_half_width for index in found] == pytest.approx(known["S1_conf"], rel=0.13)
    assert [index.total_half_width for index in found] == pytest.approx(known["ST_conf"], rel=0.13)


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
