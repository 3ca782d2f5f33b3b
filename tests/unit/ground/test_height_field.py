"""Height fields: planes and polynomials exactly, slopes that are derivatives, the same bits alone and in lanes."""

import numpy as np
import pytest
from numba import njit

from slipfit.errors import ParameterError
from slipfit.ground import gravity_in_ground, height_field, is_on_map, surface, surface_at
from slipfit.kernels import Eight, as_batch, at, folded, keep_alive, put, raw, wide
from slipfit.kernels.compile import OPTIONS

BOTH = pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
ORIGIN, SPACING, SHAPE = (-1.5, 40.0), 0.125, (17, 26)  # rows, columns


def grid(shape=SHAPE, spacing=SPACING, origin=ORIGIN):
    return np.meshgrid(origin[0] + spacing * np.arange(shape[1]), origin[1] + spacing * np.arange(shape[0]))


def field_of(function, interpolation, shape=SHAPE, spacing=SPACING, origin=ORIGIN):
    return height_field(function(*grid(shape, spacing, origin)), spacing, origin, interpolation=interpolation)


def rough_field(interpolation):
    return height_field(np.random.default_rng(2).normal(size=SHAPE), SPACING, ORIGIN, interpolation=interpolation)


def places(count, beyond_m=0.0, seed=1):
    """Anywhere on the map, and up to `beyond_m` outside."""
    draw, (rows, columns) = np.random.default_rng(seed).uniform, SHAPE
    x = draw(ORIGIN[0] - beyond_m, ORIGIN[0] + SPACING * (columns - 1) + beyond_m, count)
    return x, draw(ORIGIN[1] - beyond_m, ORIGIN[1] + SPACING * (rows - 1) + beyond_m, count)


@BOTH
def test_a_plane_is_a_plane_everywhere(interpolation):
    """Closed form: h = 0.3 + 0.7 x - 0.4 y, on the map and two metres beyond. Heights of 16 m carry 2e-15 of rounding, which the
    spacing turns into slopes of 3e-14."""
    field = field_of(lambda x, y: 0.3 + 0.7 * x - 0.4 * y, interpolation)
    x, y = places(2000, beyond_m=2.0)
    got = surface_at(field, x, y)
    np.testing.assert_allclose(got[:, 0], 0.3 + 0.7 * x - 0.4 * y, atol=1e-12)
    np.testing.assert_allclose(got[:, 1:], np.tile([0.7, -0.4], (2000, 1)), atol=1e-12)


@BOTH
def test_the_given_heights_stand_where_they_were_given(interpolation):
    """Row r, column c at x0 + c d, y0 + r d: the convention itself."""
    field, (x, y) = rough_field(interpolation), grid()
    expected = np.random.default_rng(2).normal(size=SHAPE)
    np.testing.assert_allclose(surface_at(field, x, y)[..., 0], expected, atol=1e-13)


def test_bilinear_by_hand():
    """One cell with corners 0, 1 (east), 2 (north) and 5 on 2 m: in the middle the mean, 2, and mean slopes 2/2 and 3/2."""
    field = height_field(np.array([[0.0, 1.0], [2.0, 5.0]]), 2.0, (0.0, 0.0), interpolation="bilinear")
    np.testing.assert_allclose(surface_at(field, 1.0, 1.0), [2.0, 1.0, 1.5], atol=1e-15)
    np.testing.assert_allclose(surface_at(field, 2.0, 0.5), [2.0, 1.0 / 2 * 1.5, 2.0], atol=1e-15)


def test_bicubic_reproduces_polynomials_to_the_third_degree():
    """Closed form: Hermite's cubic is exact for cubics if its slopes are, and fourth-order differences are, two cells from
    the edges where rows are continued straight."""
    draw = np.random.default_rng(4)
    c = draw.normal(size=(4, 4))
    polynomial, origin = np.polynomial.polynomial, (-0.7, -1.1)
    field = field_of(lambda x, y: polynomial.polyval2d(x, y, c), "bicubic", origin=origin)
    x = draw.uniform(origin[0] + 2 * SPACING, origin[0] + 23 * SPACING, 500)
    y = draw.uniform(origin[1] + 2 * SPACING, origin[1] + 14 * SPACING, 500)
    got = surface_at(field, x, y)
    np.testing.assert_allclose(got[:, 0], polynomial.polyval2d(x, y, c), atol=1e-11)
    np.testing.assert_allclose(got[:, 1], polynomial.polyval2d(x, y, polynomial.polyder(c, axis=0)), atol=1e-10)
    np.testing.assert_allclose(got[:, 2], polynomial.polyval2d(x, y, polynomial.polyder(c, axis=1)), atol=1e-10)


@BOTH
def test_slopes_are_the_derivatives_of_heights(interpolation):
    """Central differences over 2e-5 m err by their square times third derivatives, 1e-6 at most here; also beyond the edge.
    Places within a step of a border between cells are left out: there a bilinear slope jumps."""
    field, step = rough_field(interpolation), 1e-5
    x, y = places(3000, beyond_m=0.5)
    in_cell = [np.abs((p - o) / SPACING - np.round((p - o) / SPACING)) > 1e-3 for p, o in zip((x, y), ORIGIN, strict=True)]
    x, y = x[in_cell[0] & in_cell[1]], y[in_cell[0] & in_cell[1]]
    got = surface_at(field, x, y)
    along_x = (surface_at(field, x + step, y) - surface_at(field, x - step, y))[:, 0] / (2 * step)
    along_y = (surface_at(field, x, y + step) - surface_at(field, x, y - step))[:, 0] / (2 * step)
    np.testing.assert_allclose(got[:, 1], along_x, atol=5e-6)
    np.testing.assert_allclose(got[:, 2], along_y, atol=5e-6)


def test_bicubic_slopes_are_continuous_from_cell_to_cell_and_over_the_edge():
    """C1: just left and right of every border the slopes differ by a curvature (below 1e4 per metre here) times 2e-10 m."""
    field, gap = rough_field("bicubic"), 1e-10
    rows, columns = SHAPE
    along = np.random.default_rng(3).uniform(-0.3, 2.0, 50)
    for column in range(columns):
        x = ORIGIN[0] + column * SPACING
        np.testing.assert_allclose(
            surface_at(field, x - gap, ORIGIN[1] + along), surface_at(field, x + gap, ORIGIN[1] + along), atol=1e-5
        )
    for row in range(rows):
        y = ORIGIN[1] + row * SPACING
        np.testing.assert_allclose(
            surface_at(field, ORIGIN[0] + along, y - gap), surface_at(field, ORIGIN[0] + along, y + gap), atol=1e-5
        )


@pytest.mark.parametrize(("interpolation", "order"), [("bilinear", 2), ("bicubic", 4)])
def test_the_error_falls_with_the_square_or_the_fourth_power_of_the_spacing(interpolation, order):
    """Closed form h = sin(x) cos(y): half the spacing, 2^order less error, one order less in the slopes. Away from the edges."""
    x, y = (np.random.default_rng(k).uniform(1.0, 3.0, 4000) for k in (5, 6))
    errors = []
    for spacing in (0.1, 0.05):
        shape = (round(4.0 / spacing) + 1,) * 2
        field = field_of(lambda x, y: np.sin(x) * np.cos(y), interpolation, shape, spacing, (0.0, 0.0))
        true = np.stack([np.sin(x) * np.cos(y), np.cos(x) * np.cos(y), -np.sin(x) * np.sin(y)], axis=1)
        errors.append(np.abs(surface_at(field, x, y) - true).max(axis=0))
    height, *slopes = np.log2(errors[0] / errors[1])
    assert height == pytest.approx(order, abs=0.15)
    assert slopes == pytest.approx([order - 1] * 2, abs=0.15)


def _one_by_one(ground, x, y, out):
    for i in range(x.shape[0]):
        here = surface(raw(at(ground, i)), None, x[i], y[i])
        out[i, 0], out[i, 1], out[i, 2] = here.height, here.slope_x, here.slope_y
        out[i, 3] = 1.0 if is_on_map(raw(at(ground, i)), x[i], y[i]) else 0.0
    keep_alive(ground)


def _in_lanes(ground, x, y, out):
    for i in range(0, x.shape[0], 8):
        here = surface(raw(at(ground, Eight(i))), None, at(x, Eight(i)), at(y, Eight(i)))
        put(out[:, 0], Eight(i), here.height)
        put(out[:, 1], Eight(i), here.slope_x)
        put(out[:, 2], Eight(i), here.slope_y)
    keep_alive(ground)


def _in_packs(ground, x, y, out):
    """Four wheels of one run and two of eight; all wheels at the same place, so the fold is four and two times one answer."""
    for i in range(x.shape[0]):
        here = surface(wide(raw(at(ground, i))), None, wide(x[i]), wide(y[i]))
        out[i, 0] = folded(here.height)
    for i in range(0, x.shape[0], 8):
        here = surface(wide(raw(at(ground, Eight(i)))), None, wide(at(x, Eight(i))), wide(at(y, Eight(i))))
        put(out[:, 1], Eight(i), folded(here.height))
    keep_alive(ground)


@BOTH
def test_lanes_and_packs_have_the_bits_of_single_runs(interpolation):
    """`fma` throughout: equal to the last bit, also off the map; a NaN stays in its lane."""
    x, y = places(80, beyond_m=1.0)
    x[13], y[29] = np.nan, np.nan
    runs = as_batch(rough_field(interpolation), len(x))
    alone, lanes, packs = (np.empty((len(x), 4)) for _ in range(3))
    njit(**OPTIONS)(_one_by_one)(runs, x, y, alone)
    njit(**OPTIONS)(_in_lanes)(runs, x, y, lanes)
    njit(**OPTIONS)(_in_packs)(runs, x, y, packs)
    assert np.array_equal(alone[:, :3], lanes[:, :3], equal_nan=True)
    assert np.array_equal(packs[:, 0], 4.0 * alone[:, 0], equal_nan=True)
    assert np.array_equal(packs[:, 1], 2.0 * alone[:, 0], equal_nan=True)
    assert np.flatnonzero(np.isnan(alone[:, 0])).tolist() == [13, 29]
    inside = (x >= -1.5) & (x <= -1.5 + 25 * SPACING) & (y >= 40.0) & (y <= 40.0 + 16 * SPACING)
    assert np.array_equal(alone[:, 3] == 1.0, inside)


@BOTH
def test_plain_python_gives_the_same_but_for_rounding(interpolation):
    field = rough_field(interpolation)
    for x, y in zip(*places(50, beyond_m=0.4), strict=True):
        np.testing.assert_allclose(surface(field, None, x, y), surface_at(field, x, y), rtol=1e-10, atol=1e-12)


@BOTH
def test_gravity_points_down_and_is_the_grounds_own(interpolation):
    field = height_field(np.zeros((3, 3)), 1.0, gravity_mps2=3.71, interpolation=interpolation)
    assert gravity_in_ground(field) == (0.0, 0.0, -3.71)


def test_runs_of_a_batch_share_the_heights_and_may_shift_them():
    """Two runs on one map whose origin differs by a spacing: the same height, one spacing further east."""
    field = height_field(np.arange(25.0).reshape(5, 5), 1.0, (np.array([0.0, 1.0]), 0.0))
    runs = as_batch(field, 2)
    assert runs.coefficients.array is field.coefficients.array
    assert surface(at(runs, 0), None, 1.3, 2.0).height == pytest.approx(surface(at(runs, 1), None, 2.3, 2.0).height, abs=1e-14)


@pytest.mark.parametrize(
    ("heights", "spacing", "kind", "sentence"),
    [
        (np.zeros((1, 5)), 1.0, "bicubic", r"shape \(1, 5\); expected at least 2 rows"),
        (np.zeros(5), 1.0, "bicubic", "expected at least 2 rows"),
        (np.full((3, 3), np.nan), 1.0, "bicubic", "9 heights are missing"),
        (np.zeros((3, 3)), 0.0, "bicubic", "spacing of heights is 0 m; expected more than 0"),
        (np.zeros((3, 3)), 1.0, "cubic", "interpolation is 'cubic'; expected one of bicubic, bilinear"),
    ],
)
def test_what_is_no_height_field_is_refused(heights, spacing, kind, sentence):
    with pytest.raises(ParameterError, match=sentence):
        height_field(heights, spacing, interpolation=kind)
