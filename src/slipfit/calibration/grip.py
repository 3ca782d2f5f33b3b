"""Grip in a replay: how much of their load the wheels carried, and how long they slid."""

import numpy as np

from slipfit.calibration.one_drive import Problem, Solution
from slipfit.vehicles import skid_steer

#: A wheel slides when its slip would need this many times the limit.
DEEP = 1.5

#: Share of its load that a wheel is trusted to carry without sliding: an assumption, for hard and dry floors; and the time within
#: which the body's motion settles after it may have slid (s).
TRUSTED_GRIP, SETTLING_S = 0.5, 0.3

#: Share of the limit from which a wheel is at it.
AT_LIMIT = 0.99

#: Time over which the grip that was used is averaged (s).
GRIP_S = 0.15

#: Rim speed from which a wheel counts as rolling (m/s).
ROLLING_MPS = 0.1


def grips(problem: Problem, solution: Solution) -> tuple[np.ndarray, ...]:
    """Grip F/N along and across, and motion of the body in a replay with the solution's values."""
    along, across, _, body = _replayed(problem, solution)
    return along, across, body


def _replayed(problem: Problem, solution: Solution) -> tuple[np.ndarray, ...]:
    """Grip along, grip across, loads (N) of every wheel, and motion of the body."""
    at = {u.name: v for u, v in zip(solution.unknowns, solution.values, strict=True) if u.acts_on == "motion"}
    if "start_v_mps" in at:
        at["start_v_mps"] += problem.replay.values["start_v_mps"]
    records = problem.replay.whole({name: np.array([value]) for name, value in at.items()})
    wheels = problem.replay.wheel_speeds.shape[1]
    columns = np.split(records[:, len(skid_steer.BODY_COLUMNS) :], len(skid_steer.WHEEL_COLUMNS), axis=1)
    by_name = dict(zip(skid_steer.WHEEL_COLUMNS, columns, strict=True))
    load = np.maximum(by_name["load_n"], 1e-3 * robot_weight(problem) / wheels)
    return by_name["force_x_n"] / load, by_name["force_y_n"] / load, load, records[:, : len(skid_steer.BODY_COLUMNS)]


def robot_weight(problem: Problem) -> float:
    """m g (N)."""
    return float(problem.robot.mass_kg.value * problem.gravity_mps2)


def used_grip(problem: Problem, along: np.ndarray, across: np.ndarray) -> float:
    """Largest |F|/N along or across, averaged over a while, of the middle one of the wheels, while all of them roll.

    The middle wheel, because counts of single encoders shake a replay's wheels. A standing wheel is rigid: noise alone would
    load it. A replay that slides where its law does not shows more than any wheel can carry.
    """
    steps = max(1, round(GRIP_S / problem.replay.step_s))
    if len(along) <= steps + 1:
        return 0.0
    rims = np.abs(problem.replay.wheel_speeds) * problem.robot.wheels.radius_m.value
    slowest = np.minimum.reduce([rims[: len(rims) - steps], rims[steps:], rims[steps // 2 : len(rims) - steps + steps // 2]])
    sums = [np.cumsum(force[1:], axis=0) for force in (along, across)]
    grips = [np.median(np.abs(total[steps:] - total[:-steps]) / steps, axis=1) for total in sums]
    return float(np.where(slowest.min(axis=1) > ROLLING_MPS, np.maximum(*grips), 0.0).max())


def proven_grip(problem: Problem, solution: Solution, body: np.ndarray) -> float:
    """A lower bound of mu: the largest acceleration over gravity, along or across, that lasted for a while.

    All wheels together carry the robot's weight, so mu is at least |a_x| / g and at least |a_y| / g, whatever the law and
    whichever way the wheels push against each other. The smaller one of the replay's and the accelerometer's, less two
    deviations of the latter's mean.
    """
    imu, columns = problem.observations.imu, dict(zip(skid_steer.BODY_COLUMNS, body.T, strict=True))
    steps = max(1, round(GRIP_S / problem.replay.step_s))
    replayed = [_mean_over(columns[name], steps) for name in ("fx_mps2", "fy_mps2")]
    if imu is None:
        return float(max(np.abs(force).max() for force in replayed)) / problem.gravity_mps2
    at = dict(zip(solution.names, solution.values, strict=True))
    count = max(1, round(GRIP_S / float(np.median(np.diff(imu.time_s)))))
    middle = _mean_over(imu.time_s, count) - at["imu_clock_s"]
    when = np.arange(len(replayed[0])) * problem.replay.step_s + 0.5 * GRIP_S
    proven = 0.0
    for axis, (bias, force) in enumerate(zip(("accel_bias_x_mps2", "accel_bias_y_mps2"), replayed, strict=True)):
        felt = (_mean_over(imu.readings[:, axis], count) - at[bias]) / at["accel_scale"]
        noise = 2.0 * solution.noise[axis] / np.sqrt(count)
        proven = max(proven, float(np.minimum(np.abs(felt) - noise, np.abs(np.interp(middle, when, force))).max()))
    return proven / problem.gravity_mps2


def sliding_s(problem: Problem, solution: Solution) -> float:
    """How long wheels clearly slide in the replay, summed over wheels and divided by their number.

    A wheel slides where its slip, averaged over a while, would need DEEP times the limit if the law had none. A limit that
    only clips what encoder counts make of a replay never gets there.
    """
    mu = dict(zip(solution.names, solution.values, strict=True))["mu"]
    load = robot_weight(problem) / problem.replay.wheel_speeds.shape[1]
    needed = needed_forces(problem, solution) / load
    return float((needed > DEEP * mu).sum() * problem.replay.step_s / needed.shape[1])


def needed_forces(problem: Problem, solution: Solution) -> np.ndarray:
    """Force (N), the larger one of along and across, that each wheel's slip over GRIP_S would need if the law had no limit."""
    at = dict(zip(solution.names, solution.values, strict=True))
    _, _, body_columns = grips(problem, solution)
    steps = max(1, round(GRIP_S / problem.replay.step_s))
    columns = {name: body_columns[1:, k] for k, name in enumerate(skid_steer.BODY_COLUMNS)}
    found = []
    for n, (x, y) in enumerate(problem.robot.wheels.at_m.value):
        rim = problem.replay.wheel_speeds[:, n] * problem.robot.wheels.radius_m.value
        along = rim - columns["vx_mps"] + columns["yaw_rate_radps"] * y
        across = columns["vy_mps"] + columns["yaw_rate_radps"] * x
        slip_x, slip_y, speed = (np.abs(_mean_over(column, steps)) for column in (along, across, rim))
        rolls = np.maximum(speed, ROLLING_MPS)
        found.append(np.maximum(slip_x / (at["c_long_per_n"] * rolls), slip_y / (at["c_lat_per_n"] * rolls)))
    return np.column_stack(found)


def doubtful_moments_s(problem: Problem, solution: Solution) -> np.ndarray:
    """Steps of the replay from which on, for GRIP_S, a wheel would carry more than TRUSTED_GRIP of its own load.

    Loads are the replay's, with the center of mass where the solution has it.
    """
    forces = needed_forces(problem, solution)
    _, _, loads, _ = _replayed(problem, solution)
    steps = max(1, round(GRIP_S / problem.replay.step_s))
    carried = np.column_stack([_mean_over(load, steps) for load in loads[1:].T])
    return problem.replay.step_s * np.flatnonzero((forces > TRUSTED_GRIP * carried).any(axis=1))


def is_near(begins_s: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """Which of these times lie within doubtful moments, or within SETTLING_S of them."""
    if not len(begins_s):
        return np.zeros(len(time_s), dtype=bool)
    after = np.searchsorted(begins_s, time_s - GRIP_S - SETTLING_S)
    nearest_s = begins_s[np.minimum(after, len(begins_s) - 1)]
    return np.asarray((nearest_s >= time_s - GRIP_S - SETTLING_S) & (nearest_s <= time_s + SETTLING_S))


def at_limit_s(problem: Problem, solution: Solution) -> float:
    """How long wheels are at the friction limit in the replay, along or across, summed over wheels and divided by their number.

    Standing wheels count too: one that passes through zero speed in a curve holds like a brake until it slides.
    """
    mu = dict(zip(solution.names, solution.values, strict=True))["mu"]
    along, across, _ = grips(problem, solution)
    at_limit = np.maximum(np.abs(along), np.abs(across)) > AT_LIMIT * float(mu)
    return float(at_limit.mean(axis=1).sum()) * problem.replay.step_s


def _mean_over(column: np.ndarray, steps: int) -> np.ndarray:
    return np.asarray(np.convolve(column, np.ones(steps) / steps, mode="valid"))
