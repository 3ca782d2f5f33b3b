"""Segments of a track in soil: each a plate of `contact.soil`, on ground that remembers, carried through by a belt that does too.

The pressure acts along a segment's own normal, shear along the belt and across. Each place of the ground (a cell of a square
grid) keeps its deepest sinkage, of cleats' tips, and its largest slip. A segment lies on a stretch of ground, not on one cell:
what it meets follows the cells below its middle over a cell's length, as long as it stays below the surface, so that a load does
not jump where a cell ends. What a segment has sheared belongs to the belt's links, which move rearward through the stations: with
J = -K ln(1 - |m|) the shear displacement behind a mobilised share m,

    dJ_k/dt = (slip) - w (J_k - J_k+1) / l      upwind; from the first segment in the soil on, J = i x as along a straight path

The slip that digs is that of a station over its last way of a cell: soil is dug by being carried away, not by a belt's first
millimetre, and a place that keeps the largest slip it ever saw would keep every jolt.

Soil also resists where it is pushed aside: per metre of wall a z + b z^2 (`soil.bulldozing`), along the sides of the belts and
before the sprocket that leads.

Symbols    m mobilised share of the strength · w belt speed · l from middle to middle of two stations · i slip · z sinkage
Reference  derived in docs/theory/tracked, eq. (carried)
"""

from math import exp, log, sqrt
from typing import Any, NamedTuple

from slipfit.contact.slip import RESISTS_FROM_MPS, SPEED_FLOOR_MPS, driving_slip
from slipfit.contact.soil import Bristles, Place, Plate, bristles_after, plate_normal, plate_shear, reach_of
from slipfit.ground.shape import leave_rut, rut_at, soil_depth, surface
from slipfit.kernels import alike, any_of, part, where
from slipfit.kernels.space import Vec3, added, cross, dot, to_body
from slipfit.vehicles.track_contact import carry, place_of

#: Of a saturated shear this much is kept from the limit, so that its logarithm is finite.
_LEAST = 1e-9


class SoilWork(NamedTuple):
    """One number per station."""

    depth: Any  # m, of the base below the untouched surface; negative where it stands on its cleat
    place_x: Any  # m, where the station is
    place_y: Any
    start_n: Any  # N, of the soil, along the station's normal
    nn: Any
    base: Any  # N, of the rigid base below it, along `up`, the normal of the ground over its upward part (body's axes)
    base_nn: Any
    up_x: Any
    up_y: Any
    up_z: Any
    area: Any  # m^2, of what bears
    pressed: Any  # N, what the soil bears of the load
    load: Any  # N
    secant: Any
    extra_y: Any
    start_x: Any
    start_y: Any
    force_x: Any  # N, along the belt
    deepest: Any  # m, what the ground below the station remembers: of cleats' tips
    slipped: Any
    digs: Any  # slip of the station over its last way of a cell


#: Side of the cells in which the ground remembers, m. What a segment meets follows them over as long a way, however finely belts
#: are cut: met at once, loads would jump where a cell ends.
CELL_M = 0.025


@part
def plate_of(stations, n):
    return Plate(stations.area[n], stations.width[n], stations.cleat_area[n], stations.cleat_height[n])


@part
def axes_of_plate(stations, n):
    """Arm, normal and direction along the belt of a station; across is the body's y axis."""
    tx, tz = stations.tx[n], stations.tz[n]
    zero = alike(0.0, tx)
    return Vec3(stations.x[n], stations.y[n], stations.z[n]), Vec3(-tz, zero, tx), Vec3(tx, zero, tz)


@part
def _pushed_aside(soil, depth):
    """Resistance of the soil against a wall at a depth, N per metre of wall."""
    z = max(depth, 0.0)
    return (soil.side_cohesive + soil.side_weight * z) * z


@part
def _up(ground, memory, place, now):
    """Where depth below the surface decreases, per metre: (-slope_x, -slope_y, 1) of the ground, in the body's axes."""
    here = surface(ground, memory, place.x, place.y)
    return to_body(now, Vec3(-here.slope_x, -here.slope_y, alike(1.0, place.z)))


@part
def find_soil(soil, ground, memory, stations, work, place, now, velocity, rate, belt, side, dt):
    """Depths of one side's stations and their normal answers, at the start of the step."""
    ns = len(stations.x) // 2
    for k in range(ns):
        n = side * ns + k
        p = place_of(place, now, stations.x[n], stations.y[n], stations.z[n])
        depth = where(
            stations.area[n] + stations.cleat_area[n] > 0.0, soil_depth(ground, memory, p.x, p.y, p.z), alike(-1.0, p.z)
        )
        nothing, was_below = alike(0.0, depth), work.depth[n] + stations.cleat_height[n] > 0.0
        work.depth[n], work.load[n], work.area[n] = depth, nothing, nothing
        if any_of(depth + stations.cleat_height[n] > 0.0):
            arm, normal, along = axes_of_plate(stations, n)
            v = added(velocity, cross(rate, arm))
            up = _up(ground, memory, p, now)
            rising = dot(up, v)
            deepest, slipped = rut_at(ground, memory, p.x, p.y)
            ahead = dot(along, v)
            went, rim = dt * abs(ahead), stations.driven[n] * belt
            met = where(was_below, went / (went + CELL_M), alike(1.0, went))
            deepest = work.deepest[n] + met * (deepest - work.deepest[n])
            slipped = work.slipped[n] + met * (slipped - work.slipped[n])
            work.deepest[n], work.slipped[n] = deepest, slipped
            slip = driving_slip(ahead, rim)
            fades = CELL_M / (max(went, dt * abs(rim)) + CELL_M)
            work.digs[n] = where(was_below, slip + fades * (work.digs[n] - slip), slip)
            answer = plate_normal(soil, plate_of(stations, n), Place(deepest, slipped), depth, rising, work.digs[n], dt)
            nn = answer.per_rising - answer.base_per_rising
            # A segment that leans goes into the soil along its normal, and comes no deeper by going ahead.
            work.start_n[n] = answer.start - answer.base + (nn - answer.damping) * (dot(normal, v) - rising)
            work.nn[n], work.area[n], work.base[n], work.base_nn[n] = nn, answer.area, answer.base, answer.base_per_rising
            work.up_x[n], work.up_y[n], work.up_z[n] = up.x, up.y, up.z
            work.place_x[n], work.place_y[n] = p.x, p.y
            work.extra_y[n] = stations.length[n] * _pushed_aside(soil, depth) / max(abs(v.y), SPEED_FLOOR_MPS)


@part
def _bears(work, n, normal, v):
    """What the soil and what its base bear of a station at a velocity, N; less than nothing where they would pull."""
    based = work.base[n] - work.base_nn[n] * dot(Vec3(work.up_x[n], work.up_y[n], work.up_z[n]), v)
    return work.start_n[n] - work.nn[n] * dot(normal, v), based


@part
def gather_soil(soil, stations, work, shares, velocity, rate, belt, side, sums, dt):
    """What the segments of one side add, taken at a guess of the velocities to come."""
    ns = len(stations.x) // 2
    half = len(shares) // 2
    for k in range(ns):
        n = side * ns + k
        if any_of(work.area[n] > 0.0):
            arm, normal, along = axes_of_plate(stations, n)
            v = added(velocity, cross(rate, arm))
            pressed, based = _bears(work, n, normal, v)
            nothing = alike(0.0, pressed)
            is_pressed, is_based = pressed > 0.0, (based > 0.0) & (work.base_nn[n] > 0.0)
            load = max(0.0, pressed) + where(is_based, based, nothing)
            slip_x, slip_y = stations.driven[n] * belt - dot(along, v), -v.y
            answer = plate_shear(soil, work.area[n], Bristles(shares[n], shares[half + n]), load, slip_x, slip_y, dt)
            work.load[n], work.secant[n], work.start_x[n], work.start_y[n] = load, answer.xx, answer.start_x, answer.start_y
            work.pressed[n] = max(0.0, pressed)
            sums = carry(
                sums, arm, normal, along, stations.driven[n], where(is_pressed, work.start_n[n], nothing),
                where(is_pressed, work.nn[n], nothing), answer.xx, where(load > 0.0, work.extra_y[n], nothing), answer.start_x,
                answer.start_y,
            )  # fmt: skip
            if any_of(is_based):
                sums = carry(
                    sums, arm, Vec3(work.up_x[n], work.up_y[n], work.up_z[n]), along, nothing,
                    where(is_based, work.base[n], nothing), where(is_based, work.base_nn[n], nothing), nothing, nothing, nothing,
                    nothing,
                )  # fmt: skip
    return sums


@part
def share_soil(soil, stations, work, velocity, rate, belt, side, again):
    """Loads that belong to the new velocities; whether a segment would have to pull."""
    ns = len(stations.x) // 2
    for k in range(ns):
        n = side * ns + k
        if any_of(work.area[n] > 0.0):
            arm, normal, along = axes_of_plate(stations, n)
            v = added(velocity, cross(rate, arm))
            pressed, based = _bears(work, n, normal, v)
            was_pressed, was_based = work.pressed[n] > 0.0, work.load[n] > work.pressed[n]
            again = again | ((pressed < 0.0) & was_pressed) | ((based < 0.0) & was_based)
            nothing = alike(0.0, pressed)
            work.force_x[n] = where(
                work.load[n] > 0.0,
                work.start_x[n] + work.secant[n] * (stations.driven[n] * belt - dot(along, v)),
                nothing,
            )
            work.pressed[n] = where(was_pressed, max(0.0, pressed), nothing)
            work.load[n] = work.pressed[n] + where(was_based, max(0.0, based), nothing)
    return again


@part
def remember_soil(soil, ground, memory, stations, work, shares, velocity, rate, belt, side, dt):
    """What the step leaves behind on one side: in the belt's links, and in the ground."""
    ns, half = len(stations.x) // 2, len(shares) // 2
    for k in range(ns):
        n = side * ns + k
        nothing = alike(0.0, work.depth[n])
        if any_of(work.area[n] > 0.0):
            arm, _, along = axes_of_plate(stations, n)
            v = added(velocity, cross(rate, arm))
            rim, ahead, load = stations.driven[n] * belt, dot(along, v), work.load[n]
            after = bristles_after(soil, Bristles(shares[n], shares[half + n]), load, rim - ahead, -v.y, dt)
            shares[n], shares[half + n] = after.x, after.y
            # A run that does not touch here leaves nothing: zero is less than what any place remembers.
            touches, slip = load > 0.0, max(0.0, min(1.0, work.digs[n]))
            lowest = work.depth[n] + reach_of(plate_of(stations, n))
            sunk, slipped = where(touches, lowest, nothing), where(touches, slip, nothing)
            leave_rut(ground, memory, work.place_x[n], work.place_y[n], sunk, slipped)
            work.deepest[n], work.slipped[n] = max(work.deepest[n], sunk), max(work.slipped[n], slipped)
        else:
            shares[n], shares[half + n] = nothing, nothing


@part
def _displacement(soil, x, y):
    """Shear displacement over K behind a mobilised share, along it; per unit of the share's components."""
    size = sqrt(x * x + y * y)
    return -log(max(1.0 - size, _LEAST)) / max(size, _LEAST)


@part
def carry_along(soil, stations, work, shares, belts, dt):
    """The belts run on and carry what their links have sheared from station to station. Table `work` gives which are loaded."""
    ns, half = len(stations.x) // 2, len(shares) // 2
    for side in range(2):
        first = side * ns
        ahead = belts[side] >= 0.0
        was_x, was_y = shares[first], shares[half + first]  # of the station behind, before it was carried
        for k in range(ns):
            n = first + k
            x, y = shares[n], shares[half + n]
            if any_of(work.load[n] > 0.0):
                # Forward, links come from the station ahead, not yet carried in this pass; backward, from the one behind.
                front, back = first + min(k + 1, ns - 1), first + max(k - 1, 0)
                gap = where(ahead, stations.upstream[n], stations.downstream[n])
                is_fed = where(ahead, work.load[front], work.load[back]) * gap > 0.0
                way = where(is_fed, gap, 0.5 * stations.length[n])
                fx, fy = where(ahead, shares[front], was_x), where(ahead, shares[half + front], was_y)
                per, per_f = _displacement(soil, x, y), _displacement(soil, fx, fy)
                per_f = where(is_fed, per_f, 0.0 * per)
                flow = min(1.0, abs(belts[side]) * dt / way * stations.driven[n])
                jx, jy = x * per + flow * (fx * per_f - x * per), y * per + flow * (fy * per_f - y * per)
                size = sqrt(jx * jx + jy * jy)
                share = (1.0 - exp(-size)) / max(size, _LEAST)
                # A run whose station bears nothing here must not be fed because its neighbour's does.
                bears = work.load[n] > 0.0
                shares[n], shares[half + n] = where(bears, jx * share, x), where(bears, jy * share, y)
            was_x, was_y = x, y


@part
def end_resistance(robot, memory, s, now, side):
    """Resistance of soil before the sprocket that leads (N s/m against that side's motion), and where it acts.

    The front one where the side goes ahead, the rear one where it goes back: in a turn on the spot one of each. Below
    `RESISTS_FROM_MPS` it fades: a robot whose belts shear less than the soil resists creeps by less than that.
    """
    discs, stations = robot.tables.discs, robot.tables.stations
    rear = side * (len(discs.x) // 2)
    front = rear + 1
    # Both axles of a side have the same height and distance from the middle, so the same speed ahead.
    low_y, low_z = discs.y[front], discs.z[front] - discs.radius[front]
    ahead = s.velocity.x + s.rate.y * low_z - s.rate.z * low_y
    low = Vec3(where(ahead >= 0.0, discs.x[front], discs.x[rear]), low_y, low_z)
    p = place_of(s.place, now, low.x, low.y, low.z)
    depth = soil_depth(robot.ground, memory, p.x, p.y, p.z)
    wall = stations.width[side * (len(stations.x) // 2)]
    return wall * _pushed_aside(robot.soil, depth) / max(abs(ahead), RESISTS_FROM_MPS), low
