"""From what a robot shall do to what its controller is told: mixing, setpoints, rounding."""

from slipfit.control.mixing import Mode, mix, unmix
from slipfit.control.rounding import Rounder, Rounding
from slipfit.control.rounding_effect import RoundingEffect, effect_of_rounding, effect_on
from slipfit.control.setpoints import Scale, SideScale

__all__ = [
    "Mode",
    "Rounder",
    "Rounding",
    "RoundingEffect",
    "Scale",
    "SideScale",
    "effect_of_rounding",
    "effect_on",
    "mix",
    "unmix",
]
