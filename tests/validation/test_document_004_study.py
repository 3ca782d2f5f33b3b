"""Document 004: Monte Carlo of the curb, numbers of SPEC section 5 and of quadrature, which needs no random numbers."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from slipfit.study import prepare, run_study
from slipfit.study.file import Sampling
from slipfit.study.sample import Span
from slipfit.study.sensitivity import SaltelliSampler, sobol_indices
from slipfit.vehicles.step_climb import ClimberShape, friction_to_tip, highest_step_m
from studies import CURVE, DOCUMENT, PACKBOT, run_to_the_end, study

P = 0.4596  # SPEC 5, by quadrature
SHAPE = ClimberShape(**PACKBOT)


def share_at(height_m):
    """P(climbed) at one height, mu ~ N(.6, .1)."""
    return stats.norm.sf(float(friction_to_tip(SHAPE, height_m)), 0.6, 0.1)


class TestMonteCarlo:
    @pytest.mark.parametrize("method", ["independent", "latin_hypercube", "sobol"])
    def test_probability_within_three_standard_deviations(self, method, tmp_path):
        """sigma of 20000 independent runs, sqrt(P (1 - P) / n) = .0035, as SPEC's own; the other samples are better than that."""
        answer = run_study(study(sampling={"method": method}, stop={"runs": 20000}), tmp_path / "s")
        assert answer.probability == pytest.approx(P, abs=3.0 * 0.0035)

    def test_sobol_points_are_much_better_than_chance(self):
        """Root mean square error over 20 seeds of 16 x 64 points, beside .0156 of as many independent runs."""
        errors = [
            run_to_the_end(study(sampling={"method": "sobol"}, stop={"runs": 1024}, seed=s)).probability()[0] - P
            for s in range(20)
        ]
        assert np.sqrt(np.mean(np.square(errors))) < 0.0156 / 3

    def test_same_seed_same_bits_another_seed_another_answer(self):
        first, again, other = (run_to_the_end(study(seed=s)).successes for s in (1, 1, 2))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    def test_monotone_in_friction_and_height(self):
        """SPEC 5 requires it, in h for mu_needed <= 1: with the same draws of friction, no higher step is climbed more often."""
        model = prepare(study()).model
        friction = np.sort(np.random.default_rng(1).normal(0.6, 0.1, 400))
        heights = np.linspace(0.02, 0.15, 40)
        climbed = np.array(
            [model.evaluate({"curb.friction": friction, "curb.height_m": np.full(400, h)}, 1).outcome == 0 for h in heights]
        )
        assert np.all(np.diff(climbed.astype(int), axis=1) >= 0)
        assert np.all(np.diff(climbed.astype(int), axis=0) <= 0)


class TestCoverage:
    """90 % intervals cover 85 to 95 % of the time over 200 repeated studies. P is SPEC's .4596, or that of quadrature."""

    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"sampling": {"interval": "exact"}},
            {"sampling": {"method": "sobol"}},
            {"stop": {"half_width": 0.05, "at_most_runs": 5000}},
        ],
        ids=["wilson", "exact", "sobol", "stopped when narrow"],
    )
    def test_of_one_probability(self, changes):
        hits = 0
        for seed in range(200):
            file = study(seed=1000 + seed, **changes)
            low, high = run_to_the_end(file).interval(file.sampling, 0.9)
            hits += low[0] <= P <= high[0]
        assert 0.85 <= hits / 200 <= 0.95

    def test_of_sobol_points_near_the_ends(self):
        """P = .003 and .997 by quadrature over the mass, 16 scramblings of 64 points: three successes or failures in all.
        Stretched to the exact interval they cover at least as often as they say (three standard deviations of 100 allowed);
        Student's interval alone covers 82 %."""
        scores, weights = np.polynomial.hermite_e.hermegauss(15)

        def share(height_m):
            needed = friction_to_tip(SHAPE._replace(mass_ahead_m=0.254 + 0.005 * scores), height_m)
            return float(weights @ stats.norm.sf(needed, 0.6, 0.1) / weights.sum())

        for truth in (0.003, 0.997):
            height = optimize.brentq(lambda h, truth=truth: share(h) - truth, 0.04, 0.15)
            hits = 0
            for seed in range(100):
                file = study(
                    CURVE,
                    seed=seed,
                    design={},
                    fixed={"curb.height_m": height},
                    uncertain={"curb.friction": {"normal": [0.6, 0.1]}, "mass_ahead_m": {"normal": [0.254, 0.005]}},
                    sampling={"method": "sobol"},
                    stop={"runs": 1024},
                )
                low, high = run_to_the_end(file).interval(file.sampling, 0.9)
                hits += low[0] <= truth <= high[0]
            assert hits / 100 >= 0.9 - 3.0 * np.sqrt(0.9 * 0.1 / 100)

    def test_of_an_adaptive_curve(self):
        """At every height where runs were added (P between .1 and .9), 200 studies of 3 heights."""
        heights = [0.11, 0.12, 0.13]
        truth = np.array([share_at(h) for h in heights])
        hits = np.zeros(3)
        for seed in range(200):
            file = study(
                CURVE,
                seed=seed,
                design={"curb.height_m": {"values": heights}},
                uncertain={"curb.friction": {"normal": [0.6, 0.1]}},
                stop={"half_width": 0.05, "at_most_runs": 20000},
            )
            low, high = run_to_the_end(file).interval(Sampling(), 0.9)
            hits += (low <= truth) & (truth <= high)
        assert np.all((truth > 0.1) & (truth < 0.9))
        assert 0.85 <= hits.mean() / 200 <= 0.95
        assert np.all((hits / 200 >= 0.83) & (hits / 200 <= 0.97))  # each height by itself: three standard deviations of 200


class TestWhatDecides:
    """Document 004's finding: friction and step height dominate."""

    def indices(self, changes, base_runs):
        prepared = prepare(study(**changes))
        sampler = SaltelliSampler.of(prepared.sampler, base_runs)
        verdict = prepared.model.evaluate(sampler.inputs([Span(0, 0, sampler.runs)]), 1).outcome == 0
        return {index.name: index for index in sobol_indices(sampler, verdict, 0.9)}

    def test_indices_are_those_of_quadrature(self):
        """S_h = V(P(h)) / (P (1 - P)); two inputs, so T_mu = 1 - S_h. Intervals of 90 %, taken three times as wide."""
        limit = float(highest_step_m(SHAPE))
        mean, square = (integrate.quad(lambda h, q=q: share_at(h) ** q, 0.05, limit, epsabs=1e-8)[0] / 0.15 for q in (1, 2))
        s_height = (square - mean**2) / (mean * (1.0 - mean))
        found = self.indices({}, 4096)
        assert found["curb.height_m"].first == pytest.approx(s_height, abs=3.0 * found["curb.height_m"].first_half_width)
        assert found["curb.friction"].total == pytest.approx(1.0 - s_height, abs=3.0 * found["curb.friction"].total_half_width)
        assert found["curb.height_m"].first_half_width < 0.05

    def test_friction_and_height_dominate(self):
        more = {
            "mass_ahead_m": {"normal": [0.254, 0.005]},
            "mass_above_m": {"normal": [0.075, 0.004]},
            "curb.edge_radius_m": {"uniform": [0.0, 0.01]},
        }
        found = self.indices({"uncertain": DOCUMENT["uncertain"] | more}, 2048)
        first, second, *rest = sorted(found.values(), key=lambda index: -index.total)
        assert {first.name, second.name} == {"curb.height_m", "curb.friction"}
        assert second.total - second.total_half_width > max(index.total + index.total_half_width for index in rest)
