"""Traction of a track, or of any contact patch with uniform pressure, on soil that shears as Janosi says.

    F(i) = (A c + W tan phi) (1 - (K / (i L)) (1 - exp(-i L / K)))

the integral of the shear along the patch, whose displacement grows from zero at its front as j = i x.

Symbols    F traction (N) · i slip ratio, 0 to 1 · A area (m²) · L length (m) · W load (N) · c cohesion (Pa) · phi angle of
           internal friction · K shear modulus (m)
Reference  [Hackett2011] (exponent corrected to -j / K), [JanosiHanamoto1961] for the shear; derived in docs/theory/estimation
Valid for  i >= 0, uniform pressure, straight driving; a wheel's patch with its own A and L
"""

from math import exp

from slipfit.contact.soil.shear import saturating
from slipfit.kernels import part, where

#: Below this slip times length over modulus, the slope by K is its series.
_SMALL = 1e-3


@part
def track_traction(strength, length, modulus, slip):
    """F(i), from the strength A c + W tan(phi)."""
    return strength * (1.0 - saturating(slip * length / modulus))


@part
def track_traction_slopes(strength, length, modulus, slip):
    """Slopes of F by strength and by K.

    With x = i L / K: dF/dstrength = 1 - (1 - e^-x) / x, dF/dK = -(strength / K) (e^-x - (1 - e^-x) / x) (-1).
    """
    x = slip * length / modulus
    mean = saturating(x)
    # d saturating / dx = (e^-x - saturating) / x; dx / dK = -x / K
    by_x = where(x > _SMALL, exp(-x) - mean, -0.5 * x + x * x / 3.0)
    return 1.0 - mean, strength * by_x / modulus
