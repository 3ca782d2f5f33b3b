"""How well a law or a flexible curve predicts forces that it was not fitted to: each repeat is left out in its turn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.calibration.tyre.data import TyreData
from slipfit.calibration.tyre.flexible import fit_flexible
from slipfit.calibration.tyre.intervals import groups_of
from slipfit.calibration.tyre.law_fit import LawFit, fit_law

FLEXIBLE = "flexible"

#: Standard errors by which a law must be worse than the best one to be out: one side of 90 %.
CLEARLY = 1.3

#: Without repeats the rows are dealt into this many parts.
PARTS = 5


@dataclass(frozen=True, eq=False, slots=True)
class HeldOut:
    """Errors of one candidate on what was left out, root mean square in N by axis."""

    name: str
    constants: int | None  # None: a curve without constants
    rms_n: dict[str, float]
    worst_n: dict[str, float]  # of the repeat that fits worst
    squares: np.ndarray | None = None  # (T,) of each row, N^2, both axes; not part of files

    @property
    def total_n(self) -> float:
        """Both axes in one number."""
        return float(np.sqrt(np.mean([value**2 for value in self.rms_n.values()])))

    def to_document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "constants": self.constants,
            "rms_n": self.rms_n,
            "worst_repeat_rms_n": self.worst_n,
            "total_rms_n": self.total_n,
        }


def parts_of(data: TyreData) -> np.ndarray:
    """What is left out together: repeats, or, where there is one only, every fifth row by slip."""
    if data.repeats > 1:
        return data.repeat
    part = np.empty(len(data), dtype=int)
    part[np.argsort(data.resultant_slip, kind="stable")] = np.arange(len(data)) % min(PARTS, len(data))
    return part


def law_held_out(fit: LawFit, data: TyreData, *, with_offsets: bool) -> HeldOut:
    """Errors of a law, fitted anew without each part."""

    def predict(train: TyreData, test: TyreData) -> Mapping[str, np.ndarray]:
        # The fit of all rows is where the search starts, no more: what was left out has no part in where it ends.
        return fit_law(fit.law, train, start=fit.values | fit.offsets, with_offsets=with_offsets).predict(test)

    return _held_out(fit.law, len(fit.coordinates), data, predict)


def flexible_held_out(data: TyreData) -> HeldOut:
    """Errors of the flexible curve."""
    return _held_out(FLEXIBLE, None, data, lambda train, test: fit_flexible(train).predict(test))


def _held_out(name: str, constants: int | None, data: TyreData, predict: Any) -> HeldOut:
    part = parts_of(data)
    errors = {axis: np.zeros(len(data)) for axis in data.forces()}
    for left_out in np.unique(part):
        test = data.rows(part == left_out)
        predicted = predict(data.rows(part != left_out), test)
        for axis, force in test.forces().items():
            errors[axis][part == left_out] = force - predicted[axis]
    worst = {axis: max(_rms(each[part == k]) for k in np.unique(part)) for axis, each in errors.items()}
    squares = np.asarray(sum(each**2 for each in errors.values()))
    return HeldOut(name, constants, {axis: _rms(each) for axis, each in errors.items()}, worst, squares)


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def best_law(candidates: Sequence[HeldOut], data: TyreData) -> HeldOut:
    """The law with the least error; of those that are not clearly worse, the one with the fewest constants.

    Clearly: the squares of both differ, over groups of neighbouring slips, by more than `CLEARLY` standard errors.
    """
    laws = [c for c in candidates if c.constants is not None]
    best, group = min(laws, key=lambda c: c.total_n), groups_of(data)

    def is_as_good(law: HeldOut) -> bool:
        assert law.squares is not None
        assert best.squares is not None
        worse = np.bincount(group, law.squares - best.squares)
        return float(worse.sum()) <= CLEARLY * float(worse.std(ddof=1)) * math.sqrt(len(worse))

    return min((law for law in laws if law is best or is_as_good(law)), key=lambda c: (c.constants, c.total_n))
