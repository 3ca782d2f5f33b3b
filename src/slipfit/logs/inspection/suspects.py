"""Who is wrong: the smallest set of mistakes that explains everything the witnesses say about each other.

A mistake multiplies what some witnesses say (by -1, by 57.3, …). Evidence is a ratio between two witnesses and the range in
which it lies when both are right. Every set of mistakes costs the sum of its parts, and every evidence it leaves unexplained
costs more than a mistake, so that two who agree convict a third.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: What an unexplained evidence costs at least and at most; a mistake costs about 1.
UNEXPLAINED, AT_MOST = 2.5, 6.0


@dataclass(frozen=True, slots=True)
class Mistake:
    """`name` says what happened to which quantity; `factor` is what its numbers were multiplied with."""

    name: str
    factor: float
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """A ratio of magnitudes or a sign: `ratio` is the product of factors ** power, times a number within [low, high]."""

    ratio: float
    powers: Mapping[str, int]  # by quantity
    low: float = 1.0
    high: float = 1.0

    def unexplained(self, factors: Mapping[str, float]) -> float:
        """Cost of this evidence under a set of factors, by quantity."""
        expected = math.prod(factors[quantity] ** power for quantity, power in self.powers.items())
        rest = self.ratio / expected
        if rest <= 0.0:
            return AT_MOST
        outside = max(math.log(self.low / rest), math.log(rest / self.high), 0.0)
        return 0.0 if outside <= 1e-9 else min(UNEXPLAINED + 2.0 * outside, AT_MOST)


Verdict = dict[str, Mistake]


def convict(suspects: Mapping[str, Sequence[Mistake]], evidence: Sequence[Evidence]) -> list[tuple[float, Verdict]]:
    """Verdicts from the cheapest on, each with its cost: a mistake by quantity, quantities without one left out."""
    quantities = list(suspects)
    if not any(e.unexplained(dict.fromkeys(quantities, 1.0)) for e in evidence):
        return [(0.0, {})]  # nobody can be cheaper than nobody
    told = []
    for chosen in itertools.product(*([None, *suspects[q]] for q in quantities)):
        mistakes = {q: m for q, m in zip(quantities, chosen, strict=True) if m is not None}
        factors = {q: mistakes[q].factor if q in mistakes else 1.0 for q in quantities}
        cost = sum(m.cost for m in mistakes.values()) + sum(e.unexplained(factors) for e in evidence)
        told.append((cost, mistakes))
    return sorted(told, key=lambda entry: entry[0])
