"""Units of the outside world as factors: the only place that asks pint."""

import functools
import re
from typing import TYPE_CHECKING, Any

from slipfit.errors import ParameterError

if TYPE_CHECKING:
    import pint

#: Products and quotients of named units with small powers. pint evaluates what it is given, so 9**9**9 must not reach it.
_UNIT = re.compile(r"(?:1|[A-Za-zµμΩ°]+)(?:(?:\^|\*\*)-?\d)?(?:\s*[*/·]\s*(?:[A-Za-zµμΩ°]+)(?:(?:\^|\*\*)-?\d)?){0,4}")

#: What people write, and what pint would take for something else.
_MEANT = {"°": "deg", "°/s": "deg/s", "g": "g_0", "ticks": "count", "tick": "count", "rev": "turn"}


@functools.cache
def _registry() -> "pint.UnitRegistry[Any]":
    import pint  # half a second: loaded when a unit differs from ours

    return pint.UnitRegistry()


@functools.lru_cache(maxsize=256)
def factor(unit: str, to: str) -> float:
    """What a number in `unit` is multiplied with to be in `to`: factor('rpm', 'rad/s') is 2π/60."""
    if unit == to:
        return 1.0
    if not _UNIT.fullmatch(unit) or len(unit) > 40:
        raise ParameterError(f"unit {unit[:40]!r} is not understood; expected something like m/s, deg/s, rpm, in or ms")
    if "hz" in unit.lower() and "rad" in to:
        raise ParameterError(f"unit '{unit}' of a turning rate may mean turns or radians; write turn/s or rad/s")
    import pint

    registry = _registry()
    try:
        return float(registry.Quantity(1.0, _MEANT.get(unit, unit).replace("·", "*")).to(to).magnitude)
    except pint.errors.UndefinedUnitError:
        raise ParameterError(f"unit '{unit}' is not known; expected something that measures {to}, as {_like(to)}") from None
    except pint.errors.DimensionalityError:
        raise ParameterError(f"unit '{unit}' does not measure what is needed; expected a unit like {to} or {_like(to)}") from None
    except Exception as error:  # pint's parser meets strange text with whatever Python raises there
        raise ParameterError(f"unit '{unit}' is not understood ({type(error).__name__}); expected a unit like {to}") from None


def _like(unit: str) -> str:
    examples = {"m": "mm or in", "rad": "deg or turn", "rad/s": "deg/s or rpm", "m/s": "km/h or mm/s", "m/s**2": "g", "s": "ms"}
    return examples.get(unit, f"m{unit}")
