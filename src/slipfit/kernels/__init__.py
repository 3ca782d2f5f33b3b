"""What every compiled loop needs: lanes, batches, options and cache. Imports nothing else of slipfit."""

from slipfit.kernels.batch import as_batch, run_chunks, runs_between, stack
from slipfit.kernels.cells import keep_alive, raw
from slipfit.kernels.compile import cache_folder, compiled, part
from slipfit.kernels.dispatch import chosen_by_type

# Importing it teaches Numba the mathematics of lanes.
from slipfit.kernels.lane_math import atan_of_positive, atan_slopes, sin_within
from slipfit.kernels.lanes import alike, any_of, deposit, fma, raise_to, take, take_many, where, zeros
from slipfit.kernels.packs import abreast, cos_and_sin, filled_up, folded, padded, wide
from slipfit.kernels.tree import WIDTH, Eight, Shared, at, choose, put, tables

__all__ = [
    "WIDTH",
    "Eight",
    "Shared",
    "abreast",
    "alike",
    "any_of",
    "as_batch",
    "at",
    "atan_of_positive",
    "atan_slopes",
    "cache_folder",
    "choose",
    "chosen_by_type",
    "compiled",
    "cos_and_sin",
    "deposit",
    "filled_up",
    "fma",
    "folded",
    "keep_alive",
    "padded",
    "part",
    "put",
    "raise_to",
    "raw",
    "run_chunks",
    "runs_between",
    "sin_within",
    "stack",
    "tables",
    "take",
    "take_many",
    "where",
    "wide",
    "zeros",
]
