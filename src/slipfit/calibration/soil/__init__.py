"""Soils from tests: Bekker's constants from plates, Janosi's from shear, wheels', a guess from a cone."""

from slipfit.calibration.soil.columns import PlateColumns, ShearColumns, WheelColumns
from slipfit.calibration.soil.cone import soil_from_cone
from slipfit.calibration.soil.data import PlateData, ShearData, WheelData, read_plates, read_shear, read_wheel
from slipfit.calibration.soil.plates import fit_plates
from slipfit.calibration.soil.result import SoilFit
from slipfit.calibration.soil.shear import fit_shear
from slipfit.calibration.soil.wheel import errors_of, fit_wheel, predict_wheel

__all__ = [
    "PlateColumns",
    "PlateData",
    "ShearColumns",
    "ShearData",
    "SoilFit",
    "WheelColumns",
    "WheelData",
    "errors_of",
    "fit_plates",
    "fit_shear",
    "fit_wheel",
    "predict_wheel",
    "read_plates",
    "read_shear",
    "read_wheel",
    "soil_from_cone",
]
