"""Terrains: closed forms, files that read back, holes, slopes and roughness."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from scipy import fft

from slipfit.errors import ParameterError
from slipfit.ground import BicubicField, BilinearField
from slipfit.library import Terrain, TerrainFile, find_terrain, terrain_names
from slipfit.library.terrain_shapes import Roughness

GRID = {"size_m": [8.0, 6.0], "spacing_m": 0.05}


def made(heights, **more):
    return TerrainFile.from_mapping({"schema": "slipfit/terrain/1", "heights": heights, **more}, where="test")


def generated(kind, **keys):
    return made(GRID | {"kind": kind} | keys).build(None)


def written(tmp_path, heights, **more):
    """The terrain of a file in tmp_path."""
    return made(heights, **more).build(tmp_path)


# --- generated ---------------------------------------------------------------------------------------------------------------


def test_a_plane_has_its_slope_everywhere_and_rises_uphill():
    """Closed form: 20 degrees, uphill to the north-east; 1 m along x or y rises by tan(20°) / sqrt 2."""
    plane = generated("plane", slope_rad=np.radians(20.0), uphill_rad=np.pi / 4)
    np.testing.assert_allclose(plane.slope_map_rad(), np.radians(20.0), atol=1e-12)
    assert plane.height_at(1.0, 0.0) == pytest.approx(np.tan(np.radians(20.0)) / np.sqrt(2.0), abs=1e-12)
    assert plane.height_at(0.0, 1.0) == pytest.approx(np.tan(np.radians(20.0)) / np.sqrt(2.0), abs=1e-12)
    assert np.nanmax(plane.roughness_map_m()) < 1e-7


def test_a_bump_has_its_height_length_and_steepest_slope():
    """Closed form h cos²(pi s / L): h at the middle, half of it a quarter length away, slope pi h / L there, nothing at L / 2.
    There the curvature jumps by 2 pi² h / L² = 3.7 per metre, over cells of 0.05 m: 3.7 x 0.05² / 8 = 1.2 mm at most. Slopes
    of fourth order err by (2 pi d / L)^4 / 30 = 1.3 %."""
    bump = generated("bump", height_m=0.03, length_m=0.4, at_m=[1.0, 0.0])
    assert bump.height_at(1.0, -2.0) == pytest.approx(0.03, abs=1e-9)
    assert bump.height_at([0.9, 1.1], 0.5) == pytest.approx([0.015, 0.015], abs=1e-9)
    assert bump.height_at([0.79, 1.21], 0.0) == pytest.approx([0.0, 0.0], abs=1.2e-3)
    assert bump.slope_map_rad().max() == pytest.approx(np.arctan(np.pi * 0.03 / 0.4), rel=0.014)


def test_a_bump_may_be_narrow_and_turned():
    """A bump 1 m long and 0.5 m wide heading north: 0.25 m to the east it ends, 0.25 m to the north it has half its height."""
    bump = generated("bump", height_m=0.2, length_m=1.0, width_m=0.5, heading_rad=np.pi / 2)
    assert bump.height_at([0.0, 0.0, 0.3], [0.0, 0.25, 0.0]) == pytest.approx([0.2, 0.1, 0.0], abs=1e-9)


def test_a_crater_has_floor_rim_wall_and_ejecta():
    """Closed form: floor at rim - depth, crest at the rim's radius, ejecta falling with the third power: 1/8 at twice the
    radius; wall slope just inside the crest as given; k = R tan(wall) / depth = 2.5 gives the bowl halfway."""
    crater = made({"kind": "crater", "size_m": [10.0, 10.0], "spacing_m": 0.02, "rim_radius_m": 2.0, "rim_height_m": 0.16,
                   "depth_m": 0.4, "wall_slope_rad": float(np.arctan(0.5))}).build(None)  # fmt: skip
    heights = crater.height_at([0.0, 1.0, 2.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0, -4.0])
    expected = [-0.24, 0.16 - 0.4 * (1.0 - 0.5**2.5), 0.16, 0.02, 0.02]
    assert heights == pytest.approx(expected, abs=2e-3)  # the crest is a kink, which the bicubic rounds
    assert heights[[0, 1, 3, 4]] == pytest.approx(np.array(expected)[[0, 1, 3, 4]], abs=1e-7)
    wall = (crater.height_at(1.92, 0.0) - crater.height_at(1.88, 0.0)) / 0.04
    assert wall == pytest.approx(0.5 * 0.95**1.5, rel=1e-3)  # slope of the power law at r = 0.95 R


def test_rounding_takes_its_height_off_the_crest_and_little_elsewhere():
    """Closed form: where both branches meet, the hyperbola lies `rim_rounding_m` below; far away by its square."""
    shape = {
        "size_m": [12.0, 12.0],
        "spacing_m": 0.05,
        "kind": "crater",
        "rim_radius_m": 3.0,
        "rim_height_m": 0.3,
        "depth_m": 0.6,
    }
    sharp, rounded = made(shape).build(None), made(shape | {"rim_rounding_m": 0.02}).build(None)
    lower = sharp.heights_m - rounded.heights_m
    assert lower.max() == pytest.approx(0.02, abs=1e-9)
    assert lower.min() >= 0.0
    assert lower[120, 120] < 1e-4
    assert np.unravel_index(lower.argmax(), lower.shape) in {(120, 60), (120, 180), (60, 120), (180, 120)}


def test_a_bowl_that_cannot_be_is_refused():
    """A bowl 1 m deep in 2 m of radius is a paraboloid at atan(1): no wall is gentler. One of 0.01 m reaches the power
    50 at atan(50 x 0.01 / 2)."""
    with pytest.raises(ParameterError, match=r"wall_slope_rad = 0.3 is too gentle .* expected at least 0.7854"):
        generated("crater", rim_radius_m=2.0, rim_height_m=0.2, depth_m=1.0, wall_slope_rad=0.3)
    with pytest.raises(ParameterError, match=r"too steep for a bowl 0.01 m deep in 2 m; expected at most 0.245"):
        generated("crater", rim_radius_m=2.0, rim_height_m=0.2, depth_m=0.01, wall_slope_rad=1.4)


def test_hills_have_their_rms_and_their_spectrum():
    """Definition: PSD ~ k^-(2 + 2 H) between the longest wave and the spacing, so its slope over a decade is -3.4 for H = 0.7."""
    spacing, n = 0.05, 512
    rough = Roughness(rms_m=0.02, hurst=0.7, longest_m=10.0, seed=4)
    heights = rough.heights(n, n, spacing)
    assert heights.std() == pytest.approx(0.02, rel=1e-12)
    window = np.hanning(n)[:, None] * np.hanning(n)
    power = np.abs(fft.fft2(heights * window)) ** 2
    k = 2 * np.pi * np.hypot(*np.meshgrid(fft.fftfreq(n, spacing), fft.fftfreq(n, spacing)))
    edges = np.geomspace(3.0, 30.0, 9)
    means = [power[(k >= low) & (k < high)].mean() for low, high in pairwise(edges)]
    slope = np.polyfit(np.log(np.sqrt(edges[1:] * edges[:-1])), np.log(means), 1)[0]
    assert slope == pytest.approx(-3.4, abs=0.15)  # 200 waves in the first ring: 7 % each, 0.05 in the slope


def test_the_same_seed_gives_the_same_ground_and_another_another():
    one, same, other = (Roughness(rms_m=1.0, seed=seed).heights(40, 30, 0.1) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.5


def test_generated_maps_have_their_middle_at_the_origin_unless_told():
    assert generated("plane").extent_m == pytest.approx((-4.0, 4.0, -3.0, 3.0))
    shifted = made(GRID | {"kind": "plane"}, origin_m=[10.0, 20.0]).build(None)
    assert shifted.extent_m == pytest.approx((10.0, 18.0, 20.0, 26.0))


# --- files ---------------------------------------------------------------------------------------------------------------------


def test_an_array_reads_back_with_its_rows_to_the_north(tmp_path):
    heights = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "h.npy", heights)
    terrain = written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5}, origin_m=[1.0, 2.0])
    assert np.array_equal(terrain.heights_m, heights)
    assert terrain.height_at(1.5, 3.0) == pytest.approx(9.0)  # row 2 at y = 3, column 1 at x = 1.5


@pytest.mark.parametrize(("kind", "brightest"), [(np.uint8, 255), (np.uint16, 65535)])
def test_a_grey_picture_is_read_from_black_to_white_with_north_on_top(tmp_path, kind, brightest):
    """Black is -1 m, white +3 m; the top row of the picture is the northern edge."""
    grey = np.zeros((4, 5), dtype=kind)
    grey[0] = brightest  # the top
    grey[3, 2] = brightest // 3
    Image.fromarray(grey).save(tmp_path / "h.png")
    terrain = written(tmp_path, {"kind": "picture", "file": "h.png", "spacing_m": 1.0, "height_range_m": [-1.0, 3.0]})
    assert terrain.heights_m[3] == pytest.approx([3.0] * 5)
    assert terrain.heights_m[0] == pytest.approx([-1.0, -1.0, -1.0 + 4.0 / 3.0, -1.0, -1.0])


def test_a_coloured_picture_is_refused(tmp_path):
    Image.fromarray(np.zeros((4, 5, 3), dtype=np.uint8)).save(tmp_path / "h.png")
    with pytest.raises(ParameterError, match="found a picture of mode RGB; expected grey with 8 or 16 bits"):
        written(tmp_path, {"kind": "picture", "file": "h.png", "spacing_m": 1.0, "height_range_m": [0.0, 1.0]})


def geotiff(path, heights, crs="EPSG:32633", pixel=(2.0, -2.0), **more):
    rasterio = pytest.importorskip("rasterio")
    grid = rasterio.Affine(pixel[0], 0.0, 500_000.0, 0.0, pixel[1], 5_400_000.0)
    rows, columns = heights.shape
    keys = {"driver": "GTiff", "height": rows, "width": columns, "count": 1, "dtype": heights.dtype, "transform": grid, **more}
    with rasterio.open(path, "w", crs=crs, **keys) as target:
        target.write(heights, 1)


def test_a_geotiff_reads_back_with_its_spacing_place_and_rows(tmp_path):
    """Its first row is the northern edge; ours is the middle of the south-western pixel, 1 m from the edges."""
    heights = np.random.default_rng(1).normal(100.0, 5.0, (6, 7)).astype(np.float32)
    geotiff(tmp_path / "Dem 1.tif", heights)
    terrain = find_terrain(tmp_path / "Dem 1.tif")
    assert (terrain.name, terrain.spacing_m) == ("dem_1", 2.0)
    assert np.array_equal(terrain.heights_m, heights[::-1].astype(float))
    assert "EPSG:32633, first height at 500001.00 m east, 5399989.00 m north" in terrain.made_from


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"crs": "EPSG:4326"}, r"its grid is in degrees \(EPSG:4326\); expected a projection in metres, project it first"),
        ({"crs": "EPSG:2263"}, "its grid is in US survey foot; expected metres"),
        ({"crs": None}, "says nothing about its coordinates"),
        ({"pixel": (2.0, -3.0)}, "its pixels are 2 x 3 m; expected squares"),
        ({"pixel": (2.0, 2.0)}, "not north up"),
    ],
)
def test_a_geotiff_whose_grid_is_not_square_metres_is_refused(tmp_path, keys, sentence):
    geotiff(tmp_path / "d.tif", np.zeros((4, 4), dtype=np.float32), **keys)
    with pytest.raises(ParameterError, match=sentence):
        find_terrain(tmp_path / "d.tif")


def test_nodata_of_a_geotiff_is_a_hole(tmp_path):
    heights = np.full((5, 5), 7.0, dtype=np.float32)
    heights[1, 2] = -9999.0
    geotiff(tmp_path / "d.tif", heights, nodata=-9999.0)
    with pytest.raises(
        ParameterError, match=r"1 of 25 heights are missing, the first at x = 4 m, y = 6 m \(row 3 from the south"
    ):
        find_terrain(tmp_path / "d.tif")
    mended = written(tmp_path, {"kind": "geotiff", "file": "d.tif"}, fill_holes=True)
    assert np.array_equal(mended.heights_m, np.full((5, 5), 7.0))
    assert mended.holes_filled == 1


def test_heights_that_are_no_array_are_refused(tmp_path):
    (tmp_path / "h.npy").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(ParameterError, match=r"is no .npy file; from text, np.save"):
        written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5})
    np.save(tmp_path / "h.npy", np.zeros((5, 5, 5)))
    with pytest.raises(ParameterError, match=r"\(5, 5, 5\); expected two dimensions"):
        written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5})


def holed(tmp_path, **more):
    """A tilted plane with a hole inside and one at the edge."""
    y, x = np.mgrid[0:9, 0:11].astype(float)
    heights = 0.3 * x - 0.2 * y
    heights[3:5, 4:7] = np.nan
    heights[8, 10] = np.nan
    np.save(tmp_path / "h.npy", heights)
    return written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5}, **more)


def test_holes_are_refused_with_their_number_and_place(tmp_path):
    sentence = r"7 of 99 heights are missing, the first at x = 2 m, y = 1.5 m .* fill_holes: true"
    with pytest.raises(ParameterError, match=sentence):
        holed(tmp_path)


def test_filled_holes_continue_a_plane_exactly_inside_and_nearly_at_the_edge(tmp_path):
    """Linear interpolation reproduces planes; at the edge the nearest height stands in, one step of 0.3 or 0.2 m away."""
    terrain = holed(tmp_path, fill_holes=True)
    y, x = np.mgrid[0:9, 0:11]
    error = np.abs(terrain.heights_m - (0.3 * x - 0.2 * y))
    assert error[:8].max() < 1e-12
    assert error.max() < 0.51
    assert terrain.holes_filled == 7


def test_a_map_that_is_mostly_holes_is_not_filled(tmp_path):
    heights = np.full((6, 6), np.nan)
    heights[0] = 1.0
    np.save(tmp_path / "h.npy", heights)
    with pytest.raises(ParameterError, match=r"30 of 36 heights are missing.* expected at most 50%"):
        written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5}, fill_holes=True)


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.write_bytes(b"not an array"), r"is no .npy file"),
        (lambda path: np.save(path, np.zeros((2, 9))), r"shape \(2, 9\); expected at least 3 rows and 3 columns"),
        (
            lambda path: np.save(path, np.zeros((4, 4), dtype=complex)),
            "numbers of type complex128; expected one array of heights",
        ),
        (lambda path: np.save(path, np.array([["a", "b"]])), "numbers of type <U1"),
    ],
)
def test_files_without_heights_are_refused(tmp_path, write, sentence):
    write(tmp_path / "h.npy")
    with pytest.raises(ParameterError, match=sentence):
        written(tmp_path, {"kind": "array", "file": "h.npy", "spacing_m": 0.5})


@pytest.mark.parametrize(
    ("heights", "sentence"),
    [
        ({"kind": "crator"}, "'kind' is 'crator'; expected one of 'plane', 'bump'"),
        ({"kind": "plane", "size_m": [1.0, 1.0], "spacing_m": 0.9}, "has 2 x 2 heights; expected at least 3 x 3"),
        ({"kind": "plane", "size_m": [1e4, 1e4], "spacing_m": 0.5}, "expected at most 25,000,000"),
        ({"kind": "plane", "size_m": [1.0, 1.0], "spacing_m": 0.0}, "heights.spacing_m: found 0.0"),
        (GRID | {"kind": "hills"}, "'heights.roughness' is missing"),
        (GRID | {"kind": "bump", "height_m": "high", "length_m": 1.0}, "height_m is 'high'; expected a number"),
    ],
)
def test_descriptions_that_cannot_be_are_refused(heights, sentence):
    with pytest.raises(ParameterError, match=sentence):
        made(heights)


# --- what is said about a terrain --------------------------------------------------------------------------------------------


def test_roughness_is_what_is_left_of_a_plane_fitted_in_each_window():
    """Source: numpy.linalg.lstsq in three windows."""
    terrain = generated("plane", slope_rad=0.3, roughness={"rms_m": 0.01, "seed": 5})
    rough = terrain.roughness_map_m(0.3)
    y, x = np.mgrid[-3:4, -3:4]
    design = np.column_stack([np.ones(49), x.ravel(), y.ravel()])
    for row, column in ((3, 3), (60, 80), (117, 157)):
        h = terrain.heights_m[row - 3 : row + 4, column - 3 : column + 4].ravel()
        left = h - design @ np.linalg.lstsq(design, h, rcond=None)[0]
        assert rough[row, column] == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-6)
    assert np.isnan(rough[:3]).all()
    assert np.isnan(rough[:, -3:]).all()
    assert np.isfinite(rough[3:-3, 3:-3]).all()


def test_the_model_is_the_one_asked_for():
    terrain = generated("plane")
    assert isinstance(terrain.model(), BicubicField)
    assert isinstance(terrain.model(3.71, "bilinear"), BilinearField)
    assert terrain.model(3.71).gravity == 3.71


def test_places_off_the_map_are_told():
    terrain = generated("plane")
    assert terrain.covers([0.0, 4.0, 4.1, 0.0], [0.0, 3.0, 0.0, -3.01]).tolist() == [True, True, False, False]


def test_a_saved_terrain_reads_back_equal(tmp_path):
    terrain = find_terrain("bump_3cm")
    terrain.save(tmp_path / "again.yaml")
    again = find_terrain(tmp_path / "again.yaml")
    assert np.array_equal(again.heights_m, terrain.heights_m)
    assert (again.name, again.origin_m, again.spacing_m) == (terrain.name, terrain.origin_m, terrain.spacing_m)
    with pytest.raises(ParameterError, match="exists already"):
        terrain.save(tmp_path / "again.yaml")


def test_a_terrain_with_holes_cannot_be_made():
    with pytest.raises(ParameterError, match="1 of 9 heights are missing, the first in row 1, column 2"):
        Terrain("t", np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.nan], [0.0, 0.0, 0.0]]), 1.0, (0.0, 0.0))


# --- the library ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", terrain_names())
def test_every_terrain_of_the_library_is_found_and_described(name):
    terrain = find_terrain(name)
    assert terrain.name == name
    assert terrain.about
    assert "slope" in terrain.summary()


def test_the_crater_can_be_driven_and_is_as_its_description_says():
    """16 m across for 40 s at 0.3 m/s with room to spare; flanks of 20 degrees before roughness; a rim of about 0.37 m."""
    crater = find_terrain("crater_rim")
    x_from, x_to, _, _ = crater.extent_m
    assert x_to - x_from == pytest.approx(16.0)
    assert np.degrees(np.quantile(crater.slope_map_rad(), 0.95)) < 20.0
    ring = 4.0 * np.exp(2j * np.pi * np.arange(360) / 360)
    assert crater.height_at(ring.real, ring.imag).mean() == pytest.approx(0.37, abs=0.005)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ParameterError, match="there is no terrain 'crater-rim' in the library; did you mean 'crater_rim'"):
        find_terrain("crater-rim")


@pytest.mark.parametrize(("name", "kind"), [("map.png", "picture"), ("map.npy", "array")])
def test_files_without_a_spacing_are_answered_with_what_to_write(name, kind):
    with pytest.raises(ParameterError, match=rf"does not say how far apart .*kind: {kind}, file: {name}, spacing_m"):
        find_terrain(name)


def test_the_sharpest_bend_of_a_sine():
    """h = a sin(k x): curvature a k^2 at its crests, where it is level."""
    x = 0.01 * np.arange(400)
    wavy = Terrain("wavy", np.tile(0.02 * np.sin(2.0 * np.pi * x), (5, 1)), 0.01, (0.0, 0.0))
    radius, (place, _) = wavy.sharpest_bend()
    assert radius == pytest.approx(1.0 / (0.02 * (2.0 * np.pi) ** 2), rel=1e-2)
    assert abs(np.sin(2.0 * np.pi * place)) == pytest.approx(1.0, abs=1e-2)
    assert Terrain("flat", np.zeros((4, 4)), 0.1, (0.0, 0.0)).sharpest_bend()[0] == np.inf
