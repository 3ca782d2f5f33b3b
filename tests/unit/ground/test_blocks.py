"""Blocks with rounded edges: distances against a search over their outline."""

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.ground.blocks import Corner, blocks
from slipfit.ground.shape import block_count, clearance, disc_clearance, edge_count, edge_of
from slipfit.kernels.space import Vec3

CORNERS = {
    "curb": Corner(1.0, 0.1, radius_m=0.03),
    "sharp": Corner(1.0, 0.1),
    "ramp": Corner(1.0, 0.2, rise_rad=0.5, radius_m=0.05),
    "far side of a ditch": Corner(1.0, 0.0, rise_rad=0.0, onward_rad=-0.5 * np.pi, radius_m=0.02),
}


def outline(corner):
    """Points of a block's surface: two faces and the arc between them."""
    _, _, rise, onward, radius, _ = corner
    sharp = np.array([corner.xi_m, corner.z_m])
    n1, n2 = np.array([-np.sin(rise), np.cos(rise)]), np.array([-np.sin(onward), np.cos(onward)])
    cut = radius * np.tan(0.5 * (rise - onward))
    far = np.linspace(cut, 2.0, 20001)[:, None]
    first = sharp - far * [np.cos(rise), np.sin(rise)]
    second = sharp + far * [np.cos(onward), np.sin(onward)]
    centre = sharp - cut * np.array([np.cos(rise), np.sin(rise)]) - radius * n1
    turn = np.linspace(0.0, 1.0, 2001)[:, None] * (rise - onward)
    arc = centre + radius * np.column_stack([-np.sin(onward + turn[:, 0]), np.cos(onward + turn[:, 0])])
    assert arc[0] == pytest.approx(centre + radius * n2)
    return np.vstack([first, arc, second])


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("yaw", [0.0, 0.4])
def test_distance_is_that_to_the_nearest_point_of_the_outline(name, yaw):
    """Outside the block; the search's points lie 0.1 mm apart, so that it errs by less than a micrometre at these distances."""
    ground = _one(blocks([CORNERS[name]], 1, yaw_rad=yaw))
    points = outline(CORNERS[name])
    for xi, z in ((0.7, 0.05), (0.9, 0.3), (1.0, 0.25), (1.2, 0.4), (0.98, 0.14), (1.3, 0.22)):
        x, y = xi * np.cos(yaw) - 0.3 * np.sin(yaw), xi * np.sin(yaw) + 0.3 * np.cos(yaw)
        here = clearance(ground, None, 1, x, y, z)
        nearest = np.hypot(*(points - [xi, z]).T).min()
        if here.distance > 0.0:
            assert here.distance == pytest.approx(nearest, abs=2e-5)
        assert here.normal_x**2 + here.normal_y**2 + here.normal_z**2 == pytest.approx(1.0)


def _one(ground):
    """One run of a ground of one run: numbers, and tables without their first axis."""
    return type(ground)(*(np.asarray(leaf)[0] if np.ndim(leaf) == 2 else float(np.asarray(leaf)) for leaf in ground))


def test_the_base_is_block_zero():
    ground = _one(blocks([CORNERS["curb"]], 1, base_m=-0.2))
    assert (block_count(ground), edge_count(ground)) == (2, 1)
    assert clearance(ground, None, 0, 5.0, 1.0, 0.1).distance == pytest.approx(0.3)


def test_an_edge_is_felt_where_a_line_passes_it():
    """A line that rises by 30 degrees and passes the centre of the edge at 50 mm is 20 mm from an edge of 30 mm radius."""
    ground = _one(blocks([CORNERS["curb"]], 1))
    along, up = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)]), np.array([-np.sin(np.pi / 6), np.cos(np.pi / 6)])
    start = np.array([1.03, 0.07]) + 0.05 * up - 0.2 * along
    edge = edge_of(ground, 0, Vec3(start[0], 0.0, start[1]), Vec3(along[0], 0.0, along[1]), 0.5)
    assert (edge.distance, edge.offset) == (pytest.approx(0.02), pytest.approx(0.2))
    assert (edge.normal_x, edge.normal_z) == (pytest.approx(up[0]), pytest.approx(up[1]))


def test_a_line_that_leans_away_does_not_meet_the_edge():
    """Nose down, the line lies on the top face, not on the edge behind it."""
    ground = _one(blocks([CORNERS["curb"]], 1))
    assert edge_of(ground, 0, Vec3(0.9, 0.0, 0.2), Vec3(np.cos(0.2), 0.0, -np.sin(0.2)), 0.5).distance == 1.0


def test_a_line_along_an_upright_face_does_not_meet_its_edge():
    """2 degrees from parallel to the edge, 40 mm below it and 1 mm before the face: seen from above it crosses the edge within
    its length, but all that is behind the face is 0.2 m sin 2 degrees - 1 mm, 6 mm, not 40. 1 mm below the edge it meets it."""
    ground = _one(blocks([CORNERS["sharp"]], 1))
    tangent = Vec3(np.sin(np.radians(2.0)), np.cos(np.radians(2.0)), 0.0)
    assert edge_of(ground, 0, Vec3(0.999, 0.0, 0.06), tangent, 0.2).distance == 1.0
    assert edge_of(ground, 0, Vec3(0.999, 0.0, 0.099), tangent, 0.2).distance == pytest.approx(-0.001)


@pytest.mark.parametrize("name", CORNERS)
def test_a_disc_meets_a_block_along_the_normal_of_the_largest_gap(name):
    """Convex bodies: their distance is the largest gap over all normals, here those between the two faces', one by one. Discs of
    95 mm within 20 mm of the block, turned by up to 1.2 rad from square and leaning by up to 0.6 rad."""
    rng, corner, radius = np.random.default_rng(4), CORNERS[name], 0.095
    angles = np.linspace(0.5 * np.pi + corner.onward_rad, 0.5 * np.pi + corner.rise_rad, 4001)
    met = 0
    while met < 100:
        ground = _one(blocks([corner], 1, yaw_rad=rng.uniform(-1.2, 1.2)))
        lean, at = rng.uniform(-0.6, 0.6), rng.uniform(-0.14, 0.14, 3)
        axle = Vec3(0.0, np.cos(lean), np.sin(lean))
        place = Vec3(ground.along_x + at[0], ground.along_y + at[1], corner.z_m + at[2])
        centre = clearance(ground, None, 1, *place)
        d = np.array([ground.along_x * place.x + ground.along_y * place.y - ground.corner_xi[0], place.z - ground.corner_z[0]])
        normals = np.array([np.cos(angles) * ground.along_x, np.cos(angles) * ground.along_y, np.sin(angles)])
        gaps = np.cos(angles) * d[0] + np.sin(angles) * d[1] - corner.radius_m - radius * np.sqrt(1.0 - (axle @ normals) ** 2)
        if centre.distance < 0.5 * radius or abs(gaps.max()) > 0.02:
            continue
        met += 1
        found = disc_clearance(ground, 1, place, axle, radius, centre)
        across = 1.0 - (axle @ np.array(found[1:4])) ** 2
        assert found.distance - radius * np.sqrt(across) == pytest.approx(gaps.max(), abs=1e-7)


def test_a_corner_that_does_not_stand_out_is_refused():
    with pytest.raises(ParameterError, match="stand out"):
        blocks([Corner(1.0, 0.1, rise_rad=0.2, onward_rad=0.3)], 1)
