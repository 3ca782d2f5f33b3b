"""Rovers: drives on routes, over terrains, and with books of their energy. One run or thousands, as `run` does for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    named_values,
    of_runs,
    powertrain_of,
    start_of,
    varied,
    wheels_of,
    with_one_law,
)
from slipfit.simulation.grousers import on_tips, spacing_note
from slipfit.simulation.rover_trajectory import RoverTrajectory, distance_from_path
from slipfit.simulation.run_commands import RunCommands, drive_in_chunks
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.tip_over import tip_over_margin
from slipfit.simulation.trajectory import RunStatus
from slipfit.simulation.vary import is_no_number
from slipfit.vehicles import planar_body, rough, run_loop, skid_steer
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS, Books
from slipfit.vehicles.driver import NEVER, NOTE_COLUMNS, table_for_all
from slipfit.vehicles.footing import Tyre
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.soil_footing import SoilFooting

_STATUS = {
    run_loop.OK: RunStatus.FINISHED,
    run_loop.NOT_FINITE: RunStatus.DIVERGED,
    run_loop.OFF_MAP: RunStatus.LEFT_THE_MAP,
    run_loop.TIPPED: RunStatus.TIPPED_OVER,
    run_loop.SUNK: RunStatus.SUNK_IN,
}

#: A tyre that no file describes gives way by this share of its radius under the robot's weight, with this damping ratio.
_TYRE_GIVE, _TYRE_DAMPING_RATIO = 0.02, 0.2

#: Cells of a rut's memory, as a share of the wheels' width.
_CELLS_PER_WIDTH = 0.5

#: A drive that arrived is recorded this much longer: the robot comes to rest.
_AFTERWARDS_S = 1.0


@dataclass(frozen=True, eq=False)
class RoverBatch:
    """Many drives of one scenario: how each ended, and what they recorded, shape (runs, records, columns)."""

    time_s: np.ndarray
    records: np.ndarray
    codes: np.ndarray  # (runs,), how the kernel left each run
    varied: Mapping[str, np.ndarray]
    robot: SkidSteerRobot
    ground: str
    scenario: Scenario
    values: Values
    ends_s: np.ndarray  # (runs,), when each ends at the latest
    notes: tuple[str, ...] = ()
    is_in_space: bool = False  # whether the robot pitches and rolls: on terrains and on soil
    is_on_soil: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def _columns(self) -> dict[str, slice]:
        """Where each group of columns stands."""
        body = rough.BODY6_COLUMNS if self.is_in_space else planar_body.BODY_COLUMNS
        count = len(self.robot.wheels.at_m.value)
        widths = dict.fromkeys(body, 1)
        widths |= {f"wheel_{name}": count for name in (*run_loop.WHEEL_COLUMNS, *run_loop.SLIP_COLUMNS)}
        widths |= dict.fromkeys((*NOTE_COLUMNS, *FLOW_COLUMNS, *STORE_COLUMNS, "stopped_at_s"), 1)
        ends = np.cumsum(list(widths.values()))
        return {name: slice(end - width, end) for (name, width), end in zip(widths.items(), ends, strict=True)}

    def column(self, name: str) -> np.ndarray:
        """One column of all runs, (runs, records); of wheels (runs, records, wheels)."""
        where = self._columns[name]
        found = self.records[:, :, where]
        return found if name.startswith("wheel_") else found[:, :, 0]

    @property
    def arrived_at_s(self) -> np.ndarray:
        """When each run reached its last waypoint, (runs,); NaN if it did not before its time limit."""
        arrived = self.column("arrived_at_s")[:, -1]
        return np.where((arrived == NEVER) | (arrived > self.ends_s * (1.0 + 1e-12)), np.nan, arrived)

    @property
    def _last_record(self) -> np.ndarray:
        """Number of the record that ends each run, (runs,): others of the batch may have more time."""
        ends_s = np.nan_to_num(self.ends_s, nan=np.inf, posinf=np.inf)
        return np.asarray(np.minimum(np.searchsorted(self.time_s, ends_s * (1.0 - 1e-12)), len(self.time_s) - 1))

    @property
    def status(self) -> tuple[RunStatus, ...]:
        """How each run ended. What happened after arriving or after its time limit does not count."""
        if self.scenario.route is None:
            return tuple(_STATUS[code] for code in self.codes.tolist())
        stopped, arrived = self.column("stopped_at_s")[:, -1], self.arrived_at_s
        codes = np.where(stopped > self.ends_s * (1.0 + 1e-12), run_loop.OK, self.codes)
        found = [_STATUS[code] for code in codes.tolist()]
        in_time = np.isfinite(arrived) & ((codes == run_loop.OK) | (arrived <= stopped))
        is_far = [self._is_far(i, int(end))[0] for i, end in enumerate(self._last_record)]
        unfinished = [RunStatus.SLID_AWAY if far else RunStatus.TIMED_OUT for far in is_far]
        return tuple(
            RunStatus.ARRIVED if ok else late if status is RunStatus.FINISHED else status
            for ok, status, late in zip(in_time, found, unfinished, strict=True)
        )

    def _is_far(self, i: int, when: slice | int) -> np.ndarray:
        """Whether run i is further from its path than it is long, in some of its records."""
        route = self.scenario.route
        assert route is not None
        corners = [(self._value("start_x_m", i), self._value("start_y_m", i)), *route.waypoints_m]
        places = np.column_stack([np.atleast_1d(self.column(name)[i, when]) for name in ("x_m", "y_m")])
        return np.asarray(distance_from_path(places, corners) > route.length_m(corners[0]))

    @property
    def is_finished(self) -> np.ndarray:
        """Which runs reached their end or their last waypoint, (runs,)."""
        return np.array([status in (RunStatus.FINISHED, RunStatus.ARRIVED) for status in self.status])

    @property
    def end_pose(self) -> np.ndarray:
        """x, y, heading of the robot's origin at the end, (runs, 3)."""
        own_end = (np.arange(len(self)), self._last_record)
        last = {name: self.column(name)[own_end] for name in self._columns if not name.startswith("wheel_")}
        heading = last["heading_rad"] if "heading_rad" in last else _angles(*(last[q] for q in ("qw", "qx", "qy", "qz")))[2]
        return np.column_stack([last["x_m"], last["y_m"], heading])

    def __repr__(self) -> str:
        return f"<RoverBatch of {len(self)} runs of {self.robot.name} on {self.ground}>"

    def summary(self) -> str:
        """A few lines for people."""
        rows = [f"{len(self)} drives of {self.robot.name} on {self.ground}, {self.time_s[-1]:.4g} s at most"]
        counts = {status: self.status.count(status) for status in dict.fromkeys(self.status)}
        rows += [f"  {count:>6}  {status.value}" for status, count in counts.items()]
        if np.isfinite(self.arrived_at_s).any():
            low, mid, high = np.nanpercentile(self.arrived_at_s, (5, 50, 95))
            rows.append(f"  arrived after {mid:.2f} s (90 % of them: {low:.2f} to {high:.2f} s)")
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)

    def run(self, i: int) -> RoverTrajectory:
        """One run as a trajectory, up to where it stopped."""
        status, place = self.status[i], self.scenario.ground
        has_failed = status in (RunStatus.DIVERGED, RunStatus.LEFT_THE_MAP, RunStatus.TIPPED_OVER, RunStatus.SUNK_IN)
        stopped = float(self.column("stopped_at_s")[i, -1]) if has_failed else np.nan
        if status is RunStatus.SLID_AWAY:
            stopped = float(self.time_s[np.argmax(self._is_far(i, slice(None)))])
        until = np.searchsorted(self.time_s, self._last_s(i, status, stopped) * (1.0 - 1e-12)) + 1
        columns = {name: self.records[i, :until, where] for name, where in self._columns.items()}
        wheels = {name.removeprefix("wheel_"): c for name, c in columns.items() if name.startswith("wheel_")}
        body = {name: c[:, 0] for name, c in columns.items() if not name.startswith("wheel_")}
        into_mps2 = self._value("gravity_mps2", i) * np.cos(self._value("slope_rad", i))
        body = _from_space(body, self.time_s[:until]) if self.is_in_space else _from_plane(body, into_mps2)
        felt = np.column_stack([body["fx_mps2"], body["fy_mps2"], body["fz_mps2"]])
        com = [self._value(f"centre_of_mass_{axis}_m", i) for axis in ("x", "y", "height")]
        at_m = np.array(self.robot.wheels.at_m.value)
        kept: dict[str, Any] = {name: body[name] for name in RoverTrajectory.body_fields if name in body}
        route = self.scenario.route
        motion = RoverTrajectory(
            time_s=self.time_s[:until],
            **kept,
            tip_over_margin_rad=tip_over_margin(at_m, (com[0], com[1], com[2]), felt),
            wheel_speed_radps=wheels["speed_radps"],
            wheel_angle_rad=wheels["angle_rad"],
            load_n=wheels["load_n"],
            force_x_n=wheels["force_x_n"],
            force_y_n=wheels["force_y_n"],
            effort=wheels["effort"],
            lowest_load_n=wheels["lowest_load_n"],
            rim_mps=wheels["speed_radps"] * self._value("radius_m", i),
            slip_x_mps=wheels["slip_x_mps"],
            slip_y_mps=wheels["slip_y_mps"],
            told=wheels["told"],
            sinkage_m=wheels["sinkage_m"] if self.is_on_soil else np.zeros_like(wheels["sinkage_m"]),
            flows={name: body[name] for name in FLOW_COLUMNS},
            stores={name: body[name] for name in STORE_COLUMNS},
            robot=self.robot.name,
            ground=self.ground,
            status=status,
            effort_limit=self._value("torque_limit_nm", i) if "torque_limit_nm" in self.values else float("inf"),
            slope_rad=self._value("slope_rad", i),
            uphill_rad=self._value("uphill_rad", i),
            arrived_at_s=float(self.arrived_at_s[i]),
            stopped_at_s=stopped,
            waypoints_m=tuple(route.waypoints_m) if route else (),
            shape=place.shape,
            gravity_mps2=self._value("gravity_mps2", i),
            notes=self.notes,
        )
        return replace(motion, notes=(*self._about_tyres(i), *self.notes, *self._about_grousers(motion, i)))

    def _about_tyres(self, i: int) -> tuple[str, ...]:
        """A note where the run's tyres were assumed."""
        given = self.robot.parameters().keys() | self.varied.keys()
        if self.is_on_soil or not self.is_in_space or all(name in given for name in TYRES):
            return ()
        stiffness, damping = (self._value(name, i) for name in TYRES)
        return (
            f"tyres of {self.robot.name} are assumed: {stiffness:.3g} N/m, {damping:.3g} N s/m "
            f"(tyre_stiffness_n_per_m and tyre_damping_n_s_per_m in the robot's file)",
        )

    def _about_grousers(self, motion: RoverTrajectory, i: int) -> tuple[str, ...]:
        """A note where grousers stand too far apart for what the model takes them for."""
        count, height_m = self.robot.wheels.grouser_count, self._value("grouser_height_m", i)
        if count is None or not self.is_on_soil:
            return ()
        rim_m = self._value("radius_m", i) - height_m
        note = spacing_note(rim_m, height_m, round(count.value), motion.sinkage_m, motion.slip)
        return (note,) if note else ()

    def _last_s(self, i: int, status: RunStatus, stopped_s: float) -> float:
        end = float(self.time_s[self._last_record[i]])
        if status is RunStatus.ARRIVED:
            return min(end, float(self.arrived_at_s[i]) + _AFTERWARDS_S)
        return min(end, stopped_s) if np.isfinite(stopped_s) and stopped_s > 0.0 else end

    def _value(self, name: str, i: int) -> float:
        return float(self._each(name)[i])

    def _each(self, name: str) -> np.ndarray:
        """A number of every run as it was driven with, (runs,); 0 where the scenario has none of that name."""
        return np.broadcast_to(np.asarray(on_tips(self.values).get(name, 0.0), dtype=float), len(self))


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


def drive_rovers(
    robot: SkidSteerRobot,
    scenario: Scenario,
    ground: Ground,
    vary: Mapping[str, Any],
    *,
    every: int | None,
    workers: int | None = None,
    most_bytes: float = np.inf,
) -> RoverBatch:
    """Drives with books: on a plane by `skid_steer`, on a terrain by `rough`. A record is written every `every` steps, or (None)
    at start and end only."""
    if moves_in_space(ground, scenario):
        _check_inertias(robot, "soil" if is_soft(ground) else "a terrain")
    terrain = _terrain(robot, scenario)
    values, n = varied(named_values(robot, ground, scenario), vary, robot, ground, scenario)
    if terrain:
        _check_starts(terrain, values, n)
    in_space, on_soil = moves_in_space(ground, scenario), is_soft(ground)
    values = _with_tyres(robot, values) if in_space and not on_soil else values
    notes = _too_sharp(terrain, robot) if terrain else ()
    if on_soil:
        check_carries(f"ground {ground.name}", "wheel", values, values["width_m"])
    commands = None if scenario.route else RunCommands.of(robot, scenario, values, n, every=every or 1)
    _, _, steps = _driver(robot, scenario, values, commands)
    ends_s = _own_ends_s(scenario, values, n, every)
    every = steps if every is None else every
    steps += -steps % every
    body = rough.BODY6_COLUMNS if in_space else planar_body.BODY_COLUMNS
    per_wheel = len(run_loop.WHEEL_COLUMNS) + len(run_loop.SLIP_COLUMNS)
    more = len(NOTE_COLUMNS) + len(FLOW_COLUMNS) + len(STORE_COLUMNS) + 1
    columns = len(body) + per_wheel * len(robot.wheels.at_m.value) + more
    records = steps // every + 1
    if 8 * n * records * columns > most_bytes:
        raise SimulationError(
            f"{n} runs with {records} records each need {8e-9 * n * records * columns:.0f} GB; take a larger record_s, fewer "
            f"runs at once, or ends_only=True"
        )
    out, status = np.empty((n, records, columns)), np.empty(n)
    kernel = rough.in_lanes if in_space else skid_steer.in_lanes
    for runs in with_one_law(ground, values, n):
        own, own_values = commands.of_runs(runs) if commands else None, of_runs(values, runs)
        driver, hold, _ = _driver(robot, scenario, own_values, own)
        batch = as_batch(runs_of(robot, ground, scenario, own_values, driver, terrain, len(runs)), len(runs))
        drive_in_chunks(kernel, batch, own, (hold, every, scenario.step_s), runs, out, status, workers)
    status[is_no_number(vary, n)] = run_loop.NOT_FINITE  # a kernel may not feel it, where it only compares
    return RoverBatch(
        time_s=np.arange(records) * every * scenario.step_s,
        records=out,
        codes=status,
        varied={name: np.asarray(entry) for name, entry in vary.items()},
        robot=robot,
        ground=_place(ground, terrain, scenario),
        scenario=scenario,
        values=values,
        ends_s=ends_s,
        notes=notes,
        is_in_space=in_space,
        is_on_soil=on_soil,
    )


def _own_ends_s(scenario: Scenario, v: Values, n: int, every: int | None) -> np.ndarray:
    """When each run ends at the latest, alone as in a batch: a route's time limit counts from the run's own start, and its last
    record is full. Infinite without a route: all runs last as long as the commands."""
    if scenario.route is None:
        return np.full(n, np.inf)
    steps = np.ceil(np.broadcast_to(route_limits_s(scenario.route, v), n) / scenario.step_s * (1.0 - 1e-12))
    return np.asarray((steps if every is None else every * np.ceil(steps / every)) * scenario.step_s)


def _place(ground: Ground, terrain: Terrain | None, scenario: Scenario) -> str:
    """Where it drives, in words."""
    gravity = scenario.ground.gravity_mps2
    over = f" over {terrain.name}" if terrain else ""
    return f"{ground.name}{over}" + (f" at {gravity:g} m/s²" if gravity is not None else "")


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


def _driver(robot: SkidSteerRobot, scenario: Scenario, v: Values, commands: RunCommands | None) -> tuple[Any, int, int]:
    """Who commands the wheels, how many steps a command lasts, and how many steps there are."""
    if commands:
        return table_for_all(commands.shared, commands.n), 1, commands.steps
    route = scenario.route
    assert route is not None
    limits_s = route_limits_s(route, v)
    longest_s = float(np.nanmax(limits_s, initial=scenario.step_s))
    steps = int(np.ceil(longest_s / scenario.step_s * (1.0 - 1e-12)))
    driver = route.driver(robot, (scenario.start.x_m, scenario.start.y_m))
    path = driver.path._replace(start_x=v["start_x_m"], start_y=v["start_y_m"])  # each run's own
    return driver._replace(path=path), route.hold_steps(scenario.step_s), steps


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
        return skid_steer.SkidSteerRuns(body=planar, ground=below, **shared)
    body = Body6(planar.mass, v["roll_inertia_kgm2"], v["pitch_inertia_kgm2"], *planar[1:])
    if not is_soft(ground):
        tyre = Tyre(v["tyre_stiffness_n_per_m"], v["tyre_damping_n_s_per_m"])
        return rough.RoughRuns(body=body, tyre=tyre, ground=below, **shared)
    cell_m: Any = _CELLS_PER_WIDTH * np.asarray(v["width_m"])
    return rough.RoughRuns(body=body, tyre=SoilFooting(v["width_m"], cell_m), ground=rutted(below, cell_m), **shared)
