"""Where a tracked robot's elements meet the ground, and what its contacts add to the equations of motion.

Every contact has a normal n, a lever arm from the centre of mass, a normal answer N = start - nn · rising and an isotropic secant
g of its friction, F_t = f + g (w e - v_t), w the belt's speed along e. With v = V + Omega x arm, its forces bring to the body's
equations sum J^T H J and sum J^T F with H = g 1 + (nn - g) n n^T, and couple them to the belt by g J^T e
(docs/theory/tracked, eq. (eight)).

Symbols    depth of an element below the ground's surface (m) · rising = n . v (m/s) · J = [1, -[arm x]] · e along the belt
Reference  derived in docs/theory/tracked
"""

from math import sqrt
from typing import Any, NamedTuple

from slipfit.ground.shape import Clearance, block_count, clearance, disc_clearance, edge_count, edge_of
from slipfit.kernels import alike, any_of, part, where
from slipfit.kernels.space import Rows3, Sym3, Vec3, added, cross, dot, scaled, to_body, to_ground

#: Elements further from the ground than this at the start of a step are not asked, m: nothing moves so far in one.
NEAR_M = 0.02

#: Depth of what touches nothing: entries that are not there, edges beyond a run's ends, faces that a segment does not lie on, m.
_NONE_M = -1.0

#: A segment lies on a face that is tilted against it by less than 45 degrees, seen along the axle: at a right edge on one face,
#: not on both. Square of that angle's cosine.
_LYING = 0.5

#: Sideways a face may lean against a belt by 75 degrees, where a robot has tipped over (`track_verdict`); a steeper one stands
#: beside it. Square of that angle's cosine.
_BESIDE = 0.067


class HardWork(NamedTuple):
    """One number per place where hard ground may be touched."""

    depth: Any  # m
    arm_x: Any  # m, from the centre of mass
    arm_y: Any
    arm_z: Any
    normal_x: Any  # in the body's axes
    normal_y: Any
    normal_z: Any
    grip: Any
    driven: Any
    start_n: Any  # N
    nn: Any  # N s/m
    secant: Any  # N s/m
    load: Any  # N
    force_x: Any  # N, along the belt
    force_y: Any  # N, to the left
    cut_x: Any  # N, what a contact that was asked for too much gives instead
    cut_y: Any
    is_cut: Any


class Sums(NamedTuple):
    """What contacts add: to the body as Load6, and to the belt that drives them."""

    push: Sym3
    lever: Rows3
    twist: Sym3
    force: Vec3
    moment: Vec3
    to_belt: Vec3  # N s/m, sum g e
    belt_arm: Vec3  # N s, sum arm x g e
    belt: float  # N s/m, sum g
    belt_force: float  # N, sum of what does not depend on velocities


@part
def no_sums(zero):
    v = Vec3(zero, zero, zero)
    m = Sym3(zero, zero, zero, zero, zero, zero)
    return Sums(m, Rows3(v, v, v), m, v, v, v, v, zero, zero)


@part
def carry(sums, arm, normal, along, driven, start_n, nn, g, extra_y, start_x, start_y):
    """The sums with one contact more. `extra_y` is what acts against sideways motion alone."""
    more = nn - g
    kx = Vec3(g + more * normal.x * normal.x, more * normal.x * normal.y, more * normal.x * normal.z)
    ky = Vec3(kx.y, g + more * normal.y * normal.y + extra_y, more * normal.y * normal.z)
    kz = Vec3(kx.z, ky.z, g + more * normal.z * normal.z)
    lx, ly, lz = cross(arm, kx), cross(arm, ky), cross(arm, kz)
    tx = cross(arm, Vec3(lx.x, ly.x, lz.x))
    ty = cross(arm, Vec3(lx.y, ly.y, lz.y))
    tz = cross(arm, Vec3(lx.z, ly.z, lz.z))
    across = cross(normal, along)
    f = Vec3(
        start_x * along.x + start_y * across.x + start_n * normal.x, start_x * along.y + start_y * across.y + start_n * normal.y,
        start_x * along.z + start_y * across.z + start_n * normal.z,
    )  # fmt: skip
    drives = scaled(along, g * driven)
    a, b, c = sums.push, sums.lever, sums.twist
    return Sums(
        Sym3(a.xx + kx.x, a.xy + kx.y, a.xz + kx.z, a.yy + ky.y, a.yz + ky.z, a.zz + kz.z),
        Rows3(added(b.x, lx), added(b.y, ly), added(b.z, lz)),
        Sym3(c.xx + tx.x, c.xy + ty.x, c.xz + tz.x, c.yy + ty.y, c.yz + tz.y, c.zz + tz.z),
        added(sums.force, f),
        added(sums.moment, cross(arm, f)),
        added(sums.to_belt, drives),
        added(sums.belt_arm, cross(arm, drives)),
        sums.belt + g * driven,
        sums.belt_force + start_x * driven,
    )


@part
def place_of(place, now, x, y, z):
    """A point of the body in the ground's frame."""
    return added(place, to_ground(now, Vec3(x, y, z)))


@part
def belt_axis(normal):
    """Unit vector along the belt in the contact's plane: axle x n, without its length where n has a part along the axle."""
    per = 1.0 / sqrt(normal.x * normal.x + normal.z * normal.z + 1e-30)
    return Vec3(normal.z * per, alike(0.0, per), -normal.x * per)


@part
def hard_count(ground, tables):
    """Places of one side where hard ground may be touched: each station, each disc on each block, each run on each edge."""
    stations, discs, runs = len(tables.stations.x) // 2, len(tables.discs.x) // 2, len(tables.runs.x) // 2
    return stations + block_count(ground) * discs + edge_count(ground) * runs


@part
def _keep(work, c, depth, arm, normal, grip, driven):
    work.depth[c] = depth
    work.arm_x[c], work.arm_y[c], work.arm_z[c] = arm.x, arm.y, arm.z
    work.normal_x[c], work.normal_y[c], work.normal_z[c] = normal.x, normal.y, normal.z
    work.grip[c], work.driven[c] = grip, driven


@part
def _nearest_block(ground, memory, p):
    best = clearance(ground, memory, 0, p.x, p.y, p.z)
    for b in range(1, block_count(ground)):
        other = clearance(ground, memory, b, p.x, p.y, p.z)
        nearer = other.distance < best.distance
        best = Clearance(
            where(nearer, other.distance, best.distance), where(nearer, other.normal_x, best.normal_x),
            where(nearer, other.normal_y, best.normal_y), where(nearer, other.normal_z, best.normal_z),
            where(nearer, other.grip, best.grip),
        )  # fmt: skip
    return best


@part
def find_hard(ground, memory, tables, work, place, now):
    """Depths, arms and normals of all places where hard ground may be touched, at the start of the step."""
    stations, discs, runs = tables.stations, tables.discs, tables.runs
    ns, nd, nr = len(stations.x) // 2, len(discs.x) // 2, len(runs.x) // 2
    per_side = hard_count(ground, tables)
    for side in range(2):
        first = side * per_side
        for k in range(ns):
            n = side * ns + k
            # Cleats stand square to the belt: their tips are on the line that the run is.
            reach = stations.reach[n]
            arm = Vec3(stations.x[n] + reach * stations.tz[n], stations.y[n], stations.z[n] - reach * stations.tx[n])
            p = place_of(place, now, arm.x, arm.y, arm.z)
            best = _nearest_block(ground, memory, p)
            depth = where(stations.hard[n] > 0.5, 0.0 - best.distance, alike(_NONE_M, p.z))
            work.depth[first + k] = depth
            if any_of(depth > -NEAR_M):
                normal = to_body(now, Vec3(best.normal_x, best.normal_y, best.normal_z))
                # A straight run lies on faces; upright ones it meets with its ends or at an edge, which are felt as such.
                facing = normal.z * stations.tx[n] - normal.x * stations.tz[n]
                seen = normal.x * normal.x + normal.z * normal.z
                lies = (facing > 0.0) & (facing * facing > _LYING * seen) & (seen > _BESIDE)
                depth = where(lies, depth, alike(_NONE_M, depth))
                _keep(work, first + k, depth, arm, normal, best.grip, stations.driven[n])
        first += ns
        for b in range(block_count(ground)):
            for k in range(nd):
                n = side * nd + k
                p = place_of(place, now, discs.x[n], discs.y[n], discs.z[n])
                here = clearance(ground, memory, b, p.x, p.y, p.z)
                radius, none = discs.radius[n], alike(_NONE_M, p.z)
                is_there = radius > 0.0
                depth = where(is_there, radius - here.distance, none)
                work.depth[first + k] = depth
                if any_of(depth > -NEAR_M):
                    here = disc_clearance(ground, b, p, Vec3(now.x.y, now.y.y, now.z.y), radius, here)
                    normal = to_body(now, Vec3(here.normal_x, here.normal_y, here.normal_z))
                    flat = sqrt(normal.x * normal.x + normal.z * normal.z + 1e-30)
                    to_rim = radius / flat
                    arm = Vec3(discs.x[n] - to_rim * normal.x, discs.y[n], discs.z[n] - to_rim * normal.z)
                    depth = where(is_there, radius * flat - here.distance, none)
                    _keep(work, first + k, depth, arm, normal, here.grip, discs.driven[n])
            first += nd
        for b in range(edge_count(ground)):
            for k in range(nr):
                n = side * nr + k
                p = place_of(place, now, runs.x[n], runs.y[n], runs.z[n])
                zero = alike(0.0, p.z)
                here = edge_of(ground, b, p, to_ground(now, Vec3(runs.tx[n], zero, runs.tz[n])), runs.length[n])
                on_run = (here.offset >= 0.0) & (here.offset <= runs.length[n])
                depth = where(on_run, -here.distance, alike(_NONE_M, zero))
                work.depth[first + k] = depth
                if any_of(depth > -NEAR_M):
                    normal = to_body(now, Vec3(here.normal_x, here.normal_y, here.normal_z))
                    # An edge that runs along the line is nearest far beyond its ends.
                    at = max(0.0, min(here.offset, runs.length[n]))
                    arm = Vec3(runs.x[n] + at * runs.tx[n], runs.y[n], runs.z[n] + at * runs.tz[n])
                    _keep(work, first + k, depth, arm, normal, here.grip, runs.driven[n])
            first += nr


@part
def arm_and_axes(work, c):
    normal = Vec3(work.normal_x[c], work.normal_y[c], work.normal_z[c])
    along = belt_axis(normal)
    return Vec3(work.arm_x[c], work.arm_y[c], work.arm_z[c]), normal, along, cross(normal, along)


@part
def over(velocity, rate, arm, along, across, normal):
    """Velocity of a contact over the ground, along its axes."""
    v = added(velocity, cross(rate, arm))
    return dot(along, v), dot(across, v), dot(normal, v)
