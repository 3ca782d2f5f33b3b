"""A run's numbers put into its files: what a run of a batch must equal, to the last bit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.contact import GROUND_LAWS
from slipfit.library import Ground, OmniRobot, Robot, TrackedRobot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import _target


def other_values(name: str, value: float, bounds: Mapping[str, tuple[float, float]]) -> list[float]:
    """Three values of a number within its bounds, its own in the middle."""
    low, high = bounds.get(name, (-np.inf, np.inf))
    if name == "rollers":  # files take whole numbers of them
        return [value - 1.0, value, value + 2.0]
    if not np.isfinite(value):
        return [5.0, value, 7.0]
    apart = 0.04 * abs(value) if value else 0.03
    above, below = value + 1.5 * apart, value - apart
    return [below if below >= low else value + 0.5 * apart, value, above if above <= high else value - 0.5 * apart]


@dataclass(frozen=True)
class Drive:
    """Who drives, what, and where."""

    robot: Robot | OmniRobot
    scenario: Scenario
    ground: Ground

    def single(self, name: str, value: float) -> "Drive":
        """The drive with one number in its files replaced. Commands are the same in all runs of a batch (docs/reference/python):
        wheels are commanded as those of the robot before the change."""
        robot, scenario, ground = self.robot, self._with_wheel_commands(), self.ground
        law = {p.name for p in GROUND_LAWS[ground.law].parameters}
        if name.removeprefix("start_") in type(scenario.start).model_fields and name.startswith("start_"):
            start = scenario.start.model_copy(update={name.removeprefix("start_"): value})
            return Drive(robot, scenario.model_copy(update={"start": start}), ground)
        if name in ("slope_rad", "uphill_rad", "gravity_mps2"):
            place = scenario.ground.model_copy(update={name: value})
            return Drive(robot, scenario.model_copy(update={"ground": place}), ground)
        if name in law:
            data = ground.to_mapping()
            data["parameters"] = dict(data["parameters"]) | {name: value}
            return Drive(robot, scenario, Ground.from_mapping(data, where="ground of the run"))
        return Drive(robot_with(robot, name, value), scenario, ground)

    def _with_wheel_commands(self) -> Scenario:
        if not self.scenario.commands:
            return self.scenario
        key = "wheels_v" if self.robot.powertrain.kind == "dc_motor" else "wheels_radps"
        no_body = dict.fromkeys(("v_mps", "vy_mps", "yaw_rate_radps", "wheels_v", "wheels_radps"))
        told = [
            command.model_copy(update=no_body | {key: _target(self.robot, command, "commands").tolist()})
            for command in self.scenario.commands
        ]
        return self.scenario.model_copy(update={"commands": told})


def robot_with(robot: Any, name: str, value: float) -> Any:
    """A robot whose file has another value of a number."""
    data = robot.to_mapping()
    axes = {"centre_of_mass_x_m": 0, "centre_of_mass_y_m": 1, "centre_of_mass_height_m": 2}
    if name in axes:
        at = list(robot.centre_of_mass_m.value)
        at[axes[name]] = value
        data["centre_of_mass_m"] = at
    elif name.startswith("phase_"):
        phases = robot.wheels.each(robot.wheels.phase_sectors).tolist()
        phases[int(name.split("_")[1])] = value
        data["wheels"]["phase_sectors"] = phases
    elif name == "rigid_fraction":
        data["wheels"].pop("roller_arc_rad", None)
        data["wheels"]["rigid_fraction"] = value
    else:
        assert _replace(data, name, value), f"{name} stands nowhere in the file of {robot.name}"
    return type(robot).from_mapping(data, where="robot of the run")


def _replace(data: dict[str, Any], name: str, value: float) -> bool:
    if name in data:
        data[name] = value
        return True
    return any(_replace(part, name, value) for part in data.values() if isinstance(part, dict))


def climb_with(robot: TrackedRobot, climb: Scenario, name: str, value: float) -> tuple[TrackedRobot, Scenario]:
    """A drive of a tracked robot with one number in its files replaced."""
    ground, start = climb.ground, {"start_x_m": "x_m", "start_y_m": "y_m", "heading_rad": "heading_rad"}
    start |= {"flipper_angle_rad": "flipper_angle_rad"}
    static, dynamic = ground.friction()
    data = climb.to_mapping()
    place = data.setdefault("ground", {})
    if name == "mu_static":  # what slides keeps its share of what holds (docs/howto/tracked)
        place |= {"surface": None, "mu_static": value, "mu_dynamic": value * (dynamic / static)}
    elif name == "mu_dynamic":
        place |= {"surface": None, "mu_static": static, "mu_dynamic": min(value, static)}
    elif name in start:
        data["start"] = data.get("start", {}) | {start[name]: value}
    elif name in ground.soil_values():
        place["soil"] = ground.soil_values() | {name: value}
    elif ground.obstacle and name in type(ground.obstacle).model_fields:
        place["obstacle"] |= {name: value}
    elif name in ("height_m", "edge_radius_m", "yaw_rad", "grip", "distance_m"):
        return robot, climb  # of an obstacle that is not there
    elif name == "speed_mps" and climb.straight:
        data["straight"]["speed_mps"] = value
    elif name == "speed_mps":
        data["commands"][0]["v_mps"] = value
    elif name in type(ground).model_fields:
        place[name] = value
    else:
        return robot_with(robot, name, value), climb
    if place.get("surface", "") is None:
        del place["surface"]
    return robot, Scenario.from_mapping(data, where="drive of the run")
