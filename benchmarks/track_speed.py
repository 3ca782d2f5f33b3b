"""A tracked robot on a curb in sand against plain C++ and real time: `python benchmarks/track_speed.py`. Exits 1 if a goal is
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
from goals import Figure, at_least, at_most, report, without_goal
from slipfit.kernels import as_batch
from slipfit.library import find_robot
from slipfit.simulation import climb as climbs
from slipfit.simulation import simulate_many
from slipfit.simulation.scenario import find_scenario
from slipfit.vehicles import tracked
from yardstick import SAME, Yardstick, cpu_s, fastest, largest_difference, one_core

ROUNDS, RUNS = 7, 32
HOLD, SHORT_S = 10, 1.2
ONE_RUN, IN_LANES = 1.4, 0.45  # of the time of C++, at most
ONE_TIMES, LANES_TIMES = 100.0, 250.0  # real time, at least
MOST_S, CORES = 40.0, 2  # a thousand climbs on two cores
_NEVER, STEP_S = 1e9, 0.0005  # s


class Climbs:
    """A batch of n climbs that last their whole time, with a place for its results."""

    def __init__(self, n: int, seconds: float | None = None) -> None:
        robot, scenario = find_robot("packbot"), find_scenario("curb_117mm").in_steps_of(STEP_S, 0.02)
        values, _ = climbs.varied_numbers(robot, scenario, {"height_m": np.linspace(0.112, 0.122, n)})
        self.n, self.step_s, self.seconds = n, scenario.time_step_s, seconds or scenario.duration_s
        self.steps = round(self.seconds / self.step_s)
        runs = climbs.climb_runs(robot, scenario, values, n, HOLD * self.step_s, self.steps // HOLD)
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
            np.hstack([counts, rows]), r.told.share.array, steps=self.steps, hold=HOLD, step_s=self.step_s,
            repetitions=repetitions,
        )  # fmt: skip

    def difference(self, yardstick: Yardstick) -> float:
        self.cpp_s(yardstick)
        return largest_difference(self.out[:, -1], yardstick.ends(self.n))


def against_cpp(yardstick: Yardstick) -> list[Figure]:
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
    return [
        at_most("end states after 1.2 seconds, against C++", same, SAME, ".1e", is_timed=False),
        without_goal("  end states after nine seconds, against C++", late, ".1e"),
        at_most("one run: time / C++", one, ONE_RUN),
        at_most("in lanes: time of a run / C++", lanes, IN_LANES, ".3f"),
        at_least("one run, times real time", times["single"], ONE_TIMES, ".0f"),
        at_least("in lanes, times real time and core", times["lanes"], LANES_TIMES, ".0f"),
        *(without_goal(f"  us per step, {side}", value) for side, value in us.items()),
    ]


def thousand_climbs() -> list[Figure]:
    heights = np.linspace(0.05, 0.17, 1000)
    clock_s, before_s = time.perf_counter(), time.process_time()
    batch = simulate_many("packbot", "curb_117mm", {"height_m": heights}, ends_only=True, workers=CORES)
    took_s = (time.process_time() - before_s) / CORES
    print(f"{batch.has_climbed.sum()} of 1000 climbed")
    return [
        at_most(f"1000 climbs on {CORES} cores: CPU time of each, s", took_s, MOST_S, ".1f"),
        without_goal(f"  1000 climbs on {CORES} cores: wall time, s", time.perf_counter() - clock_s, ".1f"),
    ]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, one_core():
        figures = against_cpp(Yardstick("track.cpp", Path(folder)))
    return report([*figures, *thousand_climbs()])


if __name__ == "__main__":
    sys.exit(main())
