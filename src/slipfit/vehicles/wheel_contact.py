"""Where the wheels of a body in space meet the ground: places, axes and depths; equations in `rough`."""

from math import sqrt
from typing import Any, NamedTuple

from slipfit.ground.shape import is_on_map, surface
from slipfit.kernels import abreast, alike, part, where
from slipfit.kernels.space import Vec3, added, cross, dot, to_body, to_ground
from slipfit.vehicles.footing import look_ahead


class Hubs(NamedTuple):
    """Where wheels turn, from the centre of mass; tables with one entry per wheel, read in packs."""

    x: Any
    y: Any
    z: Any
    radius: Any


class Work(NamedTuple):
    """One number per wheel: what lasts, what one step needs, and how the wheel stands on the ground."""

    speed: Any  # rad/s
    angle: Any
    effort: Any
    rotor: Any  # rad/s, behind a compliant shaft
    twist: Any  # rad
    force_x: Any  # N along the wheel's rolling direction
    force_y: Any  # N across it, to the left
    load: Any
    lowest: Any  # N, smallest load since the last record
    command: Any
    told: Any
    drag: Any  # N m s, rolling resistance
    slip_x: Any  # m/s, rim over ground
    slip_y: Any
    expected_x: Any
    expected_y: Any
    next_x: Any
    next_y: Any
    free_speed: Any
    mobility: Any
    xx: Any  # secants after the wheel is eliminated
    xy: Any
    yy: Any
    start_x: Any  # force at zero velocity
    start_y: Any
    nn: Any  # N s/m, of the tyre along the normal
    start_n: Any
    dir_x: Any  # from the hub to the contact, in the body's axes
    dir_z: Any
    normal_x: Any  # of the ground, in the body's axes
    normal_y: Any
    normal_z: Any
    upright: Any  # sine of the angle between axle and normal
    depth: Any  # m, of the wheel in the ground; negative in the air
    on_map: Any  # 1, or 0 off the map
    resist: Any  # N s/m, how soil holds the hub back; this and what follows is for soil only
    hub_start: Any  # N, and of that what does not depend on the hub's speed
    hub: Any  # N, that force
    most: Any  # N, strength of the soil below the wheel
    beside: Any  # N, and beside it
    rut: Any  # m, deepest sinkage of the place ahead
    rut_slip: Any  # its largest slip
    place_x: Any  # m, where the wheel stands
    place_y: Any
    facing: Any  # which way it goes, by its sign
    went: Any  # m, its way in the step before
    lifts: Any  # share of the soil's strength with which shear lifts a wheel that rolls on like this


@part
def centre_of_mass(body):
    """The centre of mass from the robot's origin, in the body's axes."""
    return Vec3(body.com_x, body.com_y, body.com_height)


@part
def find_contacts(robot, hubs, memory, work, s, now, middle):
    """Where each wheel meets the ground, from the direction of the step before."""
    place, now, middle, ground = abreast(s.place), abreast(now), abreast(middle), abreast(robot.ground)
    footing, law = abreast(robot.tyre), abreast(robot.law)
    for n in range(len(work.speed)):
        radius = hubs.radius[n]
        hub = hub_of(hubs, n)
        below = added(place, to_ground(now, Vec3(hub.x + radius * work.dir_x[n], hub.y, hub.z + radius * work.dir_z[n])))
        here = surface(ground, memory, below.x, below.y)
        per = 1.0 / sqrt(1.0 + here.slope_x * here.slope_x + here.slope_y * here.slope_y)
        normal = to_body(middle, Vec3(-here.slope_x * per, -here.slope_y * per, per))
        upright = sqrt(normal.x * normal.x + normal.z * normal.z)
        over = added(place, to_ground(now, hub))
        gap = per * ((over.z - here.height) - here.slope_x * (over.x - below.x) - here.slope_y * (over.y - below.y))
        work.depth[n] = radius * upright - gap
        work.normal_x[n], work.normal_y[n], work.normal_z[n], work.upright[n] = normal.x, normal.y, normal.z, upright
        work.dir_x[n], work.dir_z[n] = -normal.x / upright, -normal.z / upright
        work.on_map[n] = where(is_on_map(ground, below.x, below.y), alike(1.0, radius), 0.0)
        look_ahead(footing, law, ground, memory, hubs, work, n, below, now)


@part
def axes_of(work, n):
    """Rolling direction, side direction and normal of a contact, in the body's axes."""
    dx, dz, ny, upright = work.dir_x[n], work.dir_z[n], work.normal_y[n], work.upright[n]
    return Vec3(-dz, 0.0 * dx, dx), Vec3(ny * dx, upright, ny * dz), Vec3(work.normal_x[n], ny, work.normal_z[n])


@part
def arm_to(hubs, work, n):
    """From the centre of mass to the contact."""
    radius = hubs.radius[n]
    return Vec3(hubs.x[n] + radius * work.dir_x[n], hubs.y[n], hubs.z[n] + radius * work.dir_z[n])


@part
def hub_of(hubs, n):
    """From the centre of mass to the hub."""
    return Vec3(hubs.x[n], hubs.y[n], hubs.z[n])


@part
def over_ground(velocity, rate, arm, ex, ey, normal):
    """Velocity of the body at a contact, along its axes."""
    v = added(velocity, cross(rate, arm))
    return dot(ex, v), dot(ey, v), dot(normal, v)


@part
def combined(ex, ey, normal, along, across, into):
    """A force from its parts along a contact's axes."""
    return Vec3(
        along * ex.x + across * ey.x + into * normal.x, across * ey.y + into * normal.y,
        along * ex.z + across * ey.z + into * normal.z,
    )  # fmt: skip
