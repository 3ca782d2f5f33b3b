"""Is this floor another floor? Numbers of two drives compared by their spreads; each drive predicted with the other's numbers.

With theta the numbers of one rung from either drive, and C their covariances over blocks of time:

    W = d^T (C1 + C2)^-1 d,    d = theta1 - theta2,    W (n - k + 1) / (n k) ~ F(k, n - k + 1)  if both floors are one

with k numbers and n = blocks of both drives less 2 (Hotelling's test: spreads come from blocks too).

A long drive tells differences that nobody would feel, so that another floor needs both: numbers that differ, and predictions
that get worse by more than `WORSE`, both ways together. A single number is kept per ground where its own d^2 / var(d) exceeds
the logarithm of the number of blocks (Schwarz's criterion); numbers of the robot itself (`OF_THE_ROBOT`) are shared by what
they mean. Both drives then tell the shared numbers together, with phi = (shared, own of the first, own of the second) and A_i
the choice of drive i's numbers out of phi:

    min over phi of the sum of (theta_i - A_i phi)^T C_i^-1 (theta_i - A_i phi)

Valid for  two drives of one robot; sensors' clocks belong to a drive and are found anew
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import f as fisher

from slipfit.calibration.ladder.comparison import Drive, Ladder, Scored, scored
from slipfit.calibration.ladder.fit import FittedRung, fit_rung, measured
from slipfit.calibration.ladder.pooled import PooledFit
from slipfit.calibration.ladder.rungs import Rung, Values
from slipfit.calibration.spread import inverse_of
from slipfit.calibration.unknowns import Unknown
from slipfit.library.deviation import finite_median
from slipfit.library.files import write_json
from slipfit.logs.rims import Rims

#: Another floor's numbers may predict this much worse than a drive's own before the floors count as different.
WORSE = 0.1

#: Numbers that predict each other so much worse do not agree, however wide their spreads.
FAR_WORSE = 0.5

#: Floors whose numbers differ this surely are told apart.
SURE = 0.01

#: Numbers that change with the robot and its load, not with the ground.
OF_THE_ROBOT = ("x_m", "centre_of_mass_x_m", "centre_of_mass_y_m")


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a rung on both floors."""

    name: str
    first: float
    second: float
    std: float  # of the difference
    is_shared: bool
    together: float | None = None  # of a shared number: what both drives tell, and its spread
    together_std: float | None = None

    @property
    def apart(self) -> float:
        """The difference in its standard deviations."""
        return (self.first - self.second) / self.std if self.std > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class Carried:
    """Median errors over one drive's windows, with its own numbers (on blocks that they have not seen) and with the other's."""

    onto: str
    own_m: float
    own_rad: float
    other_m: float
    other_rad: float

    @property
    def worse(self) -> float:
        """The larger share by which the other's numbers predict worse; NaN without errors."""
        pairs = ((self.own_m, self.other_m), (self.own_rad, self.other_rad))
        shares = [other / own - 1.0 for own, other in pairs if np.isfinite(own) and own > 0.0]
        return max(shares) if shares else float("nan")

    def to_document(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("own_m", "own_rad", "other_m", "other_rad", "worse")}
        return {"onto": self.onto} | {name: value if np.isfinite(value) else None for name, value in numbers.items()}


@dataclass(frozen=True, slots=True)
class FloorTest:
    """Two drives, one rung."""

    names: tuple[str, str]
    rung: str
    numbers: tuple[Number, ...]
    wald: float
    probability: float  # of numbers this different, on one floor
    carried: tuple[Carried, ...]  # first's numbers onto the second, and back; empty where only numbers are compared

    @property
    def is_same(self) -> bool:
        """Numbers do not differ, or nobody would feel it; not where they agree only because they say little."""
        return self._is_unfelt or (self.probability > SURE and not self.worse > FAR_WORSE)

    @property
    def is_other(self) -> bool:
        """Numbers differ, and predictions suffer: not merely unknown."""
        return not self._is_unfelt and self.probability <= SURE

    @property
    def worse(self) -> float:
        """How much worse the other's numbers predict, place or heading, both ways together: what one drive happens to lose by the
        other's numbers, the other gains. NaN where only numbers are compared."""
        ratios = np.array([(c.other_m / c.own_m, c.other_rad / c.own_rad) for c in self.carried]).reshape(-1, 2)
        told = ratios[:, np.isfinite(ratios).all(axis=0)]
        return float(np.exp(np.log(told).mean(axis=0)).max() - 1.0) if told.size else float("nan")

    @property
    def _is_unfelt(self) -> bool:
        return self.worse <= WORSE

    @property
    def verdict(self) -> str:
        if self.probability > SURE and self.worse > FAR_WORSE:
            return "cannot be told: numbers agree within their spreads, but predict each other badly; drive more, with turns"
        if self.probability > SURE:
            return "the same floor, as far as these drives tell"
        return "floors that differ, but hardly in what is predicted" if self._is_unfelt else "another floor"

    @property
    def per_ground(self) -> tuple[str, ...]:
        return tuple(n.name for n in self.numbers if not n.is_shared)

    def summary(self) -> str:
        first, second = self.names
        rows = [
            f"{first} and {second}, {self.rung}: {self.verdict}",
            f"  numbers differ by W = {self.wald:.1f}, probability on one floor {self.probability:.2g}",
            f"  {'number':<22}{'first':>11}{'second':>11}{'apart':>9}",
        ]
        rows += [f"  {n.name:<22}{n.first:>11.4g}{n.second:>11.4g}{n.apart:>+8.1f}s   {_kept(n)}" for n in self.numbers]
        for c in self.carried:
            own, other = (_errors(m, rad) for m, rad in ((c.own_m, c.own_rad), (c.other_m, c.other_rad)))
            worse = f" ({100.0 * c.worse:+.0f} %)" if np.isfinite(c.worse) else ""
            rows.append(f"  {c.onto}: {own} with its own numbers; {other} with the other's{worse}")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "drives": list(self.names),
            "rung": self.rung,
            "is_same": self.is_same,
            "verdict": self.verdict,
            "worse": self.worse if np.isfinite(self.worse) else None,
            "wald": self.wald,
            "probability": self.probability,
            "numbers": [
                {
                    "name": n.name,
                    "first": n.first,
                    "second": n.second,
                    "std": n.std,
                    "is_shared": n.is_shared,
                    "together": n.together,
                    "together_std": n.together_std,
                }
                for n in self.numbers
            ],
            "carried": [c.to_document() for c in self.carried],
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def _errors(place_m: float, heading_rad: float) -> str:
    """Those that something tells: without poses there is no place."""
    told = [f"{e:.{digits}f} {unit}" for e, digits, unit in ((place_m, 3, "m"), (heading_rad, 4, "rad")) if np.isfinite(e)]
    return ", ".join(told) or "-"


@dataclass(frozen=True, slots=True)
class KnownRung:
    """A rung whose numbers are given: only clocks are left to find."""

    base: Rung
    values: Values

    @property
    def name(self) -> str:
        return f"{self.base.name}, numbers given"

    @property
    def about(self) -> str:
        return self.base.about

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        return ()

    @property
    def starts(self) -> tuple[Values, ...]:
        return ()

    def twists(self, rims: Rims, sets: Sequence[Values]) -> list[np.ndarray]:
        return self.base.twists(rims, [self.values]) * len(sets)


def same_floor(one: Ladder, other: Ladder, rung: str | None = None) -> FloorTest:
    """Two ladders of one robot, by the rung of this name; without one, by what the first ladder chose."""
    name = one.chosen.name if rung is None else rung
    return _tested((one.drive, other.drive), (one[name], other[name]))


def same_floor_of_drives(one: Drive, other: Drive, rung: Rung) -> FloorTest:
    """Two drives of one robot, by any rung: fitted and scored here."""
    return _tested((one, other), (scored(rung, one), scored(rung, other)))


def same_floor_of_pools(one: PooledFit, other: PooledFit, names: tuple[str, str]) -> FloorTest:
    """Two floors with many runs each, without poses: by their numbers alone."""
    freedom = min(one.freedom, other.freedom)
    voices = sum(len(fit.runs) for fit in (one, other))
    told = _compared(one.names, (one.values, other.values), (one.covariance, other.covariance), freedom, voices)
    return FloorTest(names, one.rung.name, *told, ())


def _tested(drives: tuple[Drive, Drive], ends: tuple[Scored, Scored]) -> FloorTest:
    fits = [end.fit for end in ends]
    rung, count = fits[0].rung, len(fits[0].rung.unknowns)
    blocks = [fit.blocks for fit in fits]
    told = _compared(
        tuple(u.name for u in rung.unknowns), tuple(fit.values[:count] for fit in fits),
        tuple(fit.covariance[:count, :count] for fit in fits), float(max(3, sum(blocks) - 2)), sum(blocks),
    )  # fmt: skip
    carried = (_carried(fits[0], drives[1], ends[1]), _carried(fits[1], drives[0], ends[0]))
    return FloorTest((drives[0].name, drives[1].name), rung.name, *told, carried)


def _compared(
    names: Sequence[str], values: Sequence[np.ndarray], covariances: Sequence[np.ndarray], freedom: float, voices: int
) -> tuple[tuple[Number, ...], float, float]:
    first, second = values
    together = covariances[0] + covariances[1]
    difference = first - second
    std = np.sqrt(np.maximum(np.diag(together), 0.0))
    numbers = []
    for k, name in enumerate(names):
        apart2 = (difference[k] / std[k]) ** 2 if std[k] > 0.0 else 0.0
        shared = name in OF_THE_ROBOT or apart2 <= np.log(voices)
        numbers.append(Number(name, float(first[k]), float(second[k]), float(std[k]), bool(shared)))
    shared_at = [k for k, n in enumerate(numbers) if n.is_shared]
    for k, (value, spread) in zip(shared_at, _together(values, covariances, shared_at), strict=True):
        numbers[k] = replace(numbers[k], together=value, together_std=spread)
    wald = float(difference @ inverse_of(together) @ difference) if len(names) else 0.0
    rest = max(1.0, freedom - len(names) + 1.0)
    probability = float(fisher.sf(wald * rest / (freedom * len(names)), len(names), rest)) if len(names) else 1.0
    return tuple(numbers), wald, probability


def _together(values: Sequence[np.ndarray], covariances: Sequence[np.ndarray], shared: list[int]) -> list[tuple[float, float]]:
    """Shared numbers from both drives at once: each one's own numbers follow where they are correlated with the shared ones."""
    count, own = len(values[0]), [k for k in range(len(values[0])) if k not in shared]
    size = len(shared) + 2 * len(own)
    information, right = np.zeros((size, size)), np.zeros(size)
    for drive, (theta, covariance) in enumerate(zip(values, covariances, strict=True)):
        choice = np.zeros((count, size))
        choice[shared, range(len(shared))] = 1.0
        choice[own, range(len(shared) + drive * len(own), len(shared) + (drive + 1) * len(own))] = 1.0
        weight = inverse_of(covariance)
        information += choice.T @ weight @ choice
        right += choice.T @ weight @ theta
    spread = inverse_of(information)
    found = spread @ right
    return [(float(found[k]), float(np.sqrt(max(spread[k, k], 0.0)))) for k in range(len(shared))]


def _kept(number: Number) -> str:
    if not number.is_shared or number.together is None:
        return "per ground"
    return f"shared: {number.together:.4g} ± {number.together_std:.2g}"


def _carried(fit: FittedRung, onto: Drive, own: Scored) -> Carried:
    """The fit's numbers on another drive, whose clocks are found anew."""
    windows = onto.windows
    known = fit_rung(KnownRung(fit.rung, fit.as_values()), onto.rims, windows)
    apart = (known.predict(onto.rims, windows) - measured(windows))[windows.believed]
    place, heading = np.hypot(apart[:, 0], apart[:, 1]), np.abs(apart[:, 2])
    return Carried(onto.name, own.median_m, own.median_rad, finite_median(place), finite_median(heading))
