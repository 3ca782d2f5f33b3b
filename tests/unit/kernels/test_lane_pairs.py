"""Functions of two lanes: powers, atan2, hypot."""

import math
from fractions import Fraction
from math import inf, pi

import numpy as np
import pytest

#: As in test_lane_math: lanes are within 4e-16 of the true value; a quotient or a sum rounds once more.
RELATIVE = 1e-15


def powers_and_pairs(x):
    whole = x[0] ** 3, x[0] ** -2, x[0] ** 0
    real = x[1] ** 1.1, x[1] ** x[2], 2.0 ** x[2]
    return *whole, *real, math.atan2(x[3], x[4]), math.hypot(x[3], x[4])


@pytest.fixture(scope="module")
def pairs(in_lanes):
    return in_lanes(powers_and_pairs)


def test_whole_powers_multiply(pairs):
    """Source: exact fractions. Three products and a quotient round four times, at 1.1e-16 each."""
    x = np.random.default_rng(3).uniform(-3, 3, 200)
    got = pairs(np.stack([x, *np.ones((4, len(x)))], axis=1))
    for value, (cube, per_square, one, *_) in zip(x, got, strict=True):
        exact = Fraction(float(value))
        assert abs(Fraction(float(cube)) / exact**3 - 1) < 4.5e-16
        assert abs(Fraction(float(per_square)) * exact**2 - 1) < 4.5e-16
        assert one == 1.0


def test_real_powers_are_as_good_as_their_exponent(pairs):
    """Source: C's pow. In e**(y ln x) the log (4e-16) and the product (1.1e-16) round: relative errors of the power."""
    draw = np.random.default_rng(4).uniform
    x, y = 10 ** draw(-6, 6, 500), draw(-3, 3, 500)
    got = pairs(np.stack([np.ones_like(x), x, y, x, y], axis=1))
    for column, (base, exponent) in enumerate(((x, np.full(500, 1.1)), (x, y), (np.full(500, 2.0), y)), start=3):
        expected = np.array([math.pow(b, e) for b, e in zip(base, exponent, strict=True)])
        allowed = RELATIVE + 5e-16 * np.abs(exponent * np.log(base))
        assert (np.abs(got[:, column] / expected - 1.0) < allowed).all()


def test_zero_to_a_positive_power_is_zero(pairs):
    """Limit case: 0**1.1 and 0**2.5 are 0, not the NaN that a careless e**(y log 0) could give."""
    assert pairs(np.array([[1.0, 0.0, 2.5, 1.0, 1.0]]))[0, 3:5].tolist() == [0.0, 0.0]


SIDES = (-inf, -2.0, 0.0, 0.5, inf)


def test_atan2_knows_all_quadrants_and_axes(pairs):
    """Source: C's atan2 (annex F). Both infinite is left out: y / x is then NaN."""
    cases = [(y, x) for y in SIDES for x in SIDES if not (math.isinf(x) and math.isinf(y))]
    got = pairs(np.array([(1.0, 1.0, 1.0, y, x) for y, x in cases]))
    np.testing.assert_allclose(got[:, 6], [math.atan2(y, x) for y, x in cases], rtol=RELATIVE)
    np.testing.assert_allclose(got[:, 7], [math.hypot(y, x) for y, x in cases], rtol=RELATIVE)


def test_atan2_of_a_negative_zero_is_a_quarter_turn(pairs):
    """Source: C99 annex F: atan2(y, ±0) is pi/2 with the sign of y."""
    assert pairs(np.array([[1.0, 1.0, 1.0, 1.0, -0.0]]))[0, 6] == pytest.approx(pi / 2)
