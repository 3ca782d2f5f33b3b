"""How many runs each cell gets next. That depends on the file and on finished runs alone: neither on threads, workers and chunks
nor on how often a study was stopped and resumed."""

from dataclasses import dataclass

import numpy as np

from slipfit.study import intervals
from slipfit.study.file import Sampling, Stop

#: Runs of every cell before the first look, and the least that a round adds to one.
FIRST_RUNS, LEAST_MORE = 64, 32

#: Sobol points of every scrambling before the first look; sizes then double, Sobol points are balanced in powers of two.
FIRST_POINTS = 8

#: A cell grows at most so much in one round: its share is not well known yet.
MOST_GROWTH = 4


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known: runs and successes of every cell, by scrambling where there are several, shape (cells, scramblings or 1)."""

    runs: np.ndarray
    successes: np.ndarray

    def probability(self) -> np.ndarray:
        return np.asarray(self.successes.sum(axis=1) / np.maximum(self.runs.sum(axis=1), 1))

    def interval(self, sampling: Sampling, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Low and high of every cell, (cells,)."""
        if sampling.method == "sobol":
            return intervals.over_scramblings(self.successes, self.runs, confidence)
        return intervals.BY_NAME[sampling.interval](self.successes.sum(axis=1), self.runs.sum(axis=1), confidence)

    def half_width(self, sampling: Sampling, confidence: float) -> np.ndarray:
        low, high = self.interval(sampling, confidence)
        return np.asarray(0.5 * (high - low))


def first_counts(cells: int, sampling: Sampling, stop: Stop) -> np.ndarray:
    """Runs of every cell in the first round."""
    if stop.runs is not None:
        return np.full(cells, _whole(-(-stop.runs // cells), sampling))
    allowed = stop.at_most_runs // cells
    if sampling.method != "sobol":
        return np.full(cells, min(FIRST_RUNS, allowed))
    points = min(FIRST_POINTS, 2 ** int(np.log2(allowed // sampling.scramblings)))  # every scrambling has as many
    return np.full(cells, points * sampling.scramblings)


def next_counts(tally: Tally, sampling: Sampling, stop: Stop) -> np.ndarray | None:
    """Runs of every cell after the next round, counted from the beginning; None when enough is known or allowed.

    Adaptive: only cells whose interval is still too wide get more, so runs go where P is undecided. Otherwise all get as many as
    the worst needs.
    """
    have = tally.runs.sum(axis=1).astype(np.int64)
    if stop.half_width is None:
        return None
    half = tally.half_width(sampling, stop.confidence)
    is_open = half > stop.half_width
    left = stop.at_most_runs - int(have.sum())
    if not is_open.any() or left < 1:
        return None
    want = np.array([_wanted(int(n), float(p), float(w), sampling, stop) for n, p, w in zip(
        have, tally.probability(), half, strict=True
    )])  # fmt: skip
    more = np.where(is_open, want - have, 0) if sampling.adaptive else np.full(len(have), (want - have)[is_open].max())
    if more.sum() > left:
        more = _as_allowed(more, half, left, sampling)
    return np.asarray(have + more) if more.any() else None


def _as_allowed(more: np.ndarray, half: np.ndarray, left: int, sampling: Sampling) -> np.ndarray:
    """As many further runs as are left: shared in proportion; for Sobol points, which come in doublings, widest cells first."""
    if sampling.method != "sobol":
        return np.floor(more * (left / float(more.sum()))).astype(np.int64)
    if not sampling.adaptive:
        return np.zeros_like(more)
    given = np.zeros_like(more)
    for cell in np.argsort(-half, kind="stable"):
        if more[cell] <= left:
            given[cell] = more[cell]
            left -= int(more[cell])
    return given


def _wanted(have: int, share: float, half: float, sampling: Sampling, stop: Stop) -> int:
    """Runs with which a cell of this share would be narrow enough, as far as one can tell now."""
    assert stop.half_width is not None
    if sampling.method == "sobol":
        return 2 * have
    likely = (share * have + 2.0) / (have + 4.0)  # a share of 0 or 1 of few runs is not one of all
    need = have
    while need < MOST_GROWTH * have:
        low, high = intervals.BY_NAME[sampling.interval](np.array(likely * need), np.array(need), stop.confidence)
        if 0.5 * float(high - low) <= stop.half_width:
            break
        need += max(LEAST_MORE, need // 32)
    return max(need, have + LEAST_MORE)


def _whole(runs: int, sampling: Sampling) -> int:
    """Whole scramblings, each a power of two."""
    if sampling.method != "sobol":
        return runs
    points = max(1, -(-runs // sampling.scramblings))
    return int(sampling.scramblings * 2 ** int(np.ceil(np.log2(points))))
