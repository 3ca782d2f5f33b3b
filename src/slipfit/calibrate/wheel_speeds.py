"""Wheel speeds at every step of a replay from sampled wheel angles, sharp corners kept; and where they are doubtful.

A speed step that is limited by torque makes a corner in the wheel's speed. A smooth interpolation rings there, and a smoother
that removes the encoder's counts blurs it. So angles are smoothed by as much as their counts allow, least where the third
difference says that something happens; each interval takes its speed from the smoothest cubic through its ends; and an
interval with a corner inside takes the two curves that come from its sides. What lies within a corner remains unknown:
`change_of_acceleration` tells the fit where not to look (docs/theory/calibration).

Reference  essentially non-oscillatory interpolation with subcell resolution [Harten1989]; Whittaker smoothing [Eilers2003]
"""

from functools import reduce
from itertools import pairwise

import numpy as np
from scipy.linalg import solveh_banded

from slipfit.calibrate.wheel_motion import WheelAngles
from slipfit.logs.drive_log import NANOSECONDS

#: An interval keeps the centred cubic unless another one's third difference is smaller by this factor.
CLEARLY_SMOOTHER = 3.0

#: Third differences of white noise have this many times its standard deviation: sqrt(1 + 9 + 9 + 1).
_OF_NOISE = np.sqrt(20.0)

#: Angles are smoothed until they leave the samples by this share of the encoder's noise: all of it would flatten curves.
SMOOTHED_TO = 0.8

#: What smoothing leaves of the encoder's noise in single samples; and in means over a fifth of a second, which it hardly touches.
_LEFT_BY_SMOOTHING, _LEFT_IN_MEANS = 0.3, 0.6

#: Times a change of acceleration is averaged over, to either side (s).
CORNER_S = 0.04

#: A change of acceleration within CORNER_S that makes a corner (m/s^2, or rad/s^2 of the body).
SHARP = 1.0

#: Finer angles are taken as they are (rad).
GRAIN_RAD = 2e-5

#: A difference between the wheels of a side counts when it lasts this long (s).
ALIKE_S = 0.1


def speeds_at(wheels: WheelAngles, step_s: float) -> np.ndarray:
    """Speed of every wheel (rad/s) at the ends of the steps of a replay that starts at the first stamp, (steps, wheels)."""
    time_s = (wheels.stamps_ns - wheels.stamps_ns[0]) / NANOSECONDS
    angles, noise = wheels.angle_rad, wheels.noise_rad
    if _is_coarse(wheels):
        distinct, copies = np.unique(angles, axis=1, return_inverse=True)  # sides that are told once are smoothed once
        angles = np.column_stack([_smoothed(column, noise) for column in distinct.T])[:, copies]
        noise *= _LEFT_BY_SMOOTHING
    steps = int(np.floor(time_s[-1] / step_s * (1.0 + 1e-12)))
    speeds = _cornered(time_s, angles, step_s * np.arange(1, steps + 1), noise)
    return _agreeing(speeds, step_s, speed_noise(wheels)) if _is_coarse(wheels) else speeds


def _agreeing(speeds: np.ndarray, step_s: float, noise: float) -> np.ndarray:
    """Wheels of a side turn alike unless their difference lasts: else counts of two encoders would let them push against each
    other, hard where they roll slowly and hold."""
    span = max(1, round(ALIKE_S / step_s))
    window = np.ones(span) / span
    agreed = np.empty_like(speeds)
    for side in (0, 1):
        mean = speeds[:, side::2].mean(axis=1, keepdims=True)
        apart = speeds[:, side::2] - mean
        lasting = np.column_stack([np.convolve(column, window, mode="same") for column in apart.T])
        agreed[:, side::2] = mean + np.where(np.abs(lasting) > 3.0 * noise, apart, 0.0)
    return agreed


def _is_coarse(wheels: WheelAngles) -> bool:
    """Whether counts or noise show: one count is a visible part of the motion between two samples."""
    grain_rad = float(np.sqrt(12.0)) * wheels.noise_rad
    moved_rad = float(np.median(np.abs(np.diff(wheels.angle_rad, axis=0))))
    return grain_rad > 1e-4 * (moved_rad + grain_rad) and grain_rad > GRAIN_RAD


def _whittaker(y: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """The curve that minimises |q - y|^2 + sum stiffness (third difference of q)^2."""
    n, weights = len(y), (-1.0, 3.0, -3.0, 1.0)
    bands = np.zeros((4, n))
    bands[0] = 1.0
    for i in range(4):
        for j in range(i + 1):
            bands[i - j, j : j + n - 3] += stiffness * weights[i] * weights[j]
    return np.asarray(solveh_banded(bands, y, lower=True, overwrite_ab=True, check_finite=False))


def _smoothed(y: np.ndarray, noise: float, passes: int = 3) -> np.ndarray:
    """As smooth as residuals of the encoder's noise allow; stiffness gives way where third differences are large."""
    if len(y) < 8:
        return y
    shape, curve = np.ones(len(y) - 3), y
    for _ in range(passes):
        low, high = -6.0, 12.0
        for _ in range(18):
            middle = 0.5 * (low + high)
            curve = _whittaker(y, 10.0**middle * shape)
            low, high = (low, middle) if float(np.mean((curve - y) ** 2)) > (SMOOTHED_TO * noise) ** 2 else (middle, high)
        rough = np.abs(np.diff(curve, n=3))
        nearby = reduce(np.maximum, (np.roll(rough, k) for k in range(-2, 3)))
        typical = float(np.median(nearby))
        shape = 1.0 / (1.0 + (nearby / typical) ** 2) if typical > 0.0 else np.ones_like(shape)
    return curve


def _newton(points: np.ndarray, first: np.ndarray, order: int, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Value and slope, at s samples after `first`, of the polynomial through order + 1 points from there on."""
    differences = [points[first + j] for j in range(order + 1)]
    value, slope = np.zeros_like(differences[0]), np.zeros_like(differences[0])
    basis, basis_slope, factorial = np.ones((len(s), 1)), np.zeros((len(s), 1)), 1.0
    for k in range(order + 1):
        value, slope = value + differences[0] * basis / factorial, slope + differences[0] * basis_slope / factorial
        basis_slope, basis = basis_slope * (s[:, None] - k) + basis, basis * (s[:, None] - k)
        factorial *= k + 1
        differences = [b - a for a, b in pairwise(differences)]
    return value, slope


def _cornered(time_s: np.ndarray, angles: np.ndarray, at_s: np.ndarray, noise: float) -> np.ndarray:
    """Speeds at any times; intervals count as equally long within a stencil, which jitter of a few per cent does not upset."""
    n, pad = len(time_s), 4
    points = np.concatenate([np.repeat(angles[:1], pad, 0), angles, np.repeat(angles[-1:], pad, 0)])
    k = np.clip(np.searchsorted(time_s, at_s, side="left") - 1, 0, n - 2)
    length_s = time_s[k + 1] - time_s[k]
    s, k = (at_s - time_s[k]) / length_s, k + pad
    third = np.abs(np.diff(points, n=3, axis=0))
    tolerated = 3.0 * _OF_NOISE * noise
    left, middle, right = third[k - 2], third[k - 1], third[k]
    speed = _newton(points, k - 1, 3, s + 1.0)[1]
    is_left = (left + tolerated < middle / CLEARLY_SMOOTHER) & (left <= right)
    is_right = (right + tolerated < middle / CLEARLY_SMOOTHER) & (right < left)
    speed = np.where(is_left, _newton(points, k - 2, 3, s + 2.0)[1], speed)
    speed = np.where(is_right, _newton(points, k, 3, s)[1], speed)
    # A corner inside: the curve from the left and the curve from the right cross there.
    from_left, from_right = _newton(points, k - 2, 2, s + 2.0), _newton(points, k + 1, 2, s - 1.0)
    gap_before = points[k] - _newton(points, k + 1, 2, np.full_like(s, -1.0))[0]
    gap_after = _newton(points, k - 2, 2, np.full_like(s, 3.0))[0] - points[k + 1]
    smoothest = np.minimum(left, np.minimum(middle, right))
    is_inside = (smoothest > tolerated + CLEARLY_SMOOTHER * np.maximum(third[k - 3], third[k + 1])) & (gap_before * gap_after < 0)
    is_before = (from_left[0] - from_right[0]) * gap_before > 0.0
    speed = np.where(is_inside, np.where(is_before, from_left[1], from_right[1]), speed)
    return np.asarray(speed / length_s[:, None])


def change_of_acceleration(speed: np.ndarray, step_s: float, at_s: np.ndarray, noise: float) -> np.ndarray:
    """Largest change of mean acceleration near each time, beyond what noise of the speed makes: how sharp a corner is.

    Changes well below SHARP are curves, which interpolation follows, and count for nothing.

    `noise` is the standard deviation of the speed's error; the unit follows the speed's.
    """
    span = max(1, round(CORNER_S / step_s))
    mean = np.convolve(np.diff(speed, prepend=speed[0]) / step_s, np.ones(span) / span, mode="full")[: len(speed)]
    change = np.abs(np.concatenate([mean[span:], np.repeat(mean[-1:], span)]) - mean)
    window = reduce(np.maximum, (np.roll(change, shift) for shift in range(-3 * span // 2, 3 * span // 2 + 1, max(1, span // 4))))
    tolerated = 2.0 * np.sqrt(6.0) * noise / CORNER_S
    near = np.interp(at_s, step_s * np.arange(1, len(speed) + 1), window)
    beyond = np.maximum(0.0, near**2 - tolerated**2)
    return np.asarray(np.sqrt(beyond) * beyond / (beyond + SHARP**2))


def angle_noise(wheels: WheelAngles) -> float:
    """Standard deviation of what the encoder's counts leave in means of smoothed angles, white again (rad)."""
    return _LEFT_IN_MEANS * wheels.noise_rad if _is_coarse(wheels) else 0.0


def speed_noise(wheels: WheelAngles) -> float:
    """Standard deviation of smoothed speeds (rad/s), by the encoder's rate."""
    if not _is_coarse(wheels):
        return 0.0
    return _LEFT_BY_SMOOTHING * wheels.noise_rad * NANOSECONDS / float(np.median(np.diff(wheels.stamps_ns)))
