"""Pressure of a soil against what sinks into it: Bekker's curve, slip-sinkage, and what a place remembers.

    p = L(i) k z^(n + n_1 i),    k = k_c / b + k_phi,    L(i) = K_ss(i)^(-n d),    K_ss(i) = (1 + i) / (1 - i/2)

z is the total sinkage, so that at constant pressure z / z_0 = K_ss for d = 1, n_1 = 0 (Lyasko); d = 0, n_1 > 0 is Ding's model.
A place remembers its deepest sinkage z_d and its largest slip. Above z_d it unloads and reloads along a straight line that ends
where the rebound does, at (1 - e) z_d; deeper, it follows the curve of its largest slip again.

Symbols    as in `constants`; d digging, e rebound, L loosening
Reference  [Bekker1969] and [Lyasko2010] as given in the project's specification, section 5 (corrected); [DingEtAl2010]
Valid for  0 <= i <= 1 (K_ss = 1 below: how braked wheels plough is `wheel`'s); homogeneous soil, or a layer on a rigid base
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


class _Line(NamedTuple):
    """What a place answers whose deepest sinkage is `lowest`: the pressure there, and how it grows with depth from there on and
    back."""

    lowest: float  # m
    top: float  # Pa
    on: float  # Pa/m, along the curve
    back: float  # Pa/m, along the line


@part
def _line(soil, constant, slip, lowest):
    # Above the shallowest depth the curve is a straight line to zero: soils of small n would jump there.
    deep, power = max(lowest, SHALLOWEST_M), exponent_at(soil, slip)
    per_depth = loosening(soil, slip) * constant * deep**power / deep
    return _Line(lowest, per_depth * lowest, power * per_depth, per_depth / soil.rebound)


@part
def pressed(soil, constant, slip, depth, deepest):
    """Pressure and slope at a depth in a place whose deepest sinkage is known; zero in the air and above the rebound.

    Slip is the largest of this place (see `remembered_slip`). Beyond its layer the soil is backed by the rigid base, also where
    the soil itself has been pressed away from what unloads.
    """
    line = _line(soil, constant, slip, max(max(depth, deepest), 0.0))
    zero = alike(0.0, line.top)
    by_soil = where(depth > 0.0, max(0.0, line.top - line.back * (line.lowest - depth)), zero)
    slope = where(by_soil > 0.0, where(depth >= deepest, line.on, line.back), zero)
    into_base = max(0.0, depth - soil.layer)
    return Pressed(by_soil + soil.base * into_base, slope + where(into_base > 0.0, soil.base, zero))


@part
def pressed_on(soil, constant, slip, depth, deepest, coming):
    """The soil's own part of it as a step takes it that is expected to end at the depth `coming`: pressure + slope · (depth
    then - depth).

    Nothing is gained. What comes back does so along the line, also where the step goes beyond its end: there less than nothing
    comes out, which callers cut to nothing.
    """
    line = _line(soil, constant, slip, max(max(depth, deepest), 0.0))
    zero = alike(0.0, line.top)
    now = line.top - line.back * (line.lowest - depth)
    bears = (depth > 0.0) & (now > 0.0)
    slope = where((coming >= line.lowest) & (depth >= deepest), line.on, line.back)
    return Pressed(where(bears, now, zero), where(bears, slope, zero))


@part
def backed_on(soil, depth, coming):
    """The rigid base's part of it. What enters the base is charged by a chord, so never too little."""
    into, sinks = max(0.0, depth - soil.layer), coming > depth
    zero = alike(0.0, into)
    chord = soil.base * max(0.0, coming - max(depth, soil.layer)) / where(sinks, coming - depth, alike(1.0, zero))
    slope = where(sinks, chord, where(into > 0.0, alike(soil.base, zero), zero))
    return Pressed(soil.base * into, where(depth > 0.0, slope, zero))


@part
def surface_left(soil, deepest):
    """Depth (m) of the bottom of the rut that a load leaves: the deepest sinkage without its rebound."""
    return (1.0 - soil.rebound) * deepest


@part
def remembered_slip(slip, largest):
    """The slip that counts in a place: the larger of now and ever (the smallest K_ss^-n). It digs forwards only."""
    return max(largest, max(0.0, min(1.0, slip)))
