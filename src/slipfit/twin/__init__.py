"""The twin: robot, grounds and constants with intervals, in one file that every later stage reads."""

from slipfit.twin.find import AnyTwin, find_climber, find_driver, find_robot_or_twin, find_wheeled, load_twin
from slipfit.twin.fitted import Covariance, FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround, FittedOn
from slipfit.twin.kinematics import AmclNoise, FittedKinematics, OdometryNoise
from slipfit.twin.omni import OmniTwin
from slipfit.twin.powertrain import FittedPowertrain, Side
from slipfit.twin.record import LogOrigin, Provenance, TwinFile
from slipfit.twin.tracked import TrackBalance, TrackedTwin, TrackGround
from slipfit.twin.twin import Twin

__all__ = [
    "AmclNoise",
    "AnyTwin",
    "Covariance",
    "FittedGround",
    "FittedKinematics",
    "FittedOn",
    "FittedParameter",
    "FittedPowertrain",
    "LogOrigin",
    "OdometryNoise",
    "OmniTwin",
    "Provenance",
    "Side",
    "Status",
    "TrackBalance",
    "TrackGround",
    "TrackedTwin",
    "Twin",
    "TwinFile",
    "find_climber",
    "find_driver",
    "find_robot_or_twin",
    "find_wheeled",
    "load_twin",
]
