"""One flat element on soil, such as a segment of a track: a plate with an optional cleat, its answer along the normal and
across, and what it leaves behind.

    N = L k (z^n A + (z + h)^n A_c) + b A' z.,  N >= 0        F = (c A' + N tan phi) m

z and z + h count where they are positive: in firm soil a plate stands on its cleat, its base in the air. A' is the area of what
bears, A_c or A + A_c. The ground keeps how deep an element's lowest surface came, z_d: below the cleat's tip soil has been
pressed to z_d, below the base to z_d - h.

Both are handed to vehicles as affine functions of the velocities at the end of the step, as laws are (`touch`): the normal force
as start_n - nn · rising, the shear as start + xx · slip.

Symbols    as in `constants` and `shear` · A, A_c areas of base and cleat (m^2) · h height of the cleat (m) · rising velocity of
           the plate out of the ground (m/s)
Reference  the project's specification, section 5 (corrected eq. 11); derived in docs/theory/soil, eq. (plate)
"""

from typing import NamedTuple

from slipfit.contact.soil.pressure import backed_on, pressed_on, pressure_constant, remembered_slip
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

    deepest: float  # m, deepest sinkage of an element's lowest surface: of its cleat's tip, of its base where it has none
    slip: float  # largest slip


class Normal(NamedTuple):
    """Normal force at the end of the step: start - per_rising · rising, not less than zero, for a plate that lies level.

    What is of the soil and what of its rigid base act along other directions where the plate leans: the soil presses square to
    the plate, the base square to itself.
    """

    start: float  # N
    per_rising: float  # N s/m
    base: float  # N, of `start`: what the rigid base gives
    base_per_rising: float  # N s/m
    damping: float  # N s/m, of `per_rising`: what does not come from the depth
    area: float  # m^2, of what bears: of the cleat alone while the base is in the air


class Bristles(NamedTuple):
    """What the element remembers: mobilised share of its strength, along and across."""

    x: float
    y: float


@part
def reach_of(plate):
    """How much deeper (m) than its base the lowest surface of an element is."""
    return where(plate.cleat_area > 0.0, plate.cleat_height, alike(0.0, plate.cleat_height))


@part
def plate_normal(soil, plate, place, depth, rising, slip, dt):
    """Normal answer of a plate at a depth (of its base below the untouched surface, at the start of the step; negative where it
    stands on its cleat).

    rising  guess of its velocity at the end of the step: whether it sinks on or unloads
    slip    of the element, driving positive
    """
    constant, reach = pressure_constant(soil, plate.width), reach_of(plate)
    worst, zero = remembered_slip(slip, place.slip), alike(0.0, depth)
    coming = depth - dt * rising
    flat = pressed_on(soil, constant, worst, depth, place.deepest - reach, coming)
    cleat = pressed_on(soil, constant, worst, depth + reach, place.deepest, coming + reach)
    below_flat, below_cleat = backed_on(soil, depth, coming), backed_on(soil, depth + reach, coming + reach)
    base = plate.area * below_flat.pressure + plate.cleat_area * below_cleat.pressure
    base_slope = plate.area * below_flat.slope + plate.cleat_area * below_cleat.slope
    push = plate.area * flat.pressure + plate.cleat_area * cleat.pressure + base
    slope = plate.area * flat.slope + plate.cleat_area * cleat.slope
    area = where(flat.pressure + below_flat.pressure > 0.0, plate.area, zero)
    area += where(cleat.pressure + below_cleat.pressure > 0.0, plate.cleat_area, zero)
    touches, damping = push > 0.0, soil.damping * area
    based = where(touches, base_slope * dt, zero)
    return Normal(push, where(touches, slope * dt + damping + based, zero), base, based, damping, area)


@part
def load_of(normal, rising):
    """Normal force (N) at a velocity; it pushes and never pulls."""
    return max(0.0, normal.start - normal.per_rising * rising)


@part
def plate_shear(soil, area, bristles, load, slip_x, slip_y, dt):
    """Tangential answer of a plate under a load, at a guess of the slip velocity at the end of the step.

    area  of what bears (`Normal.area`): soil that does not touch has no cohesion to give
    """
    held = mobilise(soil, bristles.x, bristles.y, slip_x, slip_y, dt)
    most = where(load > 0.0, strength(soil, area, load), alike(0.0, load))
    secant = most * held.per_slip
    return Traction(most * held.start_x, most * held.start_y, secant, alike(0.0, secant), secant)


@part
def bristles_after(soil, bristles, load, slip_x, slip_y, dt):
    """What the element remembers at the end of the step; nothing once contact is lost."""
    held, zero = mobilise(soil, bristles.x, bristles.y, slip_x, slip_y, dt), alike(0.0, load)
    x, y = held.start_x + held.per_slip * slip_x, held.start_y + held.per_slip * slip_y
    return Bristles(where(load > 0.0, x, zero), where(load > 0.0, y, zero))


@part
def place_after(plate, place, depth, slip, load):
    """What the ground remembers once an element was with its base at this depth, with this slip and load."""
    touched, lowest = load > 0.0, depth + reach_of(plate)
    return Place(
        where(touched, max(place.deepest, lowest), place.deepest),
        where(touched, remembered_slip(slip, place.slip), place.slip),
    )
