"""How speeds are compared: in turns on one core, in CPU time, the fastest round counts; and the yardsticks in C++ (README)."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COMPILER = ("g++", "-std=c++17", "-O3", "-march=native")
ROUNDS = 7
SAME = 1e-9  # end states agree to this


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it starts, on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def cpu_s(work: Callable[[], None], repetitions: int = 1) -> float:
    """CPU seconds of one call in this thread."""
    begin_s = time.thread_time()
    for _ in range(repetitions):
        work()
    return (time.thread_time() - begin_s) / repetitions


def fastest(rounds: int = ROUNDS, /, **timers: Callable[[], float]) -> dict[str, float]:
    """The fastest of all rounds of each timer; a round calls each once."""
    times = [{name: timer() for name, timer in timers.items()} for _ in range(rounds)]
    return {name: min(entry[name] for entry in times) for name in timers}


class Yardstick:
    """A vehicle in C++ (`source`), compiled, with the parameters and commands of some runs in files."""

    def __init__(self, source: str, folder: Path) -> None:
        self._program, self._folder = folder / Path(source).stem, folder
        subprocess.run([*COMPILER, str(HERE / source), "-o", str(self._program)], check=True)

    def seconds_per_run(
        self,
        parameters: np.ndarray,
        commands: np.ndarray,
        *,
        steps: int,
        hold: int,
        step_s: float,
        repetitions: int = 1,
        field: np.ndarray | None = None,
    ) -> float:
        """CPU seconds of one run. Parameters have one row per run; a field's coefficients are for vehicles on terrain."""
        arrays = {"parameters": parameters, "commands": commands} | ({} if field is None else {"field": field})
        for name, array in arrays.items():
            array.tofile(self._folder / name)
        files = [str(self._folder / name) for name in ("parameters", "commands", "ends")]
        numbers = [str(value) for value in (steps, hold, step_s, repetitions)]
        more = [] if field is None else [str(self._folder / "field")]
        call = [str(self._program), *files, *numbers, *more]
        return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)

    def ends(self, n: int) -> np.ndarray:
        """End states of the last call, one row per run."""
        return np.fromfile(self._folder / "ends").reshape(n, -1)


def largest_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """Between our end states and those of C++ (which have fewer columns), each relative to 1 or to its size if that is larger."""
    return float(np.max(np.abs(found[:, : wanted.shape[1]] - wanted) / np.maximum(1.0, np.abs(wanted))))
