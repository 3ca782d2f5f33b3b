"""Go/no-go curves through the points of a design variable: a probit with its band, and the best monotone curve.

    P(x) = Phi(a + b x),   x with P = q at (Phi^-1(q) - a) / b

Maximum likelihood of binomial counts by Fisher scoring; the band is Phi of a + b x ± z sqrt(var), with the variances enlarged by
the dispersion where points scatter more than counts do. The monotone curve is least squares under order (pooling of neighbours
that violate it); its band pools the points' intervals in the same way, so it is never narrower than theirs.

The x with P = q is a ratio. Its interval is Fieller's: all x whose band holds q. Where the slope differs from 0 by no more than
chance these reach to infinity; the delta method would give a finite interval even there.

Reference  [McCullagh1989] for probits; [Fieller1954] for where they cross; [Barlow1972] for pooling
Valid for  one design variable along which P rises or falls
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri

_ROUNDS, _SETTLED = 100, 1e-10

#: A fit whose counts deviate from it by more than chance does at this level is called a poor one.
POOR = 0.01


@dataclass(frozen=True, eq=False)
class Probit:
    """A fitted curve. `p_value` is the chance of a scatter like this one if the curve were right."""

    offset: float
    slope: float
    covariance: np.ndarray  # (2, 2) of offset and slope
    p_value: float
    confidence: float

    @property
    def is_poor(self) -> bool:
        return self.p_value < POOR

    def probability(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr(self.offset + self.slope * np.asarray(x, dtype=float)))

    def band(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Low and high of P at x."""
        x = np.asarray(x, dtype=float)
        score = self.offset + self.slope * x
        (voo, vos), (_, vss) = self.covariance
        half = stats.norm.isf(0.5 * (1.0 - self.confidence)) * np.sqrt(np.maximum(voo + 2.0 * x * vos + x * x * vss, 0.0))
        return np.asarray(ndtr(score - half)), np.asarray(ndtr(score + half))

    def where(self, probability: float) -> tuple[float, float, float]:
        """x at which P is this, and its interval (Fieller); without ends (-inf, inf) where the slope could as well be 0.

        With d the distance from x, V and C the variance of offset + slope x and its covariance with the slope:
        (slope d)^2 = z^2 (V + 2 d C + d^2 V_slope), which is solved for d.
        """
        x = (float(ndtri(probability)) - self.offset) / self.slope
        (voo, vos), (_, vss) = self.covariance
        z2 = float(stats.norm.isf(0.5 * (1.0 - self.confidence))) ** 2
        sure = self.slope**2 - z2 * vss
        if sure <= 0.0:
            return x, -math.inf, math.inf
        variance, with_slope = max(voo + 2.0 * x * vos + x * x * vss, 0.0), vos + x * vss
        half = math.sqrt(z2 * (z2 * with_slope**2 + sure * variance))
        return x, x + (z2 * with_slope - half) / sure, x + (z2 * with_slope + half) / sure


def fit_probit(x: np.ndarray, runs: np.ndarray, successes: np.ndarray, confidence: float) -> Probit | None:
    """The probit through counts; None where they do not tell its slope (fewer than two points between 0 and 1)."""
    x, n, k = (np.asarray(entry, dtype=float) for entry in (x, runs, successes))
    between = (k > 0) & (k < n)
    if between.sum() < 2:
        return None
    middle, scale = float(x.mean()), float(x.std()) or 1.0
    z = (x - middle) / scale
    columns = np.column_stack([np.ones_like(z), z])
    share = (k + 0.5) / (n + 1.0)
    weight = n * between
    beta = np.linalg.lstsq(columns * weight[:, None], ndtri(share) * weight, rcond=None)[0]
    for _ in range(_ROUNDS):
        score = np.clip(columns @ beta, -8.0, 8.0)
        p, density = ndtr(score), stats.norm.pdf(score)
        q = ndtr(-score)
        weight = n * density**2 / (p * q)
        step = np.linalg.solve(columns.T @ (weight[:, None] * columns), columns.T @ ((k - n * p) * density / (p * q)))
        size = float(np.abs(step).max())
        beta = beta + step * min(1.0, 2.0 / max(size, 1e-300))
        if size < _SETTLED:
            break
    else:
        return None
    score = columns @ beta
    p, q = ndtr(score), ndtr(-score)
    seen = n * np.minimum(p, q) > 1.0  # where less than one run is expected to differ, chi-square is none
    chi2 = float(np.sum(((k - n * p) ** 2 / (n * p * q))[seen])) if seen.any() else 0.0
    freedom = max(int(seen.sum()) - 2, 1)
    density = stats.norm.pdf(score)
    information = columns.T @ ((n * density**2 / np.maximum(p * q, 1e-300))[:, None] * columns)
    covariance = np.linalg.inv(information) * max(1.0, chi2 / freedom)
    back = np.array([[1.0, -middle / scale], [0.0, 1.0 / scale]])
    offset, slope = back @ beta
    if slope == 0.0:
        return None
    return Probit(float(offset), float(slope), back @ covariance @ back.T, float(stats.chi2.sf(chi2, freedom)), confidence)


def monotone(values: np.ndarray, weights: np.ndarray, *, is_rising: bool) -> np.ndarray:
    """The monotone sequence nearest to values in weighted least squares: neighbours out of order are pooled."""
    sign = 1.0 if is_rising else -1.0
    blocks: list[list[float]] = []  # mean, weight, length
    for value, weight in zip(sign * np.asarray(values, dtype=float), np.asarray(weights, dtype=float), strict=True):
        blocks.append([float(value), float(weight), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, w, length = blocks.pop()
            last = blocks[-1]
            total = last[1] + w
            last[0], last[1], last[2] = (last[0] * last[1] + mean * w) / total, total, last[2] + length
    return sign * np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


@dataclass(frozen=True, eq=False)
class MonotoneCurve:
    """P along a design variable, forced to rise or fall, with a band."""

    x: np.ndarray
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray


def monotone_curve(x: np.ndarray, runs: np.ndarray, successes: np.ndarray, low: np.ndarray, high: np.ndarray) -> MonotoneCurve:
    """Rising or falling, whichever fits the counts better."""
    share = np.asarray(successes, dtype=float) / np.maximum(runs, 1)
    rising, falling = (monotone(share, runs, is_rising=way) for way in (True, False))
    is_rising = bool(np.sum(runs * (rising - share) ** 2) < np.sum(runs * (falling - share) ** 2))
    best = rising if is_rising else falling
    bounds = [monotone(bound, runs, is_rising=is_rising) for bound in (low, high)]
    return MonotoneCurve(np.asarray(x, dtype=float), best, np.minimum(bounds[0], best), np.maximum(bounds[1], best))
