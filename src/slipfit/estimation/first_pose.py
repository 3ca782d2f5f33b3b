"""Where a drive starts, as far as its first readings tell: a pose says so itself, places alone (GNSS) by the way that follows.

The readings that say so are used by the filter too. So that they do not count twice the start is only a place to begin from: it
is told with `WIDER` times their spread. What a course does not tell is the angle at which the robot slips: that is in the spread
of the heading as the filter supposes it.

Reference  slipfit.estimation.course, docs/theory/estimation
"""

from math import pi
from typing import NamedTuple

import numpy as np
from scipy.integrate import cumulative_trapezoid

from slipfit.estimation.course import FAR_M, LEAST_STD_RAD, first_course
from slipfit.estimation.motion import Motion, sides
from slipfit.estimation.readings import Readings
from slipfit.estimation.settings import FilterSettings

#: The readings that tell the start count once: a tenth of their weight, and less, is what they count beforehand.
WIDER = 4.0


class FirstPose(NamedTuple):
    pose: np.ndarray  # (3,)
    std: np.ndarray
    is_heading_known: bool = True  # False: places alone, and they do not tell it


def first_pose(readings: Readings, motion: Motion, settings: FilterSettings) -> FirstPose:
    """By the pose, or by GNSS; at zero where neither is there."""
    std = np.array([settings.pose_m, settings.pose_m, settings.pose_rad])
    if readings.has("pose"):
        return _before(readings, motion, readings["pose"].values[0], WIDER * readings["pose"].stds)
    if not readings.has("gnss"):
        return FirstPose(np.zeros(3), std)
    place_std = readings["gnss"].stds[0]
    turn, turn_std, first = _heading(readings, motion, settings, float(place_std))
    std = np.array([WIDER * place_std, WIDER * place_std, turn_std])
    return FirstPose(np.array([*first, turn]), std, is_heading_known=turn_std < pi)


def _before(readings: Readings, motion: Motion, pose: np.ndarray, std: np.ndarray) -> FirstPose:
    """Where the drive began by its first pose, which may come later: back along the way by wheels and gyro."""
    time_s, way, heading, gone = _way(readings, motion)
    when = readings["pose"].time_s[0]
    z, turned, far = (np.interp(when, time_s, column) for column in (way, heading, gone))
    start = complex(pose[0], pose[1]) - z * np.exp(1j * (pose[2] - turned))
    # Slip on the way until then may be as much as the way.
    more = np.array([far, far, abs(turned) + min(far, 1.0) * LEAST_STD_RAD])
    return FirstPose(np.array([start.real, start.imag, pose[2] - turned]), np.hypot(std, more))


def _heading(
    readings: Readings, motion: Motion, settings: FilterSettings, place_std_m: float
) -> tuple[float, float, tuple[float, float]]:
    """Heading at the start, its standard deviation (half a turn where the robot does not move), and the place then."""
    time_s, way, _, gone = _way(readings, motion)
    fixes = readings["gnss"]
    near = np.interp(fixes.time_s, time_s, gone) <= FAR_M
    z, g = np.interp(fixes.time_s[near], time_s, way), fixes.values[near, 0] + 1j * fixes.values[near, 1]
    found = first_course(z, g, place_std_m)
    if found is None:
        return 0.0, pi, (float(np.median(g.real)), float(np.median(g.imag)))
    last_s = fixes.time_s[near][len(found.is_used) - 1]
    speed = float(np.interp(last_s, time_s, gone)) / max(float(last_s - time_s[0]), 1e-9)
    slipping = min(1.0, float(np.hypot(settings.first_slip_mps / max(speed, 1e-3), settings.first_slip)))
    std = WIDER * float(np.hypot(np.hypot(found.std_rad, LEAST_STD_RAD), slipping))
    return found.turn_rad, min(0.5 * pi, std), (found.origin.real, found.origin.imag)


def _way(readings: Readings, motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, way as complex numbers, heading and length of the way, by wheels, expected slip and gyro, from zero."""
    time_s, (u, v, r) = readings.time_s, _velocity(readings, motion).T
    if readings.has("gyro"):
        r = np.interp(time_s, readings["gyro"].time_s, readings["gyro"].values[:, 0])
    heading = cumulative_trapezoid(r, time_s, initial=0.0)
    way = cumulative_trapezoid((u + 1j * v) * np.exp(1j * heading), time_s, initial=0.0)
    return time_s, way, heading, cumulative_trapezoid(np.hypot(u, v), time_s, initial=0.0)


def _velocity(readings: Readings, motion: Motion) -> np.ndarray:
    """Body velocity (n, 3) by the wheels and the slip that is expected of them."""
    plain = sides(motion.track_m, motion.expected) if motion.is_centres else motion
    rows = plain.inputs(readings.rims_mps)
    return np.asarray((rows[:, :3] - rows[:, 6:9]) @ plain.model.into_twist.T)  # type: ignore[union-attr]
