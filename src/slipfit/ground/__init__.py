"""Ground shapes and their memory."""

from slipfit.ground.plane import Plane, plane
from slipfit.ground.shape import Memory, cell_count, gravity_in_body

__all__ = ["Memory", "Plane", "cell_count", "gravity_in_body", "plane"]
