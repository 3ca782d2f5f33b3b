"""A robot on wheels over ground of any shape: a rigid body in space, tyres that give, wheels that lift off and come back.

Each wheel is a disc. Its lowest point towards the ground, arm = hub + R d with d = -(n without its part along the axle), meets
the tangent plane of the ground below it; the depth delta into that plane loads the tyre, which pushes and never pulls:

    N = max(0, k delta + c delta.),    delta. = -n . (v + omega x arm)

(in soil: `soil_footing`). Friction acts there along e_x = axle x n (rolling) and e_y = n x e_x by the law's secants, as in
`skid_steer`; soil besides holds the hub back along e_x. All forces belong to the velocities at the end of the step
(docs/theory/rover, eq. (rough)). One look at the ground per wheel and step: the direction d of the step before says where.

Symbols    n normal of the ground · k, c stiffness and damping of a tyre · R wheel radius · v, omega of the centre of mass
Reference  derived in docs/theory/rover; body [Fossen1994]; friction and motors [Shilliday2023]
Valid for  ground whose curvature radii are larger than the wheel's: one contact per wheel
"""

from math import atan2, isfinite, sqrt
from typing import Any, NamedTuple

from slipfit.contact.touch import Touch, Traction, memory_size
from slipfit.ground.shape import Memory, cell_count, gravity_in_ground
from slipfit.kernels import (
    WIDTH,
    Eight,
    abreast,
    alike,
    any_of,
    at,
    chosen_by_type,
    compiled,
    filled_up,
    folded,
    keep_alive,
    part,
    put,
    raw,
    tables,
    where,
    zeros,
)
from slipfit.kernels.space import Rows3, Sym3, Vec3, added, cross, dot, rotation, scaled, to_ground
from slipfit.vehicles.books import Books, Totals, are_kept, drive_stores, enter, tally
from slipfit.vehicles.driven_wheel import is_excess, roll_on, soften, surprises
from slipfit.vehicles.driver import Seen
from slipfit.vehicles.footing import is_sunk, leave, limit_here, meet, resists, stored, yields
from slipfit.vehicles.losses import air_drag, caster_moment
from slipfit.vehicles.planar_body import MOST_PASSES, Start, look_again
from slipfit.vehicles.powertrain import prepared
from slipfit.vehicles.rigid_body import Body6, Load6, free_motion, kinetic, moved, solve_six
from slipfit.vehicles.rough_start import begin
from slipfit.vehicles.run_loop import (
    NOT_FINITE,
    OFF_MAP,
    OK,
    SUNK,
    TIPPED,
    WHEEL_COLUMNS,
    drive_through,
    journal,
    record_journal,
    record_wheels,
)
from slipfit.vehicles.wheel_contact import (
    Hubs,
    Work,
    arm_to,
    axes_of,
    centre_of_mass,
    combined,
    find_contacts,
    hub_of,
    over_ground,
)

#: What a run records of the robot's origin, in this order: place and attitude (quaternion, body to ground) in the ground's frame,
#: velocity, rates and specific force (of the centre of mass) in the body's axes.
BODY6_COLUMNS = (
    "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps", "roll_rate_radps", "pitch_rate_radps",
    "yaw_rate_radps", "fx_mps2", "fy_mps2", "fz_mps2",
)  # fmt: skip

#: A body that leans further than this (cosine of the angle to the vertical, 75 degrees) has tipped over.
_TIPPED_COSINE = 0.2588


class RoughRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body6
    wheels: Any  # loads.Wheels, one table per run
    tyre: Any  # what wheels stand on: footing.Tyre, or soil_footing.SoilFooting
    powertrain: Any
    law: Any
    ground: Any
    start: Start
    driver: Any
    losses: Any
    battery: Any
    books: Any


@part
def _expect(robot, tyre, hubs, work, free, dt, zero):
    """Velocities that the forces of the step before would bring about; and the lateral force that is expected."""
    fx = fy = fz = mx = my = mz = lateral = abreast(zero)
    for n in range(len(work.speed)):
        ex, ey, normal = axes_of(work, n)
        f = combined(ex, ey, normal, work.expected_x[n], work.expected_y[n], work.load[n])
        m = cross(arm_to(hubs, work, n), f)
        if resists(tyre):
            back = scaled(ex, work.hub[n])
            f, m = added(f, back), added(m, cross(hub_of(hubs, n), back))
        fx, fy, fz, mx, my, mz = fx + f.x, fy + f.y, fz + f.z, mx + m.x, my + m.y, mz + m.z
        lateral += work.expected_y[n]
    body, per_mass = robot.body, dt / robot.body.mass
    velocity = added(free.velocity, scaled(Vec3(folded(fx), folded(fy), folded(fz)), per_mass))
    rate = added(
        free.rate,
        Vec3(dt * folded(mx) / body.roll_inertia, dt * folded(my) / body.pitch_inertia, dt * folded(mz) / body.yaw_inertia),
    )
    return velocity, rate, folded(lateral)


@part
def _gather(powertrain, law, losses, tyre, hubs, memory, work, velocity, rate, turning, may_yield, dt, zero):
    """What all wheels add to the body's equations, taken at a guess of the velocities to come."""
    velocity, rate = abreast(velocity), abreast(rate)
    axx = axy = axz = ayy = ayz = azz = fx = fy = fz = mx = my = mz = abreast(zero)
    bxx = bxy = bxz = byx = byy = byz = bzx = bzy = bzz = cxx = cxy = cxz = cyy = cyz = czz = abreast(zero)
    for n in range(len(work.speed)):
        radius = hubs.radius[n]
        ex, ey, normal = axes_of(work, n)
        arm = arm_to(hubs, work, n)
        ground_x, ground_y, rising = over_ground(velocity, rate, arm, ex, ey, normal)
        hub_x = ground_x
        if resists(tyre):
            hub_x = dot(ex, added(velocity, cross(rate, hub_of(hubs, n))))
        met = meet(tyre, law, powertrain, losses, memory, work, n, radius, ground_x, ground_y, rising, hub_x, dt)
        start_x, start_y, xx, xy, yy = soften(law, met.answer, met.give, met.free_rim)
        if may_yield and yields(tyre):
            start_x, start_y, xx, xy, yy = _at_its_limit(work, n, Traction(start_x, start_y, xx, xy, yy))
        work.xx[n], work.xy[n], work.yy[n], work.start_x[n], work.start_y[n] = xx, xy, yy, start_x, start_y
        # H = xx ex ex^T + xy (ex ey^T + ey ex^T) + yy ey ey^T + nn n n^T, by rows of what one m/s along each axis gives.
        kx = combined(ex, ey, normal, xx * ex.x + xy * ey.x, xy * ex.x + yy * ey.x, work.nn[n] * normal.x)
        ky = combined(ex, ey, normal, xy * ey.y, yy * ey.y, work.nn[n] * normal.y)
        kz = combined(ex, ey, normal, xx * ex.z + xy * ey.z, xy * ex.z + yy * ey.z, work.nn[n] * normal.z)
        axx, axy, axz, ayy, ayz, azz = axx + kx.x, axy + kx.y, axz + kx.z, ayy + ky.y, ayz + ky.z, azz + kz.z
        lx, ly, lz = cross(arm, kx), cross(arm, ky), cross(arm, kz)
        bxx, bxy, bxz, byx, byy, byz = bxx + lx.x, bxy + lx.y, bxz + lx.z, byx + ly.x, byy + ly.y, byz + ly.z
        bzx, bzy, bzz = bzx + lz.x, bzy + lz.y, bzz + lz.z
        tx = cross(arm, Vec3(lx.x, ly.x, lz.x))
        ty = cross(arm, Vec3(lx.y, ly.y, lz.y))
        tz = cross(arm, Vec3(lx.z, ly.z, lz.z))
        cxx, cxy, cxz, cyy, cyz, czz = cxx + tx.x, cxy + ty.x, cxz + tz.x, cyy + ty.y, cyz + tz.y, czz + tz.z
        if resists(tyre):  # soil holds the hub back: r ex ex^T at the hub, whose lever is a = hub x ex
            r, a = work.resist[n], cross(hub_of(hubs, n), ex)
            axx, axz, azz = axx + r * ex.x * ex.x, axz + r * ex.x * ex.z, azz + r * ex.z * ex.z
            bxx, bxy, bxz = bxx + r * ex.x * a.x, bxy + r * ex.x * a.y, bxz + r * ex.x * a.z
            bzx, bzy, bzz = bzx + r * ex.z * a.x, bzy + r * ex.z * a.y, bzz + r * ex.z * a.z
            cxx, cxy, cxz = cxx + r * a.x * a.x, cxy + r * a.x * a.y, cxz + r * a.x * a.z
            cyy, cyz, czz = cyy + r * a.y * a.y, cyz + r * a.y * a.z, czz + r * a.z * a.z
        f = combined(ex, ey, normal, start_x, start_y, work.start_n[n])
        m = cross(arm, f)
        if resists(tyre):
            back = scaled(ex, work.hub_start[n])
            f, m = added(f, back), added(m, cross(hub_of(hubs, n), back))
        fx, fy, fz, mx, my, mz = fx + f.x, fy + f.y, fz + f.z, mx + m.x, my + m.y, mz + m.z
    return Load6(
        Sym3(folded(axx), folded(axy), folded(axz), folded(ayy), folded(ayz), folded(azz)),
        Rows3(
            Vec3(folded(bxx), folded(bxy), folded(bxz)),
            Vec3(folded(byx), folded(byy), folded(byz)),
            Vec3(folded(bzx), folded(bzy), folded(bzz)),
        ),
        Sym3(folded(cxx), folded(cxy), folded(cxz), folded(cyy), folded(cyz), folded(czz)),
        Vec3(folded(fx), folded(fy), folded(fz)),
        Vec3(folded(mx), folded(my), folded(mz) + turning),
    )


@part
def _at_its_limit(work, n, answer):
    """An answer; or, where the pass before asked for more than the contact has or it yielded then, that limit at any velocity."""
    zero = alike(0.0, answer.xx)
    asked = is_excess(work.force_x[n], work.force_y[n], work.next_x[n], work.next_y[n]) | (work.yy[n] == 0.0)
    return Traction(
        where(asked, work.next_x[n], answer.start_x), where(asked, work.next_y[n], answer.start_y),
        where(asked, zero, answer.xx), where(asked, zero, answer.xy), where(asked, zero, answer.yy),
    )  # fmt: skip


@part
def _share_out(powertrain, law, losses, tyre, hubs, work, velocity, rate, zero):
    """Forces that belong to the body's new velocities; their sum, and whether they were not to be expected."""
    velocity, rate = abreast(velocity), abreast(rate)
    fx = fy = fz = abreast(zero)
    again = fx < fx
    for n in range(len(work.speed)):
        ex, ey, normal = axes_of(work, n)
        ground_x, ground_y, rising = over_ground(velocity, rate, arm_to(hubs, work, n), ex, ey, normal)
        force_x = work.start_x[n] - work.xx[n] * ground_x - work.xy[n] * ground_y
        force_y = work.start_y[n] - work.xy[n] * ground_x - work.yy[n] * ground_y
        load = work.start_n[n] - work.nn[n] * rising
        pulls = load < 0.0
        load = max(0.0, load)
        work.load[n] = load
        along = force_x
        if resists(tyre):
            speed = dot(ex, added(velocity, cross(rate, hub_of(hubs, n))))
            work.hub[n] = work.hub_start[n] - work.resist[n] * speed
            along += work.hub[n]
        f = combined(ex, ey, normal, along, force_y, load)
        fx, fy, fz = fx + f.x, fy + f.y, fz + f.z
        limit = limit_here(tyre, law, work, n)
        again = again | pulls | surprises(powertrain, limit, losses, work, n, hubs.radius[n], force_x, force_y, load)
    return Vec3(folded(fx), folded(fy), folded(fz)), folded(again)


@part
def _commit(powertrain, law, losses, tyre, books, ground, hubs, memory, work, velocity, rate, in_air, in_caster, dt, zero):
    """What the step leaves behind; returns what there is to book."""
    velocity, rate = abreast(velocity), abreast(rate)
    supplied = throughput = in_resistance = in_shaft = in_sliding = in_tyres = in_rolling = in_soil = abreast(zero)
    for n in range(len(work.speed)):
        radius = hubs.radius[n]
        rolled = roll_on(powertrain, losses, work, n, radius, dt)
        in_rolling += rolled.in_rolling
        ex, ey, normal = axes_of(work, n)
        ground_x, ground_y, rising = over_ground(velocity, rate, arm_to(hubs, work, n), ex, ey, normal)
        rim = radius * rolled.after.speed
        touch = Touch(rim - ground_x, -ground_y, rim, work.load[n])
        left = leave(tyre, law, ground, memory, work, n, radius, touch, rising, dt)
        if are_kept(books):
            work.slip_x[n], work.slip_y[n] = touch.slip_x, touch.slip_y
            flow = tally(books, rolled, dt)
            supplied, throughput = supplied + flow.supplied, throughput + abs(flow.supplied)
            in_resistance, in_shaft = in_resistance + flow.in_resistance, in_shaft + flow.in_shaft
            in_sliding += (work.force_x[n] * touch.slip_x + work.force_y[n] * touch.slip_y) * dt
            in_tyres, in_soil = in_tyres + left.in_tyre, in_soil + left.in_soil
            if resists(tyre):
                in_soil -= work.hub[n] * dot(ex, added(velocity, cross(rate, hub_of(hubs, n)))) * dt
    return Totals(
        folded(supplied), folded(throughput), folded(in_resistance), folded(in_shaft), folded(in_sliding) + in_caster,
        folded(in_tyres), folded(in_rolling), in_air, folded(in_soil),
    )  # fmt: skip


@part
def step(robot, hubs, memory, work, notebook, s, dt):
    """One step of one robot, or of eight."""
    body, zero = robot.body, alike(0.0, robot.body.mass)
    gx, gy, gz = gravity_in_ground(robot.ground)
    free = free_motion(body, s, Vec3(gx, gy, gz), dt)
    find_contacts(robot, hubs, memory, work, s, rotation(s.attitude), free.middle)
    powertrain, law, losses = abreast(robot.powertrain), abreast(robot.law), abreast(robot.losses)
    tyre, books, ground = abreast(robot.tyre), abreast(robot.books), abreast(robot.ground)
    velocity, rate, lateral = _expect(robot, tyre, hubs, work, free, dt, zero)
    drag, turning = air_drag(robot.losses, s.velocity.x), caster_moment(robot.losses, lateral, s.velocity.x)
    active = zero == 0.0
    guess_v, guess_r = velocity, rate
    total = free.gravity
    passes = MOST_PASSES + 1 if yields(tyre) else MOST_PASSES
    for k in range(passes):
        may_yield = k >= MOST_PASSES - 1
        load = _gather(powertrain, law, losses, tyre, hubs, memory, work, guess_v, guess_r, turning, may_yield, dt, zero)
        velocity, rate = solve_six(body, free, load, drag, dt)
        total, again = _share_out(powertrain, law, losses, tyre, hubs, work, velocity, rate, zero)
        active = active & again
        if k == passes - 1 or not any_of(active):
            break
        guess_v, guess_r = _either(active, velocity, guess_v), _either(active, rate, guess_r)
        look_again(work, abreast(active))
    in_air, in_caster = drag * (velocity.x * velocity.x * dt), -turning * (rate.z * dt)
    totals = _commit(
        powertrain, law, losses, tyre, books, ground, hubs, memory, work, velocity, rate, in_air, in_caster, dt, zero
    )  # fmt: skip
    enter(robot.books, notebook, totals)
    felt = scaled(Vec3(total.x - drag * velocity.x, total.y, total.z), 1.0 / body.mass)
    return moved(s, free, velocity, rate, felt, dt)


@part
def _either(condition, a, b):
    return Vec3(where(condition, a.x, b.x), where(condition, a.y, b.y), where(condition, a.z, b.z))


@part
def _never_leans(robot, s):
    """It tips over by itself."""
    return s.rate.z < s.rate.z


@part
def _look(robot, s, time):
    """What a driver sees of the robot's origin."""
    now, com = rotation(s.attitude), centre_of_mass(robot.body)
    offset, v = to_ground(now, com), added(s.velocity, cross(com, s.rate))
    return Seen(time, s.place.x - offset.x, s.place.y - offset.y, atan2(now.y.x, now.x.x), v.x, v.y, s.rate.z)


@part
def _judge(robot, memory, work, s):
    """How a run stands."""
    now = rotation(s.attitude)
    gx, gy, gz = gravity_in_ground(robot.ground)
    standing = -(now.x.z * gx + now.y.z * gy + now.z.z * gz)
    on_map = alike(1.0, s.place.x)
    sunk = on_map < on_map
    for n in range(len(robot.wheels.x)):
        on_map = min(on_map, work.on_map[n])
        sunk = sunk | is_sunk(robot.tyre, work.depth[n], robot.wheels.radius[n])
    finite = isfinite(s.place.x + s.place.y + s.place.z + s.attitude.w + s.rate.z)
    code = where(sunk, alike(SUNK, on_map), OK)
    code = where(on_map > 0.5, code, OFF_MAP)
    code = where(standing > _TIPPED_COSINE * sqrt(gx * gx + gy * gy + gz * gz), code, TIPPED)
    return where(finite, code, NOT_FINITE)


@chosen_by_type
def _record_books(books, robot, work, notebook, s, stopped_at, i, out):
    """Nothing, where nobody keeps any."""


@_record_books.of(Books)
def _(books, robot, work, notebook, s, stopped_at, i, out):
    body, count = robot.body, len(robot.wheels.x)
    gx, gy, gz = gravity_in_ground(robot.ground)
    height = -body.mass * (gx * s.place.x + gy * s.place.y + gz * s.place.z)
    pressed = alike(0.0, height)
    for n in range(count):
        pressed += stored(robot.tyre, work.depth[n])
    stores = drive_stores(books, work, count, kinetic(body, s), height, pressed)
    record_journal(count, work, notebook, stores, stopped_at, i, out, len(BODY6_COLUMNS) + len(WHEEL_COLUMNS) * count)


@part
def _record(robot, work, notebook, s, stopped_at, i, out):
    now, com, q = rotation(s.attitude), centre_of_mass(robot.body), s.attitude
    offset, v = to_ground(now, com), added(s.velocity, cross(com, s.rate))
    place = added(s.place, scaled(offset, -1.0))
    put(out[:, 0], i, place.x)
    put(out[:, 1], i, place.y)
    put(out[:, 2], i, place.z)
    put(out[:, 3], i, q.w)
    put(out[:, 4], i, q.x)
    put(out[:, 5], i, q.y)
    put(out[:, 6], i, q.z)
    put(out[:, 7], i, v.x)
    put(out[:, 8], i, v.y)
    put(out[:, 9], i, v.z)
    put(out[:, 10], i, s.rate.x)
    put(out[:, 11], i, s.rate.y)
    put(out[:, 12], i, s.rate.z)
    put(out[:, 13], i, s.felt.x)
    put(out[:, 14], i, s.felt.y)
    put(out[:, 15], i, s.felt.z)
    record_wheels(len(robot.wheels.x) if out.shape[1] > 16 else 0, work, i, out, 16)
    _record_books(robot.books, robot, work, notebook, s, stopped_at, i, out)


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs, as `skid_steer` does."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    count = len(arrays.wheels.x)
    slots = filled_up(count, like)
    work_arrays = tables(Work, slots, like)
    hub_arrays = tables(Hubs, slots, like)
    memory_arrays = Memory(zeros(slots * memory_size(arrays.law), like), zeros(cell_count(arrays.ground), like))
    robot = raw(
        RoughRuns(
            arrays.body, arrays.wheels, arrays.tyre, prepared(arrays.powertrain, dt), arrays.law, arrays.ground, arrays.start,
            arrays.driver, arrays.losses, arrays.battery, arrays.books,
        )
    )  # fmt: skip
    notebook_arrays = journal(arrays.driver, like)
    work, memory, places, notebook = raw(work_arrays), raw(memory_arrays), raw(hub_arrays), raw(notebook_arrays)
    wheels, body = robot.wheels, robot.body
    for n in range(count):
        places.x[n], places.y[n] = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y
        places.z[n], places.radius[n] = wheels.radius[n] - body.com_height, wheels.radius[n]
    hubs, packs, memory = abreast(places), abreast(work), Memory(abreast(memory.contacts), memory.cells)
    s = begin(robot, hubs, memory, work, packs)
    drive_through(
        step, _look, _record, _judge, _never_leans, robot, hubs, memory, work, packs, notebook, s, i, hold, every, dt, out, status
    )  # fmt: skip
    keep_alive((arrays, work_arrays, memory_arrays, hub_arrays, notebook_arrays))


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
