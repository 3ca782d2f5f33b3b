"""The rover without wheels: motor torque acts on the body directly, and viscous friction stands for the ground.

    L di/dt = V - R i - K_e omega,    J_m domega/dt = K_t i - b omega                        nothing loads the motor
    F_n = K_t i_n eta_n / R_w,        eta = gamma + alpha |i|, at least zero
    m (u. - v r) = F cos(beta) - (d_x + c |u|) u + m g_x        F = sum F_n
    m (v. + u r) = F sin(beta) - d_y v + m g_y                  beta = asin(v / hypot(u, v))
    I r. = -sum Y_n F_n - d_r r

The earlier, validated model of the Glasgow rover, kept as a comparison. Its thrust points where the robot *moves*: sideslip
feeds itself. Going straight uphill it grows exponentially where F / u > d_y. A run has broken down when its sideslip exceeds a
right angle: the velocity swings past the sideways direction, against the thrust, or stays there for a second (voltages that
change sign do not count); also when its numbers stop being finite. It goes on, and says when.

Symbols    u, v, r velocity ahead, to the left, yaw rate · i, omega current and speed of a motor · beta sideslip angle · Y_n where
           the wheel is, to the left · d, c damping · eta share of the torque that arrives · g gravity in the body's axes
Reference  [Shilliday2023] section IV (the torque model), [SarahSwintonMEng] for its equations and constants; |i| in eta, where
           the source has i, so that reverse is as forward; docs/theory/rover, eq. (breakdown)
Valid for  level ground, speeds up to 1.5 m/s; the centre of mass is the wheels' centre
"""

from math import atan2, hypot, isfinite, sqrt
from typing import Any, NamedTuple

from slipfit.ground.shape import gravity_in_body
from slipfit.kernels import WIDTH, Eight, alike, at, compiled, cos_and_sin, part, put, tables, where, zeros
from slipfit.vehicles.driver import NEVER, NOTE_COLUMNS, Seen, get_ready, note_count, tell
from slipfit.vehicles.powertrain import Spin, after_step, free_wheel, prepared

#: What a run records, in this order.
COLUMNS = (
    "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "sideslip_rad", "broke_down_at_s", *NOTE_COLUMNS,
)  # fmt: skip

#: More sideways than back and against the thrust, for so long (s): motors need a fifth of that to pull.
_TOO_LONG_S = 1.0

#: Slower than this the robot stands (m/s), and its sideslip angle is zero.
_STANDING = 1e-9


class TorqueBody(NamedTuple):
    mass: float  # kg
    yaw_inertia: float  # kg m^2
    wheel_radius: float  # m
    efficiency: float  # gamma
    efficiency_per_a: float  # alpha, 1/A, negative
    damping_ahead: float  # N s/m
    drag_ahead: float  # N s^2/m^2
    damping_aside: float  # N s/m
    damping_yaw: float  # N m s/rad


class TorqueStart(NamedTuple):
    x: float  # m
    y: float
    heading: float  # rad
    u: float  # m/s
    v: float
    yaw_rate: float  # rad/s


class TorqueRuns(NamedTuple):
    """A batch of runs, arrays at the leaves."""

    body: TorqueBody
    side: Any  # m to the left, where each wheel is: one table per run
    powertrain: Any  # powertrain.DcMotor, with the rotor's inertia alone
    ground: Any  # a plane
    start: TorqueStart
    driver: Any


class Motors(NamedTuple):
    """One number per wheel."""

    speed: Any  # rad/s
    current: Any  # A
    command: Any  # V


@part
def sideslip_sine(u, v):
    """Sine of the angle from where the robot points to where it moves, in [-1, 1]; zero at rest."""
    speed = hypot(u, v)
    return where(speed > _STANDING, v / max(speed, _STANDING), 0.0)


@part
def _thrust(run, wheel, motors, zero):
    """Turn the motors on by one step; the force ahead and the moment that they give."""
    body, thrust, moment = run.body, zero, zero
    for n in range(len(run.side)):
        spin = Spin(motors.speed[n], motors.current[n], zero, zero)
        free_speed, _ = free_wheel(wheel, motors.command[n], spin, zero)
        spin = after_step(wheel, motors.command[n], spin, free_speed, zero)
        motors.speed[n], motors.current[n] = spin.speed, spin.effort
        arriving = max(body.efficiency + body.efficiency_per_a * abs(spin.effort), 0.0)
        force = run.powertrain.torque_constant * spin.effort * arriving / body.wheel_radius
        thrust, moment = thrust + force, moment - run.side[n] * force
    return thrust, moment


@part
def step(run, wheel, motors, s, dt, zero):
    """One step: motors at its end, the thrust in the direction of its start, damping implicit. Also the thrust."""
    body = run.body
    thrust, moment = _thrust(run, wheel, motors, zero)
    c, n = cos_and_sin(s.heading + 0.5 * dt * s.yaw_rate)
    gx, gy, _ = gravity_in_body(run.ground, None, s.x, s.y, c, n)
    half = 0.5 * dt * s.yaw_rate  # the frame turns under the velocity: an exact rotation by -r dt
    per = 1.0 / (1.0 + half * half)
    ct, st = (1.0 - half * half) * per, 2.0 * half * per
    u0, v0 = ct * s.u + st * s.v, ct * s.v - st * s.u
    sine = sideslip_sine(s.u, s.v)
    cosine = sqrt(max(1.0 - sine * sine, 0.0))
    inertia, yaw_inertia = body.mass / dt, body.yaw_inertia / dt
    u = (inertia * u0 + thrust * cosine + body.mass * gx) / (inertia + body.damping_ahead + body.drag_ahead * abs(s.u))
    v = (inertia * v0 + thrust * sine + body.mass * gy) / (inertia + body.damping_aside)
    r = (yaw_inertia * s.yaw_rate + moment) / (yaw_inertia + body.damping_yaw)
    return Seen(s.time + dt, s.x + dt * (c * u - n * v), s.y + dt * (n * u + c * v), s.heading + dt * r, u, v, r), thrust


@part
def _is_beyond_sideways(s, thrust):
    """Whether the robot moves against its thrust, and more sideways than back."""
    return (s.u * thrust < 0.0) & (abs(s.v) > abs(s.u))


@part
def _is_finite(s):
    return isfinite(s.x + s.y + s.heading + s.u + s.v)


@part
def _record(s, notes, broke_down_at, i, out):
    put(out[:, 0], i, s.x)
    put(out[:, 1], i, s.y)
    put(out[:, 2], i, s.heading)
    put(out[:, 3], i, s.u)
    put(out[:, 4], i, s.v)
    put(out[:, 5], i, s.yaw_rate)
    put(out[:, 6], i, atan2(s.v, abs(s.u)))
    put(out[:, 7], i, broke_down_at)
    for k in range(len(NOTE_COLUMNS)):
        put(out[:, 8 + k], i, notes[k])


@part
def _drive(runs, i, hold, every, dt, out):
    """Run i of the batch, or a group of runs."""
    run = at(runs, i)
    zero = alike(0.0, run.body.mass)
    count, start = len(run.side), run.start
    motors = tables(Motors, count, zero)
    notes = zeros(note_count(run.driver), zero)
    wheel = prepared(run.powertrain, dt)
    s = Seen(
        zero, start.x + zero, start.y + zero, start.heading + zero, start.u + zero, start.v + zero, start.yaw_rate + zero
    )  # fmt: skip
    broke_down_at, beyond_for = alike(NEVER, zero), zero
    get_ready(run.driver, notes, s)
    _record(s, notes, broke_down_at, i, out[:, 0])
    for k in range(1, out.shape[1]):
        for j in range((k - 1) * every, k * every):
            if j % hold == 0:
                tell(run.driver, notes, s, j // hold, hold * dt, run.side, motors.command)
            before_u = s.u
            s, thrust = step(run, wheel, motors, s, dt, zero)
            is_beyond = _is_beyond_sideways(s, thrust)
            beyond_for = where(is_beyond, beyond_for + dt, 0.0)
            is_broken = (is_beyond & (before_u * thrust > 0.0)) | (beyond_for > _TOO_LONG_S) | (not _is_finite(s))
            broke_down_at = where(is_broken & (broke_down_at == NEVER), s.time, broke_down_at)
        _record(s, notes, broke_down_at, i, out[:, k])


@compiled(nogil=True)
def one_by_one(runs, lo, hi, hold, every, dt, out):
    """Runs lo to hi, each by itself; out has shape (n, records, columns). The driver is asked every `hold` steps."""
    for i in range(lo, hi):
        _drive(runs, i, hold, every, dt, out)


@compiled(nogil=True)
def in_lanes(runs, lo, hi, hold, every, dt, out):
    """The same, eight at a time."""
    for i in range(lo, hi, WIDTH):
        _drive(runs, Eight(i), hold, every, dt, out)
