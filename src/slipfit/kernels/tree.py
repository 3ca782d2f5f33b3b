"""Models and states as nested NamedTuples: one run (floats), a batch (arrays), or a group of runs (lanes)."""

from typing import Any, NamedTuple

from numba import types
from numba.extending import intrinsic

from slipfit.kernels.compile import overload
from slipfit.kernels.lanes import Lanes, alike, lane, where, with_lane, zeros

WIDTH = 8  # one register with AVX-512, two with AVX2 (where 8 still beats 4: more independent work), four on ARM


class Eight(NamedTuple):
    """Runs first to first + 7 of a batch, where a plain integer stands for one run."""

    first: int


class Shared(NamedTuple):
    """An array that all runs of a batch read: a height map, a table of commands. Everything else is per run."""

    array: Any


def rebuilt_by_field(tree, arguments, template, **names):
    """A function of the arguments that rebuilds a named tuple from `template`, with {0} standing for each field in turn."""
    fields = ", ".join(template.format("." + name) for name in tree.instance_class._fields)
    scope = {"cls": tree.instance_class, **names}
    exec(f"def rebuild({arguments}): return cls({fields})", scope)
    return scope["rebuild"]


# --- from a batch to one run or a group ------------------------------------------------------------------------------


def at(tree, i):
    """Run i of a batch; with `Eight(i)` the eight runs from i on, one per lane. A table per run (2-D leaf) keeps its index."""
    if isinstance(i, Eight):
        raise TypeError("eight runs at once exist only in compiled code")
    if isinstance(tree, Shared):
        return tree
    return tree[i] if not hasattr(tree, "_fields") else type(tree)(*(at(leaf, i) for leaf in tree))


@overload(at)
def _at(tree, i):
    if isinstance(tree, types.BaseNamedTuple):  # homogeneous tuples have another type: test the base
        if tree.instance_class is Shared:
            return lambda tree, i: tree
        return rebuilt_by_field(tree, "tree, i", "at(tree{0}, i)", at=at)
    if isinstance(i, types.Integer):
        return lambda tree, i: tree[i]

    def load(tree, i):
        lanes = spread(0.0)
        for l in range(WIDTH):
            lanes = with_lane(lanes, l, tree[min(i.first + l, tree.shape[0] - 1)])  # past the end: the last run again
        return lanes

    def load_tables(tree, i):
        tables = zeros(tree.shape[1], spread(0.0))
        for k in range(tree.shape[1]):
            tables[k] = at(tree[:, k], i)
        return tables

    return load if tree.ndim == 1 else load_tables


@intrinsic
def spread(context, value):
    """A number in all lanes."""
    kind = Lanes(WIDTH)
    return kind(value), lambda context, builder, signature, values: context.cast(builder, values[0], value, kind)


def put(array, i, value):
    """array[i] = value, or one entry for each lane."""
    array[i] = value


@overload(put)
def _put(array, i, value):
    if isinstance(i, types.Integer):

        def store(array, i, value):
            array[i] = value

        return store

    def scatter(array, i, value):
        value = alike(value, spread(0.0))
        for l in range(WIDTH):
            if i.first + l < array.shape[0]:
                array[i.first + l] = lane(value, l)

    return scatter


# --- tables of scratch numbers ---------------------------------------------------------------------------------------


def tables(cls, count, like):
    """A named tuple of the class with `count` zeros in each field, of the same kind as `like`."""
    return cls(*(zeros(count, like) for _ in cls._fields))


@overload(tables)
def _tables(cls, count, like):
    kind = cls.instance_class
    scope = {"kind": kind, "zeros": zeros}
    exec(f"def build(cls, count, like): return kind({', '.join('zeros(count, like)' for _ in kind._fields)})", scope)
    return scope["build"]


# --- choosing between whole states -----------------------------------------------------------------------------------


def choose(mask, new, old):
    """`new` where the mask holds, else `old`, leaf by leaf: lanes that have stopped keep their state."""
    if hasattr(new, "_fields"):
        return type(new)(*(choose(mask, n, o) for n, o in zip(new, old, strict=True)))
    return where(mask, new, old)


@overload(choose)
def _choose(mask, new, old):
    if isinstance(new, types.BaseNamedTuple):
        return rebuilt_by_field(new, "mask, new, old", "choose(mask, new{0}, old{0})", choose=choose)
    return lambda mask, new, old: where(mask, new, old)
