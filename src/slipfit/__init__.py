"""slipfit turns a ground robot's drive log into a calibrated digital twin with slip, and tells where that robot can go.

    >>> import slipfit as sf
    >>> scenario = sf.Scenario(commands=[sf.Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=0.5)])
    >>> print(sf.simulate("p3at", scenario).summary())

Names are loaded when they are used: `import slipfit` costs nothing.
"""

import warnings
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "SlipfitError": "slipfit.errors",
    "Robot": "slipfit.library",
    "Ground": "slipfit.library",
    "find_robot": "slipfit.library",
    "find_ground": "slipfit.library",
    "DriveLog": "slipfit.logs",
    "read_log": "slipfit.logs",
    "inspect_log": "slipfit.logs",
    "Twin": "slipfit.twin",
    "Scenario": "slipfit.simulation",
    "Command": "slipfit.simulation",
    "Trajectory": "slipfit.simulation",
    "Batch": "slipfit.simulation",
    "Outcome": "slipfit.simulation",
    "simulate": "slipfit.simulation",
    "simulate_many": "slipfit.simulation",
    "Study": "slipfit.study",
    "run_study": "slipfit.study",
    "Fit": "slipfit.calibration",
    "calibrate": "slipfit.calibration",
    "Ladder": "slipfit.calibration.ladder",
    "compare": "slipfit.calibration.ladder",
    "Plan": "slipfit.calibration.planned_drive",
    "plan": "slipfit.calibration.plan",
    "Validation": "slipfit.calibration.validation",
    "validate": "slipfit.calibration.validation",
    "SlipEstimate": "slipfit.estimation",
    "estimate": "slipfit.estimation",
    "export": "slipfit.exporters",
    "verify": "slipfit.verification",
}

#: Names that go with the next version and stay in their package: less common than those above.
_IN_PACKAGES = {
    "LAWS": "slipfit.contact",
    "Parameter": "slipfit.library",
    "robot_names": "slipfit.library",
    "ground_names": "slipfit.library",
    "Terrain": "slipfit.library",
    "find_terrain": "slipfit.library",
    "Channel": "slipfit.logs",
    "ColumnMap": "slipfit.logs",
    "join_logs": "slipfit.logs",
    "StudyFile": "slipfit.study",
    "grip_reserve": "slipfit.simulation.climb_reserve",
    "FilterSettings": "slipfit.estimation",
    "OdometryReadings": "slipfit.calibration.odometry",
    "calibrate_odometry": "slipfit.calibration.odometry",
    "calibrate_paths": "slipfit.calibration.odometry",
    "run_umbmark": "slipfit.calibration.odometry",
    "drive": "slipfit.hardware",
}

#: Names that go with the next version: where the object is until then, and what to write instead.
_DEPRECATED = {
    "grip_reserve": (
        "slipfit.simulation.climb_reserve",
        "grip_reserve",
        "`from slipfit.simulation.climb_reserve import grip_reserve`",
    ),
    "OdometryReadings": (
        "slipfit.calibration.odometry",
        "OdometryReadings",
        "`from slipfit.calibration.odometry import OdometryReadings`",
    ),
    "calibrate_odometry": (
        "slipfit.calibration.odometry",
        "calibrate_odometry",
        "`from slipfit.calibration.odometry import calibrate_odometry`",
    ),
    "calibrate_paths": (
        "slipfit.calibration.odometry",
        "calibrate_paths",
        "`from slipfit.calibration.odometry import calibrate_paths`",
    ),
    "simulate_climb": ("slipfit.simulation", "simulate", "sf.simulate, which takes robots with any drive"),
    "climb_many": ("slipfit.simulation", "simulate_many", "sf.simulate_many, which takes robots with any drive"),
    "RunStatus": ("slipfit.simulation", "Outcome", "sf.Outcome"),
    "OmniRobot": ("slipfit.library", "OmniRobot", "sf.Robot, which reads robots with any drive"),
    "find_omni_robot": ("slipfit.library", "omni_robot", "sf.find_robot, which finds robots with any drive"),
    "OmniTwin": ("slipfit.twin", "OmniTwin", "sf.Twin, which reads twins with any drive"),
    "TrackedTwin": ("slipfit.twin", "TrackedTwin", "sf.Twin, which reads twins with any drive"),
    "load_twin": ("slipfit.twin", "Twin.load", "sf.Twin.load, which reads twins with any drive"),
}

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from slipfit.calibration import Fit as Fit
    from slipfit.calibration import calibrate as calibrate
    from slipfit.calibration.ladder import Ladder as Ladder
    from slipfit.calibration.ladder import compare as compare
    from slipfit.calibration.plan import plan as plan
    from slipfit.calibration.planned_drive import Plan as Plan
    from slipfit.calibration.validation import Validation as Validation
    from slipfit.calibration.validation import validate as validate
    from slipfit.errors import SlipfitError as SlipfitError
    from slipfit.estimation import SlipEstimate as SlipEstimate
    from slipfit.estimation import estimate as estimate
    from slipfit.exporters import export as export
    from slipfit.library import Ground as Ground
    from slipfit.library import Robot as Robot
    from slipfit.library import find_ground as find_ground
    from slipfit.library import find_robot as find_robot
    from slipfit.logs import DriveLog as DriveLog
    from slipfit.logs import inspect_log as inspect_log
    from slipfit.logs import read_log as read_log
    from slipfit.simulation import Batch as Batch
    from slipfit.simulation import Command as Command
    from slipfit.simulation import Outcome as Outcome
    from slipfit.simulation import Scenario as Scenario
    from slipfit.simulation import Trajectory as Trajectory
    from slipfit.simulation import simulate as simulate
    from slipfit.simulation import simulate_many as simulate_many
    from slipfit.study import Study as Study
    from slipfit.study import run_study as run_study
    from slipfit.twin import Twin as Twin
    from slipfit.verification import verify as verify


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _IN_PACKAGES:
        home = _IN_PACKAGES[name]
        instead = f"`from {home} import {name}`"
        warnings.warn(f"sf.{name} goes with the next version; take {instead}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(home), name)
    if name in _DEPRECATED:
        home, attribute, instead = _DEPRECATED[name]
        warnings.warn(f"sf.{name} goes with the next version; take {instead}", DeprecationWarning, stacklevel=2)
        return attrgetter(attribute)(import_module(home))
    raise AttributeError(f"module 'slipfit' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
