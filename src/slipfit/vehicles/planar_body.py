"""A rigid body on wheels that moves in a plane: state, equations and records that all dynamic vehicles share.

    m (u. - v r) = sum F_x + m g_x,    m (v. + u r) = sum F_y + m g_y,    I r. = sum (X F_y - Y F_x)

A step solves them for the velocities at its end; what wheels add is a symmetric, positive semidefinite matrix and a right side
(`Sums`), so that three equations remain (docs/theory/stepping).

Symbols    u, v, r velocity of the centre of mass ahead, to the left, yaw rate · g gravity in the body's axes
"""

from math import isfinite
from typing import Any, NamedTuple

from slipfit.contact.slip import STICK_SPEED_MPS
from slipfit.ground.shape import gravity_in_ground
from slipfit.kernels import alike, cos_and_sin, part, put, where
from slipfit.vehicles.driver import Seen
from slipfit.vehicles.run_loop import NOT_FINITE, OK, record_wheels

#: What a run records, in this order; the pose is that of the wheels' centre, the specific force that of the centre of mass.
BODY_COLUMNS = (
    "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "fx_mps2", "fy_mps2", "yaw_accel_radps2",
)  # fmt: skip

#: The equations of a step are solved again while a wheel that was expected to hold its speed lacks the torque (or the other
#: way round), or a contact carries more than its limit by this share: rare, and done after two or three times.
MOST_PASSES = 4
TOLERATED_EXCESS = 0.01

#: A robot that moves no faster than this (m/s and rad/s), and turns no wheel, rests.
HELD_MPS = 100.0 * STICK_SPEED_MPS


class Body(NamedTuple):
    mass: float  # kg
    yaw_inertia: float  # kg m^2 about the centre of mass
    com_x: float  # m from the wheels' centre, ahead
    com_y: float  # m, to the left
    com_height: float  # m above the ground


class Start(NamedTuple):
    """Pose and velocity of the wheels' centre at the start; the wheels roll along without slip."""

    x: float
    y: float
    heading: float
    u: float
    v: float
    yaw_rate: float


class Supports(NamedTuple):
    """Edges of the area that wheels and casters span, of one robot: tables with one entry per edge."""

    x: Any  # outward normal
    y: Any
    reach: Any  # m, from the wheels' centre


class State(NamedTuple):
    """Motion of the centre of mass."""

    x: float
    y: float
    heading: float
    u: float
    v: float
    yaw_rate: float
    fx: float  # specific force of the step before, m/s^2
    fy: float
    yaw_accel: float


class Sums(NamedTuple):
    """The body's three equations: a symmetric matrix and a right side."""

    uu: float
    uv: float
    ur: float
    vv: float
    vr: float
    rr: float
    u: float
    v: float
    r: float


class Free(NamedTuple):
    """What the body would do in a step without contact."""

    u: float
    v: float
    sums: Any


@part
def free_motion(body, s, gx, gy, drag, moment, dt, zero):
    """The body's equations before the wheels come in; drag (N s/m) acts along x, a moment (N m) about the vertical."""
    # The frame turns under the velocity: a rotation by -r dt, exactly orthogonal, so that it adds no energy.
    half = 0.5 * dt * s.yaw_rate
    per = 1.0 / (1.0 + half * half)
    ct, st = (1.0 - half * half) * per, 2.0 * half * per
    u0, v0 = ct * s.u + st * s.v, ct * s.v - st * s.u
    inertia, yaw_inertia = body.mass / dt, body.yaw_inertia / dt
    sums = Sums(
        inertia + drag, zero, zero, inertia, zero, yaw_inertia,
        inertia * u0 + body.mass * gx, inertia * v0 + body.mass * gy, yaw_inertia * s.yaw_rate + moment,
    )  # fmt: skip
    return Free(u0, v0, sums)


@part
def solve(a, is_coupled):
    """Velocities from the body's equations: L D L^T of a symmetric positive definite matrix; uv is zero where not coupled, as
    for most laws under wheels that all point ahead."""
    if is_coupled:
        per_uu = 1.0 / a.uu
        l_vu, l_ru = a.uv * per_uu, a.ur * per_uu
        per_vv = 1.0 / (a.vv - l_vu * a.uv)
        rest_vr = a.vr - l_vu * a.ur
        l_rv = rest_vr * per_vv
        d_rr = a.rr - l_ru * a.ur - l_rv * rest_vr
        bv = a.v - l_vu * a.u
        r = (a.r - l_ru * a.u - l_rv * bv) / d_rr
        v = bv * per_vv - l_rv * r
        return a.u * per_uu - l_vu * v - l_ru * r, v, r
    per_both = 1.0 / (a.uu * a.vv)
    per_uu, per_vv = a.vv * per_both, a.uu * per_both
    l_ru, l_rv = a.ur * per_uu, a.vr * per_vv
    r = (a.r - l_ru * a.u - l_rv * a.v) / (a.rr - l_ru * a.ur - l_rv * a.vr)
    return a.u * per_uu - l_ru * r, a.v * per_vv - l_rv * r, r


@part
def first_guess(s, rims, u, v, r):
    """Velocities at which a step first asks its laws: those expected at its end; of a parked robot those that it has.

    What is expected goes on as the step before did. At rest (no rim turns), where a curve has its peak within the stick speed,
    that overshoots: a robot held by 0.95 of the peak would skip it and slide. From the velocity it has, secants approach the
    force that holds it from below.
    """
    rests = max(max(abs(u), abs(v)), max(abs(r), max(max(abs(s.u), abs(s.v)), abs(s.yaw_rate)))) < HELD_MPS
    rests = rests & (rims < STICK_SPEED_MPS)
    return where(rests, s.u, u), where(rests, s.v, v), where(rests, s.yaw_rate, r)


@part
def look_again(work, active):
    """The solution becomes what is expected, for runs that go on (`active`, in packs); the others come to the same again."""
    for n in range(len(work.speed)):
        work.expected_x[n] = where(active, work.next_x[n], work.expected_x[n])
        work.expected_y[n] = where(active, work.next_y[n], work.expected_y[n])


@part
def started(start, body, gx, gy, x, y, zero):
    """The state at the start, from the velocity of the wheels' centre."""
    return State(
        x, y, start.heading + zero, start.u - start.yaw_rate * body.com_y, start.v + start.yaw_rate * body.com_x,
        start.yaw_rate + zero, -gx, -gy, zero,
    )  # fmt: skip


@part
def look(robot, s, time):
    """What a driver sees."""
    body = robot.body
    c, n = cos_and_sin(s.heading)
    return Seen(
        time, s.x - c * body.com_x + n * body.com_y, s.y - n * body.com_x - c * body.com_y, s.heading,
        s.u + s.yaw_rate * body.com_y, s.v - s.yaw_rate * body.com_x, s.yaw_rate,
    )  # fmt: skip


@part
def leans(robot, s):
    """Whether the ground's resultant points past an edge of the supports: nothing in the plane holds the robot upright then."""
    _, _, gz = gravity_in_ground(robot.ground)
    body, edges = robot.body, robot.supports
    x, y = body.com_x + body.com_height / gz * s.fx, body.com_y + body.com_height / gz * s.fy
    is_outside = x > x
    for k in range(len(edges.x)):
        is_outside = is_outside | (edges.x[k] * x + edges.y[k] * y > edges.reach[k])
    return is_outside


@part
def record(robot, work, notebook, s, stopped_at, i, out):
    """Write a record; only the body's columns where `out` has no room for the wheels'."""
    seen = look(robot, s, alike(0.0, s.x))
    put(out[:, 0], i, seen.x)
    put(out[:, 1], i, seen.y)
    put(out[:, 2], i, s.heading)
    put(out[:, 3], i, seen.u)
    put(out[:, 4], i, seen.v)
    put(out[:, 5], i, s.yaw_rate)
    put(out[:, 6], i, s.fx)
    put(out[:, 7], i, s.fy)
    put(out[:, 8], i, s.yaw_accel)
    record_wheels(len(robot.wheels.x) if out.shape[1] > 9 else 0, work, i, out, 9)


@part
def judge(robot, memory, work, s):
    """How a run stands: OK, or NOT_FINITE."""
    return where(isfinite(s.x + s.y + s.heading), alike(OK, s.x), alike(NOT_FINITE, s.x))
