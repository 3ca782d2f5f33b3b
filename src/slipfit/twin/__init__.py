"""The twin: robot, grounds and constants with intervals, in one file that every later stage reads."""

from slipfit.twin.drives import skid_steer_twin, tracked_twin
from slipfit.twin.find import Driver, find_driver
from slipfit.twin.fitted import Covariance, FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround, FittedOn
from slipfit.twin.kinematics import AmclNoise, FittedKinematics, OdometryNoise
from slipfit.twin.omni import OmniTwin
from slipfit.twin.powertrain import FittedPowertrain, Side
from slipfit.twin.record import LogOrigin, Provenance, Twin
from slipfit.twin.skid_steer import SkidSteerTwin
from slipfit.twin.tracked import TrackBalance, TrackedTwin, TrackGround

__all__ = [
    "AmclNoise",
    "Covariance",
    "Driver",
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
    "SkidSteerTwin",
    "Status",
    "TrackBalance",
    "TrackGround",
    "TrackedTwin",
    "Twin",
    "find_driver",
    "skid_steer_twin",
    "tracked_twin",
]
