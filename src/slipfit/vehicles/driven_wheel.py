"""One wheel with its drive, between a body that pushes and a ground that holds: the same steps for every skid-steer vehicle.

In the order of a step: `release` says how the wheel would turn without contact, `soften` eliminates it from the law's secant,
`surprises` whether the force that came out was to be expected, `roll_on` what the step leaves behind (docs/theory/stepping).
Each works on wheel n of a vehicle's `work`, for floats, lanes and packs alike.
"""

from typing import NamedTuple

from slipfit.contact.touch import Traction, coupled, strongest
from slipfit.kernels import alike, part
from slipfit.vehicles.losses import has_rolling, rolling_drag
from slipfit.vehicles.planar_body import TOLERATED_EXCESS
from slipfit.vehicles.powertrain import Spin, after_step, free_wheel, is_misjudged, keep_spin, spin_of


class Rolled(NamedTuple):
    """A wheel's drive through a step."""

    before: Spin
    after: Spin
    torque: float  # N m, of contact and rolling resistance on the wheel
    in_rolling: float  # J


@part
def release(powertrain, losses, work, n, radius, load):
    """Rim speed (m/s) at the end of the step without contact force, and how much of it each newton takes."""
    spin, torque = spin_of(work, n), radius * work.expected_x[n]
    if has_rolling(losses):
        work.drag[n] = rolling_drag(losses, load, radius, spin.speed)
        torque += work.drag[n] * spin.speed
    free_speed, mobility = free_wheel(powertrain, work.command[n], spin, torque)
    work.free_speed[n], work.mobility[n] = free_speed, mobility
    if has_rolling(losses):  # omega' = free - mobility (torque + drag omega'), solved for omega'
        kept = 1.0 / (1.0 + mobility * work.drag[n])
        free_speed, mobility = kept * free_speed, kept * mobility
    return radius * free_speed, mobility * radius * radius


@part
def soften(law, answer, give, free_rim):
    """The law's secant with the wheel eliminated: it gives way to the force that it transmits."""
    kept = 1.0 / (1.0 + give * answer.xx)
    xx, zero = kept * answer.xx, alike(0.0, answer.xx)
    if coupled(law):
        xy, yy = kept * answer.xy, answer.yy - give * kept * answer.xy * answer.xy
        start_y = answer.start_y - give * kept * answer.xy * answer.start_x + xy * free_rim
        return Traction(kept * answer.start_x + xx * free_rim, start_y, xx, xy, yy)
    return Traction(xx * free_rim, zero, xx, zero, answer.yy)


@part
def is_excess(force_x, force_y, most_x, most_y):
    """Whether a force is more than a contact carries, of which (most_x, most_y) is what it could."""
    return abs(force_x - most_x) + abs(force_y - most_y) > TOLERATED_EXCESS * (abs(most_x) + abs(most_y))


@part
def surprises(powertrain, law, losses, work, n, radius, force_x, force_y, load):
    """Keep the force of a solution; whether it is more than the contact carries, or makes the drive act otherwise than taken."""
    work.force_x[n], work.force_y[n] = force_x, force_y
    most_x, most_y = strongest(law, force_x, force_y, load)
    work.next_x[n], work.next_y[n] = most_x, most_y
    excess = is_excess(force_x, force_y, most_x, most_y)
    spin, torque = spin_of(work, n), radius * force_x
    if has_rolling(losses):
        torque += work.drag[n] * spin.speed
    return excess | is_misjudged(powertrain, work.command[n], spin, torque, work.mobility[n])


@part
def roll_on(powertrain, losses, work, n, radius, dt):
    """Wheel speed, angle and drive at the end of the step; what to expect next."""
    before, torque = spin_of(work, n), radius * work.force_x[n]
    speed, in_rolling = work.free_speed[n] - work.mobility[n] * torque, alike(0.0, torque)
    if has_rolling(losses):
        speed /= 1.0 + work.mobility[n] * work.drag[n]
        torque += work.drag[n] * speed
        in_rolling = work.drag[n] * (speed * speed * dt)
    after = after_step(powertrain, work.command[n], before, speed, torque)
    keep_spin(powertrain, work, n, after)
    work.angle[n] = work.angle[n] + dt * speed
    work.expected_x[n], work.expected_y[n] = work.next_x[n], work.next_y[n]
    work.lowest[n] = min(work.lowest[n], work.load[n])
    return Rolled(before, after, torque, in_rolling)
