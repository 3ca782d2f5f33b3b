"""The belts of a tracked robot: what turns with them, motors with a loop on the speed, losses.

    m_b w. = drive - loss - sum F_x,     |drive| <= limit,    drive = kp (c - w) + ki integral (c - w) dt - kd w.
    loss = zeta (T_tight + T_slack) sign(w) + b w,    T_slack = T_0,  T_tight = T_0 + |drive|

With the same gains on both sides the mean of the two loops is the PID on the kinematic speed V_kin = (w_L + w_R) / 2 of the
source document, and their difference steers.

Symbols    w speed of a belt (m/s) · c command (m/s) · T belt tension (N) · zeta, b losses
Reference  [Hackett2011]; docs/theory/tracked
"""

from typing import Any, NamedTuple

from slipfit.contact.slip import STICK_SPEED_MPS
from slipfit.kernels import alike, part, where


class Belt(NamedTuple):
    """A belt with all that turns with it, at its surface."""

    mass: float  # kg
    limit: float  # N
    kp: float  # N s/m
    ki: float  # N/m
    kd: float  # kg
    tension: float  # N, T_0
    loss_share: float  # zeta
    loss_viscous: float  # N s/m, b


class BeltWork(NamedTuple):
    """One number per belt, left and right."""

    speed: Any  # m/s
    integral: Any  # N
    told: Any  # m/s
    guess: Any  # m/s
    new: Any
    drive: Any  # N
    at_limit: Any  # -1 or 1: the motor is at this limit; 0: it gives what its loop asks for
    sunk: Any  # m, deepest so far
    drag: Any  # N s/m, of soil before the sprocket that leads; its place:
    low_x: Any
    low_y: Any
    low_z: Any
    per: Any  # the belt's equation, w' = per (rest + (v, w) . nu')
    rest: Any
    vx: Any
    vy: Any
    vz: Any
    wx: Any
    wy: Any
    wz: Any


class Drive(NamedTuple):
    """A belt's motor in this step: w' = (momentum + push) / ..., push and the part that grows with w'."""

    push: float  # N
    per_speed: float  # N s/m


@part
def drive_of(belt, told, integral, speed, at_limit, dt):
    """The motor's part of a belt's equation: its loop, or the limit that it is at."""
    per = belt.kp + belt.kd / dt
    free = belt.kp * told + integral + belt.kd / dt * speed
    is_free = at_limit == 0.0
    return Drive(where(is_free, free, at_limit * belt.limit), where(is_free, per, alike(0.0, per)))


@part
def loss_per_speed(belt, drive, push, per_speed):
    """What a belt loses, N s/m, of a push (N) that would move it against so much resistance per speed (N s/m).

    The loss of its tension is the same at every speed, so it is taken at the speed that is left after it: a belt that breaks away
    does so within the step, and one that is pushed by less stays.
    """
    constant, resists = belt.loss_share * (2.0 * belt.tension + abs(drive)), per_speed + belt.loss_viscous
    left = max(abs(push) - constant, 0.0) / resists
    return belt.loss_viscous + constant / max(left, STICK_SPEED_MPS)


@part
def wanted_drive(belt, belts, side, dt):
    """What a belt's loop asks of its motor at the new speed, N; more than the limit where it is too much."""
    error = belts.told[side] - belts.new[side]
    return belt.kp * error + belts.integral[side] - belt.kd / dt * (belts.new[side] - belts.speed[side])


@part
def limit_of(belt, belts, side, dt):
    """The limit that a motor is at by the new speed: -1, 0 (none) or 1.

    From one limit to the other only by way of none. A belt that a strike has thrown, held by a stiff loop (kp dt above its mass),
    is beyond one limit before a step of constant force and beyond the other after it; what belongs to it lies between.
    """
    wanted, at = wanted_drive(belt, belts, side, dt), belts.at_limit[side]
    none, one = alike(0.0, wanted), alike(1.0, wanted)
    found = where(wanted > belt.limit, one, where(wanted < -belt.limit, -one, none))
    return where(at == 0.0, found, where(at * wanted >= belt.limit, at, none))


@part
def run_on(belt, belts, dt):
    """The belts at the end of the step. At its limit a loop does not wind up."""
    for side in range(2):
        wanted = wanted_drive(belt, belts, side, dt)
        more = belts.integral[side] + belt.ki * dt * (belts.told[side] - belts.new[side])
        belts.drive[side] = max(-belt.limit, min(belt.limit, wanted))
        belts.integral[side] = where(abs(wanted) < belt.limit, more, belts.integral[side])
        belts.speed[side] = belts.new[side]
