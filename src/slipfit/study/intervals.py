"""Intervals of a probability: from counts of independent runs, or from several scramblings of Sobol points."""

import numpy as np
from scipy import stats


def wilson(successes: np.ndarray, runs: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Score interval of a share k / n [Wilson1927]: the p with |k/n - p| <= z sqrt(p (1 - p) / n). All of [0, 1] without runs."""
    k, n = np.asarray(successes, dtype=float), np.asarray(runs, dtype=float)
    z = stats.norm.isf(0.5 * (1.0 - confidence))
    counted = np.maximum(n, 1.0)
    share = k / counted
    middle = (share + z * z / (2.0 * counted)) / (1.0 + z * z / counted)
    half = z / (1.0 + z * z / counted) * np.sqrt(share * (1.0 - share) / counted + z * z / (4.0 * counted * counted))
    low, high = np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
    # At the ends rounding would leave 1e-17 of what is exactly 0 or 1.
    low, high = np.where(k == 0.0, 0.0, low), np.where(k == n, 1.0, high)
    return np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)


def exact(successes: np.ndarray, runs: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact interval of a share [Clopper1934]: the p under which so few, or so many, successes are not unlikely."""
    k, n = np.asarray(successes, dtype=float), np.asarray(runs, dtype=float)
    tail = 0.5 * (1.0 - confidence)
    low = np.where(k > 0, stats.beta.ppf(tail, np.maximum(k, 1.0), n - k + 1.0), 0.0)
    high = np.where(k < n, stats.beta.isf(tail, k + 1.0, np.maximum(n - k, 1.0)), 1.0)
    return low, high


def over_scramblings(successes: np.ndarray, runs: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval of the mean of independent scramblings: mean ± t s / sqrt(R), successes and runs of shape (..., R) [Owen1997].

    Near 0 and 1 scramblings say little about their spread, and nothing where all agree: Student's interval is too short there on
    the side away from the end. With fewer successes or fewer failures than scramblings it is stretched to hold the exact interval
    of all runs together, which is too wide for Sobol points and never too narrow.
    """
    counted = np.asarray(runs, dtype=float)
    shares = np.asarray(successes, dtype=float) / np.maximum(counted, 1.0)
    replicates = shares.shape[-1]
    middle, spread = shares.mean(axis=-1), shares.std(axis=-1, ddof=1)
    half = stats.t.isf(0.5 * (1.0 - confidence), replicates - 1) * spread / np.sqrt(replicates)
    low, high = np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
    total, all_runs = np.sum(successes, axis=-1), counted.sum(axis=-1)
    all_low, all_high = exact(total, all_runs, confidence)
    is_unsure = (np.minimum(total, all_runs - total) < replicates) | (spread == 0.0)
    return np.where(is_unsure, np.minimum(low, all_low), low), np.where(is_unsure, np.maximum(high, all_high), high)


BY_NAME = {"wilson": wilson, "exact": exact}
