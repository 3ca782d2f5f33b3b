"""Hard contacts of a tracked robot within a step: what they add at a guess of the velocities to come, and what they carry then.

    N = k delta^p + c min(1, delta / delta_c) delta.,  N >= 0

delta is taken at the end of the step by Newton's linearisation, friction by its secant; a contact that would carry more than its
friction is cut to that and solved by its secant once more, where sliding has begun. A step whose contacts come out otherwise than
guessed is solved with care: places that strike by the chord from the surface to the depth guessed, and at last by a damper that
takes more than the ground will store, whatever comes out (docs/theory/tracked, Strikes).

Symbols    delta depth (m) · k, p, c, delta_c constants of hard contact
Reference  derived in docs/theory/tracked, eq. (eight)
"""

from typing import Any, NamedTuple

from slipfit.contact.touch import Touch, strongest, traction
from slipfit.kernels import alike, any_of, part, where
from slipfit.vehicles.track_contact import arm_and_axes, carry, over

#: A contact may carry this much more than its friction before a step is solved again.
_TOLERATED = 0.005

#: Smallest depth that a power is taken of, m.
SHALLOWEST_M = 1e-12

#: Places this far above the ground may reach it within a step, m.
_SPEED_REACH_M = 0.005


class HardContact(NamedTuple):
    stiffness: float  # N/m^p, of each place that touches
    exponent: float  # p
    damping: float  # N s/m
    full_at: float  # m, depth from which the damping acts in full


class Care(NamedTuple):
    """How hard contacts are taken in this pass."""

    by_chord: bool  # places that strike, by the chord
    at_last: bool  # all places so that nothing is gained whatever comes out
    active: Any  # the runs that this holds for; others keep what they found
    free_v: Any  # velocity and rate of the robot without contacts
    free_r: Any


@part
def _answer(hard, depth, coming, rising, care, dt):
    """Normal answer N = start - nn rising of places that come to a depth at the guess."""
    nothing = alike(0.0, depth)
    at = coming
    if care.at_last:
        at = where(care.active, max(0.0, depth), coming)
    power = max(at, SHALLOWEST_M) ** (hard.exponent - 1.0)
    slope = hard.exponent * hard.stiffness * power
    damped = hard.damping * min(1.0, coming / hard.full_at)
    nn = dt * slope + damped
    start_n = hard.stiffness * power * at + slope * (depth - at)
    if care.at_last:
        # As much as the place stores if it goes on as fast as it came.
        taken = dt * hard.stiffness * max(coming - depth, SHALLOWEST_M) ** (hard.exponent - 1.0)
        start_n = where(care.active, hard.stiffness * power * at, start_n)
        nn += where(care.active, taken, nothing)
    elif care.by_chord:
        strikes = care.active & (depth <= 0.0)
        chord = hard.stiffness * power - damped * rising / max(coming, SHALLOWEST_M)
        start_n, nn = where(strikes, chord * depth, start_n), where(strikes, dt * chord, nn)
    return start_n, nn


@part
def gather_hard(hard, law, memory, work, velocity, rate, belt, care, first, count, sums, dt):
    """What hard contacts of one side add, taken at a guess of the velocities to come."""
    for k in range(count):
        c = first + k
        if any_of(work.depth[c] > 0.0 - _SPEED_REACH_M):
            arm, normal, along, across = arm_and_axes(work, c)
            ahead, aside, rising = over(velocity, rate, arm, along, across, normal)
            depth = work.depth[c]
            coming = max(0.0, depth - dt * rising)
            if care.at_last:
                _, _, falling = over(care.free_v, care.free_r, arm, along, across, normal)
                coming = where(care.active, max(coming, depth - dt * falling), coming)
            # Each place by its own depth: not because a neighbour in its pack, or the same place of another run, is near.
            is_near = (coming > 0.0) & (depth > 0.0 - _SPEED_REACH_M)
            nothing = alike(0.0, depth)
            work.nn[c] = work.start_n[c] = work.secant[c] = work.load[c] = nothing
            if any_of(is_near):
                start_n, nn = _answer(hard, depth, coming, rising, care, dt)
                load = start_n - nn * rising
                is_loaded = is_near & (load > 0.0)
                load = where(is_loaded, load, nothing)
                if care.at_last:
                    is_loaded = is_near & (care.active | is_loaded)
                rim = work.driven[c] * belt
                answer = traction(law, Touch(rim - ahead, -aside, rim, load * work.grip[c]), memory, c, dt)
                is_cut = work.is_cut[c] > 0.5
                g = where(is_cut, nothing, answer.xx)
                holds = is_cut & is_loaded  # what bears nothing carries no cut force either
                start_x, start_y = where(holds, work.cut_x[c], nothing), where(holds, work.cut_y[c], nothing)
                work.nn[c], work.start_n[c] = where(is_loaded, nn, nothing), where(is_loaded, start_n, nothing)
                work.secant[c], work.load[c] = g, load
                sums = carry(
                    sums, arm, normal, along, work.driven[c], work.start_n[c], work.nn[c], g, nothing, start_x, start_y
                )  # fmt: skip
        else:
            work.load[c] = alike(0.0, work.depth[c])
    return sums


@part
def _is_missed(hard, work, c, rising, dt):
    """Whether a place that was free at the guess bears at the new velocities: the robot turned about another place meanwhile."""
    coming = work.depth[c] - dt * rising
    missed = (work.depth[c] > 0.0 - _SPEED_REACH_M) & (work.load[c] <= 0.0) & (coming > 0.0)
    if any_of(missed):
        depth = max(coming, SHALLOWEST_M)
        load = hard.stiffness * depth**hard.exponent - hard.damping * min(1.0, depth / hard.full_at) * rising
        missed = missed & (load > 0.0)
    return missed


@part
def _is_undercharged(hard, work, c, load, rising, was_loaded, dt):
    """Whether a place that struck stores more than its load has taken on the way."""
    coming = work.depth[c] - dt * rising
    struck = was_loaded & (work.depth[c] <= 0.0) & (coming > 0.0)
    if any_of(struck):
        stored = hard.stiffness / (hard.exponent + 1.0) * max(coming, SHALLOWEST_M) ** (hard.exponent + 1.0)
        struck = struck & (stored > -load * dt * rising)
    return struck


@part
def share_hard(hard, law, work, velocity, rate, belt, cuts, first, count, again, astray, dt):
    """Forces that belong to the new velocities; whether they were not to be expected: friction that was too much, and places that
    would pull, that were missed or that were stopped too weakly. `cuts` where what is too much may be cut for the next pass."""
    most_cut = 0.5 if cuts else -1.0
    for k in range(count):
        c = first + k
        if any_of(work.depth[c] > 0.0 - _SPEED_REACH_M):
            arm, normal, along, across = arm_and_axes(work, c)
            ahead, aside, rising = over(velocity, rate, arm, along, across, normal)
            nothing = alike(0.0, ahead)
            was_loaded, was_cut = work.load[c] > 0.0, work.is_cut[c] > 0.5
            load = work.start_n[c] - work.nn[c] * rising
            pulls = was_loaded & (load < 0.0)
            load = where(was_loaded, max(0.0, load), nothing)
            force_x = where(was_cut, work.cut_x[c], work.secant[c] * (work.driven[c] * belt - ahead))
            force_y = where(was_cut, work.cut_y[c], -work.secant[c] * aside)
            most_x, most_y = strongest(law, force_x, force_y, load * work.grip[c])
            excess = abs(force_x - most_x) + abs(force_y - most_y) > _TOLERATED * (abs(most_x) + abs(most_y)) + 1e-9
            is_new = was_loaded & excess & (work.is_cut[c] < most_cut)
            work.cut_x[c], work.cut_y[c] = most_x, most_y
            # What was cut once is solved by its secant next, where sliding has begun.
            work.is_cut[c] = where(is_new, 1.0 + nothing, nothing)
            again = again | is_new | (was_loaded & was_cut)
            astray = astray | pulls | _is_missed(hard, work, c, rising, dt)
            astray = astray | _is_undercharged(hard, work, c, load, rising, was_loaded, dt)
            work.load[c] = load
            work.force_x[c], work.force_y[c] = where(was_loaded, force_x, nothing), where(was_loaded, force_y, nothing)
    return again, astray
