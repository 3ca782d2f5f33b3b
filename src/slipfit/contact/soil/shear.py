"""Shear of a soil: Janosi's curve, and how much of the strength is mobilised along any path.

    tau = (c + p tan phi) (1 - exp(-j / K))

along a straight path. Written with the mobilised share m = tau / tau_max (a vector), the same curve is dm/dj = (1 - m) / K while
loading; when slip reverses, dm/dj = 1 / K: the shear unloads along the curve's first slope and builds up on the other side. So
a vehicle at rest is held by what is mobilised, and a contact that slid a metre does not need a metre to turn its force round.

    dm = d - (m^ . d)_+ m,    d = s dt / K,    |m| <= 1

Symbols    as in `constants`; s slip velocity, its sign that of the force on the vehicle · m^ direction of m
Reference  [JanosiHanamoto1961] as given (corrected) in the project's specification, section 5; vector form derived in
           docs/theory/soil, eq. (mobilised)
Valid for  soils whose shear has no peak
"""

from math import exp, sqrt
from typing import NamedTuple

from slipfit.kernels import part, where

#: Below this the share (1 - exp(-x)) / x is its series: keeps digits.
_SMALL = 1e-4
_NOTHING = 1e-30


class Mobilised(NamedTuple):
    """The mobilised share at the end of a step: (start_x, start_y) + per_slip (slip velocity at its end)."""

    start_x: float
    start_y: float
    per_slip: float  # s/m


@part
def strength(soil, area, load):
    """Largest shear force (N) of an area that carries a load: c A + N tan(phi)."""
    return soil.cohesion * area + soil.friction * load


@part
def saturating(x):
    """(1 - exp(-x)) / x for x >= 0; 1 at zero."""
    return where(x > _SMALL, (1.0 - exp(-x)) / max(x, _SMALL), 1.0 - 0.5 * x)


@part
def mobilise(soil, mobilised_x, mobilised_y, slip_x, slip_y, dt):
    """Affine in the slip velocity at the end of the step, with the secant taken at a guess of it. Exact along straight paths."""
    per = dt / soil.shear_modulus
    dx, dy = per * slip_x, per * slip_y
    mx, my = mobilised_x + dx, mobilised_y + dy
    loading = max(0.0, mx * dx + my * dy) / sqrt(mx * mx + my * my + _NOTHING)
    kept = exp(-loading)
    return Mobilised(kept * mobilised_x, kept * mobilised_y, per * saturating(loading))
