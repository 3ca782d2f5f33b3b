"""Cells: bare pointers that read and write like the arrays they stand for."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.core.errors import TypingError

from slipfit.kernels import Eight, at, keep_alive, put, raw, zeros
from slipfit.kernels.compile import OPTIONS


class Work(NamedTuple):
    speed: Any
    load: Any


class Robot(NamedTuple):
    work: Work
    mass: float  # not an array: stays what it is


@njit(**OPTIONS)
def shift(cells, mass):
    """Move every speed up by one place, and put the sum of load and mass in the first."""
    for k in range(len(cells.speed) - 1, 0, -1):
        cells.speed[k] = cells.speed[k - 1]
    cells.speed[np.int32(0)] = cells.load[np.uint64(1)] + mass
    cells.load[0] = 3  # a whole number into floats, or one number into all lanes


@njit(**OPTIONS)
def of_floats(robot):
    cells = raw(robot)
    shift(cells.work, cells.mass)
    keep_alive(robot)
    return len(cells.work.speed), len(cells.work.load)


@njit(**OPTIONS)
def of_lanes(speeds, loads, masses):
    """The same for eight robots: tables of lanes, made, changed through cells and read back as arrays."""
    robot = Robot(Work(at(speeds, Eight(0)), zeros(2, at(masses, Eight(0)))), at(masses, Eight(0)))
    for k in range(2):
        robot.work.load[k] = at(loads[:, k], Eight(0))
    cells = raw(robot)
    shift(cells.work, cells.mass)
    for k in range(speeds.shape[1]):
        put(speeds[:, k], Eight(0), robot.work.speed[k])
    for k in range(2):
        put(loads[:, k], Eight(0), robot.work.load[k])
    count = len(cells.work.speed)
    keep_alive(robot)
    return count


def test_cells_of_floats_write_into_their_array():
    """By definition of `shift`, on speeds 1, 2, 3, loads 10, 20 and mass 5."""
    robot = Robot(Work(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0])), 5.0)
    assert of_floats(robot) == (3, 2)
    assert robot.work.speed.tolist() == [25.0, 1.0, 2.0]
    assert robot.work.load.tolist() == [3.0, 20.0]


def test_cells_of_lanes_write_into_their_array():
    """By definition of `shift`, on eight robots whose numbers differ by 100 from run to run."""
    run = 100.0 * np.arange(8)
    speeds, loads = np.stack([run + 1.0, run + 2.0, run + 3.0], axis=1), np.stack([run + 10.0, run + 20.0], axis=1)
    assert of_lanes(speeds, loads, np.full(8, 5.0)) == 3
    np.testing.assert_array_equal(speeds, np.stack([run + 25.0, run + 1.0, run + 2.0], axis=1))
    np.testing.assert_array_equal(loads, np.stack([np.full(8, 3.0), run + 20.0], axis=1))


@njit(**OPTIONS)
def sum_of_temporary(n):
    temporary = np.arange(n) * 1.0
    cells = raw(temporary)
    other = np.full(n, -1.0)  # would take the place of `temporary` in memory, had it been released
    total = 0.0
    for k in range(len(cells)):
        total += cells[k]
    keep_alive(temporary)
    return total + 0.0 * other[0]


def test_arrays_live_as_long_as_their_cells():
    """Gauss: 0 + 1 + ... + n - 1 = n (n - 1) / 2. Without `keep_alive` small n give -n: the memory was handed on."""
    for n in (1, 10, 1000):
        assert [sum_of_temporary(n) for _ in range(20)] == [n * (n - 1) / 2] * 20


def test_python_needs_no_cells():
    """Outside compiled code `raw` hands back what it got, so that laws can be read and tested as plain Python."""
    robot = Robot(Work(np.ones(3), np.ones(2)), 5.0)
    assert raw(robot) is robot


@njit(**OPTIONS)
def second(array):
    cells = raw(array)
    value = cells[1]
    keep_alive(array)
    return value


def test_a_strided_array_is_refused_or_read_right():
    """By definition: of every second one of 0, 10, 20, 30, entry 1 is 20. Silence with another number is wrong."""
    try:
        value = second(np.array([0.0, 10.0, 20.0, 30.0])[::2])
    except TypingError:
        return
    assert value == 20.0
