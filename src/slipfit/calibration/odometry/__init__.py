"""Odometer, speed and turning constants: from typed readings, from logs of commands and wheels, and from driven paths.

calibrate_odometry, calibrate_paths, run_umbmark    the calibrations below with files and names for records

constants_of(readings, robot)          counts per turn, metres per count, setpoint per speed, effective track
constants_of_log(log, robot)           speed loops and effective track of a log
fit_runs(runs, ...)                    radii and tracks from driven paths of any shape with a true pose
umbmark_of_runs(runs, ...)             the same from squares driven both ways, [BorensteinFeng1996]
check_circle(...)                      errors along and across a circle, [Haas2009]
"""

from slipfit.calibration.odometry.constants import OdometryConstants, constants_of
from slipfit.calibration.odometry.from_log import constants_of_log
from slipfit.calibration.odometry.front import calibrate_odometry, calibrate_paths, run_umbmark
from slipfit.calibration.odometry.path_check import PathCheck, check_circle, check_run
from slipfit.calibration.odometry.path_fit import OdometryFit, fit_runs
from slipfit.calibration.odometry.readings import OdometryReadings, is_readings
from slipfit.calibration.odometry.speed_loop import fit_speed_loops
from slipfit.calibration.odometry.travel import OdometryModel, Run, error_percent, run_of_log
from slipfit.calibration.odometry.umbmark import Umbmark, umbmark, umbmark_of_runs

__all__ = [
    "OdometryConstants",
    "OdometryFit",
    "OdometryModel",
    "OdometryReadings",
    "PathCheck",
    "Run",
    "Umbmark",
    "calibrate_odometry",
    "calibrate_paths",
    "check_circle",
    "check_run",
    "constants_of",
    "constants_of_log",
    "error_percent",
    "fit_runs",
    "fit_speed_loops",
    "is_readings",
    "run_of_log",
    "run_umbmark",
    "umbmark",
    "umbmark_of_runs",
]
