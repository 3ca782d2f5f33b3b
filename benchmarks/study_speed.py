"""Studies with full simulations: how long 1000 and 10 000 runs take, what adapting saves, what a local Dask cluster costs.

`python benchmarks/study_speed.py [many] [dask]`: `many` adds the 10 000 runs, `dask` the cluster. Exits 1 if a goal is missed.
"""

import sys
import tempfile
import time
from pathlib import Path

from goals import Figure, at_most, report
from slipfit.study import StudyFile, Threads, prepare, run_study

HERE = Path(__file__).parent
CURB = {
    "schema": "slipfit/study/1",
    "robot": "packbot",
    "scenario": str(HERE / "curb.scenario.yaml"),
    "success": "climbed",
    "design": {"curb.height_m": {"from": 0.05, "to": 0.22, "points": 18}},
    "uncertain": {"curb.friction": {"normal": [0.6, 0.1], "above": 0.05}, "mass_kg": {"normal": [31.77, 0.6]}},
    "seed": 1,
}


def timed(folder: Path, name: str, backend=None, **changes):
    """Seconds and answer of a study."""
    prepared = prepare(StudyFile.from_mapping(CURB | changes, where=name))
    began = time.perf_counter()
    answer = run_study(prepared, folder / name, backend=backend, force=True)
    return time.perf_counter() - began, answer


def main(words: list[str]) -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        timed(folder, "compile", stop={"runs": 18})
        seconds, answer = timed(folder, "thousand", stop={"runs": 1000})
        figures = [at_most(f"{answer.runs} full simulations of the tracked robot, s", seconds, 40.0, ".1f")]
        if "many" in words:
            seconds, answer = timed(folder, "many", stop={"runs": 10_000})
            figures.append(at_most(f"{answer.runs} full simulations, s", seconds, 360.0, ".1f"))
        if "dask" in words:
            figures.append(compare_with_dask(folder))
        stop = {"half_width": 0.04, "confidence": 0.9, "at_most_runs": 40_000}
        found = {}
        for adaptive in (True, False):
            seconds, answer = timed(folder, "band", stop=stop, sampling={"adaptive": adaptive})
            widest = max(point.half_width for point in answer.points)
            found[adaptive] = answer.runs
            print(f"{'adaptive' if adaptive else 'even'}: {answer.runs} runs, {seconds:.1f} s, widest interval ±{widest:.4f}")
    # Which runs are taken follows from the seed, not from the machine.
    figures.append(at_most("runs of an adaptive study / even", found[True] / found[False], 1 / 3, ".3f", is_timed=False))
    return report(figures)


def compare_with_dask(folder: Path) -> Figure:
    """The same 5000 runs on two threads and on two worker processes of one thread each, taken in turn; the best of two."""
    from slipfit.study.cluster import Cluster

    began = time.perf_counter()
    cluster = Cluster(processes=2)
    try:
        timed(folder, "warm", backend=cluster, stop={"runs": 180}, chunk_runs=90)
        print(f"a local cluster of two processes: {time.perf_counter() - began:.1f} s until both have their kernels")
        stop = {"runs": 5000}
        threads, dask = [], []
        for _ in range(2):
            threads.append(timed(folder, "threads", backend=Threads(2), stop=stop)[0])
            dask.append(timed(folder, "dask", backend=cluster, stop=stop)[0])
    finally:
        cluster.close()
    print(f"5000 runs: threads {min(threads):.1f} s, Dask {min(dask):.1f} s")
    return at_most("5000 runs: time on a local Dask cluster / threads", min(dask) / min(threads), 1.10, ".3f")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
