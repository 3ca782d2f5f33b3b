"""A shape of ground as tracked robots meet it: hard, or covered by soil that takes its place.

Soil follows the shape's heights; sinkage is measured straight down from them, and a rigid base below the soil is the soil's own
(`contact.soil`, layer). So one compiled kernel serves hard and soft terrain.

Valid for  soil on slopes where it does not slide by itself
"""

from typing import Any, NamedTuple

from slipfit.ground.shape import (
    Clearance,
    along_profile,
    clearance,
    gravity_in_ground,
    is_on_map,
    soil_depth,
    surface,
)
from slipfit.kernels import alike


class Covered(NamedTuple):
    shape: Any
    along_x: float  # unit vector of the direction in which progress counts
    along_y: float
    hard: float  # m, height of the hard ground above the shape's: 0, or far below where there is soil
    soil: float  # m, height of the soil's surface above the shape's: 0, or far below where there is none


@surface.of(Covered)
def _(ground, memory, x, y):
    return surface(ground.shape, memory, x, y)


@gravity_in_ground.of(Covered)
def _(ground):
    return gravity_in_ground(ground.shape)


@is_on_map.of(Covered)
def _(ground, x, y):
    return is_on_map(ground.shape, x, y)


@clearance.of(Covered)
def _(ground, memory, b, x, y, z):
    here = clearance(ground.shape, memory, b, x, y, z - ground.hard)
    return Clearance(here.distance, here.normal_x, here.normal_y, here.normal_z, here.grip + alike(0.0, z))


@soil_depth.of(Covered)
def _(ground, memory, x, y, z):
    return surface(ground.shape, memory, x, y).height + ground.soil - z


@along_profile.of(Covered)
def _(ground, x, y):
    return ground.along_x * x + ground.along_y * y
