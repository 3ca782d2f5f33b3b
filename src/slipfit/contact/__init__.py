"""Contact laws: slip defined once, one law per file, all behind one answer (`touch.Traction`)."""

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.laws import LAWS
from slipfit.contact.touch import Touch, Traction, force, memory_size, remember, traction

__all__ = ["LAWS", "LawInfo", "LawParameter", "Touch", "Traction", "force", "memory_size", "remember", "traction"]
