"""Tables of forces that a law itself makes, with noise: the truth is known."""

from dataclasses import replace

import numpy as np

from slipfit.calibration.tyre import TyreData
from slipfit.calibration.tyre.law_fit import forces_of

LOAD_N = 50.0
ANGLES_RAD = tuple(np.radians([0.0, 5.0, 10.0, 20.0]).tolist())


def forces(law, values, slips, *, angles_rad=ANGLES_RAD, noise=0.01, seed=1, repeats=3, axes=("along", "across")):
    """Forces at every slip and slip angle, each `repeats` times, with noise in shares of the load."""
    draw = np.random.default_rng(seed)
    k, a = (np.tile(grid.ravel(), repeats) for grid in np.meshgrid(slips, angles_rad))
    rim, ahead = np.where(k >= 0.0, 1.0, 1.0 + k), np.where(k >= 0.0, 1.0 - k, 1.0)
    side, n = ahead * np.tan(a), len(k)
    cell, repeat = np.tile(np.arange(n // repeats), repeats), np.repeat(np.arange(repeats), n // repeats)
    empty = {f"{axis}_n": np.zeros(n) if axis in axes else None for axis in ("along", "across")}
    ground, slip = np.column_stack([ahead, side]), np.column_stack([k, -side])
    data = TyreData("made.csv", "0" * 64, rim, ground, slip, np.full(n, LOAD_N), repeat=repeat, cell=cell, **empty)
    exact = forces_of(law, values, data)
    return replace(data, **{f"{axis}_n": exact[axis] + noise * LOAD_N * draw.standard_normal(n) for axis in exact})
