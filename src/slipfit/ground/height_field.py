"""Height fields: ground whose heights are known on a grid, and what lies between.

Row r and column c of the heights stand at x = x0 + c d, y = y0 + r d; x points east and y north, gravity down. Within a cell,

    bilinear    h = sum a_ij u^i v^j,  i, j = 0, 1      continuous; slopes jump from cell to cell
    bicubic     h = sum a_ij u^i v^j,  i, j = 0 .. 3    slopes are continuous too

and slopes are the exact derivatives of h. The bicubic is Hermite's: at the corners of each cell it has the given height and
the slopes and twist of fourth-order central differences,

    h_x(c) d = (8 (h(c+1) - h(c-1)) - (h(c+2) - h(c-2))) / 12

so that it errs by d^4 (the bilinear by d^2), and both reproduce planes. Beyond its edge the field goes on straight: along
the tangent where it ends, so that a wheel which leaves the map stands on something smooth; `is_on_map` says that it left.

Symbols    d spacing (m) · u, v place in a cell, 0 to 1 along x and y · a_ij coefficients of a cell
Reference  derived in docs/theory/terrain, eq. (hermite)
Valid for  fewer than 2^31 coefficients: 11 000 x 11 000 heights bicubic, 23 000 x 23 000 bilinear
"""

from math import floor
from typing import NamedTuple

import numpy as np

from slipfit.errors import ParameterError
from slipfit.ground.shape import Surface, gravity_in_ground, is_on_map, surface
from slipfit.kernels import Shared, alike, compiled, fma, keep_alive, part, raw, take_many

INTERPOLATIONS = ("bicubic", "bilinear")


class BilinearField(NamedTuple):
    origin_x: float  # m, place of the first height
    origin_y: float
    per_spacing: float  # 1/m
    columns: float  # cells along x, one less than heights
    rows: float  # cells along y
    gravity: float  # m/s^2
    coefficients: Shared  # four per cell, cell after cell and row after row


class BicubicField(NamedTuple):
    origin_x: float
    origin_y: float
    per_spacing: float
    columns: float
    rows: float
    gravity: float
    coefficients: Shared  # sixteen per cell


def height_field(heights_m, spacing_m, origin_m=(0.0, 0.0), gravity_mps2=9.81, interpolation="bicubic"):
    """The field of heights (rows, columns); `origin_m` is the place of the first. Origin and gravity may be arrays, one entry
    per run: all runs share the heights."""
    heights = np.asarray(heights_m, dtype=float)
    if interpolation not in INTERPOLATIONS:
        raise ParameterError(f"interpolation is '{interpolation}'; expected one of {', '.join(INTERPOLATIONS)}")
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ParameterError(f"heights have the shape {heights.shape}; expected at least 2 rows and 2 columns")
    if not np.isfinite(heights).all():
        raise ParameterError(f"{(~np.isfinite(heights)).sum()} heights are missing; fill the holes first")
    if not spacing_m > 0.0:
        raise ParameterError(f"the spacing of heights is {spacing_m:g} m; expected more than 0")
    field, coefficients = {"bilinear": (BilinearField, _bilinear), "bicubic": (BicubicField, _bicubic)}[interpolation]
    rows, columns = heights.shape
    return field(
        origin_m[0], origin_m[1], 1.0 / spacing_m, columns - 1.0, rows - 1.0, gravity_mps2, Shared(coefficients(heights).ravel())
    )  # fmt: skip


# --- coefficients of all cells, computed once --------------------------------------------------------------------------------


def _bilinear(h):
    """(rows, columns, 4): a_00, a_01, a_10, a_11 of each cell."""
    along_y = h[1:] - h[:-1]
    return np.stack([h[:-1, :-1], along_y[:, :-1], h[:-1, 1:] - h[:-1, :-1], along_y[:, 1:] - along_y[:, :-1]], axis=-1)


def _bicubic(h):
    """(rows, columns, 16): a_00, a_01, ... a_33 of each cell; the first index is the power of u."""
    slopes_x = _differences(h)
    powers_of_u = _hermite(h, slopes_x)  # four arrays (rows + 1, columns)
    twisted = _hermite(_differences(h.T).T, _differences(slopes_x.T).T)  # their slopes along y
    cells = np.empty((h.shape[0] - 1, h.shape[1] - 1, 4, 4))
    for i, (value, slope_y) in enumerate(zip(powers_of_u, twisted, strict=True)):
        for j, entry in enumerate(_hermite(value.T, slope_y.T)):
            cells[:, :, i, j] = entry.T
    return cells


def _differences(h):
    """Slope times spacing along the columns, of fourth order; beyond its ends a row goes on straight."""
    steps = np.diff(h, axis=1)
    steps = np.concatenate([steps[:, :1], steps[:, :1], steps, steps[:, -1:], steps[:, -1:]], axis=1)
    near = steps[:, 1:-2] + steps[:, 2:-1]
    return (7.0 * near - steps[:, :-3] - steps[:, 3:]) / 12.0


def _hermite(h, slope):
    """Coefficients of 1, u, u^2, u^3 between neighbouring columns, from values and slopes there."""
    step, before, after = h[:, 1:] - h[:, :-1], slope[:, :-1], slope[:, 1:]
    return h[:, :-1], before, 3.0 * step - 2.0 * before - after, before + after - 2.0 * step


# --- answers to vehicles ------------------------------------------------------------------------------------------------------


@part
def _cell(count, place):
    """Along one axis: the cell, the place in it, and how far the place lies beyond the field. In spacings."""
    within = min(max(place, 0.0), count)
    cell = min(floor(within), count - 1.0)
    return cell, within - cell, place - within


@part
def _linear_and_slope(a0, a1, u):
    return fma(a1, u, a0), a1


@part
def _cubic_and_slope(a0, a1, a2, a3, u):
    """Horner's scheme for a polynomial and its derivative. `fma` throughout, for the same bits alone and in lanes."""
    value, slope = fma(a3, u, a2), a3
    slope = fma(slope, u, value)
    value = fma(value, u, a1)
    slope = fma(slope, u, value)
    return fma(value, u, a0), slope


@part
def _continued(ground, height, slope_x, slope_y, twist, beyond_x, beyond_y):
    """The answer in metres. Beyond the edge the tangents there go on; inside, `beyond` is zero."""
    height = fma(slope_y, beyond_y, fma(slope_x, beyond_x, fma(twist, beyond_x * beyond_y, height)))
    per = ground.per_spacing
    return Surface(height, fma(twist, beyond_y, slope_x) * per, fma(twist, beyond_x, slope_y) * per)


@surface.of(BilinearField)
def _(ground, memory, x, y):
    column, u, beyond_x = _cell(ground.columns, (x - ground.origin_x) * ground.per_spacing)
    row, v, beyond_y = _cell(ground.rows, (y - ground.origin_y) * ground.per_spacing)
    a = take_many(ground.coefficients.array, 4.0 * fma(row, ground.columns, column), 4)
    steady, slope_y = _linear_and_slope(a[0], a[1], v)
    slope_x, twist = _linear_and_slope(a[2], a[3], v)
    return _continued(ground, fma(slope_x, u, steady), slope_x, fma(twist, u, slope_y), twist, beyond_x, beyond_y)


@surface.of(BicubicField)
def _(ground, memory, x, y):
    column, u, beyond_x = _cell(ground.columns, (x - ground.origin_x) * ground.per_spacing)
    row, v, beyond_y = _cell(ground.rows, (y - ground.origin_y) * ground.per_spacing)
    a = take_many(ground.coefficients.array, 16.0 * fma(row, ground.columns, column), 16)
    c0, d0 = _cubic_and_slope(a[0], a[1], a[2], a[3], v)
    c1, d1 = _cubic_and_slope(a[4], a[5], a[6], a[7], v)
    c2, d2 = _cubic_and_slope(a[8], a[9], a[10], a[11], v)
    c3, d3 = _cubic_and_slope(a[12], a[13], a[14], a[15], v)
    height, slope_x = _cubic_and_slope(c0, c1, c2, c3, u)
    slope_y, twist = _cubic_and_slope(d0, d1, d2, d3, u)
    return _continued(ground, height, slope_x, slope_y, twist, beyond_x, beyond_y)


def _gravity(ground):
    zero = alike(0.0, ground.gravity)
    return zero, zero, -ground.gravity


def _is_inside(ground, x, y):
    across = (x - ground.origin_x) * ground.per_spacing
    along = (y - ground.origin_y) * ground.per_spacing
    return (across >= 0.0) & (across <= ground.columns) & (along >= 0.0) & (along <= ground.rows)


for _field in (BilinearField, BicubicField):
    gravity_in_ground.of(_field)(_gravity)
    is_on_map.of(_field)(_is_inside)


@compiled
def _fill(ground, x, y, out):
    cells = raw(ground)
    for i in range(x.shape[0]):
        here = surface(cells, None, x[i], y[i])
        out[i, 0], out[i, 1], out[i, 2] = here.height, here.slope_x, here.slope_y
    keep_alive(ground)


def surface_at(ground, x_m, y_m):
    """Heights and slopes at many places, (..., 3): height (m), slope along x, slope along y (m/m)."""
    x, y = np.broadcast_arrays(np.asarray(x_m, dtype=float), np.asarray(y_m, dtype=float))
    out = np.empty((x.size, 3))
    numbers = type(ground)(*(float(n) for n in ground[:-1]), ground.coefficients)
    _fill(numbers, np.ascontiguousarray(x).ravel(), np.ascontiguousarray(y).ravel(), out)
    return out.reshape(*x.shape, 3)
