"""What a law tells about itself: its parameters, their ranges, its paper. The list of all laws is in `laws`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One constant of a law as it stands in files: the unit is in its name, or `unit`."""

    name: str
    about: str
    lower: float = 0.0
    upper: float = math.inf
    default: float | None = None
    alias: str | None = None  # short name accepted everywhere
    same_as: str | None = None  # where it is not given, another parameter's value serves
    unit: str = ""  # where the name does not end in it

    @property
    def is_required(self) -> bool:
        """Whether a file must give it."""
        return self.default is None and self.same_as is None


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
    rigid: Callable[[Mapping[str, Any]], Any] | None = None  # as `build`, for the part of a wheel between two rollers
    problem: Callable[[Mapping[str, Any]], str] = lambda values: ""  # a sentence when constants do not go together
    needs_gravity: bool = False  # soil is pushed away against its weight: `build` gets gravity_mps2 too

    def parameter(self, name: str) -> LawParameter | None:
        """The parameter of that name or short name."""
        return next((p for p in self.parameters if name in (p.name, p.alias)), None)

    def model(self, values: Mapping[str, Any]) -> Any:
        """The compiled model's constants, with defaults filled in."""
        return self.build(self._complete(values))

    def rigid_model(self, values: Mapping[str, Any]) -> Any:
        """The same for the part of a wheel between two rollers; of laws that have `rigid`."""
        assert self.rigid is not None, f"{self.name} does not know wheels with rollers"
        return self.rigid(self._complete(values))

    def _complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        filled = {p.name: p.default for p in self.parameters if p.default is not None} | dict(values)
        twins = {p.name: filled[p.same_as] for p in self.parameters if p.same_as and p.name not in filled}
        return filled | twins
