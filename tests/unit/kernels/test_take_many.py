"""Several entries of a table at once, and products that round once."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from slipfit.kernels import fma, take_many

TABLE = np.arange(40.0) ** 2


def fours_and_products(x):
    return *take_many(TABLE, x[0], 8), fma(x[1], x[2], x[3])


@pytest.fixture(scope="module")
def ways(in_lanes, one_by_one):
    return [in_lanes(fours_and_products), one_by_one(fours_and_products)]


def test_every_lane_gets_its_own_entries(ways):
    """The table holds squares: entry k of a lane at position p is (floor(p) + k)^2."""
    positions = np.random.default_rng(1).uniform(0.0, 32.9, 50)
    rows = np.column_stack([positions, np.ones((50, 3))])
    expected = (np.floor(positions)[:, None] + np.arange(8)) ** 2
    for run in ways:
        assert np.array_equal(run(rows)[:, :8], expected)


def test_positions_outside_and_nan_read_inside(ways):
    """Compiled indexing checks no bounds: the first or the last eight entries are read instead."""
    rows = np.column_stack([[-5.0, 1e9, np.nan, -np.inf, np.inf], np.ones((5, 3))])
    for run in ways:
        assert run(rows)[:, 0].tolist() == [0.0, 32.0**2, 0.0, 0.0, 32.0**2]


def test_fma_rounds_once(ways):
    """Source: exact fractions."""
    rows = np.column_stack([np.zeros(200), np.random.default_rng(2).normal(size=(200, 3))])
    rows[:, 3] = -rows[:, 1] * rows[:, 2]  # what is left is the rounding of the product
    for run in ways:
        for (_, a, b, c), got in zip(rows, run(rows)[:, 8], strict=True):
            assert Fraction(float(got)) == Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))


def test_a_count_that_is_no_number_in_the_source_does_not_compile():
    with pytest.raises(TypingError, match="written out, a multiple of four"):
        njit(lambda count: take_many(TABLE, 0.0, count))(4)
