"""The same study on many machines, by dask.distributed (extra `cluster`).

Each worker has one chunk at a time, placed by us. So at most one chunk per worker is lost with whatever dies, and a worker that
hangs is noticed by our own clock: its chunk goes to another worker, the first answer counts, and the silent one gets nothing more
until it answers. Which worker evaluates a run does not matter to the bit (`sample`), and every table is kept once, by its serial.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from typing import Any

import slipfit
from slipfit.errors import SimulationError
from slipfit.library.interrupts import undisturbed
from slipfit.study.chunk import TASK_S, Chunk, Job, Queue, Table, evaluate_chunk
from slipfit.study.threads import Begin

#: How long to wait for a cluster to answer at all, for its workers to tell their versions, and for its first worker.
REACH_S, VERSIONS_S, FIRST_WORKER_S = 6.0, 10.0, 60.0

#: How long a scheduler that accepted a connection may take to greet: a busy machine is slow, not dead.
GREETING_S = 20.0

#: A task is given up on after this time, or after so many times the longest that came back.
SILENT_S, SILENT_TIMES = 20.0, 8.0

#: The first task of a worker imports everything and may compile kernels: it is given more time.
COMPILING_S = 300.0

#: How often a chunk may fail with an error before the study stops.
RETRIES = 3

#: The version of slipfit on a worker, or None.
_VERSION = "__import__('importlib.util').util.find_spec('slipfit') and __import__('slipfit').__version__"

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
    """What is under way in one round."""

    tasks: dict[str, _Task] = field(default_factory=dict)  # by worker
    done: set[int] = field(default_factory=set)  # serials of this queue
    failures: dict[int, int] = field(default_factory=dict)
    longest_s: float = TASK_S


class Cluster:
    """Workers of a cluster at an address, or so many processes of this machine."""

    def __init__(
        self,
        address: str | None = None,
        *,
        processes: int | None = None,
        silent_s: float = SILENT_S,
        alone_s: float = FIRST_WORKER_S,
    ) -> None:
        try:
            import distributed
        except ImportError:
            raise SimulationError(
                "--cluster needs dask.distributed, which is not installed; install slipfit[cluster], or leave --cluster out"
            ) from None
        self._silent_s, self._alone_s = silent_s, alone_s
        self._seen: dict[str, int] = {}  # threads of workers whose version was checked
        self._asked: dict[str, Any] = {}  # workers that were asked for their version
        self._is_at_work = False  # runs were handed out
        self._unfit: set[str] = set()  # workers of another version that came since: they get nothing
        self._warm: set[str] = set()  # workers that have given a result
        self._silent: dict[str, _Task] = {}  # by worker: its chunk was given to another one
        self._alone_since_s: float | None = None  # when the last worker went
        self._known: dict[str, Any] = {}  # workers that the scheduler named last,
        self._is_reached, self._reached_s = False, time.monotonic()  # and whether and when it answered
        self._local: Any = None
        self._client: Any = None
        try:
            if address is None:
                with undisturbed(), _deaf_to_ctrl_c():
                    self._local = distributed.LocalCluster(
                        n_workers=processes,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=50,
                    )
            self._client = self._reached(distributed, address)
            self.address = address or self._client.scheduler_info()["address"]
            self._wait_for_workers()
        except BaseException:  # Ctrl-C too: processes that were started are ended
            self.close()
            raise

    def _reached(self, distributed: Any, address: str | None) -> Any:
        try:
            if address is not None:
                _shake_hands(address)
            return distributed.Client(self._local or address, timeout=REACH_S, set_as_default=False)
        except (
            OSError,
            TimeoutError,
            ValueError,
            OverflowError,
            MemoryError,
        ) as error:  # an answer that is not Dask's reads as a huge message
            raise SimulationError(
                f"--cluster {address}: does not answer ({_first_line(error)}); start `dask scheduler` and workers there, or "
                f"check the address"
            ) from None

    @property
    def about(self) -> str:
        unfit = f", {len(self._unfit)} more have another slipfit and get no work" if self._unfit else ""
        return f"{len(self._seen)} workers at {self.address}{unfit}"

    @property
    def processes(self) -> dict[str, int]:
        """Process of every worker, by its address."""
        return {str(k): int(v) for k, v in self._client.run(eval, "__import__('os').getpid()", on_error="ignore").items()}

    def evaluate(self, job: Job, queue: Queue, begin: Begin) -> Iterator[tuple[Chunk, Table]]:
        """See `Backend`. A chunk whose worker dies or falls silent is evaluated by another one."""
        state, self._is_at_work = _State(), True
        while queue or any(task.chunk.serial not in state.done for task in state.tasks.values()):
            self._hand_out(job, queue, state, begin)
            for task in self._finished(state):
                table, seconds = self._collect(task, queue, state)
                if table is None:
                    continue
                state.longest_s = max(state.longest_s, seconds)
                queue.took(task.chunk.runs, seconds)
                yield task.chunk, table
            self._look_after(queue, state)
        self._silent |= state.tasks  # at chunks that others have finished: free again when they answer

    @undisturbed()
    def close(self) -> None:
        """End what was started here; a second Ctrl-C waits for it."""
        with contextlib.suppress(Exception):  # nobody waits for what is still under way
            self._client.cancel([task.future for task in self._silent.values()], force=True)
        for part in (self._client, self._local):
            if part is not None:
                with contextlib.suppress(TimeoutError, OSError):  # a worker that hangs does not keep us from going
                    part.close(timeout=5)

    # --- workers ------------------------------------------------------------------------------------------------------

    def _wait_for_workers(self) -> None:
        """Until all workers have told their version, or some have and the others had time to."""
        began_s = time.monotonic()
        while not self._workers() or len(self._seen) < len(self._asked):
            waited_s = time.monotonic() - began_s
            if self._seen and waited_s > VERSIONS_S:
                return
            if waited_s > FIRST_WORKER_S:
                raise SimulationError(
                    f"--cluster {self.address}: answers, but has no workers after {FIRST_WORKER_S:g} s; start "
                    f"`dask worker {self.address}`"
                )
            time.sleep(0.2)

    def _workers(self) -> dict[str, int]:
        """Threads of every worker that is there and has told its version, which new ones are asked for first."""
        there = self._there()
        for address in there:
            if address not in self._asked:
                # `eval` of a text needs nothing of ours on the worker, where slipfit may be missing or another one.
                self._asked[address] = self._client.submit(
                    eval, _VERSION, workers=[address], allow_other_workers=False, pure=False, retries=RETRIES
                )
        self._asked = {address: answer for address, answer in self._asked.items() if address in there}
        for address, answer in list(self._asked.items()):
            if address not in self._seen and address not in self._unfit and answer.done():
                self._admit(address, answer, int(there[address]["nthreads"]))
        self._unfit &= there.keys()
        self._seen = {address: threads for address, threads in self._seen.items() if address in there}
        return self._seen

    def _there(self) -> dict[str, Any]:
        """Workers that the scheduler knows. One that is busy or restarts its connection is waited for: meanwhile those that it
        named last."""
        self._is_reached = False
        if self._client.status in ("running", "newly-connected"):
            with contextlib.suppress(OSError, TimeoutError, ValueError):
                self._known = dict(self._client.scheduler_info(n_workers=-1)["workers"])
                self._is_reached, self._reached_s = True, time.monotonic()
        if time.monotonic() - self._reached_s > self._alone_s:
            raise SimulationError(
                f"--cluster {self.address}: its scheduler does not answer any more; what was finished stays, go on with --resume "
                f"when it is back"
            )
        return self._known

    def _admit(self, address: str, answer: Any, threads: int) -> None:
        """Take a worker on. One of another version stops a study that has not begun; one that comes late is passed over."""
        try:
            self._check_version(address, answer)
        except SimulationError:
            if not self._is_at_work:
                raise
            self._unfit.add(address)
        else:
            self._seen[address] = threads

    def _check_version(self, address: str, answer: Any) -> None:
        if answer.status != "finished":  # it could not even say: slipfit is there and cannot be imported
            found = f"a slipfit that cannot be imported ({_first_line(answer.exception())})"
        else:
            version = answer.result(timeout=VERSIONS_S)
            if version == slipfit.__version__:
                return
            found = f"slipfit {version}" if version else "no slipfit"
        raise SimulationError(
            f"--cluster {self.address}: its worker {address} has {found}, this is {slipfit.__version__}; install the same "
            f"version on all machines, results of two cannot be mixed"
        )

    # --- tasks --------------------------------------------------------------------------------------------------------

    def _hand_out(self, job: Job, queue: Queue, state: _State, begin: Begin) -> None:
        for worker, threads in self._workers().items():
            if not queue or not self._is_reached:
                return
            if worker in state.tasks or worker in self._silent:
                continue
            chunk = queue.take(sharing=len(self._seen))
            begin(chunk, worker)
            future = self._client.submit(
                evaluate_chunk, job, chunk.spans, threads, workers=[worker], allow_other_workers=False, pure=False
            )
            state.tasks[worker] = _Task(chunk, worker, future, time.monotonic())

    def _finished(self, state: _State) -> list[_Task]:
        """Tasks that have an answer, after a short wait for one."""
        under_way = [*state.tasks.values(), *self._silent.values()]
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
        self._silent = {w: t for w, t in self._silent.items() if t is not task}
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
            if worker in there and now - task.began_s <= self._patience_s(worker, state):
                continue
            del state.tasks[worker]
            if worker in there:
                self._silent[worker] = task
            else:
                task.future.cancel(force=True)
            if task.chunk.serial not in state.done:
                queue.give_back(task.chunk)
        self._silent = {worker: task for worker, task in self._silent.items() if worker in there}
        self._check_some_work(queue, state, there, now)

    def _patience_s(self, worker: str, state: _State) -> float:
        """How long a worker may be at a task before it counts as silent."""
        patience_s = max(self._silent_s, SILENT_TIMES * state.longest_s)
        return patience_s if worker in self._warm else max(patience_s, COMPILING_S)

    def _check_some_work(self, queue: Queue, state: _State, there: dict[str, int], now: float) -> None:
        """Stop where nobody is left, or nobody who answers: the last one may have been restarting."""
        if there and (state.tasks or not queue or len(self._silent) < len(there)):
            self._alone_since_s = None
            return
        self._alone_since_s = now if self._alone_since_s is None else self._alone_since_s
        if there or now - self._alone_since_s > self._alone_s:
            why = f"no worker has answered for {self._silent_s:g} s" if there else "all workers are gone, or its scheduler is"
            raise SimulationError(
                f"--cluster {self.address}: {why}; what was finished stays, go on with --resume when they are back"
            )


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Threads and processes that are started inside, and those that they start, never hear Ctrl-C. A terminal sends it to all
    processes at once, and workers that die of it leave tracebacks and semaphores behind; so the main process alone hears it, and
    ends them. Windows has no such masks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _shake_hands(address: str) -> None:
    """Wait until a scheduler of Dask answers at an address; its error if none does in time.

    A client bounds the time to connect, not the time of the greeting that follows: a server of another kind that says the wrong
    thing, or nothing, would keep it for ever. A thread of its own, because a notebook's thread runs an event loop already.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, _greeted(address)).result()


async def _greeted(address: str) -> None:
    from distributed.comm.core import connect
    from distributed.security import Security

    greeting = connect(address, timeout=REACH_S, **Security().get_connection_args("client"))
    try:
        connection = await asyncio.wait_for(greeting, REACH_S + GREETING_S)
    except TimeoutError:
        raise TimeoutError(f"no greeting of Dask within {REACH_S + GREETING_S:g} s") from None
    await connection.close()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
