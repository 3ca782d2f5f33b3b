"""How well data tell the constants of a law, and its curve: intervals by profile, a band by covariance, correlations, rank.

A constant's 90 % interval holds every value with which the others, fitted anew, leave a sum of squares of at most

    Q_min + s^2 t^2 g^2,    s^2 = Q_min / (n - p),    t = Student's 95 % quantile for n - p

A side on which even the end of the range fits that well is open: there the data give a bound only, or tell nothing.
Residuals of neighbouring slips that go together (a law that has the wrong shape) widen by g, as a sandwich covariance by slip
has it against s^2 (J^T J)^-1.

Symbols    Q sum of squares · n forces · p constants · J jacobian · g widening, at least 1
Reference  profile likelihood: [VenzonMoolgavkar1988]; sandwich: [White1980]
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student
from threadpoolctl import threadpool_limits

from slipfit.calibration.spread import inverse_of
from slipfit.calibration.tyre.data import TyreData
from slipfit.calibration.tyre.law_fit import LATERAL, OFFSETS, Coordinate, LawFit, outer_values, profile, slopes_by
from slipfit.contact import LAWS, curve
from slipfit.twin import FittedParameter, Status

#: Groups of neighbouring slips: as many as this, or fewer where a group would have fewer than the rows below.
MOST_GROUPS, ROWS_OF_A_GROUP = 20, 6

#: Groups are few: their variance counts only beyond this factor, as in `spread`.
EXCUSED = 1.3

#: Halvings of the last step to the end of an interval.
HALVINGS = 5

#: A constant whose spread is more than this share of that of its range is not told.
TOLD = 0.7

#: Directions that tell less than this share of the best-told one are not told (rank).
RANK = 1e-8

_TAIL = 0.95


@dataclass(frozen=True, eq=False, slots=True)
class Certainty:
    """Covariance of a fit in its search coordinates, and what follows for its constants."""

    white: np.ndarray  # covariance if residuals were independent
    grouped: np.ndarray  # covariance by groups of neighbouring slips
    std: np.ndarray  # of the constants, without widening
    is_told: np.ndarray  # whether the data tell more of a coordinate than its range
    correlation: np.ndarray  # of the constants
    widening: np.ndarray  # of each constant
    rank: int
    quantile: float

    def variance(self, slopes: np.ndarray) -> np.ndarray:
        """Variance of numbers whose slopes (n, coordinates) are given, the larger of both covariances."""
        return np.asarray(_variance(self.white, slopes) * _ratio(self.white, self.grouped, slopes))


def _variance(covariance: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))


def _ratio(white: np.ndarray, grouped: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    ratio = _variance(grouped, slopes) / np.maximum(_variance(white, slopes), 1e-300)
    return np.asarray(np.where(ratio > EXCUSED, ratio, 1.0))


def certainty(fit: LawFit, data: TyreData) -> Certainty:
    """Covariance, correlation and rank."""
    jacobian, variance = fit.jacobian, max(fit.variance, 1e-30)
    span = np.array([high - low for low, high in (c.range for c in fit.coordinates)])
    # What is known before: the constant lies in its range. It keeps the band finite where the data tell nothing.
    prior = np.diag(12.0 / span**2)
    white = inverse_of(jacobian.T @ jacobian / variance + prior)
    group = groups_of(data)
    sums = np.zeros((int(group.max()) + 1, jacobian.shape[1]))
    np.add.at(sums, np.tile(group, len(data.forces())), jacobian * fit.residuals[:, None] / variance)
    sums -= sums.mean(axis=0)  # not zero where the best constants lie on an edge of what the law allows
    grouped = white @ (sums.T @ sums * len(sums) / max(len(sums) - 1, 1) + prior) @ white
    slopes = slopes_by(fit.coordinates, fit.inner, lambda inner: np.array(list(outer_values(fit.coordinates, inner).values())))
    constants = slopes @ white @ slopes.T
    std = np.sqrt(np.maximum(np.diag(constants), 1e-300))
    singular = np.linalg.svd(jacobian * span, compute_uv=False)
    return Certainty(
        white,
        grouped,
        std=std,
        is_told=np.diag(white) * np.diag(prior) < TOLD**2,
        correlation=constants / np.outer(std, std),
        widening=np.sqrt(_ratio(white, grouped, slopes)),
        rank=int((singular > RANK * singular[0]).sum()) if singular[0] > 0.0 else 0,
        quantile=float(student.ppf(_TAIL, fit.free)),
    )


def groups_of(data: TyreData) -> np.ndarray:
    """Rows of neighbouring slips, driving and braking apart."""
    count = max(2, min(MOST_GROUPS, len(data) // ROWS_OF_A_GROUP))
    order = np.lexsort((data.resultant_slip, data.slip[:, 0] >= 0.0))
    group = np.empty(len(data), dtype=int)
    group[order] = np.arange(len(data)) * count // len(data)
    return group


def told_constants(fit: LawFit, data: TyreData, known: Certainty) -> dict[str, FittedParameter]:
    """Every constant of the law with its interval, or with what is known of it."""
    source = f"forces {data.digest[:12]}"
    with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
        found = {c.name: _told(fit, data, known, k, source) for k, c in enumerate(fit.coordinates) if c.name not in OFFSETS}
    if LATERAL not in found:
        note = "one axis was measured: the ratio of both is not told"
        found[LATERAL] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
    return {p.name: found[p.name] for p in LAWS[fit.law].parameters}


def _told(fit: LawFit, data: TyreData, known: Certainty, k: int, source: str) -> FittedParameter:
    name, value = fit.coordinates[k].name, fit.values[fit.coordinates[k].name]
    low, high = _interval(fit, data, known, k) if known.is_told[k] else (None, None)
    if low is None and high is None:
        note = "any value within its range fits as well: the data do not tell it"
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
    if low is None or high is None:
        note = f"only a bound: the data fit as well with any {name} {'below' if low is None else 'above'}"
        return FittedParameter(status=Status.BOUND_ONLY, at_least=low, at_most=high, source=source, note=note)
    interval = (min(low, value), max(high, value))
    std = (interval[1] - interval[0]) / (2.0 * known.quantile)
    return FittedParameter(value=value, std=std, interval_90=interval, status=Status.CONVERGED, source=source)


def _interval(fit: LawFit, data: TyreData, known: Certainty, k: int) -> tuple[float | None, float | None]:
    """Both ends of a constant's interval; None on a side that is open."""
    coordinate, reach = fit.coordinates[k], known.quantile * float(known.widening[k])
    limit = float(fit.residuals @ fit.residuals) + fit.variance * reach**2
    low = _end(fit, data, coordinate, coordinate.lowest, limit, step=-0.5 * reach * float(known.std[k]))
    high = _end(fit, data, coordinate, coordinate.highest, limit, step=0.5 * reach * float(known.std[k]))
    return low, high


def _end(fit: LawFit, data: TyreData, coordinate: Coordinate, end: float, limit: float, step: float) -> float | None:
    """Where the sum of squares passes the limit on the way to one end of the range; None where it does not.

    From the best value outwards by doubled steps, so that each search starts near its end.
    """
    inside, start = fit.values[coordinate.name], fit.inner
    if inside == end:
        return None
    while True:
        outside = inside + step if abs(step) < abs(end - inside) else end
        squares, found = profile(fit, data, coordinate.name, outside, start)
        if squares > limit:
            break
        if outside == end:
            return None
        inside, start, step = outside, found, 2.0 * step
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        squares, found = profile(fit, data, coordinate.name, middle, start)
        if squares <= limit:
            inside, start = middle, found
        else:
            outside = middle
    return 0.5 * (inside + outside)


def band(fit: LawFit, known: Certainty, slips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """mu over the resultant slip, and half of its 90 % band."""

    def at(inner: np.ndarray) -> np.ndarray:
        own = {name: value for name, value in outer_values(fit.coordinates, inner).items() if name not in OFFSETS}
        return curve(fit.law, fit.values | own, slips)

    return at(fit.inner), known.quantile * np.sqrt(known.variance(slopes_by(fit.coordinates, fit.inner, at)))
