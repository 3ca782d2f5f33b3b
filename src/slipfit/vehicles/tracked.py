"""A tracked robot: a rigid body in space on two belts, over blocks, heights and soil.

Unknown at the end of a step are the body's six velocities and the two belts' speeds w; contacts couple them (`track_contact`).
Each belt has the mass of all that turns with it, a motor on its sprocket and losses of its own:

    m_b w. = drive - loss - sum F_x,     |drive| <= limit,    drive = kp (c - w) + ki integral (c - w) dt - kd w.
    loss = zeta (T_tight + T_slack) sign(w) + b w,    T_slack = T_0,  T_tight = T_0 + |drive|

With the same gains on both sides the mean of the two loops is the PID on the kinematic speed V_kin = (w_L + w_R) / 2 of the
source document, and their difference steers. The belts are eliminated, six equations remain (docs/theory/tracked, eq. (eight)).

Hard ground pushes with N = k delta^p + c min(1, delta / delta_c) delta., never less than zero; delta is taken at the end of the
step by Newton's linearisation, friction by its secant, soil by its plates' own answers.

Symbols    delta depth (m) · k, p, c, delta_c constants of hard contact · c command (m/s) · T belt tension (N) · zeta, b losses
Reference  [Hackett2011] for tracks and drive; solution derived in docs/theory/tracked
"""

from typing import Any, NamedTuple

from slipfit.contact.slip import STICK_SPEED_MPS
from slipfit.contact.touch import Touch, strongest, traction
from slipfit.ground.shape import Memory, along_profile, cell_count, gravity_in_ground
from slipfit.kernels import (
    WIDTH,
    Eight,
    abreast,
    alike,
    any_of,
    at,
    choose,
    compiled,
    cos_and_sin,
    folded,
    keep_alive,
    part,
    put,
    raw,
    tables,
    where,
    zeros,
)
from slipfit.kernels.space import Quat, Rows3, Sym3, Vec3, added, rotation, scaled, to_ground
from slipfit.vehicles.rigid_body import Body6, Load6, State6, free_motion, kinetic, moved, solve_six
from slipfit.vehicles.track_contact import HardWork, Sums, arm_and_axes, carry, find_hard, hard_count, no_sums, over
from slipfit.vehicles.track_shape import TrackTables
from slipfit.vehicles.track_soil import (
    SoilWork,
    carry_along,
    find_soil,
    front_resistance,
    gather_soil,
    remember_soil,
    share_soil,
)
from slipfit.vehicles.track_verdict import RUNNING, Look, begin_story, judge, margin, timed_out

#: How often a step's equations are solved at most: by secants, with what is too much cut, by secants there.
_MOST_PASSES = 3

#: A contact may carry this much more than its friction before a step is solved again.
_TOLERATED = 0.005

#: Belts carry what they remember every so many steps.
_CARRY_EVERY = 4

#: Smallest depth that a power is taken of, m.
_SHALLOWEST_M = 1e-12

TRACK_COLUMNS = (
    "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps", "roll_rate_radps", "pitch_rate_radps",
    "yaw_rate_radps", "belt_left_mps", "belt_right_mps", "drive_left_n", "drive_right_n", "tension_left_n", "tension_right_n",
    "hard_load_left_n", "hard_load_right_n", "soil_load_left_n", "soil_load_right_n", "belly_load_n", "sinkage_left_m",
    "sinkage_right_m", "deepest_m", "energy_j", "verdict", "margin", "stopped_at_s",
)  # fmt: skip


class HardContact(NamedTuple):
    stiffness: float  # N/m^p, of each place that touches
    exponent: float  # p
    damping: float  # N s/m
    full_at: float  # m, depth from which the damping acts in full


class Belt(NamedTuple):
    """A belt with all that turns with it, at its surface."""

    mass: float  # kg
    limit: float  # N
    kp: float  # N s/m
    ki: float  # N/m
    kd: float  # kg
    tension: float  # N, T_0
    loss_share: float  # zeta
    loss_viscous: float  # N s/m, b


class Begin(NamedTuple):
    """Where a run starts: place of the centre of mass, nose-up pitch, heading, speed ahead."""

    x: float
    y: float
    z: float
    pitch_up: float
    heading: float
    speed: float


class Told(NamedTuple):
    """What the belts are told: speeds of the left and right one for each control period, times a factor of the run."""

    factor: float
    speeds: Any  # Shared, two per period


class TrackedRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body6
    tables: TrackTables
    hard: HardContact
    law: Any
    soil: Any
    belt: Belt
    ground: Any
    begin: Begin
    told: Told
    rules: Any  # track_verdict.Rules


class Packs(NamedTuple):
    """What one step works with, elements side by side."""

    hard: Any
    soil: Any
    shares: Any


class BeltWork(NamedTuple):
    """One number per belt, left and right."""

    speed: Any  # m/s
    integral: Any  # N
    told: Any  # m/s
    guess: Any  # m/s
    new: Any
    drive: Any  # N
    sunk: Any  # m, deepest so far
    drag: Any  # N s/m, of soil before the front sprocket; its place:
    low_x: Any
    low_y: Any
    low_z: Any
    per: Any  # the belt's equation, w' = per (rest + (v, w) . nu')
    rest: Any
    vx: Any
    vy: Any
    vz: Any
    wx: Any
    wy: Any
    wz: Any


class Wide(NamedTuple):
    """Those parts of a robot that elements side by side read."""

    tables: Any
    hard: Any
    law: Any
    soil: Any


class Drive(NamedTuple):
    """A belt's motor in this step: w' = (momentum + push) / ..., push and the part that grows with w'."""

    push: float  # N
    per_speed: float  # N s/m


@part
def _gather_hard(hard, law, memory, work, velocity, rate, belt, first, count, sums, dt):
    """What hard contacts of one side add, taken at a guess of the velocities to come."""
    for k in range(count):
        c = first + k
        if any_of(work.depth[c] > 0.0 - _SPEED_REACH):
            arm, normal, along, across = arm_and_axes(work, c)
            ahead, aside, rising = over(velocity, rate, arm, along, across, normal)
            depth = work.depth[c]
            coming = max(0.0, depth - dt * rising)
            is_near = coming > 0.0
            nothing = alike(0.0, depth)
            work.nn[c] = work.start_n[c] = work.secant[c] = work.load[c] = nothing
            if any_of(is_near):
                power = max(coming, _SHALLOWEST_M) ** (hard.exponent - 1.0)
                slope = hard.exponent * hard.stiffness * power
                nn = dt * slope + hard.damping * min(1.0, coming / hard.full_at)
                start_n = hard.stiffness * power * coming + slope * (depth - coming)
                load = start_n - nn * rising
                is_loaded = is_near & (load > 0.0)
                load = where(is_loaded, load, nothing)
                rim = work.driven[c] * belt
                answer = traction(law, Touch(rim - ahead, -aside, rim, load * work.grip[c]), memory, c, dt)
                is_cut = work.is_cut[c] > 0.5
                g = where(is_cut, nothing, answer.xx)
                start_x, start_y = where(is_cut, work.cut_x[c], nothing), where(is_cut, work.cut_y[c], nothing)
                work.nn[c], work.start_n[c] = where(is_loaded, nn, nothing), where(is_loaded, start_n, nothing)
                work.secant[c], work.load[c] = g, load
                sums = carry(
                    sums, arm, normal, along, work.driven[c], work.start_n[c], work.nn[c], g, nothing, start_x, start_y
                )  # fmt: skip
        else:
            work.load[c] = alike(0.0, work.depth[c])
    return sums


#: Places this far above the ground may reach it within a step, m.
_SPEED_REACH = 0.005


@part
def _share_hard(law, work, velocity, rate, belt, first, count, again):
    """Forces that belong to the new velocities; whether they were not to be expected."""
    for k in range(count):
        c = first + k
        if any_of(work.load[c] > 0.0):
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
            is_new = was_loaded & excess & (work.is_cut[c] < 0.5)
            work.cut_x[c], work.cut_y[c] = most_x, most_y
            # What was cut once is solved by its secant next, where sliding has begun.
            work.is_cut[c] = where(is_new, 1.0 + nothing, nothing)
            again = again | pulls | is_new | (was_loaded & was_cut)
            work.load[c] = load
            work.force_x[c], work.force_y[c] = where(was_loaded, force_x, nothing), where(was_loaded, force_y, nothing)
    return again


@part
def _drive_of(belt, told, integral, speed, guess, dt):
    """The motor's part of a belt's equation at a guess of the belt's speed; limited where the loop asks for too much."""
    per = belt.kp + belt.kd / dt
    free = belt.kp * told + integral + belt.kd / dt * speed
    wanted = free - per * guess
    at_limit = abs(wanted) > belt.limit
    limited = max(-belt.limit, min(belt.limit, wanted))
    return Drive(where(at_limit, limited, free), where(at_limit, alike(0.0, per), per))


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
def _with_side(load, sums, per, rest):
    """The body's equations with one side's contacts, their belt eliminated: w' = per (rest + c . nu'), c = (to_belt, arm)."""
    v, w = sums.to_belt, sums.belt_arm
    pv, pw = scaled(v, per), scaled(w, per)
    a, b, c = load.push, load.lever, load.twist
    s, k, t = sums.push, sums.lever, sums.twist
    return Load6(
        Sym3(
            a.xx + s.xx - pv.x * v.x, a.xy + s.xy - pv.x * v.y, a.xz + s.xz - pv.x * v.z, a.yy + s.yy - pv.y * v.y,
            a.yz + s.yz - pv.y * v.z, a.zz + s.zz - pv.z * v.z,
        ),
        Rows3(
            Vec3(b.x.x + k.x.x - pv.x * w.x, b.x.y + k.x.y - pv.x * w.y, b.x.z + k.x.z - pv.x * w.z),
            Vec3(b.y.x + k.y.x - pv.y * w.x, b.y.y + k.y.y - pv.y * w.y, b.y.z + k.y.z - pv.y * w.z),
            Vec3(b.z.x + k.z.x - pv.z * w.x, b.z.y + k.z.y - pv.z * w.y, b.z.z + k.z.z - pv.z * w.z),
        ),
        Sym3(
            c.xx + t.xx - pw.x * w.x, c.xy + t.xy - pw.x * w.y, c.xz + t.xz - pw.x * w.z, c.yy + t.yy - pw.y * w.y,
            c.yz + t.yz - pw.y * w.z, c.zz + t.zz - pw.z * w.z,
        ),
        added(added(load.force, sums.force), scaled(pv, rest)),
        added(added(load.moment, sums.moment), scaled(pw, rest)),
    )  # fmt: skip


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
def _solve(robot, wide, memory, packs, belts, free, velocity, rate, dt, zero):
    """One pass: the velocities that contacts at a guess bring about; belts.new gets the belts'."""
    load, count = _nothing6(zero), hard_count(robot.ground, wide.tables)
    guess_v, guess_r = abreast(velocity), abreast(rate)
    for side in range(2):
        guess = belts.guess[side]
        speed = abreast(guess)
        sums = no_sums(abreast(zero))
        sums = _gather_hard(wide.hard, wide.law, memory, packs.hard, guess_v, guess_r, speed, side * count, count, sums, dt)
        sums = gather_soil(
            wide.soil, wide.tables.stations, packs.soil, packs.shares, guess_v, guess_r, speed, side, sums, dt
        )  # fmt: skip
        whole = _folded(sums)
        drive = _drive_of(robot.belt, belts.told[side], belts.integral[side], belts.speed[side], guess, dt)
        belts.drive[side] = drive.push - drive.per_speed * guess
        tension = 2.0 * robot.belt.tension + abs(belts.drive[side])
        loss = robot.belt.loss_viscous + robot.belt.loss_share * tension / max(abs(guess), STICK_SPEED_MPS)
        per = 1.0 / (robot.belt.mass / dt + loss + drive.per_speed + whole.belt)
        rest = robot.belt.mass / dt * belts.speed[side] + drive.push - whole.belt_force
        load = _with_side(load, whole, per, rest)
        load = _dragged(load, belts.drag[side], Vec3(belts.low_x[side], belts.low_y[side], belts.low_z[side]))
        belts.per[side], belts.rest[side] = per, rest
        belts.vx[side], belts.vy[side], belts.vz[side] = whole.to_belt.x, whole.to_belt.y, whole.to_belt.z
        belts.wx[side], belts.wy[side], belts.wz[side] = whole.belt_arm.x, whole.belt_arm.y, whole.belt_arm.z
    new_v, new_r = solve_six(robot.body, free, load, zero, dt)
    for side in range(2):
        pulled = belts.vx[side] * new_v.x + belts.vy[side] * new_v.y + belts.vz[side] * new_v.z
        turned = belts.wx[side] * new_r.x + belts.wy[side] * new_r.y + belts.wz[side] * new_r.z
        belts.new[side] = belts.per[side] * (belts.rest[side] + pulled + turned)
    return new_v, new_r


@part
def _share(robot, wide, packs, belts, velocity, rate, dt, zero):
    """Forces that belong to new velocities; whether the step has to be solved again."""
    new_v, new_r = abreast(velocity), abreast(rate)
    again = abreast(zero) < abreast(zero)
    misjudged = zero < zero
    count = hard_count(robot.ground, wide.tables)
    for side in range(2):
        speed = abreast(belts.new[side])
        again = _share_hard(wide.law, packs.hard, new_v, new_r, speed, side * count, count, again)
        again = share_soil(wide.soil, wide.tables.stations, packs.soil, new_v, new_r, speed, side, again)
        belt = robot.belt
        wanted = belt.kp * (belts.told[side] - belts.new[side]) + belts.integral[side]
        wanted -= belt.kd / dt * (belts.new[side] - belts.speed[side])
        misjudged = misjudged | ((abs(wanted) > belt.limit) ^ (abs(belts.drive[side]) >= belt.limit))
    return folded(again) | misjudged


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
        drag, low = front_resistance(robot, memory, s, rotation(s.attitude), side)
        belts.drag[side], belts.low_x[side], belts.low_y[side], belts.low_z[side] = drag, low.x, low.y, low.z
    for side in range(2):
        belts.guess[side] = belts.speed[side]
    for c in range(len(packs.hard.is_cut)):
        packs.hard.is_cut[c] = alike(0.0, packs.hard.depth[c])
    active = zero == 0.0
    guess_v, guess_r = s.velocity, s.rate
    velocity, rate = guess_v, guess_r
    for k in range(_MOST_PASSES):
        velocity, rate = _solve(robot, wide, memory, packs, belts, free, guess_v, guess_r, dt, zero)
        active = active & _share(robot, wide, packs, belts, velocity, rate, dt, zero)
        if k == _MOST_PASSES - 1 or not any_of(active):
            break
        guess_v, guess_r = choose(active, velocity, guess_v), choose(active, rate, guess_r)
        for side in range(2):
            belts.guess[side] = where(active, belts.new[side], belts.guess[side])
    for side in range(2):
        belt = robot.belt
        speed = belts.new[side]
        error = belts.told[side] - speed
        wanted = belt.kp * error + belts.integral[side] - belt.kd / dt * (speed - belts.speed[side])
        belts.drive[side] = max(-belt.limit, min(belt.limit, wanted))
        belts.integral[side] = where(abs(wanted) < belt.limit, belts.integral[side] + belt.ki * dt * error, belts.integral[side])
        belts.speed[side] = speed
    v, r = abreast(velocity), abreast(rate)
    for side in range(2):
        remember_soil(
            wide.soil, robot.ground, memory, wide.tables.stations, packs.soil, packs.shares, v, r, abreast(belts.speed[side]),
            side, dt,
        )  # fmt: skip
    felt = scaled(added(velocity, scaled(free.velocity, -1.0)), 1.0 / dt)
    return moved(s, free, velocity, rate, felt, dt)


@part
def _look(robot, packs, belts, s, time):
    """What the judge sees."""
    now, ground, shape = rotation(s.attitude), robot.ground, robot.tables
    _, _, gz = gravity_in_ground(ground)
    rear = added(s.place, to_ground(now, Vec3(shape.discs.x[0], alike(0.0, s.place.x), shape.discs.z[0])))
    zero = alike(0.0, s.place.x)
    soil = belly = zero
    for n in range(len(packs.soil.load)):
        carried = packs.soil.load[n]
        soil += carried * shape.stations.driven[n]
        belly += carried * (1.0 - shape.stations.driven[n])
    for c in range(len(packs.hard.load)):
        belly += packs.hard.load[c] * (1.0 - packs.hard.driven[c])
    return Look(
        time, along_profile(ground, rear.x, rear.y), along_profile(ground, s.place.x, s.place.y) + s.place.z, now.z.x, now.z.z,
        0.5 * (belts.told[0] + belts.told[1]), -robot.body.mass * gz, soil, belly,
    )  # fmt: skip


@part
def _note_sinkage(robot, soil, belts, going):
    ns = len(soil.load) // 2
    for side in range(2):
        for n in range(side * ns, (side + 1) * ns):
            sinks = going & (soil.load[n] * robot.tables.stations.driven[n] > 0.0)
            belts.sunk[side] = where(sinks, max(belts.sunk[side], soil.depth[n]), belts.sunk[side])


@part
def _energy(robot, packs, belts, s):
    """Kinetic energy of body and belts, height, and what is pressed into hard ground; soil gives next to nothing back."""
    body, hard = robot.body, robot.hard
    gx, gy, gz = gravity_in_ground(robot.ground)
    total = kinetic(body, s) - body.mass * (gx * s.place.x + gy * s.place.y + gz * s.place.z)
    for side in range(2):
        total += 0.5 * robot.belt.mass * belts.speed[side] * belts.speed[side]
    for c in range(len(packs.hard.depth)):
        pressed = max(packs.hard.depth[c], _SHALLOWEST_M)
        total += hard.stiffness / (hard.exponent + 1.0) * pressed ** (hard.exponent + 1.0)
    return total


@part
def _record(robot, packs, belts, story, s, i, out):
    q, shape = s.attitude, robot.tables
    zero = alike(0.0, s.place.x)
    body = (
        s.place.x, s.place.y, s.place.z, q.w, q.x, q.y, q.z, s.velocity.x, s.velocity.y, s.velocity.z, s.rate.x, s.rate.y,
        s.rate.z, belts.speed[0], belts.speed[1], belts.drive[0], belts.drive[1],
        robot.belt.tension + abs(belts.drive[0]), robot.belt.tension + abs(belts.drive[1]),
    )  # fmt: skip
    for k in range(19):
        put(out[:, k], i, body[k])
    belly = zero
    hards = len(packs.hard.load) // 2
    for side in range(2):
        hard = soil = sunk = zero
        for c in range(side * hards, (side + 1) * hards):
            carried = packs.hard.load[c]
            hard += carried * packs.hard.driven[c]
            belly += carried * (1.0 - packs.hard.driven[c])
        ns = len(packs.soil.load) // 2
        for n in range(side * ns, (side + 1) * ns):
            carried, driven = packs.soil.load[n], shape.stations.driven[n]
            soil += carried * driven
            belly += carried * (1.0 - driven)
            sunk = max(sunk, where((carried * driven > 0.0), packs.soil.depth[n], zero))
        put(out[:, 19 + side], i, hard)
        put(out[:, 21 + side], i, soil)
        put(out[:, 24 + side], i, sunk)
    put(out[:, 23], i, belly)
    put(out[:, 26], i, max(belts.sunk[0], belts.sunk[1]))
    put(out[:, 27], i, _energy(robot, packs, belts, s))
    put(out[:, 28], i, story.code)
    put(out[:, 29], i, margin(robot.rules, story))
    put(out[:, 30], i, story.stopped_at)


@part
def _start(robot, belts):
    begin, zero = robot.begin, alike(0.0, robot.body.mass)
    c, s = cos_and_sin(0.5 * begin.heading)
    d, e = cos_and_sin(-0.5 * begin.pitch_up)
    # First the heading, then the pitch about the body's own y axis (nose up is a negative turn about it).
    attitude = Quat(c * d + zero, -s * e + zero, c * e + zero, s * d + zero)
    for side in range(2):
        belts.speed[side] = begin.speed + zero
    nothing = Vec3(zero, zero, zero)
    return State6(
        Vec3(begin.x + zero, begin.y + zero, begin.z + zero), attitude, Vec3(begin.speed + zero, zero, zero), nothing, nothing
    )


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs: told anew every `hold` steps, recorded every `every` (a multiple of it), until all
    have their verdict. Records after a run's verdict have no meaning but for verdict, margin and what was deepest."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    robot = raw(arrays)
    stations, places = len(robot.tables.stations.x), 2 * hard_count(robot.ground, robot.tables)
    hard_arrays, soil_arrays = tables(HardWork, places, like), tables(SoilWork, stations, like)
    belt_arrays, share_arrays = tables(BeltWork, 2, like), zeros(2 * stations, like)
    cell_arrays = zeros(cell_count(robot.ground), like)
    alone, belts = Packs(raw(hard_arrays), raw(soil_arrays), raw(share_arrays)), raw(belt_arrays)
    packs = abreast(alone)
    wide = Wide(abreast(robot.tables), abreast(robot.hard), abreast(robot.law), abreast(robot.soil))
    memory = Memory(alone.shares, raw(cell_arrays))
    s = _start(robot, belts)
    for c in range(places):
        alone.hard.depth[c] = alike(-1.0, like)
    story = begin_story(_look(robot, alone, belts, s, like))
    for k in range(out.shape[1]):
        if k > 0 and any_of(story.code == RUNNING):
            for j in range((k - 1) * every, k * every):
                if j % hold == 0:
                    for side in range(2):
                        belts.told[side] = robot.told.factor * robot.told.speeds.array[2 * (j // hold) + side]
                going = story.code == RUNNING
                new = step(robot, wide, memory, packs, belts, s, dt)
                s = choose(going, new, s)
                if (j + 1) % _CARRY_EVERY == 0:
                    carry_along(robot.soil, robot.tables.stations, alone.soil, alone.shares, belts.speed, _CARRY_EVERY * dt)
                if (j + 1) % hold == 0:
                    _note_sinkage(robot, alone.soil, belts, going)
                    story = judge(robot.rules, story, _look(robot, alone, belts, s, alike((j + 1) * dt, like)))
                    if not any_of(story.code == RUNNING):
                        break
        if k == out.shape[1] - 1:
            story = timed_out(story, alike(k * every * dt, like))
        _record(robot, alone, belts, story, s, i, out[:, k])
    put(status, i, story.code)
    keep_alive((arrays, hard_arrays, soil_arrays, belt_arrays, share_arrays, cell_arrays))


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
