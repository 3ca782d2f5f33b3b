"""Soft ground: Bekker pressure, Janosi shear, slip-sinkage and memory; plates and rigid wheels on it."""

from slipfit.contact.soil.constants import INFO, Soil, bulldozing, soil
from slipfit.contact.soil.many_wheels import WheelStates, wheel_on_soil
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
    reach_of,
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
from slipfit.contact.soil.wheel import Rim, fresh, sinkage_of, steady_wheel, stresses

__all__ = [
    "INFO",
    "Bristles",
    "Normal",
    "Place",
    "Plate",
    "Rim",
    "Soil",
    "WheelStates",
    "bristles_after",
    "bulldozing",
    "fresh",
    "load_of",
    "loosening",
    "mobilise",
    "place_after",
    "plate_normal",
    "plate_shear",
    "pressed",
    "pressure_constant",
    "reach_of",
    "remembered_slip",
    "saturating",
    "sinkage",
    "sinkage_of",
    "slip_sinkage_ratio",
    "soil",
    "steady_wheel",
    "strength",
    "stresses",
    "surface_left",
    "virgin",
    "wheel_on_soil",
]
