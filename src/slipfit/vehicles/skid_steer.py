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
from slipfit.ground.shape import Memory, cell_count, gravity_in_body, gravity_in_ground
from slipfit.kernels import (
    WIDTH,
    Eight,
    alike,
    any_of,
    at,
    chosen_by_type,
    compiled,
    cos_and_sin,
    folded,
    keep_alive,
    padded,
    part,
    raw,
    tables,
    where,
    wide,
    zeros,
)
from slipfit.vehicles.books import Books, Totals, are_kept, drive_stores, enter, tally
from slipfit.vehicles.driven_wheel import release, roll_on, soften, surprises
from slipfit.vehicles.loads import wheel_loads
from slipfit.vehicles.losses import air_drag, caster_moment
from slipfit.vehicles.planar_body import (
    BODY_COLUMNS,
    MOST_PASSES,
    Body,
    Start,
    State,
    Sums,
    first_guess,
    free_motion,
    judge,
    leans,
    look,
    look_again,
    record,
    solve,
    started,
)
from slipfit.vehicles.powertrain import prepared
from slipfit.vehicles.run_loop import NOT_FINITE, OK, WHEEL_COLUMNS, drive_through, journal, record_journal

__all__ = ["BODY_COLUMNS", "NOT_FINITE", "OK", "WHEEL_COLUMNS", "Body", "SkidSteerRuns", "Start", "in_lanes", "one_by_one"]


class SkidSteerRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body
    wheels: Any  # loads.Wheels or another table of wheels, one per run
    powertrain: Any
    law: Any
    ground: Any
    start: Start
    driver: Any  # who tells the wheels: driver.Table, or guidance of `control`
    losses: Any
    battery: Any
    books: Any
    supports: Any  # planar_body.Supports, one table per run


class Work(NamedTuple):
    """One number per wheel: what lasts (speed, effort, forces) and what one step needs."""

    speed: Any  # rad/s
    angle: Any  # rad, from the start
    effort: Any
    rotor: Any  # rad/s, behind a compliant shaft
    twist: Any  # rad
    force_x: Any  # N
    force_y: Any
    expected_x: Any  # N, what the next solution is expected to be near to
    expected_y: Any
    load: Any
    lowest: Any  # N, smallest load since the last record: a wheel may lift between two
    command: Any
    told: Any  # what the driver said, where a battery comes between
    drag: Any  # N m s, rolling resistance
    slip_x: Any  # m/s, rim over ground, for records
    slip_y: Any
    next_x: Any
    next_y: Any
    free_speed: Any
    mobility: Any
    xx: Any  # secants after the wheel is eliminated
    xy: Any
    yy: Any
    start_x: Any  # force at zero velocity
    start_y: Any
    depth: Any  # m, none on hard planes; for records


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
    """Sums of the forces and moments that are expected; and of the rims' speeds."""
    sum_x = sum_y = moment = rims = wide(zero)
    for n in range(len(work.speed)):
        sum_x, sum_y = sum_x + work.expected_x[n], sum_y + work.expected_y[n]
        moment += wheels.x[n] * work.expected_y[n] - wheels.y[n] * work.expected_x[n]
        rims += abs(wheels.radius[n] * work.speed[n])
    return folded(sum_x), folded(sum_y), folded(moment), folded(rims)


@part
def _gather(powertrain, law, losses, wheels, memory, work, free, u, v, r, dt, zero):
    """Add every wheel's secant to the body's equations, taken at the guess (u, v, r) of the velocities to come."""
    u, v, r = wide(u), wide(v), wide(r)
    uu, uv, ur, vv, vr, rr, bu, bv, br = free.uu, zero, zero, free.vv, zero, free.rr, free.u, free.v, free.r
    for n in range(len(work.speed)):
        px, py, radius = wheels.x[n], wheels.y[n], wheels.radius[n]
        free_rim, give = release(powertrain, losses, work, n, radius, work.load[n])
        rim = free_rim - give * work.expected_x[n]
        answer = traction(law, Touch(rim - u + r * py, -v - r * px, rim, work.load[n]), memory, n, dt)
        soft = soften(law, answer, give, free_rim)
        xx, yy, start_x = soft.xx, soft.yy, soft.start_x
        if coupled(law):
            xy, start_y = soft.xy, soft.start_y
            uv, bv = uv + folded(xy), bv + folded(start_y)
            ur, vr = ur + folded(xy * px - xx * py), vr + folded(yy * px - xy * py)
            rr += folded(xx * py * py - 2.0 * xy * px * py + yy * px * px)
            br += folded(px * start_y - py * start_x)
            work.xy[n], work.start_y[n] = xy, start_y
        else:
            ur, vr = ur - folded(xx * py), vr + folded(yy * px)
            rr, br = rr + folded(xx * py * py + yy * px * px), br - folded(py * start_x)
        # Folded at once: sums of whole packs would not stay in registers.
        uu, vv, bu = uu + folded(xx), vv + folded(yy), bu + folded(start_x)
        work.xx[n], work.yy[n], work.start_x[n] = xx, yy, start_x
    return Sums(uu, uv, ur, vv, vr, rr, bu, bv, br)


@part
def _share_out(powertrain, law, losses, wheels, work, u, v, r, zero):
    """Forces and wheel speeds that belong to the body's new velocity; their sums, and whether they were not to be expected."""
    u, v, r = wide(u), wide(v), wide(r)
    sum_x = sum_y = wide(zero)
    again = u < u
    for n in range(len(work.speed)):
        ground_x, ground_y = u - r * wheels.y[n], v + r * wheels.x[n]
        force_x, force_y = work.start_x[n] - work.xx[n] * ground_x, -work.yy[n] * ground_y
        if coupled(law):
            force_x, force_y = force_x - work.xy[n] * ground_y, force_y + (work.start_y[n] - work.xy[n] * ground_x)
        sum_x, sum_y = sum_x + force_x, sum_y + force_y
        again = again | surprises(powertrain, law, losses, work, n, wheels.radius[n], force_x, force_y, work.load[n])
    return folded(sum_x), folded(sum_y), folded(again)


@part
def _commit(powertrain, law, losses, books, wheels, memory, work, u, v, r, in_air, in_caster, dt, zero):
    """What the step leaves behind: wheel speeds, efforts, memory, what to expect next. Returns what there is to book."""
    u, v, r = wide(u), wide(v), wide(r)
    supplied = throughput = in_resistance = in_shaft = in_sliding = in_rolling = wide(zero)
    for n in range(len(work.speed)):
        radius = wheels.radius[n]
        rolled = roll_on(powertrain, losses, work, n, radius, dt)
        in_rolling += rolled.in_rolling
        rim = radius * rolled.after.speed
        touch = Touch(rim - u + r * wheels.y[n], -v - r * wheels.x[n], rim, work.load[n])
        remember(law, touch, memory, n, dt)
        if are_kept(books):
            work.slip_x[n], work.slip_y[n] = touch.slip_x, touch.slip_y
            flow = tally(books, rolled, dt)
            supplied, throughput = supplied + flow.supplied, throughput + abs(flow.supplied)
            in_resistance, in_shaft = in_resistance + flow.in_resistance, in_shaft + flow.in_shaft
            in_sliding += (work.force_x[n] * touch.slip_x + work.force_y[n] * touch.slip_y) * dt
    return Totals(
        folded(supplied), folded(throughput), folded(in_resistance), folded(in_shaft),
        folded(in_sliding) + in_caster, zero, folded(in_rolling), in_air, zero,
    )  # fmt: skip


@part
def step(robot, wheels, memory, work, notebook, s, dt):
    """One step of one robot, or of eight."""
    body, zero = robot.body, alike(0.0, robot.body.mass)
    middle = s.heading + 0.5 * dt * s.yaw_rate
    c, n = cos_and_sin(middle)
    gx, gy, g_into = gravity_in_body(robot.ground, memory, s.x, s.y, c, n)
    reach = body.com_height / g_into
    powertrain, law, losses, books = wide(robot.powertrain), wide(robot.law), wide(robot.losses), wide(robot.books)
    wheel_loads(wheels, body.mass * g_into, body.com_x - reach * s.fx, body.com_y - reach * s.fy, work.load)
    sum_x, sum_y, moment, rims = _expect(wheels, work, zero)
    drag, turning = air_drag(robot.losses, s.u), caster_moment(robot.losses, sum_y, s.u)
    free = free_motion(body, s, gx, gy, drag, turning, dt, zero)
    per_mass, per_yaw_inertia, per_dt = 1.0 / body.mass, 1.0 / body.yaw_inertia, 1.0 / dt  # the same in every step
    u, v = free.u + dt * (sum_x * per_mass + gx), free.v + dt * (sum_y * per_mass + gy)
    r = s.yaw_rate + dt * moment * per_yaw_inertia
    active = zero == 0.0
    guess_u, guess_v, guess_r = first_guess(s, rims, u, v, r)
    for k in range(MOST_PASSES):
        sums = _gather(powertrain, law, losses, wheels, memory, work, free.sums, guess_u, guess_v, guess_r, dt, zero)
        u, v, r = solve(sums, coupled(law))
        sum_x, sum_y, again = _share_out(powertrain, law, losses, wheels, work, u, v, r, zero)
        active = active & again
        if k == MOST_PASSES - 1 or not any_of(active):
            break
        guess_u, guess_v, guess_r = where(active, u, guess_u), where(active, v, guess_v), where(active, r, guess_r)
        look_again(work, wide(active))
    in_air, in_caster = drag * (u * u * dt), -turning * (r * dt)
    totals = _commit(powertrain, law, losses, books, wheels, memory, work, u, v, r, in_air, in_caster, dt, zero)
    enter(robot.books, notebook, totals)
    x, y = s.x + dt * (c * u - n * v), s.y + dt * (n * u + c * v)
    return State(
        x, y, s.heading + dt * r, u, v, r, (sum_x - drag * u) * per_mass, sum_y * per_mass, (r - s.yaw_rate) * per_dt,
    )  # fmt: skip


@chosen_by_type
def _record_books(books, robot, work, notebook, s, stopped_at, i, out):
    """Nothing, where nobody keeps any."""


@_record_books.of(Books)
def _(books, robot, work, notebook, s, stopped_at, i, out):
    body, count = robot.body, len(robot.wheels.x)
    moving = 0.5 * (body.mass * (s.u * s.u + s.v * s.v) + body.yaw_inertia * s.yaw_rate * s.yaw_rate)
    gx, gy, _ = gravity_in_ground(robot.ground)
    height = -body.mass * (gx * s.x + gy * s.y)
    stores = drive_stores(books, work, count, moving, height, alike(0.0, s.x))
    record_journal(count, work, notebook, stores, stopped_at, i, out, len(BODY_COLUMNS) + len(WHEEL_COLUMNS) * count)


@part
def _record(robot, work, notebook, s, stopped_at, i, out):
    record(robot, work, notebook, s, stopped_at, i, out)
    _record_books(robot.books, robot, work, notebook, s, stopped_at, i, out)


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
        work.rotor[n], work.lowest[n] = work.speed[n], work.load[n]
        held_x, held_y = -work.load[n] * gx / g_into, -work.load[n] * gy / g_into
        work.expected_x[n], work.expected_y[n] = strongest(robot.law, held_x, held_y, work.load[n])
    return started(start, body, gx, gy, x, y, zero)


@chosen_by_type
def places_of(wheels, size, like):
    """Empty tables for `measure`; the class of the wheels decides which, and so how the weight is shared."""
    return tables(Places, size, like)


@chosen_by_type
def measure(wheels, body, places):
    """Positions from the centre of mass, and what `wheel_loads` needs."""
    for n in range(len(wheels.x)):
        places.x[n], places.y[n], places.radius[n] = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y, wheels.radius[n]
        places.leverage_x[n], places.leverage_y[n] = wheels.leverage_x[n], wheels.leverage_y[n]
        places.share_x[n], places.share_y[n] = wheels.share_x[n], wheels.share_y[n]


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs: the type of i decides, and nothing below knows."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    count = len(arrays.wheels.x)
    work_arrays = tables(Work, padded(count, like), like)
    wheel_arrays = places_of(arrays.wheels, padded(count, like), like)
    slots = padded(count, like) * memory_size(arrays.law)
    memory_arrays = Memory(zeros(slots, like), zeros(cell_count(arrays.ground), like))
    robot = raw(
        SkidSteerRuns(
            arrays.body, arrays.wheels, prepared(arrays.powertrain, dt), arrays.law, arrays.ground, arrays.start, arrays.driver,
            arrays.losses, arrays.battery, arrays.books, arrays.supports,
        )
    )  # fmt: skip
    notebook_arrays = journal(arrays.driver, like)
    work, memory, places, notebook = raw(work_arrays), raw(memory_arrays), raw(wheel_arrays), raw(notebook_arrays)
    measure(robot.wheels, robot.body, places)
    wheels, packs, memory = wide(places), wide(work), Memory(wide(memory.contacts), memory.cells)
    s = _begin(robot, wheels, memory, work, packs)
    drive_through(
        step, look, _record, judge, leans, robot, wheels, memory, work, packs, notebook, s, i, hold, every, dt, out, status
    )  # fmt: skip
    keep_alive((arrays, work_arrays, memory_arrays, wheel_arrays, notebook_arrays))


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
