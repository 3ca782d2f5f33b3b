"""Distributions of study files: quantiles against SciPy's, cut-off tails, and what is refused."""

import numpy as np
import pytest
from scipy import stats

from slipfit.errors import ParameterError
from slipfit.library.files import validated
from slipfit.study.spread import Spread

U = np.linspace(1e-9, 1.0 - 1e-9, 1001)

#: The same distributions as SciPy has them.
KNOWN = [
    ({"normal": [0.6, 0.1]}, stats.norm(0.6, 0.1)),
    ({"log_normal": [0.05, 0.3]}, stats.lognorm(0.3, scale=0.05)),
    ({"uniform": [0.05, 0.2]}, stats.uniform(0.05, 0.15)),
    ({"triangular": [0.2, 0.5, 0.6]}, stats.triang(0.75, 0.2, 0.4)),
    ({"triangular": [0.2, 0.2, 0.6]}, stats.triang(0.0, 0.2, 0.4)),
    ({"normal": [0.6, 0.1], "above": 0.55, "below": 0.9}, stats.truncnorm(-0.5, 3.0, 0.6, 0.1)),
    ({"normal": [0.1, 0.1], "above": 0.0}, stats.truncnorm(-1.0, np.inf, 0.1, 0.1)),
]


@pytest.mark.parametrize(("given", "expected"), KNOWN, ids=[str(given) for given, _ in KNOWN])
def test_quantiles_are_those_of_scipy(given, expected):
    assert Spread(**given).quantile()(U) == pytest.approx(expected.ppf(U), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("given", "expected"), KNOWN, ids=[str(given) for given, _ in KNOWN])
def test_mass_between_two_values(given, expected):
    low, high = expected.ppf([0.2, 0.7])
    spread = Spread(**given)
    whole = spread.mass(*spread.support)
    assert spread.mass(low, high) / whole == pytest.approx(0.5, abs=1e-9)
    assert spread.beyond(low, high) == pytest.approx(0.5, abs=1e-9)


def test_measured_values_come_back_alike_often():
    found = Spread(empirical=[0.5, 0.7, 0.7, 0.9]).quantile()((np.arange(1000) + 0.5) / 1000)
    assert np.unique(found, return_counts=True)[1].tolist() == [250, 500, 250]


def test_bounds_of_the_model_cut_a_tail_off():
    found = Spread(normal=[0.6, 0.1]).quantile(0.0, 0.6)(U)
    assert found.max() <= 0.6
    assert found == pytest.approx(stats.truncnorm(-6.0, 0.0, 0.6, 0.1).ppf(U), rel=1e-6)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"normal": [0.6, 0.0]}, "has no spread"),
        ({"normal": [0.6, -0.1]}, "standard deviation of -0.1"),
        ({"uniform": [0.2, 0.2]}, "has no spread"),
        ({"uniform": [0.2, 0.1]}, "out of order"),
        ({"triangular": [0.2, 0.1, 0.3]}, "out of order"),
        ({"empirical": [0.5, 0.5]}, "has no spread"),
        ({"empirical": [0.5]}, "at least 2"),
        ({"log_normal": [-1.0, 0.1]}, "median of -1"),
        ({}, "no distribution"),
        ({"normal": [0, 1], "uniform": [0, 1]}, "normal and uniform"),
        ({"normal": [0, 1], "above": 2.0, "below": 1.0}, "leave nothing"),
        ({"normal": [0, 1], "above": 20.0}, "a range that it reaches"),
        ({"normal": ["x", 1]}, "expected a number"),
        ({"normal": [0.6]}, r"normal: found \[0.6\]; give mean and standard deviation"),
        ({"triangular": [0.2, 0.6]}, "give lowest, most likely and highest value"),
        ({"uniform": 0.3}, "found 0.3; give lowest and highest value"),
        ({"nromal": [0, 1]}, "did you mean 'normal'"),
        ({"normal": [float("nan"), 1]}, "finite"),
    ],
)
def test_what_is_no_distribution_is_refused(given, sentence):
    with pytest.raises(ParameterError, match=sentence):
        validated(Spread, given, where="here")


def test_measured_values_that_are_cut_off_are_measured_ones():
    """Every value that comes is one that was measured, even at the very edges of u."""
    found = Spread(empirical=[0.3, 0.5, 0.7, 0.9], above=0.4, below=0.8).quantile()(
        np.array([2.0**-54, 0.25, 0.75, 1.0 - 2.0**-53])
    )
    assert found.tolist() == [0.5, 0.5, 0.7, 0.7]


class TestMeasuredValuesInAFile:
    @pytest.fixture
    def table(self, tmp_path):
        path = tmp_path / "mu.csv"
        path.write_text("place,mu,note\nyard,0.52,wet\nroad,0.61,\nlost,,\nhall,0.7,dry\n", encoding="utf-8")
        return path

    def test_they_are_read(self, table):
        assert Spread(empirical={"file": str(table), "column": "mu"}).empirical == [0.52, 0.61, 0.7]

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"column": "mue"}, "did you mean 'mu'"),
            ({"column": "place"}, "expected a number"),
            ({"file": "no.csv"}, "no such file"),
            ({"colum": "mu"}, "did you mean 'column'"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, table, changes, sentence):
        with pytest.raises(ParameterError, match=sentence):
            validated(Spread, {"empirical": {"file": str(table), "column": "mu"} | changes}, where="here")
