"""From a drive log to a calibrated twin: document 000's protocol, the joint fit, Coulomb's coefficient, plans and validation."""

from slipfit.calibrate.fit import DriveFit, Fit, Nuisance, Trace
from slipfit.calibrate.run import calibrate

__all__ = ["DriveFit", "Fit", "Nuisance", "Trace", "calibrate"]
