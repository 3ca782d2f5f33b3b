"""How unsure a number is: distributions as study files write them, by their quantiles.

    value = Q(u),  0 < u < 1

Every distribution is its quantile function Q, so that independent numbers, Sobol points, Latin hypercubes and Saltelli's design
all pass through the same door. Tails beyond a physical bound are cut off (Q of the part of u that is left).
"""

import math
from collections.abc import Callable
from pathlib import Path
from reprlib import repr as shown
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator
from scipy.special import ndtr, ndtri

from slipfit.errors import LogError
from slipfit.library.files import FileModel, validated
from slipfit.logs.csv_table import read_table
from slipfit.simulation.scenario_numbers import Number

#: A tail beyond a bound of the model that holds less than this is cut off without a word; one that holds more is a mistake.
NEGLIGIBLE = 1e-6

#: Measured values of one number at most: a study keeps them in its file.
MOST_MEASURED = 100_000

_KINDS = ("normal", "log_normal", "uniform", "triangular", "empirical")

#: What the numbers of a distribution are, and how many.
_NUMBERS = {
    "normal": (2, "mean and standard deviation, as [0.6, 0.1]"),
    "log_normal": (2, "median and standard deviation of the logarithm, as [0.05, 0.3]"),
    "uniform": (2, "lowest and highest value, as [0.05, 0.2]"),
    "triangular": (3, "lowest, most likely and highest value, as [0.4, 0.6, 0.7]"),
}


class Measured(FileModel):
    """Measured values in a CSV file with a header; empty cells are left out."""

    file: str
    column: str

    def values(self) -> list[float]:
        """All of them, in the file's order."""
        try:
            found = read_table(Path(self.file)).numbers(self.column)
        except LogError as error:
            raise ValueError(str(error).replace(", which the column map (--columns) names", "")) from None
        found = found[~np.isnan(found)]
        if len(found) > MOST_MEASURED:
            raise ValueError(f"{self.file}: {len(found)} values; expected at most {MOST_MEASURED}, take a part of them")
        return [float(value) for value in found]


def _measured(given: Any) -> Any:
    """The values themselves where a file is named."""
    return validated(Measured, given, where="empirical").values() if isinstance(given, dict) else given


MeasuredValues = Annotated[
    list[Number],
    Field(min_length=2),
    BeforeValidator(_measured),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "number"}, "minItems": 2}, Measured.model_json_schema()]}),
]


class Spread(FileModel):
    """One distribution: exactly one of the first five, and where it is cut off."""

    normal: tuple[Number, Number] | None = None  # mean, standard deviation
    log_normal: tuple[Number, Number] | None = None  # median, standard deviation of the natural logarithm
    uniform: tuple[Number, Number] | None = None  # lowest, highest
    triangular: tuple[Number, Number, Number] | None = None  # lowest, most likely, highest
    empirical: MeasuredValues | None = None  # measured values, or the file that holds them; all alike likely
    above: Number | None = None
    below: Number | None = None

    @field_validator(*_NUMBERS, mode="before")
    @classmethod
    def _has_its_numbers(cls, given: Any, info: ValidationInfo) -> Any:
        count, words = _NUMBERS[str(info.field_name)]
        if given is None or (isinstance(given, list | tuple) and len(given) == count):
            return given
        raise ValueError(f"found {shown(given)}; give {words}")

    @model_validator(mode="after")
    def _has_a_spread(self) -> "Spread":
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"found {' and '.join(given) or 'no distribution'}; expected one of {', '.join(_KINDS)}")
        numbers = getattr(self, given[0])
        problem = _problem(given[0], numbers)
        if problem:
            raise ValueError(problem)
        low, high = self.support
        if not low < high:
            raise ValueError(f"above = {low:g} and below = {high:g} leave nothing of {given[0]}; expected above less than below")
        if self.mass(low, high) < NEGLIGIBLE:
            raise ValueError(f"above and below leave {self.mass(low, high):.1g} of {given[0]}; expected a range that it reaches")
        return self

    @property
    def kind(self) -> str:
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def support(self) -> tuple[float, float]:
        """Where values can lie, from `above` to `below`."""
        numbers = getattr(self, self.kind)
        low, high = {
            "normal": (-math.inf, math.inf),
            "log_normal": (0.0, math.inf),
        }.get(self.kind) or (min(numbers), max(numbers))
        return max(low, -math.inf if self.above is None else self.above), min(
            high, math.inf if self.below is None else self.below
        )

    def mass(self, low: float, high: float) -> float:
        """Share of the whole distribution between two values."""
        at_low, at_high = self._share_below(low, is_before=True), self._share_below(high, is_before=False)
        return at_high - at_low

    def beyond(self, low: float, high: float) -> float:
        """Share of what `above` and `below` leave that lies outside."""
        left, right = self.support
        inside = self.mass(max(left, low), min(right, high)) if max(left, low) <= min(right, high) else 0.0
        return 1.0 - inside / self.mass(left, right)

    def quantile(self, low: float = -math.inf, high: float = math.inf) -> Callable[[np.ndarray], np.ndarray]:
        """Q of the distribution cut off at its own limits and at these."""
        left, right = self.support
        left, right = max(left, low), min(right, high)
        if self.kind == "empirical":
            kept = np.sort([value for value in self.empirical or () if left <= value <= right])
            return lambda u: kept[np.clip((np.asarray(u) * len(kept)).astype(np.int64), 0, len(kept) - 1)]
        first, last = self._share_below(left, is_before=True), self._share_below(right, is_before=False)
        whole = self._whole_quantile()

        def of(u: np.ndarray) -> np.ndarray:
            return np.asarray(np.clip(whole(first + (last - first) * np.asarray(u, dtype=float)), left, right))

        return of

    def _share_below(self, x: float, *, is_before: bool) -> float:
        """Share below x; measured values that are x itself count unless `is_before`."""
        a = getattr(self, self.kind)
        if x == math.inf or x == -math.inf:
            return float(x > 0.0)
        if self.kind == "normal":
            return float(ndtr((x - a[0]) / a[1]))
        if self.kind == "log_normal":
            return float(ndtr(math.log(x / a[0]) / a[1])) if x > 0.0 else 0.0
        if self.kind == "uniform":
            return float(min(1.0, max(0.0, (x - a[0]) / (a[1] - a[0]))))
        if self.kind == "triangular":
            low, mode, top = a
            x = min(max(x, low), top)
            rising = (x - low) ** 2 / ((top - low) * (mode - low)) if mode > low else 0.0
            return float(rising if x < mode else 1.0 - ((top - x) ** 2 / ((top - low) * (top - mode)) if top > mode else 0.0))
        return float(np.searchsorted(np.sort(a), x, side="left" if is_before else "right") / len(a))

    def _whole_quantile(self) -> Callable[[np.ndarray], np.ndarray]:
        a = getattr(self, self.kind)
        if self.kind == "normal":
            return lambda u: a[0] + a[1] * ndtri(u)
        if self.kind == "log_normal":
            return lambda u: a[0] * np.exp(a[1] * ndtri(u))
        if self.kind == "uniform":
            return lambda u: a[0] + (a[1] - a[0]) * u
        low, mode, top = a
        turn = (mode - low) / (top - low)
        return lambda u: np.where(
            u < turn,
            low + np.sqrt(np.maximum(u, 0.0) * (top - low) * (mode - low)),
            top - np.sqrt(np.maximum(1.0 - u, 0.0) * (top - low) * (top - mode)),
        )

    def text(self) -> str:
        """As in the file, on one line."""
        numbers = getattr(self, self.kind)
        shown = ", ".join(f"{n:g}" for n in numbers) if len(numbers) <= 4 else f"{len(numbers)} values"
        limits = [f"{word} {limit:g}" for word, limit in (("above", self.above), ("below", self.below)) if limit is not None]
        return f"{self.kind} [{shown}]" + (f", {' and '.join(limits)}" if limits else "")


def _problem(kind: str, a: tuple[float, ...] | list[float]) -> str:
    """What is wrong with the numbers of a distribution, or nothing."""
    without = "has no spread; give it one, or put the plain number under `fixed`"
    if kind in ("normal", "log_normal"):
        if a[1] == 0.0:
            return f"{kind} [{a[0]:g}, 0] {without}"
        if a[1] < 0.0:
            return f"{kind} has a standard deviation of {a[1]:g}; expected more than 0"
        if kind == "log_normal" and a[0] <= 0.0:
            return f"log_normal has a median of {a[0]:g}; expected more than 0"
        return ""
    low, high = min(a), max(a)
    if low == high:
        return f"{kind}: all values are {low:g}, it {without}"
    if kind != "empirical" and list(a) != sorted(a):
        return f"{kind} [{', '.join(f'{n:g}' for n in a)}] is out of order; expected the lowest first"
    return ""
