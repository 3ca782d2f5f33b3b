"""Where chunks are evaluated: here, on the threads of this process. `Backend` is what a cluster does too."""

import os
from collections.abc import Callable, Iterator
from typing import Protocol

from slipfit.study.chunk import Chunk, Job, Queue, Table, evaluate_chunk

Begin = Callable[[Chunk, str], None]


class Backend(Protocol):
    """Evaluates what a queue holds. Chunks come back in any order, each once; the next is begun after the caller has kept it."""

    @property
    def about(self) -> str:
        """For people: where runs are evaluated."""

    def evaluate(self, job: Job, queue: Queue, begin: Begin) -> Iterator[tuple[Chunk, Table]]:
        """All chunks of the queue; `begin` is told of each before it starts."""

    def close(self) -> None: ...


class Threads:
    """One chunk after the other, each on all threads: kernels spread a batch over cores by themselves."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1

    @property
    def about(self) -> str:
        return f"{self.workers} thread{'s' if self.workers > 1 else ''} of this machine"

    def evaluate(self, job: Job, queue: Queue, begin: Begin) -> Iterator[tuple[Chunk, Table]]:
        while queue:
            chunk = queue.take()
            begin(chunk, "here")
            table, seconds = evaluate_chunk(job, chunk.spans, self.workers)
            queue.took(chunk.runs, seconds)
            yield chunk, table

    def close(self) -> None:
        pass
