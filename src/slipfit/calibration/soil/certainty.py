"""Least squares for soil tests, and how well data tell the constants: covariance by tests, rank, directions that are not told.

    C = H^-1 M H^-1,    H = J^T J,    M = g/(g - 1) sum over tests s s^T,    s = sum of a test's rows of J times residual

Rows of one test share their errors, so tests count, not rows. Where tests are few, each is cut into parts along its way, which
sees errors that come and go within a test. That beds differ from test to test is in neither with few tests: `beds` has it. The
largest of C, of s^2 H^-1 (independent rows) and of that counts.

Symbols    J jacobian · g tests
Reference  sandwich covariance with clusters: [White1980]; derived in docs/theory/soil_calibration.md
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from slipfit.calibration.soil.beds import Beds
from slipfit.twin import FittedParameter, Status

#: Fewer groups than this say nothing about a covariance.
FEWEST_GROUPS = 6

#: Directions that change residuals by less than this share of the strongest one are not told (rank).
RANK = 1e-5

#: A constant whose 90 % interval is wider than this share of its range is not told.
TOLD = 0.7

#: Nearer to an end of its range than this share of it, a constant is on its bound.
AT_END = 1e-4

#: Residuals and slopes below this share of the largest are zero.
INERT = 1e-6

_TAIL = 0.95


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """The best constants of a problem, and what the data tell of them."""

    names: tuple[str, ...]
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    covariance: np.ndarray
    rank: int
    weak: tuple[str, ...]  # directions that are not told, in words
    quantile: float

    @property
    def correlation(self) -> np.ndarray:
        """Of what is told; constants that are not stand alone."""
        told = np.isfinite(np.diag(self.covariance)) & (np.diag(self.covariance) > 0.0)
        found = np.eye(len(self.names))
        part = self.covariance[np.ix_(told, told)]
        std = np.sqrt(np.diag(part))
        found[np.ix_(told, told)] = part / np.outer(std, std)
        return found

    def told(self, name: str, source: str) -> FittedParameter:
        """One constant with its interval, or with what is known of it."""
        k = self.names.index(name)
        return self.number(
            float(self.values[k]), np.eye(len(self.names))[k], source, (float(self.lower[k]), float(self.upper[k]))
        )

    def number(self, value: float, slope: np.ndarray, source: str, limits: tuple[float, float]) -> FittedParameter:
        """A number that depends on the constants with these slopes."""
        std = self.std(slope)
        half, (low, high) = self.quantile * std, limits
        span = high - low
        if not np.isfinite(std) or (np.isfinite(span) and 2.0 * half > TOLD * span):
            note = f"any value fits about as well: the data do not tell it (best {value:.4g})"
            return FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
        interval = (max(low, value - half), min(high, value + half))
        at_end = np.isfinite(span) and min(value - low, high - value) < AT_END * span
        status = Status.AT_BOUND if at_end else Status.CONVERGED
        return FittedParameter(value=value, std=std, interval_90=interval, status=status, source=source)

    def share_of_range(self, name: str) -> float:
        """Width of a constant's interval over its range; infinite where it is not told at all."""
        k = self.names.index(name)
        return 2.0 * self.quantile * self.std(np.eye(len(self.names))[k]) / float(self.upper[k] - self.lower[k])

    def std(self, slope: np.ndarray) -> float:
        """Spread of a number with these slopes; infinite where it hangs on what is not told."""
        on = slope != 0.0
        part = self.covariance[np.ix_(on, on)]
        if not np.isfinite(part).all():
            return float("inf")
        return float(np.sqrt(max(slope[on] @ part @ slope[on], 0.0)))


def solve(
    names: Sequence[str],
    start: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    residuals: Callable[[np.ndarray], np.ndarray],
    groups: np.ndarray,
    *,
    scale: Sequence[float] | None = None,
    beds: Beds | None = None,
) -> Found:
    """Bounded least squares; `groups` numbers what shares its errors, one entry per residual, and `beds` which beds do."""
    low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
    size = np.array(scale if scale is not None else high - low, dtype=float)
    begin = np.clip(np.array(start, dtype=float), low + 1e-6 * size, high - 1e-6 * size)
    answer = least_squares(residuals, begin, bounds=(low, high), x_scale=size, max_nfev=200)
    best = np.where(answer.x - low < 1e-9 * size, low, answer.x)  # on the bound, not a hair beside it
    jacobian = _slopes(residuals, best, low, high, size)
    covariance, rank, weak = _certainty(tuple(names), jacobian, answer.fun, groups, size, beds)
    free = max(_live(jacobian * size, answer.fun) - len(names), 1)
    count = len(np.unique(groups))
    degrees = max(count - len(names), 2) if count >= FEWEST_GROUPS else free
    if beds is not None:
        degrees = beds.degrees_taken
    return Found(tuple(names), best, low, high, answer.fun, covariance, rank, weak, float(student.ppf(_TAIL, min(degrees, free))))


def _slopes(
    residuals: Callable[[np.ndarray], np.ndarray], x: np.ndarray, low: np.ndarray, high: np.ndarray, size: np.ndarray
) -> np.ndarray:
    columns = []
    for k in range(len(x)):
        ahead, back = x.copy(), x.copy()
        ahead[k], back[k] = min(x[k] + 1e-4 * size[k], high[k]), max(x[k] - 1e-4 * size[k], low[k])
        columns.append((residuals(ahead) - residuals(back)) / (ahead[k] - back[k]))
    return np.column_stack(columns)


def _certainty(
    names: tuple[str, ...], jacobian: np.ndarray, left: np.ndarray, groups: np.ndarray, size: np.ndarray, beds: Beds | None
) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Covariance (infinite along what is not told), rank, and the directions that are not told."""
    scaled = jacobian * size
    _, singular, directions = np.linalg.svd(scaled, full_matrices=False)
    told = singular > RANK * max(float(singular[0]), 1e-300)
    inverse = directions[told].T @ np.diag(singular[told] ** -2.0) @ directions[told]
    free = max(_live(scaled, left) - int(told.sum()), 1)
    white = inverse * float(left @ left) / free
    _, number = np.unique(groups, return_inverse=True)
    count = int(number.max()) + 1
    covariance = white
    if count >= FEWEST_GROUPS:
        sums = np.zeros((count, len(names)))
        np.add.at(sums, number, scaled * left[:, None])
        covariance = _wider(covariance, inverse @ (sums.T @ sums * count / (count - 1)) @ inverse)
    if beds is not None:
        basis = directions[told].T / singular[told]  # columns of the jacobian in it are of length one, at right angles
        root = beds.root(scaled @ basis, left) @ basis.T
        covariance = _wider(root.T @ root, covariance)
    for direction in directions[~told]:
        open_ones = np.abs(direction) > 1e-3
        covariance = covariance.copy()
        covariance[open_ones, open_ones] = np.inf
    weak = tuple(_words(names, direction) for direction in directions[~told])
    return covariance * np.outer(size, size), int(told.sum()), weak


def _live(scaled: np.ndarray, left: np.ndarray) -> int:
    """Rows that can say anything: not those that are zero and stay so (loads that are carried) whatever the constants are."""
    moved, most = np.abs(scaled).max(axis=1), float(np.abs(left).max(initial=0.0))
    return int(np.count_nonzero((np.abs(left) > INERT * most) | (moved > INERT * float(moved.max(initial=0.0)))))


def _wider(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The covariance that is wider throughout; else the first, each constant's spread no less than in the other."""
    more = np.sqrt(np.diag(other) / np.maximum(np.diag(one), 1e-300))
    if (more > 1.0).all():
        return other
    more = np.maximum(more, 1.0)
    return np.asarray(one * np.outer(more, more))


def _words(names: tuple[str, ...], direction: np.ndarray) -> str:
    order = [k for k in np.argsort(-np.abs(direction)) if abs(direction[k]) > 0.1]
    return " with ".join(f"{names[k]} ({direction[k]:+.2f} of its range)" for k in order)


def groups_of(test: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Tests; where there are few, parts of tests along an order (depth, displacement)."""
    tests = np.unique(test)
    if len(tests) >= FEWEST_GROUPS:
        return test
    parts = int(np.ceil(2 * FEWEST_GROUPS / len(tests)))
    group = np.empty(len(test), dtype=int)
    for number, one in enumerate(tests):
        rows = np.flatnonzero(test == one)
        ranked = rows[np.argsort(order[rows], kind="stable")]
        group[ranked] = number * parts + np.arange(len(rows)) * parts // max(len(rows), 1)
    return group
