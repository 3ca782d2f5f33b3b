"""Tracked robots over obstacles and through soil: one climb, or thousands with numbers that differ."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.contact.soil import INFO as SOIL
from slipfit.contact.soil import soil as make_soil
from slipfit.contact.stiction import Stiction
from slipfit.errors import ParameterError, SimulationError
from slipfit.ground.blocks import FAR_BELOW_M, Corner, blocks
from slipfit.ground.ruts import rutted
from slipfit.kernels import Shared, as_batch, run_chunks
from slipfit.library import TrackedRobot, find_terrain
from slipfit.simulation.assemble import check_carries, of_runs
from slipfit.simulation.climb_batch import ClimbBatch
from slipfit.simulation.climb_field import check_on_map, field_ground, put_down
from slipfit.simulation.climb_scenario import MOST_YAW_RAD, ClimbScenario, Obstacle, as_climb
from slipfit.simulation.climb_start import check_flippers, check_start, depth_at_start_m, static_sinkage_m
from slipfit.simulation.climb_twin import climber_on_ground
from slipfit.simulation.step_rule import short_step
from slipfit.simulation.trajectory import Trajectory
from slipfit.simulation.vary import checked_arrays
from slipfit.twin import TrackedTwin
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.track_shape import Outline, divided_alike, track_tables
from slipfit.vehicles.track_soil import CELL_M

#: Commands are told and verdicts are reached this often, s.
_CONTROL_S = 0.01

#: Cells of soil that remember lie in square windows of so many along a side: 1.6 m, longer than a robot.
_RUT_WINDOW = 64

#: A place beyond every goal, and a patience beyond every end.
_NEVER = 1e9

#: A step may be this share of the time in which a robot bounces on one hard contact by a radian: then halving it changes little.
_STEP_SHARE = 1.0

#: Progress that counts, m.
_GAIN_M = 0.005

Values = dict[str, Any]


def simulate_climb(
    robot: TrackedRobot | TrackedTwin | str | Path,
    scenario: ClimbScenario | Mapping[str, Any] | str | Path,
    *,
    ground: str | None = None,
) -> Trajectory:
    """Drive a tracked robot through a climb.

    Parameters
    ----------
    robot : a record, a name of the library, or the path of a file; or a twin, whose grounds stand for the climb's
    scenario : a record, what a climb's file holds, a name of the library, or the path of a file
    ground : of the twin, where it has several (`slipfit.simulation.climb_twin`)

    Examples
    --------
    >>> climb = simulate_climb("packbot", "curb_163mm")
    """
    return climb_many(robot, scenario, {}, ground=ground).run(0)


def climb_many(
    robot: TrackedRobot | TrackedTwin | str | Path,
    scenario: ClimbScenario | Mapping[str, Any] | str | Path,
    vary: Mapping[str, Any],
    *,
    ground: str | None = None,
    ends_only: bool = False,
    workers: int | None = None,
) -> ClimbBatch:
    """The same climb many times on all cores, with numbers that differ from run to run; results do not depend on `workers`.

    vary : arrays by name (height_m, edge_radius_m, mu_static, speed_mps, yaw_rad, flipper_angle_rad, mass_kg, soil constants,
        ...), one entry per run; a wrong name tells the right ones; a twin's are `twin.draws(n, seed)`
    ground : as in `simulate_climb`
    ends_only : record only start and end of each run
    """
    asked = as_climb(dict(scenario) if isinstance(scenario, Mapping) else scenario)
    robot, climb, _, told = climber_on_ground(robot, asked, ground)
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    values, n = varied_numbers(robot, climb, vary)
    notes = _reachable(robot, climb, values)
    _check_step(robot, climb, values)
    if robot.flippers:
        check_flippers(values)
    dt, stepping = short_step(climb.step_s)
    hold = max(1, round(_CONTROL_S / dt))
    steps = hold * max(1, int(np.ceil(climb.duration_s / (hold * dt) * (1.0 - 1e-12))))
    every = steps if ends_only else min(steps, hold * max(1, round(climb.record_s / (hold * dt))))
    steps += -steps % every
    out, status = np.empty((n, steps // every + 1, len(tracked.TRACK_COLUMNS))), np.empty(n)
    for runs in divided_alike(_outline(robot, values), round(robot.tracks.segments.value), n):
        own = of_runs(values, runs)
        batch = as_batch(_runs(robot, climb, own, len(runs), hold * dt, steps // hold), len(runs))
        _check_begin(robot, climb, own, batch, len(runs))
        out[runs], status[runs] = _driven(batch, len(runs), hold, every, dt, out.shape[1:], workers)
    last = {name: out[:, -1, k] for k, name in enumerate(tracked.TRACK_COLUMNS)}
    has_goal = climb.obstacle.kind != "none"
    return ClimbBatch(
        codes=status,
        margin=last["margin"] if has_goal else np.full(n, np.nan),
        stopped_at_s=last["stopped_at_s"],
        deepest_m=last["deepest_m"],
        records=out,
        time_s=np.arange(out.shape[1]) * every * dt,
        varied={name: np.asarray(entry) for name, entry in vary.items()},
        robot=robot.name,
        scenario=climb.about or "climb",
        has_goal=has_goal,
        notes=(*told, *notes, *stepping),
    )


def _driven(
    batch: Any, n: int, hold: int, every: int, dt: float, shape: tuple[int, ...], workers: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Records and codes of n runs."""
    out, status = np.empty((n, *shape)), np.empty(n)

    def chunk(lo: int, hi: int) -> None:
        tracked.in_lanes(batch, lo, hi, hold, every, dt, out, status)

    run_chunks(chunk, n, workers=workers)
    return out, status


def _check_begin(robot: TrackedRobot, climb: ClimbScenario, v: Values, batch: Any, n: int) -> None:
    """Soil that would carry nothing, and starts inside the obstacle, are refused."""
    if climb.soil is not None:
        where = f"soil {climb.soil}" if isinstance(climb.soil, str) else "soil"
        check_carries(where, "segment", v, batch.tables.stations.width.min(axis=1))
    check_start(climb.obstacle, v, depth_at_start_m(batch, n), lambda i, far: _depth_from(robot, climb, v, n, i, far))


# --- numbers --------------------------------------------------------------------------------------------------------------------


def climb_numbers(robot: TrackedRobot, climb: ClimbScenario) -> Values:
    """Every number of a run that can be varied, by its name."""
    static, dynamic = climb.friction()
    x, _, height = robot.centre_of_mass_m.value
    own = {name: p.value for name, p in robot.parameters().items() if name != "segments"}
    if climb.flipper_angle_rad is not None and robot.flippers:
        own["flipper_angle_rad"] = climb.flipper_angle_rad
    obstacle = climb.obstacle
    return {
        **own,
        "centre_of_mass_x_m": x,
        "centre_of_mass_height_m": height,
        "mu_static": static,
        "mu_dynamic": dynamic,
        "fading_speed_mps": climb.fading_speed_mps,
        **climb.soil_values(),
        **{name: getattr(obstacle, name) for name in ("height_m", "edge_radius_m", "yaw_rad", "grip", "distance_m")},
        "speed_mps": climb.speed_mps,
        "gravity_mps2": climb.gravity_mps2,
        **_field_numbers(obstacle),
    }


def _field_numbers(obstacle: Obstacle) -> Values:
    if obstacle.kind != "field":
        return {}
    return {"start_x_m": obstacle.start_m[0], "start_y_m": obstacle.start_m[1], "heading_rad": obstacle.heading_rad}


def climb_bounds(robot: TrackedRobot, climb: ClimbScenario) -> dict[str, tuple[float, float]]:
    found = {name: (p.lower_bound, p.upper_bound) for name, p in robot.parameters().items()}
    found |= {p.name: (p.lower, p.upper) for p in SOIL.parameters}
    half = 0.5 * robot.wheelbase_m
    return found | {
        "centre_of_mass_x_m": (-half, half),
        "centre_of_mass_height_m": (1e-6, 10.0),
        "mu_static": (1e-6, 5.0),
        "mu_dynamic": (1e-6, 5.0),
        "height_m": (0.0, 10.0),
        "edge_radius_m": (0.0, 10.0),
        "yaw_rad": (-MOST_YAW_RAD, MOST_YAW_RAD),
        "grip": (1e-6, 10.0),
        "distance_m": (0.0, 10.0),
        "speed_mps": (-10.0, 10.0),
        "gravity_mps2": (0.1, 30.0),
        "start_x_m": (-1e6, 1e6),
        "start_y_m": (-1e6, 1e6),
        "heading_rad": (-np.pi, np.pi),
    }


def varied_numbers(robot: TrackedRobot, climb: ClimbScenario, vary: Mapping[str, Any]) -> tuple[Values, int]:
    """Numbers of all runs by name, those that vary as arrays, and how many runs there are."""
    values = climb_numbers(robot, climb)
    arrays, n = checked_arrays(vary, values, climb_bounds(robot, climb))
    if "mu_static" in arrays and "mu_dynamic" not in arrays:  # what slides keeps its share of what holds
        arrays["mu_dynamic"] = arrays["mu_static"] * (values["mu_dynamic"] / values["mu_static"])
    elif "mu_dynamic" in arrays:  # and never grips better
        arrays["mu_dynamic"] = np.minimum(arrays["mu_dynamic"], (values | arrays)["mu_static"])
    return values | arrays, n


def _reachable(robot: TrackedRobot, climb: ClimbScenario, v: Values) -> tuple[str, ...]:
    """A curb that nothing of the robot reaches is refused, and driving away from it; one higher than the robot is told of."""
    slowest = float(np.nanmin(v["speed_mps"], initial=np.inf))
    if climb.obstacle.kind != "none" and slowest < 0.0:
        raise ParameterError(
            f"speed_mps = {slowest:g} drives away from the obstacle; expected a speed above 0, or obstacle.kind: none"
        )
    _check_patience(climb, v)
    if climb.obstacle.kind not in ("curb", "stairs"):
        return ()
    height, top = float(np.nanmax(v["height_m"])), float(np.max(2.0 * np.asarray(v["sprocket_radius_m"])))
    reach = top + (float(np.max(v["flipper_length_m"])) if robot.flippers else 0.0)
    if height > reach:
        raise ParameterError(
            f"obstacle.height_m = {height:g} m: the {climb.obstacle.kind} is higher than {robot.name} reaches ({reach:.3g} m); "
            f"expected a step that its tracks or flippers can touch from above"
        )
    if height > top:
        return (f"the {climb.obstacle.kind} of {height:.3g} m is higher than the robot's tracks ({top:.3g} m)",)
    return ()


def _check_patience(climb: ClimbScenario, v: Values) -> None:
    """A robot that is told to creep must have time to gain what counts, or driving well would be called slipping."""
    ahead: Any = np.asarray(v["speed_mps"], dtype=float) * np.cos(v["yaw_rad"])
    slowest = float(np.min(np.where(ahead > 0.0, ahead, np.inf)))
    if climb.obstacle.kind != "none" and slowest * climb.patience_s < 2.0 * _GAIN_M:
        raise ParameterError(
            f"patience_s = {climb.patience_s:g} s is too short for {slowest:.3g} m/s towards the obstacle: a robot that gains "
            f"less than {1e3 * _GAIN_M:g} mm in this time counts as held; take {np.ceil(2.0 * _GAIN_M / slowest):g} s or more"
        )


def longest_step_s(robot: TrackedRobot, v: Values | None = None) -> float:
    """The longest step for the robot's hard contacts: the time in which half of it bounces on one of them by a radian."""
    v = {name: p.value for name, p in robot.parameters().items()} | {"gravity_mps2": 9.81} | (v or {})
    mass, p = np.asarray(v["mass_kg"], dtype=float), np.asarray(v["contact_exponent"], dtype=float)
    stiffness = np.asarray(v["contact_stiffness_n_per_m_p"], dtype=float)
    dent = (0.25 * mass * v["gravity_mps2"] / stiffness) ** (1.0 / p)
    return float(_STEP_SHARE * np.min(np.sqrt(0.5 * mass / (p * stiffness * dent ** (p - 1.0)))))


def _check_step(robot: TrackedRobot, climb: ClimbScenario, v: Values) -> None:
    longest = longest_step_s(robot, v)
    if climb.step_s > longest:
        raise ParameterError(
            f"step_s = {climb.step_s:g} s is too long for a contact stiffness of "
            f"{float(np.max(v['contact_stiffness_n_per_m_p'])):.3g} N/m^p under {float(np.min(v['mass_kg'])):.3g} kg; take "
            f"at most {longest:.2g} s, or a softer contact"
        )


def _depth_from(robot: TrackedRobot, climb: ClimbScenario, v: Values, n: int, run: int, distance_m: float) -> float:
    """How deep one run of a batch would begin in hard ground at another distance from the obstacle."""
    alone = {name: np.asarray(value)[run] if np.ndim(value) else value for name, value in v.items()}
    one = as_batch(_runs(robot, climb, alone | {"distance_m": distance_m}, 1, _CONTROL_S, 1), 1)
    return float(depth_at_start_m(one, 1)[0])


# --- tuples ---------------------------------------------------------------------------------------------------------------------


def _outline(robot: TrackedRobot, v: Values) -> Outline:
    own = {name: v[name] for name in Outline._fields if name in v}
    ahead = 0.5 * np.asarray(v["axle_distance_m"]) + v["centre_of_mass_x_m"]
    return Outline(**own, radius_m=v["sprocket_radius_m"], mass_ahead_m=ahead, mass_above_m=v["centre_of_mass_height_m"])


def obstacle_starts_m(v: Values) -> Any:
    """Where the obstacle begins, along the profile: ahead of the front of the tracks, which start around the origin."""
    return 0.5 * np.asarray(v["axle_distance_m"]) + v["sprocket_radius_m"] + v.get("cleat_height_m", 0.0) + v["distance_m"]


def obstacle_corners(climb: ClimbScenario, v: Values, first_m: Any) -> tuple[list[Corner], Any, float]:
    """Corners of the obstacle that begins at a place along the profile; the place its far side lies at; height of the base."""
    o, height, radius, grip = climb.obstacle, v["height_m"], v["edge_radius_m"], v["grip"]
    if o.kind == "curb":
        return [Corner(first_m, height, radius_m=radius, grip=grip)], first_m + np.asarray(radius), 0.0
    if o.kind == "stairs":
        corners = [
            Corner(first_m + k * o.run_m, (k + 1) * np.asarray(height), radius_m=radius, grip=grip) for k in range(o.steps)
        ]
        return corners, first_m + (o.steps - 1) * o.run_m + np.asarray(radius), 0.0
    if o.kind == "ramp":
        top = first_m + np.asarray(height) / np.tan(o.slope_rad)
        return [Corner(top, height, rise_rad=o.slope_rad, radius_m=radius, grip=grip)], top, 0.0
    if o.kind == "ditch":
        near = Corner(first_m, 0.0, rise_rad=0.0, onward_rad=-0.5 * np.pi, radius_m=radius)
        return [near, Corner(first_m + o.run_m, 0.0, radius_m=radius, grip=grip)], first_m + o.run_m + np.asarray(radius), 1.0
    return [], _NEVER, 0.0


def _ground(robot: TrackedRobot, climb: ClimbScenario, v: Values, n: int, has_soil: bool) -> tuple[Any, Any]:
    """The ground, and the place along its profile that the rear axle is to pass."""
    if climb.obstacle.kind == "field":
        terrain = find_terrain(str(climb.obstacle.terrain))
        check_on_map(terrain, climb.obstacle, v, robot.wheelbase_m + 2.0 * float(np.max(v["sprocket_radius_m"])))
        field = field_ground(terrain, v, has_soil)
        start = field.along_x * np.asarray(v["start_x_m"]) + field.along_y * np.asarray(v["start_y_m"])
        return field, start - _outline(robot, v).mass_ahead_m + climb.obstacle.run_m
    first = obstacle_starts_m(v)
    corners, far, is_ditch = obstacle_corners(climb, v, first)
    if is_ditch and has_soil:
        raise ParameterError(
            "obstacle.kind is ditch, and there is soil; ditches with edges are simulated on hard ground only: leave out soil, or "
            "take an obstacle of kind field, whose terrain the soil covers (a map, or heights of kind bump, height_m below 0)"
        )
    base: Any = -np.asarray(v["height_m"]) if is_ditch else FAR_BELOW_M if has_soil else 0.0
    goal: Any = np.asarray(far) + 0.5 * np.asarray(v["sprocket_radius_m"]) if corners else _NEVER
    ground = blocks(
        corners, n, gravity_mps2=v["gravity_mps2"], yaw_rad=v["yaw_rad"], base_m=base, soil_m=0.0 if has_soil else FAR_BELOW_M,
        soil_to_m=(first if corners else _NEVER) if has_soil else FAR_BELOW_M, goal_m=far,
    )  # fmt: skip
    return ground, goal


def _runs(robot: TrackedRobot, climb: ClimbScenario, v: Values, n: int, control_s: float, periods: int) -> Any:
    outline, has_soil = _outline(robot, v), climb.soil is not None
    soil_names = [p.name for p in SOIL.parameters]
    # On hard ground the soil lies far below: one compiled kernel serves both.
    constants = {name: v[name] for name in soil_names if name in v} if has_soil else dict(SOIL.example)
    soil = make_soil(**constants, gravity_mps2=v["gravity_mps2"])
    ground, goal = _ground(robot, climb, v, n, has_soil)
    height: Any = np.asarray(v["centre_of_mass_height_m"])
    tables = track_tables(
        outline, round(robot.tracks.segments.value), n, has_flippers=robot.flippers is not None, has_belly=robot.belly is not None
    )
    weight_n = np.asarray(v["mass_kg"]) * v["gravity_mps2"]
    sinkage = (
        static_sinkage_m(tables.stations, outline.mass_above_m, weight_n, soil)
        if has_soil
        else -np.asarray(v.get("cleat_height_m", 0.0))
    )
    begin = tracked.Begin(v["centre_of_mass_x_m"], 0.0, height - sinkage, 0.0, 0.0, 0.0)
    if climb.obstacle.kind == "field":
        begin = put_down(ground, outline, v, sinkage, n)
    radius: Any = np.asarray(v["sprocket_radius_m"])
    has_ramp = climb.ramp_s > 0.0 and not climb.starts_rolling
    since = (np.arange(periods) + 1.0) * control_s
    ramp = np.minimum(1.0, since / climb.ramp_s) if has_ramp else np.ones(periods)
    turning = 0.5 * climb.yaw_rate_radps * np.asarray(v["tread_m"])
    # Without an obstacle a robot can be held by soil alone; one that turns goes nowhere by itself.
    is_watched = climb.obstacle.kind != "none" or (climb.soil is not None and climb.yaw_rate_radps == 0.0)
    patience: Any = np.where(np.abs(v["speed_mps"]) * climb.patience_s >= 2.0 * _GAIN_M, climb.patience_s, _NEVER)
    rules = track_verdict.Rules(
        goal, patience if is_watched else _NEVER, _GAIN_M,
        0.0 if climb.starts_rolling else climb.ramp_s, periods * control_s,
    )  # fmt: skip
    return tracked.TrackedRuns(
        body=Body6(v["mass_kg"], v["roll_inertia_kgm2"], v["pitch_inertia_kgm2"], v["yaw_inertia_kgm2"], 0.0, 0.0, height),
        tables=tables,
        hard=tracked.HardContact(
            v["contact_stiffness_n_per_m_p"], v["contact_exponent"], v["contact_damping_n_s_per_m"], v["damping_full_at_m"]
        ),
        law=Stiction(v["mu_static"], v["mu_dynamic"], v["fading_speed_mps"]),
        soil=soil,
        belt=tracked.Belt(
            np.asarray(v["sprocket_inertia_kgm2"]) / radius**2 + v["belt_mass_kg"], np.asarray(v["torque_limit_nm"]) / radius,
            v["speed_gain_n_s_per_m"], v["integral_gain_n_per_m"], v["derivative_gain_kg"], v["belt_tension_n"],
            v["belt_loss_share"], v["belt_loss_n_s_per_m"],
        ),
        ground=rutted(ground, CELL_M, _RUT_WINDOW),
        begin=begin._replace(speed=v["speed_mps"] if climb.starts_rolling else 0.0),
        told=tracked.Told(v["speed_mps"] - turning, v["speed_mps"] + turning, Shared(ramp)),
        rules=rules,
    )  # fmt: skip
