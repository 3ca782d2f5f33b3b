"""Parameters with sources, and the robots and grounds that come with slipfit."""

from slipfit.library.catalogue import (
    AnyRobot,
    any_robot_from_mapping,
    citation,
    find_any_robot,
    find_ground,
    find_omni_robot,
    find_robot,
    find_tracked_robot,
    ground_names,
    references,
    robot_names,
)
from slipfit.library.ground import Ground
from slipfit.library.omni_robot import OmniRobot
from slipfit.library.parameter import Parameter, VectorParameter
from slipfit.library.robot import Robot
from slipfit.library.terrain import Terrain, TerrainFile, find_terrain, terrain_names
from slipfit.library.tracked_robot import TrackedRobot, as_wheeled

__all__ = [
    "AnyRobot",
    "Ground",
    "OmniRobot",
    "Parameter",
    "Robot",
    "Terrain",
    "TerrainFile",
    "TrackedRobot",
    "VectorParameter",
    "any_robot_from_mapping",
    "as_wheeled",
    "citation",
    "find_any_robot",
    "find_ground",
    "find_omni_robot",
    "find_robot",
    "find_terrain",
    "find_tracked_robot",
    "ground_names",
    "references",
    "robot_names",
    "terrain_names",
]
