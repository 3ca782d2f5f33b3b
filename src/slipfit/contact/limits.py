"""Coulomb's limit of a contact force: a cone limits the resultant, a pyramid each axis.

A contact with compliances C (slip velocity s = C F) that would carry more than its limit slides: its force is scaled back to
the limit along itself. A rigid contact (C = 0) sticks up to the limit and then slides by maximum dissipation. Both are
passive, F.s >= 0, and both come as secants F / s, which one division gives.
"""

from math import sqrt
from typing import NamedTuple

from slipfit.contact.slip import STICK_SPEED_MPS
from slipfit.kernels import chosen_by_type

#: Keeps 0/0 away where a wheel carries no load.
_NOTHING = 1e-30


class Cone(NamedTuple):
    """Elliptic cone: (Fx / mu_x)^2 + (Fy / mu_y)^2 <= N^2. Isotropic Coulomb friction for mu_x = mu_y."""

    mu_x: float
    mu_y: float


class Pyramid(NamedTuple):
    """|Fx| <= mu_x N and |Fy| <= mu_y N, as mainline ODE and Gazebo's default have it."""

    mu_x: float
    mu_y: float


@chosen_by_type
def compliant(limit, compliance_x, compliance_y, slip_x, slip_y, load):
    """Secants of a compliant contact, 1 / C below the limit and less beyond it."""
    raise NotImplementedError("a limit registers its own scaling")


@chosen_by_type
def rigid(limit, slip_x, slip_y, load):
    """Secants of a rigid contact: the limit is reached at the stick speed, and kept beyond it."""
    raise NotImplementedError("a limit registers its own friction")


@chosen_by_type
def within(limit, force_x, force_y, load):
    """A force, brought back within the limit."""
    raise NotImplementedError("a limit registers its own bounds")


@compliant.of(Pyramid)
def _(limit, compliance_x, compliance_y, slip_x, slip_y, load):
    most_x, most_y = limit.mu_x * load, limit.mu_y * load
    return (
        most_x / max(most_x * compliance_x, max(abs(slip_x), _NOTHING)),
        most_y / max(most_y * compliance_y, max(abs(slip_y), _NOTHING)),
    )


@rigid.of(Pyramid)
def _(limit, slip_x, slip_y, load):
    return (
        limit.mu_x * load / max(abs(slip_x), STICK_SPEED_MPS),
        limit.mu_y * load / max(abs(slip_y), STICK_SPEED_MPS),
    )


@within.of(Pyramid)
def _(limit, force_x, force_y, load):
    most_x, most_y = limit.mu_x * load, limit.mu_y * load
    return max(-most_x, min(most_x, force_x)), max(-most_y, min(most_y, force_y))


@compliant.of(Cone)
def _(limit, compliance_x, compliance_y, slip_x, slip_y, load):
    # |(Fx / mu_x, Fy / mu_y)| against N with F = s / C, both sides multiplied by mu_x mu_y C_x C_y: one division for all.
    fx, fy = limit.mu_y * compliance_y * slip_x, limit.mu_x * compliance_x * slip_y
    most = limit.mu_x * limit.mu_y * load
    at_limit = most * compliance_x * compliance_y
    scale = most / max(sqrt(fx * fx + fy * fy), max(at_limit, _NOTHING))
    return scale * compliance_y, scale * compliance_x


@rigid.of(Cone)
def _(limit, slip_x, slip_y, load):
    # Maximum dissipation: F = N M s / sqrt(s.M s) with M = diag(mu_x^2, mu_y^2).
    sx, sy = limit.mu_x * slip_x, limit.mu_y * slip_y
    scale = load / max(sqrt(sx * sx + sy * sy), max(limit.mu_x, limit.mu_y) * STICK_SPEED_MPS + _NOTHING)
    return scale * limit.mu_x * limit.mu_x, scale * limit.mu_y * limit.mu_y


@within.of(Cone)
def _(limit, force_x, force_y, load):
    # First each axis, so that a coefficient of zero on one does not take the force of the other.
    force_x = max(-limit.mu_x * load, min(limit.mu_x * load, force_x))
    force_y = max(-limit.mu_y * load, min(limit.mu_y * load, force_y))
    fx, fy = limit.mu_y * force_x, limit.mu_x * force_y
    most = limit.mu_x * limit.mu_y * load + _NOTHING
    scale = most / max(sqrt(fx * fx + fy * fy), most)
    return force_x * scale, force_y * scale
