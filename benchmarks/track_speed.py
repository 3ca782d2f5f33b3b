"""A tracked robot on a curb in sand against plain C++ and real time: `python benchmarks/track_speed.py`. Ends with 1 if a goal is
missed.

`track.cpp` is the same equations, state, step and integrator: nine seconds of a robot with 2 x 36 segments, flippers and belly,
out of dry sand with memory up a curb of 117 mm and on; verdicts are switched off, so that both sides drive to the end. Measured
in turns on one core, in CPU time, the fastest round counts (README). A climb has kinks, at which rounding grows: end states are
compared after 1.2 seconds in the sand, before the curb is met, where both sides must agree to 1e-9; the largest difference after
nine is told. A thousand climbs on all cores are judged by their CPU time, as if two cores had nothing else to do; the clock's
time is told too.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from drives import rows_of
from slipfit.kernels import as_batch
from slipfit.library import find_tracked_robot
from slipfit.simulate import climb as climbs
from slipfit.simulate.climb_scenario import find_climb
from slipfit.vehicles import tracked
from yardstick import SAME, Yardstick, cpu_s, fastest, largest_difference, one_core

ROUNDS, RUNS = 7, 32
HOLD, SHORT_S = 10, 1.2
ONE_RUN, IN_LANES = 1.4, 0.45  # of the time of C++, at most
ONE_TIMES, LANES_TIMES = 100.0, 250.0  # real time, at least
MOST_S, CORES = 40.0, 2  # a thousand climbs on two cores
_NEVER = 1e9


class Climbs:
    """A batch of n climbs that last their whole time, with a place for its results."""

    def __init__(self, n: int, seconds: float | None = None) -> None:
        robot, scenario = find_tracked_robot("packbot"), find_climb("curb_117mm")
        values, _ = climbs.varied_numbers(robot, scenario, {"height_m": np.linspace(0.112, 0.122, n)})
        self.n, self.step_s, self.seconds = n, scenario.step_s, seconds or scenario.duration_s
        self.steps = round(self.seconds / self.step_s)
        runs = climbs._runs(robot, scenario, values, n, HOLD * self.step_s, self.steps // HOLD)
        self.runs = as_batch(runs._replace(rules=runs.rules._replace(goal=_NEVER, patience=_NEVER)), n)
        self.out, self.status = np.empty((n, 2, len(tracked.TRACK_COLUMNS))), np.empty(n)

    def one_by_one(self) -> None:
        tracked.one_by_one(self.runs, 0, self.n, HOLD, self.steps, self.step_s, self.out, self.status)

    def in_lanes(self) -> None:
        tracked.in_lanes(self.runs, 0, self.n, HOLD, self.steps, self.step_s, self.out, self.status)

    def cpp_s(self, yardstick: Yardstick, repetitions: int = 1) -> float:
        """CPU seconds of one run in C++."""
        r = self.runs
        tables = r.tables
        sizes = [tables.stations.x.shape[1] // 2, tables.discs.x.shape[1] // 2, tables.runs.x.shape[1] // 2]
        counts = np.tile([*sizes, r.ground.shape.corner_xi.shape[1]], (self.n, 1)).astype(float)
        rows = rows_of(self.n, r.body, tables, r.hard, r.law, r.soil, r.belt, r.ground, r.begin, r.told)
        return yardstick.seconds_per_run(
            np.hstack([counts, rows]), r.told.speeds.array, steps=self.steps, hold=HOLD, step_s=self.step_s,
            repetitions=repetitions,
        )  # fmt: skip

    def difference(self, yardstick: Yardstick) -> float:
        self.cpp_s(yardstick)
        return largest_difference(self.out[:, -1], yardstick.ends(self.n))


def against_cpp(yardstick: Yardstick) -> bool:
    single, batch = Climbs(1), Climbs(RUNS)
    short = [Climbs(1, SHORT_S), Climbs(RUNS, SHORT_S)]
    short[0].one_by_one(), short[1].in_lanes(), single.one_by_one(), batch.in_lanes()
    same = max(climb.difference(yardstick) for climb in short)
    late = max(single.difference(yardstick), batch.difference(yardstick))
    best = fastest(
        ROUNDS,
        cpp=lambda: single.cpp_s(yardstick, 5),
        single=lambda: cpu_s(single.one_by_one, 3),
        cpp_batch=lambda: batch.cpp_s(yardstick),
        lanes=lambda: cpu_s(batch.in_lanes) / batch.n,
    )
    one, lanes = best["single"] / best["cpp"], best["lanes"] / best["cpp_batch"]
    times = {side: single.seconds / seconds for side, seconds in best.items()}
    us = {side: 1e6 * seconds / single.steps for side, seconds in best.items()}
    print("us per step:    " + "   ".join(f"{side} {value:.2f}" for side, value in us.items()))
    rows = [
        ("end states after 1.2 seconds, against C++", f"<= {SAME:g}", f"{same:.1e}", same <= SAME),
        ("one run: time / C++", f"<= {ONE_RUN:g}", f"{one:.2f}", one <= ONE_RUN),
        ("in lanes: time of a run / C++", f"<= {IN_LANES:g}", f"{lanes:.3f}", lanes <= IN_LANES),
        ("one run, times real time", f">= {ONE_TIMES:g}", f"{times['single']:.0f}", times["single"] >= ONE_TIMES),
        ("in lanes, times real time and core", f">= {LANES_TIMES:g}", f"{times['lanes']:.0f}", times["lanes"] >= LANES_TIMES),
    ]
    for name, asked, measured, is_met in rows:
        print(f"{name:<45}{asked:>9}{measured:>11}   {'met' if is_met else 'MISSED'}", flush=True)
    print(f"{'end states after nine seconds':<45}{'':>9}{late:>11.1e}")
    return all(row[-1] for row in rows)


def thousand_climbs() -> bool:
    heights = np.linspace(0.05, 0.17, 1000)
    clock_s, before_s = time.perf_counter(), time.process_time()
    batch = climbs.climb_many("packbot", "curb_117mm", {"height_m": heights}, ends_only=True, workers=CORES)
    took_s = (time.process_time() - before_s) / CORES
    word = "met" if took_s <= MOST_S else "MISSED"
    print(
        f"{f'1000 climbs on {CORES} cores, s':<45}{f'<= {MOST_S:g}':>9}{took_s:>11.1f}   {word} "
        f"({time.perf_counter() - clock_s:.1f} s by the clock; {batch.has_climbed.sum()} climbed)"
    )
    return took_s <= MOST_S


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, one_core():
        is_met = against_cpp(Yardstick("track.cpp", Path(folder)))
    return 0 if thousand_climbs() and is_met else 1


if __name__ == "__main__":
    sys.exit(main())
