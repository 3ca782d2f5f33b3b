"""Drive a rover by the torque model, the comparison that has no wheels: scenario in, motion out."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slipfit.control.guidance import LineOfSight, PurePursuit
from slipfit.errors import SimulationError
from slipfit.ground import plane
from slipfit.kernels import as_batch
from slipfit.library import SkidSteerRobot, find_ground, skid_steer_robot
from slipfit.library.robot import DcMotor
from slipfit.simulation.commands import command_table
from slipfit.simulation.scenario import Scenario, as_scenario
from slipfit.simulation.step_rule import in_short_steps
from slipfit.vehicles import powertrain, torque_model
from slipfit.vehicles.driver import NEVER, Table, table_for_all


@dataclass(frozen=True, eq=False)
class TorqueModelRun:
    """Motion of the robot's origin in the plane's own frame, and when the model stopped making sense."""

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    heading_rad: np.ndarray
    vx_mps: np.ndarray
    vy_mps: np.ndarray
    yaw_rate_radps: np.ndarray
    sideslip_rad: np.ndarray  # from where it points to where it moves, or away from there in reverse: within a quarter turn
    waypoint: np.ndarray  # number of the waypoint that is steered for; zero without a route
    cross_track_m: np.ndarray
    broke_down_at_s: float | None  # the velocity swung past the sideways direction, or stopped being finite
    arrived_at_s: float | None  # at the last waypoint
    robot: str
    slope_rad: float
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """A few lines for people."""
        slope = f" at {np.degrees(self.slope_rad):.3g}°" if self.slope_rad else ""
        rows = [
            f"{self.robot} by the torque model{slope}: {self.time_s[-1]:.4g} s",
            f"  end      x {self.x_m[-1]:.4f} m  y {self.y_m[-1]:.4f} m  heading {np.degrees(self.heading_rad[-1]):.2f}°",
            f"  speed    {np.nanmin(self.vx_mps):.3f} to {np.nanmax(self.vx_mps):.3f} m/s ahead, sideslip up to "
            f"{np.degrees(np.nanmax(np.abs(self.sideslip_rad))):.1f}°",
        ]
        if self.arrived_at_s is not None:
            rows.append(f"  route    arrived after {self.arrived_at_s:.2f} s")
        if self.broke_down_at_s is not None:
            rows.append(
                f"  status   broke down at {self.broke_down_at_s:.2f} s: it slid past sideways; what follows means nothing"
            )
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<TorqueModelRun of {self.robot}, {len(self.time_s)} records>"


def simulate_torque_model(robot: SkidSteerRobot | str | Path, scenario: Scenario | str | Path) -> TorqueModelRun:
    """Drive a rover through a scenario by the torque model. Of the ground, slope and gravity count; its law does not.

    Parameters
    ----------
    robot : a record, a name of the library, or the path of a file, with motors and a `torque_model`
    scenario : a record, or the path of a file; on a plane, with commands or a route

    Examples
    --------
    >>> run = simulate_torque_model("lynxmotion_4wd3", Scenario(commands=[{"for_s": 2.0, "wheels_v": [10.0, 10.0]}]))
    """
    robot = skid_steer_robot(robot, "the torque model")
    scenario, notes = in_short_steps(as_scenario(scenario))
    if scenario.ground.shape != "plane":
        raise SimulationError(f"ground.shape is {scenario.ground.shape}; the torque model knows planes only")
    dt, start_m, route = scenario.time_step_s, (scenario.start.x_m, scenario.start.y_m), scenario.route
    driver: Table | LineOfSight | PurePursuit
    if route is None:
        table = command_table(robot, scenario)
        driver, hold, steps = table_for_all(table, 1), 1, len(table)
    else:
        driver, hold = route.driver(robot, start_m), route.hold_steps(dt)
        steps = math.ceil(scenario.duration_s / dt)
    every = max(1, min(steps, round(scenario.record_interval_s / dt)))
    records = steps // every + 1
    out = np.empty((1, records, len(torque_model.COLUMNS)))
    torque_model.in_lanes(as_batch(_runs(robot, scenario, driver), 1), 0, 1, hold, every, dt, out)
    columns = dict(zip(torque_model.COLUMNS, out[0].T, strict=True))
    return TorqueModelRun(
        time_s=np.arange(records) * every * dt,
        broke_down_at_s=_when(columns.pop("broke_down_at_s")[-1]),
        arrived_at_s=_when(columns.pop("arrived_at_s")[-1]),
        robot=robot.name,
        slope_rad=scenario.ground.slope_rad,
        notes=notes,
        **columns,
    )


def _when(time_s: float) -> float | None:
    return None if time_s == NEVER else float(time_s)


def _runs(robot: SkidSteerRobot, scenario: Scenario, driver: object) -> torque_model.TorqueRuns:
    """One run, as the kernel takes it."""
    motor, constants, start = robot.powertrain, robot.torque_model, scenario.start
    if constants is None or not isinstance(motor, DcMotor):
        lacking = "no torque_model in its file" if constants is None else "a speed loop"
        raise SimulationError(f"{robot.name} has {lacking}; the torque model needs motors and the constants of its own section")
    place = scenario.ground
    return torque_model.TorqueRuns(
        body=torque_model.TorqueBody(
            robot.mass_kg.value,
            robot.yaw_inertia_kgm2.value,
            robot.wheels.radius_m.value,
            *(getattr(constants, name).value for name in type(constants).model_fields),
        ),
        side=np.array([[at[1] for at in robot.wheels.at_m.value]]),
        powertrain=powertrain.DcMotor(
            motor.rotor_inertia_kgm2.value,
            motor.resistance_ohm.value,
            motor.inductance_h.value,
            motor.torque_constant_nm_per_a.value,
            motor.back_emf_v_s_per_rad.value,
            motor.viscous_friction_nm_s_per_rad.value,
            motor.voltage_limit_v.value,
        ),
        ground=plane(place.gravity_on(find_ground(place.surface) if place.surface else None), place.slope_rad, place.uphill_rad),
        start=torque_model.TorqueStart(
            start.x_m, start.y_m, start.heading_rad, start.v_mps, start.vy_mps, start.yaw_rate_radps
        ),
        driver=driver,
    )  # fmt: skip
