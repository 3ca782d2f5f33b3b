"""Ground that remembers: cells in which a run's contacts leave how deep they sank and how much they slipped.

Cells of a square window repeat in both directions like tiles, and each cell keeps the number of the tile that wrote it: ground of
any size has ruts, and only after more than a window's side a new rut takes the place of an old one. Everything else (height,
gravity, edges) is the shape's that carries the soil.

Symbols    deepest sinkage below the untouched surface (m) · largest slip, 0 to 1
"""

from math import floor
from typing import Any, NamedTuple

import numpy as np

from slipfit.ground.shape import (
    along_profile,
    block_count,
    cell_count,
    clearance,
    disc_clearance,
    edge_count,
    edge_of,
    gravity_in_ground,
    is_on_map,
    leave_rut,
    rut_at,
    soil_depth,
    surface,
)
from slipfit.kernels import Shared, deposit, part, raise_to, take, where

#: Cells along a side of the window: with cells of 3 cm a square of 7.7 m.
WINDOW = 256

#: Larger than any tile's number along one axis.
_TILES = 65536.0


class Rutted(NamedTuple):
    """A shape with soil on it."""

    shape: Any
    per_cell: float  # 1/m
    window: Shared  # an array as long as the window has cells along a side; all runs share its length


def rutted(shape, cell_m, window=WINDOW):
    """A shape with cells of memory; `cell_m` may be an array, one entry per run."""
    return Rutted(shape, 1.0 / np.asarray(cell_m, dtype=float), Shared(np.zeros(window)))


@cell_count.of(Rutted)
def _(ground):
    return 3 * len(ground.window.array) * len(ground.window.array)


@part
def _cell(ground, x, y):
    """Which cell, and which tile of the window, a place lies in."""
    side = float(len(ground.window.array))
    column, row = floor(x * ground.per_cell), floor(y * ground.per_cell)
    tile_x, tile_y = floor(column / side), floor(row / side)
    return (row - side * tile_y) * side + (column - side * tile_x), tile_x * _TILES + tile_y


@rut_at.of(Rutted)
def _(ground, memory, x, y):
    cells = len(ground.window.array) * len(ground.window.array)
    cell, tile = _cell(ground, x, y)
    is_known = take(memory.cells, cell) == tile
    return where(is_known, take(memory.cells, cell + cells), 0.0 * x), where(
        is_known, take(memory.cells, cell + 2 * cells), 0.0 * x
    )


@leave_rut.of(Rutted)
def _(ground, memory, x, y, deepest, slip):
    cells = len(ground.window.array) * len(ground.window.array)
    before, slipped = rut_at(ground, memory, x, y)
    cell, tile = _cell(ground, x, y)
    # Elements side by side may lie in one cell: what it remembered is written alike by all of them, then each may add to it.
    deposit(memory.cells, cell, tile)
    deposit(memory.cells, cell + cells, before)
    deposit(memory.cells, cell + 2 * cells, slipped)
    raise_to(memory.cells, cell + cells, deepest)
    raise_to(memory.cells, cell + 2 * cells, slip)


@surface.of(Rutted)
def _(ground, memory, x, y):
    return surface(ground.shape, memory, x, y)


@gravity_in_ground.of(Rutted)
def _(ground):
    return gravity_in_ground(ground.shape)


@is_on_map.of(Rutted)
def _(ground, x, y):
    return is_on_map(ground.shape, x, y)


@block_count.of(Rutted)
def _(ground):
    return block_count(ground.shape)


@clearance.of(Rutted)
def _(ground, memory, b, x, y, z):
    return clearance(ground.shape, memory, b, x, y, z)


@disc_clearance.of(Rutted)
def _(ground, b, place, axle, radius, here):
    return disc_clearance(ground.shape, b, place, axle, radius, here)


@edge_count.of(Rutted)
def _(ground):
    return edge_count(ground.shape)


@edge_of.of(Rutted)
def _(ground, b, place, tangent, length):
    return edge_of(ground.shape, b, place, tangent, length)


@soil_depth.of(Rutted)
def _(ground, memory, x, y, z):
    return soil_depth(ground.shape, memory, x, y, z)


@along_profile.of(Rutted)
def _(ground, x, y):
    return along_profile(ground.shape, x, y)
