"""The twin: robot, grounds and constants with intervals, in one file that every later stage reads."""

from slipfit.twin.find import find_robot_or_twin
from slipfit.twin.fitted import Covariance, FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround, FittedOn
from slipfit.twin.twin import LogOrigin, Powertrain, Provenance, Twin

__all__ = [
    "Covariance",
    "FittedGround",
    "FittedOn",
    "FittedParameter",
    "LogOrigin",
    "Powertrain",
    "Provenance",
    "Status",
    "Twin",
    "find_robot_or_twin",
]
