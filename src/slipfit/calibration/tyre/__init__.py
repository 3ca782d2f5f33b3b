"""Tyre curves from measured forces: tables of one wheel's forces against slip, fits of every friction curve, a flexible peer."""

from slipfit.calibration.tyre.columns import TyreColumns
from slipfit.calibration.tyre.data import TyreData, read_tyre_data
from slipfit.calibration.tyre.fit import fit_tyre
from slipfit.calibration.tyre.flexible import Flexible, fit_flexible
from slipfit.calibration.tyre.held_out import HeldOut
from slipfit.calibration.tyre.law_fit import LawFit, fit_law
from slipfit.calibration.tyre.result import TyreFit

__all__ = [
    "Flexible",
    "HeldOut",
    "LawFit",
    "TyreColumns",
    "TyreData",
    "TyreFit",
    "fit_flexible",
    "fit_law",
    "fit_tyre",
    "read_tyre_data",
]
