"""Parameters with sources, and the robots and grounds that come with slipfit."""

from slipfit.library.catalogue import citation, find_ground, find_robot, ground_names, references, robot_names
from slipfit.library.drives import any_robot, omni_robot, skid_steer_robot, tracked_robot
from slipfit.library.ground import Ground
from slipfit.library.omni_robot import OmniRobot
from slipfit.library.parameter import Parameter, VectorParameter
from slipfit.library.robot import Robot
from slipfit.library.skid_steer_robot import SkidSteerRobot
from slipfit.library.terrain import Terrain, TerrainFile, find_terrain, terrain_names
from slipfit.library.tracked_robot import TrackedRobot

__all__ = [
    "Ground",
    "OmniRobot",
    "Parameter",
    "Robot",
    "SkidSteerRobot",
    "Terrain",
    "TerrainFile",
    "TrackedRobot",
    "VectorParameter",
    "any_robot",
    "citation",
    "find_ground",
    "find_robot",
    "find_terrain",
    "ground_names",
    "omni_robot",
    "references",
    "robot_names",
    "skid_steer_robot",
    "terrain_names",
    "tracked_robot",
]
