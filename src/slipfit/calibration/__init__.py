"""From a drive log to a calibrated twin: the joint fit, the published protocol [Trimble2022], friction, plans, validation."""

from slipfit.calibration.fit import DriveFit, Fit, Nuisance, Trace
from slipfit.calibration.run import calibrate

__all__ = ["DriveFit", "Fit", "Nuisance", "Trace", "calibrate"]
