"""Soil constants from traction against slip: damped, bounded, scaled Gauss-Newton, and what the data cannot tell apart.

    p <- p + J+ (F_obs - F(p)),    p = (c, phi, K)

with columns of J scaled by `SCALES`, J+ the pseudo-inverse over the singular values above `RANK_TOLERANCE` of the largest, steps
halved until the misfit falls, and p kept inside `BOUNDS`. At constant load and area the columns of c and phi are parallel: only K
and the strength A c + W tan(phi) follow, and the report says so instead of giving c and phi. A prior (c, phi of a soil table)
makes all three determined; what comes from it is named.

Symbols    c cohesion (Pa) · phi angle of internal friction (rad) · K shear modulus (m) · F `contact.track_traction`
Reference  [Hackett2011] (GNR); derived in docs/theory/estimation
Valid for  slips above zero; forces are those of the ground on the robot, motion resistance added back
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from slipfit.contact.track_traction import track_traction, track_traction_slopes
from slipfit.errors import FitError, ParameterError
from slipfit.library.files import write_json

NAMES = ("cohesion_pa", "friction_angle_rad", "shear_modulus_m")

#: Lengths by which the columns are made comparable: of ordinary soils.
SCALES = np.array([1000.0, 0.3, 0.01])

#: Soils have numbers between these.
BOUNDS = np.array([[0.0, 0.0, 1e-5], [2e5, 1.2, 0.5]])

#: Where the search begins.
START = np.array([1000.0, 0.45, 0.01])

#: Singular values of the scaled Jacobian below this share of the largest say nothing.
RANK_TOLERANCE = 1e-5

#: When the search ends: steps, halvings of one, and the share by which the misfit still falls.
ITERATIONS, HALVINGS, SETTLED = 200, 20, 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class TractionData:
    """Tractions at slips, with the load and the patch of each."""

    slip: np.ndarray
    force_n: np.ndarray
    load_n: np.ndarray
    area_m2: float
    length_m: float

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

    @property
    def is_constant_load(self) -> bool:
        return bool(np.ptp(self.load_n) <= 1e-9 * max(1.0, float(np.abs(self.load_n).max())))


@dataclass(frozen=True, slots=True)
class SoilPrior:
    """What is supposed beforehand, as a soil table has it: values and standard deviations of some of `NAMES`."""

    values: Mapping[str, float]
    stds: Mapping[str, float]
    source: str

    def rows(self) -> list[tuple[int, float, float]]:
        return [(NAMES.index(name), value, self.stds[name]) for name, value in self.values.items()]


@dataclass(frozen=True, eq=False, slots=True)
class SoilEstimate:
    """Soil constants, or what the data tell instead of them."""

    values: np.ndarray  # (3,) as `NAMES`
    covariance: np.ndarray  # (3, 3); infinite variances where nothing tells
    rank: int  # of the data alone
    condition: float  # of the scaled Jacobian
    told: tuple[bool, bool, bool]
    combinations: Mapping[str, tuple[float, float]]  # value and standard deviation of what is told in place of constants
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
        return self.value(name) - reach, self.value(name) + reach

    def summary(self) -> str:
        rows = [f"soil: rank {self.rank} of 3, condition {self.condition:.3g}, {self.rms_n:.3g} N left"]
        for k, name in enumerate(NAMES):
            if not self.told[k]:
                rows.append(f"  {name:<20} not told by the data alone")
                continue
            low, high = self.interval_90(name)
            rows.append(f"  {name:<20}{self.values[k]:>11.5g}   90 % in {low:.5g} to {high:.5g}")
        rows += [f"  {name:<20}{value:>11.5g} ± {std:.2g}" for name, (value, std) in self.combinations.items()]
        if self.prior:
            rows.append(f"  with a prior from {self.prior}: cohesion and friction angle are partly its own")
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
    p: np.ndarray, data: TractionData, rows: Sequence[tuple[int, float, float]], noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals over their noise, and the scaled Jacobian: data, then the prior."""
    residual = [(data.force_n - traction(p, data)) / noise]
    matrix = [jacobian(p, data) * SCALES / noise]
    for k, value, std in rows:
        residual.append(np.array([(value - p[k]) / std]))
        matrix.append((np.eye(3)[k] * SCALES / std)[None])
    return np.concatenate(residual), np.vstack(matrix)


def _solved(p: np.ndarray, data: TractionData, rows: Sequence[tuple[int, float, float]], noise: float) -> np.ndarray:
    """Gauss-Newton over the told directions, steps halved and clipped; K never more than halves or doubles in one."""
    residual, matrix = _stacked(p, data, rows, noise)
    cost = float(residual @ residual)
    for _ in range(ITERATIONS):
        free = ~(((p <= BOUNDS[0]) & (matrix.T @ residual < 0.0)) | ((p >= BOUNDS[1]) & (matrix.T @ residual > 0.0)))
        step = np.zeros(3)
        step[free] = np.linalg.pinv(matrix[:, free], rcond=RANK_TOLERANCE) @ residual
        step *= SCALES
        step[2] = np.clip(step[2], -0.5 * p[2], p[2])
        for _ in range(HALVINGS):
            tried = np.clip(p + step, *BOUNDS)
            new_residual, new_matrix = _stacked(tried, data, rows, noise)
            new_cost = float(new_residual @ new_residual)
            if new_cost < cost:
                break
            step = 0.5 * step
        else:
            return p
        gained = cost - new_cost
        p, residual, matrix, cost = tried, new_residual, new_matrix, new_cost
        if gained <= SETTLED * cost:
            return p
    return p


def _report(
    p: np.ndarray, data: TractionData, rows: Sequence[tuple[int, float, float]], noise: float, prior: SoilPrior | None
) -> SoilEstimate:
    alone = jacobian(p, data) * SCALES
    singular = np.linalg.svd(alone, compute_uv=False)
    rank = int((singular > RANK_TOLERANCE * singular[0]).sum())
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float("inf")
    _, matrix = _stacked(p, data, rows, noise)
    _, values, directions = np.linalg.svd(matrix, full_matrices=False)
    kept = values > RANK_TOLERANCE * values[0]
    variances = np.where(kept, 1.0 / np.maximum(values, 1e-300) ** 2, 0.0)
    covariance = (directions.T * variances) @ directions * np.outer(SCALES, SCALES)
    blind = np.abs(directions[~kept]) > 1e-3
    told = tuple(bool(not blind[:, k].any()) for k in range(3))
    for k in range(3):
        if not told[k]:
            covariance[k, k] = np.inf
    left = data.force_n - traction(p, data)
    freedom = len(left) - rank
    combinations, notes = {}, []
    if rank < 3:
        load = float(np.median(data.load_n))
        strength = data.area_m2 * p[0] + load * np.tan(p[1])
        flat = np.column_stack([alone[:, 2] / SCALES[2], _by_strength(p, data)]) / noise
        spread = np.linalg.pinv(flat.T @ flat)
        combinations["A c + W tan(phi), N"] = (float(strength), float(np.sqrt(spread[1, 1])))
        same = "the load is the same throughout" if data.is_constant_load else "the load hardly changes"
        notes.append(f"{same}: cohesion and friction angle act alike; told are K and A c + W tan(phi) at {load:.5g} N")
        if not rows:
            notes.append("vary the load, or give a prior from a soil table, to tell them apart")
    at_bound = tuple(name for k, name in enumerate(NAMES) if p[k] <= BOUNDS[0, k] or p[k] >= BOUNDS[1, k])
    rms = float(np.sqrt(np.mean(left**2)))
    return SoilEstimate(
        p, covariance, rank, condition, (told[0], told[1], told[2]), combinations, rms, freedom,
        prior.source if prior else "", at_bound, tuple(notes),
    )  # fmt: skip


def _by_strength(p: np.ndarray, data: TractionData) -> np.ndarray:
    return np.array([track_traction_slopes(1.0, data.length_m, float(p[2]), i)[0] for i in data.slip.tolist()])


class RecursiveSoil:
    """The same constants, sample by sample: an iterated Kalman update of (c, phi, K) from a prior that has to be given."""

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
        self.values = np.array([prior.values[name] for name in NAMES])
        self.covariance = np.diag([prior.stds[name] ** 2 for name in NAMES])
        self.area_m2, self.length_m, self.noise_n, self.walk = area_m2, length_m, noise_n, np.asarray(walk, dtype=float)

    def update(self, slip: float, force_n: float, load_n: float) -> np.ndarray:
        """One reading; what is not finite, or no driving slip, changes nothing. The values, as `NAMES`."""
        if not (np.isfinite([slip, force_n, load_n]).all() and 0.0 < slip <= 1.0):
            return self.values
        self.covariance = self.covariance + np.diag(self.walk**2)
        start, p = self.values, self.values
        for _ in range(3):
            slopes, here = self._linear(p, slip, load_n)
            column = self.covariance @ slopes
            gain = column / (slopes @ column + self.noise_n**2)
            p = np.clip(start + gain * (force_n - here - slopes @ (start - p)), *BOUNDS)
        self.covariance = self.covariance - np.outer(gain, column)
        self.covariance = 0.5 * (self.covariance + self.covariance.T)
        self.values = p
        return self.values

    def _linear(self, p: np.ndarray, slip: float, load_n: float) -> tuple[np.ndarray, float]:
        strength = self.area_m2 * p[0] + load_n * np.tan(p[1])
        by_strength, by_modulus = track_traction_slopes(float(strength), self.length_m, float(p[2]), slip)
        slopes = np.array([self.area_m2 * by_strength, load_n / np.cos(p[1]) ** 2 * by_strength, by_modulus])
        return slopes, float(track_traction(float(strength), self.length_m, float(p[2]), slip))
