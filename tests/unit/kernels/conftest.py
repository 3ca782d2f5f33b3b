"""One function of a row of numbers, run in lanes or one by one with the options of the kernels.

Nothing compiled here is cached, so each use costs seconds: a module compiles few functions, with many results each.
"""

import numpy as np
import pytest
from numba import njit

from slipfit.kernels import WIDTH, Eight, at, put
from slipfit.kernels.compile import OPTIONS


def _over_rows(function, group):
    function = njit(**OPTIONS)(function)
    step = WIDTH if group is Eight else 1

    @njit(**OPTIONS)
    def every(rows, out):
        for i in range(0, rows.shape[0], step):
            values = function(at(rows, group(i)))
            for k in range(len(values)):
                put(out[:, k], group(i), values[k])

    def run(rows):
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        out = np.empty((len(rows), len(function.py_func(np.ones(rows.shape[1])))))
        every(rows, out)
        return out

    return run


@pytest.fixture(scope="session")
def in_lanes():
    """`in_lanes(function)(rows)`: the function of each row, a tuple of numbers, evaluated for eight rows at a time."""
    return lambda function: _over_rows(function, Eight)


@pytest.fixture(scope="session")
def one_by_one():
    """The same for one row at a time."""
    return lambda function: _over_rows(function, njit(lambda i: i))
