"""Skid-steer robots on routes, over terrains, on soil, and with an energy balance of every joule."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from slipfit.control.route import Route
from slipfit.errors import SimulationError
from slipfit.ground import plane, rutted
from slipfit.kernels import as_batch
from slipfit.library import Ground, SkidSteerRobot, Terrain, find_terrain
from slipfit.simulation.assemble import (
    TYRES,
    Values,
    battery_of,
    body_of,
    check_carries,
    is_soft,
    law_of,
    losses_of,
    moves_in_space,
    of_runs,
    powertrain_of,
    start_of,
    supports_of,
    wheels_of,
    with_one_law,
)
from slipfit.simulation.batch import Batch
from slipfit.simulation.drives.wheeled import Wheeled
from slipfit.simulation.engine import Records, Resolved, Run, Schedule, Setup
from slipfit.simulation.grousers import on_tips, spacing_note
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.quantities import distance_from_path
from slipfit.simulation.record import BALANCE_COLUMNS
from slipfit.simulation.run_commands import RunCommands
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.tip_over import tip_over_margin
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles import planar_body, rough, run_loop, skid_steer
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS, Books
from slipfit.vehicles.driver import NEVER, NOTE_COLUMNS, table_for_all
from slipfit.vehicles.footing import Tyre
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.soil_footing import SoilFooting

_OUTCOMES = {
    run_loop.OK: Outcome.FINISHED,
    run_loop.NOT_FINITE: Outcome.DIVERGED,
    run_loop.OFF_MAP: Outcome.LEFT_THE_MAP,
    run_loop.TIPPED: Outcome.TIPPED_OVER,
    run_loop.SUNK: Outcome.SUNK_IN,
}

#: Those that stop a run before its time.
_STOPPING = (Outcome.DIVERGED, Outcome.LEFT_THE_MAP, Outcome.TIPPED_OVER, Outcome.SUNK_IN)

#: A tyre that no file describes gives way by this share of its radius under the robot's weight, with this damping ratio.
_TYRE_GIVE, _TYRE_DAMPING_RATIO = 0.02, 0.2

#: Cells of a rut's memory, as a share of the wheels' width.
_CELLS_PER_WIDTH = 0.5

#: A drive that arrived is recorded this much longer: the robot comes to rest.
_AFTERWARDS_S = 1.0


class Rover(Wheeled):
    """On a plane by `skid_steer`, on a terrain or on soil by `rough`."""

    def check(self, robot: SkidSteerRobot, ground: Ground, scenario: Scenario) -> None:
        """What pitches and rolls needs inertias."""
        if moves_in_space(ground, scenario):
            _check_inertias(robot, "soil" if is_soft(ground) else "a terrain")

    def place(self, found: Resolved) -> str:
        """Where it drives, in words."""
        assert found.ground is not None
        place = found.scenario.ground
        over = f" over {find_terrain(place.terrain).name}" if place.terrain else ""
        return f"{found.ground.name}{over}" + (f" at {place.gravity_mps2:g} m/s²" if place.gravity_mps2 is not None else "")

    def varied(self, found: Resolved, vary: Mapping[str, Any]) -> tuple[Values, int]:
        """Tyres that no file describes are assumed."""
        values, n = super().varied(found, vary)
        assert found.ground is not None
        if moves_in_space(found.ground, found.scenario) and not is_soft(found.ground):
            values = _with_tyres(found.robot, values)
        return values, n

    def set_up(self, run: Run, records: Records) -> Setup:
        """A record every record_s; on a route until the last of the runs gives up."""
        found, n, values = run.of, run.n, run.values
        robot, ground, scenario = found.robot, found.ground, found.scenario
        assert ground is not None
        terrain = _terrain(robot, scenario)
        if terrain:
            _check_starts(terrain, values, n)
        if is_soft(ground):
            check_carries(f"ground {ground.name}", "wheel", values, values["width_m"])
        every = _record_steps(scenario, records)
        commands = (
            None if scenario.route else RunCommands.of(robot, scenario, values, n, powertrain=found.powertrain, every=every or 1)
        )
        _, hold, steps = driver_of(robot, scenario, values, commands)
        ends_s = _own_ends_s(scenario, values, n, every)
        every = steps if every is None else every

        def assemble(runs: np.ndarray) -> tuple[Any, RunCommands | None]:
            own, own_values = commands.of_runs(runs) if commands else None, of_runs(values, runs)
            driver, _, _ = driver_of(robot, scenario, own_values, own)
            return as_batch(runs_of(robot, ground, scenario, own_values, driver, terrain, len(runs)), len(runs)), own

        is_in_space = moves_in_space(ground, scenario)
        return Setup(
            kernel=rough.in_lanes if is_in_space else skid_steer.in_lanes,
            schedule=Schedule(hold, every, steps + -steps % every, scenario.time_step_s),
            columns=columns_of(len(robot.wheels.at_m.value), is_in_space=is_in_space),
            groups=with_one_law(ground, values, n),
            assemble=assemble,
            ends_s=ends_s,
            commands=commands,
            notes=(*(_too_sharp(terrain, robot) if terrain else ()), *_about_lags(found)),
        )

    # --- what came out ----------------------------------------------------------------------------------------------

    def outcomes(self, batch: Batch) -> tuple[Outcome, ...]:
        """How each run ended. What happened after arriving or after its time limit does not count."""
        if batch.scenario.route is None:
            return tuple(_OUTCOMES[code] for code in batch.codes.tolist())
        stopped, arrived = batch.column("stopped_at_s")[:, -1], batch.arrived_at_s
        codes = np.where(stopped > batch.ends_s * (1.0 + 1e-12), run_loop.OK, batch.codes)
        found = [_OUTCOMES[code] for code in codes.tolist()]
        in_time = np.isfinite(arrived) & ((codes == run_loop.OK) | (arrived <= stopped))
        is_far = [_is_far(batch, i, int(end))[0] for i, end in enumerate(batch.last_record)]
        unfinished = [Outcome.SLID_AWAY if far else Outcome.TIMED_OUT for far in is_far]
        return tuple(
            Outcome.ARRIVED if ok else late if outcome is Outcome.FINISHED else outcome
            for ok, outcome, late in zip(in_time, found, unfinished, strict=True)
        )

    def arrived_at_s(self, batch: Batch) -> np.ndarray:
        """When each run reached its last waypoint, (runs,); NaN if it did not before its time limit."""
        arrived = batch.column("arrived_at_s")[:, -1]
        return np.where((arrived == NEVER) | (arrived > batch.ends_s * (1.0 + 1e-12)), np.nan, arrived)

    def end_pose(self, batch: Batch) -> np.ndarray:
        """x, y, heading of the robot's origin at the end, (runs, 3)."""
        is_planar = "heading_rad" in batch.columns
        heading = batch.at_end("heading_rad") if is_planar else _angles(*(batch.at_end(q) for q in ("qw", "qx", "qy", "qz")))[2]
        return np.column_stack([batch.at_end("x_m"), batch.at_end("y_m"), heading])

    def trajectory(self, batch: Batch, i: int) -> Trajectory:
        """One run, up to where it stopped."""
        outcome, place, robot = batch.outcomes[i], batch.scenario.ground, batch.robot
        is_in_space, is_on_soil = "qw" in batch.columns, is_soft(batch.run_of.of.ground)
        stopped = float(batch.column("stopped_at_s")[i, -1]) if outcome in _STOPPING else np.nan
        if outcome is Outcome.SLID_AWAY:
            stopped = float(batch.time_s[np.argmax(_is_far(batch, i, slice(None)))])
        until = np.searchsorted(batch.time_s, _last_s(batch, i, outcome, stopped) * (1.0 - 1e-12)) + 1
        columns = {name: batch.records[i, :until, where] for name, where in batch.slices.items()}
        wheels = {name.removeprefix("wheel_"): c for name, c in columns.items() if name.startswith("wheel_")}
        body = {name: c[:, 0] for name, c in columns.items() if not name.startswith("wheel_")}
        into_mps2 = _value(batch, "gravity_mps2", i) * np.cos(_value(batch, "slope_rad", i))
        body = _from_space(body, batch.time_s[:until]) if is_in_space else _from_plane(body, into_mps2)
        felt = np.column_stack([body["fx_mps2"], body["fy_mps2"], body["fz_mps2"]])
        com = [_value(batch, f"centre_of_mass_{axis}_m", i) for axis in ("x", "y", "height")]
        columns = body | wheels | {"time_s": batch.time_s[:until]}
        columns |= {"wheel_speed_radps": wheels["speed_radps"], "wheel_angle_rad": wheels["angle_rad"]}
        columns["rim_mps"] = wheels["speed_radps"] * _value(batch, "radius_m", i)
        columns["sinkage_m"] = wheels["sinkage_m"] if is_on_soil else np.zeros_like(wheels["sinkage_m"])
        columns["tip_over_margin_rad"] = tip_over_margin(robot.supports_m, (com[0], com[1], com[2]), felt)
        route = batch.scenario.route
        motion = Trajectory(
            {name: columns[name] for name in BALANCE_COLUMNS},
            robot=robot.name,
            ground=batch.ground,
            outcome=outcome,
            effort_limit=_value(batch, "torque_limit_nm", i) if "torque_limit_nm" in batch.run_of.values else float("inf"),
            slope_rad=_value(batch, "slope_rad", i),
            uphill_rad=_value(batch, "uphill_rad", i),
            arrived_at_s=float(batch.arrived_at_s[i]),
            stopped_at_s=stopped,
            waypoints_m=tuple(route.waypoints_m) if route else (),
            shape=place.shape,
            gravity_mps2=_value(batch, "gravity_mps2", i),
            notes=batch.notes,
        )
        return replace(motion, notes=(*_about_tyres(batch, i), *batch.notes, *_about_grousers(batch, motion, i)))


def columns_of(wheels: int, *, is_in_space: bool) -> dict[str, int]:
    """Names and widths of what is recorded."""
    widths = dict.fromkeys(rough.BODY6_COLUMNS if is_in_space else planar_body.BODY_COLUMNS, 1)
    widths |= {f"wheel_{name}": wheels for name in (*run_loop.WHEEL_COLUMNS, *run_loop.SLIP_COLUMNS)}
    return widths | dict.fromkeys((*NOTE_COLUMNS, *FLOW_COLUMNS, *STORE_COLUMNS, "stopped_at_s"), 1)


def _record_steps(scenario: Scenario, records: Records) -> int | None:
    """Steps between two records; None for start and end only."""
    if records is not Records.AS_SCENARIO:
        return 1 if records is Records.EVERY_STEP else None
    steps = int(np.ceil(scenario.duration_s / scenario.time_step_s * (1.0 - 1e-12)))
    return max(1, min(steps, round(scenario.record_interval_s / scenario.time_step_s)))


def _about_lags(found: Resolved) -> tuple[str, ...]:
    """On a route the robot steers by itself, and there is no table of commands for lags to act on."""
    if found.powertrain is None or found.scenario.route is None:
        return ()
    return ("lags and dead bands of the twin's powertrain are left out on routes",)


def _is_far(batch: Batch, i: int, when: slice | int) -> np.ndarray:
    """Whether run i is further from its path than it is long, in some of its records."""
    route = batch.scenario.route
    corners = [(batch.value("start_x_m", i), batch.value("start_y_m", i)), *route.waypoints_m]
    places = np.column_stack([np.atleast_1d(batch.column(name)[i, when]) for name in ("x_m", "y_m")])
    return np.asarray(distance_from_path(places, corners) > route.length_m(corners[0]))


def _last_s(batch: Batch, i: int, outcome: Outcome, stopped_s: float) -> float:
    end = float(batch.time_s[batch.last_record[i]])
    if outcome is Outcome.ARRIVED:
        return min(end, float(batch.arrived_at_s[i]) + _AFTERWARDS_S)
    return min(end, stopped_s) if np.isfinite(stopped_s) and stopped_s > 0.0 else end


def _value(batch: Batch, name: str, i: int) -> float:
    """A number of run i as it was driven with, with wheels that stand on their grousers' tips."""
    return float(np.broadcast_to(np.asarray(on_tips(batch.run_of.values).get(name, 0.0), dtype=float), len(batch))[i])


def _about_tyres(batch: Batch, i: int) -> tuple[str, ...]:
    """A note where the run's tyres were assumed."""
    given = batch.robot.parameters().keys() | batch.varied.keys()
    if is_soft(batch.run_of.of.ground) or "qw" not in batch.columns or all(name in given for name in TYRES):
        return ()
    stiffness, damping = (_value(batch, name, i) for name in TYRES)
    return (
        f"tyres of {batch.robot.name} are assumed: {stiffness:.3g} N/m, {damping:.3g} N s/m "
        f"(tyre_stiffness_n_per_m and tyre_damping_n_s_per_m in the robot's file)",
    )


def _about_grousers(batch: Batch, motion: Trajectory, i: int) -> tuple[str, ...]:
    """A note where grousers stand too far apart for what the model takes them for."""
    count, height_m = batch.robot.wheels.grouser_count, _value(batch, "grouser_height_m", i)
    if count is None or not is_soft(batch.run_of.of.ground):
        return ()
    rim_m = _value(batch, "radius_m", i) - height_m
    note = spacing_note(rim_m, height_m, round(count.value), motion.sinkage_m, motion.slip)
    return (note,) if note else ()


def _from_plane(body: dict[str, np.ndarray], into_mps2: float) -> dict[str, np.ndarray]:
    """The planar body's columns, with what a plane adds."""
    nothing = np.zeros_like(body["x_m"])
    names = ("z_m", "roll_rad", "pitch_rad", "vz_mps", "roll_rate_radps", "pitch_rate_radps")
    return body | dict.fromkeys(names, nothing) | {"fz_mps2": nothing + into_mps2}


def _angles(w: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roll, pitch and heading of a quaternion: yaw first, then pitch, then roll, about the axes that come about."""
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0))
    return roll, pitch, np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _from_space(body: dict[str, np.ndarray], time_s: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a body in space, with its angles; the heading goes on beyond half a turn."""
    roll, pitch, heading = _angles(*(body[name] for name in ("qw", "qx", "qy", "qz")))
    accel = np.gradient(body["yaw_rate_radps"], time_s) if len(heading) > 1 else np.zeros_like(heading)
    steady = np.nan_to_num(heading)
    unwrapped = np.where(np.isfinite(heading), np.unwrap(steady), np.nan)
    return body | {"roll_rad": roll, "pitch_rad": pitch, "heading_rad": unwrapped, "yaw_accel_radps2": accel}


# --- running ------------------------------------------------------------------------------------------------------------------


def _own_ends_s(scenario: Scenario, v: Values, n: int, every: int | None) -> np.ndarray:
    """When each run ends at the latest, alone as in a batch: a route's time limit counts from the run's own start, and its last
    record is full. Infinite without a route: all runs last as long as the commands."""
    if scenario.route is None:
        return np.full(n, np.inf)
    steps = np.ceil(np.broadcast_to(route_limits_s(scenario.route, v), n) / scenario.time_step_s * (1.0 - 1e-12))
    return np.asarray((steps if every is None else every * np.ceil(steps / every)) * scenario.time_step_s)


def _check_inertias(robot: SkidSteerRobot, where: str) -> None:
    missing = [name for name in ("roll_inertia_kgm2", "pitch_inertia_kgm2") if getattr(robot, name) is None]
    if missing:
        raise SimulationError(
            f"{robot.name} has no {missing[0]}; on {where} a robot pitches and rolls, add it to the robot's file"
        )


def _terrain(robot: SkidSteerRobot, scenario: Scenario) -> Terrain | None:
    place = scenario.ground
    if place.terrain is None:
        return None
    terrain = find_terrain(place.terrain)
    start = (scenario.start.x_m, scenario.start.y_m)
    _check_on_map(terrain, start, "start")
    c, s = np.cos(scenario.start.heading_rad), np.sin(scenario.start.heading_rad)
    for k, (x, y) in enumerate(robot.wheels.at_m.value):
        _check_on_map(terrain, (start[0] + c * x - s * y, start[1] + s * x + c * y), f"wheel {k + 1} at the start")
    for k, waypoint in enumerate(scenario.route.waypoints_m if scenario.route else ()):
        _check_on_map(terrain, waypoint, f"route.waypoints_m[{k}]")
    return terrain


def _check_on_map(terrain: Terrain, place_m: tuple[float, float], what: str) -> None:
    if not terrain.covers(*place_m):
        x_from, x_to, y_from, y_to = terrain.extent_m
        raise SimulationError(
            f"{what} = [{place_m[0]:g}, {place_m[1]:g}] lies off the map of {terrain.name}; expected x from {x_from:g} to "
            f"{x_to:g} m and y from {y_from:g} to {y_to:g} m"
        )


def _check_starts(terrain: Terrain, values: Values, n: int) -> None:
    """Starts that differ from run to run."""
    x, y = (np.broadcast_to(np.asarray(values[name], dtype=float), n) for name in ("start_x_m", "start_y_m"))
    for place in zip(x[np.isfinite(x + y)], y[np.isfinite(x + y)], strict=True):
        _check_on_map(terrain, (float(place[0]), float(place[1])), "vary: a start")


def _too_sharp(terrain: Terrain, robot: SkidSteerRobot) -> tuple[str, ...]:
    """What to know of a terrain that bends more sharply than a wheel is round: it has ledges."""
    radius_m, (x_m, y_m) = terrain.sharpest_bend()
    if radius_m >= robot.wheels.radius_m.value:
        return ()
    return (
        f"{terrain.name} bends with a radius of {radius_m:.2g} m at x = {x_m:.3g} m, y = {y_m:.3g} m, more sharply than a wheel "
        f"of {robot.wheels.radius_m.value:g} m: where wheels cross such ledges the model does not hold; smooth the map",
    )


def _with_tyres(robot: SkidSteerRobot, values: Values) -> Values:
    """Tyres for robots whose files do not describe them."""
    if all(name in values for name in TYRES):
        return values
    share = np.asarray(values["mass_kg"]) / len(robot.wheels.at_m.value)
    assumed = share * 9.81 / (_TYRE_GIVE * np.asarray(values["radius_m"]))
    stiffness = np.asarray(values.get("tyre_stiffness_n_per_m", assumed))
    damping = values.get("tyre_damping_n_s_per_m", 2.0 * _TYRE_DAMPING_RATIO * np.sqrt(stiffness * share))
    return values | {"tyre_stiffness_n_per_m": stiffness, "tyre_damping_n_s_per_m": damping}


def driver_of(robot: SkidSteerRobot, scenario: Scenario, v: Values, commands: RunCommands | None) -> tuple[Any, int, int]:
    """Who commands the wheels, how many steps a command lasts, and how many steps there are."""
    if commands:
        return table_for_all(commands.shared, commands.n), 1, commands.steps
    route = scenario.route
    assert route is not None
    limits_s = route_limits_s(route, v)
    longest_s = float(np.nanmax(limits_s, initial=scenario.time_step_s))
    steps = int(np.ceil(longest_s / scenario.time_step_s * (1.0 - 1e-12)))
    driver = route.driver(robot, (scenario.start.x_m, scenario.start.y_m))
    path = driver.path._replace(start_x=v["start_x_m"], start_y=v["start_y_m"])  # each run's own
    return driver._replace(path=path), route.hold_steps(scenario.time_step_s), steps


def route_limits_s(route: Route, v: Values) -> np.ndarray:
    """When each run gives up if it has not arrived, by its own start, (runs,) or (1,)."""
    starts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v[name], dtype=float)) for name in ("start_x_m", "start_y_m")))
    return np.array([route.time_limit_s((float(x), float(y))) for x, y in zip(*starts, strict=True)])


def runs_of(
    robot: SkidSteerRobot, ground: Ground, scenario: Scenario, v: Values, driver: Any, terrain: Terrain | None, n: int
) -> rough.RoughRuns | skid_steer.SkidSteerRuns:
    """A batch, before its leaves are filled up."""
    v = on_tips(v)
    motor = powertrain_of(robot, v)
    shared: dict[str, Any] = {
        "wheels": wheels_of(robot, v, n),
        "powertrain": motor,
        "law": law_of(ground, v),
        "start": start_of(v),
        "driver": driver,
        "losses": losses_of(v),
        "battery": battery_of(robot, v),
        "books": Books(motor),
    }
    planar = body_of(v)
    below = (
        terrain.model(v["gravity_mps2"], scenario.ground.interpolation)
        if terrain
        else plane(v["gravity_mps2"], v["slope_rad"], v["uphill_rad"])
    )
    if not moves_in_space(ground, scenario):
        return skid_steer.SkidSteerRuns(body=planar, ground=below, supports=supports_of(robot, n), **shared)
    body = Body6(planar.mass, v["roll_inertia_kgm2"], v["pitch_inertia_kgm2"], *planar[1:])
    if not is_soft(ground):
        tyre = Tyre(v["tyre_stiffness_n_per_m"], v["tyre_damping_n_s_per_m"])
        return rough.RoughRuns(body=body, tyre=tyre, ground=below, **shared)
    cell_m: Any = _CELLS_PER_WIDTH * np.asarray(v["width_m"])
    return rough.RoughRuns(body=body, tyre=SoilFooting(v["width_m"], cell_m), ground=rutted(below, cell_m), **shared)
