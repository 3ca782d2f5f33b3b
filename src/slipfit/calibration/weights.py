"""How much each comparison counts: filters, and the covariance of what is left after them, band by band.

An IMU's readings are averaged over a fifth of a second: faster motion says little about slip and much about what nobody
models (the tyre's relaxation, the sensor's own filter, corners between two encoder samples). Readings next to such corners
are weighted down by how sharp they are. Steps of a pose share their ends: their errors alternate. Both give banded
covariances, and a triangular solve makes residuals white (docs/theory/calibration).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky_banded, lapack

from slipfit.calibration.observations import Inertial, PoseSteps
from slipfit.library.deviation import robust_std

#: Width of the averaging window and the spacing of its centres (s).
WINDOW_S, SPACING_S = 0.2, 0.05

#: Share of a change of acceleration that a replay may be wrong by, next to a corner: of accelerations ahead, to the side.
DOUBT, DOUBT_ACROSS = 0.3, 0.1

#: The same for turning rates, as a time (s): a rate is wrong by the change of yaw acceleration times this.
DOUBT_TURNING_S = 0.006

#: Interval of encoder samples that these belong to (s).
DOUBTED_INTERVAL_S = 0.01

#: Readings are told in steps when they have fewer different values than this share of their number.
IN_STEPS = 0.2

#: Readings that count for less than this share are not used: right at a corner they change by all of it within a fraction of a
#: sample, which would look like a precise clock.
LEAST_READING = 0.2

#: Share of the variance that is added to each where windows that hold the same readings make the matrix singular.
JITTER = 1e-6

#: Poses farther apart than this (s) do not tell their own noise.
SELDOM_S = 0.12

#: Windows with less than this share of their weight left are not used.
LEAST_SHARE = 0.25


@dataclass(frozen=True, eq=False, slots=True)
class Weighing:
    """From readings of one signal to white numbers: z = L^-1 F (measured - predicted), L L^T the covariance of F's errors."""

    filter: sparse.csr_array | None  # None: as it is
    factor: np.ndarray  # lower bands of L
    time_s: np.ndarray  # of each white number
    weight: np.ndarray  # of each reading, 0 to 1
    clean: np.ndarray  # of each white number: the share of its window that no corner disturbs

    def whiten(self, residuals: np.ndarray) -> np.ndarray:
        """Residuals (T,) or columns (T, k)."""
        columns = residuals.reshape(len(residuals), -1)
        filtered = columns if self.filter is None else self.filter @ columns
        white, _ = lapack.dtbtrs(self.factor, np.asfortranarray(filtered), uplo="L")
        return np.asarray(white.reshape(-1) if residuals.ndim == 1 else white)


def _banded_factor(covariance: sparse.coo_array) -> np.ndarray:
    lower = covariance.row >= covariance.col
    row, col, data = covariance.row[lower], covariance.col[lower], covariance.data[lower]
    bands = np.zeros((int((row - col).max()) + 1, covariance.shape[0]))
    np.add.at(bands, (row - col, col), data)
    try:
        return np.asarray(cholesky_banded(bands, lower=True, check_finite=False))
    except LinAlgError:
        bands[0] *= 1.0 + JITTER
        return np.asarray(cholesky_banded(bands, lower=True, check_finite=False))


def _differences(time_s: np.ndarray, order: int) -> sparse.csr_array:
    """First or second derivative of samples taken at a nearly constant rate."""
    n, interval = len(time_s), float(np.median(np.diff(time_s)))
    if order == 1:
        bands = [np.full(n - 1, -0.5 / interval), np.full(n - 1, 0.5 / interval)]
        return sparse.csr_array(sparse.diags_array(bands, offsets=[-1, 1], shape=(n, n)))
    bands = [np.full(n - 1, 1.0 / interval**2), np.full(n, -2.0 / interval**2), np.full(n - 1, 1.0 / interval**2)]
    return sparse.csr_array(sparse.diags_array(bands, offsets=[-1, 0, 1], shape=(n, n)))


def weigh_inertial(
    imu: Inertial, noise: float, doubt: np.ndarray, wheel_noise: float, order: int, excluded: np.ndarray
) -> Weighing | None:
    """Weighing of one of the IMU's signals; None where nothing is left.

    `doubt` is the standard deviation of the replay's error at each reading; `wheel_noise` that of the wheel's way behind it,
    which acts through its derivative of `order` 1 (turning rates) or 2 (accelerations), 0 for none.
    """
    time_s = imu.time_s
    variance = noise**2 + doubt**2
    share = noise**2 / variance
    share = np.where(excluded | (share < LEAST_READING), 0.0, share)
    interval = float(np.median(np.diff(time_s)))
    half = max(1, round(0.5 * WINDOW_S / interval))
    offsets = np.arange(-half, half + 1)
    window = 0.5 * (1.0 + np.cos(np.pi * offsets / (half + 1.0)))
    centres = np.arange(half, len(time_s) - half, max(1, round(SPACING_S / interval)))
    spans = time_s[centres + half] - time_s[centres - half]
    centres = centres[spans < 1.5 * 2.0 * half * interval]  # no window across a gap
    taps = window * share[centres[:, None] + offsets]
    total = taps.sum(axis=1)
    kept = total > LEAST_SHARE * window.sum()
    if kept.sum() < 10:
        return None
    centres, taps = centres[kept], taps[kept] / total[kept, None]
    rows = np.repeat(np.arange(len(centres)), len(offsets))
    mean = sparse.csr_array((taps.ravel(), (rows, (centres[:, None] + offsets).ravel())), shape=(len(centres), len(time_s)))
    covariance = mean @ sparse.diags_array(variance) @ mean.T
    if wheel_noise > 0.0 and order:
        passed_on = mean @ _differences(time_s, order)
        covariance = covariance + wheel_noise**2 * (passed_on @ passed_on.T)
    return Weighing(mean, _banded_factor(sparse.coo_array(covariance)), time_s[centres], share, total[kept] / window.sum())


@dataclass(frozen=True, slots=True)
class PoseNoise:
    """Errors of a pose signal: of each pose, and of each step by itself (what the model does not explain)."""

    pose: float
    step: float


def weigh_pose(pose: PoseSteps, noise: PoseNoise) -> Weighing:
    """Weighing of one signal of the pose's steps: neighbours share a pose, so their errors are correlated by -1/2."""
    n = len(pose.from_s)
    bands = np.zeros((2, n))
    bands[0] = 2.0 * noise.pose**2 + noise.step**2
    bands[1, :-1] = np.where(pose.is_next[1:], -(noise.pose**2), 0.0)
    factor = np.asarray(cholesky_banded(bands, lower=True, check_finite=False))
    return Weighing(None, factor, 0.5 * (pose.from_s + pose.to_s), np.ones(n), np.ones(n))


def pose_noise(residuals: np.ndarray, is_next: np.ndarray, floor: float) -> PoseNoise:
    """Both errors from the residuals' variance and the covariance of neighbours: g0 = 2 p^2 + s^2, g1 = -p^2."""
    r = residuals - np.median(residuals)
    limit = 6.0 * robust_std(r, about=0.0) + floor
    r = np.clip(r, -limit, limit)
    g0, g1 = float(np.mean(r**2)), float(np.mean((r[1:] * r[:-1])[is_next[1:]])) if is_next[1:].any() else 0.0
    pose_variance = min(max(-g1, 0.0), 0.5 * g0)
    step_variance = max(g0 - 2.0 * pose_variance, 1e-3 * g0)
    return PoseNoise(max(np.sqrt(pose_variance), floor), max(np.sqrt(step_variance), floor))


def noise_of_poses(pose: PoseSteps, signal: int, least: float) -> PoseNoise:
    """What a tracker's poses tell of their noise before anything is fitted: third differences, 20 p^2, which steady motion does
    not reach; `least` where they come too seldom for that, or tell less."""
    if float(np.median(pose.to_s - pose.from_s)) > SELDOM_S:
        return PoseNoise(least, least)
    second = np.diff(pose.moved[:, signal], n=2)
    return PoseNoise(max(robust_std(second[pose.is_next[1:-1] & pose.is_next[2:]]) / math.sqrt(20.0), least), least)


def reading_noise(signal: np.ndarray, floor: float) -> float:
    """Standard deviation of white noise in a signal, by second differences, which slow motion does not reach; at least that of
    rounding, where readings are told in steps."""
    second = np.diff(signal, n=2)
    told = np.unique(signal)
    step = float(np.diff(told).min()) if 1 < len(told) < IN_STEPS * len(signal) else 0.0
    return max(robust_std(second) / math.sqrt(6.0), step / math.sqrt(12.0), floor)
