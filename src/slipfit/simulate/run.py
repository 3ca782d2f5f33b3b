"""Simulate one drive, or thousands: robot or twin and scenario in, trajectories out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.errors import ParameterError, SimulationError
from slipfit.kernels import run_chunks
from slipfit.library import Ground, OmniRobot, Robot, find_ground
from slipfit.simulate.assemble import assemble, check_pair, is_soft, kernel, named_values, varied
from slipfit.simulate.commands import command_table, commanded_turn
from slipfit.simulate.rover import RoverBatch, drive_rovers
from slipfit.simulate.rover_trajectory import RoverTrajectory
from slipfit.simulate.scenario import Scenario, find_scenario
from slipfit.simulate.sensors import read_sensors
from slipfit.simulate.speed_loop import through_loops
from slipfit.simulate.trajectory import BODY_FIELDS, WHEEL_FIELDS, RunStatus, Trajectory
from slipfit.simulate.vary import is_no_number
from slipfit.twin import FittedPowertrain, OmniTwin, Twin, find_wheeled
from slipfit.vehicles import planar_body, run_loop

_STATUS = {run_loop.OK: RunStatus.FINISHED, run_loop.NOT_FINITE: RunStatus.DIVERGED}
_BODY = len(planar_body.BODY_COLUMNS)

#: Largest result that one call may hold (bytes): what a small machine has to spare.
MOST_BYTES = 8_000_000_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Many runs of one scenario: how each ended, and what they recorded, shape (runs, records, columns)."""

    time_s: np.ndarray
    records: np.ndarray
    status: tuple[RunStatus, ...]
    varied: Mapping[str, np.ndarray]
    robot: str
    ground: str
    effort_limit: np.ndarray  # (runs,)
    slope_rad: np.ndarray  # (runs,)
    commanded_turn_rad: float
    drive: str = "skid_steer"

    def __len__(self) -> int:
        return len(self.status)

    @property
    def is_finished(self) -> np.ndarray:
        """Which runs reached their end, shape (runs,)."""
        return np.array([status is RunStatus.FINISHED for status in self.status])

    @property
    def end_pose(self) -> np.ndarray:
        """x, y, heading of the wheels' centre at the end, shape (runs, 3)."""
        return self.records[:, -1, :3]

    def run(self, i: int) -> Trajectory:
        """One run as a trajectory."""
        record = self.records[i]
        wheels = np.split(record[:, _BODY:], len(run_loop.WHEEL_COLUMNS), axis=1)
        columns: dict[str, Any] = dict(zip(BODY_FIELDS, (self.time_s, *record[:, :_BODY].T), strict=True))
        columns |= dict(zip(WHEEL_FIELDS, wheels, strict=True))
        return Trajectory(
            **columns,
            robot=self.robot,
            ground=self.ground,
            status=self.status[i],
            effort_limit=float(self.effort_limit[i]),
            slope_rad=float(self.slope_rad[i]),
            commanded_turn_rad=self.commanded_turn_rad,
            drive=self.drive,
        )

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} runs of {self.robot} on {self.ground}>"

    def summary(self) -> str:
        """A few lines for people."""
        done = self.is_finished
        rows = [f"{len(self)} runs of {self.robot} on {self.ground}, {self.time_s[-1]:.4g} s each: {done.sum()} finished"]
        if done.any():
            low, mid, high = np.percentile(self.end_pose[done], (5, 50, 95), axis=0)
            for k, name in enumerate(("x_m", "y_m", "heading_rad")):
                rows.append(f"  {name:<12}{mid[k]:>10.4f}  (90 % of runs: {low[k]:.4f} to {high[k]:.4f})")
        if not done.all():
            rows.append(f"  {(~done).sum()} runs: {RunStatus.DIVERGED.value}")
        return "\n".join(rows)


def simulate(
    robot: Robot | OmniRobot | Twin | OmniTwin | str | Path,
    scenario: Scenario | Mapping[str, Any] | str | Path,
    *,
    ground: Ground | str | Path | None = None,
) -> Trajectory:
    """Drive a robot through a scenario, with sensors if the scenario has some.

    Parameters
    ----------
    robot : a record, a name of the library, or the path of a file; a twin in its place brings its ground along, and the lags,
        dead bands and limits of its powertrain
    scenario : a record, what a scenario file holds, a name of the library, or the path of a file
    ground : overrides the surface that the scenario names, and the twin's; of a twin with several grounds it chooses one

    Examples
    --------
    >>> trajectory = simulate("p3at", Scenario(commands=[{"for_s": 2.0, "v_mps": 0.5}]))
    """
    scenario = _scenario(scenario)
    if isinstance(robot, str | Path):
        robot = find_wheeled(robot)
    if _keeps_books(robot, scenario, ground):
        return _simulate_rover(robot, scenario, ground)
    if not scenario.sensors.names:
        return simulate_many(robot, scenario, {}, ground=ground).run(0)
    powertrain = robot.powertrain if isinstance(robot, Twin) else None
    robot, ground = robot_on_ground(robot, scenario, ground)
    table, every = _commands(robot, scenario)
    fine = _run(robot, scenario, ground, {}, table, 1, powertrain=powertrain)
    readings = read_sensors(fine.run(0), robot, ground, scenario)
    coarse = replace(fine, time_s=fine.time_s[::every], records=_thinned(fine.records, every, table.shape[1]))
    return replace(coarse.run(0), readings=readings)


def simulate_many(
    robot: Robot | OmniRobot | Twin | OmniTwin | str | Path,
    scenario: Scenario | Mapping[str, Any] | str | Path,
    vary: Mapping[str, Any],
    *,
    ground: Ground | str | Path | None = None,
    ends_only: bool = False,
    workers: int | None = None,
) -> Batch | RoverBatch:
    """The same drive many times on all cores, with numbers that differ from run to run. Sensors are left out.

    Parameters
    ----------
    vary : arrays by name (mass_kg, c_long_per_n, slope_rad, ...), one entry per run; a wrong name tells the right ones
    ends_only : record only start and end of each run
    workers : threads, all cores by default; results do not depend on it

    A run whose numbers stop being finite gets a status; the others go on. Run 317 gives the same bits alone or among a million.
    """
    scenario = _scenario(scenario)
    if isinstance(robot, str | Path):
        robot = find_wheeled(robot)
    powertrain = robot.powertrain if isinstance(robot, Twin) else None
    robot, ground = robot_on_ground(robot, scenario, ground)
    if scenario.keeps_books or is_soft(ground):
        return _rovers(robot, scenario, ground, vary, _record_steps(scenario, ends_only), workers)
    table, every = _commands(robot, scenario, ends_only=ends_only)
    return _run(robot, scenario, ground, vary, table, every, workers, powertrain)


def _keeps_books(robot: Robot | OmniRobot | Twin | OmniTwin, scenario: Scenario, ground: Ground | str | Path | None) -> bool:
    """Whether a drive is a rover's: by its scenario, or because its wheels sink."""
    return scenario.keeps_books or is_soft(robot_on_ground(robot, scenario, ground)[1])


def _record_steps(scenario: Scenario, ends_only: bool = False) -> int:
    steps = int(np.ceil(scenario.duration_s / scenario.step_s * (1.0 - 1e-12)))
    return steps if ends_only else max(1, min(steps, round(scenario.record_s / scenario.step_s)))


def _rovers(
    robot: Robot | OmniRobot, scenario: Scenario, ground: Ground, vary: Mapping[str, Any], every: int, workers: int | None = None
) -> RoverBatch:
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    assert isinstance(robot, Robot)  # robot_on_ground refuses others
    return drive_rovers(robot, scenario, ground, vary, every=every, workers=workers, most_bytes=MOST_BYTES)


def _simulate_rover(
    robot: Robot | OmniRobot | Twin | OmniTwin | str | Path, scenario: Scenario, ground: Ground | str | Path | None
) -> RoverTrajectory:
    """One drive with books. Sensors read every step of it, on planes."""
    lags = robot.powertrain if isinstance(robot, Twin) else None
    robot, ground = robot_on_ground(robot, scenario, ground)
    if not scenario.sensors.names:
        drive = _rovers(robot, scenario, ground, {}, _record_steps(scenario)).run(0)
    else:
        if scenario.ground.shape == "terrain":
            raise SimulationError("sensors: they are simulated on planes only; leave them out on a terrain")
        fine = _rovers(robot, scenario, ground, {}, 1).run(0)
        drive = replace(fine.thinned(_record_steps(scenario)), readings=read_sensors(fine, robot, ground, scenario))
    if lags is None:
        return drive
    return replace(
        drive, notes=(*drive.notes, "lags and dead bands of the twin's powertrain are left out on routes and terrains")
    )


def robot_on_ground(
    robot: Robot | OmniRobot | Twin | OmniTwin | str | Path, scenario: Scenario, ground: Ground | str | Path | None
) -> tuple[Robot | OmniRobot, Ground]:
    """Who drives, and on what. A twin's only ground counts whatever the scenario names; of several, `ground` or the scenario's
    surface chooses."""
    if isinstance(robot, str | Path):
        robot = find_wheeled(robot)
    body = robot.robot if isinstance(robot, OmniTwin) else robot
    if isinstance(body, OmniRobot) and scenario.keeps_books:
        raise SimulationError(
            f"{body.name} is an omnidirectional robot; routes, terrains and energy books are for skid-steer robots, give it "
            f"commands on a plane"
        )
    if isinstance(robot, Robot | OmniRobot):
        chosen = _ground(ground, scenario)
        check_pair(robot, chosen)
        return robot, chosen
    if not isinstance(robot, Twin | OmniTwin):
        raise ParameterError(
            f"robot is of type {type(robot).__name__}; expected a Robot, an OmniRobot, a Twin, a name of the library, or a file"
        )
    if ground is None:
        named = scenario.ground.surface
        chosen = robot.ground(named if named in robot.grounds else None)
    else:
        is_own = isinstance(ground, str) and ground in robot.grounds
        chosen = robot.ground(str(ground)) if is_own else _ground(ground, scenario)
    check_pair(robot.robot, chosen)
    return robot.robot, chosen


def _thinned(records: np.ndarray, every: int, wheels: int) -> np.ndarray:
    """Every so many records, as if only these had been written: the lowest loads are those since the one before."""
    thin = records[:, ::every].copy()
    lowest = records[:, 1:, -wheels:].reshape(len(records), -1, every, wheels)
    thin[:, 1:, -wheels:] = lowest.min(axis=2)
    return thin


def _commands(robot: Robot | OmniRobot, scenario: Scenario, *, ends_only: bool = False) -> tuple[np.ndarray, int]:
    """Commands of every step, the last one held until its record is full; and the number of steps per record."""
    table = command_table(robot, scenario)
    every = len(table) if ends_only else max(1, min(len(table), round(scenario.record_s / scenario.step_s)))
    held = np.repeat(table[-1:], -len(table) % every, axis=0)
    return np.concatenate([table, held]), every


def _run(
    robot: Robot | OmniRobot,
    scenario: Scenario,
    ground: Ground,
    vary: Mapping[str, Any],
    table: np.ndarray,
    every: int,
    workers: int | None = None,
    powertrain: FittedPowertrain | None = None,
) -> Batch:
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    values, n = varied(named_values(robot, ground, scenario), vary, robot, ground, scenario)
    records = len(table) // every + 1
    columns = _BODY + len(run_loop.WHEEL_COLUMNS) * table.shape[1]
    if 8 * n * records * columns > MOST_BYTES:
        raise SimulationError(
            f"{n} runs with {records} records each need {8e-9 * n * records * columns:.0f} GB; take a larger record_s "
            f"(step_s where there are sensors, which read every step), fewer runs at once, or ends_only=True"
        )
    out, status = np.empty((n, records, columns)), np.empty(n)
    followed = table if powertrain is None or isinstance(robot, OmniRobot) else through_loops(table, robot, powertrain, scenario)
    batch = assemble(robot, ground, values, followed, n)

    drive_lanes = kernel(robot)

    def chunk(lo: int, hi: int) -> None:
        drive_lanes(batch, lo, hi, 1, every, scenario.step_s, out, status)

    run_chunks(chunk, n, workers=workers)
    # A kernel may not feel a number that is none (a phase decides by comparing): such a run has no result either.
    status[is_no_number(vary, n)] = run_loop.NOT_FINITE
    return Batch(
        time_s=np.arange(records) * every * scenario.step_s,
        records=out,
        status=tuple(_STATUS[code] for code in status.tolist()),
        varied={name: np.asarray(entry) for name, entry in vary.items()},
        robot=robot.name,
        ground=ground.name,
        effort_limit=np.broadcast_to(np.asarray(values.get("torque_limit_nm", np.inf), dtype=float), n),
        slope_rad=np.broadcast_to(np.asarray(values["slope_rad"], dtype=float), n),
        commanded_turn_rad=commanded_turn(robot, table, scenario.step_s),
        drive=robot.drive,
    )


def _scenario(scenario: Scenario | Mapping[str, Any] | str | Path) -> Scenario:
    if isinstance(scenario, str | Path):
        return find_scenario(scenario)
    if isinstance(scenario, Mapping):
        return Scenario.from_mapping({"schema": Scenario.kind(), **scenario}, where="scenario")
    if not isinstance(scenario, Scenario):
        raise ParameterError(
            f"scenario is of type {type(scenario).__name__}; expected a Scenario, what its file holds, or its path"
        )
    return scenario


def _ground(ground: Ground | str | Path | None, scenario: Scenario) -> Ground:
    if ground is None:
        try:
            return find_ground(scenario.ground.surface)
        except ParameterError as error:
            raise ParameterError(f"ground.surface: {error}") from None
    return ground if isinstance(ground, Ground) else find_ground(ground)
