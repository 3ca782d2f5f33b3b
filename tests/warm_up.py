"""Fill the kernel cache before tests start: what several tests run, two kernels at a time, with a line for each.

Two workers that meet a kernel that is not there would compile it both, each in silence.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from functools import partial

from robots import ground_with
from slipfit.contact import LAWS
from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.scenario import find_scenario
from tracks import driven

NOTHING = Scenario(commands=[{"for_s": 0.001, "v_mps": 0.0}], record_s=0.001)

#: A climb over a terrain.
OVER_TERRAIN = {
    "ground": {"shape": "terrain", "terrain": "bump_3cm", "mu_static": 0.8},
    "straight": {"distance_m": 0.5},
    "stop": {"after_s": 0.01},
}


def on_law(robot: str, law: str) -> None:
    simulate(find_robot(robot), NOTHING, ground=ground_with(law))


def on_soil(robot: str) -> None:
    simulate(robot, NOTHING, ground="dry_sand")


def rover(scenario: str) -> None:
    simulate("lynxmotion_4wd3", find_scenario(scenario))


def climb_alone() -> None:
    driven(find_robot("packbot"), find_scenario("curb_117mm"), seconds=0.001, alone=True)


#: The longest first, so that both processes end together.
JOBS: dict[str, Callable[[], object]] = {
    "packbot on a curb": partial(simulate_many, "packbot", "curb_117mm", {}, ends_only=True),
    "packbot over a terrain": partial(simulate_many, "packbot", OVER_TERRAIN, {}),
    "packbot by itself": climb_alone,
    **{f"rover, {name}": partial(rover, name) for name in ("crater_rim", "bump_3cm", "serpentine_flat", "rover_voltages")},
    **{f"{robot} on soil": partial(on_soil, robot) for robot in ("lynxmotion_4wd3", "husky")},
    **{
        f"{robot}, {law}": partial(on_law, robot, law)
        for robot, law in (
            ("ohio_omni", "arctan"),
            ("ohio_omni", "arctan_ellipse"),
            ("robotino", "arctan"),
            ("optiodom_mecanum", "arctan"),
            ("lynxmotion_4wd3", "magic_formula"),
        )
    },
    **{f"p3at, {law}": partial(on_law, "p3at", law) for law in LAWS},
}


def compile_one(name: str) -> tuple[str, float]:
    began_s = time.perf_counter()
    JOBS[name]()
    return name, time.perf_counter() - began_s


def warm_up() -> None:
    """Compile what is not there; one line a kernel that took its time."""
    began_s = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(min(2, os.cpu_count() or 1)) as pool:
        for k, (name, seconds) in enumerate(pool.imap_unordered(compile_one, JOBS), start=1):
            if seconds > 1.0:  # otherwise it came from the cache
                print(f"compiling kernels: {k} of {len(JOBS)} ({name}, {seconds:.0f} s)", file=sys.stderr, flush=True)
    print(f"kernels ready after {time.perf_counter() - began_s:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    warm_up()
