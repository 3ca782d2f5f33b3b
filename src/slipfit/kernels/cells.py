"""Cells: an array as inner loops see it, a bare pointer and a length.

Numba counts references of every array that passes through a function, which cost more than the arithmetic of a robot's step.
`raw(tree)` replaces the arrays of a tree by cells, which are not counted. The arrays must outlive the cells: end the function
that made them with `keep_alive(tree)`. As with all compiled indexing, bounds are not checked; negative indices are not wrapped.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from slipfit.kernels.compile import overload
from slipfit.kernels.tree import rebuilt_by_field


class Cells(types.Type):
    """Floats of one run, or lanes of eight, side by side in memory."""

    def __init__(self, element):
        self.dtype = element
        super().__init__(f"Cells({element})")


@register_model(Cells)
class _CellsModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("count", types.intp)])


def raw(tree):
    """The same tree with cells in place of one-dimensional arrays. Outside compiled code: the tree itself."""
    return tree


@overload(raw)
def _raw(tree):
    if isinstance(tree, types.BaseNamedTuple):
        return rebuilt_by_field(tree, "tree", "raw(tree{0})", raw=raw)
    if isinstance(tree, types.Array):
        if tree.ndim != 1 or tree.layout != "C":
            raise TypingError(f"cells need an array that lies in one piece, one after the other; found {tree}")
        return lambda tree: _of_array(tree)
    return lambda tree: tree


@intrinsic
def _of_array(context, array):
    kind = Cells(array.dtype)

    def build(context, builder, signature, values):
        source = context.make_array(array)(context, builder, values[0])
        cells = cgutils.create_struct_proxy(kind)(context, builder)
        cells.data = builder.bitcast(source.data, cells.data.type)
        cells.count = builder.extract_value(source.shape, 0)
        return cells._getvalue()

    return kind(array), build


def keep_alive(tree):
    """A last use, so that Numba does not release the arrays while cells of them are read."""


@overload(keep_alive)
def _keep_alive(tree):
    return lambda tree: _use(tree)


@intrinsic
def _use(context, tree):
    return types.none(tree), lambda context, builder, signature, values: context.get_dummy_value()


def _pointer(context, builder, kind, cells, index):
    data = cgutils.create_struct_proxy(kind)(context, builder, value=cells).data
    return builder.gep(data, [index], inbounds=True)


@intrinsic
def _read(context, cells, index):
    def build(context, builder, signature, values):
        position = context.cast(builder, values[1], signature.args[1], types.intp)
        return builder.load(_pointer(context, builder, cells, values[0], position), align=8)

    return cells.dtype(cells, index), build


@intrinsic
def _write(context, cells, index, value):
    def build(context, builder, signature, values):
        position = context.cast(builder, values[1], signature.args[1], types.intp)
        builder.store(values[2], _pointer(context, builder, cells, values[0], position), align=8)
        return ir.Constant(ir.PointerType(ir.IntType(8)), None)

    return types.none(cells, index, cells.dtype), build


@overload(operator.getitem)
def _getitem(cells, index):
    if isinstance(cells, Cells) and isinstance(index, types.Integer):
        return lambda cells, index: _read(cells, index)


@overload(operator.setitem)
def _setitem(cells, index, value):
    if isinstance(cells, Cells) and isinstance(index, types.Integer):

        def write(cells, index, value):
            _write(cells, index, value)

        return write


@overload(len)
def _len(cells):
    if isinstance(cells, Cells):
        return lambda cells: _count(cells)


@intrinsic
def _count(context, cells):
    def build(context, builder, signature, values):
        return cgutils.create_struct_proxy(cells)(context, builder, value=values[0]).count

    return types.intp(cells), build
