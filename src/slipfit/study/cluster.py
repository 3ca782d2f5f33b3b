"""The same study on many machines, by dask.distributed (extra `cluster`).

Each worker has one chunk at a time, placed by us. So at most one chunk per worker is lost with whatever dies, and a worker that
hangs is noticed by our own clock: its chunk goes to another worker, the first answer counts, and the silent one gets nothing more
until it answers. Which worker evaluates a run does not matter to the bit (`sample`), and every table is kept once, by its serial.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import slipfit
from slipfit.errors import SimulationError
from slipfit.study.chunk import TASK_S, Chunk, Job, Queue, Table, evaluate_chunk
from slipfit.study.threads import Begin

#: How long to wait for a cluster to answer at all, and for its first worker.
REACH_S, FIRST_WORKER_S = 10.0, 60.0

#: A task is given up on after this time, or after so many times the longest that came back.
SILENT_S, SILENT_TIMES = 20.0, 8.0

#: The first task of a worker imports everything and may compile kernels: it is given more time.
COMPILING_S = 300.0

#: How often a chunk may fail with an error before the study stops.
RETRIES = 3

#: How often we look for workers that came or went, and for silent ones.
_LOOK_S = 0.5

#: How often we ask whether a task is done: far less than a task lasts, and no load.
_POLL_S = 0.005


@dataclass
class _Task:
    chunk: Chunk
    worker: str
    future: Any
    began_s: float


@dataclass
class _State:
    """What is under way."""

    tasks: dict[str, _Task] = field(default_factory=dict)  # by worker
    silent: dict[str, _Task] = field(default_factory=dict)  # by worker: its chunk was given to another one
    done: set[int] = field(default_factory=set)  # serials of this queue
    failures: dict[int, int] = field(default_factory=dict)
    longest_s: float = TASK_S


class Cluster:
    """Workers of a cluster at an address, or so many processes of this machine."""

    def __init__(self, address: str | None = None, *, processes: int | None = None, silent_s: float = SILENT_S) -> None:
        try:
            import distributed
        except ImportError:
            raise SimulationError(
                "--cluster needs dask.distributed, which is not installed; install slipfit[cluster], or leave --cluster out"
            ) from None
        self._silent_s = silent_s
        self._seen: dict[str, int] = {}  # threads of workers whose version was checked
        self._warm: set[str] = set()  # workers that have given a result
        self._local: Any = None
        if address is None:
            self._local = distributed.LocalCluster(
                n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
        try:
            self._client: Any = distributed.Client(self._local or address, timeout=REACH_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SimulationError(
                f"--cluster {address}: does not answer ({_first_line(error)}); start `dask scheduler` and workers there, or "
                f"check the address"
            ) from None
        self.address = address or self._client.scheduler_info()["address"]
        self._wait_for_workers()

    @property
    def about(self) -> str:
        return f"{len(self._seen)} workers at {self.address}"

    @property
    def processes(self) -> dict[str, int]:
        """Process of every worker, by its address."""
        return {str(k): int(v) for k, v in self._client.run(eval, "__import__('os').getpid()", on_error="ignore").items()}

    def evaluate(self, job: Job, queue: Queue, begin: Begin) -> Iterator[tuple[Chunk, Table]]:
        """See `Backend`. A chunk whose worker dies or falls silent is evaluated by another one."""
        state = _State()
        while queue or state.tasks:
            self._hand_out(job, queue, state, begin)
            for task in self._finished(state):
                table, seconds = self._collect(task, queue, state)
                if table is None:
                    continue
                state.longest_s = max(state.longest_s, seconds)
                queue.took(task.chunk.runs, seconds)
                yield task.chunk, table
            self._look_after(queue, state)
        self._client.cancel([task.future for task in state.silent.values()])

    def close(self) -> None:
        for part in (self._client, self._local):
            if part is not None:
                with contextlib.suppress(TimeoutError, OSError):  # a worker that hangs does not keep us from going
                    part.close(timeout=5)

    # --- workers ------------------------------------------------------------------------------------------------------

    def _wait_for_workers(self) -> None:
        until = time.monotonic() + FIRST_WORKER_S
        while not self._workers():
            if time.monotonic() > until:
                raise SimulationError(
                    f"--cluster {self.address}: answers, but has no workers after {FIRST_WORKER_S:g} s; start "
                    f"`dask worker {self.address}`"
                )
            time.sleep(0.2)

    def _workers(self) -> dict[str, int]:
        """Threads of every worker that is there; new ones are asked for their version first."""
        there = self._client.scheduler_info(n_workers=-1)["workers"]
        for address in [a for a in there if a not in self._seen]:
            self._check_version(address)
            self._seen[address] = int(there[address]["nthreads"])
        self._seen = {address: threads for address, threads in self._seen.items() if address in there}
        return self._seen

    def _check_version(self, address: str) -> None:
        # `eval` of a text needs nothing of ours on the worker, where slipfit may be missing or another one.
        ask = "__import__('importlib.util').util.find_spec('slipfit') and __import__('slipfit').__version__"
        found = self._client.run(eval, ask, workers=[address], on_error="return").get(address)
        if found != slipfit.__version__:
            has = "no slipfit" if found is None else f"slipfit {found}"
            raise SimulationError(
                f"--cluster {self.address}: its worker {address} has {has}, this is {slipfit.__version__}; install the same "
                f"version on all machines, results of two cannot be mixed"
            )

    # --- tasks --------------------------------------------------------------------------------------------------------

    def _hand_out(self, job: Job, queue: Queue, state: _State, begin: Begin) -> None:
        for worker, threads in self._workers().items():
            if not queue:
                return
            if worker in state.tasks or worker in state.silent:
                continue
            chunk = queue.take(sharing=len(self._seen))
            begin(chunk, worker)
            future = self._client.submit(
                evaluate_chunk, job, chunk.spans, threads, workers=[worker], allow_other_workers=False, pure=False
            )
            state.tasks[worker] = _Task(chunk, worker, future, time.monotonic())

    def _finished(self, state: _State) -> list[_Task]:
        """Tasks that have an answer, after a short wait for one."""
        under_way = [*state.tasks.values(), *state.silent.values()]
        until = time.monotonic() + _LOOK_S
        while time.monotonic() < until:
            done = [task for task in under_way if task.future.done()]
            if done:
                return done
            time.sleep(_POLL_S)
        return []

    def _collect(self, task: _Task, queue: Queue, state: _State) -> tuple[Table | None, float]:
        """The table of a task, or None if there is none or another worker was faster."""
        state.tasks = {w: t for w, t in state.tasks.items() if t is not task}
        state.silent = {w: t for w, t in state.silent.items() if t is not task}
        try:
            table, seconds = task.future.result(timeout=self._silent_s)
        except Exception as error:  # whatever a worker raises, or loses
            if task.chunk.serial not in state.done:
                self._retry(task, queue, state, error)
            return None, 0.0
        self._warm.add(task.worker)
        if task.chunk.serial in state.done:
            return None, 0.0
        state.done.add(task.chunk.serial)
        # Another worker may be at it too: it finishes for nothing, and is free again then.
        queue.returned = [chunk for chunk in queue.returned if chunk.serial != task.chunk.serial]
        return table, float(seconds)

    def _retry(self, task: _Task, queue: Queue, state: _State, error: Exception) -> None:
        serial = task.chunk.serial
        state.failures[serial] = state.failures.get(serial, 0) + 1
        if state.failures[serial] > RETRIES:
            raise SimulationError(
                f"{task.chunk.runs} runs failed {state.failures[serial]} times on the cluster, the last time with "
                f"'{_first_line(error)}'; what was finished stays, go on with --resume when that is mended"
            ) from error
        queue.give_back(task.chunk)

    def _look_after(self, queue: Queue, state: _State) -> None:
        """Take chunks back from workers that are gone or silent."""
        there, now = self._workers(), time.monotonic()
        for worker, task in list(state.tasks.items()):
            patience = max(self._silent_s, SILENT_TIMES * state.longest_s)
            if worker not in self._warm:
                patience = max(patience, COMPILING_S)
            if worker not in there:
                del state.tasks[worker]
                task.future.cancel(force=True)
                queue.give_back(task.chunk)
            elif now - task.began_s > patience:
                state.silent[worker] = state.tasks.pop(worker)
                queue.give_back(task.chunk)
        state.silent = {worker: task for worker, task in state.silent.items() if worker in there}
        if queue and state.silent and not state.tasks and len(state.silent) == len(there):
            raise SimulationError(
                f"--cluster {self.address}: no worker has answered for {self._silent_s:g} s; what was finished stays, go on with "
                f"--resume when they are back"
            )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
