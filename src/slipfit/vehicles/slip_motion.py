"""How a slip filter's state makes motion: rim speeds less slip velocities, or rotation centres; and how its IMU's place moves.

    u_p = u - r y_p,    v_p = v + r x_p

is the velocity of the IMU's place, seen in the body's axes. Its specific force on level ground is (u_p. - v_p r, v_p. + u_p r),
which contains the tangential and the centripetal part of the arm.

Symbols    u, v, r body velocity ahead, to the left, yaw rate · x_p, y_p place of the IMU ahead and left of the wheels' centre
Reference  [Martinez2005] for rotation centres; docs/theory/estimation
"""

from typing import Any, NamedTuple

from slipfit.kernels import chosen_by_type, part
from slipfit.vehicles.kinematic import IcrDrive, body_velocity


class SlipVelocities(NamedTuple):
    """Slip velocities q take from rim speeds c: (u, v, r) = `into_twist` (c - q).

    Of two sides q = (s_l, s_r, s_y): along the left and the right track, and across, s_y = -v.
    """

    into_twist: Any  # (3, 3)
    imu_ahead: float = 0.0  # m, of the wheels' centre
    imu_left: float = 0.0


class RotationCentres(NamedTuple):
    """q = (y_l, y_r, x): rotation centres of left and right side and of the body (m), as in `IcrDrive`, whose gains are known."""

    least_arm: float  # m; |y| stays above
    gain_left: float
    gain_right: float
    imu_ahead: float = 0.0
    imu_left: float = 0.0


@chosen_by_type
def slip_twist(model, c0, c1, c2, q0, q1, q2):
    """(u, v, r) from rim speeds c and slip q, and its slopes by q: nine numbers, row by row."""
    raise NotImplementedError("a filter's motion registers its own twist")


@slip_twist.of(SlipVelocities)
def _(model, c0, c1, c2, q0, q1, q2):
    m = model.into_twist
    d0, d1, d2 = c0 - q0, c1 - q1, c2 - q2
    twist = (
        m[0, 0] * d0 + m[0, 1] * d1 + m[0, 2] * d2,
        m[1, 0] * d0 + m[1, 1] * d1 + m[1, 2] * d2,
        m[2, 0] * d0 + m[2, 1] * d1 + m[2, 2] * d2,
    )
    slopes = (-m[0, 0], -m[0, 1], -m[0, 2], -m[1, 0], -m[1, 1], -m[1, 2], -m[2, 0], -m[2, 1], -m[2, 2])
    return twist, slopes


@slip_twist.of(RotationCentres)
def _(model, c0, c1, c2, q0, q1, q2):
    left, right = max(q0, model.least_arm), min(q1, -model.least_arm)
    u, v, r = body_velocity(IcrDrive(left, right, q2, model.gain_left, model.gain_right), c0, c1)
    c0, c1 = model.gain_left * c0, model.gain_right * c1
    per = 1.0 / (left - right)
    slopes = ((c1 - u) * per, (u - c0) * per, 0.0, q2 * r * per, -q2 * r * per, -r, -r * per, r * per, 0.0)
    return (u, v, r), slopes


@part
def imu_velocity(model, twist, d):
    """Velocity of the IMU's place, (u_p, v_p), and its slopes by q: six numbers, row by row."""
    u, v, r = twist
    x, y = model.imu_ahead, model.imu_left
    slopes = (d[0] - y * d[6], d[1] - y * d[7], d[2] - y * d[8], d[3] + x * d[6], d[4] + x * d[7], d[5] + x * d[8])
    return (u - y * r, v + x * r), slopes
