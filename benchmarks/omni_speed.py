"""Omnidirectional robots against plain C++: `python benchmarks/omni_speed.py`. Exits 1 if a goal is missed.

A thousand runs of 3.5 s at 0.25 ms of the Ohio robot, each with other phases of its wheels, sector switches included. `omni.cpp`
is the same equations, state, step and integrator; both must end in the same state to 1e-9. Measured in turns on one core, in CPU
time, the fastest round counts (README).
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from drives import rows_of
from goals import at_most, report, without_goal
from slipfit.library import find_ground, find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import command_table
from slipfit.simulation.drives.omni import Omni
from slipfit.vehicles import omni, planar_body, run_loop
from yardstick import ROUNDS, SAME, Yardstick, cpu_s, fastest, largest_difference, one_core

RUNS, SECONDS, STEP_S = 1000, 3.5, 2.5e-4
GOAL = 0.3


class OmniBatch:
    """The runs, with a place for their ends."""

    def __init__(self, n: int) -> None:
        robot, ground = find_robot("ohio_omni"), find_ground("ohio_paper")
        scenario = Scenario.model_validate({"commands": [{"for_s": SECONDS, "v_mps": 0.4 / SECONDS}], "step_s": STEP_S})
        table = command_table(robot, scenario)
        phases = {f"phase_{w}_sectors": np.linspace(0.0, 1.0, n) ** (w + 1) for w in range(3)}
        self.runs = Omni().assemble(robot, ground, Omni().numbers(robot, ground, scenario) | phases, table, n)
        self.n, self.steps = n, len(table)
        columns = len(planar_body.BODY_COLUMNS) + len(run_loop.WHEEL_COLUMNS) * table.shape[1]
        self.out, self.status = np.empty((n, 2, columns)), np.empty(n)

    def in_lanes(self) -> None:
        omni.in_lanes(self.runs, 0, self.n, 1, self.steps, STEP_S, self.out, self.status)

    def parameters(self) -> np.ndarray:
        """One row of numbers per run, in the order of the batch's leaves: what omni.cpp reads."""
        r = self.runs
        return rows_of(self.n, r.body, r.wheels, r.powertrain, r.law, r.rigid_law, r.ground)


def main() -> int:
    batch = OmniBatch(RUNS)
    batch.in_lanes()
    with tempfile.TemporaryDirectory() as folder, one_core():
        yardstick = Yardstick("omni.cpp", Path(folder))
        commands = batch.runs.driver.commands.array

        def cpp_s() -> float:
            return yardstick.seconds_per_run(batch.parameters(), commands, steps=batch.steps, hold=1, step_s=STEP_S)

        best = fastest(cpp=cpp_s, lanes=lambda: cpu_s(batch.in_lanes) / batch.n)
        difference = largest_difference(batch.out[:, -1], yardstick.ends(batch.n))
    print(f"{RUNS} runs of {SECONDS:g} s at {1e3 * STEP_S:g} ms, fastest of {ROUNDS} rounds")
    return report(
        [
            at_most("omni, end states against C++", difference, SAME, ".1e", is_timed=False),
            at_most("omni, in lanes: time of a run / C++", best["lanes"] / best["cpp"], GOAL, ".3f"),
            *(without_goal(f"  ns per step, {side}", 1e9 * seconds / batch.steps, ".0f") for side, seconds in best.items()),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
