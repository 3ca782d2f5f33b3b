"""Dynamic planar skid-steer robot on any number of wheels: rigid body, wheels with a powertrain, any law, any plane.

    m (u. - v r) = sum F_x + m g_x,    m (v. + u r) = sum F_y + m g_y,    I r. = sum (X F_y - Y F_x)
    J_n omega. = tau_n - R_n F_x,n

u, v, r belong to the centre of mass; wheel positions count from there. Each step solves for the velocities at its end, with
the forces that those velocities themselves bring about: the law's secants are taken at the expected end of the step
(`_expect`), wheels are eliminated one by one (`_gather`), and three equations remain (`_solve`). Stable at any step,
dissipative, and a wheel that sticks stays where it is; first order in time (docs/theory/stepping).

Symbols    u, v, r velocity ahead, to the left, yaw rate · F forces on the wheels · g gravity in the body's axes · f specific
           force, sum F / m · c, s cosine and sine of the heading
Reference  [Shilliday2023] eqs. (1)-(3) with the signs of docs/theory/skid_steer; wheel_slip [Trimble2022]
"""

from math import cos, isfinite, sin
from typing import Any, NamedTuple

from slipfit.contact.touch import Touch, memory_size, remember, strongest, traction
from slipfit.ground.shape import Memory, cell_count, gravity_in_body
from slipfit.kernels import WIDTH, Eight, alike, any_of, at, compiled, keep_alive, part, put, raw, where, zeros
from slipfit.vehicles.loads import wheel_loads
from slipfit.vehicles.powertrain import free_wheel, is_misjudged, new_effort, prepared

#: What a run records, in this order; the pose is that of the wheels' centre, the specific force that of the centre of mass.
BODY_COLUMNS = (
    "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "fx_mps2", "fy_mps2", "yaw_accel_radps2",
)  # fmt: skip
WHEEL_COLUMNS = ("speed_radps", "angle_rad", "load_n", "force_x_n", "force_y_n", "effort")

OK, NOT_FINITE = 0.0, 1.0

#: The equations of a step are solved again while a wheel that was expected to hold its speed lacks the torque (or the other
#: way round), or a contact carries more than its limit by this share: rare, and done after two or three times.
MOST_PASSES = 4
TOLERATED_EXCESS = 0.01


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


class SkidSteerRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body
    wheels: Any  # loads.Wheels, one table per run
    powertrain: Any
    law: Any
    ground: Any
    start: Start
    commands: Any  # Shared (rows, wheels), or one table per run with rows x wheels entries


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
    new_speed: Any
    free_speed: Any
    mobility: Any
    xx: Any  # secants after the wheel is eliminated
    xy: Any
    yy: Any
    start_x: Any  # force at zero velocity
    start_y: Any


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


@part
def _plus(a, b):
    return Sums(
        a.uu + b.uu, a.uv + b.uv, a.ur + b.ur, a.vv + b.vv, a.vr + b.vr, a.rr + b.rr, a.u + b.u, a.v + b.v, a.r + b.r
    )  # fmt: skip


@part
def _arm(robot, n):
    """Position of a wheel from the centre of mass."""
    return robot.wheels.x[n] - robot.body.com_x, robot.wheels.y[n] - robot.body.com_y


@part
def _expect(robot, work):
    """Sums of the forces and moments that are expected."""
    sum_x = sum_y = moment = 0.0
    for left in range(0, len(work.speed), 2):
        x1, y1 = work.expected_x[left], work.expected_y[left]
        x2, y2 = work.expected_x[left + 1], work.expected_y[left + 1]
        (px1, py1), (px2, py2) = _arm(robot, left), _arm(robot, left + 1)
        sum_x, sum_y = sum_x + (x1 + x2), sum_y + (y1 + y2)
        moment += (px1 * y1 - py1 * x1) + (px2 * y2 - py2 * x2)
    return sum_x, sum_y, moment


@part
def _one_wheel(robot, memory, work, n, u, v, r, command, dt, active):
    """One wheel's share of the body's equations, its secant taken at the guess (u, v, r) of the velocities to come."""
    px, py = _arm(robot, n)
    radius = robot.wheels.radius[n]
    torque = radius * work.expected_x[n]
    free_speed, mobility = free_wheel(robot.powertrain, command, work.speed[n], work.effort[n], torque)
    rim = radius * (free_speed - mobility * torque)
    law = traction(robot.law, Touch(rim - u + r * py, -v - r * px, rim, work.load[n]), memory, n, dt)
    # The wheel gives way to the force it transmits: eliminated, it softens the law's secant.
    give = mobility * radius * radius
    kept = 1.0 / (1.0 + give * law.xx)
    xx, xy, yy = kept * law.xx, kept * law.xy, law.yy - give * kept * law.xy * law.xy
    free_rim = radius * free_speed
    start_x = kept * law.start_x + xx * free_rim
    start_y = law.start_y - give * kept * law.xy * law.start_x + xy * free_rim
    work.free_speed[n] = where(active, free_speed, work.free_speed[n])
    work.mobility[n] = where(active, mobility, work.mobility[n])
    work.xx[n], work.xy[n] = where(active, xx, work.xx[n]), where(active, xy, work.xy[n])
    work.yy[n] = where(active, yy, work.yy[n])
    work.start_x[n], work.start_y[n] = where(active, start_x, work.start_x[n]), where(active, start_y, work.start_y[n])
    return Sums(
        xx, xy, xy * px - xx * py, yy, yy * px - xy * py, xx * py * py - 2.0 * xy * px * py + yy * px * px,
        start_x, start_y, px * start_y - py * start_x,
    )  # fmt: skip


@part
def _gather(robot, memory, work, sums, u, v, r, commands, row, dt, active):
    """Add every wheel to the body's equations, pair by pair: left and right then commute, so that mirrored robots move
    mirrored to the last bit. Runs that are not active keep what they have."""
    count = len(work.speed)
    for k in range(0, count, 2):
        left = _one_wheel(robot, memory, work, k, u, v, r, commands[row * count + k], dt, active)
        right = _one_wheel(robot, memory, work, k + 1, u, v, r, commands[row * count + k + 1], dt, active)
        sums = _plus(sums, _plus(left, right))
    return sums


@part
def _solve(a):
    """Velocities from the body's equations: L D L^T of a symmetric positive definite matrix."""
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


@part
def _transmit(robot, work, n, u, v, r, command):
    """Force and wheel speed of one wheel that belong to the body's new velocity, and whether they were not to be expected."""
    px, py = _arm(robot, n)
    ground_x, ground_y = u - r * py, v + r * px
    force_x = work.start_x[n] - work.xx[n] * ground_x - work.xy[n] * ground_y
    force_y = work.start_y[n] - work.xy[n] * ground_x - work.yy[n] * ground_y
    work.force_x[n], work.force_y[n] = force_x, force_y
    torque = robot.wheels.radius[n] * force_x
    work.new_speed[n] = work.free_speed[n] - work.mobility[n] * torque
    most_x, most_y = strongest(robot.law, force_x, force_y, work.load[n])
    work.expected_x[n], work.expected_y[n] = most_x, most_y
    excess = abs(force_x - most_x) + abs(force_y - most_y) > TOLERATED_EXCESS * (abs(most_x) + abs(most_y))
    return force_x, force_y, excess | is_misjudged(robot.powertrain, command, work.speed[n], torque, work.mobility[n])


@part
def _share_out(robot, work, u, v, r, commands, row):
    """The same for all wheels: sums of the forces, and whether the equations should be solved again."""
    sum_x = sum_y = 0.0
    again = u < u
    count = len(work.speed)
    for left in range(0, count, 2):
        x1, y1, again1 = _transmit(robot, work, left, u, v, r, commands[row * count + left])
        x2, y2, again2 = _transmit(robot, work, left + 1, u, v, r, commands[row * count + left + 1])
        sum_x, sum_y = sum_x + (x1 + x2), sum_y + (y1 + y2)
        again = again | again1 | again2
    return sum_x, sum_y, again


@part
def _commit(robot, memory, work, u, v, r, commands, row, dt):
    """What the step leaves behind: wheel speeds, efforts, memory."""
    count = len(work.speed)
    for n in range(count):
        torque = robot.wheels.radius[n] * work.force_x[n]
        work.effort[n] = new_effort(
            robot.powertrain, commands[row * count + n], work.speed[n], work.new_speed[n], work.effort[n], torque
        )
        work.speed[n] = work.new_speed[n]
        work.angle[n] = work.angle[n] + dt * work.speed[n]
        px, py = _arm(robot, n)
        rim = robot.wheels.radius[n] * work.speed[n]
        remember(robot.law, Touch(rim - u + r * py, -v - r * px, rim, work.load[n]), memory, n, dt)


@part
def step(robot, memory, work, s, commands, row, dt):
    """One step of one robot, or of eight."""
    body = robot.body
    middle = s.heading + 0.5 * dt * s.yaw_rate
    c, n = cos(middle), sin(middle)
    gx, gy, g_into = gravity_in_body(robot.ground, memory, s.x, s.y, c, n)
    reach = body.com_height / g_into
    wheel_loads(robot.wheels, body.mass * g_into, body.com_x - reach * s.fx, body.com_y - reach * s.fy, work.load)
    # The frame turns under the velocity: a rotation by -r dt, exactly orthogonal, so that it adds no energy.
    half = 0.5 * dt * s.yaw_rate
    per = 1.0 / (1.0 + half * half)
    ct, st = (1.0 - half * half) * per, 2.0 * half * per
    u0, v0 = ct * s.u + st * s.v, ct * s.v - st * s.u
    inertia, yaw_inertia = body.mass / dt, body.yaw_inertia / dt
    zero = alike(0.0, body.mass)
    free = Sums(
        inertia, zero, zero, inertia, zero, yaw_inertia,
        inertia * u0 + body.mass * gx, inertia * v0 + body.mass * gy, yaw_inertia * s.yaw_rate,
    )  # fmt: skip
    sum_x, sum_y, moment = _expect(robot, work)
    per_mass = 1.0 / body.mass
    u, v = u0 + dt * (sum_x * per_mass + gx), v0 + dt * (sum_y * per_mass + gy)
    r = s.yaw_rate + dt * moment / body.yaw_inertia
    active = zero == 0.0
    for _ in range(MOST_PASSES):
        un, vn, rn = _solve(_gather(robot, memory, work, free, u, v, r, commands, row, dt, active))
        u, v, r = where(active, un, u), where(active, vn, v), where(active, rn, r)
        sum_x, sum_y, again = _share_out(robot, work, u, v, r, commands, row)
        active = active & again
        if not any_of(active):
            break
    _commit(robot, memory, work, u, v, r, commands, row, dt)
    x, y = s.x + dt * (c * u - n * v), s.y + dt * (n * u + c * v)
    return State(
        x, y, s.heading + dt * r, u, v, r, sum_x * per_mass, sum_y * per_mass, (r - s.yaw_rate) / dt,
    )  # fmt: skip


@part
def _begin(robot, memory, work):
    """The state at the start: rolling without slip, held against gravity if at rest."""
    start, body, zero = robot.start, robot.body, alike(0.0, robot.body.mass)
    c, s = cos(start.heading), sin(start.heading)
    for n in range(len(work.speed)):
        work.speed[n] = (start.u - start.yaw_rate * robot.wheels.y[n]) / robot.wheels.radius[n]
    x = start.x + c * body.com_x - s * body.com_y
    y = start.y + s * body.com_x + c * body.com_y
    gx, gy, g_into = gravity_in_body(robot.ground, memory, x, y, c, s)
    reach = body.com_height / g_into
    wheel_loads(robot.wheels, body.mass * g_into, body.com_x + reach * gx, body.com_y + reach * gy, work.load)
    for n in range(len(work.speed)):
        held_x, held_y = -work.load[n] * gx / g_into, -work.load[n] * gy / g_into
        work.expected_x[n], work.expected_y[n] = strongest(robot.law, held_x, held_y, work.load[n])
    return State(
        x, y, start.heading + zero, start.u - start.yaw_rate * body.com_y, start.v + start.yaw_rate * body.com_x,
        start.yaw_rate + zero, -gx, -gy, zero,
    )  # fmt: skip


@part
def _record(robot, work, s, i, out):
    body, c, n = robot.body, cos(s.heading), sin(s.heading)
    put(out[:, 0], i, s.x - c * body.com_x + n * body.com_y)
    put(out[:, 1], i, s.y - n * body.com_x - c * body.com_y)
    put(out[:, 2], i, s.heading)
    put(out[:, 3], i, s.u + s.yaw_rate * body.com_y)
    put(out[:, 4], i, s.v - s.yaw_rate * body.com_x)
    put(out[:, 5], i, s.yaw_rate)
    put(out[:, 6], i, s.fx)
    put(out[:, 7], i, s.fy)
    put(out[:, 8], i, s.yaw_accel)
    count = len(work.speed)
    for k in range(count):
        put(out[:, 9 + k], i, work.speed[k])
        put(out[:, 9 + count + k], i, work.angle[k])
        put(out[:, 9 + 2 * count + k], i, work.load[k])
        put(out[:, 9 + 3 * count + k], i, work.force_x[k])
        put(out[:, 9 + 4 * count + k], i, work.force_y[k])
        put(out[:, 9 + 5 * count + k], i, work.effort[k])


@part
def _work(count, like):
    return Work(
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
        zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like), zeros(count, like),
    )  # fmt: skip


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs: the type of i decides, and nothing below knows.

    Commands change every `hold` steps; a record is written at the start and after every `every` steps.
    """
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    count = len(arrays.wheels.x)
    work_arrays = _work(count, like)
    memory_arrays = Memory(zeros(count * memory_size(arrays.law), like), zeros(cell_count(arrays.ground), like))
    robot = raw(
        SkidSteerRuns(
            arrays.body, arrays.wheels, prepared(arrays.powertrain, dt), arrays.law, arrays.ground, arrays.start, arrays.commands
        )
    )
    work, memory = raw(work_arrays), raw(memory_arrays)
    commands = robot.commands.array
    s = _begin(robot, memory, work)
    _record(robot, work, s, i, out[:, 0])
    code = alike(OK, like)
    for k in range(1, out.shape[1]):
        for j in range((k - 1) * every, k * every):
            s = step(robot, memory, work, s, commands, j // hold, dt)
        _record(robot, work, s, i, out[:, k])
        code = where(isfinite(s.x + s.y + s.heading), code, NOT_FINITE)
    put(status, i, code)
    keep_alive((arrays, work_arrays, memory_arrays))


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
