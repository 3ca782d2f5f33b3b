"""The one simulation loop, for every robot over every ground: a run is resolved once, the adapter of its drive type prepares the
tuples of the kernel, and the runs of a batch are driven on all cores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

import numpy as np

from slipfit.errors import SimulationError
from slipfit.simulation.batch import Batch
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.run_commands import RunCommands, drive_in_chunks
from slipfit.simulation.trajectory import Trajectory
from slipfit.simulation.vary import is_no_number
from slipfit.twin import Driver, FittedPowertrain, Twin
from slipfit.vehicles import run_loop

Values = dict[str, Any]  # by parameter name: a float, or an array with one entry per run
Bounds = dict[str, tuple[float, float]]

#: Largest result that one call may hold (bytes): what a small machine has to spare.
MOST_BYTES = 8_000_000_000


class Records(Enum):
    """Which steps of a run are recorded."""

    AS_SCENARIO = auto()  # every record_s
    EVERY_STEP = auto()  # what sensors read
    ENDS = auto()  # start and end


class Schedule(NamedTuple):
    """Steps for which a command holds, steps between two records, steps in all, and the length of a step (s)."""

    hold: int
    every: int
    steps: int
    step_s: float


@dataclass(frozen=True, eq=False)
class Setup:
    """What a drive type makes of a run."""

    kernel: Callable[..., None]
    schedule: Schedule
    columns: Mapping[str, int]  # names and widths of what the kernel records, in order
    groups: list[np.ndarray]  # numbers of the runs that one tuple can hold
    assemble: Callable[[np.ndarray], tuple[Any, RunCommands | None]]  # the tuple of some runs, and their commands if by table
    ends_s: np.ndarray | None = None  # when each run ends at the latest, where runs differ
    commands: RunCommands | None = None
    not_finite: float = run_loop.NOT_FINITE  # the kernel's code for numbers that stopped being finite
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Resolved:
    """Who drives what, and on which ground, before numbers vary."""

    vehicle: "Vehicle"
    robot: Any
    scenario: Any
    ground: Any = None  # None where surface and soil stand in the scenario
    powertrain: FittedPowertrain | None = None  # a twin's
    twin: Twin | None = None  # whose robot it is, and
    twin_grounds: tuple[str, ...] = ()  # names of its grounds that are driven on
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Run:
    """A batch of runs, resolved: numbers by name, those that vary as arrays with one entry per run."""

    of: Resolved
    values: Values
    n: int
    varied: Mapping[str, np.ndarray] = field(default_factory=dict)


class Vehicle(Protocol):
    """One drive type: what the engine asks of it. Adapters are in `simulation/drives`; they keep nothing."""

    @property
    def possible(self) -> tuple[Outcome, ...]:
        """How runs can end. Studies store their numbers in this order."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Numbers of a run's end that say by how much, by the names that `Batch.measure` takes."""

    def short_names(self, ground: Any) -> Mapping[str, str]:
        """Full names of numbers by the short ones that are accepted."""

    def resolve(self, driver: Driver, scenario: Any, ground: Any) -> Resolved:
        """Robot, powertrain and ground of a robot or twin in a scenario (a record, what its file holds, a name or a path); a
        sentence with the physical reason where they do not go together."""

    def numbers(self, robot: Any, ground: Any, scenario: Any) -> Values:
        """Every number of a run that can be varied, by its name."""

    def bounds(self, robot: Any, ground: Any, scenario: Any) -> Bounds:
        """Between which values they may lie, by name; those that may be anything are left out."""

    def varied(self, found: Resolved, vary: Mapping[str, Any]) -> tuple[Values, int]:
        """The numbers with some replaced by arrays, one entry per run; and the number of runs."""

    def set_up(self, run: Run, records: Records) -> Setup:
        """The kernel, and how to fill its tuples."""

    def place(self, found: Resolved) -> str:
        """Where it drives, in words."""

    def check_sensors(self, found: Resolved) -> None:
        """A sentence where sensors are not simulated."""

    def outcomes(self, batch: Batch) -> tuple[Outcome, ...]:
        """How each run ended."""

    def end_pose(self, batch: Batch) -> np.ndarray:
        """x, y, heading at the end of each run, (runs, 3)."""

    def margin(self, batch: Batch) -> np.ndarray:
        """How clearly each run got over its obstacle, (runs,); NaN where there is none."""

    def arrived_at_s(self, batch: Batch) -> np.ndarray:
        """When each run reached its last waypoint, (runs,); NaN where it did not."""

    def trajectory(self, batch: Batch, i: int) -> Trajectory:
        """One run, up to its end."""


def drive_runs(found: Resolved, vary: Mapping[str, Any], records: Records, *, workers: int | None = None) -> Batch:
    """Drive all runs of a batch; what a run gets does not depend on its neighbours or on the number of threads."""
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    values, n = found.vehicle.varied(found, vary)
    run = Run(found, values, n, {name: np.asarray(entry) for name, entry in vary.items()})
    setup = found.vehicle.set_up(run, records)
    hold, every, steps, step_s = setup.schedule
    shape = (n, steps // every + 1, sum(setup.columns.values()))
    check_memory(*shape)
    out, codes = np.empty(shape), np.empty(n)
    for runs in setup.groups:
        batch, commands = setup.assemble(runs)
        drive_in_chunks(setup.kernel, batch, commands, (hold, every, step_s), runs, out, codes, workers)
    # A kernel may not feel a number that is none, where it only compares: such a run has no result either.
    codes[is_no_number(vary, n)] = setup.not_finite
    return Batch(
        run_of=run,
        time_s=np.arange(shape[1]) * every * step_s,
        records=out,
        codes=codes,
        columns=setup.columns,
        ends_s=np.full(n, np.inf) if setup.ends_s is None else setup.ends_s,
        commands=setup.commands,
        notes=(*found.robot.doubts(), *found.notes, *setup.notes),
    )


def check_memory(runs: int, records: int, columns: int) -> None:
    """A batch that would not fit is refused before it is begun."""
    if 8 * runs * records * columns > MOST_BYTES:
        raise SimulationError(
            f"{runs} runs with {records} records each need {8e-9 * runs * records * columns:.0f} GB; take a larger record_s "
            f"(step_s where there are sensors, which read every step), fewer runs at once, or ends_only=True"
        )
