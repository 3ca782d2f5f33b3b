"""From records with names and sources to the tuples of plain numbers that kernels run: the one place where the two meet."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipfit.contact import GROUND_LAWS, SOILS
from slipfit.errors import SimulationError
from slipfit.library import Ground, SkidSteerRobot
from slipfit.library.omni_robot import Prescribed
from slipfit.library.parameter import Parameter
from slipfit.library.robot import DcMotor
from slipfit.simulation.commands import Wheeled
from slipfit.simulation.scenario import START_NUMBERS, Scenario
from slipfit.simulation.scenario_numbers import STEEPEST_RAD
from slipfit.simulation.tip_over import support_edges
from slipfit.simulation.vary import checked_arrays
from slipfit.vehicles import motors, planar_body, powertrain
from slipfit.vehicles.losses import AirDrag, Battery, Losses, NoBattery, NoLosses

#: Numbers of a robot's file that do not act on motion; to vary them would promise an effect that is not there.
WITHOUT_EFFECT = ("speed_mps", "yaw_rate_radps", "roller_arc_rad", "grouser_count")
#: Numbers that act only where wheels sink.
ON_SOIL = ("width_m", "grouser_height_m")
#: Numbers that act only where a robot pitches and rolls.
TYRES = ("tyre_stiffness_n_per_m", "tyre_damping_n_s_per_m")
ON_TERRAIN = ("roll_inertia_kgm2", "pitch_inertia_kgm2", *TYRES)

Values = dict[str, Any]  # by parameter name: a float, or an array with one entry per run


def check_carries(where: str, what: str, values: Values, width_m: Any) -> None:
    """A negative k_c, as fits give such, leaves no pressure below something narrow."""
    widths = np.asarray(width_m, dtype=float)
    constant, widths = np.broadcast_arrays(np.asarray(values["k_c"]) / widths + values["k_phi"], widths)
    if (wrong := constant <= 0.0).any():
        raise SimulationError(
            f"{where}: k_c/b + k_phi is {'negative' if constant[wrong][0] < 0.0 else 'zero'} at this {what}'s width of "
            f"{widths[wrong][0]:g} m ({constant[wrong][0]:.4g} N/m^(n+2)), this soil would carry nothing; take constants from "
            f"plates about as wide as the {what}"
        )


def named_values(robot: Wheeled, ground: Ground, scenario: Scenario) -> Values:
    """Every number of a run that can be varied, by its name."""
    com_x, com_y, com_height = robot.centre_of_mass_m.value
    place = scenario.ground
    slope = {"slope_rad": place.slope_rad, "uphill_rad": place.uphill_rad} if place.shape == "plane" else {}
    start = {f"start_{name}": getattr(scenario.start, name) for name in START_NUMBERS}
    instead = scenario.battery.model_dump(exclude_none=True)  # of the robot's own battery
    return {
        **{name: p.value for name, p in _acting(robot, ground, scenario).items()},
        **instead,
        "centre_of_mass_x_m": com_x,
        "centre_of_mass_y_m": com_y,
        "centre_of_mass_height_m": com_height,
        **{p.name: p.default for p in GROUND_LAWS[ground.law].parameters if p.default is not None},
        **ground.values(),
        "gravity_mps2": place.gravity_on(ground),
        **slope,
        **start,
    }


def is_soft(ground: Ground) -> bool:
    """Whether wheels sink into it."""
    return ground.law in SOILS


def moves_in_space(ground: Ground, scenario: Scenario) -> bool:
    """Whether a robot pitches and rolls there: on terrains, and on soil, where wheels sink."""
    return scenario.ground.shape == "terrain" or is_soft(ground)


def _acting(robot: Wheeled, ground: Ground, scenario: Scenario) -> dict[str, Parameter]:
    """The robot's numbers that act in this scenario."""
    idle = WITHOUT_EFFECT + (() if moves_in_space(ground, scenario) else ON_TERRAIN) + (TYRES if is_soft(ground) else ON_SOIL)
    return {name: p for name, p in robot.parameters().items() if name not in idle}


def bounds_of(robot: Wheeled, ground: Ground, scenario: Scenario) -> dict[str, tuple[float, float]]:
    """Between which values the numbers of a run may lie, by name; those that may be anything are left out."""
    xs, ys = robot.supports_m.T.tolist()
    bounds = {name: (p.lower_bound, p.upper_bound) for name, p in _acting(robot, ground, scenario).items()}
    bounds |= {p.name: (p.lower, p.upper) for p in GROUND_LAWS[ground.law].parameters}
    bounds |= {
        "gravity_mps2": (ground.gravity_mps2.lower_bound, ground.gravity_mps2.upper_bound),
        "start_heading_rad": (-2.0 * np.pi, 2.0 * np.pi),
        "centre_of_mass_x_m": (min(xs), max(xs)),
        "centre_of_mass_y_m": (min(ys), max(ys)),
        "centre_of_mass_height_m": (1e-6, 20.0),
    }
    if scenario.ground.shape == "plane":
        bounds |= {"slope_rad": (0.0, STEEPEST_RAD), "uphill_rad": (-2.0 * np.pi, 2.0 * np.pi)}
    return bounds


def varied(
    values: Values, vary: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]], ground: Ground
) -> tuple[Values, int]:
    """The values with some replaced by arrays, one entry per run; and the number of runs."""
    law_names = {p.name for p in GROUND_LAWS[ground.law].parameters}
    short = {p.alias: p.name for p in GROUND_LAWS[ground.law].parameters if p.alias}
    arrays, n = checked_arrays(vary, values, bounds, short)
    problem = GROUND_LAWS[ground.law].problem({name: entry for name, entry in (values | arrays).items() if name in law_names})
    if problem:
        raise SimulationError(f"vary: {problem}")
    return values | arrays, n


def of_runs(values: Values, runs: np.ndarray) -> Values:
    """The values of some runs only."""
    return {name: np.asarray(value)[runs] if np.ndim(value) else value for name, value in values.items()}


def with_one_law(ground: Ground, values: Values, n: int) -> list[np.ndarray]:
    """Numbers of the runs whose constants of the ground are zero alike, group by group: where one is zero the law may be another
    (a tyre that does not relax), and all runs of a kernel have one law."""
    constants = [np.asarray(values[p.name]) for p in GROUND_LAWS[ground.law].parameters if np.ndim(values.get(p.name, 0.0))]
    if not constants:
        return [np.arange(n)]
    _, group = np.unique(np.column_stack(constants) != 0.0, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == k) for k in range(group.max() + 1)]


def powertrain_of(robot: Wheeled, v: Values) -> Any:
    """What turns the robot's wheels: the kernel that has no more than the robot's file says."""
    if isinstance(robot.powertrain, Prescribed):
        return powertrain.Prescribed(v["spin_inertia_kgm2"])
    if not isinstance(robot.powertrain, DcMotor):
        return powertrain.SpeedLoop(v["spin_inertia_kgm2"], v["torque_limit_nm"])
    circuit = (
        v["resistance_ohm"], v["inductance_h"], v["torque_constant_nm_per_a"], v["back_emf_v_s_per_rad"],
        v["viscous_friction_nm_s_per_rad"], v["voltage_limit_v"],
    )  # fmt: skip
    limit = v.get("current_limit_a", np.inf)
    if "shaft_stiffness_nm_per_rad" in v:
        shaft = (v["shaft_stiffness_nm_per_rad"], v.get("shaft_damping_nm_s_per_rad", 0.0))
        return motors.CompliantMotor(v["rotor_inertia_kgm2"], v["spin_inertia_kgm2"], *circuit, limit, *shaft)
    inertia = np.asarray(v["rotor_inertia_kgm2"]) + v["spin_inertia_kgm2"]
    if "current_limit_a" in v:
        return motors.LimitedMotor(inertia, *circuit, limit)
    return powertrain.DcMotor(inertia, *circuit)


def losses_of(v: Values) -> Losses | AirDrag | NoLosses:
    """Air drag, rolling resistance and caster: the kernel that has no more than the robot's file says."""
    air, at_wheels = v.get("air_drag_n_s2_per_m2"), ("rolling_resistance", "caster_m")
    if any(name in v for name in at_wheels):
        return Losses(0.0 if air is None else air, *(v.get(name, 0.0) for name in at_wheels))
    return NoLosses(0.0) if air is None else AirDrag(air)


def battery_of(robot: SkidSteerRobot, v: Values) -> Battery | NoBattery:
    """What feeds the motors."""
    return NoBattery(0.0) if robot.battery is None else Battery(v["open_circuit_v"], v["internal_resistance_ohm"])


def wheels_of(robot: SkidSteerRobot, v: Values, n: int) -> Any:
    """Tables of n runs."""
    tables = robot.wheel_tables()
    radius = np.asarray(v["radius_m"], dtype=float).reshape(-1, 1)
    return type(tables)(*(np.tile(table, (n, 1)) for table in tables))._replace(
        radius=np.broadcast_to(radius, (n, len(tables.x)))
    )


def law_of(ground: Ground, v: Values) -> Any:
    """The ground's law with its constants."""
    law = GROUND_LAWS[ground.law]
    weight = {"gravity_mps2": v["gravity_mps2"]} if law.needs_gravity else {}
    return law.model({p.name: v[p.name] for p in law.parameters if p.name in v} | weight)


def body_of(v: Values) -> planar_body.Body:
    return planar_body.Body(
        v["mass_kg"], v["yaw_inertia_kgm2"], v["centre_of_mass_x_m"], v["centre_of_mass_y_m"], v["centre_of_mass_height_m"]
    )


def supports_of(robot: Wheeled, n: int) -> planar_body.Supports:
    """Tables of n runs."""
    return planar_body.Supports(*(np.tile(column, (n, 1)) for column in support_edges(robot.supports_m)))


def start_of(v: Values) -> planar_body.Start:
    return planar_body.Start(
        v["start_x_m"], v["start_y_m"], v["start_heading_rad"], v["start_v_mps"], v["start_vy_mps"], v["start_yaw_rate_radps"]
    )
