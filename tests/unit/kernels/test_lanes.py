"""Lanes do what floats do: arithmetic, comparisons, choices and lookups, eight at a time."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from slipfit.kernels import Eight, any_of, at, deposit, put, raise_to, take, where, zeros
from slipfit.kernels.compile import OPTIONS

# No negative zero: the kernels' fastmath option `nsz` leaves its sign open.
NUMBERS = (math.nan, math.inf, -math.inf, 0.0, 1.5, -2.5, 3.0, 1e300, -1e-300)
PAIRS = np.array([(a, b) for a in NUMBERS for b in NUMBERS])  # 81: not a multiple of eight


def arithmetic(x):
    a, b = x[0], x[1]
    total = 0.0  # a plain number that becomes lanes in the loop
    for _ in range(2):
        total += a
    return a + b, a - b, a * b, a / b, -a, abs(a), math.copysign(a, 1.5), math.sqrt(abs(a)), total, 2 * a


def order(x):
    a, b = x[0], x[1]
    return min(a, b), max(a, b), min(a, b, 1.0), max(0, a, b), min(2.0, a)


def truths(x):
    a, b = x[0], x[1]
    less, equal, other = where(a < b, 1.0, 0.0), where(a == b, 1.0, 0.0), where(a != b, 1.0, 0.0)
    most, least, more = where(a <= b, 1.0, 0.0), where(a >= b, 1.0, 0.0), where(a > b, 1.0, 0.0)
    both, either = where((a < b) & (a > 0), 1.0, 0.0), where((a < b) | (b == 0.0), 1.0, 0.0)
    one, no = where((a < b) ^ (b < 1.5), 1.0, 0.0), where(not (a < b), 1.0, 0.0)
    finite, not_a_number = where(math.isfinite(a), 1.0, 0.0), where(math.isnan(a), 1.0, 0.0)
    return less, equal, other, most, least, more, both, either, one, no, finite, not_a_number


def test_arithmetic_is_that_of_ieee_floats(in_lanes):
    """Source: NumPy's float64, which follows IEEE 754; one operation at a time rounds the same everywhere."""
    a, b = PAIRS.T
    with np.errstate(all="ignore"):
        expected = [a + b, a - b, a * b, a / b, -a, abs(a), abs(a), np.sqrt(abs(a)), a + a, a + a]
    np.testing.assert_array_equal(in_lanes(arithmetic)(PAIRS), np.stack(expected, axis=1))


def test_smaller_and_larger_are_those_of_python_also_with_nan(in_lanes, one_by_one):
    """Source: Python's min and max, which keep the first argument unless another one beats it."""
    expected = [order(row) for row in PAIRS.tolist()]
    np.testing.assert_array_equal(in_lanes(order)(PAIRS), expected)
    np.testing.assert_array_equal(one_by_one(order)(PAIRS), expected)


def test_comparisons_are_those_of_ieee_floats_also_with_nan(in_lanes):
    """Source: NumPy's comparisons, masks and tests of float64."""
    a, b = PAIRS.T
    compared = [a < b, a == b, a != b, a <= b, a >= b, a > b]
    joined = [(a < b) & (a > 0), (a < b) | (b == 0), (a < b) ^ (b < 1.5), ~(a < b), np.isfinite(a), np.isnan(a)]
    np.testing.assert_array_equal(in_lanes(truths)(PAIRS), np.stack(compared + joined, axis=1))


def rounding(x):
    return math.floor(x[0]) + 0.0, math.ceil(x[0]) + 0.0


def test_rounding_goes_down_and_up(in_lanes):
    """Source: math.floor and math.ceil."""
    x = np.array([-2.5, -1.0, -0.2, 0.0, 0.7, 1.0, 4e9 + 0.5, -7e15, 2.0])
    expected = [(math.floor(value), math.ceil(value)) for value in x]
    np.testing.assert_array_equal(in_lanes(rounding)(x[:, None]), expected)


@njit(**OPTIONS)
def lookups(table, x, found, own, written):
    position = at(x, Eight(0))
    put(found, Eight(0), take(table, position))
    memory = zeros(len(table), position)
    for k in range(len(table)):
        memory[k] = table[k] + 10.0 * position  # each lane has its own column
    put(own, Eight(0), take(memory, position))
    for k in range(len(table)):
        memory[k] = 0.0
    deposit(memory, position, position + 1.0)
    for k in range(len(table)):
        put(written[:, k], Eight(0), memory[k])


POSITIONS = np.array([math.nan, -math.inf, math.inf, -1.0, 0.5, 1.99, 2.0, 1e18])
ENTRIES = [0, 0, 2, 0, 0, 1, 2, 2]


def test_lookups_stay_inside_the_table_and_in_their_lane():
    """By definition: int(position) kept in 0..2, and 0 for NaN. Around the table memory holds -1: no result may."""
    surrounded = np.array([-1.0] * 4 + [100.0, 101.0, 102.0] + [-1.0] * 4)
    found, own, written = np.empty(8), np.empty(8), np.empty((8, 3))
    lookups(surrounded[4:7], POSITIONS, found, own, written)
    np.testing.assert_array_equal(found, 100.0 + np.array(ENTRIES))
    np.testing.assert_array_equal(own, 100.0 + np.array(ENTRIES) + 10.0 * POSITIONS)
    expected = np.zeros((8, 3))
    expected[np.arange(8), ENTRIES] = POSITIONS + 1.0
    np.testing.assert_array_equal(written, expected)


compiled_lookups = njit(lambda a, p: take(a, p)), njit(lambda a, p, value: deposit(a, p, value))


@pytest.mark.parametrize(("read", "write"), [(take, deposit), compiled_lookups], ids=["python", "compiled"])
def test_lookups_of_one_run_stay_inside_the_table(read, write):
    """The same definition for plain floats, in Python and compiled."""
    table = np.array([100.0, 101.0, 102.0])
    assert [read(table, position) for position in POSITIONS] == [100.0 + entry for entry in ENTRIES]
    write(table, math.nan, 5.0)
    write(table, 7.0, 6.0)
    assert table.tolist() == [5.0, 101.0, 6.0]


@njit(**OPTIONS)
def raised(shared, x, values, own):
    position, value = at(x, Eight(0)), at(values, Eight(0))
    raise_to(shared, position, value)
    memory = zeros(3, position)
    raise_to(memory, position, value)
    for k in range(3):
        put(own[:, k], Eight(0), memory[k])


def test_the_largest_of_lanes_that_share_an_entry_stays():
    """By definition, in any order of the lanes; in memory of their own each lane keeps its own."""
    entries, values = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0]), np.array([3.0, 5.0, 4.0, 2.0, 1.0, 0.5, 0.7, 0.6])
    for order in (np.arange(8), np.arange(8)[::-1]):
        shared, own = np.array([0.0, 0.0, 0.65]), np.empty((8, 3))
        raised(shared, entries[order], values[order], own)
        assert shared.tolist() == [5.0, 2.0, 0.7]
        expected = np.zeros((8, 3))
        expected[np.arange(8), entries[order].astype(int)] = values[order]
        np.testing.assert_array_equal(own, expected)


@njit(**OPTIONS)
def somewhere(x, limit):
    return any_of(at(x, Eight(0)) > limit), any_of(x[0] > limit), any_of(limit == 3.0)


@pytest.mark.parametrize("lane", range(8))
def test_any_of_notices_a_single_lane(lane):
    """By definition; a NaN compares as false. Of a plain condition it is the condition."""
    x = np.full(8, math.nan)
    assert somewhere(x, 3.0) == (False, False, True)
    x[lane] = 5.0
    assert somewhere(x, 3.0) == (True, lane == 0, True)
    assert any_of(3.0 > 2.0) is True


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        (lambda v: 1 if v > 0.0 else 0, r"bool\(Mask\(8\)\)"),
        (lambda v: v > 0.0 and v < 1.0, r"bool\(Mask\(8\)\)"),
        (lambda v: int(v), r"int\(Lanes\(8\)\)"),
        (lambda v: np.sin(v), r"sin\(Lanes\(8\)\)"),
        (lambda v: v % 2.0, r"mod.*\(Lanes\(8\), "),
    ],
    ids=["if", "and", "int", "np.sin", "%"],
)
def test_what_lanes_cannot_do_does_not_compile(wrong, refused):
    """One answer cannot serve eight runs: the compiler has to refuse, never pick a lane."""
    wrong = njit(wrong)
    with pytest.raises(TypingError, match=refused):
        njit(lambda x: wrong(at(x, Eight(0))) is None)(np.ones(8))
