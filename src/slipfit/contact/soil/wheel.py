"""A rigid wheel on soil: stresses along its rim, and the forces that they add up to.

Between the entry angle theta_f, where the rim meets the soil ahead, and the exit angle theta_r behind, the normal stress rises
to its largest at theta_m and falls again (Wong and Reece):

    sigma(theta) = p(z(theta)),                          theta_m <= theta <= theta_f,    z(theta) = z - R (1 - cos theta)
    sigma(theta) = sigma(theta_f - (theta - theta_r) (theta_f - theta_m) / (theta_m - theta_r)),    theta_r <= theta < theta_m
    theta_m = (c_1 + c_2 |i|) theta_f,   theta_r = -c_3 theta_f,   cos theta_f = 1 - (z - z_rut) / R

(in a rut at least the angle of the rebound, cos theta_r = 1 - e min(z, z_d) / R) and p is `pressure`'s, with slip-sinkage and the
memory of the place ahead. The rim drags the soil along by

    j_x = R ((w / V) (theta_f - theta) - (u / V) (sin theta_f - sin theta)),   j_y = -(v / V) R (theta_f - theta),   V = max(w, u)
    tau = (c + sigma tan phi) (1 - exp(-|j| / K)) j / |j|

so that    N  = R b int (sigma cos + tau_x sin)      DP = R b int (tau_x cos - sigma sin)
           T  = R^2 b int tau_x                      F_y = R b int tau_y + F_side

F_side is the soil that the wheel's side pushes away (`constants.bulldozing`), mobilised with lateral displacement as shear is.
Along one axis this is [IshigamiEtAl2007]'s; there each axis has all of the strength, here the resultant has: no soil gives more
than its strength. Grousers enlarge the radius.

Quadrature: both parts of the rim by Gauss and Legendre's rule in the cube root of the way from where the stress begins, which
takes the stress's root-like start away. The stress is the same in both, so that its powers are taken once.

Symbols    as in `constants` and `slip` (u, v, w, slip velocity s) · R, b radius and width · omega > 0 wheel speed
Reference  [WongReece1967]; [IshigamiEtAl2007]; derived in docs/theory/soil, eq. (wheel)
Valid for  wheels stiffer than the soil, sinkage below the radius, steady rolling (slip changes slowly over a contact's length)
"""

from math import atan2, cos, inf, sin, sqrt
from typing import NamedTuple

from slipfit.contact.soil.constants import Soil
from slipfit.contact.soil.plate import Place
from slipfit.contact.soil.pressure import (
    SHALLOWEST_M,
    exponent_at,
    loosening,
    pressure_constant,
    remembered_slip,
    skid_loosening,
    surface_left,
)
from slipfit.contact.soil.shear import saturating
from slipfit.kernels import alike, any_of, chosen_by_type, part, where

#: Points and weights of Gauss and Legendre's rule in [0, 1], eight points.
_POINTS = (
    0.019855071751231912, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751, 0.5917173212478249, 0.7627662049581645,
    0.8983332387068134, 0.9801449282487681,
)  # fmt: skip
_WEIGHTS = (
    0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.18134189168918102, 0.18134189168918102, 0.15685332293894363,
    0.11119051722668724, 0.05061426814518813,
)  # fmt: skip
#: The same after the substitution by cubes.
_WAYS = tuple(x**3 for x in _POINTS)
_SHARES = tuple(3.0 * x * x * weight for x, weight in zip(_POINTS, _WEIGHTS, strict=True))

#: The largest stress never lies nearer to the entry than this share of its angle.
_FOREMOST = 0.95
#: A wheel that sinks deeper than this share of its radius is stuck: stresses are taken as if it were no deeper.
DEEPEST_SHARE = 0.98
#: Displacements count over the rim's speed, of a wheel that turns slower than this share of the speed that slip is taken of over
#: that speed: with 1, over the ground's speed when braking, so that soil which a locked wheel passes is sheared by its way along
#: the rim and no more. Measured on sand (`benchmarks/soil_sand.py`): a braked wheel's pull and sinkage need it.
SLOWEST_TURN = 1.0
_NOTHING = 1e-30


class Rim(NamedTuple):
    radius: float  # m, to the tips of grousers
    width: float  # m


class Sums(NamedTuple):
    """Integrals over the rim, N, and N for each unit of slip over rim speed."""

    lift: float  # normal stress upwards
    drag: float  # and against travel
    turn_start: float  # shear around the rim: at zero slip,
    turn_per_slip: float  # for slip along,
    side_per_slip: float  # and across, bulldozing included
    pull_start: float  # shear along the ground
    pull_per_slip: float
    rise_start: float  # shear upwards
    rise_per_slip: float
    strength: float  # the most that shear and bulldozing can give


@part
def rim(radius_m, width_m, grouser_m=0.0):
    """A rim; soil between grousers turns with the wheel, so that they enlarge it."""
    return Rim(radius_m + grouser_m, width_m)


@part
def entry(radius, rise):
    """Sine of the angle, and angle, at which a rim meets a surface that lies so much above its lowest point."""
    share = max(0.0, min(DEEPEST_SHARE, rise / radius))
    s = sqrt(share * (2.0 - share))
    return s, atan2(s, 1.0 - share)


@chosen_by_type
def stresses(soil, rim, place, depth, slip, rolling, along, across):
    """Integrals of the stresses along a rim whose lowest point is at a depth below the untouched surface.

    place    what the ground ahead remembers
    slip     that digs, driving positive
    rolling  rim speed over its size, 1 or less: below 1 for a wheel that hardly turns
    along    slip velocity over rim speed, in the direction of rolling; across likewise, to the left
    """
    raise NotImplementedError("a soil registers its own stresses")


@stresses.of(Soil)
def _(soil, rim, place, depth, slip, rolling, along, across):
    radius, zero = rim.radius, alike(0.0, depth)
    worst = remembered_slip(slip, place.slip)
    sin_f, theta_f = entry(radius, depth - surface_left(soil, place.deepest))
    theta_m = theta_f * max(0.0, min(_FOREMOST, soil.peak + soil.peak_growth * min(1.0, abs(slip))))
    _, springs_back = entry(radius, soil.rebound * min(depth, place.deepest))
    theta_r = min(soil.exit * theta_f, -springs_back)
    power = exponent_at(soil, worst)
    scale = loosening(soil, worst) * skid_loosening(soil, slip) * pressure_constant(soil, rim.width)
    has_rut = place.deepest > 0.0
    rut = max(place.deepest, SHALLOWEST_M)
    at_rut = scale * rut**power
    per_rut = at_rut / (soil.rebound * rut)
    ahead, behind = theta_f - theta_m, theta_m - theta_r
    per_modulus, bottom = 1.0 / soil.shear_modulus, depth - radius
    lift = drag = turn_0 = turn_s = side_s = pull_0 = pull_s = rise_0 = rise_s = wall = heavy = strength = zero
    for k in range(len(_WAYS)):
        theta = theta_f - ahead * _WAYS[k]
        c, s = cos(theta), sin(theta)
        deep = max(SHALLOWEST_M, bottom + radius * c)
        sigma = scale * deep**power
        sigma = where(has_rut, max(0.0, min(sigma, at_rut - per_rut * (rut - deep))), sigma)
        most = soil.cohesion + soil.friction * sigma
        for part_of_rim in range(2):
            if part_of_rim == 0:
                share = ahead * _SHARES[k]
            else:
                theta = theta_r + behind * _WAYS[k]
                c, s, share = cos(theta), sin(theta), behind * _SHARES[k]
            way, travel = theta_f - theta, sin_f - s
            j_x = rolling * (way - travel) + along * travel
            j_y = across * way
            held = share * most * (radius * per_modulus) * saturating(sqrt(j_x * j_x + j_y * j_y) * (radius * per_modulus))
            pressed, strength = share * sigma, strength + share * most
            lift, drag = lift + pressed * c, drag + pressed * s
            by_turn, by_slip = held * (way - travel), held * travel
            turn_0, turn_s, side_s = turn_0 + by_turn, turn_s + by_slip, side_s + held * way
            pull_0, pull_s = pull_0 + by_turn * c, pull_s + by_slip * c
            rise_0, rise_s = rise_0 + by_turn * s, rise_s + by_slip * s
            side = max(0.0, bottom + radius * c)
            wall, heavy = wall + share * c * side, heavy + share * c * side * side
    area = radius * rim.width
    longest = theta_f - theta_r
    pushed = radius * (soil.side_cohesive * wall + soil.side_weight * heavy)
    beside = pushed * (longest * radius * per_modulus) * saturating(abs(across) * longest * radius * per_modulus)
    return Sums(
        area * lift + base_push(soil, rim, depth), area * drag, area * rolling * turn_0, area * turn_s, area * side_s + beside,
        area * rolling * pull_0, area * pull_s, area * rolling * rise_0, area * rise_s, area * strength + pushed,
    )  # fmt: skip


@part
def base_push(soil, rim, depth):
    """Normal force (N) of the rigid base below a layer: pressure that grows with depth, over a flat arc: 4/3 b d sqrt(2 R d)."""
    into = max(0.0, depth - soil.layer)
    return soil.base * rim.width * (4.0 / 3.0) * into * sqrt(2.0 * rim.radius * into)


@part
def depth_into_base(soil, rim, push):
    """Depth (m) below a layer at which its base pushes so much: the inverse of `base_push`; 0 for no push."""
    return (max(0.0, push) / (soil.base * rim.width * (4.0 / 3.0) * sqrt(2.0 * rim.radius))) ** (2.0 / 3.0)


class WheelForces(NamedTuple):
    """Forces of the soil on a wheel in its own axes: up, ahead (drawbar pull), to the left; and the torque against its drive."""

    load: float  # N
    pull: float  # N
    lateral: float  # N, with the sign of the lateral slip velocity
    torque: float  # N m


@part
def added_up(rim, sums, along, across):
    """Forces from the integrals."""
    return WheelForces(
        sums.lift + sums.rise_start + sums.rise_per_slip * along,
        sums.pull_start + sums.pull_per_slip * along - sums.drag,
        sums.side_per_slip * across,
        rim.radius * (sums.turn_start + sums.turn_per_slip * along),
    )


@part
def steady_wheel(soil, rim, place, depth, slip, tan_slip_angle):
    """Forces on a wheel that rolls ahead with a slip ratio (`slip.slip_ratio`, -1 to 1) and a slip angle (tangent of v / u)."""
    turning = where(slip >= 0.0, alike(1.0, slip), 1.0 + slip)
    travelling = where(slip >= 0.0, 1.0 - slip, alike(1.0, slip))
    per = 1.0 / max(turning, SLOWEST_TURN)
    along, across = (turning - travelling) * per, -tan_slip_angle * travelling * per
    return added_up(rim, stresses(soil, rim, place, depth, slip, turning * per, along, across), along, across)


#: Rounds in which the sinkage that carries a load is looked for, how many of them at most step by a power, and when it is found.
_ROUNDS, _BY_POWER, _FOUND = 80, 40, 1e-11


@part
def sinkage_of(soil, rim, place, load, slip, tan_slip_angle):
    """Sinkage (m) at which a wheel carries a load; as deep as a wheel may be, where the soil does not.

    The load grows about as z^(n + 1/2): steps by that power, kept between what is known to be too little and too much. In a rut
    and on a rigid base it grows faster, and such steps may go to and fro for ever: where one did not halve the error the next
    halves the bracket, and so do all of the last rounds, which alone are enough to find it.
    """
    low, high = alike(0.0, load), alike(DEEPEST_SHARE, load) * rim.radius
    z, inverse = 0.1 * rim.radius + low, 1.0 / (exponent_at(soil, slip) + 0.5)
    before = alike(inf, load)
    for k in range(_ROUNDS):
        carried = steady_wheel(soil, rim, place, z, slip, tan_slip_angle).load
        error = abs(carried - load)
        low, high = where(carried < load, z, low), where(carried < load, high, z)
        is_sought = (error > _FOUND * load) & (high - low > _FOUND * rim.radius)
        if not any_of(is_sought):
            break
        ahead = z * (load / max(carried, _NOTHING)) ** inverse
        enough = 0.5 if k < _BY_POWER else -1.0
        is_good = (ahead > low) & (ahead < high) & (error <= enough * before)
        z = where(is_sought, where(is_good, ahead, 0.5 * (low + high)), z)
        before = error
    return z


@part
def fresh(like):
    """A place that has never been driven over."""
    return Place(alike(0.0, like), alike(0.0, like))
