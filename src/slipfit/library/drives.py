"""The kinds of robots, and how a function asks for the one that it works with."""

from pathlib import Path
from typing import TypeVar

from slipfit.errors import ParameterError
from slipfit.library.catalogue import find_robot
from slipfit.library.differential_robot import DifferentialRobot
from slipfit.library.omni_robot import OmniRobot
from slipfit.library.robot import Robot
from slipfit.library.skid_steer_robot import SkidSteerRobot
from slipfit.library.tracked_robot import TrackedRobot

#: File models by what `drive` says. A new drive is one line here.
ROBOTS: dict[str, type[Robot]] = {
    "skid_steer": SkidSteerRobot,
    "differential": DifferentialRobot,
    "omni": OmniRobot,
    "tracked": TrackedRobot,
}

Kind = TypeVar("Kind", bound=Robot)


def skid_steer_robot(given: Robot | str | Path, use: str = "this") -> SkidSteerRobot:
    """The robot, or the one of that name or file; another drive is refused for what `use` names."""
    return _of_kind(SkidSteerRobot, given, use)


def omni_robot(given: Robot | str | Path, use: str = "this") -> OmniRobot:
    """An omnidirectional robot, likewise."""
    return _of_kind(OmniRobot, given, use)


def tracked_robot(given: Robot | str | Path, use: str = "this") -> TrackedRobot:
    """A tracked robot, likewise."""
    return _of_kind(TrackedRobot, given, use)


def any_robot(given: Robot | str | Path) -> Robot:
    """The robot, or the one of that name or file, whatever its drive."""
    robot = find_robot(given) if isinstance(given, str | Path) else given
    if not isinstance(robot, Robot):
        raise ParameterError(
            f"robot is of type {type(robot).__name__}; expected a Robot, a name of the library, or the path of a file"
        )
    return robot


def _of_kind(kind: type[Kind], given: Robot | str | Path, use: str) -> Kind:
    robot = any_robot(given)
    if type(robot) is not kind:  # a kind may share code with another one, and still be none of its robots
        raise ParameterError(f"{given if isinstance(given, str | Path) else robot.name}: {kind.refusal(robot.drive, use)}")
    return robot
