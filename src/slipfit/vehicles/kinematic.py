"""Kinematic skid-steer models: from the rim speeds of both sides straight to the body's velocity.

Symbols    w_l, w_r rim speeds of left and right side (m/s) · u, v velocity of the wheels' centre ahead and to the left ·
           r yaw rate · T track · B wheelbase
"""

from math import cos, sin, tan
from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.slip import ground_speed
from slipfit.kernels import WIDTH, Eight, Shared, alike, as_batch, at, chosen_by_type, compiled, part, put, where


class IdealDrive(NamedTuple):
    """No slip: the textbook differential drive. r = (w_r - w_l) / T."""

    track: float


class EqualSlip(NamedTuple):
    """Equal slip at all four wheels, turning about the geometric centre.

        u = (w_r + w_l) / 2,    r = (w_r - w_l) T / (T^2 + B^2)

    Reference  [Haas2009] section 3: V_Tr = 2 V_L T / (T^2 + B^2)
    """

    track: float
    wheelbase: float


class IcrDrive(NamedTuple):
    """Rotation centres of both sides and of the body, with a gain for each side.

        r = (g_r w_r - g_l w_l) / (y_l - y_r),    u = (g_r w_r y_l - g_l w_l y_r) / (y_l - y_r),    v = -x r

    Reference  [Mandow2007] (asymmetric model), after [Martinez2005]
    Valid for  y_l > 0 > y_r; y_l = -y_r = T/2, x = 0 and unit gains are the ideal drive
    """

    y_left: float  # m
    y_right: float  # m, negative
    x: float  # m
    gain_left: float
    gain_right: float


class DriftingIcr(NamedTuple):
    """Rotation centres that move ahead with speed: in a curve the body slides outwards until the tyres carry m u r.

        as the asymmetric model,    v = -(x + d u) r

    Reference  [Mandow2007] with x -> x + d u; d is a time, m over the lateral damping of all contacts
    Valid for  steady curves below the limit of grip; d = 0 is the asymmetric model
    """

    y_left: float  # m
    y_right: float  # m, negative
    x: float  # m
    gain_left: float
    gain_right: float
    drift: float  # s


class SideSlip(NamedTuple):
    """Slip ratio of each side and slip angle of the body, tan(alpha) = -v / u."""

    track: float
    slip_left: float
    slip_right: float
    slip_angle: float  # rad


@chosen_by_type
def body_velocity(model, left, right):
    """(u, v, r) of the wheels' centre from the rim speeds of both sides."""
    raise NotImplementedError("a kinematic model registers its own velocity")


@body_velocity.of(IdealDrive)
def _(model, left, right):
    return 0.5 * (left + right), 0.0 * left, (right - left) / model.track


@body_velocity.of(EqualSlip)
def _(model, left, right):
    turning = model.track / (model.track * model.track + model.wheelbase * model.wheelbase)
    return 0.5 * (left + right), 0.0 * left, (right - left) * turning


@body_velocity.of(IcrDrive)
def _(model, left, right):
    left, right = model.gain_left * left, model.gain_right * right
    per_width = 1.0 / (model.y_left - model.y_right)
    yaw_rate = (right - left) * per_width
    return (right * model.y_left - left * model.y_right) * per_width, -model.x * yaw_rate, yaw_rate


@body_velocity.of(DriftingIcr)
def _(model, left, right):
    centred = IcrDrive(model.y_left, model.y_right, model.x, model.gain_left, model.gain_right)
    ahead, aside, yaw_rate = body_velocity(centred, left, right)
    return ahead, aside - model.drift * ahead * yaw_rate, yaw_rate


@body_velocity.of(SideSlip)
def _(model, left, right):
    left, right = ground_speed(left, model.slip_left), ground_speed(right, model.slip_right)
    ahead = 0.5 * (left + right)
    return ahead, -ahead * tan(model.slip_angle), (right - left) / model.track


@part
def along_arc(x, y, heading, u, v, r, dt):
    """Pose after dt at a constant body velocity: exact, also for straight lines."""
    turn = r * dt
    straight = abs(turn) < 1e-4  # the series below is then exact to 1e-17
    half = 0.5 * turn
    divisor = where(straight, 1.0, turn)
    ahead = where(straight, 1.0 - turn * turn / 6.0, sin(turn) / divisor)
    aside = where(straight, half, 2.0 * sin(half) * sin(half) / divisor)
    dx, dy = (u * ahead - v * aside) * dt, (u * aside + v * ahead) * dt
    c, s = cos(heading), sin(heading)
    return x + c * dx - s * dy, y + s * dx + c * dy, heading + turn


class KinematicRuns(NamedTuple):
    """A batch: the models, and a table of rim speeds (left, right) that all runs follow, shape (steps, 2)."""

    model: Any
    rim_speeds: Any  # Shared


@part
def _drive(runs, i, dt, out):
    model = at(runs.model, i)
    x = y = heading = alike(0.0, at(runs.model[0], i))
    table = runs.rim_speeds.array
    for k in range(table.shape[0]):
        _record(out[:, k], i, x, y, heading)
        u, v, r = body_velocity(model, table[k, 0], table[k, 1])
        x, y, heading = along_arc(x, y, heading, u, v, r, dt)
    _record(out[:, table.shape[0]], i, x, y, heading)


@part
def _record(out, i, x, y, heading):
    put(out[:, 0], i, x)
    put(out[:, 1], i, y)
    put(out[:, 2], i, heading)


@compiled(nogil=True)
def one_by_one(runs, lo, hi, dt, out):
    """Runs lo to hi, each by itself; out has shape (n, steps + 1, 3): x, y, heading."""
    for i in range(lo, hi):
        _drive(runs, i, dt, out)


@compiled(nogil=True)
def in_lanes(runs, lo, hi, dt, out):
    """The same, eight at a time."""
    for i in range(lo, hi, WIDTH):
        _drive(runs, Eight(i), dt, out)


def drive_one(model, rim_speeds_mps, step_s):
    """Path of one model under a table of rim speeds (steps, 2), left and right: poses (steps + 1, 3) of x, y, heading."""
    runs = as_batch(KinematicRuns(model, Shared(rim_speeds_mps)), 1)
    out = np.empty((1, len(rim_speeds_mps) + 1, 3))
    in_lanes(runs, 0, 1, step_s, out)
    return out[0]
