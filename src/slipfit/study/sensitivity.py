"""Which inputs decide: Sobol indices of the verdict by SALib, from Saltelli's design of runs.

    S_i = V(E(Y | x_i)) / V(Y)         share of the variance that x_i explains by itself
    T_i = E(V(Y | x_~i)) / V(Y)        share that is left when all but x_i are known

Y is 1 for success and 0 otherwise; design variables count as even over their range. Inputs that are drawn together (correlated, a
twin's posterior, a ground's table) are one group, because indices of dependent inputs are not shares of anything.

Reference  [Saltelli2010] for the estimators, intervals by bootstrap, as in [SALib2017]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from slipfit.study.sample import Part, Sampler, Span
from slipfit.study.spread import Spread

#: Bootstrap resamples of the intervals.
RESAMPLES = 200


@dataclass(frozen=True)
class Index:
    """Sobol indices of one input or group, each with the half width of its interval."""

    name: str
    first: float
    first_half_width: float
    total: float
    total_half_width: float


@dataclass(frozen=True, eq=False)
class SaltelliSampler:
    """Inputs of the runs behind the indices: one cell, place k is row k of the design."""

    seed: int
    base_runs: int
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, sampler: Sampler, base_runs: int) -> "SaltelliSampler":
        return cls(sampler.seed, base_runs, (*_design_parts(sampler), *sampler.parts))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)

    @property
    def groups(self) -> tuple[str, ...]:
        """What the indices are of, one entry per uniform number: parts of one label go together."""
        return tuple(part.label for part in self.parts for _ in part.names)

    @property
    def runs(self) -> int:
        return self.base_runs * (len(dict.fromkeys(self.groups)) + 2)

    def run_numbers(self, span: Span) -> np.ndarray:
        return np.arange(span.first, span.last, dtype=np.int64)

    def inputs(self, spans: Sequence[Span]) -> dict[str, np.ndarray]:
        design = _saltelli(self.groups, self.base_runs, self.seed)
        u = np.concatenate([design[span.first : span.last] for span in spans])
        columns: dict[str, np.ndarray] = {}
        start = 0
        for part in self.parts:
            columns |= part.values(u[:, start : start + len(part.names)])
            start += len(part.names)
        return columns


def _design_parts(sampler: Sampler) -> list[Part]:
    """Design variables as unsure numbers: even from their lowest to their highest value; those with one value do not vary."""
    parts = []
    for d, name in enumerate(sampler.design_names):
        low, high = float(sampler.cells[:, d].min()), float(sampler.cells[:, d].max())
        if low < high:
            even = Spread(uniform=(low, high))
            parts.append(Part(name, (name,), entries=(even,), bounds=((low, high),)))
    return parts


def _problem(groups: tuple[str, ...]) -> dict[str, Any]:
    bounds = [[2.0**-53, 1.0 - 2.0**-53]] * len(groups)
    problem: dict[str, Any] = {"num_vars": len(groups), "names": [f"x{k}" for k in range(len(groups))], "bounds": bounds}
    return problem | ({"groups": list(groups)} if len(set(groups)) < len(groups) else {"names": list(groups)})


@lru_cache(maxsize=2)
def _saltelli(groups: tuple[str, ...], base_runs: int, seed: int) -> np.ndarray:
    from SALib.sample import sobol

    return np.asarray(sobol.sample(_problem(groups), base_runs, calc_second_order=False, scramble=True, seed=seed))


def sobol_indices(sampler: SaltelliSampler, verdict: np.ndarray, confidence: float) -> tuple[Index, ...]:
    """Indices from the verdicts of all runs of the design, in its order. None where all runs ended alike: nothing varies then."""
    from SALib.analyze import sobol

    verdict = np.asarray(verdict, dtype=float)
    if verdict.min() == verdict.max():
        return ()
    found = sobol.analyze(
        _problem(sampler.groups),
        verdict,
        calc_second_order=False,
        num_resamples=RESAMPLES,
        conf_level=confidence,
        seed=sampler.seed,
    )
    labels = list(dict.fromkeys(sampler.groups))
    rows = zip(labels, found["S1"], found["S1_conf"], found["ST"], found["ST_conf"], strict=True)
    return tuple(Index(label, *(float(number) for number in numbers)) for label, *numbers in rows)
