"""Vectors, rotations and small symmetric systems in space, for floats, lanes and packs alike.

A rotation R(q) of a unit quaternion q = (w, x, y, z) takes the body's components of a vector to the ground's.
"""

from math import sqrt
from typing import NamedTuple

from slipfit.kernels.compile import part


class Vec3(NamedTuple):
    x: float
    y: float
    z: float


class Sym3(NamedTuple):
    """A symmetric matrix."""

    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


class Rows3(NamedTuple):
    """A matrix by its rows."""

    x: Vec3
    y: Vec3
    z: Vec3


class Quat(NamedTuple):
    w: float
    x: float
    y: float
    z: float


class Factors3(NamedTuple):
    """L D L^T of a symmetric positive definite matrix: the inverse of D, and what stands below L's diagonal."""

    per_x: float
    per_y: float
    per_z: float
    yx: float
    zx: float
    zy: float


@part
def dot(a, b):
    return a.x * b.x + a.y * b.y + a.z * b.z


@part
def cross(a, b):
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@part
def added(a, b):
    return Vec3(a.x + b.x, a.y + b.y, a.z + b.z)


@part
def scaled(a, by):
    return Vec3(a.x * by, a.y * by, a.z * by)


@part
def rotation(q):
    """R(q)."""
    xx, yy, zz, xy, xz, yz = q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.x * q.z, q.y * q.z
    wx, wy, wz = q.w * q.x, q.w * q.y, q.w * q.z
    return Rows3(
        Vec3(1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)),
        Vec3(2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)),
        Vec3(2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)),
    )


@part
def to_ground(r, a):
    """R a: from the body's axes to the ground's."""
    return Vec3(dot(r.x, a), dot(r.y, a), dot(r.z, a))


@part
def to_body(r, a):
    """R^T a: from the ground's axes to the body's."""
    return Vec3(
        r.x.x * a.x + r.y.x * a.y + r.z.x * a.z, r.x.y * a.x + r.y.y * a.y + r.z.y * a.z, r.x.z * a.x + r.y.z * a.y + r.z.z * a.z
    )


@part
def turned(q, rate, seconds):
    """The attitude after turning at a rate (rad/s, body axes) for a while.

    Cayley's rotation, by 2 atan(|rate| seconds / 2): differs from the exact angle by its cube / 12, costs no sine.
    """
    hx, hy, hz = 0.5 * seconds * rate.x, 0.5 * seconds * rate.y, 0.5 * seconds * rate.z
    w = q.w - q.x * hx - q.y * hy - q.z * hz
    x = q.x + q.w * hx + q.y * hz - q.z * hy
    y = q.y + q.w * hy + q.z * hx - q.x * hz
    z = q.z + q.w * hz + q.x * hy - q.y * hx
    per = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    return Quat(w * per, x * per, y * per, z * per)


@part
def left_behind(a, rate, seconds):
    """A vector that stays where it is while the body's axes turn under it: exactly orthogonal, so that it adds no energy."""
    t = scaled(rate, -0.5 * seconds)
    once = cross(t, a)
    return added(a, scaled(added(once, cross(t, once)), 2.0 / (1.0 + dot(t, t))))


@part
def factored(a):
    """L D L^T of a symmetric, positive definite matrix, without pivoting."""
    per_x = 1.0 / a.xx
    yx, zx = a.xy * per_x, a.xz * per_x
    per_y = 1.0 / (a.yy - yx * a.xy)
    rest = a.yz - yx * a.xz
    zy = rest * per_y
    return Factors3(per_x, per_y, 1.0 / (a.zz - zx * a.xz - zy * rest), yx, zx, zy)


@part
def solved(f, b):
    """x of (L D L^T) x = b."""
    y = b.y - f.yx * b.x
    z = (b.z - f.zx * b.x - f.zy * y) * f.per_z
    y = y * f.per_y - f.zy * z
    return Vec3(b.x * f.per_x - f.yx * y - f.zx * z, y, z)
