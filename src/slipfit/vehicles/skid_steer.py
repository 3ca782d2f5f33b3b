"""Dynamic planar skid-steer robot on any number of wheels: rigid body, wheels with a powertrain, any law, any plane.

    m (u. - v r) = sum F_x + m g_x,    m (v. + u r) = sum F_y + m g_y,    I r. = sum (X F_y - Y F_x)
    J_n omega. = tau_n - R_n F_x,n

u, v, r belong to the centre of mass; wheel positions count from there. Each step solves for the velocities at its end, with
the forces that those velocities themselves bring about: the law's secants are taken at the expected end of the step
(`_expect`), wheels are eliminated pack by pack (`_gather`), and three equations remain (`solve`). Stable at any step,
dissipative, and a wheel that sticks stays where it is; first order in time (docs/theory/stepping).

Symbols    u, v, r velocity ahead, to the left, yaw rate · F forces on the wheels · g gravity in the body's axes · f specific
           force, sum F / m · c, s cosine and sine of the heading
Reference  [Shilliday2023] eqs. (1)-(3) with the signs of docs/theory/skid_steer; wheel_slip [Trimble2022]
"""

from typing import Any, NamedTuple

from slipfit.contact.touch import Touch, coupled, memory_size, remember, strongest, traction
from slipfit.ground.shape import Memory, cell_count, gravity_in_body
from slipfit.kernels import (
    WIDTH,
    Eight,
    alike,
    any_of,
    at,
    compiled,
    cos_and_sin,
    folded,
    keep_alive,
    padded,
    part,
    raw,
    where,
    wide,
    zeros,
)
from slipfit.vehicles.loads import wheel_loads
from slipfit.vehicles.planar_body import (
    BODY_COLUMNS,
    MOST_PASSES,
    NOT_FINITE,
    OK,
    TOLERATED_EXCESS,
    WHEEL_COLUMNS,
    Body,
    Start,
    State,
    Sums,
    drive_through,
    free_motion,
    look_again,
    solve,
    started,
)
from slipfit.vehicles.powertrain import free_wheel, is_misjudged, new_effort, prepared

__all__ = ["BODY_COLUMNS", "NOT_FINITE", "OK", "WHEEL_COLUMNS", "Body", "SkidSteerRuns", "Start", "in_lanes", "one_by_one"]


class SkidSteerRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body
    wheels: Any  # loads.Wheels, one table per run
    powertrain: Any
    law: Any
    ground: Any
    start: Start
    commands: Any  # Shared (rows, wheels), or one table per run with rows x wheels entries


class Work(NamedTuple):
    """One number per wheel: what lasts (speed, effort, forces) and what one step needs."""

    speed: Any  # rad/s
    angle: Any  # rad, from the start
    effort: Any
    force_x: Any  # N
    force_y: Any
    expected_x: Any  # N, what the next solution is expected to be near to
    expected_y: Any
    load: Any
    lowest: Any  # N, smallest load since the last record: a wheel may lift between two
    command: Any
    next_x: Any
    next_y: Any
    free_speed: Any
    mobility: Any
    xx: Any  # secants after the wheel is eliminated
    xy: Any
    yy: Any
    start_x: Any  # force at zero velocity
    start_y: Any


class Places(NamedTuple):
    """Where wheels are and how they share the weight: tables with one entry per wheel, read in packs."""

    x: Any  # m from the centre of mass, ahead
    y: Any
    radius: Any
    leverage_x: Any
    leverage_y: Any
    share_x: Any
    share_y: Any


@part
def _expect(wheels, work, zero):
    """Sums of the forces and moments that are expected."""
    sum_x = sum_y = moment = wide(zero)
    for n in range(len(work.speed)):
        sum_x, sum_y = sum_x + work.expected_x[n], sum_y + work.expected_y[n]
        moment += wheels.x[n] * work.expected_y[n] - wheels.y[n] * work.expected_x[n]
    return folded(sum_x), folded(sum_y), folded(moment)


@part
def _gather(powertrain, law, wheels, memory, work, free, u, v, r, dt, zero):
    """Add every wheel's secant to the body's equations, taken at the guess (u, v, r) of the velocities to come."""
    u, v, r = wide(u), wide(v), wide(r)
    uu = uv = ur = vv = vr = rr = bu = bv = br = wide(zero)
    for n in range(len(work.speed)):
        px, py, radius = wheels.x[n], wheels.y[n], wheels.radius[n]
        guess = work.expected_x[n]
        free_speed, mobility = free_wheel(powertrain, work.command[n], work.speed[n], work.effort[n], radius * guess)
        free_rim, give = radius * free_speed, mobility * radius * radius
        rim = free_rim - give * guess
        answer = traction(law, Touch(rim - u + r * py, -v - r * px, rim, work.load[n]), memory, n, dt)
        # The wheel gives way to the force it transmits: eliminated, it softens the law's secant.
        kept = 1.0 / (1.0 + give * answer.xx)
        xx = kept * answer.xx
        if coupled(law):
            xy, yy = kept * answer.xy, answer.yy - give * kept * answer.xy * answer.xy
            start_x = kept * answer.start_x + xx * free_rim
            start_y = answer.start_y - give * kept * answer.xy * answer.start_x + xy * free_rim
            uv, bv = uv + xy, bv + start_y
            ur, vr = ur + (xy * px - xx * py), vr + (yy * px - xy * py)
            rr, br = rr + (xx * py * py - 2.0 * xy * px * py + yy * px * px), br + (px * start_y - py * start_x)
            work.xy[n], work.start_y[n] = xy, start_y
        else:
            yy, start_x = answer.yy, xx * free_rim
            ur, vr = ur - xx * py, vr + yy * px
            rr, br = rr + (xx * py * py + yy * px * px), br - py * start_x
        uu, vv, bu = uu + xx, vv + yy, bu + start_x
        work.free_speed[n], work.mobility[n] = free_speed, mobility
        work.xx[n], work.yy[n], work.start_x[n] = xx, yy, start_x
    return Sums(
        free.uu + folded(uu), folded(uv), folded(ur), free.vv + folded(vv), folded(vr), free.rr + folded(rr),
        free.u + folded(bu), free.v + folded(bv), free.r + folded(br),
    )  # fmt: skip


@part
def _share_out(powertrain, law, wheels, work, u, v, r, zero):
    """Forces and wheel speeds that belong to the body's new velocity; their sums, and whether they were not to be expected."""
    u, v, r = wide(u), wide(v), wide(r)
    sum_x = sum_y = wide(zero)
    again = u < u
    for n in range(len(work.speed)):
        ground_x, ground_y = u - r * wheels.y[n], v + r * wheels.x[n]
        force_x, force_y = work.start_x[n] - work.xx[n] * ground_x, -work.yy[n] * ground_y
        if coupled(law):
            force_x, force_y = force_x - work.xy[n] * ground_y, force_y + (work.start_y[n] - work.xy[n] * ground_x)
        work.force_x[n], work.force_y[n] = force_x, force_y
        sum_x, sum_y = sum_x + force_x, sum_y + force_y
        most_x, most_y = strongest(law, force_x, force_y, work.load[n])
        work.next_x[n], work.next_y[n] = most_x, most_y
        excess = abs(force_x - most_x) + abs(force_y - most_y) > TOLERATED_EXCESS * (abs(most_x) + abs(most_y))
        torque = wheels.radius[n] * force_x
        again = again | excess | is_misjudged(powertrain, work.command[n], work.speed[n], torque, work.mobility[n])
    return folded(sum_x), folded(sum_y), folded(again)


@part
def _commit(powertrain, law, wheels, memory, work, u, v, r, dt):
    """What the step leaves behind: wheel speeds, efforts, memory, what to expect next."""
    u, v, r = wide(u), wide(v), wide(r)
    for n in range(len(work.speed)):
        radius = wheels.radius[n]
        torque = radius * work.force_x[n]
        speed = work.free_speed[n] - work.mobility[n] * torque
        work.effort[n] = new_effort(powertrain, work.command[n], work.speed[n], speed, work.effort[n], torque)
        work.speed[n] = speed
        work.angle[n] = work.angle[n] + dt * speed
        work.expected_x[n], work.expected_y[n] = work.next_x[n], work.next_y[n]
        work.lowest[n] = min(work.lowest[n], work.load[n])
        rim = radius * speed
        remember(law, Touch(rim - u + r * wheels.y[n], -v - r * wheels.x[n], rim, work.load[n]), memory, n, dt)


@part
def step(robot, wheels, memory, work, s, dt):
    """One step of one robot, or of eight."""
    body = robot.body
    middle = s.heading + 0.5 * dt * s.yaw_rate
    c, n = cos_and_sin(middle)
    gx, gy, g_into = gravity_in_body(robot.ground, memory, s.x, s.y, c, n)
    reach = body.com_height / g_into
    powertrain, law = wide(robot.powertrain), wide(robot.law)
    wheel_loads(wheels, body.mass * g_into, body.com_x - reach * s.fx, body.com_y - reach * s.fy, work.load)
    zero = alike(0.0, body.mass)
    free = free_motion(body, s, gx, gy, dt, zero)
    sum_x, sum_y, moment = _expect(wheels, work, zero)
    per_mass, per_yaw_inertia, per_dt = 1.0 / body.mass, 1.0 / body.yaw_inertia, 1.0 / dt  # the same in every step
    u, v = free.u + dt * (sum_x * per_mass + gx), free.v + dt * (sum_y * per_mass + gy)
    r = s.yaw_rate + dt * moment * per_yaw_inertia
    active = zero == 0.0
    guess_u, guess_v, guess_r = u, v, r
    for k in range(MOST_PASSES):
        sums = _gather(powertrain, law, wheels, memory, work, free.sums, guess_u, guess_v, guess_r, dt, zero)
        u, v, r = solve(sums, coupled(law))
        sum_x, sum_y, again = _share_out(powertrain, law, wheels, work, u, v, r, zero)
        active = active & again
        if k == MOST_PASSES - 1 or not any_of(active):
            break
        guess_u, guess_v, guess_r = where(active, u, guess_u), where(active, v, guess_v), where(active, r, guess_r)
        look_again(work, wide(active))
    _commit(powertrain, law, wheels, memory, work, u, v, r, dt)
    x, y = s.x + dt * (c * u - n * v), s.y + dt * (n * u + c * v)
    return State(
        x, y, s.heading + dt * r, u, v, r, sum_x * per_mass, sum_y * per_mass, (r - s.yaw_rate) * per_dt,
    )  # fmt: skip


@part
def _begin(robot, wheels, memory, work, packs):
    """The state at the start: rolling without slip, held against gravity if at rest."""
    start, body, zero = robot.start, robot.body, alike(0.0, robot.body.mass)
    c, s = cos_and_sin(start.heading)
    for n in range(len(robot.wheels.x)):
        work.speed[n] = (start.u - start.yaw_rate * robot.wheels.y[n]) / robot.wheels.radius[n]
    x = start.x + c * body.com_x - s * body.com_y
    y = start.y + s * body.com_x + c * body.com_y
    gx, gy, g_into = gravity_in_body(robot.ground, memory, x, y, c, s)
    reach = body.com_height / g_into
    wheel_loads(wheels, body.mass * g_into, body.com_x + reach * gx, body.com_y + reach * gy, packs.load)
    for n in range(len(robot.wheels.x)):
        work.lowest[n] = work.load[n]
        held_x, held_y = -work.load[n] * gx / g_into, -work.load[n] * gy / g_into
        work.expected_x[n], work.expected_y[n] = strongest(robot.law, held_x, held_y, work.load[n])
    return started(start, body, gx, gy, x, y, zero)


@part
def _work(count, like):
    return Work(
        zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
    )  # fmt: skip


@part
def _tables(count, like):
    return Places(
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like),
    )  # fmt: skip


@part
def _measure(robot, tables):
    """Positions from the centre of mass, and what `wheel_loads` needs."""
    wheels, body = robot.wheels, robot.body
    for n in range(len(wheels.x)):
        tables.x[n], tables.y[n], tables.radius[n] = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y, wheels.radius[n]
        tables.leverage_x[n], tables.leverage_y[n] = wheels.leverage_x[n], wheels.leverage_y[n]
        tables.share_x[n], tables.share_y[n] = wheels.share_x[n], wheels.share_y[n]


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs: the type of i decides, and nothing below knows."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    count = len(arrays.wheels.x)
    work_arrays = _work(padded(count, like), like)
    wheel_arrays = _tables(padded(count, like), like)
    slots = padded(count, like) * memory_size(arrays.law)
    memory_arrays = Memory(zeros(slots, like), zeros(cell_count(arrays.ground), like))
    robot = raw(
        SkidSteerRuns(
            arrays.body, arrays.wheels, prepared(arrays.powertrain, dt), arrays.law, arrays.ground, arrays.start, arrays.commands
        )
    )
    work, memory, tables = raw(work_arrays), raw(memory_arrays), raw(wheel_arrays)
    _measure(robot, tables)
    wheels, packs, memory = wide(tables), wide(work), Memory(wide(memory.contacts), memory.cells)
    s = _begin(robot, wheels, memory, work, packs)
    drive_through(step, robot, wheels, memory, work, packs, s, i, hold, every, dt, out, status)
    keep_alive((arrays, work_arrays, memory_arrays, wheel_arrays))


@compiled(nogil=True)
def one_by_one(runs, lo, hi, hold, every, dt, out, status):
    """Runs lo to hi, each by itself; out has shape (n, records, columns), status (n,)."""
    for i in range(lo, hi):
        _drive(runs, i, hold, every, dt, out, status)


@compiled(nogil=True)
def in_lanes(runs, lo, hi, hold, every, dt, out, status):
    """The same, eight at a time."""
    for i in range(lo, hi, WIDTH):
        _drive(runs, Eight(i), hold, every, dt, out, status)
