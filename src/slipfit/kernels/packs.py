"""Packs: several wheels of a run, or of eight runs, in one value, so that their long chains of arithmetic run side by side.

One run packs four wheels into one register; eight runs pack a left wheel with its right one, or leave them apart (`abreast`).
What is summed over wheels is summed pack by pack and folded at the end, left against right, so that mirrored robots move
mirrored to the last bit.
Outside compiled code a pack is one wheel.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from slipfit.kernels.cells import Cells
from slipfit.kernels.compile import overload
from slipfit.kernels.lanes import Lanes, Mask, PerLane, lane
from slipfit.kernels.tree import WIDTH, Shared, rebuilt_by_field

ALONE = 4  # wheels of one run in a pack
TOGETHER = 2  # wheels of eight runs in a pack


def _wheels(kind):
    return TOGETHER if isinstance(kind, PerLane) else ALONE


def _packed(kind):
    if isinstance(kind, PerLane):
        return type(kind)(kind.width * TOGETHER)
    return Mask(ALONE) if isinstance(kind, types.Boolean) else Lanes(ALONE)


def _order(indices):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), list(indices))


def wide(tree):
    """A number for all wheels of a pack; cells of wheels as cells of packs; a tree of either. What runs share stays as it is."""
    return tree


@overload(wide)
def _wide(tree):
    if isinstance(tree, types.BaseNamedTuple):
        if tree.instance_class is Shared:
            return lambda tree: tree
        return rebuilt_by_field(tree, "tree", "wide(tree{0})", wide=wide)
    if isinstance(tree, Cells):
        return lambda tree: _wide_cells(tree)
    return lambda tree: _wide_number(tree)


@intrinsic
def _wide_number(context, value):
    kind = _packed(value)

    def build(context, builder, signature, values):
        if not isinstance(value, PerLane):
            return context.cast(builder, values[0], value, kind)
        unset = ir.Constant(values[0].type, ir.Undefined)
        return builder.shuffle_vector(values[0], unset, _order([i % value.width for i in range(kind.width)]))

    return kind(value), build


@intrinsic
def _wide_cells(context, cells):
    kind, wheels = Cells(_packed(cells.dtype)), _wheels(cells.dtype)

    def build(context, builder, signature, values):
        source = cgutils.create_struct_proxy(cells)(context, builder, value=values[0])
        result = cgutils.create_struct_proxy(kind)(context, builder)
        result.data = builder.bitcast(source.data, result.data.type)
        result.count = builder.sdiv(source.count, source.count.type(wheels))
        return result._getvalue()

    return kind(cells), build


def abreast(tree):
    """As `wide` for one run; of eight runs each wheel stays by itself. For vehicles whose wheels do not come in pairs, and whose
    arithmetic fills the registers anyway."""
    return tree


@overload(abreast)
def _abreast(tree):
    if isinstance(tree, types.BaseNamedTuple):
        if tree.instance_class is Shared:
            return lambda tree: tree
        return rebuilt_by_field(tree, "tree", "abreast(tree{0})", abreast=abreast)
    if isinstance(tree.dtype if isinstance(tree, Cells) else tree, PerLane):
        return lambda tree: tree
    return lambda tree: wide(tree)


def folded(packs):
    """The sum over the wheels of a pack; of truth values, whether one holds."""
    return packs


@overload(folded)
def _folded(packs):
    return lambda packs: _fold(packs)


@intrinsic
def _fold(context, packs):
    alone, is_mask = packs.width == ALONE, isinstance(packs, Mask)
    one = types.boolean if is_mask else types.float64
    kind = one if alone else type(packs)(WIDTH)

    def build(context, builder, signature, values):
        value = values[0]
        while value.type.count > (1 if alone else WIDTH):
            half = value.type.count // 2
            unset = ir.Constant(value.type, ir.Undefined)
            low = builder.shuffle_vector(value, unset, _order(range(half)))
            high = builder.shuffle_vector(value, unset, _order(range(half, 2 * half)))
            value = builder.or_(low, high) if is_mask else builder.fadd(low, high)
        return builder.extract_element(value, ir.IntType(32)(0)) if alone else value

    return kind(packs), build


def padded(count, like):
    """The number of wheels, filled up to whole packs."""
    return count


@overload(padded)
def _padded(count, like):
    wheels = _wheels(like)
    return lambda count, like: (count + wheels - 1) // wheels * wheels


def filled_up(count, like):
    """The number of wheels that go `abreast`, filled up to whole packs."""
    return count


@overload(filled_up)
def _filled_up(count, like):
    if isinstance(like, PerLane):
        return lambda count, like: count
    return lambda count, like: padded(count, like)


def cos_and_sin(angle):
    """Cosine and sine, by the mathematics of lanes also for one run: alone or among eight, a run then gives the same numbers."""
    return math.cos(angle), math.sin(angle)


@overload(cos_and_sin)
def _cos_and_sin(angle):
    if isinstance(angle, Lanes):
        return lambda angle: (math.cos(angle), math.sin(angle))

    def alone(angle):
        spread = _wide_number(angle)
        return lane(math.cos(spread), 0), lane(math.sin(spread), 0)

    return alone
