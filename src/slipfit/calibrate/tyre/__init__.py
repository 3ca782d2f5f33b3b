"""Tyre curves from measured forces: tables of one wheel's forces against slip, fits of every friction curve, a flexible peer."""

from slipfit.calibrate.tyre.columns import TyreColumns
from slipfit.calibrate.tyre.data import TyreData, read_tyre_data
from slipfit.calibrate.tyre.fit import fit_tyre
from slipfit.calibrate.tyre.flexible import Flexible, fit_flexible
from slipfit.calibrate.tyre.held_out import HeldOut
from slipfit.calibrate.tyre.law_fit import LawFit, fit_law
from slipfit.calibrate.tyre.result import TyreFit

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
