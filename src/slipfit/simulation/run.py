"""Simulate one drive, or thousands: robot or twin and scenario in, trajectories out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from slipfit.errors import ParameterError, SimulationError
from slipfit.library import Ground, OmniRobot, SkidSteerRobot, find_ground
from slipfit.simulation.assemble import assemble, check_pair, is_soft, kernel, named_values, varied, with_one_law
from slipfit.simulation.commands import command_ends
from slipfit.simulation.rover import RoverBatch, drive_rovers
from slipfit.simulation.rover_trajectory import RoverTrajectory
from slipfit.simulation.run_commands import RunCommands, drive_in_chunks
from slipfit.simulation.scenario import Scenario, find_scenario
from slipfit.simulation.sensors import read_sensors
from slipfit.simulation.step_rule import in_short_steps
from slipfit.simulation.trajectory import BODY_FIELDS, WHEEL_FIELDS, RunStatus, Trajectory
from slipfit.simulation.vary import is_no_number
from slipfit.twin import FittedPowertrain, OmniTwin, SkidSteerTwin, find_driver
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
    commands: RunCommands
    drive: str = "skid_steer"
    notes: tuple[str, ...] = ()

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
            commanded_turn_rad=self.commands.turn_rad(i),
            drive=self.drive,
            notes=self.notes,
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
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)


def simulate(
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin | str | Path,
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
    scenario, notes = in_short_steps(_scenario(scenario))
    if isinstance(robot, str | Path):
        robot = _wheeled(robot)
    drive = _simulate_one(robot, scenario, ground)
    return replace(drive, notes=(*drive.notes, *notes)) if notes else drive


def _wheeled(name: str | Path) -> SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin:
    """Whatever drives on wheels; a tracked robot is told where it is at home."""
    found = find_driver(name)
    if found.robot.has_belts:
        raise ParameterError(f"{name}: drive is tracked, and this works with robots on wheels; take simulate_climb or climb_many")
    return cast(SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin, found.twin or found.robot)


def _simulate_one(
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin, scenario: Scenario, ground: Ground | str | Path | None
) -> Trajectory:
    if _keeps_books(robot, scenario, ground):
        return _simulate_rover(robot, scenario, ground)
    if not scenario.sensors.names:
        return simulate_many(robot, scenario, {}, ground=ground).run(0)
    powertrain = robot.powertrain if isinstance(robot, SkidSteerTwin) else None
    robot, ground = robot_on_ground(robot, scenario, ground)
    every = _record_rows(scenario)
    fine = _run(robot, scenario, ground, {}, every, is_every_step=True, powertrain=powertrain)
    readings = read_sensors(fine.run(0), robot, ground, scenario)
    wheels = len(robot.wheels.at_m.value)
    coarse = replace(fine, time_s=fine.time_s[::every], records=_thinned(fine.records, every, wheels))
    return replace(coarse.run(0), readings=readings)


def simulate_many(
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin | str | Path,
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
    scenario, notes = in_short_steps(_scenario(scenario))
    if isinstance(robot, str | Path):
        robot = _wheeled(robot)
    powertrain = robot.powertrain if isinstance(robot, SkidSteerTwin) else None
    robot, ground = robot_on_ground(robot, scenario, ground)
    batch: Batch | RoverBatch
    if scenario.keeps_books or is_soft(ground):
        batch = _rovers(robot, scenario, ground, vary, None if ends_only else _record_steps(scenario), workers)
    else:
        batch = _run(robot, scenario, ground, vary, _record_rows(scenario, ends_only), workers=workers, powertrain=powertrain)
    return replace(batch, notes=(*batch.notes, *notes)) if notes else batch


def _keeps_books(
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin, scenario: Scenario, ground: Ground | str | Path | None
) -> bool:
    """Whether a drive is a rover's: by its scenario, or because its wheels sink."""
    return scenario.keeps_books or is_soft(robot_on_ground(robot, scenario, ground)[1])


def _record_steps(scenario: Scenario) -> int:
    steps = int(np.ceil(scenario.duration_s / scenario.step_s * (1.0 - 1e-12)))
    return max(1, min(steps, round(scenario.record_s / scenario.step_s)))


def _record_rows(scenario: Scenario, ends_only: bool = False) -> int:
    """Steps of a record where commands are followed: of all of them, or of record_s."""
    rows = int(command_ends(scenario)[-1])
    return rows if ends_only else max(1, min(rows, round(scenario.record_s / scenario.step_s)))


def _rovers(
    robot: SkidSteerRobot | OmniRobot,
    scenario: Scenario,
    ground: Ground,
    vary: Mapping[str, Any],
    every: int | None,
    workers: int | None = None,
) -> RoverBatch:
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    assert isinstance(robot, SkidSteerRobot)  # robot_on_ground refuses others
    return drive_rovers(robot, scenario, ground, vary, every=every, workers=workers, most_bytes=MOST_BYTES)


def _simulate_rover(
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin | str | Path,
    scenario: Scenario,
    ground: Ground | str | Path | None,
) -> RoverTrajectory:
    """One drive with books. Sensors read every step of it, on planes."""
    lags = robot.powertrain if isinstance(robot, SkidSteerTwin) else None
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
    robot: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin | str | Path,
    scenario: Scenario,
    ground: Ground | str | Path | None,
) -> tuple[SkidSteerRobot | OmniRobot, Ground]:
    """Who drives, and on what. A twin's only ground counts whatever the scenario names; of several, `ground` or the scenario's
    surface chooses."""
    if isinstance(robot, str | Path):
        robot = _wheeled(robot)
    body = robot.robot if isinstance(robot, OmniTwin) else robot
    if isinstance(body, OmniRobot) and scenario.keeps_books:
        raise SimulationError(
            f"{body.name} is an omnidirectional robot; routes, terrains and energy books are for skid-steer robots, give it "
            f"commands on a plane"
        )
    if isinstance(robot, SkidSteerRobot | OmniRobot):
        chosen = _ground(ground, scenario)
        check_pair(robot, chosen)
        return robot, chosen
    if not isinstance(robot, SkidSteerTwin | OmniTwin):
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


def _run(
    robot: SkidSteerRobot | OmniRobot,
    scenario: Scenario,
    ground: Ground,
    vary: Mapping[str, Any],
    every: int,
    *,
    is_every_step: bool = False,
    workers: int | None = None,
    powertrain: FittedPowertrain | None = None,
) -> Batch:
    """Runs on a plane, whole records of `every` steps long; a record is written after each of them, or after every step."""
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    values, n = varied(named_values(robot, ground, scenario), vary, robot, ground, scenario)
    commands = RunCommands.of(robot, scenario, values, n, powertrain=powertrain, every=every)
    every = 1 if is_every_step else every
    records = commands.steps // every + 1
    columns = _BODY + len(run_loop.WHEEL_COLUMNS) * len(robot.wheels.at_m.value)
    if 8 * n * records * columns > MOST_BYTES:
        raise SimulationError(
            f"{n} runs with {records} records each need {8e-9 * n * records * columns:.0f} GB; take a larger record_s "
            f"(step_s where there are sensors, which read every step), fewer runs at once, or ends_only=True"
        )
    out, status = np.empty((n, records, columns)), np.empty(n)
    for runs in with_one_law(ground, values, n):
        own = commands.of_runs(runs)
        batch = assemble(robot, ground, own.values, own.shared, len(runs))
        drive_in_chunks(kernel(robot), batch, own, (1, every, scenario.step_s), runs, out, status, workers)
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
        commands=commands,
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
