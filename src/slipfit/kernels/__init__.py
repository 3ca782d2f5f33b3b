"""What every compiled loop needs: lanes, batches, options and cache. Imports nothing else of slipfit."""

from slipfit.kernels import lane_math as _lane_math  # noqa: F401  teaches Numba the mathematics of lanes
from slipfit.kernels.batch import as_batch, run_chunks, stack
from slipfit.kernels.cells import keep_alive, raw
from slipfit.kernels.compile import cache_folder, compiled, part
from slipfit.kernels.dispatch import chosen_by_type
from slipfit.kernels.lanes import alike, any_of, deposit, take, where, zeros
from slipfit.kernels.tree import WIDTH, Eight, Shared, at, choose, put

__all__ = [
    "WIDTH",
    "Eight",
    "Shared",
    "alike",
    "any_of",
    "as_batch",
    "at",
    "cache_folder",
    "choose",
    "chosen_by_type",
    "compiled",
    "deposit",
    "keep_alive",
    "part",
    "put",
    "raw",
    "run_chunks",
    "stack",
    "take",
    "where",
    "zeros",
]
