"""Dynamic planar robot on omni and mecanum wheels: rigid body, wheels with a powertrain, rollers and the rigid parts between.

    m (u. - v r) = sum F_x + m g_x,    m (v. + u r) = sum F_y + m g_y,    I r. = sum (X F_y - Y F_x)
    J_n theta.. = tau_n - R_n e . F,    s = R theta. e - (velocity of the body at the contact)

The law answers in the roller's axes, g along its axis and h across it, and speaks for the rollers or for the rigid part of the
wheel, as the wheel's angle says. A step is `skid_steer`'s: secants at the expected end of the step, wheels eliminated, three
equations for the body. A step in which a wheel rolls from one part onto another blends both laws by the shares of the way
(`rigid_share`), so that no change is missed or counted twice, however long the step. First order in time (docs/theory/omni).

Symbols    u, v, r velocity of the centre of mass ahead, to the left, yaw rate · F forces on the wheels in the body's axes ·
           e direction of rolling · g, h axes of the roller on the ground, h a quarter turn left of g · R radius · s slip velocity
Reference  [Williams2002] eqs. (1)-(11); signs and roller angles: derived in docs/theory/omni
"""

from math import floor
from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.touch import Touch, blended, coupled, memory_size, remember, strongest, traction
from slipfit.ground.shape import Memory, cell_count, gravity_in_body
from slipfit.kernels import (
    WIDTH,
    Eight,
    abreast,
    alike,
    any_of,
    at,
    compiled,
    cos_and_sin,
    filled_up,
    folded,
    keep_alive,
    part,
    raw,
    tables,
    where,
    zeros,
)
from slipfit.vehicles.loads import spring_shares
from slipfit.vehicles.omni_kinematics import grip_axes
from slipfit.vehicles.planar_body import (
    MOST_PASSES,
    TOLERATED_EXCESS,
    Body,
    Start,
    State,
    Sums,
    free_motion,
    judge,
    leans,
    look,
    look_again,
    record,
    solve,
    started,
)
from slipfit.vehicles.powertrain import after_step, free_wheel, gives_way, is_misjudged, keep_spin, prepared, spin_of
from slipfit.vehicles.run_loop import drive_through, journal

#: Ways shorter than this (sectors) are too short to be divided: the wheel touches with the part it stands on.
_SHORTEST_WAY = 1e-6


class OmniWheels(NamedTuple):
    """Wheels of one robot: tables with one entry per wheel."""

    x: Any  # m from the wheels' centre, ahead
    y: Any  # m, to the left
    radius: Any  # m
    grip_x: Any  # g, unit vector along the roller's axis, in the body's axes
    grip_y: Any
    along: Any  # e . g, the part of rolling that goes along the roller's axis
    across: Any  # e . h
    share: Any  # of the weight: share + leverage_x X_p + leverage_y Y_p
    leverage_x: Any  # 1/m
    leverage_y: Any
    per_rad: Any  # sectors for each radian of the wheel
    phase: Any  # sectors at the start
    rigid: Any  # last part of each sector


def wheels(at_m, rolling_rad, roller_rad, radius_m, *, rollers, rigid, phase_sectors, equal_loads: bool) -> OmniWheels:
    """Wheels of one robot from positions (W, 2) and numbers for all wheels or for each."""
    at_m = np.asarray(at_m, dtype=float)
    count = len(at_m)

    def each(numbers):
        return np.broadcast_to(np.asarray(numbers, dtype=float), count).copy()

    grip, roller = grip_axes(each(rolling_rad), each(roller_rad)), each(roller_rad)
    shares = np.column_stack([np.full(count, 1.0 / count), np.zeros((count, 2))]) if equal_loads else spring_shares(at_m)
    return OmniWheels(
        x=at_m[:, 0].copy(),
        y=at_m[:, 1].copy(),
        radius=each(radius_m),
        grip_x=grip[:, 0].copy(),
        grip_y=grip[:, 1].copy(),
        along=np.sin(roller),
        across=-np.cos(roller),
        share=shares[:, 0].copy(),
        leverage_x=shares[:, 1].copy(),
        leverage_y=shares[:, 2].copy(),
        per_rad=each(rollers) / (2.0 * np.pi),
        phase=each(phase_sectors),
        rigid=each(rigid),
    )


class Places(NamedTuple):
    """Wheels as a step reads them, in packs: moments instead of positions, from the centre of mass."""

    radius: Any
    grip_x: Any
    grip_y: Any
    moment_g: Any  # m, moment of a unit force along g about the centre of mass
    moment_h: Any
    along: Any
    across: Any
    share: Any
    leverage_x: Any
    leverage_y: Any
    per_rad: Any
    phase: Any
    rigid: Any


class OmniRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body
    wheels: Any  # OmniWheels, one table per run
    powertrain: Any
    law: Any  # on rollers
    rigid_law: Any  # of the same type, on the rigid part between two rollers
    ground: Any
    start: Start
    driver: Any
    battery: Any  # NoBattery
    books: Any  # NoBooks
    supports: Any  # planar_body.Supports, one table per run


class Work(NamedTuple):
    """One number per wheel: what lasts (speed, effort, forces) and what one step needs. Axes: the body's for `force`, the
    roller's for what is expected, for secants and starts."""

    speed: Any  # rad/s
    angle: Any  # rad, from the start
    effort: Any
    rotor: Any  # rad/s, behind a compliant shaft
    twist: Any  # rad
    force_x: Any  # N, in the body's axes
    force_y: Any
    torque: Any  # N m, of the contact on the wheel
    expected_x: Any  # N along the roller's axis, what the next solution is expected to be near to
    expected_y: Any  # N across it
    load: Any
    lowest: Any  # N, smallest load since the last record
    rigid: Any  # share of the step on rigid parts
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


@part
def rigid_share(begin, end, rigid):
    """Share of the way from `begin` to `end` (sectors) on the rigid parts, which are the last `rigid` of each sector."""
    whole, whole_end, way = floor(begin), floor(end), end - begin
    into, into_end = begin - whole - (1.0 - rigid), end - whole_end - (1.0 - rigid)
    share = where(into >= 0.0, alike(1.0, way), alike(0.0, way))
    changes = ((whole != whole_end) | ((into >= 0.0) ^ (into_end >= 0.0))) & (abs(way) >= _SHORTEST_WAY)
    if any_of(changes):
        passed = rigid * (whole_end - whole) + (max(0.0, into_end) - max(0.0, into))
        share = where(changes, max(0.0, min(1.0, passed / where(changes, way, 1.0))), share)
    return share


@part
def _share_weight(wheels, weight, centre_x, centre_y, loads):
    """Fill `loads` (N): linear in the place of the ground's resultant, none negative, together the weight."""
    total = abreast(0.0 * weight)
    centre_x, centre_y = abreast(centre_x), abreast(centre_y)
    for n in range(len(loads)):
        loads[n] = max(0.0, wheels.share[n] + (wheels.leverage_x[n] * centre_x + wheels.leverage_y[n] * centre_y))
        total += loads[n]
    scale = abreast(weight / folded(total))
    for n in range(len(loads)):
        loads[n] = loads[n] * scale


@part
def _ground_velocity(wheels, n, u, v, r):
    """Velocity of the body at a contact, along the roller's axis and across it."""
    gx, gy = wheels.grip_x[n], wheels.grip_y[n]
    return gx * u + gy * v + wheels.moment_g[n] * r, gx * v - gy * u + wheels.moment_h[n] * r


@part
def _expect(powertrain, wheels, work, dt, zero):
    """Sums of the forces and moments that are expected; on which parts the wheels will roll."""
    sum_x = sum_y = moment = abreast(zero)
    for n in range(len(work.speed)):
        gx, gy, fg, fh = wheels.grip_x[n], wheels.grip_y[n], work.expected_x[n], work.expected_y[n]
        sum_x, sum_y = sum_x + (gx * fg - gy * fh), sum_y + (gy * fg + gx * fh)
        moment += wheels.moment_g[n] * fg + wheels.moment_h[n] * fh
        torque = wheels.radius[n] * (wheels.along[n] * fg + wheels.across[n] * fh)
        speed, mobility = free_wheel(powertrain, work.command[n], spin_of(work, n), torque)
        if gives_way(powertrain):
            speed -= mobility * torque
        begin = wheels.phase[n] + wheels.per_rad[n] * work.angle[n]
        work.rigid[n] = rigid_share(begin, begin + wheels.per_rad[n] * (dt * speed), wheels.rigid[n])
    return folded(sum_x), folded(sum_y), folded(moment)


@part
def _gather(powertrain, law, rigid_law, wheels, memory, work, free, u, v, r, dt, zero):
    """Add every wheel's secant to the body's equations, taken at the guess (u, v, r) of the velocities to come."""
    u, v, r = abreast(u), abreast(v), abreast(r)
    uu = uv = ur = vv = vr = rr = bu = bv = br = abreast(zero)
    for n in range(len(work.speed)):
        radius, along, across = wheels.radius[n], wheels.along[n], wheels.across[n]
        guess = along * work.expected_x[n] + across * work.expected_y[n]
        free_speed, mobility = free_wheel(powertrain, work.command[n], spin_of(work, n), radius * guess)
        free_rim, give = radius * free_speed, mobility * radius * radius
        rim = free_rim - give * guess if gives_way(powertrain) else free_rim
        ground_g, ground_h = _ground_velocity(wheels, n, u, v, r)
        touch = Touch(along * rim - ground_g, across * rim - ground_h, rim, work.load[n])
        answer = traction(blended(law, rigid_law, work.rigid[n]), touch, memory, n, dt)
        gg, gh, hh = answer.xx, answer.xy, answer.yy
        push_g, push_h = gg * along, hh * across  # force for each m/s of the rim
        start_g, start_h = push_g * free_rim, push_h * free_rim
        if coupled(law):
            push_g, push_h = push_g + gh * across, push_h + gh * along
            start_g, start_h = answer.start_x + push_g * free_rim, answer.start_y + push_h * free_rim
        if gives_way(powertrain):
            # The wheel gives way to the force it transmits: eliminated, it softens the law's secant along its own direction.
            lost = give / (1.0 + give * (along * push_g + across * push_h))
            taken = lost * (along * start_g + across * start_h)
            start_g, start_h = start_g - taken * push_g, start_h - taken * push_h
            gg, gh, hh = gg - lost * push_g * push_g, gh - lost * push_g * push_h, hh - lost * push_h * push_h
            work.free_speed[n], work.mobility[n] = free_speed, mobility
        work.xx[n], work.yy[n], work.start_x[n], work.start_y[n] = gg, hh, start_g, start_h
        gx, gy, mg, mh = wheels.grip_x[n], wheels.grip_y[n], wheels.moment_g[n], wheels.moment_h[n]
        xg, yg, xh, yh = gx * gg, gy * gg, gx * hh, gy * hh
        rg, rh = mg * gg, mh * hh
        if coupled(law) or gives_way(powertrain):
            work.xy[n] = gh
            xg, yg, xh, yh = xg - gy * gh, yg + gx * gh, xh + gy * gh, yh - gx * gh
            rg, rh = rg + mh * gh, rh + mg * gh
        uu, uv, vv = uu + (gx * xg + gy * yh), uv + (gy * xg - gx * yh), vv + (gy * yg + gx * xh)
        ur, vr, rr = ur + (mg * xg - mh * yh), vr + (mg * yg + mh * xh), rr + (mg * rg + mh * rh)
        bu, bv, br = bu + (gx * start_g - gy * start_h), bv + (gy * start_g + gx * start_h), br + (mg * start_g + mh * start_h)
    return Sums(
        free.uu + folded(uu), folded(uv), folded(ur), free.vv + folded(vv), folded(vr), free.rr + folded(rr),
        free.u + folded(bu), free.v + folded(bv), free.r + folded(br),
    )  # fmt: skip


@part
def _share_out(powertrain, law, rigid_law, wheels, work, u, v, r, zero):
    """Forces and torques that belong to the body's new velocity; their sums, and whether they were not to be expected."""
    u, v, r = abreast(u), abreast(v), abreast(r)
    sum_x = sum_y = abreast(zero)
    again = u < u
    for n in range(len(work.speed)):
        gx, gy = wheels.grip_x[n], wheels.grip_y[n]
        ground_g, ground_h = _ground_velocity(wheels, n, u, v, r)
        force_g, force_h = work.start_x[n] - work.xx[n] * ground_g, work.start_y[n] - work.yy[n] * ground_h
        if coupled(law) or gives_way(powertrain):
            force_g, force_h = force_g - work.xy[n] * ground_h, force_h - work.xy[n] * ground_g
        force_x, force_y = gx * force_g - gy * force_h, gy * force_g + gx * force_h
        work.force_x[n], work.force_y[n] = force_x, force_y
        sum_x, sum_y = sum_x + force_x, sum_y + force_y
        most_g, most_h = strongest(blended(law, rigid_law, work.rigid[n]), force_g, force_h, work.load[n])
        work.next_x[n], work.next_y[n] = most_g, most_h
        excess = abs(force_g - most_g) + abs(force_h - most_h) > TOLERATED_EXCESS * (abs(most_g) + abs(most_h))
        torque = wheels.radius[n] * (wheels.along[n] * force_g + wheels.across[n] * force_h)
        work.torque[n] = torque
        again = again | excess
        if gives_way(powertrain):
            again = again | is_misjudged(powertrain, work.command[n], spin_of(work, n), torque, work.mobility[n])
    return folded(sum_x), folded(sum_y), folded(again)


@part
def _commit(powertrain, law, wheels, memory, work, u, v, r, dt):
    """What the step leaves behind: wheel speeds, efforts, memory, what to expect next."""
    u, v, r = abreast(u), abreast(v), abreast(r)
    for n in range(len(work.speed)):
        torque, speed = work.torque[n], work.command[n]
        if gives_way(powertrain):
            speed = work.free_speed[n] - work.mobility[n] * torque
        keep_spin(powertrain, work, n, after_step(powertrain, work.command[n], spin_of(work, n), speed, torque))
        work.angle[n] = work.angle[n] + dt * speed
        work.expected_x[n], work.expected_y[n] = work.next_x[n], work.next_y[n]
        work.lowest[n] = min(work.lowest[n], work.load[n])
        rim = wheels.radius[n] * speed
        ground_g, ground_h = _ground_velocity(wheels, n, u, v, r)
        touch = Touch(wheels.along[n] * rim - ground_g, wheels.across[n] * rim - ground_h, rim, work.load[n])
        remember(law, touch, memory, n, dt)


@part
def step(robot, wheels, memory, work, notebook, s, dt):
    """One step of one robot, or of eight."""
    body = robot.body
    c, n = cos_and_sin(s.heading + 0.5 * dt * s.yaw_rate)
    gx, gy, g_into = gravity_in_body(robot.ground, memory, s.x, s.y, c, n)
    reach = body.com_height / g_into
    powertrain, law, rigid_law = abreast(robot.powertrain), abreast(robot.law), abreast(robot.rigid_law)
    _share_weight(wheels, body.mass * g_into, body.com_x - reach * s.fx, body.com_y - reach * s.fy, work.load)
    zero = alike(0.0, body.mass)
    free = free_motion(body, s, gx, gy, zero, zero, dt, zero)
    sum_x, sum_y, moment = _expect(powertrain, wheels, work, dt, zero)
    per_mass, per_yaw_inertia, per_dt = 1.0 / body.mass, 1.0 / body.yaw_inertia, 1.0 / dt  # the same in every step
    u, v = free.u + dt * (sum_x * per_mass + gx), free.v + dt * (sum_y * per_mass + gy)
    r = s.yaw_rate + dt * moment * per_yaw_inertia
    active = zero == 0.0
    guess_u, guess_v, guess_r = u, v, r
    for k in range(MOST_PASSES):
        sums = _gather(powertrain, law, rigid_law, wheels, memory, work, free.sums, guess_u, guess_v, guess_r, dt, zero)
        u, v, r = solve(sums, True)
        sum_x, sum_y, again = _share_out(powertrain, law, rigid_law, wheels, work, u, v, r, zero)
        active = active & again
        if k == MOST_PASSES - 1 or not any_of(active):
            break
        guess_u, guess_v, guess_r = where(active, u, guess_u), where(active, v, guess_v), where(active, r, guess_r)
        look_again(work, abreast(active))
    _commit(powertrain, law, wheels, memory, work, u, v, r, dt)
    x, y = s.x + dt * (c * u - n * v), s.y + dt * (n * u + c * v)
    return State(
        x, y, s.heading + dt * r, u, v, r, sum_x * per_mass, sum_y * per_mass, (r - s.yaw_rate) * per_dt,
    )  # fmt: skip


@part
def _begin(robot, wheels, memory, work, packs):
    """The state at the start: rolling without slip along the rollers' axes, held against gravity if at rest."""
    start, body, zero = robot.start, robot.body, alike(0.0, robot.body.mass)
    c, s = cos_and_sin(start.heading)
    x = start.x + c * body.com_x - s * body.com_y
    y = start.y + s * body.com_x + c * body.com_y
    gx, gy, g_into = gravity_in_body(robot.ground, memory, x, y, c, s)
    reach = body.com_height / g_into
    _share_weight(wheels, body.mass * g_into, body.com_x + reach * gx, body.com_y + reach * gy, packs.load)
    for n in range(len(robot.wheels.x)):
        grip_x, grip_y = robot.wheels.grip_x[n], robot.wheels.grip_y[n]
        ground_x, ground_y = start.u - start.yaw_rate * robot.wheels.y[n], start.v + start.yaw_rate * robot.wheels.x[n]
        work.speed[n] = (grip_x * ground_x + grip_y * ground_y) / (robot.wheels.radius[n] * robot.wheels.along[n])
        work.rotor[n], work.lowest[n] = work.speed[n], work.load[n]
        held_x, held_y = -work.load[n] * gx / g_into, -work.load[n] * gy / g_into
        held_g, held_h = grip_x * held_x + grip_y * held_y, grip_x * held_y - grip_y * held_x
        work.expected_x[n], work.expected_y[n] = strongest(robot.law, held_g, held_h, work.load[n])
    return started(start, body, gx, gy, x, y, zero)


@part
def _measure(robot, places):
    """Wheels filled up to whole packs: those that are not there carry nothing."""
    wheels, body = robot.wheels, robot.body
    for n in range(len(wheels.x)):
        px, py, gx, gy = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y, wheels.grip_x[n], wheels.grip_y[n]
        places.radius[n], places.grip_x[n], places.grip_y[n] = wheels.radius[n], gx, gy
        places.moment_g[n], places.moment_h[n] = px * gy - py * gx, px * gx + py * gy
        places.along[n], places.across[n] = wheels.along[n], wheels.across[n]
        places.share[n], places.leverage_x[n], places.leverage_y[n] = wheels.share[n], wheels.leverage_x[n], wheels.leverage_y[n]
        places.per_rad[n], places.phase[n], places.rigid[n] = wheels.per_rad[n], wheels.phase[n], wheels.rigid[n]


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs, as `skid_steer` does."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    count = len(arrays.wheels.x)
    work_arrays = tables(Work, filled_up(count, like), like)
    wheel_arrays = tables(Places, filled_up(count, like), like)
    slots = filled_up(count, like) * memory_size(arrays.law)
    memory_arrays = Memory(zeros(slots, like), zeros(cell_count(arrays.ground), like))
    robot = raw(
        OmniRuns(
            arrays.body, arrays.wheels, prepared(arrays.powertrain, dt), arrays.law, arrays.rigid_law, arrays.ground,
            arrays.start, arrays.driver, arrays.battery, arrays.books, arrays.supports,
        )
    )  # fmt: skip
    notebook_arrays = journal(arrays.driver, like)
    work, memory, places, notebook = raw(work_arrays), raw(memory_arrays), raw(wheel_arrays), raw(notebook_arrays)
    _measure(robot, places)
    wheels, packs, memory = abreast(places), abreast(work), Memory(abreast(memory.contacts), memory.cells)
    s = _begin(robot, wheels, memory, work, packs)
    drive_through(
        step, look, record, judge, leans, robot, wheels, memory, work, packs, notebook, s, i, hold, every, dt, out, status
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
