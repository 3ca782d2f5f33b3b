"""One step of a tracked robot: contacts at a guess, six equations, forces that belong to them; again where the guess was wrong.

Unknown at the end of a step are the body's six velocities and the two belts' speeds; contacts couple them (`track_contact`). The
belts are eliminated, six equations remain (docs/theory/tracked, eq. (eight)).

Reference  derived in docs/theory/tracked
"""

from typing import Any, NamedTuple

from slipfit.ground.shape import gravity_in_ground
from slipfit.kernels import abreast, alike, any_of, choose, folded, part, where
from slipfit.kernels.space import Rows3, Sym3, Vec3, added, dot, rotation, scaled
from slipfit.vehicles.rigid_body import Load6, free_motion, moved, solve_six
from slipfit.vehicles.track_belts import drive_of, limit_of, loss_per_speed, run_on
from slipfit.vehicles.track_contact import Sums, find_hard, hard_count, no_sums
from slipfit.vehicles.track_hard import Care, gather_hard, share_hard
from slipfit.vehicles.track_soil import end_resistance, find_soil, gather_soil, remember_soil, share_soil

#: How often a step's equations are solved at most: by secants, with what is too much cut, by secants there (a cut force may
#: drive, a secant never does, and so comes last); then, where places or motors came out otherwise than they were taken, three
#: times with chords, and once so that nothing is gained whatever comes out.
_SECANT_PASSES, _MOST_PASSES = 3, 7


class Packs(NamedTuple):
    """What one step works with, elements side by side."""

    hard: Any
    soil: Any
    shares: Any


class Wide(NamedTuple):
    """Those parts of a robot that elements side by side read."""

    tables: Any
    hard: Any
    law: Any
    soil: Any


@part
def _folded3(v):
    return Vec3(folded(v.x), folded(v.y), folded(v.z))


@part
def _folded6(m):
    return Sym3(folded(m.xx), folded(m.xy), folded(m.xz), folded(m.yy), folded(m.yz), folded(m.zz))


@part
def _folded(s):
    """Sums over the elements of a pack."""
    return Sums(
        _folded6(s.push), Rows3(_folded3(s.lever.x), _folded3(s.lever.y), _folded3(s.lever.z)), _folded6(s.twist),
        _folded3(s.force), _folded3(s.moment), _folded3(s.to_belt), _folded3(s.belt_arm), folded(s.belt), folded(s.belt_force),
    )  # fmt: skip


@part
def _of_side(sums, per, rest):
    """What one side's contacts add to the body's equations, their belt eliminated: w' = per (rest + c . nu'),
    c = (to_belt, arm)."""
    v, w = sums.to_belt, sums.belt_arm
    pv, pw = scaled(v, per), scaled(w, per)
    s, k, t = sums.push, sums.lever, sums.twist
    return Load6(
        Sym3(s.xx - pv.x * v.x, s.xy - pv.x * v.y, s.xz - pv.x * v.z, s.yy - pv.y * v.y, s.yz - pv.y * v.z, s.zz - pv.z * v.z),
        Rows3(
            Vec3(k.x.x - pv.x * w.x, k.x.y - pv.x * w.y, k.x.z - pv.x * w.z),
            Vec3(k.y.x - pv.y * w.x, k.y.y - pv.y * w.y, k.y.z - pv.y * w.z),
            Vec3(k.z.x - pv.z * w.x, k.z.y - pv.z * w.y, k.z.z - pv.z * w.z),
        ),
        Sym3(t.xx - pw.x * w.x, t.xy - pw.x * w.y, t.xz - pw.x * w.z, t.yy - pw.y * w.y, t.yz - pw.y * w.z, t.zz - pw.z * w.z),
        added(sums.force, scaled(pv, rest)),
        added(sums.moment, scaled(pw, rest)),
    )


@part
def _sum6(a, b):
    return Sym3(a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz)


@part
def _together(a, b):
    lever = Rows3(added(a.lever.x, b.lever.x), added(a.lever.y, b.lever.y), added(a.lever.z, b.lever.z))
    return Load6(_sum6(a.push, b.push), lever, _sum6(a.twist, b.twist), added(a.force, b.force), added(a.moment, b.moment))


@part
def _nothing6(zero):
    v = Vec3(zero, zero, zero)
    m = Sym3(zero, zero, zero, zero, zero, zero)
    return Load6(m, Rows3(v, v, v), m, v, v)


@part
def _dragged(load, drag, low):
    """The body's equations with a resistance (N s/m) against going ahead at a place: J^T e_x = (1, 0, 0, 0, z, -y)."""
    a, b, c = load.push, load.lever, load.twist
    return Load6(
        Sym3(a.xx + drag, a.xy, a.xz, a.yy, a.yz, a.zz),
        Rows3(Vec3(b.x.x, b.x.y + drag * low.z, b.x.z - drag * low.y), b.y, b.z),
        Sym3(c.xx, c.xy, c.xz, c.yy + drag * low.z * low.z, c.yz - drag * low.z * low.y, c.zz + drag * low.y * low.y),
        load.force,
        load.moment,
    )


@part
def _solve(robot, wide, memory, packs, belts, free, velocity, rate, active, k, dt, zero):
    """One pass: the velocities that contacts at a guess bring about; belts.new gets the belts' of runs that are not done."""
    load, count = _nothing6(zero), hard_count(robot.ground, wide.tables)
    guess_v, guess_r = abreast(velocity), abreast(rate)
    care = Care(k >= _SECANT_PASSES, k == _MOST_PASSES - 1, abreast(active), abreast(free.velocity), abreast(free.rate))
    for side in range(2):
        guess = belts.guess[side]
        speed = abreast(guess)
        sums = no_sums(abreast(zero))
        sums = gather_hard(wide.hard, wide.law, memory, packs.hard, guess_v, guess_r, speed, care, side * count, count, sums, dt)
        sums = gather_soil(
            wide.soil, wide.tables.stations, packs.soil, packs.shares, guess_v, guess_r, speed, side, sums, dt
        )  # fmt: skip
        whole = _folded(sums)
        drive = drive_of(robot.belt, belts.told[side], belts.integral[side], belts.speed[side], belts.at_limit[side], dt)
        belts.drive[side] = max(-robot.belt.limit, min(robot.belt.limit, drive.push - drive.per_speed * guess))
        rest = robot.belt.mass / dt * belts.speed[side] + drive.push - whole.belt_force
        resists = robot.belt.mass / dt + drive.per_speed + whole.belt
        pulled = dot(whole.to_belt, velocity) + dot(whole.belt_arm, rate)
        per = 1.0 / (resists + loss_per_speed(robot.belt, belts.drive[side], rest + pulled, resists))
        one = _dragged(
            _of_side(whole, per, rest), belts.drag[side], Vec3(belts.low_x[side], belts.low_y[side], belts.low_z[side])
        )
        # Side by side, so that mirrored robots move mirrored to the last bit: left + right = right + left.
        load = _together(load, one)
        belts.per[side], belts.rest[side] = per, rest
        belts.vx[side], belts.vy[side], belts.vz[side] = whole.to_belt.x, whole.to_belt.y, whole.to_belt.z
        belts.wx[side], belts.wy[side], belts.wz[side] = whole.belt_arm.x, whole.belt_arm.y, whole.belt_arm.z
    new_v, new_r = solve_six(robot.body, free, load, zero, dt)
    for side in range(2):
        pulled = belts.vx[side] * new_v.x + belts.vy[side] * new_v.y + belts.vz[side] * new_v.z
        turned = belts.wx[side] * new_r.x + belts.wy[side] * new_r.y + belts.wz[side] * new_r.z
        belts.new[side] = where(active, belts.per[side] * (belts.rest[side] + pulled + turned), belts.new[side])
    return new_v, new_r


@part
def _share(robot, wide, packs, belts, velocity, rate, k, dt, zero):
    """Forces that belong to new velocities; whether the step has to be solved again."""
    new_v, new_r = abreast(velocity), abreast(rate)
    again = astray = abreast(zero) < abreast(zero)
    misjudged = zero < zero
    cuts = k < _SECANT_PASSES - 2
    count = hard_count(robot.ground, wide.tables)
    for side in range(2):
        speed = abreast(belts.new[side])
        again, astray = share_hard(
            wide.hard, wide.law, packs.hard, new_v, new_r, speed, cuts, side * count, count, again, astray, dt
        )
        again = share_soil(wide.soil, wide.tables.stations, packs.soil, new_v, new_r, speed, side, again)
        now = limit_of(robot.belt, belts, side, dt)
        misjudged = misjudged | (now != belts.at_limit[side])
        belts.at_limit[side] = now
    astray = folded(astray) | misjudged
    return folded(again) | astray, astray


@part
def step(robot, wide, memory, packs, belts, s, dt):
    """One step of one robot, or of eight. `wide` is the robot for packs."""
    body, zero = robot.body, alike(0.0, robot.body.mass)
    gx, gy, gz = gravity_in_ground(robot.ground)
    free = free_motion(body, s, Vec3(gx, gy, gz), dt)
    here, now = abreast(s.place), abreast(rotation(s.attitude))
    find_hard(robot.ground, memory, wide.tables, packs.hard, here, now)
    v, r = abreast(s.velocity), abreast(s.rate)
    for side in range(2):
        find_soil(
            wide.soil, robot.ground, memory, wide.tables.stations, packs.soil, here, now, v, r,
            abreast(belts.speed[side]), side, dt,
        )  # fmt: skip
        drag, low = end_resistance(robot, memory, s, rotation(s.attitude), side)
        belts.drag[side], belts.low_x[side], belts.low_y[side], belts.low_z[side] = drag, low.x, low.y, low.z
    for side in range(2):
        belts.guess[side] = belts.speed[side]
    for c in range(len(packs.hard.is_cut)):
        packs.hard.is_cut[c] = alike(0.0, packs.hard.depth[c])
    active = zero == 0.0
    guess_v, guess_r = s.velocity, s.rate
    velocity, rate = guess_v, guess_r
    for k in range(_MOST_PASSES):
        # A run that is done keeps what it found while its neighbours are solved again.
        new_v, new_r = _solve(robot, wide, memory, packs, belts, free, guess_v, guess_r, active, k, dt, zero)
        velocity, rate = choose(active, new_v, velocity), choose(active, new_r, rate)
        again, astray = _share(robot, wide, packs, belts, velocity, rate, k, dt, zero)
        active = active & (again if k < _SECANT_PASSES - 1 else astray)
        if k == _MOST_PASSES - 1 or not any_of(active):
            break
        guess_v, guess_r = choose(active, velocity, guess_v), choose(active, rate, guess_r)
        for side in range(2):
            belts.guess[side] = where(active, belts.new[side], belts.guess[side])
    run_on(robot.belt, belts, dt)
    v, r = abreast(velocity), abreast(rate)
    for side in range(2):
        remember_soil(
            wide.soil, robot.ground, memory, wide.tables.stations, packs.soil, packs.shares, v, r, abreast(belts.speed[side]),
            side, dt,
        )  # fmt: skip
    felt = scaled(added(velocity, scaled(free.velocity, -1.0)), 1.0 / dt)
    return moved(s, free, velocity, rate, felt, dt)
