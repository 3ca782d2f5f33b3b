"""What a tracked robot is commanded in a scenario: one speed and yaw rate, constant after a ramp, and how far it is to go."""

from typing import NamedTuple

from slipfit.errors import SimulationError
from slipfit.library import Robot, tracked_robot
from slipfit.library.parameter import out_of_range
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.scenario_keys import Unused

#: Largest speed (m/s) and yaw rate (rad/s) of a command.
_FASTEST = 10.0

#: What no tracked robot uses.
_UNUSED = {
    "route": "is tracked, and routes are not simulated on tracks yet",
    "energy": "is tracked, and its records have no energy balance",
    "battery": "is tracked, and the motors of its file have no battery",
    "sensors": "is tracked, and sensors are not simulated on tracks yet",
    "ground.slope_rad": "is tracked; a plane is level for it, take a ramp as the obstacle, or a terrain",
    "ground.uphill_rad": "is tracked; a plane is level for it, take a ramp as the obstacle, or a terrain",
    "ground.interpolation": "is tracked, and its ground is interpolated bicubically",
    "start.v_mps": "is tracked; it starts at rest, or at the speed of its task",
    "start.vy_mps": "is tracked; it starts at rest, or at the speed of its task",
    "start.yaw_rate_radps": "is tracked; it starts at rest, or at the speed of its task",
    "commands.vy_mps": "is tracked and cannot drive sideways",
    "commands.wheels_radps": "is tracked, and has no wheels",
    "commands.wheels_v": "is tracked, and has no wheels",
}
_AT_ORIGIN = "is tracked, and starts at the origin along x unless it is on a terrain"


class Task(NamedTuple):
    """The task of a tracked robot."""

    speed_mps: float
    yaw_rate_radps: float
    ramp_s: float  # until the command has its full value
    distance_m: float | None  # to the goal, where that is not behind an obstacle
    starts_rolling: bool


def task_of(scenario: Scenario) -> Task:
    """A straight drive, or the first command."""
    straight, rolling = scenario.straight, scenario.start.rolling
    if straight:
        return Task(straight.speed_mps, 0.0, straight.ramp_s, straight.distance_m, rolling)
    command = scenario.commands[0]
    return Task(command.v_mps or 0.0, command.yaw_rate_radps or 0.0, command.ramp, None, rolling)


def unused_keys(robot: Robot, scenario: Scenario) -> Unused:
    """Keys that a tracked robot has no use for in this scenario, and why."""
    found = dict(_UNUSED)
    if scenario.ground.terrain is None:
        found |= dict.fromkeys(("start.x_m", "start.y_m", "start.heading_rad"), _AT_ORIGIN)
    if tracked_robot(robot).flippers is None:
        found["start.flipper_angle_rad"] = "has no flippers"
    return found


def check_task(scenario: Scenario, robot: str) -> None:
    """Tracked robots follow one command, or drive straight to a goal."""
    if scenario.straight:
        return
    if len(scenario.commands) > 1:
        raise SimulationError(
            f"commands: {robot} is tracked, and of tracked robots only one constant command is simulated yet, here are "
            f"{len(scenario.commands)}; keep one, or give a straight drive"
        )
    if scenario.ground.terrain:
        raise SimulationError(
            f"commands: {robot} is tracked, and commands are not simulated on tracks over terrain yet; give straight: "
            f"{{speed_mps, distance_m}}"
        )
    command = scenario.commands[0]
    if command.profile == "quintic":
        raise SimulationError(f"commands[0].profile: {robot} is tracked, and takes step or linear; found quintic")
    for name in ("v_mps", "yaw_rate_radps"):
        problem = out_of_range(name, getattr(command, name) or 0.0, -_FASTEST, _FASTEST)
        if problem:
            raise SimulationError(f"commands[0]: {problem}")
