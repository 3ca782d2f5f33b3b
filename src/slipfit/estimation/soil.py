"""Soil constants from traction against slip: damped, bounded, scaled Gauss-Newton, and what the data cannot tell apart.

    p <- p + J+ (F_obs - F(p)),    p = (c, phi, K)

with columns of J scaled by `SCALES`, J+ the pseudo-inverse over the singular values above `RANK_TOLERANCE` of the largest, steps
halved until the misfit falls, and p kept inside `BOUNDS`. At constant load and area the columns of c and phi are parallel: only K
and the strength A c + W tan(phi) follow; at one slip only the traction there does. The report gives what is told and why the rest
is not (`soil_told`). A prior (c, phi of a soil table) makes all three determined; what comes from it is named.

Symbols    c cohesion (Pa) · phi angle of internal friction (rad) · K shear modulus (m) · F `contact.track_traction`
Reference  [Hackett2011] (GNR); derived in docs/theory/estimation
Valid for  slips above zero; forces are those of the ground on the robot, motion resistance added back
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from slipfit.contact.track_traction import track_traction, track_traction_slopes
from slipfit.errors import FitError, ParameterError
from slipfit.estimation.soil_told import RANK_TOLERANCE, Told, candidates, reasons
from slipfit.library.files import write_json

NAMES = ("cohesion_pa", "friction_angle_rad", "shear_modulus_m")

#: Lengths by which the columns are made comparable: of ordinary soils.
SCALES = np.array([1000.0, 0.3, 0.01])

#: Soils have numbers between these.
BOUNDS = np.array([[0.0, 0.0, 1e-5], [2e5, 1.2, 0.5]])

#: Where the search begins.
START = np.array([1000.0, 0.45, 0.01])

#: When the search ends: steps, halvings of one, and the share by which the misfit still falls.
ITERATIONS, HALVINGS, SETTLED = 200, 20, 1e-12

#: Shares of the largest singular value below which directions are left out where no step along all of them gets on.
COARSER = (1e-3, 1e-1)

#: Readings whose slips and loads differ by less than this share are one to a recursive estimate, with their mean and weight.
CELL = 0.02

#: Steps of the search with each reading of a recursive estimate: it starts where the last one ended.
STEPS_PER_READING = 2


@dataclass(frozen=True, eq=False, slots=True)
class TractionData:
    """Tractions at slips, with the load and the patch of each."""

    slip: np.ndarray
    force_n: np.ndarray
    load_n: np.ndarray
    area_m2: float
    length_m: float
    stretch: np.ndarray | None = None  # number of the stretch of a drive that each comes from: errors go together within it

    def __post_init__(self) -> None:
        n = len(self.slip)
        for name in ("slip", "force_n", "load_n"):
            values = getattr(self, name)
            if len(values) != n or not np.isfinite(values).all():
                raise FitError(
                    f"traction: {name} has {len(values)} values, {int(np.isfinite(values).sum())} finite; expected {n}"
                )
        if n < 3:
            raise FitError(f"traction at {n} slips; expected three or more")
        if not (self.slip > 0.0).all():
            raise FitError(f"traction: the smallest slip is {self.slip.min():g}; expected slips above zero: leave out braking")
        if not (self.area_m2 > 0.0 and self.length_m > 0.0):
            raise ParameterError(f"the patch is {self.area_m2:g} m² and {self.length_m:g} m long; expected both above zero")


@dataclass(frozen=True, slots=True)
class SoilPrior:
    """What is supposed beforehand, as a soil table has it: values and standard deviations of some of `NAMES`."""

    values: Mapping[str, float]
    stds: Mapping[str, float]
    source: str

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if name not in NAMES:
                raise ParameterError(f"the prior names '{name}'; known are {', '.join(NAMES)}")
            std = self.stds.get(name, np.nan)
            if not np.isfinite(value):
                raise ParameterError(f"the prior's {name} is {value:g}; expected a number")
            if not (np.isfinite(std) and std > 0.0):
                raise ParameterError(
                    f"the prior's standard deviation of {name} is {std:g}; expected above zero: no soil is known exactly, and a "
                    f"small one holds it as firmly"
                )

    def rows(self) -> list[tuple[int, float, float]]:
        return [(NAMES.index(name), value, self.stds[name]) for name, value in self.values.items()]


@dataclass(frozen=True, eq=False, slots=True)
class SoilEstimate:
    """Soil constants, or what the data tell instead of them."""

    values: np.ndarray  # (3,) as `NAMES`; NaN where nothing tells
    covariance: np.ndarray  # (3, 3); infinite variances where nothing tells
    rank: int  # of the data alone
    condition: float  # of the scaled Jacobian
    told: tuple[bool, bool, bool]  # by the data and the prior
    told_by_data: tuple[bool, bool, bool]
    combinations: Mapping[str, tuple[float, float]]  # value and standard deviation of what data tell in place of constants
    best: np.ndarray  # (3,) where the search ended, told or not: one point of many that fit alike where something is not told
    rms_n: float
    freedom: int
    prior: str = ""  # source of the prior, where one was used
    at_bound: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def value(self, name: str) -> float:
        return float(self.values[NAMES.index(name)])

    def std(self, name: str) -> float:
        k = NAMES.index(name)
        return float(np.sqrt(self.covariance[k, k]))

    def interval_90(self, name: str) -> tuple[float, float]:
        reach = float(student.ppf(0.95, max(self.freedom, 1))) * self.std(name)
        if not np.isfinite(reach):
            return -np.inf, np.inf
        return self.value(name) - reach, self.value(name) + reach

    def summary(self) -> str:
        rows = [f"soil: rank {self.rank} of 3, condition {self.condition:.3g}, {self.rms_n:.3g} N left"]
        for k, name in enumerate(NAMES):
            if not self.told[k]:
                rows.append(f"  {name:<20}   not told by the data")
                continue
            low, high = self.interval_90(name)
            rows.append(f"  {name:<20}{self.values[k]:>11.5g}   90 % in {low:.5g} to {high:.5g}")
        rows += [
            f"  {name:<20}{value:>11.5g} ± {std:.2g} (standard deviation)" for name, (value, std) in self.combinations.items()
        ]
        if self.prior:
            lent = ", ".join(name for name, is_told in zip(NAMES, self.told_by_data, strict=True) if not is_told)
            whole = f"without it {lent} would not be told" if lent else "the data would tell all three without it"
            rows.append(f"  with a prior from {self.prior}: {whole}")
        return "\n".join([*rows, *(f"  {note}" for note in self.notes)])

    def to_document(self) -> dict[str, Any]:
        numbers = {
            name: {"value": self.value(name), "std": self.std(name), "interval_90": list(self.interval_90(name))}
            if self.told[k]
            else None
            for k, name in enumerate(NAMES)
        }
        return {
            "numbers": numbers, "rank": self.rank, "condition": self.condition, "rms_n": self.rms_n, "prior": self.prior or None,
            "combinations": {name: {"value": v, "std": s} for name, (v, s) in self.combinations.items()},
            "at_bound": list(self.at_bound), "notes": list(self.notes),
        }  # fmt: skip

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def traction(p: np.ndarray, data: TractionData) -> np.ndarray:
    """F(i) of every sample."""
    strength = data.area_m2 * p[0] + data.load_n * np.tan(p[1])
    pairs = zip(strength.tolist(), data.slip.tolist(), strict=True)
    return np.array([track_traction(s, data.length_m, float(p[2]), i) for s, i in pairs])


def jacobian(p: np.ndarray, data: TractionData) -> np.ndarray:
    """Slopes of F by c, phi, K, (n, 3)."""
    strength = data.area_m2 * p[0] + data.load_n * np.tan(p[1])
    pairs = zip(strength.tolist(), data.slip.tolist(), strict=True)
    by_strength, by_modulus = np.array([track_traction_slopes(s, data.length_m, float(p[2]), i) for s, i in pairs]).T
    return np.column_stack([data.area_m2 * by_strength, data.load_n / np.cos(p[1]) ** 2 * by_strength, by_modulus])


def fit_soil(data: TractionData, *, noise_n: float | None = None, prior: SoilPrior | None = None) -> SoilEstimate:
    """Soil constants from tractions; `noise_n` is the forces' standard deviation, by default what the fit leaves."""
    rows = prior.rows() if prior else []
    noise = noise_n if noise_n is not None else max(0.02 * float(np.abs(data.force_n).max()), 1e-9)
    p = START.copy()
    for k, value, _ in rows:
        p[k] = np.clip(value, *BOUNDS[:, k])
    for _ in range(1 if noise_n is not None else 3):
        p = _solved(p, data, rows, noise)
        left = data.force_n - traction(p, data)
        if noise_n is None:
            noise = max(float(np.sqrt(left @ left / max(len(left) - 3, 1))), 1e-9)
    return _report(p, data, rows, noise, prior)


def _stacked(
    p: np.ndarray, data: TractionData, rows: Sequence[tuple[int, float, float]], noise: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals over their noise, and the scaled Jacobian: data, then the prior."""
    residual = [(data.force_n - traction(p, data)) / noise]
    matrix = [_slopes(p, data, noise)]
    for k, value, std in rows:
        residual.append(np.array([(value - p[k]) / std]))
        matrix.append((np.eye(3)[k] * SCALES / std)[None])
    return np.concatenate(residual), np.vstack(matrix)


def _slopes(p: np.ndarray, data: TractionData, noise: float | np.ndarray) -> np.ndarray:
    """The scaled Jacobian of the data, over their noise."""
    return np.asarray(jacobian(p, data) * SCALES / np.reshape(noise, (-1, 1)))


def _solved(
    p: np.ndarray,
    data: TractionData,
    rows: Sequence[tuple[int, float, float]],
    noise: float | np.ndarray,
    iterations: int = ITERATIONS,
) -> np.ndarray:
    """Gauss-Newton over the told directions, steps halved and clipped; K never more than halves or doubles in one.

    Where no step along all told directions lowers the misfit, one along the strongest of them may (`COARSER`).
    """
    residual, matrix = _stacked(p, data, rows, noise)
    cost = float(residual @ residual)
    for _ in range(iterations):
        free = ~(((p <= BOUNDS[0]) & (matrix.T @ residual < 0.0)) | ((p >= BOUNDS[1]) & (matrix.T @ residual > 0.0)))
        for step in _steps(p, matrix[:, free], residual, free):
            tried = np.clip(p + step, *BOUNDS)
            new_residual, new_matrix = _stacked(tried, data, rows, noise)
            new_cost = float(new_residual @ new_residual)
            if new_cost < cost:
                break
        else:
            return p
        gained = cost - new_cost
        p, residual, matrix, cost = tried, new_residual, new_matrix, new_cost
        if gained <= SETTLED * cost:
            return p
    return p


def _steps(p: np.ndarray, matrix: np.ndarray, residual: np.ndarray, free: np.ndarray) -> Iterator[np.ndarray]:
    """Steps to try, one after the other."""
    for tolerance in (RANK_TOLERANCE, *COARSER):
        step = np.zeros(3)
        step[free] = np.linalg.pinv(matrix, rcond=tolerance) @ residual
        step *= SCALES
        step[2] = np.clip(step[2], -0.5 * p[2], p[2])
        for _ in range(HALVINGS):
            yield step
            step = 0.5 * step


def _report(
    p: np.ndarray,
    data: TractionData,
    rows: Sequence[tuple[int, float, float]],
    noise: float | np.ndarray,
    prior: SoilPrior | None,
) -> SoilEstimate:
    slopes = _slopes(p, data, noise)
    alone, whole = Told.of(slopes), Told.of(_stacked(p, data, rows, noise)[1])
    notes = reasons(slopes, data.slip, data.load_n, data.length_m, float(p[2])) if alone.rank < 3 else []
    if notes and not rows:
        notes.append("a prior from a soil table stands in for what is not told")
    left = data.force_n - traction(p, data)
    return SoilEstimate(
        values=np.where(whole.constants, p, np.nan),
        covariance=whole.covariance() * np.outer(SCALES, SCALES),
        rank=alone.rank,
        condition=alone.condition,
        told=whole.constants,
        told_by_data=alone.constants,
        combinations=_combinations(p, data, alone) if alone.rank < 3 else {},
        best=p,
        rms_n=float(np.sqrt(np.mean(left**2))),
        freedom=len(left) - alone.rank,
        prior=prior.source if prior else "",
        at_bound=tuple(
            name for k, name in enumerate(NAMES) if whole.constants[k] and (p[k] <= BOUNDS[0, k] or p[k] >= BOUNDS[1, k])
        ),
        notes=tuple(notes),
    )


def _combinations(p: np.ndarray, data: TractionData, alone: Told) -> dict[str, tuple[float, float]]:
    """The most useful numbers that lie outside the null space of the data."""
    for some in candidates(p, data.area_m2, float(np.median(data.load_n)), _tractions(p, data)):
        told = {name: (value, alone.std(by * SCALES)) for name, (value, by) in some.items() if alone.tells(by * SCALES)}
        if told:
            return told
    return {}


def _tractions(p: np.ndarray, data: TractionData) -> dict[str, tuple[float, np.ndarray]]:
    """F at the middle slip and the smallest and largest load, with slopes."""
    slip = float(np.median(data.slip))
    found = {}
    for load in dict.fromkeys([float(data.load_n.min()), float(data.load_n.max())]):
        at = TractionData(np.full(3, slip), np.zeros(3), np.full(3, load), data.area_m2, data.length_m)
        found[f"F at slip {slip:.3g} and {load:.5g} N, N"] = float(traction(p, at)[0]), jacobian(p, at)[0]
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Cells(TractionData):
    """Means of like readings: any number of them."""

    def __post_init__(self) -> None:
        pass


class RecursiveSoil:
    """The same constants, reading by reading, from a prior that has to be given: the best fit to all readings and the prior.

    Readings of like slip and load are kept as their mean and weight, so that all of them are linearised at the same, newest
    constants. A Kalman filter linearises each at its time; the sum then seems to tell what none tells, and at one slip such a
    filter was sure of a wrong K. With a `walk` (standard deviation of the constants' change from reading to reading) the prior
    widens by it and old readings fade, by at least as much.

    `values` and `covariance` are those of prior and readings together, also of what no reading tells; `report` says what that is.
    """

    def __init__(
        self, prior: SoilPrior, *, area_m2: float, length_m: float, noise_n: float, walk: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        missing = [name for name in NAMES if name not in prior.values]
        if missing:
            raise ParameterError(
                f"a recursive estimate starts from all of {', '.join(NAMES)}; the prior lacks {', '.join(missing)}"
            )
        if not noise_n > 0.0:
            raise ParameterError(f"noise_n is {noise_n:g}; expected above zero")
        self.prior, self.area_m2, self.length_m, self.noise_n = prior, area_m2, length_m, noise_n
        self.walk = np.asarray(walk, dtype=float)
        self.values: np.ndarray = np.clip([prior.values[name] for name in NAMES], *BOUNDS)
        self.covariance = np.diag([prior.stds[name] ** 2 for name in NAMES])
        self.count = 0
        self._place: dict[tuple[int, float], int] = {}  # of cells in the sums
        self._sums = np.zeros((0, 5))  # by cell: weight, and weighted slip, force, load, squared force

    def update(self, slip: float, force_n: float, load_n: float) -> np.ndarray:
        """One reading; what is not finite, or no driving slip, changes nothing. The values, as `NAMES`."""
        if not (np.isfinite([slip, force_n, load_n]).all() and 0.0 < slip <= 1.0):
            return self.values
        if self.walk.any():
            faster = np.linalg.solve(self.covariance, np.diag(self.walk**2))
            self._sums = self._sums / (1.0 + float(np.linalg.eigvals(faster).real.max()))
        cell = round(np.log(slip) / CELL), round(np.log(load_n) / CELL) if load_n > 0.0 else load_n
        k = self._place.setdefault(cell, len(self._sums))
        if k == len(self._sums):
            self._sums = np.vstack([self._sums, np.zeros(5)])
        self._sums[k] += (1.0, slip, force_n, load_n, force_n**2)
        self.count += 1
        cells, noise = self._cells()
        self.values = _solved(self.values, cells, self._prior_rows(), noise, STEPS_PER_READING)
        matrix = _stacked(self.values, cells, self._prior_rows(), noise)[1]
        self.covariance = np.linalg.inv(matrix.T @ matrix) * np.outer(SCALES, SCALES)
        return self.values

    def report(self) -> SoilEstimate:
        """As `fit_soil` reports: what the readings tell by themselves, and what is the prior's."""
        if not self.count:
            raise FitError("no reading yet: nothing to report; expected driving slips, above 0 and up to 1")
        cells, noise = self._cells()
        found = _report(self.values, cells, self._prior_rows(), noise, self.prior)
        weight, _, force, _, squares = self._sums.T
        within = np.maximum(squares - force**2 / weight, 0.0)
        left = weight * (cells.force_n - traction(self.values, cells)) ** 2 + within
        rms = float(np.sqrt(left.sum() / weight.sum()))
        return replace(found, rms_n=rms, freedom=self.count - found.rank, covariance=self.covariance)

    def _cells(self) -> tuple[TractionData, np.ndarray]:
        """Means of like readings, and their noise."""
        weight = self._sums[:, 0]
        slip, force, load = (self._sums[:, 1:4] / weight[:, None]).T
        return _Cells(slip, force, load, self.area_m2, self.length_m), self.noise_n / np.sqrt(weight)

    def _prior_rows(self) -> list[tuple[int, float, float]]:
        return [(k, value, float(np.sqrt(std**2 + self.count * self.walk[k] ** 2))) for k, value, std in self.prior.rows()]
