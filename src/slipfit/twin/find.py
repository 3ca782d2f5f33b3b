"""A robot, or a twin in its place: what commands that drive something are given."""

from pathlib import Path
from typing import Any

from slipfit.errors import ParameterError
from slipfit.library import AnyRobot, OmniRobot, Robot, TrackedRobot, any_robot_from_mapping, find_any_robot, find_robot
from slipfit.library.files import read_yaml
from slipfit.twin.omni import OmniTwin
from slipfit.twin.record import drive_in
from slipfit.twin.tracked import TrackedTwin
from slipfit.twin.twin import Twin

AnyTwin = Twin | TrackedTwin | OmniTwin

#: Twins by what their robot's `drive` says.
TWINS: dict[str, type[AnyTwin]] = {model.drive: model for model in (Twin, TrackedTwin, OmniTwin)}


def load_twin(path: str | Path) -> AnyTwin:
    """A twin's file, whatever the robot's drive."""
    return twin_from_mapping(read_yaml(Path(path)), where=str(path))


def twin_from_mapping(data: Any, *, where: str) -> AnyTwin:
    """A twin from what its file holds, as the `drive` of its robot says."""
    return TWINS.get(drive_in(data), Twin).from_mapping(data, where=where)


def find_robot_or_twin(name: str | Path) -> Robot | Twin:
    """A robot of the library by name, or what a .yaml file holds: a robot or a twin, as its `schema` says."""
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_robot(name)
    data = read_yaml(Path(name))
    model = Twin if _is_twin(data) else Robot
    return model.from_mapping(data, where=str(name))


def find_wheeled(name: str | Path) -> Robot | OmniRobot | Twin | OmniTwin:
    """Whatever drives on wheels; a tracked robot is told where it is at home."""
    found = find_driver(name)
    if isinstance(found, TrackedRobot | TrackedTwin):
        raise ParameterError(f"{name}: drive is tracked, and this works with robots on wheels; take simulate_climb or climb_many")
    return found


def find_climber(name: str | Path) -> TrackedRobot | TrackedTwin:
    """Whatever drives on tracks, likewise."""
    found = find_driver(name)
    if not isinstance(found, TrackedRobot | TrackedTwin):
        raise ParameterError(f"{name}: drive is {found.drive}; expected a tracked robot (`slipfit robots` shows them all)")
    return found


def find_driver(name: str | Path) -> AnyRobot | AnyTwin:
    """Whatever can be driven: a robot with any drive, or a twin of one."""
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_any_robot(name)
    data = read_yaml(Path(name))
    return twin_from_mapping(data, where=str(name)) if _is_twin(data) else any_robot_from_mapping(data, where=str(name))


def _is_twin(data: Any) -> bool:
    return isinstance(data, dict) and str(data.get("schema")).startswith("slipfit/twin/")
