"""Pressure of a soil against what sinks into it: Bekker's curve, slip-sinkage, and what a place remembers.

    p = L(i) k z^(n + n_1 i),    k = k_c / b + k_phi,    L(i) = K_ss(i)^(-n d),    K_ss(i) = (1 + i) / (1 - i/2)

z is the total sinkage, so that at constant pressure z / z_0 = K_ss for d = 1, n_1 = 0 (Lyasko); d = 0, n_1 > 0 is Ding's model.
A place remembers its deepest sinkage z_d and its largest slip. Above z_d it unloads and reloads along a straight line that ends
where the rebound does, at (1 - e) z_d; deeper, it follows the curve of its largest slip again.

Symbols    as in `constants`; d digging, e rebound, L loosening
Reference  [Bekker1969] and [Lyasko2010] as given in the project's specification, section 5 (corrected); [DingEtAl2010]
Valid for  0 <= i <= 1 (braking, i < 0, does not dig: K_ss = 1); homogeneous soil, or a layer on a rigid base
"""

from typing import NamedTuple

from slipfit.kernels import alike, part, where

#: Keeps logarithms and quotients finite where nothing sinks, m: far below the size of a grain.
SHALLOWEST_M = 1e-9


class Pressed(NamedTuple):
    """Pressure and how fast it grows with depth."""

    pressure: float  # Pa
    slope: float  # Pa/m


@part
def pressure_constant(soil, width):
    """k = k_c / b + k_phi, N/m^(n+2). A negative k_c (fits give such) makes narrow contacts sink more; never below zero."""
    return max(soil.cohesive / width + soil.frictional, 0.0)


@part
def slip_sinkage_ratio(slip):
    """Lyasko's K_ss = (1 + i) / (1 - i / 2): total over static sinkage, 1 without slip and 4 for a contact that only spins."""
    dug = max(0.0, min(1.0, slip))
    return (1.0 + dug) / (1.0 - 0.5 * dug)


@part
def loosening(soil, slip):
    """L = K_ss^(-n d): what slip leaves of the pressure at the same total sinkage."""
    return slip_sinkage_ratio(slip) ** (-soil.exponent * soil.digging)


@part
def skid_loosening(soil, slip):
    """K_ss(|i|)^(-n d_b) of a braked wheel (i < 0), 1 of a driven one: a locked wheel ploughs itself in. Not remembered by places."""
    return slip_sinkage_ratio(-slip) ** (-soil.exponent * soil.ploughing)


@part
def exponent_at(soil, slip):
    """n + n_1 i."""
    return soil.exponent + soil.exponent_growth * max(0.0, min(1.0, slip))


@part
def virgin(soil, constant, slip, depth):
    """Pressure (Pa) of soil that has never been loaded deeper."""
    pressure = loosening(soil, slip) * constant * max(depth, SHALLOWEST_M) ** exponent_at(soil, slip)
    return where(depth > 0.0, pressure, alike(0.0, pressure))


@part
def sinkage(soil, constant, slip, pressure):
    """Total sinkage (m) under a pressure: the inverse of `virgin`."""
    return (pressure / (loosening(soil, slip) * constant)) ** (1.0 / exponent_at(soil, slip))


@part
def pressed(soil, constant, slip, depth, deepest):
    """Pressure and slope at a depth in a place whose deepest sinkage is known; zero in the air and above the rebound.

    Slip is the largest of this place (see `remembered_slip`). Beyond its layer the soil is backed by the rigid base.
    """
    lowest = max(max(depth, deepest), SHALLOWEST_M)
    power = exponent_at(soil, slip)
    top = loosening(soil, slip) * constant * lowest**power
    stiffness = top / (soil.rebound * lowest)
    is_deeper = depth >= deepest
    pressure = where(is_deeper, top, top - stiffness * (deepest - depth))
    touches = (pressure > 0.0) & (depth > 0.0)
    into_base = max(0.0, depth - soil.layer)
    slope = where(is_deeper, power * top / lowest, stiffness) + where(into_base > 0.0, soil.base, alike(0.0, top))
    nothing = alike(0.0, top)
    return Pressed(where(touches, pressure + soil.base * into_base, nothing), where(touches, slope, nothing))


@part
def surface_left(soil, deepest):
    """Depth (m) of the bottom of the rut that a load leaves: the deepest sinkage without its rebound."""
    return (1.0 - soil.rebound) * deepest


@part
def remembered_slip(slip, largest):
    """The slip that counts in a place: the larger of now and ever (the smallest K_ss^-n). It digs forwards only."""
    return max(largest, max(0.0, min(1.0, slip)))
