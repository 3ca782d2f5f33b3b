"""Means of readings and their intervals: the rules that all odometer constants share.

    mean = sum(w x) / sum(w),    w = 1 / s^2,    u^2 = max(1, B) / sum(w) + (r mean)^2,    B = chi^2 / (n - 1)

Symbols    x, s readings and their own errors · B Birge ratio: readings that scatter more than they should widen the spread ·
           r relative error that all of them share
Reference  interval mean +- t u with the degrees of freedom of Welch and Satterthwaite: JCGM 100:2008 annex G.4
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from slipfit.twin import FittedParameter, Status

#: Sides differ when their constants do so by more than this many standard deviations of the difference (two-sided 99 %).
DIFFERENT = 2.58


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its standard deviation (NaN: not known), and how many independent readings stand behind that."""

    value: float
    std: float
    freedom: float = math.inf

    @property
    def half_width_90(self) -> float:
        return float(stats.t.ppf(0.95, self.freedom) if math.isfinite(self.freedom) else stats.norm.ppf(0.95)) * self.std

    @property
    def spread_text(self) -> str:
        return "unknown" if math.isnan(self.std) else f"{self.std:.6f}"

    def times(self, factor: float, relative_std: float = 0.0) -> "Estimate":
        """A multiple, by a factor that has an error of its own."""
        std = abs(factor) * math.hypot(self.std, relative_std * self.value)
        own = abs(factor) * self.std
        freedom = math.inf if own == 0.0 else self.freedom * (std / own) ** 4
        return Estimate(self.value * factor, std, freedom)

    def differs_from(self, other: "Estimate") -> bool:
        return abs(self.value - other.value) > DIFFERENT * math.hypot(self.std, other.std)

    def fitted(self, source: str, note: str = "") -> FittedParameter:
        """As a twin holds it; a positive constant's interval does not reach below zero. Without a spread there is none."""
        if math.isnan(self.std):
            return FittedParameter(value=self.value, status=Status.CONVERGED, source=source, note=note)
        low, high = self.value - self.half_width_90, self.value + self.half_width_90
        return FittedParameter(
            value=self.value,
            std=self.std,
            interval_90=(max(0.0, low) if self.value >= 0.0 else low, high),
            status=Status.CONVERGED,
            source=source,
            note=note,
        )


def mean_of(values: Sequence[float], stds: Sequence[float], *, shared: float = 0.0) -> Estimate:
    """The weighted mean of readings that have errors of their own (above zero), and a relative one in common."""
    x, weight = np.asarray(values, dtype=float), 1.0 / np.square(np.asarray(stds, dtype=float))
    mean, n = float(weight @ x / weight.sum()), len(x)
    birge = float(weight @ (x - mean) ** 2) / (n - 1) if n > 1 else 0.0
    random = max(1.0, birge) / float(weight.sum())
    u = math.sqrt(random + (shared * mean) ** 2)
    freedom = math.inf if birge <= 1.0 else u**4 / (random**2 / (n - 1))
    return Estimate(mean, u, freedom)
