"""Tracked robots over obstacles and through soil: numbers of a climb, and the tuples of its kernel."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipfit.contact.soil import INFO as SOIL
from slipfit.contact.soil import soil as make_soil
from slipfit.contact.stiction import Stiction
from slipfit.errors import ParameterError
from slipfit.ground.blocks import FAR_BELOW_M, Corner, blocks
from slipfit.ground.ruts import rutted
from slipfit.kernels import Shared, as_batch
from slipfit.library import TrackedRobot, find_ground, find_terrain
from slipfit.simulation.assemble import check_carries
from slipfit.simulation.climb_field import check_on_map, field_ground, put_down
from slipfit.simulation.climb_start import check_start, depth_at_start_m, static_sinkage_m
from slipfit.simulation.climb_task import Task, task_of
from slipfit.simulation.scenario import MOST_STEPS, Scenario
from slipfit.simulation.scenario_ground import MOST_YAW_RAD
from slipfit.simulation.vary import checked_arrays
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.track_shape import Outline, track_tables
from slipfit.vehicles.track_soil import CELL_M

#: Commands are told and verdicts are reached this often, s.
CONTROL_S = 0.01

#: Cells of soil that remember lie in square windows of so many along a side: 1.6 m, longer than a robot.
_RUT_WINDOW = 64

#: A place beyond every goal, and a patience beyond every end.
_NEVER = 1e9

#: A step may be this share of the time in which a robot bounces on one hard contact by a radian: then halving it changes little.
_STEP_SHARE = 1.0

#: Progress that counts, m.
_GAIN_M = 0.005

#: Numbers of the obstacle where there is none; and on a terrain those of the start, by the scenario's names.
_NO_OBSTACLE = {"height_m": 0.0, "edge_radius_m": 0.0, "yaw_rad": 0.0, "grip": 1.0, "distance_m": 0.3}
_START_ON_TERRAIN = {"start_x_m": "x_m", "start_y_m": "y_m", "heading_rad": "heading_rad"}

Values = dict[str, Any]


def check_begin(robot: TrackedRobot, climb: Scenario, v: Values, batch: Any, n: int) -> None:
    """Soil that would carry nothing, and starts inside the obstacle, are refused."""
    soil = climb.ground.soil
    if soil is not None:
        where = f"soil {soil}" if isinstance(soil, str) else "soil"
        check_carries(where, "segment", v, batch.tables.stations.width.min(axis=1))
    check_start(climb.ground, v, depth_at_start_m(batch, n), lambda i, far: _depth_from(robot, climb, v, n, i, far))


# --- numbers --------------------------------------------------------------------------------------------------------------------


def climb_numbers(robot: TrackedRobot, climb: Scenario) -> Values:
    """Every number of a run, by its name."""
    ground, task = climb.ground, task_of(climb)
    static, dynamic = ground.friction()
    x, _, height = robot.centre_of_mass_m.value
    own = {name: p.value for name, p in robot.parameters().items() if name != "segments"}
    if climb.start.flipper_angle_rad is not None and robot.flippers:
        own["flipper_angle_rad"] = climb.start.flipper_angle_rad
    return {
        **own,
        "centre_of_mass_x_m": x,
        "centre_of_mass_height_m": height,
        "mu_static": static,
        "mu_dynamic": dynamic,
        "fading_speed_mps": ground.fading_speed_mps,
        **ground.soil_values(),
        **_NO_OBSTACLE,
        **({name: getattr(ground.obstacle, name) for name in _NO_OBSTACLE} if ground.obstacle else {}),
        "speed_mps": task.speed_mps,
        "gravity_mps2": ground.gravity_on(find_ground(ground.surface) if ground.surface else None),
        **({name: getattr(climb.start, key) for name, key in _START_ON_TERRAIN.items()} if ground.terrain else {}),
    }


def variable_numbers(robot: TrackedRobot, climb: Scenario) -> Values:
    """Those that can be varied: an obstacle's only where there is one."""
    absent = () if climb.ground.obstacle else _NO_OBSTACLE
    return {name: value for name, value in climb_numbers(robot, climb).items() if name not in absent}


def climb_bounds(robot: TrackedRobot, climb: Scenario) -> dict[str, tuple[float, float]]:
    """Between which values the numbers of a run may lie, by name."""
    found = {name: (p.lower_bound, p.upper_bound) for name, p in robot.parameters().items()}
    found |= {p.name: (p.lower, p.upper) for p in SOIL.parameters}
    half = 0.5 * robot.wheelbase_m
    found |= {
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
    known = variable_numbers(robot, climb)
    return {name: limits for name, limits in found.items() if name in known}


def varied_numbers(robot: TrackedRobot, climb: Scenario, vary: Mapping[str, Any]) -> tuple[Values, int]:
    """Numbers of all runs by name, those that vary as arrays, and how many runs there are."""
    values = climb_numbers(robot, climb)
    arrays, n = checked_arrays(vary, variable_numbers(robot, climb), climb_bounds(robot, climb))
    if "mu_static" in arrays and "mu_dynamic" not in arrays:  # what slides keeps its share of what holds
        arrays["mu_dynamic"] = arrays["mu_static"] * (values["mu_dynamic"] / values["mu_static"])
    elif "mu_dynamic" in arrays:  # and never grips better
        arrays["mu_dynamic"] = np.minimum(arrays["mu_dynamic"], (values | arrays)["mu_static"])
    return values | arrays, n


def check_reachable(robot: TrackedRobot, climb: Scenario, v: Values) -> tuple[str, ...]:
    """A curb that nothing of the robot reaches is refused, and driving away from it; one higher than the robot is told of."""
    slowest, obstacle = float(np.nanmin(v["speed_mps"], initial=np.inf)), climb.ground.obstacle
    if climb.has_goal and slowest < 0.0:
        raise ParameterError(
            f"speed_mps = {slowest:g} drives away from the goal; expected a speed above 0, or commands on a plane"
        )
    _check_patience(climb, v)
    if obstacle is None or obstacle.kind not in ("curb", "stairs"):
        return ()
    height, top = float(np.nanmax(v["height_m"])), float(np.max(2.0 * np.asarray(v["sprocket_radius_m"])))
    reach = top + (float(np.max(v["flipper_length_m"])) if robot.flippers else 0.0)
    if height > reach:
        raise ParameterError(
            f"obstacle.height_m = {height:g} m: the {obstacle.kind} is higher than {robot.name} reaches ({reach:.3g} m); "
            f"expected a step that its tracks or flippers can touch from above"
        )
    if height > top:
        return (f"the {obstacle.kind} of {height:.3g} m is higher than the robot's tracks ({top:.3g} m)",)
    return ()


def _check_patience(climb: Scenario, v: Values) -> None:
    """A robot that is told to creep must have time to gain what counts, or driving well would be called slipping."""
    ahead: Any = np.asarray(v["speed_mps"], dtype=float) * np.cos(v["yaw_rad"])
    slowest = float(np.min(np.where(ahead > 0.0, ahead, np.inf)))
    patience_s = climb.stop.patience_s
    if climb.has_goal and slowest * patience_s < 2.0 * _GAIN_M:
        raise ParameterError(
            f"stop.patience_s = {patience_s:g} s is too short for {slowest:.3g} m/s towards the goal: a robot that gains "
            f"less than {1e3 * _GAIN_M:g} mm in this time counts as held; take {np.ceil(2.0 * _GAIN_M / slowest):g} s or more"
        )


def longest_step_s(robot: TrackedRobot, v: Values | None = None) -> float:
    """The longest step for the robot's hard contacts: the time in which half of it bounces on one of them by a radian."""
    v = {name: p.value for name, p in robot.parameters().items()} | {"gravity_mps2": 9.81} | (v or {})
    mass, p = np.asarray(v["mass_kg"], dtype=float), np.asarray(v["contact_exponent"], dtype=float)
    stiffness = np.asarray(v["contact_stiffness_n_per_m_p"], dtype=float)
    dent = (0.25 * mass * v["gravity_mps2"] / stiffness) ** (1.0 / p)
    return float(_STEP_SHARE * np.min(np.sqrt(0.5 * mass / (p * stiffness * dent ** (p - 1.0)))))


def check_step(robot: TrackedRobot, climb: Scenario, v: Values) -> None:
    longest, step_s = longest_step_s(robot, v), climb.time_step_s
    if climb.duration_s / step_s > MOST_STEPS:
        raise ParameterError(f"the drive lasts {climb.duration_s:g} s, more than {MOST_STEPS:,} steps of {step_s:g} s")
    if step_s > longest:
        raise ParameterError(
            f"step_s = {step_s:g} s is too long for a contact stiffness of "
            f"{float(np.max(v['contact_stiffness_n_per_m_p'])):.3g} N/m^p under {float(np.min(v['mass_kg'])):.3g} kg; take "
            f"at most {longest:.2g} s, or a softer contact"
        )


def _depth_from(robot: TrackedRobot, climb: Scenario, v: Values, n: int, run: int, distance_m: float) -> float:
    """How deep one run of a batch would begin in hard ground at another distance from the obstacle."""
    alone = {name: np.asarray(value)[run] if np.ndim(value) else value for name, value in v.items()}
    one = as_batch(climb_runs(robot, climb, alone | {"distance_m": distance_m}, 1, CONTROL_S, 1), 1)
    return float(depth_at_start_m(one, 1)[0])


# --- tuples ---------------------------------------------------------------------------------------------------------------------


def outline_of(robot: TrackedRobot, v: Values) -> Outline:
    own = {name: v[name] for name in Outline._fields if name in v}
    ahead = 0.5 * np.asarray(v["axle_distance_m"]) + v["centre_of_mass_x_m"]
    return Outline(**own, radius_m=v["sprocket_radius_m"], mass_ahead_m=ahead, mass_above_m=v["centre_of_mass_height_m"])


def obstacle_starts_m(v: Values) -> Any:
    """Where the obstacle begins, along the profile: ahead of the front of the tracks, which start around the origin."""
    return 0.5 * np.asarray(v["axle_distance_m"]) + v["sprocket_radius_m"] + v.get("cleat_height_m", 0.0) + v["distance_m"]


def obstacle_corners(climb: Scenario, v: Values, first_m: Any) -> tuple[list[Corner], Any, float]:
    """Corners of the obstacle that begins at a place along the profile; the place its far side lies at; height of the base."""
    o, height, radius, grip = climb.ground.obstacle, v["height_m"], v["edge_radius_m"], v["grip"]
    if o is None:
        return [], _NEVER, 0.0
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
    near = Corner(first_m, 0.0, rise_rad=0.0, onward_rad=-0.5 * np.pi, radius_m=radius)
    return [near, Corner(first_m + o.run_m, 0.0, radius_m=radius, grip=grip)], first_m + o.run_m + np.asarray(radius), 1.0


def _ground(robot: TrackedRobot, climb: Scenario, v: Values, n: int, has_soil: bool) -> tuple[Any, Any]:
    """The ground, and the place along its profile that the rear axle is to pass."""
    way_m = task_of(climb).distance_m
    if climb.ground.terrain:
        assert way_m is not None
        terrain = find_terrain(climb.ground.terrain)
        check_on_map(terrain, way_m, v, robot.wheelbase_m + 2.0 * float(np.max(v["sprocket_radius_m"])))
        field = field_ground(terrain, v, has_soil)
        start = field.along_x * np.asarray(v["start_x_m"]) + field.along_y * np.asarray(v["start_y_m"])
        return field, start - outline_of(robot, v).mass_ahead_m + way_m
    first = obstacle_starts_m(v)
    corners, far, is_ditch = obstacle_corners(climb, v, first)
    if is_ditch and has_soil:
        raise ParameterError(
            "obstacle.kind is ditch, and there is soil; ditches with edges are simulated on hard ground only: leave out soil, or "
            "take a terrain that the soil covers (a map, or heights of kind bump, height_m below 0)"
        )
    base: Any = -np.asarray(v["height_m"]) if is_ditch else FAR_BELOW_M if has_soil else 0.0
    goal: Any = np.asarray(far) + 0.5 * np.asarray(v["sprocket_radius_m"]) if corners else _NEVER
    if way_m is not None:  # on level ground: from where the rear axle is at the start
        far = goal = way_m - 0.5 * np.asarray(v["axle_distance_m"])
    ground = blocks(
        corners, n, gravity_mps2=v["gravity_mps2"], yaw_rad=v["yaw_rad"], base_m=base, soil_m=0.0 if has_soil else FAR_BELOW_M,
        soil_to_m=(first if corners else _NEVER) if has_soil else FAR_BELOW_M, goal_m=far,
    )  # fmt: skip
    return ground, goal


def climb_runs(robot: TrackedRobot, climb: Scenario, v: Values, n: int, control_s: float, periods: int) -> Any:
    outline, has_soil, task = outline_of(robot, v), climb.ground.soil is not None, task_of(climb)
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
    if climb.ground.terrain:
        begin = put_down(ground, outline, v, sinkage, n)
    radius: Any = np.asarray(v["sprocket_radius_m"])
    share = _commanded_share(task, control_s, periods)
    turning = 0.5 * task.yaw_rate_radps * np.asarray(v["tread_m"])
    # Without a goal a robot can be stuck in soil alone; one that turns goes nowhere by itself.
    is_watched = climb.has_goal or (has_soil and task.yaw_rate_radps == 0.0)
    patience_s = climb.stop.patience_s
    patience: Any = np.where(np.abs(v["speed_mps"]) * patience_s >= 2.0 * _GAIN_M, patience_s, _NEVER)
    rules = track_verdict.Rules(
        goal, patience if is_watched else _NEVER, _GAIN_M, 0.0 if task.starts_rolling else task.ramp_s, periods * control_s
    )
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
        begin=begin._replace(speed=v["speed_mps"] if task.starts_rolling else 0.0),
        told=tracked.Told(v["speed_mps"] - turning, v["speed_mps"] + turning, Shared(share)),
        rules=rules,
    )  # fmt: skip


def _commanded_share(task: Task, control_s: float, periods: int) -> np.ndarray:
    """Share of the full command in each period."""
    if task.ramp_s <= 0.0 or task.starts_rolling:
        return np.ones(periods)
    return np.asarray(np.minimum(1.0, (np.arange(periods) + 1.0) * control_s / task.ramp_s))
