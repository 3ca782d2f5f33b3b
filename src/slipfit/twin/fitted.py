"""A constant as a calibration found it: value, spread, interval, and whether the drives could tell it at all."""

from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from slipfit.library.files import FileModel
from slipfit.library.parameter import as_float, plain

#: Asymmetry and negative eigenvalues (of the correlations) up to this are rounding.
ROUNDING = 1e-8


def _number(given: Any, info: ValidationInfo) -> float | None:
    return None if given is None else as_float(given, info.field_name or "value")


Number = Annotated[float, BeforeValidator(_number)]
Interval = tuple[Number, Number]


class Status(StrEnum):
    """What a calibration can say about a constant."""

    CONVERGED = "converged"
    AT_BOUND = "at_bound"
    NOT_EXCITED = "not_excited"
    BOUND_ONLY = "bound_only"

    @property
    def has_value(self) -> bool:
        """Whether a number goes with it."""
        return self in (Status.CONVERGED, Status.AT_BOUND)

    @property
    def sentence(self) -> str:
        """What the user reads."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "found",
    Status.AT_BOUND: "sits on the bound of its range: doubt the model or the log",
    Status.NOT_EXCITED: "the drives do not tell it",
    Status.BOUND_ONLY: "below what the sensors resolve: only a bound",
}


def _tell_editors(schema: dict[str, Any]) -> None:
    """JSON schema: a value goes with the statuses that have one."""
    with_value = [status.value for status in Status if status.has_value]
    schema["if"] = {"properties": {"status": {"enum": with_value}}, "required": ["status"]}
    schema["then"] = {"properties": {"value": {"type": "number"}}, "required": ["value"]}
    schema["else"] = {"properties": {"value": {"type": "null"}}}


class FittedParameter(FileModel):
    """One constant. `interval_90` holds 90 %; `at_least` and `at_most` are bounds that hold with 95 %."""

    model_config = ConfigDict(json_schema_extra=_tell_editors)

    value: Number | None = None
    std: Annotated[float, Field(ge=0.0), BeforeValidator(_number)] | None = None
    interval_90: Interval | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    status: Status
    source: str
    note: str = ""

    @model_validator(mode="after")
    def _value_goes_with_status(self) -> "FittedParameter":
        if self.status.has_value and self.value is None:
            raise ValueError(f"value is null although the status is {self.status}; give the value, or another status")
        if not self.status.has_value and self.value is not None:
            raise ValueError(f"value is {self.value:g} although the status is {self.status}; expected value: null")
        if self.status is Status.BOUND_ONLY and self.at_least is None and self.at_most is None:
            raise ValueError("the status is bound_only, but there is no bound; give at_least or at_most")
        return self

    @model_validator(mode="after")
    def _ranges_hold_the_value(self) -> "FittedParameter":
        for name, (low, high) in self._ranges().items():
            if low > high:
                raise ValueError(f"{name} is [{low:g}, {high:g}]; expected the lower end first")
            if self.value is not None and not low <= self.value <= high:
                raise ValueError(f"value = {self.value:g} lies outside {name} = [{low:g}, {high:g}]")
        return self

    def _ranges(self) -> dict[str, tuple[float, float]]:
        low = -np.inf if self.at_least is None else self.at_least
        high = np.inf if self.at_most is None else self.at_most
        ranges = {"[at_least, at_most]": (low, high)}
        return ranges if self.interval_90 is None else {"interval_90": self.interval_90, **ranges}

    @model_serializer(mode="wrap")
    def _as_in_a_file(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A missing value is said (`value: null`), anything else that is missing is left out."""
        data = {key: entry for key, entry in handler(self).items() if entry not in (None, "")}
        if "interval_90" in data:
            data["interval_90"] = list(data["interval_90"])
        return {"value": self.value} | data | {"status": self.status.value}

    def scaled(self, factor: float) -> "FittedParameter":
        """The same constant in another unit, or at another load: value, spread, interval and bounds times a positive factor."""
        times = {key: getattr(self, key) for key in ("value", "std", "at_least", "at_most")}
        update: dict[str, Any] = {key: number * factor for key, number in times.items() if number is not None}
        if self.interval_90 is not None:
            update["interval_90"] = (self.interval_90[0] * factor, self.interval_90[1] * factor)
        return self.model_copy(update=update)

    def text(self) -> str:
        """Value, spread and interval, or the bounds, in one line."""
        return ", ".join(word for word in (self.value_text(), *self._range_texts()) if word) or "unknown"

    def value_text(self) -> str:
        """Value and spread; empty without a value."""
        if self.value is None:
            return ""
        return plain(self.value, 4) + ("" if self.std is None else f" ± {plain(self.std, 2)}")

    def range_text(self) -> str:
        """Interval or bounds; empty without any."""
        return ", ".join(self._range_texts())

    def _range_texts(self) -> list[str]:
        words = []
        if self.interval_90 is not None:
            words.append(f"90 %: {plain(self.interval_90[0], 4)} to {plain(self.interval_90[1], 4)}")
        if self.at_least is not None:
            words.append(f"at least {plain(self.at_least, 4)}")
        if self.at_most is not None:
            words.append(f"at most {plain(self.at_most, 4)}")
        return words


class Covariance(FileModel):
    """How the errors of several constants go together: a symmetric, positive semidefinite matrix."""

    names: list[str]
    matrix: list[list[Number]]

    @model_validator(mode="after")
    def _is_a_covariance(self) -> "Covariance":
        n = len(self.names)
        if len(set(self.names)) < n:
            raise ValueError(f"names are {self.names}; expected each once")
        if len(self.matrix) != n or any(len(row) != n for row in self.matrix):
            rows = [len(row) for row in self.matrix]
            raise ValueError(f"matrix has rows of {rows} numbers; expected {n} rows of {n}, one for each name")
        array = self.array
        spread = np.sqrt(np.clip(array.diagonal(), 0.0, None))
        scale = np.outer(spread, spread)
        if (array.diagonal() < 0.0).any():
            raise ValueError(f"matrix has the variance {array.diagonal().min():g}; expected none below zero")
        if (np.abs(array - array.T) > ROUNDING * scale).any():
            raise ValueError("matrix is not symmetric; expected the same numbers on both sides of its diagonal")
        if (np.abs(array) > scale * (1.0 + ROUNDING)).any():
            raise ValueError("matrix has a covariance larger than its variances allow (a correlation beyond 1)")
        correlations = np.divide(array, scale, out=np.zeros_like(array), where=scale > 0.0)
        if n and np.linalg.eigvalsh(correlations).min() < -ROUNDING * n:
            raise ValueError("matrix is not positive semidefinite: no errors go together like this")
        return self

    @property
    def array(self) -> np.ndarray:
        """The matrix, shape (names, names)."""
        return np.array(self.matrix, dtype=float).reshape(len(self.names), -1)

    def without(self, name: str) -> "Covariance | None":
        """The same without one constant; none where nothing is left."""
        kept = [k for k, other in enumerate(self.names) if other != name]
        if not kept:
            return None
        return Covariance(names=[self.names[k] for k in kept], matrix=self.array[np.ix_(kept, kept)].tolist())
