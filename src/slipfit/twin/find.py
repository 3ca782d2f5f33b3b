"""A robot, or a twin in its place: what commands that drive something are given."""

from pathlib import Path

from slipfit.library import OmniRobot, Robot, any_robot_from_mapping, find_any_robot, find_robot
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


def find_driver(name: str | Path) -> Robot | OmniRobot | Twin:
    """Whatever can be driven: a robot with any drive, or a twin."""
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_any_robot(name)
    data = read_yaml(Path(name))
    if isinstance(data, dict) and str(data.get("schema")).startswith("slipfit/twin/"):
        return Twin.from_mapping(data, where=str(name))
    return any_robot_from_mapping(data, where=str(name))
