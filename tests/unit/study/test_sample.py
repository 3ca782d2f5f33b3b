"""Inputs of runs: the same bits alone or among many, and distributed as the file says."""

import numpy as np
import pytest
from scipy import stats

from known_twins import known_twin
from slipfit.errors import ParameterError
from slipfit.library import find_ground
from slipfit.study import prepare
from slipfit.study.sample import Span, _between_0_and_1
from slipfit.twin import Twin
from studies import CURVE, DOCUMENT, study

METHODS = ["independent", "sobol", "latin_hypercube"]


def sampler(base=DOCUMENT, **changes):
    return prepare(study(base, **changes)).sampler


def columns(sampler, *spans):
    found = sampler.inputs(spans)
    return np.column_stack([found[name] for name in sampler.names])


@pytest.mark.parametrize("method", METHODS)
def test_run_317_is_the_same_alone_and_in_any_chunk(method):
    given = sampler(sampling={"method": method})
    whole = columns(given, Span(0, 0, 1000))
    assert np.array_equal(columns(given, Span(0, 317, 318))[0], whole[317])
    pieces = columns(given, Span(0, 0, 5), Span(0, 5, 318), Span(0, 318, 1000))
    assert np.array_equal(pieces, whole)


def test_run_317_is_the_same_among_a_million():
    given = sampler(stop={"runs": 10**6})
    assert np.array_equal(columns(given, Span(0, 0, 10**6))[317], columns(given, Span(0, 317, 318))[0])


def test_another_input_does_not_change_the_old_ones():
    more = DOCUMENT["uncertain"] | {"mass_ahead_m": {"normal": [0.254, 0.005]}}
    old, new = sampler(), sampler(uncertain=more)
    for name in old.names:
        assert np.array_equal(old.inputs([Span(0, 0, 100)])[name], new.inputs([Span(0, 0, 100)])[name])


def test_seeds_cells_and_inputs_have_streams_of_their_own():
    given = sampler(CURVE)
    first, second = (columns(given, Span(cell, 0, 2000))[:, 1] for cell in (0, 1))
    other = columns(sampler(CURVE, seed=2), Span(0, 0, 2000))[:, 1]
    friction, mass = columns(given, Span(0, 0, 2000))[:, 1:].T
    for a, b in ((first, second), (first, other), (friction, mass)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.0 / np.sqrt(2000)  # four standard deviations of no correlation


@pytest.mark.parametrize("method", METHODS)
def test_inputs_have_the_distributions_of_the_file(method):
    """Kolmogorov and Smirnov: independent runs pass at 1 %, the others are more even than chance."""
    given = sampler(sampling={"method": method}, stop={"runs": 4096}).inputs([Span(0, 0, 4096)])
    friction, height = given["curb.friction"], given["curb.height_m"]
    assert stats.kstest(friction, stats.norm(0.6, 0.1).cdf).pvalue > 0.01
    assert stats.kstest(height, stats.uniform(0.05, 0.15).cdf).pvalue > 0.01


def test_correlation_of_normal_scores():
    """0.8 between a normal and a uniform: their normal scores have it, within four standard deviations (1 - r²) / sqrt(n)."""
    given = sampler(correlated=[{"between": ["curb.friction", "curb.height_m"], "value": 0.8}]).inputs([Span(0, 0, 20000)])
    scores = (
        stats.norm.ppf(stats.norm(0.6, 0.1).cdf(given["curb.friction"])),
        stats.norm.ppf((given["curb.height_m"] - 0.05) / 0.15),
    )
    assert np.corrcoef(scores)[0, 1] == pytest.approx(0.8, abs=4.0 * 0.36 / np.sqrt(20000))
    assert stats.kstest(given["curb.height_m"], stats.uniform(0.05, 0.15).cdf).pvalue > 0.01


def test_correlated_inputs_do_not_feel_the_chunk():
    given = sampler(correlated=[{"between": ["curb.friction", "curb.height_m"], "value": -0.5}])
    assert np.array_equal(columns(given, Span(0, 0, 777))[600:], columns(given, Span(0, 600, 777)))


def test_uniform_numbers_exclude_0_and_1():
    """The largest of 2^53 numbers, 1 - 2^-54, has no double of its own and would round to 1; all others keep their bits."""
    top = 2**53 - 1
    raw = np.array([0, 1 << 11, (top - 1) << 11, top << 11, 2**64 - 1], dtype=np.uint64)
    found = _between_0_and_1(raw)
    assert found[:3].tolist() == [2.0**-54, 3 * 2.0**-54, 1.0 - 2.0**-52]
    assert found[3:].tolist() == [1.0 - 2.0**-53] * 2


def test_every_run_has_a_number_of_its_own():
    given = sampler(CURVE)
    numbers = np.concatenate([given.run_numbers(Span(cell, 0, 50)) for cell in range(18)])
    assert np.array_equal(np.sort(numbers), np.arange(900))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"uncertain": DOCUMENT["uncertain"] | {"curb.friction": {"normal": [0.2, 0.1]}}}, r"above: 0"),
        ({"uncertain": DOCUMENT["uncertain"] | {"curb.friction": {"uniform": [-0.1, 0.5]}}}, "in 16.7 % of all runs; cut it"),
        ({"uncertain": DOCUMENT["uncertain"] | {"curb.friction": {"normal": [-0.6, 0.1]}}}, "in 100 % of all runs; correct it$"),
        ({"uncertain": DOCUMENT["uncertain"] | {"curb.frction": {"uniform": [0.1, 0.5]}}}, "did you mean 'curb.friction'"),
        ({"uncertain": {"curb.friction": {"uniform": [0.1, 0.5]}}}, "curb.height_m is given nowhere"),
        ({"uncertain": {"curb.height_m": {"uniform": [0.1, 0.2]}, "curb.frction": {"uniform": [0.1, 0.5]}}}, "'curb.friction'"),
        ({"success": "arrived"}, "found 'arrived'; expected 'climbed'"),
        ({"fixed": {"mass_ahead_m": -1.0}}, "fixed.mass_ahead_m = -1"),
        ({"uncertain": DOCUMENT["uncertain"] | {"soil": {"from": "dry_asphalt"}}}, "sinkage"),
        (
            {
                "uncertain": DOCUMENT["uncertain"] | {"mass_ahead_m": {"uniform": [0.2, 0.3]}},
                "correlated": [
                    {"between": ["curb.friction", "curb.height_m"], "value": 0.9},
                    {"between": ["curb.friction", "mass_ahead_m"], "value": 0.9},
                    {"between": ["mass_ahead_m", "curb.height_m"], "value": -0.9},
                ],
            },
            "contradict each other",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_sampled_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        sampler(**changes)


def test_a_negligible_tail_is_cut_off_without_a_word():
    """N(.6, .1) has 1e-9 below 0."""
    changed = DOCUMENT["uncertain"] | {"curb.friction": {"normal": [0.6, 0.1]}}
    assert sampler(uncertain=changed).inputs([Span(0, 0, 10)])["curb.friction"].min() > 0.0


class TestGroundsAndTwins:
    """Studies of full simulations: constants of a ground's table, and of a twin's posterior."""

    def rover(self, **changes):
        base = {
            "schema": "slipfit/study/1",
            "robot": "p3at",
            "scenario": "step_and_spin",
            "success": "finished",
            "uncertain": {"ground": {"from": "dry_asphalt", "spread": "table"}},
            "stop": {"runs": 10},
        }
        return sampler(base | changes)

    def test_constants_of_a_table_have_its_spreads(self):
        given, table = self.rover().inputs([Span(0, 0, 4000)]), find_ground("dry_asphalt").parameters
        spread = {name: p for name, p in table.items() if p.std}
        assert set(given) == set(spread)
        for name, p in spread.items():
            assert given[name].mean() == pytest.approx(p.value, abs=4.0 * p.std / np.sqrt(4000))
            assert given[name].std() == pytest.approx(p.std, rel=4.0 / np.sqrt(8000))

    def test_a_table_without_spreads_asks_for_one(self):
        with pytest.raises(ParameterError, match="has a std"):
            self.rover(uncertain={"ground": {"from": "lab_floor", "spread": "table"}})

    def test_one_relative_spread_for_all(self):
        given = self.rover(uncertain={"ground": {"from": "lab_floor", "spread": 0.1}}).inputs([Span(0, 0, 4000)])
        for column in given.values():
            assert column.std() / column.mean() == pytest.approx(0.1, rel=0.05)

    def test_draws_of_a_twin_have_its_covariance(self, tmp_path):
        names, matrix = ["c_long_per_n", "c_lat_per_n"], np.array([[1e-8, 3e-8], [3e-8, 4e-6]])
        data = known_twin().to_mapping()
        data["grounds"]["floor"]["covariance"] = {"names": names, "matrix": matrix.tolist()}
        Twin.from_mapping(data, where="twin").save(tmp_path / "t.yaml")
        given = self.rover(robot=None, twin=str(tmp_path / "t.yaml"), uncertain={"twin": "posterior"}).inputs([Span(0, 0, 20000)])
        found = np.cov([given[name] for name in names])
        scale = np.sqrt(np.outer(matrix.diagonal(), matrix.diagonal()))
        assert found / scale == pytest.approx(matrix / scale, abs=4.0 * np.sqrt(2.0 / 20000))
        assert [given[name].mean() for name in names] == pytest.approx([0.005, 0.05], rel=4.0 * 0.04 / np.sqrt(20000))

    def unsure_of_slip(self, tmp_path):
        """A twin whose slip constant is normal with its mean one and a half standard deviations above 0."""
        data = known_twin().to_mapping()
        data["grounds"]["floor"]["parameters"]["c_long_per_n"] |= {"std": 0.005 / 1.5}
        data["grounds"]["floor"].pop("covariance", None)
        Twin.from_mapping(data, where="twin").save(tmp_path / "t.yaml")
        return self.rover(robot=None, twin=str(tmp_path / "t.yaml"), uncertain={"twin": "posterior"})

    def test_tails_of_a_posterior_are_cut_off(self, tmp_path):
        """Distribution of a normal that is cut off at its bound [scipy.stats.truncnorm], by Kolmogorov and Smirnov at 20 000
        draws; no number comes twice (clipped, 6.7 % would be the bound itself)."""
        sampler = self.unsure_of_slip(tmp_path)
        low, high = sampler.parts[0].together.low[0], sampler.parts[0].together.high[0]
        drawn = sampler.inputs([Span(0, 0, 20000)])["c_long_per_n"]
        std = 0.005 / 1.5
        cut = stats.truncnorm((low - 0.005) / std, (high - 0.005) / std, 0.005, std)
        assert stats.kstest(drawn, cut.cdf).pvalue > 1e-3
        assert len(np.unique(drawn)) == 20000
        assert (sampler.inputs([Span(0, 5, 9)])["c_long_per_n"] == drawn[5:9]).all()

    def test_constants_that_are_cut_off_still_go_together(self, tmp_path):
        """Normal scores of a pair correlate by 0.6 as in the twin's covariance, ranks therefore by 6/pi asin(0.3) = 0.582, which
        cutting off one by one leaves as it is; a rank correlation of 20 000 is sure to 0.005."""
        std = np.array([0.005 / 1.5, 0.002])
        matrix = np.outer(std, std) * np.array([[1.0, 0.6], [0.6, 1.0]])
        data = known_twin().to_mapping()
        data["grounds"]["floor"]["covariance"] = {"names": ["c_long_per_n", "c_lat_per_n"], "matrix": matrix.tolist()}
        Twin.from_mapping(data, where="twin").save(tmp_path / "t.yaml")
        given = self.rover(robot=None, twin=str(tmp_path / "t.yaml"), uncertain={"twin": "posterior"}).inputs([Span(0, 0, 20000)])
        assert given["c_long_per_n"].min() > 0.0
        assert stats.spearmanr(given["c_long_per_n"], given["c_lat_per_n"]).statistic == pytest.approx(0.582, abs=0.02)

    def test_tails_that_were_cut_off_are_told(self, tmp_path):
        """6.7 % of a normal lie one and a half standard deviations below its mean."""
        found = self.unsure_of_slip(tmp_path).cut_off()
        assert [(name, label) for name, label, _ in found] == [("c_long_per_n", "twin")]
        assert found[0][2] == pytest.approx(0.0668, abs=1e-4)

    def test_names_are_those_of_the_file(self):
        given = self.rover(uncertain={"c_lat": {"uniform": [0.01, 0.02]}}, design={"mass_kg": {"values": [19.0, 20.0]}})
        assert given.names == ("mass_kg", "c_lat_per_n")
        assert given.shown_names == ("mass_kg", "c_lat")

    def test_a_number_under_two_names_is_refused(self):
        with pytest.raises(ParameterError, match="given twice"):
            self.rover(uncertain={"c_lat": {"uniform": [0.01, 0.02]}}, fixed={"c_lat_per_n": 0.05})


def test_pairs_that_nothing_links_are_groups_of_their_own():
    more = {name: {"uniform": [0.2, 0.3]} for name in ("mass_ahead_m", "underside_m", "sprocket_radius_m")}
    pairs = [("curb.friction", "curb.height_m"), ("mass_ahead_m", "underside_m"), ("sprocket_radius_m", "underside_m")]
    found = sampler(uncertain=DOCUMENT["uncertain"] | more, correlated=[{"between": list(pair), "value": 0.5} for pair in pairs])
    assert [part.names for part in found.parts] == [
        ("curb.friction", "curb.height_m"),
        ("mass_ahead_m", "underside_m", "sprocket_radius_m"),
    ]
