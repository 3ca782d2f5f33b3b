"""A rigid body in space, in Fossen's form: velocities in the body's axes, pose in the ground's.

    M nu. + C(nu) nu = tau + M g,    nu = (u, v, w, p, q, r),    eta. = J(eta) nu

M = diag(m, m, m, I_x, I_y, I_z) about the centre of mass. C(nu) nu is the body's axes turning under its momenta: both are turned
back by an orthogonal rotation instead, which adds no energy. What carries the body is a symmetric matrix and a right side
(`Load6`), so that six equations remain, solved in two blocks of three (docs/theory/rover, eq. (six)).

Symbols    eta position and attitude (quaternion, body to ground) · p, q, r rates of roll, pitch and yaw about the body's axes
Reference  [Fossen1994] ch. 2; signs after docs/theory/rover: x ahead, y left, z up
"""

from typing import NamedTuple

from slipfit.kernels import part
from slipfit.kernels.space import (
    Quat,
    Rows3,
    Sym3,
    Vec3,
    added,
    dot,
    factored,
    left_behind,
    rotation,
    scaled,
    solved,
    to_body,
    to_ground,
    turned,
)


class Body6(NamedTuple):
    mass: float  # kg
    roll_inertia: float  # kg m^2, about the centre of mass
    pitch_inertia: float
    yaw_inertia: float
    com_x: float  # m from the wheels' centre, ahead
    com_y: float  # m, to the left
    com_height: float  # m above the ground, of the unloaded robot


class State6(NamedTuple):
    """Motion of the centre of mass: place in the ground's frame, velocities and specific force in the body's axes."""

    place: Vec3
    attitude: Quat
    velocity: Vec3
    rate: Vec3
    felt: Vec3  # m/s^2, specific force of the step before


class Load6(NamedTuple):
    """What contacts add to the body's equations: sum of J^T H J and of J^T F, J = [1, -[arm x]]."""

    push: Sym3  # N s/m, force for velocity
    lever: Rows3  # N s, force for rate
    twist: Sym3  # N m s, moment for rate
    force: Vec3  # N
    moment: Vec3  # N m


class Free6(NamedTuple):
    """A step without contact: the velocities it would end with, and how the body is turned at its middle."""

    velocity: Vec3
    rate: Vec3
    gravity: Vec3  # m/s^2, in the body's axes
    middle: Rows3


@part
def free_motion(body, s, gravity, dt):
    """Velocities under gravity alone; C(nu) nu by rotations."""
    middle = rotation(turned(s.attitude, s.rate, 0.5 * dt))
    g = to_body(middle, gravity)
    velocity = added(left_behind(s.velocity, s.rate, dt), scaled(g, dt))
    momentum = Vec3(body.roll_inertia * s.rate.x, body.pitch_inertia * s.rate.y, body.yaw_inertia * s.rate.z)
    # Once by the old rate, then by the mean of old and new: the first alone would feed energy to a body that tumbles.
    coming = _rate(body, left_behind(momentum, s.rate, dt))
    rate = _rate(body, left_behind(momentum, scaled(added(s.rate, coming), 0.5), dt))
    return Free6(velocity, rate, g, middle)


@part
def _rate(body, momentum):
    return Vec3(momentum.x / body.roll_inertia, momentum.y / body.pitch_inertia, momentum.z / body.yaw_inertia)


@part
def solve_six(body, free, load, drag, dt):
    """Velocity and rate at the end of the step:

    (M / dt + sum J^T H J) nu' = M / dt nu_free + sum J^T F,    with drag (N s/m) along the body's x axis
    """
    m, per = body.mass / dt, 1.0 / dt
    a, b, c = load.push, load.lever, load.twist
    upper = factored(Sym3(a.xx + m + drag, a.xy, a.xz, a.yy + m, a.yz, a.zz + m))
    force = added(scaled(free.velocity, m), load.force)
    # Columns of the upper block's inverse times the coupling; then the lower block that remains.
    b1, b2, b3 = Vec3(b.x.x, b.y.x, b.z.x), Vec3(b.x.y, b.y.y, b.z.y), Vec3(b.x.z, b.y.z, b.z.z)
    c1, c2, c3, still = solved(upper, b1), solved(upper, b2), solved(upper, b3), solved(upper, force)
    ix, iy, iz = body.roll_inertia * per, body.pitch_inertia * per, body.yaw_inertia * per
    lower = factored(
        Sym3(
            c.xx + ix - dot(b1, c1), c.xy - dot(b1, c2), c.xz - dot(b1, c3), c.yy + iy - dot(b2, c2), c.yz - dot(b2, c3),
            c.zz + iz - dot(b3, c3),
        )
    )  # fmt: skip
    rate = solved(
        lower,
        Vec3(
            ix * free.rate.x + load.moment.x - dot(b1, still), iy * free.rate.y + load.moment.y - dot(b2, still),
            iz * free.rate.z + load.moment.z - dot(b3, still),
        ),
    )  # fmt: skip
    velocity = Vec3(
        still.x - c1.x * rate.x - c2.x * rate.y - c3.x * rate.z,
        still.y - c1.y * rate.x - c2.y * rate.y - c3.y * rate.z,
        still.z - c1.z * rate.x - c2.z * rate.y - c3.z * rate.z,
    )
    return velocity, rate


@part
def moved(s, free, velocity, rate, felt, dt):
    """The state at the end of the step."""
    place = added(s.place, scaled(to_ground(free.middle, velocity), dt))
    return State6(place, turned(s.attitude, rate, dt), velocity, rate, felt)


@part
def kinetic(body, s):
    """Kinetic energy of the body, J."""
    spin = body.roll_inertia * s.rate.x * s.rate.x + body.pitch_inertia * s.rate.y * s.rate.y
    return 0.5 * (body.mass * dot(s.velocity, s.velocity) + spin + body.yaw_inertia * s.rate.z * s.rate.z)
