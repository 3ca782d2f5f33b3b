"""Omnidirectional robots from logs: constants, slip by direction of motion, friction, motors, tilt tests.

runs_of_logs(logs, robot)               logs with encoders and a pose as runs
calibrate_omni(runs, robot, ...)        all of the below on one surface, judged on runs held out
fit_slip_map, fit_constants             smooth map over the direction of motion; radii, axle angles, centre distance
fit_friction                            arctan friction of steady lines; mu_W by motor currents
tilt_tests(angles)                      four coefficients of rollers and rigid parts
fit_motors(logs)                        R_a, L_a, k where the logs tell them, else bounds
"""

from slipfit.calibration.omni.balance import Contact, Layout, steady_motion
from slipfit.calibration.omni.calibration import OmniCalibration, Score, calibrate_omni, end_percent, runs_of_logs
from slipfit.calibration.omni.constants import OmniConstants, fit_constants
from slipfit.calibration.omni.friction_fit import OmniFriction, fit_friction
from slipfit.calibration.omni.motor import MotorConstants, fit_motors
from slipfit.calibration.omni.runs import OmniRun, omni_run_of_log
from slipfit.calibration.omni.slip_map import Heading, SlipMap
from slipfit.calibration.omni.slip_map_fit import fit_slip_map
from slipfit.calibration.omni.tilt import COEFFICIENTS, OmniTilt, tilt_tests

__all__ = [
    "COEFFICIENTS",
    "Contact",
    "Heading",
    "Layout",
    "MotorConstants",
    "OmniCalibration",
    "OmniConstants",
    "OmniFriction",
    "OmniRun",
    "OmniTilt",
    "Score",
    "SlipMap",
    "calibrate_omni",
    "end_percent",
    "fit_constants",
    "fit_friction",
    "fit_motors",
    "fit_slip_map",
    "omni_run_of_log",
    "runs_of_logs",
    "steady_motion",
    "tilt_tests",
]
