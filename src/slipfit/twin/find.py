"""What drives: a robot, or a twin in its place, by name, file or record."""

from pathlib import Path
from typing import Any, NamedTuple

from slipfit.library import Robot, any_robot, find_robot
from slipfit.library.files import read_yaml
from slipfit.twin.record import Twin


class Driver(NamedTuple):
    """Who drives: a robot, and its twin where there is one."""

    robot: Robot
    twin: Twin | None = None


def find_driver(given: Driver | Robot | Twin | str | Path) -> Driver:
    """Whatever can be driven: a record, a robot of the library by name, or what a .yaml file holds, as its `schema` says."""
    if isinstance(given, str | Path):
        given = _read(given)
    if isinstance(given, Driver):
        return given
    return Driver(given.robot, given) if isinstance(given, Twin) else Driver(any_robot(given))


def _read(name: str | Path) -> Robot | Twin:
    if Path(name).suffix not in (".yaml", ".yml"):
        return find_robot(name)
    data = read_yaml(Path(name))
    return (Twin if _is_twin(data) else Robot).from_mapping(data, where=str(name))


def _is_twin(data: Any) -> bool:
    return isinstance(data, dict) and str(data.get("schema")).startswith("slipfit/twin/")
