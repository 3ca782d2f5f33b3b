"""Contact laws: slip defined once, one law per file, all behind one answer (`touch.Traction`)."""

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.laws import CURVES, GROUND_LAWS, LAWS, SOILS, TRACK_LAWS, curve
from slipfit.contact.touch import Touch, Traction, force, memory_size, remember, traction

__all__ = [
    "CURVES",
    "GROUND_LAWS",
    "LAWS",
    "SOILS",
    "TRACK_LAWS",
    "LawInfo",
    "LawParameter",
    "Touch",
    "Traction",
    "curve",
    "force",
    "memory_size",
    "remember",
    "traction",
]
