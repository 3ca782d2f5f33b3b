"""Coulomb's limit of a contact force: a cone limits the resultant, a pyramid each axis.

A law that would give more is scaled back to the limit along its own force. Both are passive: scaling keeps F.s >= 0.
"""

from math import sqrt
from typing import NamedTuple

from slipfit.kernels import chosen_by_type

#: Keeps 0/0 away where a wheel carries no load (N).
_NO_FORCE = 1e-30


class Cone(NamedTuple):
    """Elliptic cone: (Fx / mu_x)^2 + (Fy / mu_y)^2 <= N^2. Isotropic Coulomb friction for mu_x = mu_y."""

    mu_x: float
    mu_y: float


class Pyramid(NamedTuple):
    """|Fx| <= mu_x N and |Fy| <= mu_y N, as mainline ODE and Gazebo's default have it."""

    mu_x: float
    mu_y: float


@chosen_by_type
def limited(limit, secant_x, secant_y, slip_x, slip_y, load):
    """The two secants, scaled so that the force at this slip velocity stays within the limit."""
    raise NotImplementedError("a limit registers its own scaling")


@limited.of(Cone)
def _(limit, secant_x, secant_y, slip_x, slip_y, load):
    # Both sides of the ellipse are multiplied by mu_x mu_y, which saves two divisions.
    fx, fy = limit.mu_y * secant_x * slip_x, limit.mu_x * secant_y * slip_y
    most = limit.mu_x * limit.mu_y * load
    scale = most / max(sqrt(fx * fx + fy * fy), max(most, _NO_FORCE))
    return secant_x * scale, secant_y * scale


@limited.of(Pyramid)
def _(limit, secant_x, secant_y, slip_x, slip_y, load):
    most_x, most_y = limit.mu_x * load, limit.mu_y * load
    scale_x = most_x / max(abs(secant_x * slip_x), max(most_x, _NO_FORCE))
    scale_y = most_y / max(abs(secant_y * slip_y), max(most_y, _NO_FORCE))
    return secant_x * scale_x, secant_y * scale_y
