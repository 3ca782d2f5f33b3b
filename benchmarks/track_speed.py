"""How many times faster than real time a tracked robot climbs a curb out of sand: one run, and eight in lanes, on one core.

    python benchmarks/track_speed.py

CPU time of one thread, least of several. Nine seconds of a robot with 2 x 36 segments, flippers, belly, soil and its memory.
"""

import time

import numpy as np

from slipfit.kernels import as_batch
from slipfit.library import find_tracked_robot
from slipfit.simulate import climb as climbs
from slipfit.simulate.climb_scenario import find_climb
from slipfit.vehicles import tracked

REPEATS = 7


def prepared(n: int):
    """A batch of n climbs that do not end before their time, and its result arrays."""
    robot, scenario = find_tracked_robot("packbot"), find_climb("curb_117mm")
    values, _ = climbs._varied(robot, scenario, {"height_m": np.linspace(0.112, 0.122, n)})
    hold, steps = 10, round(scenario.duration_s / scenario.step_s)
    batch = as_batch(climbs._runs(robot, scenario, values, n, hold * scenario.step_s, steps // hold), n)
    out, status = np.empty((n, 2, len(tracked.TRACK_COLUMNS))), np.empty(n)
    return lambda kernel: kernel(batch, 0, n, hold, steps, scenario.step_s, out, status), out


def times_real_time(kernel, n: int) -> float:
    run, out = prepared(n)
    run(kernel)
    best = np.inf
    for _ in range(REPEATS):
        before = time.thread_time()
        run(kernel)
        best = min(best, time.thread_time() - before)
    return float(out[:, -1, -1].sum() / best)


if __name__ == "__main__":
    print(f"one run      {times_real_time(tracked.one_by_one, 1):6.0f} times real time (goal 100)")
    print(f"in lanes     {times_real_time(tracked.in_lanes, 8):6.0f} times real time per core (goal 250)")
    begin = time.perf_counter()
    batch = climbs.climb_many("packbot", "curb_117mm", {"height_m": np.linspace(0.05, 0.17, 1000)}, ends_only=True)
    print(f"1000 climbs  {time.perf_counter() - begin:6.1f} s on all cores (goal 40): {batch.has_climbed.sum()} climbed")
