"""Drivers that follow waypoints: line of sight, and pure pursuit. Compiled into vehicles, for one run or eight.

Line of sight steers for the waypoint itself, pure pursuit for a point of the path a little ahead:

    line of sight    psi_d = atan2(y_wp - y, x_wp - x),    e = psi_d - psi,    r_d = 0,                       q = e
    pure pursuit     e = a,    r_d = speed · 2 sin(a) / D,                     q = integral(r_d - r)

The loops below make commands of speed, e, r_d and q, by what the wheels are told:

    volts            V_c = kp (speed - u) + ki integral + kd d/dt(speed - u),    V_h = kp_h e + kd_h (r_d - r)
                     left = V_c - V_h,    right = V_c + V_h,    each within ±limit
    wheel speeds     turn = r_d + k q,    left = (speed - turn Y) / R,    right = (speed + turn Y) / R,    each within ±limit

Anti-windup by conditional integration: while V_c alone is beyond the limit, the integral keeps its value unless the error brings
it back. A side that only turning cuts does not hold it: on a slope the rover needs the volts as soon as it has turned.

A waypoint is reached within the acceptance radius. Pure pursuit cuts corners: an inner waypoint within its lookahead is also
behind it once the robot is nearer to the next leg, past the bisector of the two. After the last one all commands are zero.

Symbols    psi heading · u, r speed ahead and yaw rate · e heading error in (-pi, pi] · r_d yaw rate of the way there · q how
           far the robot has turned less than it should · a, D direction and distance of the point ahead, seen from the robot ·
           Y half track · R wheel radius
Reference  [Shilliday2023] section II (its gains: [SarahSwintonMEng]); [Coulter1992] for pure pursuit; docs/theory/rover
"""

from math import atan2, copysign, hypot, pi, sqrt
from typing import Any, NamedTuple

from slipfit.kernels import Shared, alike, any_of, chosen_by_type, cos_and_sin, part, take, where
from slipfit.kernels.compile import overload
from slipfit.vehicles.driver import ARRIVED_AT, CROSS_TRACK, NEVER, NOTE_COLUMNS, WAYPOINT, get_ready, note_count, tell

# What these drivers note besides NOTE_COLUMNS: integral of the speed error (m), speed when last asked (m/s), and how far the
# robot has turned less than it should (rad; pure pursuit).
_INTEGRAL, _LAST_U, _BEHIND = len(NOTE_COLUMNS), len(NOTE_COLUMNS) + 1, len(NOTE_COLUMNS) + 2
_COUNT = len(NOTE_COLUMNS) + 3

#: Nobody is further behind than this (rad): a robot that cannot turn winds nothing up.
_MOST_BEHIND = 0.5 * pi

#: Points nearer than this are the same (m): keeps 0/0 away.
_SAME_PLACE = 1e-9


class Path(NamedTuple):
    """Legs from the start over the waypoints."""

    waypoints: Any  # x, y, x, y, ... (m): Shared by all runs, or a table per run
    start_x: float  # m
    start_y: float
    acceptance: float  # m, so near counts as reached


class SurgePid(NamedTuple):
    """Volts for both sides from the speed error."""

    kp: float  # V s/m
    ki: float  # V/m
    kd: float  # V s^2/m


class HeadingPd(NamedTuple):
    """Volts between the sides from the heading error and the yaw rate."""

    kp: float  # V/rad
    kd: float  # V s/rad


class VoltageLoops(NamedTuple):
    """For robots whose motors are told voltages."""

    surge: SurgePid
    heading: HeadingPd
    limit: float  # V


class WheelSpeeds(NamedTuple):
    """For robots whose wheels are told how fast to turn."""

    radius: float  # m
    half_track: float  # m
    turn: float  # 1/s, yaw rate for each rad of heading error
    limit: float  # rad/s, may be infinite


class LineOfSight(NamedTuple):
    """Steers straight for the next waypoint."""

    path: Path
    speed: float  # m/s
    loops: Any  # VoltageLoops or WheelSpeeds


class PurePursuit(NamedTuple):
    """Steers on an arc to the point of the path that lies a lookahead in front."""

    path: Path
    speed: float  # m/s
    loops: Any
    lookahead: float  # m


class Wish(NamedTuple):
    """What guidance asks of the loops."""

    speed: float  # m/s
    heading_error: float  # rad, direction of the point that is steered for, positive to the left
    yaw_rate: float  # rad/s, of the way there
    behind: float  # rad, how far the robot has turned less than it should


class Leg(NamedTuple):
    """A straight piece of the path."""

    from_x: float
    from_y: float
    to_x: float
    to_y: float
    along_x: float  # unit vector
    along_y: float
    length: float


# --- where the robot is on its path ----------------------------------------------------------------------------------------


def points_of(waypoints):
    """The numbers of a table, whether all runs share it or each has its own."""
    return waypoints.array if isinstance(waypoints, Shared) else waypoints


@overload(points_of)
def _points_of(waypoints):
    is_shared = getattr(waypoints, "instance_class", None) is Shared
    return (lambda waypoints: waypoints.array) if is_shared else (lambda waypoints: waypoints)


@part
def _leg(path, points, k):
    """The leg to waypoint k, a whole number from 0; past the last one, the last leg."""
    k = min(k, len(points) // 2 - 1.0)
    to_x, to_y = take(points, 2.0 * k), take(points, 2.0 * k + 1.0)
    from_x = where(k > 0.5, take(points, 2.0 * k - 2.0), path.start_x)
    from_y = where(k > 0.5, take(points, 2.0 * k - 1.0), path.start_y)
    dx, dy = to_x - from_x, to_y - from_y
    length = hypot(dx, dy)
    per_length = 1.0 / max(length, _SAME_PLACE)
    return Leg(from_x, from_y, to_x, to_y, dx * per_length, dy * per_length, length)


@part
def _progress(leg, x, y):
    """How far a place is along a leg, and how far to its left (m)."""
    dx, dy = x - leg.from_x, y - leg.from_y
    return dx * leg.along_x + dy * leg.along_y, dy * leg.along_x - dx * leg.along_y


@part
def _note_cross_track(notes, aside):
    """Distance from the leg, until the arrival."""
    notes[CROSS_TRACK] = where(notes[ARRIVED_AT] == NEVER, aside, notes[CROSS_TRACK])


@part
def _from_robot(seen, x, y):
    """A place as the robot sees it: m ahead, m to the left."""
    c, s = cos_and_sin(seen.heading)
    dx, dy = x - seen.x, y - seen.y
    return c * dx + s * dy, c * dy - s * dx


@part
def _go_on(notes, seen, is_reached, count):
    """Take the next waypoint where the present one is reached; after the last, note the time."""
    is_reached = is_reached & (notes[ARRIVED_AT] == NEVER)
    after = notes[WAYPOINT] + 1.0
    notes[ARRIVED_AT] = where(is_reached & (after > count - 0.5), seen.time, notes[ARRIVED_AT])
    notes[WAYPOINT] = where(is_reached, after, notes[WAYPOINT])


@part
def _start_notes(notes, seen):
    for k in range(_COUNT):
        notes[k] = alike(0.0, seen.x)
    notes[ARRIVED_AT] = alike(NEVER, seen.x)
    notes[_LAST_U] = seen.u + alike(0.0, seen.x)


@part
def _tell_sides(driver, notes, seen, wish, period_s, side_m, command):
    """Commands of all wheels; zero after the arrival."""
    left, right = sides(driver.loops, notes, seen, wish, period_s)
    is_going = notes[ARRIVED_AT] == NEVER
    left, right = where(is_going, left, 0.0), where(is_going, right, 0.0)
    for n in range(len(side_m)):
        command[n] = where(side_m[n] > 0.0, left, right)


# --- line of sight ---------------------------------------------------------------------------------------------------------


@note_count.of(LineOfSight)
def _(driver):
    return _COUNT


@get_ready.of(LineOfSight)
def _(driver, notes, seen):
    _start_notes(notes, seen)


@tell.of(LineOfSight)
def _(driver, notes, seen, turn, period_s, side_m, command):
    path, points = driver.path, points_of(driver.path.waypoints)
    leg = _leg(path, points, notes[WAYPOINT])
    _go_on(notes, seen, hypot(leg.to_x - seen.x, leg.to_y - seen.y) < path.acceptance, len(points) // 2)
    leg = _leg(path, points, notes[WAYPOINT])
    _, aside = _progress(leg, seen.x, seen.y)
    _note_cross_track(notes, aside)
    ahead, to_left = _from_robot(seen, leg.to_x, leg.to_y)
    error = atan2(to_left, ahead)
    wish = Wish(driver.speed, error, alike(0.0, driver.speed), error)
    _tell_sides(driver, notes, seen, wish, period_s, side_m, command)


# --- pure pursuit ----------------------------------------------------------------------------------------------------------


@note_count.of(PurePursuit)
def _(driver):
    return _COUNT


@get_ready.of(PurePursuit)
def _(driver, notes, seen):
    _start_notes(notes, seen)


@part
def _is_passed(driver, points, k, leg, seen):
    """Whether a waypoint that is not the last, within the lookahead, lies behind the bisector of its two legs."""
    after = _leg(driver.path, points, k + 1.0)
    dx, dy = seen.x - leg.to_x, seen.y - leg.to_y
    beyond = dx * (leg.along_x + after.along_x) + dy * (leg.along_y + after.along_y)
    return (k < len(points) // 2 - 1.5) & (hypot(dx, dy) < driver.lookahead) & (beyond > 0.0)


@part
def _point_ahead(driver, points, k, leg, along, aside):
    """The point of the path at the lookahead's distance from the robot; past a corner it is counted along the path. Where the
    path is further away than the lookahead, its nearest point; near its end, the end."""
    reach = sqrt(max(driver.lookahead * driver.lookahead - aside * aside, 0.0))
    distance = max(along, 0.0) + reach
    last = len(points) // 2 - 1.5
    for _ in range(len(points) // 2):
        is_beyond = (distance > leg.length) & (k < last)
        if not any_of(is_beyond):
            break
        distance, k = where(is_beyond, distance - leg.length, distance), where(is_beyond, k + 1.0, k)
        leg = _leg(driver.path, points, k)
    distance = min(distance, leg.length)
    return leg.from_x + distance * leg.along_x, leg.from_y + distance * leg.along_y


@tell.of(PurePursuit)
def _(driver, notes, seen, turn, period_s, side_m, command):
    path, points = driver.path, points_of(driver.path.waypoints)
    leg = _leg(path, points, notes[WAYPOINT])
    is_near = hypot(leg.to_x - seen.x, leg.to_y - seen.y) < path.acceptance
    _go_on(notes, seen, is_near | _is_passed(driver, points, notes[WAYPOINT], leg, seen), len(points) // 2)
    leg = _leg(path, points, notes[WAYPOINT])
    along, aside = _progress(leg, seen.x, seen.y)
    _note_cross_track(notes, aside)
    x, y = _point_ahead(driver, points, notes[WAYPOINT], leg, along, aside)
    ahead, to_left = _from_robot(seen, x, y)
    distance = max(hypot(ahead, to_left), _SAME_PLACE)
    # A point behind the robot would ask for ever less turning: it gets the tightest arc instead.
    sine = where(ahead > 0.0, to_left / distance, copysign(alike(1.0, distance), to_left))
    yaw_rate = driver.speed * 2.0 * sine / max(distance, path.acceptance)
    behind = notes[_BEHIND] + (yaw_rate - seen.yaw_rate) * period_s
    notes[_BEHIND] = max(-_MOST_BEHIND, min(_MOST_BEHIND, behind))
    wish = Wish(driver.speed, atan2(to_left, ahead), yaw_rate, notes[_BEHIND])
    _tell_sides(driver, notes, seen, wish, period_s, side_m, command)


# --- the loops -------------------------------------------------------------------------------------------------------------


@chosen_by_type
def sides(loops, notes, seen, wish, period_s):
    """What the left and the right wheels are told."""
    raise NotImplementedError("loops register how they tell")


@part
def _cut(value, limit):
    return max(-limit, min(limit, value))


@sides.of(VoltageLoops)
def _(loops, notes, seen, wish, period_s):
    surge, heading = loops.surge, loops.heading
    error = wish.speed - seen.u
    now = surge.kp * error + surge.kd * (notes[_LAST_U] - seen.u) / period_s
    turning = heading.kp * wish.heading_error + heading.kd * (wish.yaw_rate - seen.yaw_rate)
    grown = notes[_INTEGRAL] + error * period_s
    forward = now + surge.ki * grown
    is_held = (abs(forward) > loops.limit) & (error * forward > 0.0)
    notes[_INTEGRAL] = where(is_held, notes[_INTEGRAL], grown)
    notes[_LAST_U] = seen.u
    forward = now + surge.ki * notes[_INTEGRAL]
    return _cut(forward - turning, loops.limit), _cut(forward + turning, loops.limit)


@sides.of(WheelSpeeds)
def _(loops, notes, seen, wish, period_s):
    turning = (wish.yaw_rate + loops.turn * wish.behind) * loops.half_track
    per_radius = 1.0 / loops.radius
    return _cut((wish.speed - turning) * per_radius, loops.limit), _cut((wish.speed + turning) * per_radius, loops.limit)
