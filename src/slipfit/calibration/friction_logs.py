"""Readings of friction tests from logs: when the robot slid, and what the wheels held then.

Tilt     The IMU rides on the robot (or on the table, if the log has a pose). Its specific force tells the angle from where it
         stood at the start, which must be level. Sliding is seen when the pose moves, or, without one, when the size of the
         specific force leaves that of gravity. The angles around are fitted by a ramp that ends in a plateau or in a drop: a
         robot that slides feels the angle of its sliding friction, however far the table goes on.
Pull     Wheels that turn faster than the body moves, or locked wheels under a body that moves, slide; the force counts where
         it stays near its largest level.
Stall    The same with the torque of the motors; without a pose the robot is taken to be held.
Braking  Wheels that stop while the body goes on. Its deceleration is the specific force against that at rest afterwards,
         which takes bias and tilt away; without an IMU, speed before and distance by pose.

Where nothing slid, the largest value that lasted is a bound.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.ndimage import uniform_filter1d

from slipfit.calibration.friction import SLIDING, STATIC, Friction, Reading, combined, of_drawbar, of_wheels
from slipfit.errors import LogError
from slipfit.library import Parameter, SkidSteerRobot
from slipfit.library.robot import DcMotor
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import DRAWBAR, ENCODERS, IMU, IMU_COLUMNS, MOTORS, POSE
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import wheel_motion
from slipfit.twin import LogOrigin

#: How long a robot stands still at the start of a tilt test, and how long a force must last (s).
CALM_S, LASTING_S = 0.5, 0.5

#: Moving averages: of the specific force, of wheel speeds, and of speeds by pose, which jump more (s).
SMOOTH_S, WHEEL_SMOOTH_S, POSE_SMOOTH_S = 0.1, 0.05, 0.25

#: A specific force that differs this much from gravity is that of a sliding robot; handling a table gives less.
LOST_GRAVITY = 0.02

#: A tilt test's ramp is fitted over this long before sliding (s).
RAMP_S = 3.0

#: Of two descriptions of a tilt the simpler counts unless the other takes this many variances from the sum of squares, which
#: chance seldom does; ends of ramps that are tried.
CLEARLY_BETTER, MOST_ENDS = 15.0, 200

#: Slip velocity that counts as sliding, and speed below which wheels stand (m/s): several counts of a usual encoder.
SLIPS_MPS, STANDS_MPS = 0.05, 0.03

#: Wheels lock within this time, from at least this speed (s, m/s).
LOCKING_S, FASTEST_CRAWL_MPS = 0.2, 0.15

#: Part of the largest level that still belongs to the plateau.
PLATEAU = 0.9


def tilt_log(log: DriveLog) -> list[Reading]:
    """The angle at which sliding began, as a coefficient."""
    time_s, force, start_ns = _columns(log, IMU, IMU_COLUMNS[:3])
    calm = time_s <= time_s[0] + CALM_S
    if calm.sum() < 5:
        raise LogError(f"{_name(log)}imu: {calm.sum()} samples in the first {CALM_S:g} s; expected 5 or more, standing level")
    level = force[calm].mean(axis=0)
    gravity = float(np.linalg.norm(level))
    if not 1.0 < gravity < 40.0:
        raise LogError(f"{_name(log)}imu: it feels {gravity:.3g} m/s² at the start; expected gravity, check units")
    level_std = float(np.sqrt(force[calm].var(axis=0, ddof=1).mean() / calm.sum())) / gravity  # of the direction that is level
    smooth = _smoothed(force, time_s, SMOOTH_S)
    angle = _angle(force, level)
    begins_s = _slides_from(log, time_s, np.linalg.norm(smooth, axis=1), gravity, start_ns)
    if begins_s is None:
        largest = float(_angle(_smoothed(force, time_s, LASTING_S), level).max())
        return [Reading(math.tan(min(largest, 1.4)), is_bound=True, note=f"stayed put up to {math.degrees(largest):.2f}°")]
    before = (time_s >= begins_s - RAMP_S) & (time_s <= begins_s + SMOOTH_S)
    if before.sum() < 10:
        raise LogError(f"{_name(log)}imu: it slides {begins_s:.2f} s after the start; expected a slow tilt from level")
    theta, std = _ramp_end(time_s[before], angle[before], begins_s)
    std = math.hypot(std, level_std)
    if theta <= 0.0 or theta > 1.4:
        raise LogError(f"{_name(log)}imu: it slides at {math.degrees(theta):.1f} degrees; expected a tilt between 0 and 80")
    return [Reading(math.tan(theta), std / math.cos(theta) ** 2, note=f"slid at {math.degrees(theta):.2f}° ({begins_s:.2f} s)")]


def pull_log(log: DriveLog, robot: SkidSteerRobot, mass: Parameter, gravity_mps2: float, slope_rad: float) -> list[Reading]:
    """The force on the drawbar while the wheels slide."""
    time_s, force, start_ns = _columns(log, DRAWBAR, ("force_n",))
    sliding = _sliding(log, robot, start_ns, time_s) if ENCODERS in log.channels else np.zeros(len(time_s), dtype=bool)

    def reading(force_n: float, std_n: float | None) -> Reading:
        return of_drawbar(force_n, mass, gravity_mps2, slope_rad, std_n)

    return _held_readings(log, time_s, np.abs(force[:, 0]), sliding, reading)


def stall_log(
    log: DriveLog, robot: SkidSteerRobot, constant: Parameter, mass: Parameter, gravity_mps2: float, slope_rad: float
) -> list[Reading]:
    """The torque of all motors while their wheels spin, over the wheel radius."""
    names = tuple(name for name in log[MOTORS].columns if name.endswith("current_a"))
    if not names:
        raise LogError(f"{_name(log)}motors: columns {', '.join(log[MOTORS].columns)}; expected currents (..._current_a)")
    time_s, currents, start_ns = _columns(log, MOTORS, names)
    radius = robot.wheels.radius_m.value
    drag = 0.0
    if isinstance(robot.powertrain, DcMotor):
        drag = robot.powertrain.viscous_friction_nm_s_per_rad.value * len(robot.wheels.at_m.value)
    rim = _rim_speed(log, robot, start_ns, time_s)
    torque = np.abs(constant.value * currents.sum(axis=1) - drag * rim / radius)
    sliding = _sliding(log, robot, start_ns, time_s)

    def reading(force_n: float, std_n: float | None) -> Reading:
        return of_wheels(force_n, mass, gravity_mps2, slope_rad, std_n)

    return _held_readings(log, time_s, torque / radius, sliding, reading)


def braking_log(log: DriveLog, robot: SkidSteerRobot, gravity_mps2: float, slope_rad: float) -> list[Reading]:
    """The deceleration with locked wheels, of every stop in the log."""
    motion = wheel_motion(log, robot)
    time_s, start_ns = motion.time_s, int(motion.stamps_ns[0])
    rim = _rim_speed(log, robot, start_ns, time_s)
    readings = []
    for first, last in _runs(np.abs(rim) < STANDS_MPS):
        locked_s = time_s[first]
        ahead = (time_s >= locked_s - LOCKING_S - 0.3) & (time_s <= locked_s - LOCKING_S)
        before = float(np.median(rim[ahead])) if ahead.any() else 0.0
        if abs(before) < FASTEST_CRAWL_MPS or time_s[last] - locked_s < LASTING_S:
            continue
        brakes_s = _brakes_from(time_s[: first + 1], np.abs(rim[: first + 1]), abs(before))
        reading = _stop(log, start_ns, (brakes_s, locked_s, float(time_s[last])), before, gravity_mps2, slope_rad)
        if reading:
            readings.append(reading)
    if not readings:
        raise LogError(
            f"{_name(log)}encoders: no stop from {FASTEST_CRAWL_MPS:g} m/s or more within {LOCKING_S:g} s, with {LASTING_S:g} s "
            f"of rest after it; brake harder, and let the robot stand"
        )
    return readings


def from_logs(method: str, readings: list[Reading], logs: list[DriveLog], *, shared: float = 0.0) -> Friction:
    """The coefficient from the readings of one or several logs."""
    origins = [LogOrigin(name=log.source or "log", sha256=log.digest) for log in logs]
    source = ", ".join(f"log {o.sha256[:12]}" if o.sha256 else o.name for o in origins)
    return combined(method, STATIC if method == "tilt" else SLIDING, readings, shared=shared, source=source, logs=origins)


# --- tilt ------------------------------------------------------------------------------------------------------------


def _angle(force: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Angle from the direction at the start."""
    across = np.linalg.norm(np.cross(force, level), axis=1)
    return np.asarray(np.arctan2(across, force @ level))


def _slides_from(log: DriveLog, time_s: np.ndarray, size: np.ndarray, gravity: float, start_ns: int) -> float | None:
    """Seconds at which sliding begins; by pose where there is one."""
    if POSE in log.channels:
        moved_s, place, _ = _columns(log, POSE, ("x_m", "y_m"), start_ns)
        calm = moved_s <= moved_s[0] + CALM_S
        away = np.linalg.norm(place - np.median(place[calm], axis=0), axis=1)
        far = away > max(0.005, 5.0 * float(np.sqrt(place[calm].var(axis=0).sum())))
        lasting = far & np.append(far[1:], far[-1:])
        return float(moved_s[np.argmax(lasting)]) if lasting.any() else None
    runs = _runs(np.abs(size / gravity - 1.0) > LOST_GRAVITY)
    return next((float(time_s[a]) for a, b in runs if time_s[b] - time_s[a] >= SMOOTH_S), None)


def _ramp_end(time_s: np.ndarray, angle: np.ndarray, begins_s: float) -> tuple[float, float]:
    """The angle at which sliding begins, and its error, from angles around the moment at which it was seen.

        ramp      theta + rate (t - begins_s)                            the IMU rides on the table
        plateau   theta + rate min(t - t_end, 0)                         sliding takes as much as breaking away
        drop      theta + rate (t - t_end) before, a constant after      sliding takes less

    The first that is not clearly worse than the best counts, with the t_end that fits best.
    """
    ramp = np.column_stack([np.ones_like(time_s), time_s - begins_s])
    ends = time_s[len(time_s) // 3 : -2]
    ends = ends[:: math.ceil(len(ends) / MOST_ENDS)]
    plateaus = [(np.column_stack([np.ones_like(time_s), np.minimum(time_s - end, 0.0)]), end) for end in ends]
    drops = []
    for end in ends:
        before = time_s <= end
        drops.append((np.column_stack([before, np.where(before, time_s - end, 0.0), ~before]).astype(float), end))
    plateau, drop = (min(designs, key=lambda entry: _least_squares(entry[0], angle)[1]) for designs in (plateaus, drops))
    squares = [_least_squares(design, angle)[1] for design in (ramp, plateau[0], drop[0])]
    variance = min(squares) / (len(angle) - 4)
    kind = next(k for k, sum_ in enumerate(squares) if sum_ - min(squares) <= CLEARLY_BETTER * variance)
    design = (ramp, plateau[0], drop[0])[kind]
    theta, rate, *_ = _least_squares(design, angle)[0]
    if kind == 1:  # the moment is unknown too, and goes along with the angle
        design = np.column_stack([design, -rate * (time_s < plateau[1])])
    unsure_s = (0.5 * SMOOTH_S, 0.0, float(np.diff(ends).max()))[kind]
    # A drop too small to be told from a plateau may be there all the same.
    hidden = abs(float(_least_squares(drop[0], angle)[0][0]) - theta) if kind == 1 else 0.0
    return float(theta), math.hypot(_error(design, variance), rate * unsure_s, hidden)


def _least_squares(design: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float]:
    solution, *_ = np.linalg.lstsq(design, values, rcond=None)
    return solution, float(((values - design @ solution) ** 2).sum())


def _error(design: np.ndarray, variance: float) -> float:
    """Standard error of the first coefficient."""
    return math.sqrt(max(0.0, float(variance * np.linalg.pinv(design.T @ design)[0, 0])))


# --- pull and stall --------------------------------------------------------------------------------------------------


def _held_readings(
    log: DriveLog,
    time_s: np.ndarray,
    force: np.ndarray,
    sliding: np.ndarray,
    reading_of: Callable[[float, float | None], Reading],
) -> list[Reading]:
    """One reading for every while in which the wheels slid, by what a force (N) and its error tell; else a bound."""
    if time_s[-1] - time_s[0] < LASTING_S:
        raise LogError(f"{_name(log)}it lasts {time_s[-1] - time_s[0]:.2g} s; expected {LASTING_S:g} s or more")
    readings = []
    for a, b in _runs(sliding):
        if time_s[b] - time_s[a] >= LASTING_S:
            mean, std = _plateau(time_s[a : b + 1], force[a : b + 1])
            reading = reading_of(mean, std)
            readings.append(Reading(reading.mu, reading.std, note=f"{mean:.4g} N, {time_s[a]:.1f} to {time_s[b]:.1f} s"))
    if readings:
        return readings
    reach = max(1, round(LASTING_S / _interval(time_s)))
    whole = uniform_filter1d(force, reach, mode="nearest")[reach // 2 : max(reach // 2 + 1, len(force) - reach // 2)]
    largest = float(whole.max())
    return [Reading(reading_of(largest, None).mu, is_bound=True, note=f"held {largest:.4g} N, no wheel was seen to slide")]


def _plateau(time_s: np.ndarray, force: np.ndarray) -> tuple[float, float]:
    """Mean of the force near its largest level, and its error by the scatter of blocks, which autocorrelation does not fool."""
    smooth = _smoothed(force, time_s, POSE_SMOOTH_S)
    chosen = force[smooth >= PLATEAU * smooth.max()]
    blocks = np.array_split(chosen, max(2, min(len(chosen) // 5, round(len(chosen) * _interval(time_s) / 0.1))))
    means = np.array([block.mean() for block in blocks if len(block)])
    return float(chosen.mean()), float(means.std(ddof=1) / math.sqrt(len(means)))


def _sliding(log: DriveLog, robot: SkidSteerRobot, start_ns: int, time_s: np.ndarray) -> np.ndarray:
    """When the rims and the body moved at different speeds; without a pose the body is taken to be held."""
    rim = np.abs(_rim_speed(log, robot, start_ns, time_s))
    return np.asarray(np.abs(rim - _body_speed(log, start_ns, time_s)) > SLIPS_MPS)


def _body_speed(log: DriveLog, start_ns: int, time_s: np.ndarray) -> np.ndarray:
    if POSE not in log.channels:
        return np.zeros(len(time_s))
    when_s, place, _ = _columns(log, POSE, ("x_m", "y_m"), start_ns)
    velocity = np.gradient(_smoothed(place, when_s, POSE_SMOOTH_S), when_s, axis=0)
    return np.asarray(np.interp(time_s, when_s, np.linalg.norm(velocity, axis=1)))


def _rim_speed(log: DriveLog, robot: SkidSteerRobot, start_ns: int, time_s: np.ndarray) -> np.ndarray:
    motion = wheel_motion(log, robot)
    when_s = (motion.stamps_ns - start_ns) / NANOSECONDS
    speed = np.gradient(0.5 * (motion.left_m + motion.right_m), when_s)
    return np.asarray(np.interp(time_s, when_s, _smoothed(speed, when_s, WHEEL_SMOOTH_S)))


# --- braking ---------------------------------------------------------------------------------------------------------


def _stop(
    log: DriveLog, start_ns: int, times_s: tuple[float, float, float], before_mps: float, g: float, slope: float
) -> Reading | None:
    """One stop, from the IMU or by pose; times: wheels begin to slow, wheels stand, wheels turn again."""
    brakes_s, locked_s, end_s = times_s
    when = f"from {abs(before_mps):.3g} m/s at {locked_s:.2f} s"
    if IMU in log.channels:
        return _stop_by_imu(log, start_ns, locked_s, end_s, before_mps, g, slope, when)
    if POSE not in log.channels:
        raise LogError(f"{_name(log)}there is neither imu nor pose; expected one of them to tell how the body came to rest")
    time_s, place, _ = _columns(log, POSE, ("x_m", "y_m"), start_ns)
    rest = (time_s > 0.5 * (locked_s + end_s)) & (time_s <= end_s)
    if rest.sum() < 3:
        return None
    here = np.array([np.interp(brakes_s, time_s, column) for column in place.T])
    distance = float(np.linalg.norm(place[rest].mean(axis=0) - here))
    noise = float(np.sqrt(place[rest].var(axis=0, ddof=1).sum() / 2.0))
    if distance < max(0.01, 5.0 * noise):
        return Reading(0.0, is_bound=True, note=f"{when}: the body stopped with the wheels")
    along = before_mps**2 / (2.0 * g * distance * math.cos(slope))
    late = 0.2 * WHEEL_SMOOTH_S * abs(before_mps)  # the moment of braking is known to a fraction of the moving average
    return Reading(along - math.tan(slope), along * math.hypot(noise, late) / distance, note=f"{when}, {distance:.3f} m")


def _brakes_from(time_s: np.ndarray, rim: np.ndarray, before_mps: float) -> float:
    """When the wheels begin to slow: the edge from 70 to 30 % of the speed, prolonged, less what the moving average adds."""

    def passes(share: float) -> float:
        k = int(np.flatnonzero(rim >= share * before_mps)[-1])
        after = min(k + 1, len(rim) - 1)
        return float(np.interp(share * before_mps, [rim[after], rim[k]], [time_s[after], time_s[k]]))

    edge_s = max(0.0, (passes(0.3) - passes(0.7)) / 0.4 - WHEEL_SMOOTH_S - 2.0 * _interval(time_s))
    return passes(0.5) - 0.5 * edge_s


def _stop_by_imu(
    log: DriveLog, start_ns: int, locked_s: float, end_s: float, before_mps: float, g: float, slope: float, when: str
) -> Reading | None:
    time_s, force, _ = _columns(log, IMU, IMU_COLUMNS[:1], start_ns)
    rest = (time_s > 0.5 * (locked_s + end_s)) & (time_s <= end_s)
    span = (time_s >= locked_s + 0.5 * WHEEL_SMOOTH_S) & (time_s <= 0.5 * (locked_s + end_s))
    if rest.sum() < 10 or span.sum() < 10:
        return None
    noise = float(force[rest, 0].std(ddof=1))
    slows = -math.copysign(1.0, before_mps) * (force[span, 0] - force[rest, 0].mean())
    # Where the deceleration ends: the split into a constant part and nothing that leaves the smallest squares.
    count = np.arange(1, len(slows) + 1)
    last = int(np.argmax(np.cumsum(slows) ** 2 / count))
    level = float(slows[: max(1, last)].mean())  # the sample of the split itself may be half
    lasted_s = float(time_s[span][last] - locked_s)
    if last < 3 or level < 3.0 * noise / math.sqrt(last) or level * lasted_s < 0.3 * abs(before_mps):
        around = (time_s >= locked_s - LOCKING_S) & (time_s <= locked_s)
        held_mps2 = float((-math.copysign(1.0, before_mps) * (force[around, 0] - force[rest, 0].mean())).mean())
        mu = max(0.0, held_mps2 / (g * math.cos(slope)) - math.tan(slope))
        return Reading(mu, noise / g, is_bound=True, note=f"{when}: the body stopped with the wheels")
    std = noise * math.hypot(1.0 / math.sqrt(last), 1.0 / math.sqrt(rest.sum())) / (g * math.cos(slope))
    return Reading(level / (g * math.cos(slope)) - math.tan(slope), max(std, 1e-12), note=f"{when}, {level:.3g} m/s²")


# --- columns, averages, runs -----------------------------------------------------------------------------------------


def _name(log: DriveLog) -> str:
    return f"{log.source}: " if log.source else ""


def _columns(
    log: DriveLog, name: str, columns: tuple[str, ...], start_ns: int | None = None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Seconds since `start_ns` (its own first stamp by default) and columns of a channel; stamps rise, values are finite."""
    channel: Channel = log[name]
    values = np.column_stack([channel.column(column) for column in columns])
    keep = np.isfinite(values).all(axis=1)
    keep &= np.concatenate([[True], np.diff(np.maximum.accumulate(channel.stamps_ns)) > 0])
    if keep.sum() < 3:
        raise LogError(f"{_name(log)}{name}: {keep.sum()} usable samples; expected more, with finite values and rising stamps")
    stamps = channel.stamps_ns[keep]
    first = int(stamps[0]) if start_ns is None else start_ns
    return (stamps - first) / NANOSECONDS, values[keep], first


def _interval(time_s: np.ndarray) -> float:
    return float(np.median(np.diff(time_s)))


def _smoothed(values: np.ndarray, time_s: np.ndarray, window_s: float) -> np.ndarray:
    reach = max(1, round(window_s / _interval(time_s)))
    return np.asarray(uniform_filter1d(values, reach, axis=0, mode="nearest"))


def _runs(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """First and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        yield int(a), int(b) - 1
