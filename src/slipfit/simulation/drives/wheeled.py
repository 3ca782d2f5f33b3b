"""What skid-steer and omnidirectional robots share: grounds and twins, commands on planes, records of body and wheels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from slipfit.contact import GROUND_LAWS
from slipfit.errors import ParameterError, SimulationError
from slipfit.library import Ground, find_ground
from slipfit.simulation.assemble import Values, bounds_of, named_values, varied, with_one_law
from slipfit.simulation.batch import POSE_COLUMNS, Batch
from slipfit.simulation.commands import command_ends
from slipfit.simulation.engine import Bounds, Records, Resolved, Run, Schedule, Setup
from slipfit.simulation.outcome import WHEELED_OUTCOMES, Outcome
from slipfit.simulation.record import BODY_COLUMNS, WHEEL_COLUMNS
from slipfit.simulation.run_commands import RunCommands
from slipfit.simulation.scenario import Scenario, as_scenario
from slipfit.simulation.scenario_keys import Unused, check_keys
from slipfit.simulation.step_rule import in_steps_for
from slipfit.simulation.tip_over import tip_over_margin
from slipfit.simulation.trajectory import Trajectory
from slipfit.twin import Driver
from slipfit.vehicles import planar_body, run_loop

_OUTCOMES = {run_loop.OK: Outcome.FINISHED, run_loop.NOT_FINITE: Outcome.DIVERGED, run_loop.TIPPED: Outcome.TIPPED_OVER}


class Wheeled:
    """Robots on wheels that follow commands on a plane."""

    kernel: ClassVar[Callable[..., None]]
    possible = WHEELED_OUTCOMES
    measures = POSE_COLUMNS

    def short_names(self, ground: Any) -> Mapping[str, str]:
        """Those of the ground's law."""
        return {p.alias: p.name for p in GROUND_LAWS[ground.law].parameters if p.alias}

    # --- who and where ----------------------------------------------------------------------------------------------

    def resolve(self, driver: Driver, scenario: Any, ground: Any) -> Resolved:
        """A twin's only ground counts whatever the scenario names; of several, `ground` or the scenario's surface chooses."""
        drive, notes = in_steps_for(driver.robot, as_scenario(scenario))
        has_ground = ground is not None or driver.twin is not None
        check_keys(drive, driver.robot.name, unused_keys(driver.robot, drive, has_ground=has_ground))
        chosen = _ground(driver.twin, drive, ground)
        self.check(driver.robot, chosen, drive)
        twin = driver.twin
        own = (chosen.name,) if twin and chosen.name in twin.grounds else ()
        return Resolved(self, driver.robot, drive, chosen, twin.powertrain if twin else None, twin, own, notes)

    def check(self, robot: Any, ground: Ground, scenario: Scenario) -> None:
        """A sentence where robot, ground and scenario do not go together."""

    def place(self, found: Resolved) -> str:
        """Where it drives, in words."""
        return str(found.ground.name)

    # --- numbers ----------------------------------------------------------------------------------------------------

    def numbers(self, robot: Any, ground: Any, scenario: Any) -> Values:
        """Every number of a run that can be varied, by its name."""
        return named_values(robot, ground, scenario)

    def bounds(self, robot: Any, ground: Any, scenario: Any) -> Bounds:
        """Between which values they may lie."""
        return bounds_of(robot, ground, scenario)

    def varied(self, found: Resolved, vary: Mapping[str, Any]) -> tuple[Values, int]:
        """The numbers with some replaced by arrays, one entry per run; and the number of runs."""
        where = (found.robot, found.ground, found.scenario)
        assert found.ground is not None
        return varied(self.numbers(*where), vary, self.bounds(*where), found.ground)

    # --- running ----------------------------------------------------------------------------------------------------

    def assemble(self, robot: Any, ground: Ground, values: Values, commands: np.ndarray, n: int) -> Any:
        """The kernel's tuple of n runs on a plane that follow a table of commands, (steps, wheels)."""
        raise NotImplementedError

    def set_up(self, run: Run, records: Records) -> Setup:
        """Whole records: the last command is held until the last one is full."""
        found, n = run.of, run.n
        robot, ground, scenario = found.robot, found.ground, found.scenario
        assert ground is not None
        rows = int(command_ends(scenario)[-1])
        every = rows if records is Records.ENDS else max(1, min(rows, round(scenario.record_interval_s / scenario.time_step_s)))
        commands = RunCommands.of(robot, scenario, run.values, n, powertrain=found.powertrain, every=every)
        every = 1 if records is Records.EVERY_STEP else every

        def assemble(runs: np.ndarray) -> tuple[Any, RunCommands]:
            own = commands.of_runs(runs)
            return self.assemble(robot, ground, own.values, own.shared, len(runs)), own

        count = len(robot.wheels.at_m.value)
        return Setup(
            kernel=type(self).kernel,
            schedule=Schedule(1, every, commands.steps, scenario.time_step_s),
            columns=dict.fromkeys(planar_body.BODY_COLUMNS, 1) | {f"wheel_{name}": count for name in run_loop.WHEEL_COLUMNS},
            groups=with_one_law(ground, run.values, n),
            assemble=assemble,
            commands=commands,
        )

    def check_sensors(self, found: Resolved) -> None:
        """Sensors are simulated on planes."""
        if found.scenario.ground.shape == "terrain":
            raise SimulationError("sensors: they are simulated on planes only; leave them out on a terrain")

    # --- what came out ----------------------------------------------------------------------------------------------

    def outcomes(self, batch: Batch) -> tuple[Outcome, ...]:
        """How each run ended."""
        return tuple(_OUTCOMES[code] for code in batch.codes.tolist())

    def end_pose(self, batch: Batch) -> np.ndarray:
        """x, y, heading of the wheels' centre at the end, shape (runs, 3)."""
        return batch.records[:, -1, :3]

    def margin(self, batch: Batch) -> np.ndarray:
        """There is no obstacle."""
        return np.full(len(batch), np.nan)

    def arrived_at_s(self, batch: Batch) -> np.ndarray:
        """There is no route."""
        return np.full(len(batch), np.nan)

    def trajectory(self, batch: Batch, i: int) -> Trajectory:
        """One run."""
        record, found, outcome = batch.records[i], batch.run_of.of, batch.outcomes[i]
        body = [batch.slices[name] for name in planar_body.BODY_COLUMNS]
        wheels = [batch.slices[f"wheel_{name}"] for name in run_loop.WHEEL_COLUMNS]
        columns = {"time_s": batch.time_s}
        columns |= {name: record[:, where][:, 0] for name, where in zip(BODY_COLUMNS[1:], body, strict=True)}
        columns |= {name: record[:, where] for name, where in zip(WHEEL_COLUMNS, wheels, strict=True)}
        assert batch.commands is not None
        stopped = _tipped_at_s(batch, i, columns) if outcome is Outcome.TIPPED_OVER else np.nan
        if np.isfinite(stopped):
            until = int(np.searchsorted(batch.time_s, stopped * (1.0 - 1e-12))) + 1
            columns = {name: column[:until] for name, column in columns.items()}
        return Trajectory(
            columns,
            stopped_at_s=stopped,
            robot=found.robot.name,
            ground=batch.ground,
            outcome=outcome,
            effort_limit=batch.value("torque_limit_nm", i) if "torque_limit_nm" in batch.run_of.values else float("inf"),
            slope_rad=batch.value("slope_rad", i),
            commanded_turn_rad=batch.commands.turn_rad(i),
            drive=found.robot.drive,
            notes=batch.notes,
        )


def _tipped_at_s(batch: Batch, i: int, columns: Mapping[str, np.ndarray]) -> float:
    """When a run on a plane had leaned for TIPS_AFTER_S, by its records; NaN where they are too few to tell."""
    into_mps2 = batch.value("gravity_mps2", i) * np.cos(batch.value("slope_rad", i))
    felt = np.column_stack([columns["fx_mps2"], columns["fy_mps2"], np.full(len(batch.time_s), into_mps2)])
    x, y, height = (batch.value(f"centre_of_mass_{axis}_m", i) for axis in ("x", "y", "height"))
    leans = tip_over_margin(batch.robot.supports_m, (x, y, height), felt) < 0.0
    upright_s = np.maximum.accumulate(np.where(leans, 0.0, batch.time_s))
    lasting = np.flatnonzero(batch.time_s - upright_s > run_loop.TIPS_AFTER_S)
    return float(batch.time_s[lasting[0]]) if len(lasting) else float("nan")


#: What no robot on wheels uses.
_UNUSED = {
    "ground.obstacle": "is on wheels, and obstacles are not simulated for wheels yet",
    "straight": "is on wheels, and straight drives to a goal are not simulated for wheels yet",
    "stop": "is on wheels, whose drives end with their commands or route",
    "ground.mu_dynamic": "is on wheels, whose friction is that of the surface's law",
    "ground.fading_speed_mps": "is on wheels, whose friction is that of the surface's law",
    "ground.soil_depth_m": "is on wheels, for which the layer of a soil stands in its file (layer_m)",
    "start.rolling": "is on wheels, which roll at the velocity of the start",
    "start.flipper_angle_rad": "has no flippers",
}


def unused_keys(robot: Any, scenario: Scenario, *, has_ground: bool) -> Unused:
    """Keys that a robot on wheels has no use for, and why; the scenario's surface does not count where a ground is given."""
    found = dict(_UNUSED)
    if not has_ground:
        found["ground.mu_static"] = "is on wheels, whose friction is that of the surface's law"
    if isinstance(scenario.ground.soil, Mapping):
        found["ground.soil"] = "is on wheels, whose soil is a ground of the library or a file with the law soil"
    if getattr(robot, "battery", None) is None:
        found["battery"] = "has no battery in its file, whose numbers these would stand in for"
    return found


def _ground(twin: Any, scenario: Scenario, given: Ground | str | Path | None) -> Ground:
    if isinstance(given, Ground):
        return given
    place = scenario.ground
    named: Any = (place.soil or place.surface) if given is None else given  # soil covers the surface
    if twin is not None and (given is None or given in twin.grounds):
        chosen: Ground = twin.ground(str(named) if named in twin.grounds else None)
        return chosen
    if given is None:
        place.soil_values()  # a sentence where this is no soil
    try:
        return find_ground(named)
    except ParameterError as error:
        raise ParameterError(str(error) if given else f"ground.{'soil' if place.soil else 'surface'}: {error}") from None
