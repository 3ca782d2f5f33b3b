"""The mathematics of lanes against the C library and 50-digit decimals."""

import math
from decimal import Decimal, localcontext
from math import inf, nan, pi

import numpy as np
import pytest

FUNCTIONS = ("sin", "cos", "tan", "atan", "exp", "log", "tanh", "sqrt")

#: Lanes are within 4e-16 of the true value, tan (a quotient of two) within 9e-16, the C library within 1.1e-16.
RELATIVE = 1e-15


def every_function(x):
    circular = math.sin(x[0]), math.cos(x[1]), math.tan(x[2]), math.atan(x[3])
    return *circular, math.exp(x[4]), math.log(x[5]), math.tanh(x[6]), math.sqrt(x[7])


@pytest.fixture(scope="module")
def mathematics(in_lanes):
    return in_lanes(every_function)


@pytest.fixture(scope="module")
def draws():
    """Arguments over the range that models use and far beyond, in the order of FUNCTIONS; not a multiple of eight."""
    draw, n = np.random.default_rng(1).uniform, 4001
    sign = np.where(draw(-1, 1, n) < 0.0, -1.0, 1.0)
    circular = draw(-1e4, 1e4, n), draw(-1e4, 1e4, n), draw(-10, 10, n), sign * 10 ** draw(-9, 9, n)
    wide = 10 ** draw(-300, 300, n)
    near_one = 1.0 + sign * 10 ** draw(-9, -0.5, n)  # where log loses digits first
    others = draw(-707, 708, n), np.where(np.arange(n) % 2, near_one, wide), sign * 10 ** draw(-9, 1.4, n), wide
    return np.stack([*circular, *others], axis=1)


@pytest.fixture(scope="module")
def results(mathematics, draws):
    return mathematics(draws)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_lanes_agree_with_the_c_library(name, draws, results):
    """Source: `math`, value by value."""
    column = FUNCTIONS.index(name)
    expected = np.array([getattr(math, name)(value) for value in draws[:, column]])
    np.testing.assert_allclose(results[:, column], expected, rtol=RELATIVE, atol=0.0)


def decimal_tanh(x):
    grown = (2 * x).exp()
    return (grown - 1) / (grown + 1)


@pytest.mark.parametrize(("name", "exact"), [("exp", Decimal.exp), ("log", Decimal.ln), ("tanh", decimal_tanh)])
def test_exponential_kin_agree_with_fifty_digits(name, exact, draws, results):
    """Source: Python's decimal arithmetic, correctly rounded at any precision, no code shared with a C library."""
    column = FUNCTIONS.index(name)
    with localcontext() as context:
        context.prec = 50
        for x, got in zip(draws[:500, column], results[:500, column], strict=True):
            true = exact(Decimal(float(x)))
            assert abs(Decimal(float(got)) / true - 1) < RELATIVE, f"{name}({x!r})"


def test_a_lane_does_not_feel_its_neighbours_or_its_place(mathematics, draws, results):
    """Each lane does its own arithmetic, so another order, with NaN in between, gives the same bits."""
    order = np.random.default_rng(2).permutation(len(draws))
    mixed = np.full((2 * len(draws), len(FUNCTIONS)), np.nan)
    mixed[::2] = draws[order]
    got = mathematics(mixed)
    assert np.array_equal(got[::2], results[order])
    assert np.isnan(got[1::2]).all()


EDGES = {
    "exp": {0.0: 1.0, 800.0: inf, -800.0: 0.0, inf: inf, -inf: 0.0, nan: nan},
    "log": {1.0: 0.0, 0.0: -inf, -1.0: nan, inf: inf, 5e-324: -inf, nan: nan},
    "tanh": {0.0: 0.0, 1e-300: 1e-300, 20.5: 1.0, -20.5: -1.0, inf: 1.0, -inf: -1.0, nan: nan},
    "atan": {0.0: 0.0, 1.0: pi / 4, 1e300: pi / 2, inf: pi / 2, -inf: -pi / 2, nan: nan},
    "sin": {0.0: 0.0, 1e-300: 1e-300, inf: nan, nan: nan},
    "cos": {0.0: 1.0, 1e-300: 1.0, inf: nan, nan: nan},
    "sqrt": {0.0: 0.0, -1.0: nan, inf: inf, nan: nan},
}


@pytest.mark.parametrize(("name", "x"), [(name, x) for name, row in EDGES.items() for x in row])
def test_edges_of_the_functions(name, x, mathematics):
    """Source: C99 annex F, with NaN where `math` raises; to `log` a subnormal number is zero, as its comment says."""
    got = mathematics(np.full((1, len(FUNCTIONS)), x))[0, FUNCTIONS.index(name)]
    assert got == pytest.approx(EDGES[name][x], rel=RELATIVE, abs=0.0, nan_ok=True)


def test_log_holds_up_to_the_largest_double(mathematics):
    """Source: ln(1e308) = 308 ln 10."""
    got = mathematics(np.full((1, len(FUNCTIONS)), 1e308))[0, FUNCTIONS.index("log")]
    assert got == pytest.approx(308 * math.log(10.0), rel=RELATIVE)


def test_whole_turns_lose_no_digits(mathematics):
    """sin(k pi) of doubles is k times what rounding cut off: pi = 3.141592653589793 + 1.2246467991473532e-16."""
    k = np.array([1.0, 2.0, 4.0, 1024.0])  # multiples that are exact in binary
    got = mathematics(np.repeat(k * pi, len(FUNCTIONS)).reshape(len(k), -1))[:, FUNCTIONS.index("sin")]
    np.testing.assert_allclose(got, np.array([1, -1, -1, -1]) * k * 1.2246467991473532e-16, rtol=RELATIVE)
