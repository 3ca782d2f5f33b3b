"""Soft ground: Bekker pressure, Janosi shear, slip-sinkage and memory; plates and rigid wheels on it."""

from slipfit.contact.soil.constants import INFO, Soil, bulldozing, soil
from slipfit.contact.soil.plate import (
    Bristles,
    Normal,
    Place,
    Plate,
    bristles_after,
    load_of,
    place_after,
    plate_normal,
    plate_shear,
)
from slipfit.contact.soil.pressure import (
    loosening,
    pressed,
    pressure_constant,
    remembered_slip,
    sinkage,
    slip_sinkage_ratio,
    surface_left,
    virgin,
)
from slipfit.contact.soil.shear import mobilise, saturating, strength

__all__ = [
    "INFO",
    "Bristles",
    "Normal",
    "Place",
    "Plate",
    "Soil",
    "bristles_after",
    "bulldozing",
    "load_of",
    "loosening",
    "mobilise",
    "place_after",
    "plate_normal",
    "plate_shear",
    "pressed",
    "pressure_constant",
    "remembered_slip",
    "saturating",
    "sinkage",
    "slip_sinkage_ratio",
    "soil",
    "strength",
    "surface_left",
    "virgin",
]
