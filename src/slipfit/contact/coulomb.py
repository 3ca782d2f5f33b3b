"""Coulomb friction: any force up to the limit holds, beyond it the contact slides.

    F = mu N s / |s|  (cone)      Fi = mu_i N sign(s_i)  (pyramid)      within the stick speed: F grows to that limit

An anisotropic limit has its own direction, given from the wheel's x axis (Gazebo's fdir1), along which mu_long holds. The
anisotropic cone slides by maximum dissipation, F = N M s / sqrt(s.M s) with M = diag(mu_long^2, mu_lat^2) in its own axes.

Symbols    s slip velocity · N load · mu friction coefficients
Reference  [Trimble2022] section 1; maximum dissipation: derived in docs/theory/laws, eq. (ellipse)
Valid for  dry, hard contacts; no difference between static and kinetic friction
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Cone, Pyramid, rigid, within
from slipfit.contact.touch import Traction, strongest, traction
from slipfit.kernels import alike


class Coulomb(NamedTuple):
    """The limit's kind (cone or pyramid) is part of the type."""

    limit: Any
    direction_x: float  # unit vector of the direction of mu_x, in the wheel's axes
    direction_y: float


@traction.of(Coulomb)
def _(law, touch, memory, contact, dt):
    c, s = law.direction_x, law.direction_y
    own_x = c * touch.slip_x + s * touch.slip_y
    own_y = c * touch.slip_y - s * touch.slip_x
    g1, g2 = rigid(law.limit, own_x, own_y, touch.load)
    zero = alike(0.0, g1)
    return Traction(zero, zero, c * c * g1 + s * s * g2, c * s * (g1 - g2), s * s * g1 + c * c * g2)


@strongest.of(Coulomb)
def _(law, force_x, force_y, load):
    c, s = law.direction_x, law.direction_y
    own_x, own_y = within(law.limit, c * force_x + s * force_y, c * force_y - s * force_x, load)
    return c * own_x - s * own_y, s * own_x + c * own_y


_PARAMETERS = (
    LawParameter("mu_long", "friction coefficient along the direction", alias="mu"),
    LawParameter("mu_lat", "friction coefficient across the direction", same_as="mu_long"),
    LawParameter("direction_rad", "direction of mu_long from the wheel's x axis", -np.pi, np.pi, default=0.0),
)


def _build(limit_class):
    def build(values):
        angle = np.asarray(values["direction_rad"], dtype=float)
        limit = limit_class(values["mu_long"], values["mu_lat"])
        return Coulomb(limit, np.cos(angle), np.sin(angle))

    return build


CONE = LawInfo(
    name="coulomb",
    about="Coulomb friction with a cone: the resultant is limited",
    formula="F = N M s / sqrt(s.M s), M = diag(mu_long^2, mu_lat^2)",
    valid_for="dry, hard contacts; static and kinetic friction equal",
    references=("Trimble2022",),
    parameters=_PARAMETERS,
    build=_build(Cone),
    example={"mu_long": 0.8, "mu_lat": 0.8},
)

PYRAMID = LawInfo(
    name="coulomb_pyramid",
    about="Coulomb friction with a pyramid: each axis is limited by itself, as in mainline ODE",
    formula="Fi = mu_i N sign(s_i)",
    valid_for="comparison with engines that use a pyramid; up to 41 % too strong on the diagonal",
    references=("Trimble2022",),
    parameters=_PARAMETERS,
    build=_build(Pyramid),
    example={"mu_long": 0.8, "mu_lat": 0.6},
)
