"""The door into a batch, and the chunks it is run in."""

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

from patience import HANG_S
from slipfit.kernels import WIDTH, Shared, as_batch, run_chunks, stack


class Law(NamedTuple):
    mu: Any
    table: Any


class Robot(NamedTuple):
    law: Law
    mass: Any
    ground: Any


def leaves(tree):
    return [leaf for part in tree for leaf in leaves(part)] if hasattr(tree, "_fields") else [tree]


@pytest.mark.parametrize(
    "given",
    [2, np.float32(2.0), np.array(2), [2, 2, 2], np.array([2, 9, 2, 9, 2, 9])[::2], np.broadcast_to(2.0, 3)],
    ids=["int", "float32", "0-d", "list", "strided", "read-only"],
)
def test_every_leaf_becomes_the_one_layout_that_is_compiled(given):
    """Three runs, 2 in each: float64, C order, writable. Any other layout would compile the kernel once more."""
    leaf = as_batch(given, 3)
    assert leaf.tolist() == [2.0, 2.0, 2.0]
    assert leaf.dtype == np.float64
    assert leaf.flags.c_contiguous
    assert leaf.flags.writeable


def test_nested_models_keep_their_classes_and_tables_their_rows():
    """A table per run in Fortran order comes out in C order with the same rows; the shared ground stays one for all."""
    table = np.asfortranarray([[1, 2, 3], [4, 5, 6]])
    batch = as_batch(Robot(Law(0.5, table), [10.0, 20.0], Shared(np.arange(12).reshape(3, 4)[:, ::2])), 2)
    assert isinstance(batch, Robot)
    assert isinstance(batch.law, Law)
    assert isinstance(batch.ground, Shared)
    assert batch.law.table.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert batch.ground.array.tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]
    assert all(leaf.dtype == np.float64 and leaf.flags.c_contiguous for leaf in leaves(batch))


def test_a_batch_never_shares_memory_with_what_it_was_made_of():
    """A run that writes into its batch must not change the caller's arrays."""
    mass = np.array([10.0, 20.0])
    as_batch(Law(mass, 0.0), 2).mu[0] = -1.0
    assert mass.tolist() == [10.0, 20.0]


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [1.0], np.ones(4), np.ones((2, 3)), np.ones(0)])
def test_a_leaf_of_another_length_is_refused(wrong):
    """Compiled indexing checks no bounds, so this is the last place to notice."""
    with pytest.raises(ValueError, match=f"has {len(wrong)} entries, the batch has 3 runs"):
        as_batch(Robot(Law(0.5, wrong), 10.0, Shared(np.ones(5))), 3)


def test_single_models_stack_into_a_batch():
    """By definition: leaf k of run i is leaf k of model i; numbers become arrays, tables become rows."""
    ground = Shared(np.array([7.0, 8.0]))
    batch = stack([Robot(Law(0.1 * i, [i, 2.0 * i]), i, ground) for i in range(3)])
    assert batch.law.mu.tolist() == [0.1 * i for i in range(3)]
    assert batch.law.table.tolist() == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]
    assert batch.mass.tolist() == [0.0, 1.0, 2.0]
    assert batch.mass.dtype == np.float64
    assert batch.ground is ground


@pytest.mark.parametrize("workers", [1, 2, 3, 8, None])
def test_every_run_is_visited_exactly_once_in_whole_groups(workers):
    """Counting: each of n places is touched once. Chunks start at multiples of eight, so that groups do not overlap."""
    for n in (*range(1, 40), 63, 64, 65, 100, 127, 129, 512, 1000):
        visits, starts = np.zeros(n, dtype=int), []

        def chunk(lo, hi, visits=visits, starts=starts):
            starts.append(lo)
            visits[lo:hi] += 1

        run_chunks(chunk, n, workers=workers)
        assert (visits == 1).all(), f"n={n}"
        assert all(lo % WIDTH == 0 for lo in starts), f"n={n}"


def test_no_runs_are_no_work():
    """Limit case: an empty batch calls nothing and is no error."""
    calls = []
    run_chunks(lambda lo, hi: calls.append((lo, hi)), 0)
    assert calls == []


def test_chunks_run_on_several_threads_at_once():
    """Two chunks that wait for each other can only both end if both run at the same time."""
    meeting = threading.Barrier(2, timeout=HANG_S)
    run_chunks(lambda lo, hi: meeting.wait(), 2 * WIDTH, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_one_chunk_reaches_the_caller(workers):
    """The last of many chunks fails; no thread may swallow it."""

    def chunk(lo, hi):
        if hi == 500:
            raise FloatingPointError(f"run {hi - 1} blew up")

    with pytest.raises(FloatingPointError, match="run 499 blew up"):
        run_chunks(chunk, 500, workers=workers)
