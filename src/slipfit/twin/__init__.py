"""The twin: robot, grounds and constants with intervals, in one file that every later stage reads."""

from slipfit.twin.find import find_driver, find_robot_or_twin, find_wheeled
from slipfit.twin.fitted import Covariance, FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround, FittedOn
from slipfit.twin.kinematics import AmclNoise, FittedKinematics, OdometryNoise
from slipfit.twin.powertrain import FittedPowertrain, Side
from slipfit.twin.twin import LogOrigin, Provenance, Twin

__all__ = [
    "AmclNoise",
    "Covariance",
    "FittedGround",
    "FittedKinematics",
    "FittedOn",
    "FittedParameter",
    "FittedPowertrain",
    "LogOrigin",
    "OdometryNoise",
    "Provenance",
    "Side",
    "Status",
    "Twin",
    "find_driver",
    "find_robot_or_twin",
    "find_wheeled",
]
