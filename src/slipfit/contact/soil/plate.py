"""One flat element on soil, such as a segment of a track: a plate with an optional cleat, its answer along the normal and
across, and what it leaves behind.

    N = L k (z^n A + (z + h)^n A_c) + b A z.,  N >= 0        F = (c (A + A_c) + N tan phi) m

Both are handed to vehicles as affine functions of the velocities at the end of the step, as laws are (`touch`): the normal force
as start_n - nn · rising, the shear as start + xx · slip.

Symbols    as in `constants` and `shear` · A, A_c areas of plate and cleat (m^2) · h height of the cleat (m) · rising velocity of
           the plate out of the ground (m/s)
Reference  the project's specification, section 5 (corrected eq. 11); derived in docs/theory/soil, eq. (plate)
"""

from typing import NamedTuple

from slipfit.contact.soil.pressure import pressed, pressure_constant, remembered_slip
from slipfit.contact.soil.shear import mobilise, strength
from slipfit.contact.touch import Traction
from slipfit.kernels import alike, part, where


class Plate(NamedTuple):
    """A flat element: where a cleat has no area, it is none."""

    area: float  # m^2, of the base
    width: float  # m, the smaller side
    cleat_area: float  # m^2
    cleat_height: float  # m


class Place(NamedTuple):
    """What the ground remembers below an element."""

    deepest: float  # m, deepest sinkage of a plate's base
    slip: float  # largest slip


class Normal(NamedTuple):
    """Normal force at the end of the step: start - per_rising · rising, not less than zero."""

    start: float  # N
    per_rising: float  # N s/m


class Bristles(NamedTuple):
    """What the element remembers: mobilised share of its strength, along and across."""

    x: float
    y: float


@part
def plate_normal(soil, plate, place, depth, rising, slip, dt):
    """Normal answer of a plate at a depth (of its base below the untouched surface, at the start of the step).

    rising  guess of its velocity at the end of the step: whether it sinks on or unloads
    slip    of the element, driving positive
    """
    constant = pressure_constant(soil, plate.width)
    worst, zero = remembered_slip(slip, place.slip), alike(0.0, depth)
    coming = depth - dt * rising
    base = pressed(soil, constant, worst, depth, place.deepest)
    cleat = pressed(soil, constant, worst, depth + plate.cleat_height, place.deepest + plate.cleat_height)
    # Whether it sinks on along the curve or comes back along the line decides the slope of this step.
    known = max(place.deepest, depth)
    back_base = pressed(soil, constant, worst, min(coming, known), known).slope
    back_cleat = pressed(soil, constant, worst, min(coming, known) + plate.cleat_height, known + plate.cleat_height).slope
    sinks = coming >= known
    slope = plate.area * where(sinks, base.slope, back_base) + plate.cleat_area * where(sinks, cleat.slope, back_cleat)
    push = plate.area * base.pressure + plate.cleat_area * cleat.pressure
    touches = push > 0.0
    damping = soil.damping * (plate.area + plate.cleat_area)
    return Normal(where(touches, push, zero), where(touches, slope * dt + damping, zero))


@part
def load_of(normal, rising):
    """Normal force (N) at a velocity; it pushes and never pulls."""
    return max(0.0, normal.start - normal.per_rising * rising)


@part
def plate_shear(soil, plate, bristles, load, slip_x, slip_y, dt):
    """Tangential answer of a plate under a load, at a guess of the slip velocity at the end of the step."""
    held = mobilise(soil, bristles.x, bristles.y, slip_x, slip_y, dt)
    most = where(load > 0.0, strength(soil, plate.area + plate.cleat_area, load), alike(0.0, load))
    secant = most * held.per_slip
    return Traction(most * held.start_x, most * held.start_y, secant, alike(0.0, secant), secant)


@part
def bristles_after(soil, bristles, load, slip_x, slip_y, dt):
    """What the element remembers at the end of the step; nothing once contact is lost."""
    held, zero = mobilise(soil, bristles.x, bristles.y, slip_x, slip_y, dt), alike(0.0, load)
    x, y = held.start_x + held.per_slip * slip_x, held.start_y + held.per_slip * slip_y
    return Bristles(where(load > 0.0, x, zero), where(load > 0.0, y, zero))


@part
def place_after(place, depth, slip, load):
    """What the ground remembers once an element was at this depth with this slip and load."""
    touched = load > 0.0
    return Place(
        where(touched, max(place.deepest, depth), place.deepest), where(touched, remembered_slip(slip, place.slip), place.slip)
    )
