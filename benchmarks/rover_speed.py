"""Rovers on planes and height fields against plain C++: `python benchmarks/rover_speed.py`. Exits 1 if a goal is missed.

`rover.cpp` and `rough.cpp` are the same equations, state, step and integrator: DC motors, magic formula, air drag. Both sides
must end in the same state to 1e-9. Measured in turns on one core, in CPU time, the fastest round counts (README). Then a thousand
serpentines of 30 s up a slope of 20 degrees, with guidance and energy books, on all cores, as users run them.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from drives import Drive, rough_rover, rover
from goals import Figure, at_most, report
from slipfit.library import find_robot
from slipfit.simulation import simulate_many
from slipfit.simulation.scenario import find_scenario
from yardstick import SAME, Yardstick, cpu_s, fastest, largest_difference, one_core

#: Many short rounds: what else the machine does then spoils some of them, not all.
RUNS, ROUNDS = 256, 25
ONE_RUN = 1.2  # of the time of C++, at most
ON_PLANES, ON_HEIGHT_FIELDS = 0.25, 0.5  # in lanes
SERPENTINES, SERPENTINE_S = 1000, 30.0


def _difference(drive: Drive, yardstick: Yardstick) -> float:
    drive.cpp_s(yardstick)
    return largest_difference(drive.ends, yardstick.ends(drive.n))


def head(rounds: int = ROUNDS) -> None:
    """What stands above the rows."""
    print(f"ns per step, fastest of {rounds} rounds")
    print(f"{'':<24}{'C++':>5}{'one run':>9}{'lanes':>7}{'one / C++':>12}{'lanes / C++':>15}{'end states':>12}")


def against_cpp(
    name: str, make: Callable[[int, float], Drive], yardstick: Yardstick, in_lanes: float, rounds: int = ROUNDS
) -> tuple[list[Figure], dict[str, float]]:
    """Print one row; returns the goals, and ns per step of each side."""
    single, batch = make(1, 5.0), make(RUNS, 1.0)
    single.one_by_one()
    batch.in_lanes()
    assert not np.any([*single.status, *batch.status]), f"{name}: a run did not reach its end"
    difference = max(_difference(single, yardstick), _difference(batch, yardstick))
    best = fastest(
        rounds,
        cpp=lambda: single.cpp_s(yardstick, 10),
        single=lambda: cpu_s(single.one_by_one, 10),
        cpp_batch=lambda: batch.cpp_s(yardstick),
        lanes=lambda: cpu_s(batch.in_lanes) / batch.n,
    )
    ns = {side: 1e9 * s / (single if side in ("cpp", "single") else batch).steps for side, s in best.items()}
    one, lanes = ns["single"] / ns["cpp"], ns["lanes"] / ns["cpp_batch"]
    print(
        f"{name:<24}{ns['cpp']:>5.0f}{ns['single']:>9.0f}{ns['lanes']:>7.0f}{one:>12.2f}{lanes:>15.3f}{difference:>12.0e}",
        flush=True,
    )
    figures = [
        at_most(f"{name}, one run: time / C++", one, ONE_RUN),
        at_most(f"{name}, in lanes: time of a run / C++", lanes, in_lanes, ".3f"),
        at_most(f"{name}, end states against C++", difference, SAME, ".0e", is_timed=False),
    ]
    return figures, ns


def serpentines() -> None:
    """Wall time of many drives with guidance, on all cores."""
    robot, scenario = find_robot("lynxmotion_4wd3"), find_scenario("serpentine_20deg")
    assert scenario.route is not None
    scenario = scenario.model_copy(update={"route": scenario.route.model_copy(update={"at_most_s": SERPENTINE_S})})
    mass_kg = robot.mass_kg.value * np.linspace(0.9, 1.1, SERPENTINES)
    simulate_many(robot, scenario, {"mass_kg": mass_kg[:16]}, ends_only=True)  # compiles
    begin_s = time.perf_counter()
    batch = simulate_many(robot, scenario, {"mass_kg": mass_kg}, ends_only=True)
    wall_s = time.perf_counter() - begin_s
    simulated_s = SERPENTINES * float(batch.time_s[-1])
    steps = simulated_s / scenario.time_step_s
    print(
        f"\n{SERPENTINES} serpentines of {batch.time_s[-1]:g} s at {1e3 * scenario.time_step_s:g} ms with guidance and books, "
        f"all cores: {wall_s:.1f} s, {simulated_s / wall_s:,.0f} times real time, {1e9 * wall_s / steps:.0f} ns per step"
    )


def main() -> int:
    head()
    with tempfile.TemporaryDirectory() as folder, one_core():
        on_plane, on_field = (Yardstick(source, Path(folder)) for source in ("rover.cpp", "rough.cpp"))
        figures, _ = against_cpp("plane", rover, on_plane, ON_PLANES)
        for kind in ("bicubic", "bilinear"):
            make = partial(rough_rover, interpolation=kind)
            figures += against_cpp(f"height field, {kind}", make, on_field, ON_HEIGHT_FIELDS)[0]
    serpentines()
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
