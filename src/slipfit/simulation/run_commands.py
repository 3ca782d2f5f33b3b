"""What the wheels of each run of a batch are commanded: one table for all runs, with first rows of its own for each run where
their starts differ.

The first command's ramp begins at the speeds at which a run's wheels roll at its start: with its own start velocity, wheel radius
and motors. After the ramp the commands are the same in all runs. Lags and delays of a twin's powertrain carry the start further,
so there every row is the run's own.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slipfit.kernels import Shared, as_batch, run_chunks, runs_between
from slipfit.library import OmniRobot, SkidSteerRobot
from slipfit.simulation.assemble import Values, of_runs
from slipfit.simulation.commands import command_table, commanded_turn, first_rows, start_commands
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.speed_loop import through_loops
from slipfit.twin import FittedPowertrain
from slipfit.vehicles.driver import Table


@dataclass(frozen=True, eq=False)
class RunCommands:
    """Commands of n runs. `table` (rows, wheels) holds for all of them from row `own_rows` on."""

    robot: SkidSteerRobot | OmniRobot
    scenario: Scenario
    values: Values
    n: int
    start: np.ndarray  # (n, wheels): what keeps each run's wheels rolling as they do at its start
    table: np.ndarray
    own_rows: int
    loops: FittedPowertrain | None

    @classmethod
    def of(
        cls,
        robot: SkidSteerRobot | OmniRobot,
        scenario: Scenario,
        values: Values,
        n: int,
        *,
        powertrain: FittedPowertrain | None = None,
        every: int = 1,
    ) -> "RunCommands":
        """The last command is held until the record of `every` steps is full."""
        start = start_commands(robot, values, n)
        table = command_table(robot, scenario, start[0])
        table = np.concatenate([table, np.repeat(table[-1:], -len(table) % every, axis=0)])
        has_loops = powertrain is not None and robot.has_sides and robot.powertrain.kind == "speed_loop"
        loops = powertrain if has_loops else None
        differs = bool((start != start[0]).any())
        if loops is not None:
            differs |= bool(np.ndim(values["radius_m"])) and n > 1
        own = (len(table) if loops is not None else len(first_rows(robot, scenario, start[:1])[0])) if differs else 0
        return cls(robot, scenario, values, n, start, table, own, loops)

    def of_runs(self, runs: np.ndarray) -> "RunCommands":
        """Those of some runs only."""
        return replace(self, values=of_runs(self.values, runs), n=len(runs), start=self.start[runs])

    @property
    def steps(self) -> int:
        """Rows of the table."""
        return len(self.table)

    @property
    def shared(self) -> np.ndarray:
        """What all wheels get where all runs have the same commands, (rows, wheels)."""
        return self._followed(0, self.table)

    def part(self, batch: Any, lo: int, hi: int) -> Any:
        """Runs lo to hi of a batch that was assembled with the `shared` commands, each with its own."""
        part = runs_between(batch, lo, hi)
        if not self.own_rows:
            return part
        own = np.array([self._followed(i, self._table(i))[: self.own_rows].ravel() for i in range(lo, hi)])
        return part._replace(driver=as_batch(Table(own, Shared(self.table.ravel())), hi - lo))

    def turn_rad(self, i: int) -> float:
        """How far run i would turn if no wheel slipped."""
        numbers = {name: float(np.broadcast_to(np.asarray(value, dtype=float), self.n)[i]) for name, value in self.values.items()}
        return commanded_turn(self.robot, self._table(i), self.scenario.time_step_s, numbers)

    def _table(self, i: int) -> np.ndarray:
        """Commands of run i, before the loops of a twin."""
        first = first_rows(self.robot, self.scenario, self.start[i : i + 1])[0]
        return np.concatenate([first, self.table[len(first) :]])

    def _followed(self, i: int, table: np.ndarray) -> np.ndarray:
        if self.loops is None:
            return table
        radius_m = float(np.broadcast_to(np.asarray(self.values["radius_m"], dtype=float), self.n)[i])
        return through_loops(table, self.loops, self.start[i], radius_m, self.scenario.time_step_s)


def drive_in_chunks(
    kernel: Any,
    batch: Any,
    commands: RunCommands | None,
    schedule: tuple[int, int, float],
    runs: np.ndarray,
    out: np.ndarray,
    status: np.ndarray,
    workers: int | None,
) -> None:
    """Drive a batch on all cores and put its records and status where its runs stand among all.

    commands : of these runs; None where the batch has a driver of its own
    schedule : steps for which a command holds, steps of a record, step (s)
    """
    is_all = len(runs) == len(status)
    records, codes = (out, status) if is_all else (np.empty((len(runs), *out.shape[1:])), np.empty(len(runs)))

    def chunk(lo: int, hi: int) -> None:
        part = commands.part(batch, lo, hi) if commands else runs_between(batch, lo, hi)
        kernel(part, 0, hi - lo, *schedule, records[lo:hi], codes[lo:hi])

    run_chunks(chunk, len(runs), workers=workers)
    if not is_all:
        out[runs], status[runs] = records, codes
