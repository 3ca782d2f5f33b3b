"""Compile what most drives need before it is needed: `python -m slipfit.simulation.warm_up`, once after installing."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np

from slipfit.kernels.third_differences import curve_through
from slipfit.library import Ground, find_ground
from slipfit.simulation.run import simulate
from slipfit.simulation.scenario import Scenario

#: A P3AT that hardly moves compiles as much as one that does.
SHORTEST = {"schema": Scenario.kind(), "commands": [{"for_s": 0.05, "v_mps": 0.1}]}


def warm_up() -> None:
    """wheel_slip without and with relaxation, each in a process of its own: on two cores in half the time; and what smooths
    wheel angles."""
    plain = find_ground("lab_floor").to_mapping()
    relaxing = plain | {"parameters": plain["parameters"] | {"relaxation_long_m": 0.01}}
    with ProcessPoolExecutor(2) as pool:
        drives = pool.map(_drive, [plain, relaxing])
        curve_through(np.arange(8.0), np.ones(5))
        list(drives)


def _drive(ground: dict[str, object]) -> None:
    simulate("p3at", Scenario.from_mapping(SHORTEST, where="warm-up"), ground=Ground.from_mapping(ground, where="warm-up"))


if __name__ == "__main__":
    warm_up()
