"""Pieces of work: which runs are left, and a table of what they gave. The one function that workers run is here."""

import math
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from slipfit.errors import SlipfitError
from slipfit.study.model import Model
from slipfit.study.sample import Span
from slipfit.study.verdicts import Arrays, Verdicts

#: A task lasts about so long: a hundred times what it costs to send it, and little is lost with it.
TASK_S = 1.5

#: Runs of the first task, whose speed nobody knows; later ones grow at most so much from one to the next.
FIRST_TASK, TASK_GROWTH = 64, 8

#: Runs of a task at most: its table is 100 MB at ten columns.
MOST_RUNS = 1_000_000

Table = dict[str, np.ndarray]


class Inputs(Protocol):
    """Where the inputs of runs come from: samples of a study, or the design for its Sobol indices."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def shown(self, name: str) -> str: ...

    def inputs(self, spans: Sequence[Span]) -> dict[str, np.ndarray]: ...

    def run_numbers(self, span: Span) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker needs to evaluate any run of a study."""

    model: Model
    sampler: Inputs


@dataclass(frozen=True)
class Chunk:
    """Some runs to evaluate in one go."""

    serial: int
    spans: tuple[Span, ...]

    @property
    def runs(self) -> int:
        return sum(len(span) for span in self.spans)


#: How runs end whose numbers are refused: a soil that carries nothing, a step out of reach. It is a failure like others.
NOT_POSSIBLE = "not possible"


def outcomes_of(model: Model) -> tuple[str, ...]:
    """What the codes of runs mean; the first is success."""
    return (*model.outcomes, NOT_POSSIBLE)


def evaluate_possible(model: Model, inputs: Arrays, workers: int) -> Verdicts:
    """Verdicts of all runs. Where the model refuses a batch, halves are tried, down to the runs that it refuses by themselves:
    one draw that cannot be does not end a study, and what a run gets does not depend on its neighbours."""
    n = len(next(iter(inputs.values())))
    try:
        return model.evaluate(inputs, workers)
    except SlipfitError:
        if n == 1:
            nothing = {name: np.full(1, np.nan) for name in model.measures}
            return Verdicts(np.full(1, len(model.outcomes), dtype=np.int16), nothing)
    halves = [{name: column[part] for name, column in inputs.items()} for part in (slice(n // 2), slice(n // 2, n))]
    first, second = (evaluate_possible(model, half, workers) for half in halves)
    measures = {name: np.concatenate([first.measures[name], second.measures[name]]) for name in model.measures}
    return Verdicts(np.concatenate([first.outcome, second.outcome]), measures)


def evaluate_chunk(job: Job, spans: Sequence[Span], workers: int) -> tuple[Table, float]:
    """Sample, evaluate, and tabulate: one row per run; and the seconds that it took."""
    began = time.perf_counter()
    inputs = job.sampler.inputs(spans)
    verdicts = evaluate_possible(job.model, inputs, workers)
    table: Table = {
        "run": np.concatenate([job.sampler.run_numbers(span) for span in spans]),
        "cell": np.concatenate([np.full(len(span), span.cell, dtype=np.int32) for span in spans]),
        "place": np.concatenate([np.arange(span.first, span.last, dtype=np.int64) for span in spans]),
        "outcome": verdicts.outcome,
        "success": verdicts.outcome == 0,
        **{job.sampler.shown(name): column for name, column in inputs.items()},
        **verdicts.measures,
    }
    return table, time.perf_counter() - began


@dataclass
class Queue:
    """Runs that are left to do, handed out in chunks of about `TASK_S`."""

    spans: deque[Span]
    chunk_runs: int | None = None
    size: int = FIRST_TASK
    serial: int = 0
    returned: list[Chunk] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.spans or self.returned)

    def take(self, sharing: int = 1) -> Chunk:
        """The next chunk; one that was lost comes first. The last ones are small, so that `sharing` workers end together."""
        if self.returned:
            return self.returned.pop()
        share = math.ceil(sum(len(span) for span in self.spans) / sharing)
        wanted = self.chunk_runs or min(self.size, max(share, min(self.size, FIRST_TASK)))
        spans = []
        while wanted and self.spans:
            span = self.spans.popleft()
            piece = Span(span.cell, span.first, min(span.last, span.first + wanted))
            if piece.last < span.last:
                self.spans.appendleft(Span(span.cell, piece.last, span.last))
            spans.append(piece)
            wanted -= len(piece)
        self.serial += 1
        return Chunk(self.serial, tuple(spans))

    def give_back(self, chunk: Chunk) -> None:
        self.returned.append(chunk)

    def took(self, runs: int, seconds: float) -> None:
        """Learn from a chunk how many runs make a task."""
        if runs < self.size / 2:
            return
        wanted = TASK_S * runs / max(seconds, 1e-4)
        size = min(wanted, TASK_GROWTH * self.size, MOST_RUNS)
        self.size = FIRST_TASK * max(1, math.ceil(size / FIRST_TASK))


def missing(wanted: Iterable[int], done: Sequence[np.ndarray]) -> list[Span]:
    """Spans of each cell that are wanted (the first so many) and not done; `done` tells for each cell which places are."""
    spans = []
    for cell, (count, places) in enumerate(zip(wanted, done, strict=True)):
        is_done = np.zeros(int(count) + 2, dtype=np.int8)
        is_done[0] = is_done[-1] = 1
        inside = places[places < count]
        is_done[inside + 1] = 1
        change = np.diff(is_done)
        starts, ends = np.flatnonzero(change == -1), np.flatnonzero(change == 1)
        spans += [Span(cell, int(a), int(b)) for a, b in zip(starts, ends, strict=True)]
    return spans
