"""Ground shapes and their memory."""

from slipfit.ground.height_field import BicubicField, BilinearField, height_field, surface_at
from slipfit.ground.plane import Plane, plane
from slipfit.ground.ruts import Rutted, rutted
from slipfit.ground.shape import (
    Memory,
    Surface,
    cell_count,
    gravity_in_body,
    gravity_in_ground,
    is_on_map,
    leave_rut,
    rut_at,
    surface,
)

__all__ = [
    "BicubicField",
    "BilinearField",
    "Memory",
    "Plane",
    "Rutted",
    "Surface",
    "cell_count",
    "gravity_in_body",
    "gravity_in_ground",
    "height_field",
    "is_on_map",
    "leave_rut",
    "plane",
    "rut_at",
    "rutted",
    "surface",
    "surface_at",
]
