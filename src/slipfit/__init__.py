"""slipfit turns a ground robot's drive log into a calibrated digital twin with slip, and tells where that robot can go.

    >>> import slipfit as sf
    >>> scenario = sf.Scenario(commands=[sf.Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=0.5)])
    >>> print(sf.simulate("p3at", scenario).summary())

Names are loaded when they are used: `import slipfit` costs nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "SlipfitError": "slipfit.errors",
    "LAWS": "slipfit.contact",
    "Parameter": "slipfit.library",
    "Robot": "slipfit.library",
    "OmniRobot": "slipfit.library",
    "Ground": "slipfit.library",
    "find_robot": "slipfit.library",
    "find_omni_robot": "slipfit.library",
    "find_ground": "slipfit.library",
    "robot_names": "slipfit.library",
    "ground_names": "slipfit.library",
    "Terrain": "slipfit.library",
    "find_terrain": "slipfit.library",
    "Channel": "slipfit.logs",
    "ColumnMap": "slipfit.logs",
    "DriveLog": "slipfit.logs",
    "read_log": "slipfit.logs",
    "inspect_log": "slipfit.logs",
    "join_logs": "slipfit.logs",
    "Twin": "slipfit.twin",
    "TrackedTwin": "slipfit.twin",
    "OmniTwin": "slipfit.twin",
    "load_twin": "slipfit.twin",
    "Scenario": "slipfit.simulate",
    "Command": "slipfit.simulate",
    "Trajectory": "slipfit.simulate",
    "Batch": "slipfit.simulate",
    "RunStatus": "slipfit.simulate",
    "simulate": "slipfit.simulate",
    "simulate_many": "slipfit.simulate",
    "Study": "slipfit.study",
    "StudyFile": "slipfit.study",
    "run_study": "slipfit.study",
    "simulate_climb": "slipfit.simulate.climb",
    "climb_many": "slipfit.simulate.climb",
    "grip_reserve": "slipfit.simulate.climb_reserve",
    "Fit": "slipfit.calibrate",
    "calibrate": "slipfit.calibrate",
    "Ladder": "slipfit.calibrate.ladder",
    "compare": "slipfit.calibrate.ladder",
    "Plan": "slipfit.calibrate.planned_drive",
    "plan": "slipfit.calibrate.plan",
    "Validation": "slipfit.calibrate.validation",
    "validate": "slipfit.calibrate.validation",
    "SlipEstimate": "slipfit.estimate",
    "FilterSettings": "slipfit.estimate",
    "estimate": "slipfit.estimate",
    "export": "slipfit.export",
    "OdometryReadings": "slipfit.calibrate.odometry",
    "calibrate_odometry": "slipfit.calibrate.odometry",
    "calibrate_paths": "slipfit.calibrate.odometry",
    "run_umbmark": "slipfit.calibrate.odometry",
    "drive": "slipfit.drive",
}

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from slipfit.calibrate import Fit as Fit
    from slipfit.calibrate import calibrate as calibrate
    from slipfit.calibrate.ladder import Ladder as Ladder
    from slipfit.calibrate.ladder import compare as compare
    from slipfit.calibrate.odometry import OdometryReadings as OdometryReadings
    from slipfit.calibrate.odometry import calibrate_odometry as calibrate_odometry
    from slipfit.calibrate.odometry import calibrate_paths as calibrate_paths
    from slipfit.calibrate.odometry import run_umbmark as run_umbmark
    from slipfit.calibrate.plan import plan as plan
    from slipfit.calibrate.planned_drive import Plan as Plan
    from slipfit.calibrate.validation import Validation as Validation
    from slipfit.calibrate.validation import validate as validate
    from slipfit.contact import LAWS as LAWS
    from slipfit.drive import drive as drive
    from slipfit.errors import SlipfitError as SlipfitError
    from slipfit.estimate import FilterSettings as FilterSettings
    from slipfit.estimate import SlipEstimate as SlipEstimate
    from slipfit.estimate import estimate as estimate
    from slipfit.export import export as export
    from slipfit.library import Ground as Ground
    from slipfit.library import OmniRobot as OmniRobot
    from slipfit.library import Parameter as Parameter
    from slipfit.library import Robot as Robot
    from slipfit.library import Terrain as Terrain
    from slipfit.library import find_ground as find_ground
    from slipfit.library import find_omni_robot as find_omni_robot
    from slipfit.library import find_robot as find_robot
    from slipfit.library import find_terrain as find_terrain
    from slipfit.library import ground_names as ground_names
    from slipfit.library import robot_names as robot_names
    from slipfit.logs import Channel as Channel
    from slipfit.logs import ColumnMap as ColumnMap
    from slipfit.logs import DriveLog as DriveLog
    from slipfit.logs import inspect_log as inspect_log
    from slipfit.logs import join_logs as join_logs
    from slipfit.logs import read_log as read_log
    from slipfit.simulate import Batch as Batch
    from slipfit.simulate import Command as Command
    from slipfit.simulate import RunStatus as RunStatus
    from slipfit.simulate import Scenario as Scenario
    from slipfit.simulate import Trajectory as Trajectory
    from slipfit.simulate import simulate as simulate
    from slipfit.simulate import simulate_many as simulate_many
    from slipfit.simulate.climb import climb_many as climb_many
    from slipfit.simulate.climb import simulate_climb as simulate_climb
    from slipfit.simulate.climb_reserve import grip_reserve as grip_reserve
    from slipfit.study import Study as Study
    from slipfit.study import StudyFile as StudyFile
    from slipfit.study import run_study as run_study
    from slipfit.twin import OmniTwin as OmniTwin
    from slipfit.twin import TrackedTwin as TrackedTwin
    from slipfit.twin import Twin as Twin
    from slipfit.twin import load_twin as load_twin


class _FrontDoor(ModuleType):
    """Some functions share their name with the package they live in (simulate). The front door shows the function, so the
    import system may not put the package in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'slipfit' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
