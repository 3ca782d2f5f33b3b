"""How a wheel of a body in space stands on the ground: on a tyre over hard ground, or sunk into soil (`soil_footing`).

A footing answers for one wheel and one step, in the order of the step: what lies ahead of it, what the contact gives along the
normal and across it, what it leaves behind. `rough` asks, and knows no class behind it. This module has the questions, and the
tyre's answers:

    N = max(0, k delta + c delta.),    friction by the law

Symbols    delta depth of the undeformed wheel in the ground · k, c stiffness and damping of the tyre
"""

from typing import NamedTuple

from slipfit.contact.touch import Touch, Traction, remember, traction
from slipfit.kernels import alike, chosen_by_type, where
from slipfit.vehicles.driven_wheel import release


class Tyre(NamedTuple):
    stiffness: float  # N/m
    damping: float  # N s/m


class Met(NamedTuple):
    """A wheel against the ground: how it would turn, and the contact's secant."""

    free_rim: float  # m/s at the end of the step without contact force
    give: float  # of which each newton takes so much
    answer: Traction


class Left(NamedTuple):
    """What a contact took in a step, J."""

    in_tyre: float
    in_soil: float


@chosen_by_type
def look_ahead(footing, law, ground, memory, hubs, work, n, below, now):
    """Note what the ground ahead of a contact remembers; `below` is the wheel's lowest point, `now` the body's attitude."""


@chosen_by_type
def meet(footing, law, powertrain, losses, memory, work, n, radius, ground_x, ground_y, rising, hub_x, dt):
    """The contact's answers at a guess of the body's velocities there, and of the hub's along the wheel. Normal force and its
    secant go into `work`."""
    raise NotImplementedError("a footing registers how it meets the ground")


@chosen_by_type
def resists(footing):
    """Whether soil holds the hub back (`work.hub_start`, `work.resist`). Where none does, the vehicle saves the arithmetic."""
    return False


@chosen_by_type
def yields(footing):
    """Whether a contact of which a step's last passes still ask more than it has gives just what it has."""
    return False


@chosen_by_type
def limit_here(footing, law, work, n):
    """What limits the forces of this contact: something with `strongest`."""
    return law


@chosen_by_type
def leave(footing, law, ground, memory, work, n, radius, touch, rising, dt):
    """What a contact remembers and leaves behind after a step; returns what it took."""
    raise NotImplementedError("a footing registers what it leaves")


@chosen_by_type
def stored(footing, depth):
    """Energy (J) that a contact would give back."""
    return 0.0 * depth


@chosen_by_type
def static_depth(footing, law, work, n, radius, load):
    """How deep (m) a resting load presses a wheel in. Asked again and again while a robot is put down: it may get nearer."""
    raise NotImplementedError("a footing registers how a load presses it")


@chosen_by_type
def static_load(footing, law, work, n, radius):
    """The load (N) of a wheel at rest at `work.depth`."""
    raise NotImplementedError("a footing registers what it carries")


@chosen_by_type
def is_sunk(footing, depth, radius):
    """Whether a wheel sank so deep that nothing of the model holds. Tyres do not sink."""
    return depth < depth


@meet.of(Tyre)
def _(footing, law, powertrain, losses, memory, work, n, radius, ground_x, ground_y, rising, hub_x, dt):
    depth = work.depth[n]
    push, nn = footing.stiffness * depth, footing.stiffness * dt + where(depth > 0.0, footing.damping, 0.0)
    load = max(0.0, push - nn * rising)
    is_loaded = load > 0.0
    work.nn[n], work.start_n[n] = where(is_loaded, nn, 0.0), where(is_loaded, push, 0.0)
    work.load[n] = load
    free_rim, give = release(powertrain, losses, work, n, radius, load)
    rim = free_rim - give * work.expected_x[n]
    return Met(free_rim, give, traction(law, Touch(rim - ground_x, -ground_y, rim, load), memory, n, dt))


@yields.of(Tyre)
def _(footing):
    # Its load changes within the step; friction at its limit must not be that of the load before.
    return True


@leave.of(Tyre)
def _(footing, law, ground, memory, work, n, radius, touch, rising, dt):
    remember(law, touch, memory, n, dt)
    depth, deeper = max(0.0, work.depth[n]), max(0.0, work.depth[n] - dt * rising)
    # Damping of a loaded tyre; one that relaxes without touching spends what was in its spring.
    damped = where(depth > 0.0, footing.damping, 0.0) * (rising * rising * dt)
    work.depth[n] = deeper
    relaxed = 0.5 * footing.stiffness * (depth * depth - deeper * deeper)
    return Left(where(work.load[n] > 0.0, damped, relaxed), alike(0.0, damped))


@stored.of(Tyre)
def _(footing, depth):
    return 0.5 * footing.stiffness * max(0.0, depth) * max(0.0, depth)


@static_depth.of(Tyre)
def _(footing, law, work, n, radius, load):
    return load / footing.stiffness


@static_load.of(Tyre)
def _(footing, law, work, n, radius):
    return footing.stiffness * max(0.0, work.depth[n])
