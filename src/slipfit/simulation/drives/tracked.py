"""Tracked robots over obstacles, over terrain and through soil."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipfit.kernels import as_batch
from slipfit.library import TrackedRobot
from slipfit.simulation.assemble import Values, of_runs
from slipfit.simulation.batch import END_COLUMNS, Batch
from slipfit.simulation.climb import (
    CONTROL_S,
    check_begin,
    check_reachable,
    check_step,
    climb_bounds,
    climb_runs,
    outline_of,
    variable_numbers,
    varied_numbers,
)
from slipfit.simulation.climb_start import check_flippers
from slipfit.simulation.climb_task import check_task, unused_keys
from slipfit.simulation.climb_twin import climber_on_ground
from slipfit.simulation.engine import Bounds, Records, Resolved, Run, Schedule, Setup
from slipfit.simulation.outcome import TRACKED_OUTCOMES, Outcome
from slipfit.simulation.scenario import as_scenario
from slipfit.simulation.scenario_keys import check_keys
from slipfit.simulation.step_rule import short_step
from slipfit.simulation.trajectory import Trajectory
from slipfit.twin import Driver
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.track_shape import divided_alike

_OUTCOMES = {
    track_verdict.CLIMBED: Outcome.CLIMBED,
    track_verdict.SLIPPED: Outcome.SLIPPED,
    track_verdict.TIPPED_BACKWARDS: Outcome.TIPPED_BACKWARDS,
    track_verdict.TIPPED_OVER: Outcome.TIPPED_OVER,
    track_verdict.HIGH_CENTRED: Outcome.HIGH_CENTRED,
    track_verdict.STUCK_IN_SOIL: Outcome.STUCK_IN_SOIL,
    track_verdict.TIMED_OUT: Outcome.TIMED_OUT,
    track_verdict.NOT_FINITE: Outcome.DIVERGED,
}


#: Step and time between two records where the scenario gives none.
STEP_S, RECORD_S = 0.0005, 0.02


def outcome_of(code: float) -> Outcome:
    """The outcome of a climb whose run ended with this code of vehicles.track_verdict."""
    return _OUTCOMES[code]


class Tracked:
    """Two belts around sprockets, with flippers and belly where the robot has some."""

    possible = TRACKED_OUTCOMES
    measures = END_COLUMNS

    def short_names(self, ground: Any) -> Mapping[str, str]:
        """There are none."""
        return {}

    def resolve(self, driver: Driver, scenario: Any, ground: Any) -> Resolved:
        """A twin's grounds stand for the scenario's surface and soil (`simulation.climb_twin`)."""
        climb = as_scenario(scenario).in_steps_of(STEP_S, RECORD_S)
        check_keys(climb, driver.robot.name, unused_keys(driver.robot, climb))
        check_task(climb, driver.robot.name)
        robot, whole, names, notes = climber_on_ground(driver, climb, None if ground is None else str(ground))
        whole.ground.friction()
        whole.ground.soil_values()
        return Resolved(self, robot, whole, twin=driver.twin, twin_grounds=names, notes=notes)

    def place(self, found: Resolved) -> str:
        """What it drives over, in words."""
        return found.scenario.about or "climb"

    def numbers(self, robot: TrackedRobot, ground: Any, scenario: Any) -> Values:
        """Every number of a run that can be varied, by its name."""
        return variable_numbers(robot, scenario)

    def bounds(self, robot: TrackedRobot, ground: Any, scenario: Any) -> Bounds:
        """Between which values they may lie."""
        return climb_bounds(robot, scenario)

    def varied(self, found: Resolved, vary: Mapping[str, Any]) -> tuple[Values, int]:
        """The numbers with some replaced by arrays, one entry per run; and the number of runs."""
        return varied_numbers(found.robot, found.scenario, vary)

    def set_up(self, run: Run, records: Records) -> Setup:
        """Commands hold and verdicts are reached every CONTROL_S."""
        robot, climb, values = run.of.robot, run.of.scenario, run.values
        notes = check_reachable(robot, climb, values)
        check_step(robot, climb, values)
        if robot.flippers:
            check_flippers(values)
        dt, stepping = short_step(climb.time_step_s)
        hold = max(1, round(CONTROL_S / dt))
        steps = hold * max(1, int(np.ceil(climb.duration_s / (hold * dt) * (1.0 - 1e-12))))
        every = steps if records is Records.ENDS else min(steps, hold * max(1, round(climb.record_interval_s / (hold * dt))))
        steps += -steps % every

        def assemble(runs: np.ndarray) -> tuple[Any, None]:
            own = of_runs(values, runs)
            batch = as_batch(climb_runs(robot, climb, own, len(runs), hold * dt, steps // hold), len(runs))
            check_begin(robot, climb, own, batch, len(runs))
            return batch, None

        return Setup(
            kernel=tracked.in_lanes,
            schedule=Schedule(hold, every, steps, dt),
            columns=dict.fromkeys(tracked.TRACK_COLUMNS, 1),
            groups=divided_alike(outline_of(robot, values), round(robot.tracks.segments.value), run.n),
            assemble=assemble,
            not_finite=track_verdict.NOT_FINITE,
            notes=(*notes, *stepping),
        )

    def check_sensors(self, found: Resolved) -> None:
        """`unused_keys` refuses them."""

    # --- what came out ----------------------------------------------------------------------------------------------

    def outcomes(self, batch: Batch) -> tuple[Outcome, ...]:
        """How each run ended; without a goal, time that is over is an end like any other."""
        found, has_goal = [outcome_of(code) for code in batch.codes.tolist()], batch.scenario.has_goal
        return tuple(Outcome.FINISHED if o is Outcome.TIMED_OUT and not has_goal else o for o in found)

    def end_pose(self, batch: Batch) -> np.ndarray:
        """x, y of the centre of mass and heading at the end, (runs, 3)."""
        w, x, y, z = (batch.at_end(name) for name in ("qw", "qx", "qy", "qz"))
        heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        return np.column_stack([batch.at_end("x_m"), batch.at_end("y_m"), heading])

    def margin(self, batch: Batch) -> np.ndarray:
        """How clearly each run got over its obstacle, (runs,); NaN where there is none."""
        return batch.at_end("margin") if batch.scenario.has_goal else np.full(len(batch), np.nan)

    def arrived_at_s(self, batch: Batch) -> np.ndarray:
        """There is no route."""
        return np.full(len(batch), np.nan)

    def trajectory(self, batch: Batch, i: int) -> Trajectory:
        """One run, up to its verdict."""
        stopped_s = float(batch.at_end("stopped_at_s")[i])
        until = int(np.searchsorted(batch.time_s, stopped_s * (1.0 + 1e-12), side="right"))
        columns = {"time_s": batch.time_s[:until]}
        columns |= {name: batch.column(name)[i, :until] for name in batch.columns}
        return Trajectory(
            columns,
            robot=batch.robot.name,
            scenario=batch.ground,
            drive="tracked",
            shape=batch.scenario.ground.shape,
            outcome=batch.outcomes[i],
            notes=batch.notes,
            stopped_at_s=stopped_s,
            margin=float(batch.margin[i]) if batch.scenario.has_goal else None,
        )
