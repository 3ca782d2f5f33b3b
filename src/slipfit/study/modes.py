"""What the runs of a study say besides P: how they failed and where, and which inputs move P."""

from dataclasses import dataclass

import numpy as np

from slipfit.study import intervals

#: The region of a failure is told by these quantiles of its inputs; P is compared between the lowest and highest of these shares.
REGION, TAIL = (0.05, 0.5, 0.95), 0.1


@dataclass(frozen=True)
class Mode:
    """One way to fail: how often, where (5, 50 and 95 % of each input among these runs), and a run to look at."""

    name: str
    runs: int
    share: float
    low: float
    high: float
    region: dict[str, tuple[float, float, float]]
    example: dict[str, float]
    example_run: int

    @property
    def words(self) -> str:
        """Its name for people: timed_out is timed out."""
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class Swing:
    """P among the runs with the lowest tenth of an input, and among those with the highest, each with its interval."""

    name: str
    at_low: tuple[float, float, float]
    at_high: tuple[float, float, float]

    @property
    def size(self) -> float:
        return abs(self.at_high[0] - self.at_low[0])


def even_weights(cell: np.ndarray) -> np.ndarray:
    """A weight for every run so that each cell counts alike, however many runs it got; they sum to 1."""
    _, index, count = np.unique(cell, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / (len(count) * count[index]))


def failure_modes(
    table: dict[str, np.ndarray], names: tuple[str, ...], outcomes: tuple[str, ...], confidence: float
) -> tuple[Mode, ...]:
    """Ways to fail, the most frequent first. The example is the run nearest to the middle of its region."""
    outcome, weight = table["outcome"], even_weights(table["cell"])
    modes = []
    for code, name in enumerate(outcomes):
        chosen = outcome == code
        if code == 0 or not chosen.any():
            continue
        share, low, high = _share(chosen, weight, confidence)
        region = {key: _region(table[key][chosen], weight[chosen]) for key in names}
        away = np.zeros(int(chosen.sum()))
        for key, (left, middle, right) in region.items():
            away += ((table[key][chosen] - middle) / max(right - left, 1e-300)) ** 2
        at = np.flatnonzero(chosen)[int(np.argmin(away))]
        example = {key: float(table[key][at]) for key in names}
        modes.append(Mode(name, int(chosen.sum()), share, low, high, region, example, int(table["run"][at])))
    return tuple(sorted(modes, key=lambda mode: -mode.share))


def quantiles(values: np.ndarray, weight: np.ndarray, shares: tuple[float, ...]) -> list[float]:
    """The values below which these shares of the weight lie: each is one of the values."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    at = np.searchsorted(below, np.asarray(shares) * below[-1] * (1.0 - 1e-12))
    return [float(value) for value in values[order][np.minimum(at, len(order) - 1)]]


def _region(values: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    left, middle, right = quantiles(values, weight, REGION)
    return left, middle, right


def _share(chosen: np.ndarray, weight: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Weighted share of the chosen runs, and Wilson's interval with as many runs as the weights are worth [Kish1965]."""
    whole = float(weight.sum())
    share = float(weight[chosen].sum()) / whole
    worth = whole**2 / float(np.sum(weight * weight))
    low, high = intervals.wilson(np.array(share * worth), np.array(worth), confidence)
    return share, float(low), float(high)


def tornado(table: dict[str, np.ndarray], names: tuple[str, ...], confidence: float) -> tuple[Swing, ...]:
    """How P moves with each input, from the runs that are there: the largest swing first."""
    success, weight = table["success"], even_weights(table["cell"])
    swings = []
    for name in names:
        column = table[name]
        cuts = quantiles(column, weight, (TAIL, 1.0 - TAIL))
        tails = (column <= cuts[0], column >= cuts[1])
        ends = [_share(success[tail], weight[tail], confidence) for tail in tails]
        swings.append(Swing(name, ends[0], ends[1]))
    return tuple(sorted(swings, key=lambda swing: -swing.size))
