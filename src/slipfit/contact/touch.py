"""Where a vehicle meets a law: what a contact feels, and what it answers.

A law answers with a secant: the force as an affine function of the slip velocity at the END of the step,

    F = start + G s',    G = [[xx, xy], [xy, yy]] symmetric, positive semidefinite,

with start and G taken at the best guess of that slip velocity. The vehicle solves for the velocities that this force itself
brings about (docs/theory/stepping), so that stiff friction is stable at any step, and a law never sees a time step it
could overshoot. Rigid laws have start = 0; laws with memory (soils, tyre relaxation) use it.
"""

from typing import NamedTuple

from slipfit.kernels import alike, chosen_by_type, part


class Touch(NamedTuple):
    """One contact element at one moment. Slip velocity as in `slip`: (w - u, -v)."""

    slip_x: float  # m/s, along the wheel
    slip_y: float  # m/s, to the left
    rim: float  # m/s, speed of the rim
    load: float  # N, normal force, >= 0


class Traction(NamedTuple):
    """The law's answer; the unit of the secants is N s/m."""

    start_x: float
    start_y: float
    xx: float
    xy: float
    yy: float


@chosen_by_type
def traction(law, touch, memory, contact, dt):
    """Secant of the law at this touch.

    A law with memory finds its number k of this contact at `slot(memory, law, contact, k)` in `memory.contacts`.
    """
    raise NotImplementedError("a law registers its own traction")


@chosen_by_type
def strongest(law, force_x, force_y, load):
    """The force, cut to what the contact can carry at this load. It starts the search for the force at the end of a step:
    without it a contact that is asked for more than it has would need many steps to break away."""
    return force_x, force_y


@chosen_by_type
def coupled(law):
    """Whether the law's answer may have a start (laws with memory) or couple its axes. A law that has neither says so, and the
    vehicle saves the arithmetic; the battery of tests holds it to its word."""
    return True


@chosen_by_type
def blended(law, other, share):
    """The law of a contact that spends a share of the step under another law of its kind: a wheel that rolls from a roller onto
    the rigid part beside it."""
    raise NotImplementedError("a law for wheels with rollers registers how it blends")


@chosen_by_type
def remember(law, touch, memory, contact, dt):
    """Write into memory what the contact went through in the step that has just ended. Most laws have nothing to remember."""


@chosen_by_type
def memory_size(law):
    """How many numbers a law keeps for each contact element."""
    return 0


@part
def slot(memory, law, contact, k):
    """Where in `memory.contacts` the k-th number of a contact is kept: all contacts' first numbers, then all second ones."""
    return k * (len(memory.contacts) // memory_size(law)) + contact


@part
def along_and_across(xx, yy):
    """Answer of a law without memory whose axes are the wheel's own."""
    zero = alike(0.0, xx)
    return Traction(zero, zero, xx, zero, yy)


@part
def force(answer, slip_x, slip_y):
    """Force of the ground on the wheel (N), along the wheel and to the left, at a slip velocity."""
    return (
        answer.start_x + answer.xx * slip_x + answer.xy * slip_y,
        answer.start_y + answer.xy * slip_x + answer.yy * slip_y,
    )
