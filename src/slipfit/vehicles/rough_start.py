"""How a robot is put down on uneven ground: each tyre pressed in by its static load, as nearly as the ground allows."""

from math import sqrt

from slipfit.contact.touch import strongest
from slipfit.ground.shape import gravity_in_ground, surface
from slipfit.kernels import alike, cos_and_sin, part, where
from slipfit.kernels.space import Quat, Vec3, added, cross, dot, rotation, scaled, to_body, to_ground, turned
from slipfit.vehicles.footing import static_depth, static_load
from slipfit.vehicles.rigid_body import State6
from slipfit.vehicles.wheel_contact import axes_of, centre_of_mass, find_contacts

#: Rounds in which a robot is put on uneven ground at its start: all tyres drawn to it; then as tyres that only push. Each round
#: leaves less than a third of the error of the one before where all wheels stand, and less than two thirds elsewhere.
_SETTLING, _LIFTING = 16, 48


@part
def _headed(q, error):
    """The attitude, turned about the ground's z axis by a small angle."""
    h = 0.5 * error
    w, x, y, z = q.w - h * q.z, q.x - h * q.y, q.y + h * q.x, q.z + h * q.w
    per = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    return Quat(w * per, x * per, y * per, z * per)


@part
def _static_loads(robot, g, loads):
    """Loads of a robot at rest, as equal springs share them: what its tyres are pressed by at the start."""
    wheels, body, zero = robot.wheels, robot.body, alike(0.0, robot.body.mass)
    count = len(wheels.x)
    mean_x = mean_y = xx = yy = zero
    for n in range(count):
        mean_x, mean_y = mean_x + wheels.x[n] / count, mean_y + wheels.y[n] / count
    for n in range(count):
        xx, yy = xx + (wheels.x[n] - mean_x) * (wheels.x[n] - mean_x), yy + (wheels.y[n] - mean_y) * (wheels.y[n] - mean_y)
    reach = body.com_height / g.z
    lean_x, lean_y = (body.com_x - reach * g.x - mean_x) / xx, (body.com_y - reach * g.y - mean_y) / yy
    for n in range(count):
        share = 1.0 / count + (wheels.x[n] - mean_x) * lean_x + (wheels.y[n] - mean_y) * lean_y
        loads[n] = max(0.0, -body.mass * g.z * share)
    return mean_x, mean_y, xx, yy


@part
def _against_ground(work, count, g):
    """Gravity along the contacts' mean axes: ahead, to the left, out of the ground."""
    ahead = aside = out = alike(0.0, g.x)
    for n in range(count):
        ex, ey, normal = axes_of(work, n)
        ahead, aside, out = ahead + dot(ex, g) / count, aside + dot(ey, g) / count, out + dot(normal, g) / count
    return Vec3(ahead, aside, out)


@part
def _settle(robot, hubs, memory, work, packs):
    """Put the robot down at its start: each tyre pressed in by its static load, as nearly as the ground allows."""
    start, body, zero, count = robot.start, robot.body, alike(0.0, robot.body.mass), len(robot.wheels.x)
    c, n_ = cos_and_sin(0.5 * start.heading)
    attitude, com = Quat(c + zero, zero, zero, n_ + zero), centre_of_mass(body)
    ground_x, ground_y, ground_z = gravity_in_ground(robot.ground)
    gravity, nothing = Vec3(ground_x + zero, ground_y + zero, ground_z + zero), Vec3(zero, zero, zero)
    height = surface(robot.ground, memory, start.x + zero, start.y + zero).height
    s = State6(nothing, attitude, nothing, nothing, nothing)
    for n in range(len(work.dir_x)):
        work.dir_x[n], work.dir_z[n] = zero, alike(-1.0, zero)
    for k in range(_SETTLING + _LIFTING):
        now = rotation(attitude)
        offset = to_ground(now, com)
        s = State6(Vec3(start.x + offset.x, start.y + offset.y, height + offset.z), attitude, nothing, nothing, nothing)
        find_contacts(robot, hubs, memory, packs, s, now, now)
        mean_x, mean_y, xx, yy = _static_loads(robot, _against_ground(work, count, to_body(now, gravity)), work.load)
        lower = pitch = roll = pressed = zero
        for n in range(count):
            # First all tyres are drawn to their loads; then those in the air let go, and the others carry the robot.
            depth = work.depth[n] if k < _SETTLING else max(0.0, work.depth[n])
            missing = static_depth(robot.tyre, robot.law, work, n, robot.wheels.radius[n], work.load[n]) - depth
            pressed += where((k < _SETTLING) | (depth > 0.0), alike(1.0, zero), 0.0)
            lower += missing
            pitch += missing * (robot.wheels.x[n] - mean_x) / xx
            roll -= missing * (robot.wheels.y[n] - mean_y) / yy
        height -= lower / max(1.0, pressed) - pitch * mean_x + roll * mean_y
        attitude = turned(attitude, Vec3(roll, pitch, zero), 1.0)
        now = rotation(attitude)
        wanted_c, wanted_s = cos_and_sin(start.heading)
        attitude = _headed(attitude, (wanted_s * now.x.x - wanted_c * now.y.x) / sqrt(now.x.x * now.x.x + now.y.x * now.y.x))
    for n in range(count):
        work.load[n] = static_load(robot.tyre, robot.law, work, n, robot.wheels.radius[n])
    return s


@part
def begin(robot, hubs, memory, work, packs):
    """The state at the start: put down on the ground, rolling without slip, held against gravity if at rest."""
    start, zero = robot.start, alike(0.0, robot.body.mass)
    s = _settle(robot, hubs, memory, work, packs)
    rate = Vec3(zero, zero, start.yaw_rate + zero)
    velocity = added(Vec3(start.u + zero, start.v + zero, zero), cross(rate, centre_of_mass(robot.body)))
    gx, gy, gz = gravity_in_ground(robot.ground)
    g = to_body(rotation(s.attitude), Vec3(gx + zero, gy + zero, gz + zero))
    for n in range(len(robot.wheels.x)):
        work.speed[n] = (start.u - start.yaw_rate * robot.wheels.y[n]) / robot.wheels.radius[n]
        work.rotor[n], work.lowest[n] = work.speed[n], work.load[n]
        held_x, held_y = work.load[n] * g.x / g.z, work.load[n] * g.y / g.z
        work.expected_x[n], work.expected_y[n] = strongest(robot.law, held_x, held_y, work.load[n])
    return State6(s.place, s.attitude, velocity, rate, scaled(g, -1.0))
