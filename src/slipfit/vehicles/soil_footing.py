"""A rigid wheel sunk into soil, as a footing of a body in space: the steady stresses of `contact/soil/wheel`, step by step.

The wheel turns against T / R, the shear around its rim, which acts as traction at its lowest point; what the soil takes from that
on its way to the drawbar pull, R_c = T / R - DP, holds the hub back against its travel (the radial stress passes through the axle
and makes no torque). Secants keep both passive, and hold a robot at rest:

    F_x = F_0 + (dT/R per slip) s_x',    F_y = (per slip) s_y',    F_hub = -R_c u' / max(|u|, v_fade)    (`held_back`)

The slip that digs follows the wheel's slip over a way of its diameter (of rim or hub, the faster): a spinning wheel digs in as it
turns, a parked one does not. A wheel that rises unloads the soil below it along the line of `pressure`, until it has rolled on to
other soil. It meets the soil ahead as other wheels have left it there, and leaves its own rut behind.

Symbols    as in `contact/soil/wheel` · l = sqrt(2 R z) length of contact ahead of the axle
Reference  derived in docs/theory/soil, eq. (footing)
"""

from math import sqrt
from typing import NamedTuple

from slipfit.contact.slip import RESISTS_FROM_MPS, transport_speed
from slipfit.contact.soil.constants import Soil
from slipfit.contact.soil.plate import Place
from slipfit.contact.soil.pressure import SHALLOWEST_M, exponent_at
from slipfit.contact.soil.wheel import DEEPEST_SHARE, SLOWEST_TURN, Rim, base_push, base_push_on, depth_into_base, stresses
from slipfit.contact.touch import Traction, memory_size, slot, strongest
from slipfit.ground.shape import leave_rut, rut_at
from slipfit.kernels import alike, part, where
from slipfit.kernels.space import Vec3, to_ground
from slipfit.vehicles.driven_wheel import release
from slipfit.vehicles.footing import (
    Left,
    Met,
    is_sunk,
    leave,
    limit_here,
    look_ahead,
    meet,
    resists,
    static_depth,
    static_load,
    yields,
)

#: What a contact remembers: the slip that digs, how deep the soil below it has been pressed, and the share of the soil's strength
#: with which shear lifts the wheel.
_DIGGING, _PRESSED, _LIFTING = 0, 1, 2

#: Way, in radii, over which slip digs a wheel in: single wheels in test bins settle within about their diameter.
_DIGS_OVER = 2.0

_NOTHING = 1e-30


class SoilFooting(NamedTuple):
    """Rigid wheels on soil; its constants are the law's."""

    width: float  # m
    cell: float  # m, of the ground's memory: how far beyond its entry a wheel looks


class Strength(NamedTuple):
    """The most that a contact can give: shear in any direction, and what soil beside the wheel bears besides, across."""

    shear: float  # N
    beside: float  # N


@strongest.of(Strength)
def _(law, force_x, force_y, load):
    pushed = max(-law.beside, min(law.beside, force_y))
    sheared = force_y - pushed
    scale = min(1.0, law.shear / sqrt(force_x * force_x + sheared * sheared + _NOTHING))
    return scale * force_x, pushed + scale * sheared


@memory_size.of(Soil)
def _(law):
    return 3


@resists.of(SoilFooting)
def _(footing):
    return True


@yields.of(SoilFooting)
def _(footing):
    return True


@limit_here.of(SoilFooting)
def _(footing, law, work, n):
    return Strength(work.most[n], work.beside[n])


@is_sunk.of(SoilFooting)
def _(footing, depth, radius):
    return depth > radius


@part
def _reach(radius, depth):
    """Length of the contact ahead of the axle, m."""
    return sqrt(2.0 * radius * max(depth, SHALLOWEST_M))


@look_ahead.of(SoilFooting)
def _(footing, law, ground, memory, hubs, work, n, below, now):
    ahead = to_ground(now, Vec3(-work.dir_z[n], 0.0 * work.dir_x[n], work.dir_x[n]))
    way = _reach(hubs.radius[n], work.depth[n]) + footing.cell
    way = where(work.facing[n] < 0.0, -way, way)
    rut, rut_slip = rut_at(ground, memory, below.x + way * ahead.x, below.y + way * ahead.y)
    share = work.went[n] / (
        work.went[n] + footing.cell
    )  # from cell to cell as it goes: ruts have no edges, and at rest nothing jumps
    work.rut[n], work.rut_slip[n] = (
        work.rut[n] + share * (rut - work.rut[n]),
        work.rut_slip[n] + share * (rut_slip - work.rut_slip[n]),
    )
    work.place_x[n], work.place_y[n] = below.x, below.y


class HeldBack(NamedTuple):
    """Force of the soil on a hub along its wheel: start - per_speed · (the hub's speed at the end of the step)."""

    start: float  # N
    per_speed: float  # N s/m


@part
def held_back(resistance, traction, rim, ground_x, hub_x):
    """How soil holds a hub back: by R_c against its travel; of a wheel that spins faster than it travels, against the rim's way.

    Soil lies ahead of where a wheel rolls to, also of one that spins on the spot or slides back, whose pull goes on from that of
    large slip, T/R - R_c. On the spot it takes no more than traction gives, A = min(R_c, T/R): the two together never drive.

        u along w    -A - (R_c - A) u' / |u|  = -R_c            u against w    -A + (R_c + A) |u'| / |w|  = R_c at |u| = |w|

    Symbols    w, u speeds of rim and hub · T/R traction at the guess, with its sign
    """
    against, turning = rim * hub_x < 0.0, max(abs(rim), RESISTS_FROM_MPS)
    by_travel = resistance / max(abs(hub_x), RESISTS_FROM_MPS)
    on_the_spot = max(0.0, min(resistance, where(rim < 0.0, -traction, traction)))
    by_rim = where(against, (resistance + on_the_spot) / turning, (resistance - on_the_spot) / max(abs(hub_x), RESISTS_FROM_MPS))
    spins = abs(rim) > abs(ground_x)
    return HeldBack(where(spins, -on_the_spot * rim / turning, alike(0.0, rim)), where(spins, by_rim, by_travel))


@meet.of(SoilFooting)
def _(footing, law, powertrain, losses, memory, work, n, radius, ground_x, ground_y, rising, hub_x, dt):
    free_rim, give = release(powertrain, losses, work, n, radius, work.load[n])
    rim = free_rim - give * work.expected_x[n]
    slip_x, slip_y, zero = rim - ground_x, -ground_y, alike(0.0, rim)
    speed = transport_speed(ground_x, ground_y, rim)
    size = max(abs(rim), SLOWEST_TURN * speed)
    per, turning = 1.0 / size, where(abs(rim) >= size, rim, ground_x)
    way = where(turning < 0.0, alike(-1.0, rim), 1.0)
    # A rim that turns against a faster hub drags soil along like a locked one, and its own speed with that.
    rolling, along, across = max(0.0, way * rim) * per, way * slip_x * per, slip_y * per
    depth, pressed = work.depth[n], memory.contacts[slot(memory, law, n, _PRESSED)]
    digging = memory.contacts[slot(memory, law, n, _DIGGING)]
    lowest = max(max(depth, pressed), SHALLOWEST_M)
    size_of_rim = Rim(radius, footing.width)
    sums = stresses(law, size_of_rim, Place(work.rut[n], work.rut_slip[n]), lowest, digging, rolling, along, across)
    # Above what it has pressed the wheel unloads along a line; all of the soil's stresses go with the normal ones.
    per_rebound = 1.0 / (law.rebound * lowest)
    kept = where(depth > 0.0, max(0.0, 1.0 - (lowest - depth) * per_rebound), zero)
    # Shear lifts a wheel once it has dragged the soil along: over a way of K towards what steady rolling gives, kept at rest.
    strength = max(sums.strength, _NOTHING)
    lifting, went = memory.contacts[slot(memory, law, n, _LIFTING)], dt * speed
    work.lifts[n] = (sums.rise_start + sums.rise_per_slip * along) / strength
    lifting = lifting + (work.lifts[n] - lifting) * went / (went + law.shear_modulus)
    full = max(0.0, sums.lift + lifting * strength)
    sinks = depth - dt * rising >= lowest
    slope = full * where(sinks, (exponent_at(law, digging) + 0.5) / lowest, per_rebound)
    damping = law.damping * footing.width * _reach(radius, lowest)
    # A rigid base remembers nothing and gives back over the way that it was pressed in: it is what the present depth says, not
    # on the soil's line, which is far longer and would give back several times as much as went in.
    base = base_push_on(law, size_of_rim, depth, depth - dt * rising)
    by_base = max(0.0, base.now - base.slope * dt * rising)
    by_soil = kept * full
    push = by_soil + base.now
    # Soil that has been pressed away neither pushes nor damps; a base that is entered in this step does, also from the air.
    nn = where(by_soil > 0.0, slope * dt + damping, zero) + base.slope * dt
    load = max(0.0, push - nn * rising)
    is_loaded = (load > 0.0) & ((push > 0.0) | (base.slope > 0.0))
    work.start_n[n], work.nn[n], work.load[n] = (
        where(is_loaded, push, zero),
        where(is_loaded, nn, zero),
        where(is_loaded, load, zero),
    )
    resistance = (sums.turn_start - sums.pull_start) + (sums.turn_per_slip - sums.pull_per_slip) * along + sums.drag
    turned = way * (sums.turn_start + sums.turn_per_slip * along)
    back = held_back(kept * max(0.0, resistance), kept * turned, rim, ground_x, hub_x)
    work.hub_start[n], work.resist[n] = back.start, back.per_speed
    work.most[n], work.beside[n] = kept * sums.strength + law.friction * by_base, kept * sums.beside
    secant, on_base = kept * per, by_base * sums.base_per_slip * per
    answer = Traction(
        kept * way * sums.turn_start, zero, secant * sums.turn_per_slip + on_base, zero, secant * sums.side_per_slip + on_base
    )
    return Met(free_rim, give, answer)


@leave.of(SoilFooting)
def _(footing, law, ground, memory, work, n, radius, touch, rising, dt):
    ground_x, rim = touch.rim - touch.slip_x, touch.rim
    speed = transport_speed(ground_x, touch.slip_y, rim)
    deeper = work.depth[n] - dt * rising
    # A wheel has turned round, and looks the other way for the soil ahead of it, once it went back by the length of its contact.
    work.facing[n] = max(-1.0, min(1.0, work.facing[n] + dt * ground_x / _reach(radius, deeper)))
    work.depth[n] = max(0.0, deeper)
    way = where(where(abs(rim) >= abs(ground_x), rim, ground_x) < 0.0, alike(-1.0, rim), 1.0)
    slip = max(-1.0, min(1.0, way * touch.slip_x / speed))
    digging, pressed = slot(memory, law, n, _DIGGING), slot(memory, law, n, _PRESSED)
    went = dt * speed
    work.went[n] = went
    memory.contacts[digging] = memory.contacts[digging] + (slip - memory.contacts[digging]) * went / (went + _DIGS_OVER * radius)
    # What it stands on is replaced over the rebound's share of the contact: so it comes up within the contact's length.
    share = went / (went + law.rebound * _reach(radius, deeper))
    memory.contacts[pressed] = max(
        max(0.0, deeper), memory.contacts[pressed] + share * (max(0.0, deeper) - memory.contacts[pressed])
    )
    touched = work.load[n] > 0.0
    nothing = alike(0.0, deeper)
    lifting = slot(memory, law, n, _LIFTING)
    lifted = memory.contacts[lifting] + (work.lifts[n] - memory.contacts[lifting]) * went / (went + law.shear_modulus)
    memory.contacts[lifting] = where(touched, lifted, nothing)
    leave_rut(
        ground, memory, work.place_x[n], work.place_y[n], where(touched, max(0.0, deeper), nothing),
        where(touched, max(0.0, memory.contacts[digging]), nothing),
    )  # fmt: skip
    return Left(nothing, -work.load[n] * rising * dt)


@part
def _at_rest(footing, law, depth, radius):
    """Load (N) of a wheel that stands in untouched soil."""
    zero = alike(0.0, depth)
    size = Rim(radius, footing.width)
    return stresses(law, size, Place(zero, zero), depth, zero, zero, zero, zero).lift + base_push(law, size, depth)


@static_depth.of(SoilFooting)
def _(footing, law, work, n, radius, load):
    # One round of a search each time: in untouched soil steps by a power are enough. The guess is kept in `most`, which the first
    # step writes anew. What a layer does not carry its base does: there the base alone is solved for, steps would go to and fro.
    guess = where(work.most[n] > 0.0, work.most[n], 0.05 * radius)
    size = Rim(radius, footing.width)
    by_soil = max(_at_rest(footing, law, guess, radius) - base_push(law, size, guess), _NOTHING)
    better = guess * (max(load, _NOTHING) / by_soil) ** (1.0 / (law.exponent + 0.5))
    better = where(better > law.layer, law.layer + depth_into_base(law, size, load - by_soil), better)
    work.most[n] = max(SHALLOWEST_M, min(DEEPEST_SHARE * radius, better))
    return work.most[n]


@static_load.of(SoilFooting)
def _(footing, law, work, n, radius):
    depth = max(work.depth[n], SHALLOWEST_M)
    return where(work.depth[n] > 0.0, _at_rest(footing, law, depth, radius), alike(0.0, depth))
