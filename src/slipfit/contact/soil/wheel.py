"""A rigid wheel on soil: stresses along its rim, and the forces that they add up to.

Between the entry angle theta_f, where the rim meets the soil ahead, and the exit angle theta_r behind, the normal stress rises
to its largest at theta_m and falls again (Wong and Reece):

    sigma(theta) = p(z(theta)),                          theta_m <= theta <= theta_f,    z(theta) = z - R (1 - cos theta)
    sigma(theta) = sigma(theta_f - (theta - theta_r) (theta_f - theta_m) / (theta_m - theta_r)),    theta_r <= theta < theta_m
    theta_m = max((c_1 + c_2 |i|) theta_f, min(theta_0, theta_d)),   theta_r = -c_3 theta_f
    cos theta_f = 1 - (z - z_rut) / R,   cos theta_d = 1 - (1 - 1 / K_ss(-i)) (z - z_rut) / R

(in a rut at least the angle of the rebound, cos theta_r = 1 - e min(z, z_d) / R) and p is `pressure`'s, with slip-sinkage and the
memory of the place ahead. The rim drags the soil along by

    j_x = R ((w / V) (theta_f - theta) - (u / V) (sin theta_f - sin theta)),   j_y = -(v / V) R (theta_f - theta),   V = max(w, u)
    tau = (c + sigma tan phi) (1 - exp(-|j| / K)) j / |j|

and under a braked wheel by R (e / V) min(theta_f - theta, theta_f - theta_0) more. Ahead of theta_0, where the rim moves at an
angle of 45 deg - phi / 2 to its radius, soil flows forwards, and shear does not turn round; there the stress is largest too,
but not ahead of theta_d, z / K_ss below the surface, so that skidding digs a shallow wheel in by Lyasko's ratio at most:

    cos theta_0 - w / u = tan(45 deg - phi / 2) sin theta_0,   e = max(0, u (sin theta_f - sin theta_0) / (theta_f - theta_0) - w)

so that    N  = R b int (sigma cos + tau_x sin)      DP = R b int (tau_x cos - sigma sin)
           T  = R^2 b int tau_x                      F_y = R b int tau_y + F_side

A rigid base below a layer pushes with N_b below the axle, and is sheared by N_b tan(phi) (1 - exp(-|j_b| / K)) along j_b, what
the rim slips there while it is in the soil, j_b = R theta_f (s / V). It lies still: its shear is never along the rim's lead over
an arc, which others pay for. Both are kept apart from the soil's, which unloads along a line of its own.

F_side is the soil that the wheel's side pushes away (`constants.bulldozing`), mobilised with lateral displacement as shear is.
Along one axis this is [IshigamiEtAl2007]'s; there each axis has all of the strength, here the resultant has: no soil gives more
than its strength. Grousers enlarge the radius.

Quadrature: both parts of the rim by Gauss and Legendre's rule in the cube root of the way from where the stress begins, which
takes the stress's root-like start away. The stress is the same in both, so that its powers are taken once. Where the wheel meets
the bottom of a rut sigma has a kink, and where a braked rim's shear turns round tau has one: each piece between has its own rule.
Of a wheel that is a little askew shear turns within a stretch of the slip angle's size, and grows anew over one of K on both
sides: pieces of braked rims have more points, which crowd at both of their ends.

Symbols    as in `constants` and `slip` (u, v, w, slip velocity s) · R, b radius and width · omega > 0 wheel speed
Reference  [WongReece1967], part II for braked wheels; [IshigamiEtAl2007]; derived in docs/theory/soil, eq. (wheel), (turning)
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
    slip_sinkage_ratio,
    surface_left,
)
from slipfit.contact.soil.shear import saturating
from slipfit.kernels import alike, any_of, chosen_by_type, part, where

#: Points and weights of Gauss and Legendre's rule in [0, 1], twelve points.
_POINTS = (
    0.009219682876640375, 0.04794137181476257, 0.11504866290284765, 0.2063410228566913, 0.3160842505009099, 0.43738329574426554,
    0.5626167042557345, 0.6839157494990901, 0.7936589771433087, 0.8849513370971523, 0.9520586281852375, 0.9907803171233597,
)  # fmt: skip
_WEIGHTS = (
    0.023587668193255914, 0.05346966299765921, 0.08003916427167311, 0.10158371336153296, 0.1167462682691774, 0.12457352290670139,
    0.12457352290670139, 0.1167462682691774, 0.10158371336153296, 0.08003916427167311, 0.05346966299765921, 0.023587668193255914,
)  # fmt: skip
#: The same with twenty-four points.
_MORE_POINTS = (
    0.0024063900014894, 0.012635722014345208, 0.030862723998633657, 0.05679223649779952, 0.08999900701304853, 0.12993790421072277,
    0.17595317403151217, 0.22728926430558016, 0.2831032461869775, 0.3424786601519183, 0.4044405662631918, 0.46797155356869724,
    0.5320284464313028, 0.5955594337368082, 0.6575213398480817, 0.7168967538130224, 0.7727107356944198, 0.8240468259684879,
    0.8700620957892773, 0.9100009929869515, 0.9432077635022005, 0.9691372760013663, 0.9873642779856548, 0.9975936099985105,
)  # fmt: skip
_MORE_WEIGHTS = (
    0.006170614899994345, 0.01426569431446678, 0.022138719408709706, 0.02964929245771818, 0.03667324070554008, 0.0430950807659766,
    0.04880932605205696, 0.05372213505798278, 0.05775283402686276, 0.06083523646390165, 0.06291872817341412, 0.06396909767337601,
    0.06396909767337601, 0.06291872817341412, 0.06083523646390165, 0.05775283402686276, 0.05372213505798278, 0.04880932605205696,
    0.0430950807659766, 0.03667324070554008, 0.02964929245771818, 0.022138719408709706, 0.01426569431446678, 0.006170614899994345,
)  # fmt: skip
#: Where points lie after a substitution by cubes, and their weights; filled up with points that count nothing.
_PLAIN, _REFINED = len(_POINTS), len(_MORE_POINTS)
_WAYS = tuple(x**3 for x in _POINTS) + (0.0,) * (_REFINED - _PLAIN)
_SHARES = tuple(3.0 * x * x * weight for x, weight in zip(_POINTS, _WEIGHTS, strict=True)) + (0.0,) * (_REFINED - _PLAIN)
#: The same of the refined rule, which crowds at the end of a piece too: x^3 (4 - 3 x).
_REFINED_WAYS = tuple(x**3 * (4.0 - 3.0 * x) for x in _MORE_POINTS)
_REFINED_SHARES = tuple(12.0 * x * x * (1.0 - x) * weight for x, weight in zip(_MORE_POINTS, _MORE_WEIGHTS, strict=True))

#: The part behind the largest stress needs the refined rule where it is so much longer than the part ahead: shear still grows
#: where it begins.
_MUCH_LONGER = 4.0
#: The largest stress never lies nearer to the entry than this share of its angle.
_FOREMOST = 0.95
#: A wheel that sinks deeper than this share of its radius is stuck: stresses are taken as if it were no deeper.
DEEPEST_SHARE = 0.98
#: Displacements count over the rim's speed, of a wheel that turns slower than this share of the speed that slip is taken of over
#: that speed: with 1, over the ground's speed when braking, so that soil which a locked wheel passes is sheared by its way along
#: the rim and no more. Wong and Reece count over the rim's; on sand (docs/howto/soil_tests.md) that is a little worse.
SLOWEST_TURN = 1.0
#: How flat, 1/rad, the mean cosine may be over the angle where shear is looked for to turn round: keeps steps finite.
_FLATTEST = 1e-3
_NOTHING = 1e-30


class Rim(NamedTuple):
    radius: float  # m, to the tips of grousers
    width: float  # m


class Sums(NamedTuple):
    """Integrals over the rim in the soil alone, N, and N for each unit of slip over rim speed; and what a base has to them."""

    lift: float  # normal stress upwards
    drag: float  # and against travel
    turn_start: float  # shear around the rim: at zero slip,
    turn_per_slip: float  # for slip along,
    side_per_slip: float  # and across, bulldozing included
    pull_start: float  # shear along the ground
    pull_per_slip: float
    rise_start: float  # shear upwards
    rise_per_slip: float
    strength: float  # the most that shear can give, in all directions
    beside: float  # and bulldozing, across
    base_per_slip: float  # shear of a rigid base for each newton that it pushes, in any direction


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


@part
def turning_angle(soil, rolling):
    """Angle theta_0 (rad) ahead of which soil flows forwards, of a wheel whose rim is `rolling` times as fast as its hub.

        cos theta_0 - rolling = tan(45 deg - phi / 2) sin theta_0,    tan(45 deg - phi / 2) = 1 / cos phi - tan phi

    0 for a rim as fast as the hub or faster, 45 deg + phi / 2 for a locked one.
    """
    slope = sqrt(1.0 + soil.friction * soil.friction) - soil.friction
    share = max(0.0, min(1.0, rolling))
    rest = sqrt(1.0 + slope * slope - share * share)
    return max(0.0, atan2(rest - slope * share, share + slope * rest))


@chosen_by_type
def stresses(soil, rim, place, depth, slip, rolling, along, across):
    """Integrals of the stresses along a rim whose lowest point is at a depth below the untouched surface.

    place    what the ground ahead remembers
    slip     that digs, driving positive
    rolling  rim speed over its size, 1 or less: below 1 for a wheel that hardly turns
    along    slip velocity over rim speed, in the direction of rolling; across likewise, to the left
    """
    raise NotImplementedError("a soil registers its own stresses")


class _Arc(NamedTuple):
    """The part of a rim that is in the soil."""

    sin_f: float
    theta_f: float  # rad, entry
    theta_m: float  # of the largest stress
    theta_r: float  # exit


@part
def _arc(soil, rim, place, depth, slip):
    """Where a rim enters, presses most and leaves."""
    rise = depth - surface_left(soil, place.deepest)
    sin_f, theta_f = entry(rim.radius, rise)
    _, dug = entry(rim.radius, rise * (1.0 - 1.0 / slip_sinkage_ratio(-slip)))
    peak = theta_f * (soil.peak + soil.peak_growth * min(1.0, abs(slip)))
    theta_m = max(0.0, min(_FOREMOST * theta_f, max(peak, min(dug, turning_angle(soil, 1.0 + slip)))))
    _, springs_back = entry(rim.radius, soil.rebound * min(depth, place.deepest))
    return _Arc(sin_f, theta_f, theta_m, min(soil.exit * theta_f, -springs_back))


@part
def _at_rut(rim, place, depth, arc):
    """Share of the way from entry to largest stress at which the rim meets a rut's deepest, a kink of sigma; 0 without one."""
    _, theta = entry(rim.radius, depth - place.deepest)
    share = max(0.0, min(1.0, (arc.theta_f - theta) / max(arc.theta_f - arc.theta_m, _NOTHING)))
    return where(place.deepest > 0.0, share, alike(0.0, share))


@part
def _share_at(arc, theta):
    """The like share of an angle, of the way ahead or behind."""
    ahead = (arc.theta_f - theta) / max(arc.theta_f - arc.theta_m, _NOTHING)
    behind = (theta - arc.theta_r) / max(arc.theta_m - arc.theta_r, _NOTHING)
    return max(0.0, min(1.0, where(theta >= arc.theta_m, ahead, behind)))


class _Flow(NamedTuple):
    """Soil that flows forwards ahead of a braked wheel: over which angle, and how much faster than the rim it is."""

    lead: float  # rad, theta_f - theta_0
    carried: float  # e / V, 0 where shear turns round behind theta_0 by itself
    turn: float  # share of the way at which shear turns round,
    back: float  # and at which it turns once more, nearer to the exit; 0 where it does not


@part
def _flow(soil, arc, rolling, travelling):
    """Of a wheel with these speeds of rim and ground over V."""
    theta_0 = min(arc.theta_f, turning_angle(soil, rolling / max(max(rolling, travelling), _NOTHING)))
    lead = arc.theta_f - theta_0
    carried = max(0.0, travelling * (arc.sin_f - sin(theta_0)) / max(lead, _NOTHING) - rolling)
    turn, back = _at_turns(arc, rolling, travelling)
    is_carried = carried > 0.0
    return _Flow(lead, carried, where(is_carried, _share_at(arc, theta_0), turn), where(is_carried, alike(0.0, back), back))


@part
def _at_turns(arc, rolling, travelling):
    """The like shares at which a braked rim's shear turns round by itself, j_x = 0: tau's curvature jumps. 0 where it does not.

    There rim and ground went equally far: the mean cosine between here and the entry is q = rolling / travelling. It is largest
    at theta_t, where it is the cosine itself (theta_t = -theta_f / 2 + theta_f^3 / 160 + ..), so that there are two such angles,
    the second of them in the contact only if that reaches far behind the axle; where q is larger yet shear hardly grows near
    theta_t, and both are that. First guesses are those of a parabola that is right at theta_t and at the entry.
    """
    theta_f, nowhere = arc.theta_f, alike(0.0, arc.theta_f)
    q, least = rolling / max(travelling, _NOTHING), cos(theta_f)
    turns = (travelling > rolling) & (q > least)
    if not any_of(turns):
        return nowhere, nowhere
    top = theta_f * (theta_f * theta_f * (1.0 / 160.0) - 0.5)
    most = (arc.sin_f - sin(top)) / max(theta_f - top, _NOTHING)
    off = (theta_f - top) * sqrt(max(0.0, min(1.0, (most - q) / max(most - least, _NOTHING))))
    turn = _share_at(arc, max(top, _equally_far(arc, q, top + off, -_FLATTEST)))
    if not any_of(turns & (top > arc.theta_r)):
        return where(turns, turn, nowhere), nowhere
    back = _share_at(arc, min(top, _equally_far(arc, q, top - off, _FLATTEST)))
    return where(turns, turn, nowhere), where(turns & (top > arc.theta_r), back, nowhere)


@part
def _equally_far(arc, q, theta, flattest):
    """Angle near a first guess between which and the entry the mean cosine is q; it has a slope of `flattest`'s sign there.

    Two steps of Newton's leave less than 1e-3 rad, and what that leaves of the integrals is of its cube.
    """
    for _ in range(2):
        theta = min(_FOREMOST * arc.theta_f, theta)
        per_way = 1.0 / max(arc.theta_f - theta, _NOTHING)
        mean = (arc.sin_f - sin(theta)) * per_way
        slope = (mean - cos(theta)) * per_way
        slope = max(slope, flattest) if flattest > 0.0 else min(slope, flattest)
        theta += (q - mean) / slope
    return theta


@stresses.of(Soil)
def _(soil, rim, place, depth, slip, rolling, along, across):
    radius, zero = rim.radius, alike(0.0, depth)
    worst = remembered_slip(slip, place.slip)
    arc = _arc(soil, rim, place, depth, slip)
    sin_f, theta_f, theta_r = arc.sin_f, arc.theta_f, arc.theta_r
    power = exponent_at(soil, worst)
    scale = loosening(soil, worst) * pressure_constant(soil, rim.width)
    rut = max(place.deepest, SHALLOWEST_M)
    at_rut = scale * rut**power
    per_rut = at_rut / (soil.rebound * rut)
    ahead, behind = theta_f - arc.theta_m, arc.theta_m - theta_r
    to_modulus, bottom = radius / soil.shear_modulus, depth - radius
    flow = _flow(soil, arc, rolling, rolling - along)
    kink, turn, back = _at_rut(rim, place, depth, arc), flow.turn, flow.back
    # A braked rim's shear grows anew from where it turns; so does all shear in a contact that lies behind its largest stress.
    refined = (along < 0.0) | (behind > _MUCH_LONGER * ahead)
    lift = drag = turn_0 = turn_s = side_s = pull_0 = pull_s = rise_0 = rise_s = wall = heavy = strength = zero
    count = _REFINED if any_of(refined) else _PLAIN
    cuts = (zero, min(kink, back), max(back, min(kink, turn)), max(kink, turn), alike(1.0, zero))
    for piece in range(4):
        begin, length = cuts[piece], cuts[piece + 1] - cuts[piece]
        if not any_of(not (length <= 0.0)):
            continue
        for k in range(count):
            point = begin + length * where(refined, alike(_REFINED_WAYS[k], zero), alike(_WAYS[k], zero))
            part_of_way = length * where(refined, alike(_REFINED_SHARES[k], zero), alike(_SHARES[k], zero))
            theta = theta_f - ahead * point
            c, s = cos(theta), sin(theta)
            deep = max(SHALLOWEST_M, bottom + radius * c)
            sigma = where(deep < rut, max(0.0, at_rut - per_rut * (rut - deep)), scale * deep**power)
            most = soil.cohesion + soil.friction * sigma
            for part_of_rim in range(2):
                if part_of_rim == 0:
                    share = ahead * part_of_way
                else:
                    theta = theta_r + behind * point
                    c, s, share = cos(theta), sin(theta), behind * part_of_way
                way, travel = theta_f - theta, sin_f - s
                j_0 = rolling * (way - travel) + flow.carried * min(way, flow.lead)
                j_x = j_0 + along * travel
                j_y = across * way
                held = share * most * to_modulus * saturating(sqrt(j_x * j_x + j_y * j_y) * to_modulus)
                pressed, strength = share * sigma, strength + share * most
                lift, drag = lift + pressed * c, drag + pressed * s
                by_turn, by_slip = held * j_0, held * travel
                turn_0, turn_s, side_s = turn_0 + by_turn, turn_s + by_slip, side_s + held * way
                pull_0, pull_s = pull_0 + by_turn * c, pull_s + by_slip * c
                rise_0, rise_s = rise_0 + by_turn * s, rise_s + by_slip * s
                side = max(0.0, bottom + radius * c)
                wall, heavy = wall + share * c * side, heavy + share * c * side * side
    area, longest = radius * rim.width, (theta_f - theta_r) * to_modulus
    pushed = radius * (soil.side_cohesive * wall + soil.side_weight * heavy)
    beside = pushed * longest * saturating(abs(across) * longest)
    # A rigid base is met below the axle: sheared by what slips there, and against nothing else (see above).
    slipped = sqrt(along * along + across * across) * theta_f * to_modulus
    base_per_slip = soil.friction * theta_f * to_modulus * saturating(slipped)
    return Sums(
        area * lift, area * drag, area * turn_0, area * turn_s, area * side_s + beside, area * pull_0, area * pull_s,
        area * rise_0, area * rise_s, area * strength, pushed, base_per_slip,
    )  # fmt: skip


@part
def base_push(soil, rim, depth):
    """Normal force (N) of the rigid base below a layer: pressure that grows with depth, over a flat arc: 4/3 b d sqrt(2 R d)."""
    into = max(0.0, depth - soil.layer)
    return soil.base * rim.width * (4.0 / 3.0) * into * sqrt(2.0 * rim.radius * into)


class BasePush(NamedTuple):
    """Push of a rigid base as a step takes it: now + slope · (depth then - depth), not less than nothing."""

    now: float  # N
    slope: float  # N/m


@part
def base_push_on(soil, rim, depth, coming):
    """That push over a step which is expected to end at the depth `coming`.

    Nothing is gained. The push grows faster than depth: by the chord what enters is charged the push at the end of the step, so
    never too little, and by the tangent what comes back is less than the push there.
    """
    now, into, zero = base_push(soil, rim, depth), max(0.0, depth - soil.layer), alike(0.0, depth)
    sinks = coming > depth
    chord = (base_push(soil, rim, coming) - now) / where(sinks, coming - depth, alike(1.0, zero))
    return BasePush(now, where(sinks, chord, 1.5 * now / max(into, _NOTHING)))


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
def added_up(rim, sums, by_base, along, across):
    """Forces from the integrals, and of a base that pushes so much."""
    on_base = by_base * sums.base_per_slip
    return WheelForces(
        sums.lift + sums.rise_start + sums.rise_per_slip * along + by_base,
        sums.pull_start + (sums.pull_per_slip + on_base) * along - sums.drag,
        (sums.side_per_slip + on_base) * across,
        rim.radius * (sums.turn_start + (sums.turn_per_slip + on_base) * along),
    )


@part
def steady_wheel(soil, rim, place, depth, slip, tan_slip_angle):
    """Forces on a wheel that rolls ahead with a slip ratio (`slip.slip_ratio`, -1 to 1) and a slip angle (tangent of v / u)."""
    turning = where(slip >= 0.0, alike(1.0, slip), 1.0 + slip)
    travelling = where(slip >= 0.0, 1.0 - slip, alike(1.0, slip))
    per = 1.0 / max(turning, SLOWEST_TURN)
    along, across = (turning - travelling) * per, -tan_slip_angle * travelling * per
    sums = stresses(soil, rim, place, depth, slip, turning * per, along, across)
    return added_up(rim, sums, base_push(soil, rim, depth), along, across)


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
