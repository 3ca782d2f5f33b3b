"""How sure the answers are: a covariance that stays honest when residuals are not white, and what the data do not tell."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from slipfit.calibrate.one_drive import ROBUST_FROM, Solution

#: Length of the blocks whose scores are taken as independent (s), and the fewest blocks that say something.
BLOCK_S, FEWEST_BLOCKS = 3.0, 8

#: Share of the supposed variance that is kept however well the blocks agree.
LEAST_SHARE = 0.5

#: Two-sided 90 %.
_TAIL = 0.95


@dataclass(frozen=True, eq=False, slots=True)
class Spread:
    """Covariance of all unknowns, and by how much blocks of the drive disagree beyond white noise."""

    covariance: np.ndarray
    inflation: np.ndarray  # of each standard deviation, 1 where the supposed variances explain the scores
    blocks: int

    @property
    def std(self) -> np.ndarray:
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def spread_of(solution: Solution) -> Spread:
    """H^-1 (M + prior) H^-1, where M sums the squared scores of blocks; H^-1 alone where there are too few blocks.

    White, Gaussian residuals with the variance that the weights suppose give M = J^T J and both are the same. Doubts that are
    larger than what a replay is really wrong by make M smaller, but half of the variance is always kept. Slow errors (a floor
    that changes, a tyre that relaxes) make the scores of one block pull together; then M is larger, and so is the interval.
    Reference  sandwich covariance with clusters in time [NeweyWest1987], [White1980]
    """
    white, jacobian = solution.white, solution.jacobian
    robust = 1.0 / np.sqrt(1.0 + (white / ROBUST_FROM) ** 2)  # derivative of the soft L1 loss, as a weight
    prior = np.array([1.0 / u.prior_std**2 if u.prior_std else 0.0 for u in solution.unknowns])
    weighted = jacobian * robust[:, None]
    information = jacobian.T @ weighted + np.diag(prior)
    inverse = inverse_of(information)
    block = np.floor(solution.white_time_s / BLOCK_S).astype(int)
    count = int(block.max()) + 1 if len(block) else 0
    scores = np.zeros((count, len(prior)))
    np.add.at(scores, block, weighted * white[:, None])
    used = int((np.abs(scores).sum(axis=1) > 0.0).sum())
    if used < FEWEST_BLOCKS:
        return Spread(inverse, np.ones(len(prior)), used)
    meat = scores.T @ scores * used / max(1, used - 1)
    sandwich = inverse @ (meat + np.diag(prior)) @ inverse
    ratio = np.diag(sandwich) / np.diag(inverse)
    inflation = np.sqrt(np.maximum(LEAST_SHARE, ratio))
    return Spread(inverse * np.outer(inflation, inflation), inflation, used)


def inverse_of(information: np.ndarray) -> np.ndarray:
    """Inverse of a scaled information matrix; directions that nothing determines get a large but finite spread."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    kept = np.maximum(values, 1e-12)
    return np.asarray((vectors / kept) @ vectors.T / np.outer(scale, scale))


def quantile(blocks: int) -> float:
    """Standard deviations to either side that hold 90 %: more than a normal distribution's, because blocks tell the spread."""
    return float(student.ppf(_TAIL, max(3, blocks - 1)))
