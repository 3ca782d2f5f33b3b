"""What the picture of a terrain shows: the maps themselves, in place and in the units of their titles."""

import numpy as np
import pytest

from slipfit.library import Terrain
from slipfit.report.terrain_figure import MOST_DRAWN, draw_terrain


@pytest.fixture(scope="module")
def slope():
    """A plane of 10 degrees that rises to the east, 2 m x 1 m."""
    x = 0.1 * np.arange(21)
    return Terrain("slope", np.tile(np.tan(np.radians(10.0)) * x, (11, 1)), 0.1, (5.0, -1.0), "rises to the east")


def test_three_maps_lie_over_the_same_ground(slope):
    height, steepness, rough = draw_terrain(slope, 0.4).axes[:3]
    assert [axes.get_title("left") for axes in (height, steepness, rough)] == [
        "height [m]", "slope [°]", "roughness [mm rms about planes of 0.4 m]",
    ]  # fmt: skip
    for axes in (height, steepness, rough):
        assert axes.get_xlabel() == "x, east [m]"
        assert (*axes.get_xlim(), *axes.get_ylim()) == pytest.approx((5.0, 7.0, -1.0, 0.0))
        assert axes.images[0].get_extent() == pytest.approx([4.95, 7.05, -1.05, 0.05])  # heights stand in their pixels' middle
        assert axes.images[0].origin == "lower"  # the first row is the southern edge


def test_the_maps_are_those_of_the_terrain(slope):
    """Closed form: 10 degrees everywhere, nothing rough; heights as given."""
    height, steepness, rough = draw_terrain(slope, 0.4).axes[:3]
    assert np.array_equal(height.images[0].get_array(), slope.heights_m)
    assert np.asarray(steepness.images[0].get_array()) == pytest.approx(np.full((11, 21), 10.0))
    assert np.nanmax(rough.images[0].get_array()) < 1e-3


def test_level_ground_has_no_contours_and_is_drawn():
    figure = draw_terrain(Terrain("level", np.zeros((5, 5)), 1.0, (0.0, 0.0)))
    assert figure.get_suptitle() == "level"
    assert len(figure.axes[0].collections) == 0


def test_a_large_map_is_drawn_from_fewer_heights():
    figure = draw_terrain(Terrain("large", np.zeros((20, 2 * MOST_DRAWN + 1)), 1.0, (0.0, 0.0)))
    assert figure.axes[0].images[0].get_array().shape[1] <= MOST_DRAWN
