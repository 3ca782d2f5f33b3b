"""Batches: one run or eight out of them and back, for any number of runs."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from slipfit.kernels import WIDTH, Eight, Shared, alike, at, choose, put
from slipfit.kernels.compile import OPTIONS


class Part(NamedTuple):
    mass: float
    table: Any  # three entries per run


class Robot(NamedTuple):
    part: Part
    gain: float
    ground: Shared


def robots(n):
    """n robots whose numbers tell run and place: 1000 run + place. The ground is one for all."""
    run = 1000.0 * np.arange(n)
    return Robot(Part(run, run[:, None] + [1.0, 2.0, 3.0]), run + 4.0, Shared(np.array([7.0, 8.0])))


@njit(**OPTIONS)
def _unpack(robots, i, out):
    robot = at(robots, i)
    put(out[:, 0], i, robot.part.mass)
    for k in range(3):
        put(out[:, 1 + k], i, robot.part.table[k])
    put(out[:, 4], i, robot.gain)
    put(out[:, 5], i, robot.ground.array[1] + alike(0.0, robot.gain))


@njit(**OPTIONS)
def unpack_one_by_one(robots, n, out):
    for i in range(n):
        _unpack(robots, i, out)


@njit(**OPTIONS)
def unpack_eight_by_eight(robots, n, out):
    for i in range(0, n, WIDTH):
        _unpack(robots, Eight(i), out)


@pytest.mark.parametrize("unpack", [unpack_one_by_one, unpack_eight_by_eight])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 19])
def test_each_run_gets_its_own_numbers_and_writes_only_its_own_place(unpack, n):
    """By construction of `robots`: place k of run i holds 1000 i + k, the ground 8. Beyond run n nothing is written."""
    buffer = np.full((n + WIDTH, 6), -1.0)
    unpack(robots(n), n, buffer[:n])
    expected = 1000.0 * np.arange(n)[:, None] + [0.0, 1.0, 2.0, 3.0, 4.0, 0.0]
    expected[:, 5] = 8.0
    np.testing.assert_array_equal(buffer[:n], expected)
    assert (buffer[n:] == -1.0).all()


def test_python_takes_one_run_out_as_compiled_code_does():
    """By construction of `robots`; the shared ground is handed on, not copied."""
    batch = robots(4)
    robot = at(batch, 2)
    assert (robot.part.mass, robot.gain) == (2000.0, 2004.0)
    assert robot.part.table.tolist() == [2001.0, 2002.0, 2003.0]
    assert robot.ground is batch.ground
    put(batch.gain, 2, 5.0)
    assert batch.gain.tolist() == [4.0, 1004.0, 5.0, 3004.0]


class Motion(NamedTuple):
    x: float
    v: float


class State(NamedTuple):
    motion: Motion
    heat: float


def kept(row):
    """A state that moves on where its first number is positive, and stays elsewhere."""
    new = State(Motion(row[0], row[1]), row[2])
    old = State(Motion(-row[0], -row[1]), alike(9.0, row[2]))
    s = choose(row[0] > 0.0, new, old)
    return s.motion.x, s.motion.v, s.heat


def test_stopped_runs_keep_their_whole_state(in_lanes, one_by_one):
    """By definition, leaf by leaf, in lanes, one by one and in Python. A NaN is not positive: that run stays."""
    first = np.array([1.0, -1.0, math.nan, 2.0, 0.0, 3.0, -4.0, 5.0, 6.0])
    rows = np.stack([first, np.full(9, 20.0), np.full(9, 30.0)], axis=1)
    moves = (first > 0.0)[:, None]
    expected = np.where(moves, rows, np.stack([-first, np.full(9, -20.0), np.full(9, 9.0)], axis=1))
    np.testing.assert_array_equal(in_lanes(kept)(rows), expected)
    np.testing.assert_array_equal(one_by_one(kept)(rows), expected)
    np.testing.assert_array_equal([kept(row) for row in rows], expected)
