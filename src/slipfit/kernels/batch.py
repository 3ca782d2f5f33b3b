"""The one door into a batch, and the threads that run it."""

import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from slipfit.kernels.tree import WIDTH, Shared


def as_batch(tree, n: int):
    """The same tree with every leaf a float64, C-ordered, writable array of n runs.

    Other layouts would each compile another version of the kernel, and compiled indexing checks no bounds: a leaf of
    another length is refused here. A scalar serves all runs; a sequence that is meant per run has n entries; a
    table per run is two-dimensional, (n, entries). `Shared` leaves are passed on, made contiguous.
    """
    if isinstance(tree, Shared):
        return Shared(np.require(tree.array, dtype=np.float64, requirements=["C", "W"]))
    if hasattr(tree, "_fields"):
        return type(tree)(*(as_batch(leaf, n) for leaf in tree))
    if tree is None:
        raise ValueError("a leaf of the batch is None; every number of a run must be given")
    leaf = np.asarray(tree, dtype=np.float64)
    if leaf.ndim == 0:
        return np.full(n, float(leaf))
    if leaf.shape[0] != n:
        raise ValueError(f"a leaf of the batch has {leaf.shape[0]} entries, the batch has {n} runs")
    return np.array(leaf, order="C", copy=True)


def runs_between(tree, lo: int, hi: int):
    """Runs lo to hi of a batch, as a batch: views of its arrays."""
    if isinstance(tree, Shared):
        return tree
    if hasattr(tree, "_fields"):
        return type(tree)(*(runs_between(leaf, lo, hi) for leaf in tree))
    return tree[lo:hi]


def stack(trees):
    """One batch of several single models of the same types: leaves are stacked, shared leaves taken from the first."""
    first = trees[0]
    if len({type(tree) for tree in trees}) > 1:
        raise TypeError(f"models of different types cannot share a batch: {sorted({type(t).__name__ for t in trees})}")
    if isinstance(first, Shared):
        return first
    if hasattr(first, "_fields"):
        return type(first)(*(stack(leaves) for leaves in zip(*trees, strict=True)))
    return np.array([np.asarray(leaf, dtype=np.float64) for leaf in trees])


def chunk_size(n: int, workers: int, at_most: int = 64) -> int:
    """Runs per chunk: whole groups of lanes, and several chunks per worker so that no worker waits long for another."""
    share = math.ceil(n / (4 * workers))
    return min(at_most, WIDTH * math.ceil(share / WIDTH))


def run_chunks(chunk, n: int, *, workers: int | None = None) -> None:
    """Call `chunk(lo, hi)` for all runs 0..n on all cores. `chunk` is compiled with `nogil`, so threads really run at once.

    Results do not depend on the number of workers: a lane does not feel its neighbours.
    """
    if n == 0:
        return
    workers = workers or os.cpu_count() or 1
    size = chunk_size(n, workers)
    if workers == 1 or n <= size:
        for lo in range(0, n, size):
            chunk(lo, min(lo + size, n))
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda lo: chunk(lo, min(lo + size, n)), range(0, n, size)):
            pass
