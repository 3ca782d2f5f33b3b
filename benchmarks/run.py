"""Measure what the README promises: `python benchmarks/run.py`. Exits 1 if a goal is missed.

The machine may be busy with other things: what is compared is measured in turns, and the fastest of all rounds counts.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from drives import Drive, p3at, rover
from goals import Figure, at_least, at_most, report, without_goal
from slipfit.kernels import run_chunks
from yardstick import HERE, ROUNDS, SAME, Yardstick, cpu_s, fastest, largest_difference, one_core

# --- against C++ ----------------------------------------------------------------------------------------------------------


def against_cpp() -> list[Figure]:
    single, batch = rover(1, seconds=5.0), rover(1000, seconds=1.0)
    with tempfile.TemporaryDirectory() as folder:
        yardstick = Yardstick("rover.cpp", Path(folder))
        single.one_by_one()
        batch.in_lanes()
        differences = []
        for drive in (single, batch):
            drive.cpp_s(yardstick)
            differences.append(largest_difference(drive.ends, yardstick.ends(drive.n)))
        best = fastest(
            cpp=lambda: single.cpp_s(yardstick, 20),
            single=lambda: cpu_s(single.one_by_one, 20),
            cpp_batch=lambda: batch.cpp_s(yardstick),
            lanes=lambda: cpu_s(batch.in_lanes) / batch.n,
        )
    per_step_ns = {name: 1e9 * best[name] / (batch if name in ("lanes", "cpp_batch") else single).steps for name in best}
    return [
        at_most("rover, end states against C++", max(differences), SAME, ".1e", is_timed=False),
        at_most("rover, one run: time / C++", best["single"] / best["cpp"], 1.1),
        at_most("rover, batch of 1000 in lanes: time of a run / C++", best["lanes"] / best["cpp_batch"], 0.2, ".3f"),
        *(without_goal(f"  ns per step, {name}", value, ".0f") for name, value in per_step_ns.items()),
    ]


# --- against MuJoCo, and absolutely -----------------------------------------------------------------------------------------


def against_mujoco() -> list[Figure]:
    from mujoco_robot import seconds_per_simulated_second

    seconds = 10.0
    single, batch = p3at(1, seconds), p3at(512, seconds=1.0)
    single.in_lanes()
    batch.in_lanes()
    best = fastest(
        mujoco=lambda: seconds_per_simulated_second(1.0),
        single=lambda: cpu_s(single.in_lanes) / seconds,
        lanes=lambda: cpu_s(batch.in_lanes) / batch.n,
    )
    return [
        at_least("P3AT, one run: times faster than MuJoCo", best["mujoco"] / best["single"], 5.0, ".1f"),
        without_goal("  ms per simulated second, MuJoCo", 1e3 * best["mujoco"]),
        without_goal("  ms per simulated second, one run", 1e3 * best["single"], ".3f"),
        at_least("P3AT, batch: simulated seconds per second and core", 1.0 / best["lanes"], 10_000.0, ",.0f"),
    ]


# --- from the start of a process -------------------------------------------------------------------------------------------


def _seconds_to_first_result() -> float:
    begin_s = time.perf_counter()
    with subprocess.Popen([sys.executable, str(HERE / "first_result.py")], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - begin_s
    if process.returncode or not line:
        raise RuntimeError("first_result.py failed")
    return seconds


def first_result() -> list[Figure]:
    _seconds_to_first_result()  # fills the cache
    return [at_most("fresh process to first result, warm cache, s", min(_seconds_to_first_result() for _ in range(5)), 1.0)]


# --- threads against processes ----------------------------------------------------------------------------------------------


class Crowd:
    """Processes that drive at the same moment."""

    def __init__(self, count: int, n: int, seconds: float) -> None:
        call = [sys.executable, str(HERE / "worker.py"), str(n), str(seconds)]
        self._processes = [subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def wall_s(self) -> float:
        """From the first one's beginning to the last one's end."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        spans = [tuple(map(float, process.stdout.readline().split())) for process in self._processes if process.stdout]
        return max(end for _, end in spans) - min(begin for begin, _ in spans)

    def leave(self) -> None:
        for process in self._processes:
            process.communicate()


def _wall_s(work: Callable[[], None]) -> float:
    begin_s = time.perf_counter()
    work()
    return time.perf_counter() - begin_s


def threads_against_processes() -> list[Figure]:
    each, seconds = 1024, 2.0
    drive = p3at(2 * each, seconds)
    drive.in_lanes()
    crowd = Crowd(2, each, seconds)
    best = fastest(processes=crowd.wall_s, threads=lambda: _wall_s(lambda: run_chunks(drive.chunk, drive.n, workers=2)))
    crowd.leave()
    return [at_least("two threads: throughput / two processes", best["processes"] / best["threads"], 0.95)]


# --- growth -------------------------------------------------------------------------------------------------------------------


def _ns_per_step(drive: Drive, work: Callable[[], None]) -> float:
    repetitions = max(1, 400_000 // (drive.n * drive.steps))
    work()
    return 1e9 * min(cpu_s(work, repetitions) for _ in range(ROUNDS)) / (drive.n * drive.steps)


def growth() -> list[str]:
    """Time of a step of one run, against the size of a batch and the number of wheels."""
    sizes = {n: p3at(n, seconds=max(0.2, round(10.0 / n, 1))) for n in (1, 8, 64, 512, 4096)}
    robots = {wheels: p3at(512, seconds=0.2, wheels=wheels) for wheels in (4, 6, 8)}
    lines = ["runs in a batch   one by one, ns/step   in lanes, ns/step"]
    for n, drive in sizes.items():
        lines.append(f"{n:>15}   {_ns_per_step(drive, drive.one_by_one):>19.0f}   {_ns_per_step(drive, drive.in_lanes):>17.0f}")
    lines += ["", "         wheels   one by one, ns/step   in lanes, ns/step"]
    for wheels, drive in robots.items():
        lines.append(
            f"{wheels:>15}   {_ns_per_step(drive, drive.one_by_one):>19.0f}   {_ns_per_step(drive, drive.in_lanes):>17.0f}"
        )
    return lines


def _need_mujoco() -> None:
    try:
        import mujoco  # noqa: F401
    except ImportError:
        sys.exit("the benchmarks compare with MuJoCo, which is not installed: pip install 'slipfit[bench]'")


def main() -> int:
    _need_mujoco()
    with one_core():
        figures = [*against_cpp(), *against_mujoco()]
    figures += [*first_result(), *threads_against_processes()]
    with one_core():
        print("\n".join(growth()))
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
