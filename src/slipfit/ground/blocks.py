"""Level ground with obstacles: curbs, stairs, ramps and ditches, each a rounded block whose sides may stand upright.

A block is what lies within rho of a convex wedge with its corner at c, seen along one direction (level, turned by `yaw`); across
it, the block goes on for ever. With d = p - c, unit normals n1, n2 of its two faces and unit vectors t1, t2 along them away from
the corner,

    distance = |d| - rho          where d . t1 <= 0 and d . t2 <= 0 (before the edge)
             = max(d . n1, d . n2) - rho    elsewhere (before a face, or inside)

exactly, outside the block. The ground is the union of its blocks and of the half-space below `base`.

Symbols    p place in the profile (xi along the direction, z up) · rho radius of the edge (m)
Reference  derived in docs/theory/tracked, eq. (block)
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from slipfit.errors import ParameterError
from slipfit.ground.shape import (
    Clearance,
    Edge,
    Surface,
    along_profile,
    block_count,
    clearance,
    disc_clearance,
    edge_count,
    edge_of,
    gravity_in_ground,
    soil_depth,
    surface,
)
from slipfit.kernels import alike, part, where

#: Where no obstacle is, a block lies this far below, m; a base that soil takes the place of likewise.
FAR_BELOW_M = -1e3

#: Keeps directions finite at a corner, m.
_NOTHING = 1e-12

#: How often the normal of a disc at an edge is turned, and by how much at most, rad: by Newton, so that four turns leave 1e-7 m
#: of the gap within 20 mm of touching, up to 1.2 rad from square (a test).
_TURNS, _MOST_TURN = 4, 0.5

#: Least curvature, over the radius, that a normal is turned by: a disc that stands along an edge has none.
_LEAST_CURVED = 0.05


class Blocks(NamedTuple):
    """Tables have one entry per block."""

    gravity: float  # m/s^2
    along_x: float  # unit vector of the profile's direction
    along_y: float
    base: float  # m, height of the hard ground
    soil: float  # m, height of the soil's surface
    soil_to: float  # m, soil lies before this place along the profile
    goal: float  # m, place along the profile that the whole robot is to pass
    corner_xi: Any  # m
    corner_z: Any
    radius: Any  # m
    n1_xi: Any
    n1_z: Any
    n2_xi: Any
    n2_z: Any
    grip: Any  # friction of the block over that of the ground


@gravity_in_ground.of(Blocks)
def _(ground):
    zero = alike(0.0, ground.gravity)
    return zero, zero, -ground.gravity


@block_count.of(Blocks)
def _(ground):
    return 1 + len(ground.corner_xi)


@edge_count.of(Blocks)
def _(ground):
    return len(ground.corner_xi)


@along_profile.of(Blocks)
@part
def along(ground, x, y):
    return ground.along_x * x + ground.along_y * y


@part
def _before_edge(ground, b, d_xi, d_z):
    """Whether a direction from the corner points between the two faces' normals."""
    # t1 and t2 are n1 and n2 turned by a quarter, away from each other: n1 faces the comer, n2 lies clockwise of it.
    first = d_z * ground.n1_xi[b] - d_xi * ground.n1_z[b]
    second = d_xi * ground.n2_z[b] - d_z * ground.n2_xi[b]
    return (first <= 0.0) & (second <= 0.0)


@clearance.of(Blocks)
def _(ground, memory, b, x, y, z):
    zero, one = alike(0.0, z), alike(1.0, z)
    if b == 0:
        return Clearance(z - ground.base, zero, zero, one, one)
    k = b - 1
    d_xi, d_z = along(ground, x, y) - ground.corner_xi[k], z - ground.corner_z[k]
    first = d_xi * ground.n1_xi[k] + d_z * ground.n1_z[k]
    second = d_xi * ground.n2_xi[k] + d_z * ground.n2_z[k]
    at_edge = _before_edge(ground, k, d_xi, d_z)
    far = sqrt(d_xi * d_xi + d_z * d_z)
    per = 1.0 / max(far, _NOTHING)
    is_first = first > second
    n_xi = where(at_edge, d_xi * per, where(is_first, ground.n1_xi[k], ground.n2_xi[k]))
    n_z = where(at_edge, d_z * per, where(is_first, ground.n1_z[k], ground.n2_z[k]))
    distance = where(at_edge, far, max(first, second)) - ground.radius[k]
    return Clearance(distance, n_xi * ground.along_x, n_xi * ground.along_y, n_z, ground.grip[k] + zero)


@disc_clearance.of(Blocks)
def _(ground, b, place, axle, radius, here):
    """Of all normals n of the block at its corner, the one with the largest gap n . d - R |n across the axle|, by Newton
    (docs/theory/tracked, eq. (gap))."""
    if b == 0:
        return here
    k = b - 1
    d_xi, d_z = along(ground, place.x, place.y) - ground.corner_xi[k], place.z - ground.corner_z[k]
    a_xi, a_z = along(ground, axle.x, axle.y), axle.z
    n_xi, n_z = along(ground, here.normal_x, here.normal_y), here.normal_z
    for _ in range(_TURNS):
        on, off = n_xi * a_xi + n_z * a_z, n_xi * a_z - n_z * a_xi
        per = 1.0 / sqrt(max(1.0 - on * on, _NOTHING))
        slope = n_xi * d_z - n_z * d_xi + radius * on * off * per
        curve = n_xi * d_xi + n_z * d_z - radius * per * (off * off - on * on + on * on * off * off * per * per)
        turn = max(-_MOST_TURN, min(_MOST_TURN, slope / max(curve, _LEAST_CURVED * radius + _NOTHING)))
        t_xi, t_z = n_xi - turn * n_z, n_z + turn * n_xi
        size = 1.0 / sqrt(1.0 + turn * turn)
        before, behind = t_z * ground.n1_xi[k] - t_xi * ground.n1_z[k] > 0.0, t_xi * ground.n2_z[k] - t_z * ground.n2_xi[k] > 0.0
        n_xi = where(before, ground.n1_xi[k], where(behind, ground.n2_xi[k], t_xi * size))
        n_z = where(before, ground.n1_z[k], where(behind, ground.n2_z[k], t_z * size))
    distance = n_xi * d_xi + n_z * d_z - ground.radius[k]
    return Clearance(distance, n_xi * ground.along_x, n_xi * ground.along_y, n_z, here.grip)


@edge_of.of(Blocks)
def _(ground, b, place, tangent, length):
    t_xi, t_z = along(ground, tangent.x, tangent.y), tangent.z
    per = 1.0 / max(t_xi * t_xi + t_z * t_z, _NOTHING)
    d_xi, d_z = along(ground, place.x, place.y) - ground.corner_xi[b], place.z - ground.corner_z[b]
    unit = sqrt(per)
    up_xi, up_z = -t_z * unit, t_xi * unit
    gap = d_xi * up_xi + d_z * up_z
    # A line that is less deep in one of the faces stands before that face: beside an upright one, along its edge.
    first = d_xi * ground.n1_xi[b] + d_z * ground.n1_z[b] + min(0.0, length * (t_xi * ground.n1_xi[b] + t_z * ground.n1_z[b]))
    second = d_xi * ground.n2_xi[b] + d_z * ground.n2_z[b] + min(0.0, length * (t_xi * ground.n2_xi[b] + t_z * ground.n2_z[b]))
    meets = _before_edge(ground, b, up_xi, up_z) & (gap >= max(first, second))
    distance = where(meets, gap - ground.radius[b], alike(1.0, d_z))
    return Edge(
        distance, -(d_xi * t_xi + d_z * t_z) * per, up_xi * ground.along_x, up_xi * ground.along_y, up_z,
        ground.grip[b] + alike(0.0, d_z),
    )  # fmt: skip


@soil_depth.of(Blocks)
def _(ground, memory, x, y, z):
    return where(along(ground, x, y) < ground.soil_to, ground.soil - z, alike(-1.0, z))


@surface.of(Blocks)
def _(ground, memory, x, y):
    zero = alike(0.0, x)
    return Surface(max(ground.base, ground.soil) + zero, zero, zero)


# --- shapes ------------------------------------------------------------------------------------------------------------------


class Corner(NamedTuple):
    """One block of a profile: the sharp corner's place, the directions its faces come from and go to, and its edge's radius.

    Angles are those of the faces against the level, rad: `rise` of the face that a comer meets (pi/2: upright), `onward` of the
    face behind the corner (0: level; negative: down again).
    """

    xi_m: Any
    z_m: Any
    rise_rad: Any = 0.5 * np.pi
    onward_rad: Any = 0.0
    radius_m: Any = 0.0
    grip: Any = 1.0


def blocks(corners, n, *, gravity_mps2=9.81, yaw_rad=0.0, base_m=0.0, soil_m=FAR_BELOW_M, soil_to_m=FAR_BELOW_M, goal_m=0.0):
    """A ground of n runs from its corners; every number may be an array with one entry per run."""
    columns: dict[str, list[np.ndarray]] = {name: [] for name in Blocks._fields[7:]}
    for corner in corners:
        xi, z, rise, onward, radius, grip = (np.broadcast_to(np.asarray(v, dtype=float), n) for v in corner)
        if (rise - onward < 1e-6).any():
            raise ParameterError("a block's corner must stand out: its face has to rise more steeply than it goes on")
        n1_xi, n1_z = -np.sin(rise), np.cos(rise)
        n2_xi, n2_z = -np.sin(onward), np.cos(onward)
        # The centre of the edge lies rho behind both faces.
        half, middle = 0.5 * (rise - onward), 0.5 * (rise + onward)
        inward = radius / np.cos(half)
        rows = (xi + inward * np.sin(middle), z - inward * np.cos(middle), radius, n1_xi, n1_z, n2_xi, n2_z, grip)
        for name, row in zip(columns, rows, strict=True):
            columns[name].append(row)
    if not corners:  # compiled code wants a table of at least one
        return blocks([Corner(0.0, FAR_BELOW_M)], n, gravity_mps2=gravity_mps2, yaw_rad=yaw_rad, base_m=base_m, soil_m=soil_m,
                      soil_to_m=soil_to_m, goal_m=goal_m)  # fmt: skip
    yaw = np.asarray(yaw_rad, dtype=float)
    table = {name: np.column_stack(rows) for name, rows in columns.items()}
    return Blocks(gravity_mps2, np.cos(yaw), np.sin(yaw), base_m, soil_m, soil_to_m, goal_m, **table)
