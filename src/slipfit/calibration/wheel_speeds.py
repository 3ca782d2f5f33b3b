"""Wheel speeds at every step of a replay from sampled wheel angles, sharp corners kept; and where they are doubtful.

A speed step that is limited by torque makes a corner in the wheel's speed. A smooth interpolation rings there, and a smoother
that removes the encoder's counts blurs it. So angles are smoothed by what their own third differences show, much where a wheel
turns evenly and little where something happens; each interval takes its speed from the smoothest cubic through its ends; and an
interval with a corner inside takes the two curves that come from its sides. What lies within a corner remains unknown:
`change_of_acceleration` tells the fit where not to look (docs/theory/calibration).

Reference  essentially non-oscillatory interpolation with subcell resolution [Harten1989]
"""

from functools import reduce
from itertools import pairwise

import numpy as np

from slipfit.kernels.third_differences import curve_through
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import WheelAngles

#: An interval keeps the centred cubic unless another one's third difference is smaller by this factor.
CLEARLY_SMOOTHER = 3.0

#: Third differences of white noise have this many times its standard deviation: sqrt(1 + 9 + 9 + 1).
_OF_NOISE = np.sqrt(20.0)

#: Sizes of third differences are learned from so many neighbours to either side, in so many passes; the smallest (counts^2).
LEARNED_FROM, LEARNING_PASSES, SMALLEST_SIZE = 2, 20, 1e-4

#: What smoothing leaves of the encoder's noise in single samples; and in means over a fifth of a second, which it hardly touches.
_LEFT_BY_SMOOTHING, _LEFT_IN_MEANS = 0.3, 0.6

#: Shortest time that a change of acceleration is averaged over, to either side (s).
CORNER_S = 0.01

#: A change of acceleration within that time that makes a corner (m/s^2, or rad/s^2 of the body).
SHARP = 0.25

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
        angles = np.column_stack([_smoothed(column, noise)[0] for column in distinct.T])[:, copies]
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


def _smoothed(y: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The curve that third differences of unknown sizes allow, each size learned from the samples around it; and these sizes.

    Where a wheel turns evenly they are nearly nothing and the curve is stiff; a corner is a few large ones. Sizes follow from
    what the curve shows, divided by the share of it that the samples and not the assumed sizes decided.
    Reference  evidence approximation [MacKay1992]
    """
    if len(y) < 8:
        return y, np.zeros(len(y))
    sizes, around = np.full(len(y) - 3, _OF_NOISE**2), np.ones(2 * LEARNED_FROM + 1)
    curve = y
    for _ in range(LEARNING_PASSES):
        curve, spread = curve_through(y / noise, sizes)
        decided = np.convolve(1.0 - spread / sizes, around, mode="same")
        shown = np.convolve(np.diff(curve, n=3) ** 2, around, mode="same")
        sizes = np.maximum(shown / np.maximum(decided, 1e-9), SMALLEST_SIZE)
    return np.asarray(noise * curve), np.asarray(noise * np.sqrt(np.pad(sizes, (1, 2), mode="edge")))


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


def change_of_acceleration(
    speed: np.ndarray, step_s: float, at_s: np.ndarray, noise: float, interval_s: float = CORNER_S
) -> np.ndarray:
    """Largest change of mean acceleration near each time, beyond what noise of the speed makes: how sharp a corner is.

    Changes well below SHARP are curves, which interpolation follows, and count for nothing.

    `noise` is the standard deviation of the speed's error; the unit follows the speed's. `interval_s` lies between two samples
    of the encoder: in there a corner may be anywhere.
    """
    corner_s = max(CORNER_S, interval_s)
    span = max(1, round(corner_s / step_s))
    mean = np.convolve(np.diff(speed, prepend=speed[0]) / step_s, np.ones(span) / span, mode="full")[: len(speed)]
    change = np.abs(np.concatenate([mean[span:], np.repeat(mean[-1:], span)]) - mean)
    window = reduce(np.maximum, (np.roll(change, shift) for shift in range(-3 * span // 2, 3 * span // 2 + 1, max(1, span // 4))))
    tolerated = 2.0 * np.sqrt(6.0) * noise / corner_s
    near = np.interp(at_s, step_s * np.arange(1, len(speed) + 1), window)
    beyond = np.maximum(0.0, near**2 - tolerated**2)
    return np.asarray(np.sqrt(beyond) * beyond / (beyond + SHARP**2))


def uncertain_acceleration(wheels: WheelAngles, at_s: np.ndarray) -> np.ndarray:
    """How much a wheel's acceleration may change from sample to sample at each time, as its counts show it (rad/s^2)."""
    if not _is_coarse(wheels):
        return np.zeros(len(at_s))
    time_s = (wheels.stamps_ns - wheels.stamps_ns[0]) / NANOSECONDS
    distinct = np.unique(wheels.angle_rad, axis=1)
    sizes = np.max([_smoothed(column, wheels.noise_rad)[1] for column in distinct.T], axis=0)
    near = np.maximum(sizes, np.maximum(np.roll(sizes, 1), np.roll(sizes, -1)))
    return np.asarray(np.interp(at_s, time_s, near) / float(np.median(np.diff(time_s))) ** 2)


def angle_noise(wheels: WheelAngles) -> float:
    """Standard deviation of what the encoder's counts leave in means of smoothed angles, white again (rad)."""
    return _LEFT_IN_MEANS * wheels.noise_rad if _is_coarse(wheels) else 0.0


def speed_noise(wheels: WheelAngles) -> float:
    """Standard deviation of smoothed speeds (rad/s), by the encoder's rate."""
    if not _is_coarse(wheels):
        return 0.0
    return _LEFT_BY_SMOOTHING * wheels.noise_rad * NANOSECONDS / float(np.median(np.diff(wheels.stamps_ns)))
