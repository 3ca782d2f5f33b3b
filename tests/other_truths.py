"""Drives whose truth our fits do not contain: an independent simulator of a four-wheel skid-steer robot with wheel_slip.

Its equations are its own and share nothing with slipfit.vehicles or slipfit.contact. World velocities of the centre of mass are
stepped by backward Euler; contacts have the brush with a relaxation length sigma (Pacejka's first-order lag), written so that
it is regular at rest,

    sigma c dF/dt + c |w| F = s,    that is dF/dt = (F_ss - F) |w| / sigma with F_ss = s / (c |w|),

each axis cut at mu N by an active set. Such a tyre is a spring of 1 / (sigma c) when it stands, which alone would ring for
seconds; rubber damps it: a damper of a tenth of the critical one (a quarter of the robot on its spring) lies beside it. What a
fit may not know: relaxation along and across, a centre of mass that is not where the robot's file says, slip constants that
change on part of the floor or from a moment on.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from slipfit.library import Robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import IMU_COLUMNS, POSE_COLUMNS, wheel_columns

GRAVITY_MPS2 = 9.81
COMMAND_S = 1e-3  # a row of commands holds so long
RECORD_S = 1e-2  # sensors read at 100 Hz, or whole parts of it
NEVER = 1e9
STANDING_DAMPING = 0.1  # of critical, of a tyre that relaxes


class RobotNumbers(NamedTuple):
    """What the robot's file says; wheels at (±l, ±b), front-left, front-right, rear-left, rear-right."""

    mass_kg: float
    yaw_inertia_kgm2: float
    com_x_m: float
    com_y_m: float
    com_height_m: float
    half_wheelbase_m: float
    half_track_m: float
    radius_m: float
    spin_inertia_kgm2: float
    torque_limit_nm: float

    @classmethod
    def of(cls, robot: Robot) -> "RobotNumbers":
        at = robot.wheels.at_m.value
        assert len(at) == 4
        x, y, height = robot.centre_of_mass_m.value
        return cls(
            robot.mass_kg.value, robot.yaw_inertia_kgm2.value, x, y, height, robot.wheelbase_m / 2, robot.track_m / 2,
            robot.wheels.radius_m.value, robot.wheels.spin_inertia_kgm2.value, robot.powertrain.torque_limit_nm.value,
        )  # fmt: skip


class Truth(NamedTuple):
    """The contact, and what the fit does not know."""

    c_long_per_n: float = 0.005
    c_lat_per_n: float = 0.05
    mu: float = 10.0
    relaxation_long_m: float = 0.0
    relaxation_lat_m: float = 0.0
    com_shift_x_m: float = 0.0  # beside what the robot's file says
    com_shift_y_m: float = 0.0
    floor_change: float = 0.0  # .1: both slip constants are 10 % larger on the other part of the floor ...
    other_floor_from_x_m: float = NEVER  # ... which begins here, wheel by wheel,
    other_floor_from_s: float = NEVER  # ... or from this moment on


class TruthSensors(NamedTuple):
    """IMU at the wheels' centre and encoders at 100 Hz, and a pose if `pose_hz` is not zero."""

    accel_noise_mps2: float = 0.0
    accel_bias_x_mps2: float = 0.0
    accel_bias_y_mps2: float = 0.0
    gyro_noise_radps: float = 0.0
    gyro_bias_radps: float = 0.0
    counts_per_turn: int = 4096
    pose_hz: float = 0.0
    position_noise_m: float = 0.0
    yaw_noise_rad: float = 0.0


class Motion(NamedTuple):
    """What really happened, every `RECORD_S`; pose and felt acceleration of the wheels' centre."""

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    yaw_rad: np.ndarray
    accel_x_mps2: np.ndarray
    accel_y_mps2: np.ndarray
    yaw_rate_radps: np.ndarray
    angle_rad: np.ndarray  # (T, 4)
    lowest_load_n: np.ndarray  # of any wheel since the record before; zero or less: a wheel lifted
    grip_used: np.ndarray  # largest |F| / N of any wheel at the record


def wheel_commands(robot: RobotNumbers, pieces: list[tuple[float, float, float, float]]) -> np.ndarray:
    """Rows of wheel speeds (rad/s) from (for_s, v_mps, yaw_rate_radps, ramp_s): a linear ramp, then held."""
    sides = np.array([robot.half_track_m, -robot.half_track_m] * 2)
    before, tables = np.zeros(4), []
    for for_s, v, rate, ramp_s in pieces:
        after = (v - rate * sides) / robot.radius_m
        share = np.clip(np.arange(1, round(for_s / COMMAND_S) + 1) * COMMAND_S / max(ramp_s, COMMAND_S), 0.0, 1.0)
        tables.append(before + share[:, None] * (after - before))
        before = after
    return np.concatenate(tables)


@njit(cache=False)
def _springy(give_m_per_n, mass, dt):
    """Slip velocity for each newton that the tyre's spring and damper have not caught up with, and how far they do in a step."""
    if give_m_per_n <= 0.0:
        return 0.0, 1.0
    stiffness = 1.0 / give_m_per_n
    damping = 2.0 * STANDING_DAMPING * np.sqrt(stiffness * mass / 4.0)
    return 1.0 / (stiffness * dt + damping), stiffness * dt / (stiffness * dt + damping)


@njit(cache=False)
def _drive(p, q, commands, substeps, records, start_mps, out):
    m, inertia, com_height, l, b, radius, spin_inertia, torque_limit, com_x, com_y = p
    c_long, c_lat, mu, sigma_x, sigma_y, change, from_x, from_s = q
    dt = COMMAND_S / substeps
    g = GRAVITY_MPS2
    rest = 1e-9  # m/s/N, compliance of a wheel at rest
    px = np.array([l - com_x, l - com_x, -l - com_x, -l - com_x])
    py = np.array([b - com_y, -b - com_y, b - com_y, -b - com_y])
    kx, ky, ox, oy = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)  # F = k (free slip - ground velocity) + o
    fx, fy, cut_x, cut_y = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    free, give, angle, load, target = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    spring_x, spring_y, follow_x, follow_y = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    mean_x, mean_y, mean_turn = 0.0, 0.0, 0.0  # accelerations over the last row
    speed = np.full(4, start_mps / radius)
    x, y, yaw, wx, wy, r = com_x, com_y, 0.0, start_mps, 0.0, 0.0
    ax, ay, yaw_accel, lowest, now = 0.0, 0.0, 0.0, 1e30, 0.0
    for k in range(records + 1):
        if k > 0:
            for row in range((k - 1) * 10, k * 10):
                mean_x, mean_y, mean_turn = 0.0, 0.0, 0.0
                for part in range(substeps):
                    # Wheels go from row to row in straight lines: held rows would jerk a thousand times a second.
                    for n in range(4):
                        before = commands[row - 1, n] if row > 0 else commands[0, n]
                        target[n] = before + (commands[row, n] - before) * (part + 1) / substeps
                    new_yaw = yaw + dt * r
                    cs, sn = np.cos(new_yaw), np.sin(new_yaw)
                    u0, v0 = cs * wx + sn * wy, cs * wy - sn * wx
                    centre_x, centre_y = com_x - com_height * ax / g, com_y - com_height * ay / g
                    for n in range(4):
                        xn, yn = px[n] + com_x, py[n] + com_y
                        load[n] = 0.25 * m * g * (1.0 + xn * centre_x / (l * l) + yn * centre_y / (b * b))
                        lowest = min(lowest, load[n])
                        load[n] = max(load[n], 0.0)
                        scale = 1.0 + (change if x + cs * px[n] - sn * py[n] >= from_x or now >= from_s else 0.0)
                        rim = abs(radius * speed[n])
                        give_x, give_y = sigma_x * scale * c_long, sigma_y * scale * c_lat  # m/N, of the standing tyre
                        lag_x, follow_x[n] = _springy(give_x, m, dt)
                        lag_y, follow_y[n] = _springy(give_y, m, dt)
                        sx = 1.0 / (max(scale * c_long * rim, rest) + lag_x)
                        sy = 1.0 / (max(scale * c_lat * rim, rest) + lag_y)
                        kx[n], ky[n], ox[n], oy[n] = sx, sy, sx * lag_x * spring_x[n], sy * lag_y * spring_y[n]
                        cut_x[n], cut_y[n] = 0.0, 0.0
                    u, v, r_new = u0, v0, r
                    for attempt in range(6):
                        auu, avv, arr, aur, avr = m / dt, m / dt, inertia / dt, 0.0, 0.0
                        bu, bv, br = m / dt * u0, m / dt * v0, inertia / dt * r
                        for n in range(4):
                            # The speed loop gives the torque that it takes, or all that it has.
                            needed = spin_inertia * (target[n] - speed[n]) / dt + radius * fx[n]
                            if abs(needed) <= torque_limit:
                                free[n], give[n] = target[n], 0.0
                            else:
                                give[n] = dt / spin_inertia
                                free[n] = speed[n] + give[n] * (torque_limit if needed > 0.0 else -torque_limit)
                            soft = 1.0 + kx[n] * radius * radius * give[n]
                            kk, oo = kx[n] / soft, (ox[n] + kx[n] * radius * free[n]) / soft
                            if cut_x[n] != 0.0:
                                kk, oo = 0.0, cut_x[n]
                            kl, ol = ky[n], oy[n]
                            if cut_y[n] != 0.0:
                                kl, ol = 0.0, cut_y[n]
                            auu += kk
                            avv += kl
                            arr += kk * py[n] * py[n] + kl * px[n] * px[n]
                            aur -= kk * py[n]
                            avr += kl * px[n]
                            bu += oo
                            bv += ol
                            br += px[n] * ol - py[n] * oo
                        r_new = (br - aur * bu / auu - avr * bv / avv) / (arr - aur * aur / auu - avr * avr / avv)
                        u, v = (bu - aur * r_new) / auu, (bv - avr * r_new) / avv
                        again = False
                        for n in range(4):
                            held = give[n] == 0.0
                            if cut_x[n] == 0.0:
                                soft = 1.0 + kx[n] * radius * radius * give[n]
                                f = (ox[n] + kx[n] * (radius * free[n] - u + r_new * py[n])) / soft
                                if abs(f) > mu * load[n] + 1e-9:
                                    cut_x[n] = (mu * load[n] + 1e-12) * (1.0 if f > 0.0 else -1.0)
                                    again = True
                                    f = cut_x[n]
                                fx[n] = f
                            else:
                                fx[n] = cut_x[n]
                            if cut_y[n] == 0.0:
                                f = oy[n] - ky[n] * (v + r_new * px[n])
                                if abs(f) > mu * load[n] + 1e-9:
                                    cut_y[n] = (mu * load[n] + 1e-12) * (1.0 if f > 0.0 else -1.0)
                                    again = True
                                    f = cut_y[n]
                                fy[n] = f
                            else:
                                fy[n] = cut_y[n]
                            needed = spin_inertia * (target[n] - speed[n]) / dt + radius * fx[n]
                            if held != (abs(needed) <= torque_limit) and attempt < 3:
                                again = True
                        if not again:
                            break
                    for n in range(4):
                        speed[n] = free[n] - give[n] * radius * fx[n]
                        spring_x[n] += follow_x[n] * (fx[n] - spring_x[n])
                        spring_y[n] += follow_y[n] * (fy[n] - spring_y[n])
                        angle[n] += dt * speed[n]
                    ax, ay, yaw_accel = (u - u0) / dt, (v - v0) / dt, (r_new - r) / dt
                    mean_x, mean_y, mean_turn = mean_x + ax / substeps, mean_y + ay / substeps, mean_turn + yaw_accel / substeps
                    new_x, new_y = cs * u - sn * v, sn * u + cs * v
                    x, y, yaw = x + 0.5 * dt * (wx + new_x), y + 0.5 * dt * (wy + new_y), yaw + 0.5 * dt * (r + r_new)
                    wx, wy, r = new_x, new_y, r_new
                    now += dt
        cs, sn = np.cos(yaw), np.sin(yaw)
        out[k, 0], out[k, 1], out[k, 2] = x - cs * com_x + sn * com_y, y - sn * com_x - cs * com_y, yaw
        # The wheels' centre sits at (-com_x, -com_y) from the centre of mass.
        out[k, 3], out[k, 4] = mean_x + mean_turn * com_y + r * r * com_x, mean_y - mean_turn * com_x + r * r * com_y
        out[k, 5] = r
        grip = 0.0
        for n in range(4):
            out[k, 6 + n] = angle[n]
            if load[n] > 0.0:
                grip = max(grip, np.sqrt(fx[n] ** 2 + fy[n] ** 2) / load[n])
        out[k, 10], out[k, 11] = lowest, grip
        lowest = 1e30


def other_motion(robot: RobotNumbers, commands: np.ndarray, truth: Truth, *, start_mps: float = 0.0, substeps: int = 4) -> Motion:
    """The drive itself. `commands` are wheel speeds (rad/s) in rows of 1 ms, as `wheel_commands` or `command_table` give them."""
    records = len(commands) // 10
    com_x, com_y = robot.com_x_m + truth.com_shift_x_m, robot.com_y_m + truth.com_shift_y_m
    numbers = (
        robot.mass_kg, robot.yaw_inertia_kgm2, robot.com_height_m, robot.half_wheelbase_m, robot.half_track_m,
        robot.radius_m, robot.spin_inertia_kgm2, robot.torque_limit_nm, com_x, com_y,
    )  # fmt: skip
    contact = (
        truth.c_long_per_n, truth.c_lat_per_n, truth.mu, truth.relaxation_long_m, truth.relaxation_lat_m,
        truth.floor_change, truth.other_floor_from_x_m, truth.other_floor_from_s,
    )  # fmt: skip
    out = np.empty((records + 1, 12))
    _drive(
        tuple(map(float, numbers)), tuple(map(float, contact)), np.ascontiguousarray(commands, dtype=float), substeps,
        records, float(start_mps), out,
    )  # fmt: skip
    return Motion(np.arange(records + 1) * RECORD_S, *out[:, :6].T, out[:, 6:10], out[:, 10], out[:, 11])


def other_drive(
    robot: RobotNumbers, commands: np.ndarray, truth: Truth, sensors: TruthSensors, seed: int, *, start_mps: float = 0.0
) -> DriveLog:
    """What the sensors of such a drive say, in the channels of `slipfit.simulation`."""
    return read(other_motion(robot, commands, truth, start_mps=start_mps), sensors, seed)


def read(motion: Motion, sensors: TruthSensors, seed: int) -> DriveLog:
    """Readings of one drive; many seeds may read the same one."""
    draw = np.random.default_rng(seed)
    stamps = np.round(motion.time_s * 1e9).astype(np.int64)
    count = len(stamps)
    accel = np.column_stack([motion.accel_x_mps2, motion.accel_y_mps2, np.full(count, GRAVITY_MPS2)])
    accel += [sensors.accel_bias_x_mps2, sensors.accel_bias_y_mps2, 0.0]
    accel += sensors.accel_noise_mps2 * draw.standard_normal((count, 3))
    gyro = np.column_stack([np.zeros(count), np.zeros(count), motion.yaw_rate_radps]) + sensors.gyro_bias_radps
    gyro += sensors.gyro_noise_radps * draw.standard_normal((count, 3))
    step = 2.0 * np.pi / sensors.counts_per_turn
    phase = draw.random(4)  # wheels start anywhere between two counts
    counted = np.floor(motion.angle_rad / step + phase) * step
    channels = [
        Channel("imu", stamps, np.hstack([accel, gyro]), IMU_COLUMNS),
        Channel("encoders", stamps, counted, wheel_columns("angle", 4)),
    ]
    if sensors.pose_hz:
        every = round(1.0 / (RECORD_S * sensors.pose_hz))
        pose = np.column_stack([motion.x_m, motion.y_m, motion.yaw_rad])[::every]
        spread = np.array([sensors.position_noise_m, sensors.position_noise_m, sensors.yaw_noise_rad])
        channels.append(Channel("pose", stamps[::every], pose + spread * draw.standard_normal(pose.shape), POSE_COLUMNS))
    return DriveLog({c.name: c for c in channels}, about="a drive whose truth is not slipfit's")
