"""Parameters with sources, and the robots and grounds that come with slipfit."""

from slipfit.library.catalogue import (
    citation,
    find_ground,
    find_robot,
    ground_names,
    references,
    robot_names,
)
from slipfit.library.ground import Ground
from slipfit.library.parameter import Parameter, VectorParameter
from slipfit.library.robot import Robot

__all__ = [
    "Ground",
    "Parameter",
    "Robot",
    "VectorParameter",
    "citation",
    "find_ground",
    "find_robot",
    "ground_names",
    "references",
    "robot_names",
]
