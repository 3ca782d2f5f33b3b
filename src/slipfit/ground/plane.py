"""A plane, level or tilted in any direction, with its own gravity.

x and y are measured in the plane. Uphill is the direction of steepest ascent, as a heading from the x axis.

    g_x = -g sin(slope) cos(psi - uphill),    g_y = g sin(slope) sin(psi - uphill),    g_n = g cos(slope)

Symbols    psi heading · g_x, g_y gravity along the body's axes (m/s^2) · g_n into the ground
Reference  derived in docs/theory/skid_steer, eq. (gravity)
"""

from typing import NamedTuple

import numpy as np

from slipfit.ground.shape import Surface, gravity_in_body, gravity_in_ground, surface
from slipfit.kernels import alike


class Plane(NamedTuple):
    along: float  # m/s^2, gravity along the plane, g sin(slope)
    into: float  # m/s^2, gravity into the plane, g cos(slope)
    uphill_x: float  # unit vector
    uphill_y: float


def plane(gravity_mps2=9.81, slope_rad=0.0, uphill_rad=0.0):
    """A plane from its angles. Takes arrays, one entry per run."""
    slope, uphill = np.asarray(slope_rad, dtype=float), np.asarray(uphill_rad, dtype=float)
    return Plane(gravity_mps2 * np.sin(slope), gravity_mps2 * np.cos(slope), np.cos(uphill), np.sin(uphill))


@gravity_in_body.of(Plane)
def _(ground, memory, x, y, cos_heading, sin_heading):
    ahead = cos_heading * ground.uphill_x + sin_heading * ground.uphill_y
    to_left = cos_heading * ground.uphill_y - sin_heading * ground.uphill_x
    return -ground.along * ahead, -ground.along * to_left, ground.into


@gravity_in_ground.of(Plane)
def _(ground):
    return -ground.along * ground.uphill_x, -ground.along * ground.uphill_y, -ground.into


@surface.of(Plane)
def _(ground, memory, x, y):
    zero = alike(0.0, x)
    return Surface(zero, zero, zero)
