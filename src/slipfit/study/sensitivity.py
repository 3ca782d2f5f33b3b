"""Which inputs decide: Sobol indices of the verdict by SALib, from Saltelli's design of runs.

    S_i = V(E(Y | x_i)) / V(Y)         share of the variance that x_i explains by itself
    T_i = E(V(Y | x_~i)) / V(Y)        share that is left when all but x_i are known

Y is 1 for success and 0 otherwise; design variables count as even over their range. Inputs that are drawn together (correlated, a
twin's posterior, a ground's table) are one group, because indices of dependent inputs are not shares of anything.

The design is 16 independently scrambled ones of a sixteenth of the rows each. Indices are those of all rows together; their
intervals are Student's, from the scatter of what is left when one scrambling after the other is left out (jackknife: an index is
a ratio, and a mean of ratios of few rows would be biased). Rows of one scrambling are spread evenly, so a bootstrap that draws
them as if they were independent makes intervals two to three times too wide.

Reference  [Saltelli2010] for the estimators, as in [SALib2017]; [Owen1997] for scramblings; [Efron1981] for the jackknife
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from slipfit.errors import ParameterError
from slipfit.study.file import LEAST_SCRAMBLINGS
from slipfit.study.intervals import exact
from slipfit.study.sample import Part, Sampler, Span
from slipfit.study.spread import Spread

#: Memory of Saltelli's design, which every worker holds (bytes).
MOST_BYTES = 2_000_000_000

#: Independent scramblings of the design; base_runs, a power of two from 64 on, is a multiple of it.
SCRAMBLINGS = LEAST_SCRAMBLINGS


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
    sampler: Sampler

    @classmethod
    def of(cls, sampler: Sampler, base_runs: int) -> "SaltelliSampler":
        found = cls(sampler.seed, base_runs, (*_design_parts(sampler), *sampler.parts), sampler)
        size = 8 * found.runs * len(found.names)
        if size > MOST_BYTES:
            raise ParameterError(
                f"sensitivity.base_runs = {base_runs} with {len(found.names)} inputs makes a design of {size / 1e9:.3g} GB; "
                f"expected at most {MOST_BYTES / 1e9:g} GB, take fewer"
            )
        return found

    def shown(self, name: str) -> str:
        return self.sampler.shown(name)

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
            parts.append(Part(sampler.shown(name), (name,), entries=(even,), bounds=((low, high),)))
    return parts


def _problem(groups: tuple[str, ...]) -> dict[str, Any]:
    bounds = [[2.0**-53, 1.0 - 2.0**-53]] * len(groups)
    problem: dict[str, Any] = {"num_vars": len(groups), "names": [f"x{k}" for k in range(len(groups))], "bounds": bounds}
    return problem | ({"groups": list(groups)} if len(set(groups)) < len(groups) else {"names": list(groups)})


@lru_cache(maxsize=2)
def _saltelli(groups: tuple[str, ...], base_runs: int, seed: int) -> np.ndarray:
    """Scrambling after scrambling: each is a design of its own, the same whatever the others are."""
    from SALib.sample import sobol

    designs = [
        sobol.sample(
            _problem(groups),
            base_runs // SCRAMBLINGS,
            calc_second_order=False,
            scramble=True,
            seed=np.random.default_rng([seed, scrambling]),
        )
        for scrambling in range(SCRAMBLINGS)
    ]
    return np.concatenate(designs)


def sobol_indices(sampler: SaltelliSampler, verdict: np.ndarray, confidence: float) -> tuple[Index, ...]:
    """Indices from the verdicts of all runs of the design, in its order. None where all runs ended alike: nothing varies then."""
    is_good = np.asarray(verdict, dtype=bool)
    share = is_good.mean()
    if share in (0.0, 1.0):
        return ()
    labels = list(dict.fromkeys(sampler.groups))
    rows = is_good.reshape(SCRAMBLINGS, -1, len(labels) + 2)  # of A, of A with a column of B for each label, of B
    good = rows.sum(axis=(1, 2))
    share_without = (good.sum() - good) / (is_good.size * (1.0 - 1.0 / SCRAMBLINGS))
    found = []
    for k, label in enumerate(labels):
        kinds = np.array([np.bincount(4 * own[:, 0] + 2 * own[:, -1] + own[:, k + 1], minlength=8) for own in rows])
        every = kinds.sum(axis=0)
        first, total = _estimates(every, share)
        first_half, total_half = (_half_width(left, confidence) for left in _estimates(every - kinds, share_without))
        least = _least_half_width(every, share, confidence)
        found.append(Index(label, float(first), max(first_half, least), float(total), max(total_half, least)))
    return tuple(found)


def _half_width(without: np.ndarray, confidence: float) -> float:
    """Student's half width from estimates that lack one scrambling each."""
    variance = (SCRAMBLINGS - 1) / SCRAMBLINGS * np.sum((without - without.mean()) ** 2)
    return float(stats.t.isf(0.5 * (1.0 - confidence), SCRAMBLINGS - 1) * np.sqrt(variance))


def _least_half_width(kinds: np.ndarray, share: float, confidence: float) -> float:
    """Where an input turned fewer verdicts than there are scramblings, or none, they say little about their scatter: T, and S
    which is at most T, are then as unsure at least as the share of turned verdicts is by its exact interval."""
    rows, turned = kinds.sum(), int(sum(kinds[kind] for kind in range(8) if kind >> 2 != kind & 1))
    if turned >= SCRAMBLINGS:
        return 0.0
    _, high = exact(np.array(turned), rows, confidence)
    return float(0.5 * (high - turned / rows) / (share * (1.0 - share)))


def _estimates(kinds: np.ndarray, share: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S and T [Saltelli2010] from how many rows of the eight kinds (y_A, y_B, y_AB) there are, shape (..., 8); 0 where y does not
    vary. Verdicts are taken less their mean over all runs, the share: S is biased otherwise."""
    a, b, ab = (
        np.array([(kind >> bit) & 1 for kind in range(8)]) - np.asarray(share, dtype=float)[..., None] for bit in (2, 1, 0)
    )
    runs = kinds.sum(axis=-1)
    mean = np.sum(kinds * (a + b), axis=-1) / (2 * runs)
    variance = np.sum(kinds * (a * a + b * b), axis=-1) / (2 * runs) - mean * mean
    explained, left = np.sum(kinds * (b * (ab - a)), axis=-1) / runs, 0.5 * np.sum(kinds * (a - ab) ** 2, axis=-1) / runs
    varies = variance > np.finfo(float).eps
    per = np.where(varies, 1.0 / np.where(varies, variance, 1.0), 0.0)
    return explained * per, left * per
