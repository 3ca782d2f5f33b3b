"""A robot, or a twin in its place: what commands that drive something are given."""

from pathlib import Path

from slipfit.errors import ParameterError
from slipfit.library import AnyRobot, OmniRobot, Robot, TrackedRobot, any_robot_from_mapping, find_any_robot, find_robot
from slipfit.library.files import read_yaml
from slipfit.twin.twin import Twin


def find_robot_or_twin(name: str | Path) -> Robot | Twin:
    """A robot of the library by name, or what a .yaml file holds: a robot or a twin, as its `schema` says."""
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_robot(name)
    data = read_yaml(Path(name))
    kind = data.get("schema") if isinstance(data, dict) else None
    model = Twin if str(kind).startswith("slipfit/twin/") else Robot
    return model.from_mapping(data, where=str(name))


def find_wheeled(name: str | Path) -> Robot | OmniRobot | Twin:
    """Whatever drives on wheels; a tracked robot is told where it is at home."""
    found = find_driver(name)
    if isinstance(found, TrackedRobot):
        raise ParameterError(f"{name}: drive is tracked, and this works with robots on wheels; take simulate_climb or climb_many")
    return found


def find_driver(name: str | Path) -> AnyRobot | Twin:
    """Whatever can be driven: a robot with any drive, or a twin."""
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_any_robot(name)
    data = read_yaml(Path(name))
    if isinstance(data, dict) and str(data.get("schema")).startswith("slipfit/twin/"):
        return Twin.from_mapping(data, where=str(name))
    return any_robot_from_mapping(data, where=str(name))
