"""What a law tells about itself: its parameters, their ranges, its paper. The list of all laws is in `laws`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One constant of a law as it stands in files: the unit is in its name."""

    name: str
    about: str
    lower: float = 0.0
    upper: float = math.inf
    default: float | None = None  # None: a file must give it
    alias: str | None = None  # short name accepted everywhere


@dataclass(frozen=True, slots=True)
class LawInfo:
    """One law: what it is called, what it means, what it needs, and how its compiled model is built."""

    name: str
    about: str
    formula: str
    valid_for: str
    references: tuple[str, ...]  # keys of library/references.bib
    parameters: tuple[LawParameter, ...]
    build: Callable[[Mapping[str, Any]], Any]  # values by parameter name -> NamedTuple; values may be arrays, one per run
    example: Mapping[str, float]  # a typical set, used by plots and by the battery of tests
    holds_at_rest: bool = True  # False: a load creeps however small it is

    def parameter(self, name: str) -> LawParameter | None:
        """The parameter of that name or short name."""
        return next((p for p in self.parameters if name in (p.name, p.alias)), None)

    def model(self, values: Mapping[str, Any]) -> Any:
        """The compiled model's constants, with defaults filled in."""
        filled = {p.name: p.default for p in self.parameters if p.default is not None}
        return self.build(filled | dict(values))
