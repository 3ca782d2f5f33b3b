"""How sure the answers are: a covariance that stays honest when residuals are not white, and what the data do not tell."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from slipfit.calibration.one_drive import ROBUST_FROM, Solution
from slipfit.calibration.unknowns import OF_THE_ROBOT

#: Lengths of the blocks whose scores are taken as independent (s), and the fewest blocks that say something.
BLOCKS_S, FEWEST_BLOCKS = (3.0, 6.0, 12.0), 4
BLOCK_S = BLOCKS_S[0]

#: Blocks are few, longer ones fewer: their variance counts only beyond these factors, else chance alone would widen intervals.
BLOCKS_EXCUSED, LONGER_BLOCKS_EXCUSED = 1.3, 1.5

#: Relative error of a limit that no residual shows: counts shake a replay's wheels, and a limit cuts that on one side only.
CUT_BY_COUNTS = 0.002

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

    White, Gaussian residuals with the variance that the weights suppose give M = J^T J and both are the same. Blocks
    that agree better than that prove little (errors of counts repeat in each): nothing is narrowed. Slow errors (a floor
    that changes, a tyre that relaxes) make the scores of one block pull together; then M is larger, and so is the interval.
    Reference  sandwich covariance with clusters in time [NeweyWest1987], [White1980]
    """
    white, jacobian = solution.white, solution.jacobian
    robust = robust_weights(white)
    prior = np.array([1.0 / u.prior_std**2 if u.prior_std else 0.0 for u in solution.unknowns])
    weighted = jacobian * robust[:, None]
    information = jacobian.T @ weighted + np.diag(prior)
    inverse = inverse_of(information)
    ratios, used = [], 0
    for length_s in BLOCKS_S:
        scores = block_scores(solution.white_time_s, weighted * white[:, None], length_s)
        if len(scores) < FEWEST_BLOCKS:
            break
        used = used or len(scores)
        meat = scores.T @ scores * len(scores) / (len(scores) - 1)
        ratios.append(np.diag(inverse @ (meat + np.diag(prior)) @ inverse) / np.diag(inverse))
    between = np.zeros_like(inverse) if solution.between is None else solution.between
    if not ratios:
        return Spread(inverse + between, np.ones(len(prior)), used)
    # Short blocks tell the spread best; longer ones see slower errors, but only a clear excess counts: few blocks scatter.
    slow = [ratio / LONGER_BLOCKS_EXCUSED for ratio in ratios[1:]]
    inflation = np.sqrt(np.maximum(1.0, np.max([np.where(ratios[0] > BLOCKS_EXCUSED, ratios[0], 1.0), *slow], axis=0)))
    covariance = inverse * np.outer(inflation, inflation) + between
    for k, name in enumerate(solution.names):
        if name == "mu":
            covariance[k, k] += (CUT_BY_COUNTS * solution.values[k]) ** 2
    return Spread(covariance, inflation, used)


def without_robot(solution: Solution, spread: Spread) -> np.ndarray:
    """The covariance if the robot's own numbers were known: S_cc - S_cb S_bb^-1 S_bc."""
    robot = [k for k, u in enumerate(solution.unknowns) if u.name in OF_THE_ROBOT]
    if not robot:
        return spread.covariance
    beside = spread.covariance[:, robot]
    return np.asarray(spread.covariance - beside @ inverse_of(spread.covariance[np.ix_(robot, robot)]) @ beside.T)


def robust_weights(white: np.ndarray, robust_from: float = ROBUST_FROM) -> np.ndarray:
    """What each residual counts for: the derivative of the soft L1 loss."""
    return np.asarray(1.0 / np.sqrt(1.0 + (white / robust_from) ** 2))


def block_scores(time_s: np.ndarray, scores: np.ndarray, length_s: float) -> np.ndarray:
    """Scores summed over blocks of time; blocks without any are left out."""
    block = np.floor(time_s / length_s).astype(int)
    sums = np.zeros((int(block.max()) + 1, scores.shape[1])) if len(block) else np.zeros((0, scores.shape[1]))
    np.add.at(sums, block, scores)
    return np.asarray(sums[np.abs(sums).sum(axis=1) > 0.0])


def inverse_of(information: np.ndarray) -> np.ndarray:
    """Inverse of a scaled information matrix; directions that nothing determines get a large but finite spread."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    kept = np.maximum(values, 1e-12)
    return np.asarray((vectors / kept) @ vectors.T / np.outer(scale, scale))


def quantile(blocks: int) -> float:
    """Standard deviations to either side that hold 90 %: more than a normal distribution's, because blocks tell the spread."""
    return float(student.ppf(_TAIL, max(3, blocks - 1)))
