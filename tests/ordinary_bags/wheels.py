"""Encoders, and dead reckoning from their counts as base controllers do it."""

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from ordinary_bags.cases import Case, WheelOdometry
from ordinary_bags.drives import COMMAND_S, Motion, ticks

#: ros2_control's diff_drive_controller averages velocities over this many cycles.
ROLLING_WINDOW = 10

#: Units of ARCOS, the firmware of Pioneer robots: millimeters and 4096ths of a turn (ARIA's angle conversion).
ARCOS_M, ARCOS_RAD = 0.001, 2.0 * np.pi / 4096


#: A controller's stamps come up to this much after its cycle's start (s).
STAMP_JITTER_S = 0.0003


@dataclass(frozen=True, eq=False)
class Reckoned:
    """Poses x, y, yaw (continuous) and body velocities v, yaw rate, when they were true and with the stamps they got."""

    time_s: np.ndarray
    stamp_s: np.ndarray
    pose: np.ndarray
    speed: np.ndarray


def wheel_counts(case: Case, motion: Motion, when_s: np.ndarray) -> np.ndarray:
    """Whole counts of every wheel's encoder; the counters have run since the robot was switched on."""
    draw = np.random.default_rng([case.seed, 2])
    per_count = 2.0 * np.pi / case.controller.counts_per_turn
    before = draw.uniform(-2000.0, 2000.0, motion.wheel_angle_rad.shape[1])
    return np.floor(motion.wheels_at(when_s) / per_count + before)


def side_angles(case: Case, motion: Motion, when_s: np.ndarray) -> np.ndarray:
    """Mean angle of the left and of the right wheels, from counts; one encoder per side where the joints are two."""
    angles = wheel_counts(case, motion, when_s) * (2.0 * np.pi / case.controller.counts_per_turn)
    wheels = 1 if case.joints and len(case.joints.names) == 2 else 2
    return np.column_stack([angles[:, 0::2][:, :wheels].mean(axis=1), angles[:, 1::2][:, :wheels].mean(axis=1)])


def reckon(case: Case, motion: Motion, odometry: WheelOdometry) -> Reckoned:
    """Wheel odometry at its publishing rate."""
    loop_hz = case.controller.rate_hz
    when_s = ticks(case, "controller", loop_hz)
    if odometry.is_open_loop:
        step, turn = _commanded(motion, when_s)
    else:
        step, turn = _rolled(case, motion, when_s)
    if odometry.smoothing_s > 0.0:
        share = 1.0 / (1.0 + odometry.smoothing_s * loop_hz)
        step, turn = (lfilter([share], [1.0, share - 1.0], values) for values in (step, turn))
    start = _start(case, odometry)
    pose = _integrated(step, turn, start, odometry.method)
    window = np.ones(ROLLING_WINDOW) / ROLLING_WINDOW
    speed = np.column_stack([lfilter(window, [1.0], values) * loop_hz for values in (step, turn)])
    if odometry.method == "arcos":
        pose[:, :2] = np.round(pose[:, :2] / ARCOS_M) * ARCOS_M
        pose[:, 2] = np.round(pose[:, 2] / ARCOS_RAD) * ARCOS_RAD
        speed = np.round(speed / [ARCOS_M, np.radians(1.0)]) * [ARCOS_M, np.radians(1.0)]  # mm/s and degrees/s
    every = max(1, round(loop_hz / odometry.rate_hz))
    time_s = when_s[::every]
    late_s = np.random.default_rng([case.seed, 11]).uniform(0.0, STAMP_JITTER_S, len(time_s))
    return Reckoned(time_s, time_s + odometry.delay_s + late_s, pose[::every], speed[::every])


def _rolled(case: Case, motion: Motion, when_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance and yaw of every cycle, with the controller's radius and track."""
    radius_m = motion.radius_m * case.controller.radius_factor
    track_m = motion.track_m * case.controller.track_factor
    left, right = np.diff(side_angles(case, motion, when_s), axis=0, prepend=side_angles(case, motion, when_s[:1])).T * radius_m
    return 0.5 * (left + right), (right - left) / track_m


def _commanded(motion: Motion, when_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance and yaw of every cycle if the commands were followed."""
    v, rate = (np.interp(when_s, motion.command_time_s + COMMAND_S, motion.limited[:, k]) for k in range(2))
    period_s = when_s[1] - when_s[0]
    return v * period_s, rate * period_s


def _start(case: Case, odometry: WheelOdometry) -> np.ndarray:
    if odometry.starts_at_zero:
        return np.zeros(3)
    draw = np.random.default_rng([case.seed, 3])
    return draw.uniform([-8.0, -8.0, -3.1], [8.0, 8.0, 3.1])


def _integrated(step: np.ndarray, turn: np.ndarray, start: np.ndarray, method: str) -> np.ndarray:
    """Sum up steps: Runge-Kutta of second order (heading in the middle of a cycle), exact arcs, or Euler (heading before)."""
    after = start[2] + np.cumsum(turn)
    before = after - turn
    if method == "euler":
        dx, dy = step * np.cos(before), step * np.sin(before)
    elif method == "exact":
        arc = np.abs(turn) >= 1e-6
        radius = np.divide(step, turn, out=np.zeros_like(step), where=arc)
        middle = before + 0.5 * turn
        dx = np.where(arc, radius * (np.sin(after) - np.sin(before)), step * np.cos(middle))
        dy = np.where(arc, -radius * (np.cos(after) - np.cos(before)), step * np.sin(middle))
    else:
        middle = before + 0.5 * turn
        dx, dy = step * np.cos(middle), step * np.sin(middle)
    return np.column_stack([start[0] + np.cumsum(dx), start[1] + np.cumsum(dy), after])
