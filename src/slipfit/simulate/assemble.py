"""From records with names and sources to the tuples of plain numbers that kernels run: the one place where the two meet."""

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

import numpy as np

from slipfit.contact import LAWS
from slipfit.errors import SimulationError
from slipfit.ground import plane
from slipfit.kernels import Shared, as_batch
from slipfit.library import Ground, Robot
from slipfit.library.files import nearest
from slipfit.library.parameter import out_of_range
from slipfit.library.robot import DcMotor
from slipfit.simulate.scenario import STEEPEST_RAD, Scenario
from slipfit.vehicles import loads, powertrain, skid_steer

#: Numbers of a robot's file that do not act on planar motion; to vary them would promise an effect that is not there.
WITHOUT_EFFECT = ("width_m", "roll_inertia_kgm2", "pitch_inertia_kgm2", "speed_mps", "yaw_rate_radps")

Values = dict[str, Any]  # by parameter name: a float, or an array with one entry per run


def named_values(robot: Robot, ground: Ground, scenario: Scenario) -> Values:
    """Every number of a run that can be varied, by its name."""
    com_x, com_y, com_height = robot.centre_of_mass_m.value
    start = {"start_" + name: value for name, value in scenario.start.model_dump().items()}
    return {
        **{p.name: p.value for p in robot.parameters().values() if p.name not in WITHOUT_EFFECT},
        "centre_of_mass_x_m": com_x,
        "centre_of_mass_y_m": com_y,
        "centre_of_mass_height_m": com_height,
        **{p.name: p.default for p in LAWS[ground.law].parameters if p.default is not None},
        **ground.values(),
        "gravity_mps2": ground.gravity_mps2.value,
        "slope_rad": scenario.ground.slope_rad,
        "uphill_rad": scenario.ground.uphill_rad,
        **start,
    }


def varied(values: Values, vary: Mapping[str, Any], robot: Robot, ground: Ground) -> tuple[Values, int]:
    """The values with some replaced by arrays, one entry per run; and the number of runs."""
    xs, ys = zip(*robot.wheels.at_m.value, strict=True)
    bounds = {p.name: (p.lower_bound, p.upper_bound) for p in robot.parameters().values() if p.name not in WITHOUT_EFFECT}
    bounds |= {p.name: (p.lower, p.upper) for p in LAWS[ground.law].parameters}
    bounds |= {
        "gravity_mps2": (ground.gravity_mps2.lower_bound, ground.gravity_mps2.upper_bound),
        "slope_rad": (0.0, STEEPEST_RAD),
        "uphill_rad": (-2.0 * np.pi, 2.0 * np.pi),
        "start_heading_rad": (-2.0 * np.pi, 2.0 * np.pi),
        "centre_of_mass_x_m": (min(xs), max(xs)),
        "centre_of_mass_y_m": (min(ys), max(ys)),
        "centre_of_mass_height_m": (1e-6, 20.0),
    }
    law_names = {p.name for p in LAWS[ground.law].parameters}
    short = {p.alias: p.name for p in LAWS[ground.law].parameters if p.alias}
    arrays: Values = {}
    for key, given in vary.items():
        name = short.get(key, key)
        if name not in values and name not in bounds:
            raise SimulationError(f"vary: there is no number '{key}' in this run; {nearest(key, {*values, *bounds})}")
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise SimulationError(f"vary: {key} is {shown(given)}; expected one number per run") from None
        if array.ndim != 1 or not len(array):
            raise SimulationError(f"vary: {key} has shape {array.shape}; expected one number per run")
        lower, upper = bounds.get(name, (-np.inf, np.inf))
        finite = array[np.isfinite(array)]  # a NaN run is allowed: it gets its own status
        for value in (finite.min(initial=np.inf), finite.max(initial=-np.inf)):
            if np.isfinite(value) and (problem := out_of_range(name, float(value), lower, upper)):
                raise SimulationError(f"vary: {problem}")
        arrays[name] = array
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise SimulationError(f"vary: lengths differ ({lengths}); expected one number per run for each")
    problem = LAWS[ground.law].problem({name: entry for name, entry in (values | arrays).items() if name in law_names})
    if problem:
        raise SimulationError(f"vary: {problem}")
    return values | arrays, next(iter(lengths.values()), 1)


def _powertrain(robot: Robot, v: Values) -> Any:
    if isinstance(robot.powertrain, DcMotor):
        return powertrain.DcMotor(
            np.asarray(v["rotor_inertia_kgm2"]) + v["spin_inertia_kgm2"],
            v["resistance_ohm"],
            v["inductance_h"],
            v["torque_constant_nm_per_a"],
            v["back_emf_v_s_per_rad"],
            v["viscous_friction_nm_s_per_rad"],
            v["voltage_limit_v"],
        )
    return powertrain.SpeedLoop(v["spin_inertia_kgm2"], v["torque_limit_nm"])


def assemble(robot: Robot, ground: Ground, values: Values, commands: np.ndarray, n: int) -> Any:
    """A batch of n runs."""
    v = values
    tables = loads.wheels(robot.wheels.at_m.value, 1.0)
    radius = np.asarray(v["radius_m"], dtype=float).reshape(-1, 1)
    wheels = loads.Wheels(*(np.tile(table, (n, 1)) for table in tables))._replace(
        radius=np.broadcast_to(radius, (n, len(tables.x)))
    )
    return as_batch(
        skid_steer.SkidSteerRuns(
            body=skid_steer.Body(
                v["mass_kg"],
                v["yaw_inertia_kgm2"],
                v["centre_of_mass_x_m"],
                v["centre_of_mass_y_m"],
                v["centre_of_mass_height_m"],
            ),
            wheels=wheels,
            powertrain=_powertrain(robot, v),
            law=LAWS[ground.law].model({p.name: v[p.name] for p in LAWS[ground.law].parameters if p.name in v}),
            ground=plane(v["gravity_mps2"], v["slope_rad"], v["uphill_rad"]),
            start=skid_steer.Start(
                v["start_x_m"], v["start_y_m"], v["start_heading_rad"], v["start_v_mps"], 0.0, v["start_yaw_rate_radps"]
            ),
            commands=Shared(commands.ravel()),
        ),
        n,
    )
