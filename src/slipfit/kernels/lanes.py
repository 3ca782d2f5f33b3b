"""Lanes: several runs in one value. `Lanes(n)` is a Numba type that lowers to one LLVM vector of n doubles.

Numba compiles a function again for each type of argument, so a step written once for floats also compiles for lanes and then
advances n runs at once. What is new to the writer of a model:

    where(condition, a, b)    instead of  a if condition else b    when the condition differs from run to run
    if any_of(condition):     instead of  if condition:            to skip what no run of the group needs
    take(array, x)            instead of  array[int(x)]            and deposit(array, x, value) to write
    take_many(array, x, 16)   instead of  array[int(x) : int(x) + 16], as a tuple
    alike(0.0, x), zeros(n, x)  instead of  0.0, np.zeros(n)       to start a state

All of them work on plain floats too. What is not defined for lanes (`if`, `and`, `int`, `%`, `np.sin`) does not compile.
"""

import builtins
import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.core.typeconv import Conversion  # type: ignore[attr-defined]
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_jitable, register_model
from numba.np.arrayobj import populate_array

from slipfit.kernels.compile import overload

# --- the types -------------------------------------------------------------------------------------------------------------


class PerLane(types.Type):
    """A vector of `width` elements. Plain numbers spread over all lanes where they meet one, also across a loop:
    a variable that is 0.0 before the loop and lanes in it is lanes."""

    def __init__(self, width):
        self.width = width
        super().__init__(f"{type(self).__name__}({width})")

    def unify(self, context, other):
        return self if isinstance(other, self.spreads) else None

    def can_convert_from(self, context, other):
        return Conversion.safe if isinstance(other, self.spreads) else None


class Lanes(PerLane):
    """One double per lane."""

    element, spreads = ir.DoubleType(), (types.Float, types.Integer)


class Mask(PerLane):
    """One truth value per lane. It has no `bool`: an `if`, `and` or `or` on it is an error of compilation, never a wrong run."""

    element, spreads = ir.IntType(1), (types.Boolean,)


@register_model(Mask)
@register_model(Lanes)
class _Vector(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(kind.element, kind.width))


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
@lower_cast(types.Boolean, Mask)
def _spread(context, builder, source, target, value):
    value = context.cast(builder, value, source, types.float64 if isinstance(target, Lanes) else types.boolean)
    unset = ir.Constant(ir.VectorType(target.element, target.width), ir.Undefined)
    first = builder.insert_element(unset, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, unset, ir.Constant(ir.VectorType(ir.IntType(32), target.width), [0] * target.width))


# --- operators: one table, one instruction each ----------------------------------------------------------------------------


def _define(function, arguments, result, build):
    """Compile `function` by `build(builder, *vectors)` when an argument is of lanes; the other arguments are spread."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, given, _):
            widths = [kind.width for kind in given if isinstance(kind, PerLane)]
            if not widths or len(given) != len(arguments):
                return None
            wanted = [kind(widths[0]) for kind in arguments]
            if all(self.context.can_convert(have, want) is not None for have, want in zip(given, wanted, strict=True)):
                return result(widths[0])(*wanted)

    @lower_builtin(function, *arguments)
    def lower_function(context, builder, signature, values):
        return build(builder, *values)


def _call(name, arity=1):
    """One of LLVM's own vector functions."""

    def build(builder, *values):
        kind = values[0].type
        declared = ir.FunctionType(kind, [kind] * arity)
        return builder.call(cgutils.get_or_insert_function(builder.module, declared, f"llvm.{name}.v{kind.count}f64"), values)

    return build


def _compare(symbol):
    return lambda builder, a, b: (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, a, b)


def _pick(symbol):  # the comparison of Python's min and max, which keeps the first argument in a tie or a NaN
    def build(builder, first, *others):
        for other in others:
            first = builder.select(builder.fcmp_ordered(symbol, other, first), other, first)
        return first

    return build


def where(condition, a, b):
    """`a` where the condition holds, else `b`. Both are computed, so neither may write."""
    return a if condition else b


def any_of(condition):
    """True if the condition holds in some lane: the way back to `if`, `while` and early exits."""
    return bool(condition)


def alike(value, like):
    """A number of the same kind as `like`, to start a state with. (0.0 * like would be NaN where `like` is.)"""
    return float(value)


def fma(a, b, c):
    """a * b + c, with one rounding in compiled code: a run alone then has the same bits as in lanes."""
    return a * b + c


for _names, _build in (("add iadd", "fadd"), ("sub isub", "fsub"), ("mul imul", "fmul"), ("truediv itruediv", "fdiv")):
    for _name in _names.split():
        _define(getattr(operator, _name), [Lanes, Lanes], Lanes, lambda builder, a, b, do=_build: getattr(builder, do)(a, b))
for _name, _symbol in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    _define(getattr(operator, _name), [Lanes, Lanes], Mask, _compare(_symbol))
for _name, _build in (("and_", "and_"), ("or_", "or_"), ("xor", "xor")):
    _define(getattr(operator, _name), [Mask, Mask], Mask, lambda builder, a, b, do=_build: getattr(builder, do)(a, b))
for _name in ("sqrt", "fabs", "floor", "ceil"):
    _define(getattr(math, _name), [Lanes], Lanes, _call(_name))
for _function, _symbol in ((builtins.min, "<"), (builtins.max, ">")):
    for _count in (2, 3):
        _define(_function, [Lanes] * _count, Lanes, _pick(_symbol))
_define(operator.not_, [Mask], Mask, lambda builder, a: builder.not_(a))
_define(operator.neg, [Lanes], Lanes, lambda builder, a: builder.fneg(a))
_define(operator.pos, [Lanes], Lanes, lambda builder, a: a)
_define(builtins.abs, [Lanes], Lanes, _call("fabs"))
_define(math.copysign, [Lanes, Lanes], Lanes, _call("copysign", 2))
_define(where, [Mask, Lanes, Lanes], Lanes, lambda builder, c, a, b: builder.select(c, a, b))
_define(alike, [Lanes, Lanes], Lanes, lambda builder, value, like: value)
_define(fma, [Lanes, Lanes, Lanes], Lanes, _call("fma", 3))


@overload(fma)
def _fma(a, b, c):
    if not any(isinstance(kind, PerLane) for kind in (a, b, c)):
        return lambda a, b, c: _fma_of_floats(a, b, c)


@intrinsic
def _fma_of_floats(context, a, b, c):
    def build(context, builder, signature, values):
        kind = ir.DoubleType()
        declared = ir.FunctionType(kind, [kind] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, declared, "llvm.fma.f64"), values)

    return types.float64(types.float64, types.float64, types.float64), build


@overload(where)
def _where(condition, a, b):
    if not any(isinstance(kind, PerLane) for kind in (condition, a, b)):
        return lambda condition, a, b: a if condition else b


@overload(alike)
def _alike(value, like):
    if not isinstance(like, Lanes):
        return lambda value, like: float(value)


@overload(any_of)
def _any_of(condition):
    return (lambda condition: _some(condition)) if isinstance(condition, Mask) else (lambda condition: bool(condition))


@intrinsic
def _some(context, mask):
    def build(context, builder, signature, values):
        bits = builder.bitcast(values[0], ir.IntType(mask.width))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(mask), build


# --- single lanes, for loading, storing and looking up ---------------------------------------------------------------------


@intrinsic
def lane(context, lanes, l):
    """The value of one lane."""
    kind = types.float64 if isinstance(lanes, Lanes) else types.boolean
    return kind(lanes, l), lambda context, builder, signature, values: builder.extract_element(*values)


@intrinsic
def with_lane(context, lanes, l, value):
    """The same lanes with one of them replaced."""

    def build(context, builder, signature, values):
        return builder.insert_element(values[0], values[2], values[1])

    return lanes(lanes, l, types.float64), build


# --- arrays of lanes: state vectors and soil memories that a model indexes and writes ----------------------------------------


def _view(context, builder, array, value, kind, shape, strides):
    source = context.make_array(array)(context, builder, value)
    view = context.make_array(kind)(context, builder)
    sizes = [context.get_constant(types.intp, size) for size in strides]
    shape = [builder.extract_value(source.shape, 0), *(context.get_constant(types.intp, size) for size in shape)]
    data = builder.bitcast(source.data, view.data.type)
    populate_array(view, data, shape, sizes, sizes[-1], source.meminfo, source.parent)
    return impl_ret_borrowed(context, builder, kind, view._getvalue())


@intrinsic
def as_lanes(context, array, like):
    """A float array of shape (n, width) as n lanes: `memory[k]` and `memory[k] = value` then read as they do for one run."""
    kind = types.Array(like, 1, "C", aligned=False)  # NumPy aligns to less than a vector
    return kind(array, like), lambda context, builder, _, values: _view(
        context, builder, array, values[0], kind, [], [8 * like.width]
    )


def zeros(n, like):
    """n zeros of the same kind as `like`: floats for one run, lanes for a group."""
    return np.zeros(n)


@overload(zeros)
def _zeros(n, like):
    if not isinstance(like, Lanes):
        return lambda n, like: np.zeros(n)
    width = like.width
    return lambda n, like: as_lanes(np.zeros((n, width)), like)


# --- looking up: the one place where lanes go separate ways -------------------------------------------------------------------


@intrinsic
def index_of_lane(context, position, l):
    """The position of one lane as an index; unsigned, so that Numba does not look for negative ones."""

    def build(context, builder, signature, values):
        whole = builder.fptosi(values[0], ir.VectorType(ir.IntType(32), position.width))  # once for all lanes
        return builder.zext(builder.extract_element(whole, values[1]), ir.IntType(64))

    return types.uint64(position, l), build


@register_jitable
def inside(count, position):
    """The position kept within 0 .. count - 1; a NaN gives 0, because compiled indexing checks no bounds."""
    position = where(position > 0.0, position, 0.0)
    return min(position, count - 1.0)


def take(array, position):
    """`array[int(position)]`, kept inside the array. Of an array of lanes, each lane reads its own column."""
    return array[int(inside(len(array), position))]


def deposit(array, position, value):
    """`array[int(position)] = value`, likewise."""
    array[int(inside(len(array), position))] = value


def raise_to(array, position, value):
    """`array[int(position)]` becomes `value` where that is larger, likewise; also where lanes of one run share an entry."""
    index = int(inside(len(array), position))
    array[index] = max(array[index], value)


@overload(take)
def _take(array, position):
    if not isinstance(position, Lanes):
        return lambda array, position: array[int(inside(len(array), position))]
    width = position.width

    def gather(array, position):
        position = found = inside(len(array), position)
        for l in range(width):
            found = with_lane(found, l, array[index_of_lane(position, l)])
        return found

    def gather_own(array, position):
        position = found = inside(len(array), position)
        for l in range(width):
            found = with_lane(found, l, lane(array[index_of_lane(position, l)], l))
        return found

    return gather_own if isinstance(array.dtype, Lanes) else gather


def take_many(array, position, count):
    """The `count` entries from `position` on, a multiple of four, as a tuple; kept inside the array.

    In lanes the entries of one lane are read four at a time and turned into lanes in registers: half the instructions of
    as many `take`s.
    """
    first = int(inside(len(array) - count + 1, position))
    return tuple(array[first + k] for k in range(count))


@overload(take_many, prefer_literal=True)
def _take_many(array, position, count):
    if not isinstance(count, types.IntegerLiteral) or count.literal_value % 4:
        raise TypingError(f"take_many needs a count that is written out, a multiple of four; found {count}")
    entries = count.literal_value
    gather = _gather_alone if not isinstance(position, Lanes) else _gather_fours
    return lambda array, position, count: gather(_first_entry(array), inside(len(array) - entries + 1, position), entries)


@intrinsic
def _first_entry(context, array):
    """Where an array or cells of floats begin in memory."""

    def build(context, builder, signature, values):
        if isinstance(array, types.Array):
            return context.make_array(array)(context, builder, values[0]).data
        return cgutils.create_struct_proxy(array)(context, builder, value=values[0]).data

    return types.CPointer(types.float64)(array), build


@intrinsic(prefer_literal=True)
def _gather_alone(context, data, position, count):
    def build(context, builder, signature, values):
        first = builder.fptosi(values[1], ir.IntType(64))
        places = [builder.add(first, first.type(k)) for k in range(count.literal_value)]
        entries = [builder.load(builder.gep(values[0], [place], inbounds=True), align=8) for place in places]
        return context.make_tuple(builder, signature.return_type, entries)

    return types.UniTuple(types.float64, count.literal_value)(data, types.float64, count), build


@intrinsic(prefer_literal=True)
def _gather_fours(context, data, position, count):
    four = ir.VectorType(ir.DoubleType(), 4)

    def build(context, builder, signature, values):
        whole = builder.fptosi(values[1], ir.VectorType(ir.IntType(32), position.width))
        firsts = []
        for l in range(position.width):
            index = builder.zext(builder.extract_element(whole, ir.IntType(32)(l)), ir.IntType(64))
            firsts.append(builder.gep(values[0], [index], inbounds=True))
        entries = []
        for k in range(0, count.literal_value, 4):
            places = [builder.gep(first, [ir.IntType(64)(k)], inbounds=True) for first in firsts]
            fours = [builder.load(builder.bitcast(place, four.as_pointer()), align=8) for place in places]
            blocks = [_transposed(builder, fours[l : l + 4]) for l in range(0, position.width, 4)]
            entries += [_joined(builder, [block[j] for block in blocks]) for j in range(4)]
        return context.make_tuple(builder, signature.return_type, entries)

    return types.UniTuple(position, count.literal_value)(data, position, count), build


def _shuffled(builder, a, b, order):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), list(order)))


def _transposed(builder, rows):
    """Four vectors of four, columns for rows."""
    a, b, c, d = rows
    low_ab, low_cd = _shuffled(builder, a, b, (0, 4, 2, 6)), _shuffled(builder, c, d, (0, 4, 2, 6))
    high_ab, high_cd = _shuffled(builder, a, b, (1, 5, 3, 7)), _shuffled(builder, c, d, (1, 5, 3, 7))
    return [
        _shuffled(builder, low_ab, low_cd, (0, 1, 4, 5)),
        _shuffled(builder, high_ab, high_cd, (0, 1, 4, 5)),
        _shuffled(builder, low_ab, low_cd, (2, 3, 6, 7)),
        _shuffled(builder, high_ab, high_cd, (2, 3, 6, 7)),
    ]


def _joined(builder, parts):
    """Vectors one after the other, two and two."""
    while len(parts) > 1:
        length = parts[0].type.count
        parts = [_shuffled(builder, a, b, range(2 * length)) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


@overload(deposit)
def _deposit(array, position, value):
    if not isinstance(position, Lanes):

        def store(array, position, value):
            array[int(inside(len(array), position))] = value

        return store
    width = position.width

    def scatter(array, position, value):
        position, value = inside(len(array), position), alike(value, position)
        for l in range(width):
            index = index_of_lane(position, l)
            array[index] = with_lane(array[index], l, lane(value, l))

    def scatter_shared(array, position, value):
        position, value = inside(len(array), position), alike(value, position)
        for l in range(width):
            array[index_of_lane(position, l)] = lane(value, l)

    return scatter if isinstance(array.dtype, Lanes) else scatter_shared


@overload(raise_to)
def _raise_to(array, position, value):
    if not isinstance(position, Lanes):

        def store(array, position, value):
            index = int(inside(len(array), position))
            array[index] = max(array[index], value)

        return store
    width = position.width

    def scatter(array, position, value):
        position, value = inside(len(array), position), alike(value, position)
        for l in range(width):
            index = index_of_lane(position, l)
            array[index] = with_lane(array[index], l, max(lane(array[index], l), lane(value, l)))

    def scatter_shared(array, position, value):
        position, value = inside(len(array), position), alike(value, position)
        for l in range(width):
            index = index_of_lane(position, l)
            array[index] = max(array[index], lane(value, l))

    return scatter if isinstance(array.dtype, Lanes) else scatter_shared
