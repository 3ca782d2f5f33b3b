"""What every compiled loop needs: lanes, batches, options and cache. Imports nothing else of slipfit."""

from slipfit.kernels.batch import as_batch, run_chunks, stack
from slipfit.kernels.cells import keep_alive, raw
from slipfit.kernels.compile import cache_folder, compiled, part
from slipfit.kernels.dispatch import chosen_by_type
from slipfit.kernels.lane_math import atan_of_positive, sin_within  # importing it teaches Numba the mathematics of lanes
from slipfit.kernels.lanes import alike, any_of, deposit, take, where, zeros
from slipfit.kernels.packs import cos_and_sin, folded, padded, wide
from slipfit.kernels.tree import WIDTH, Eight, Shared, at, choose, put

__all__ = [
    "WIDTH",
    "Eight",
    "Shared",
    "alike",
    "any_of",
    "as_batch",
    "at",
    "atan_of_positive",
    "cache_folder",
    "choose",
    "chosen_by_type",
    "compiled",
    "cos_and_sin",
    "deposit",
    "folded",
    "keep_alive",
    "padded",
    "part",
    "put",
    "raw",
    "run_chunks",
    "sin_within",
    "stack",
    "take",
    "where",
    "wide",
    "zeros",
]
