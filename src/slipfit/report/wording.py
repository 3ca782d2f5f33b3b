"""How names and numbers are written for people: units out of names, as many digits as the spread is worth."""

from math import floor, isfinite, log10

#: Endings of names and the units they stand for; longer endings first.
_UNITS = {
    "per_n": "1/N",
    "kgm2": "kg m²",
    "radps2": "rad/s²",
    "radps": "rad/s",
    "mps2": "m/s²",
    "mps": "m/s",
    "rad": "rad",
    "nm": "N m",
    "hz": "Hz",
    "kg": "kg",
    "m": "m",
    "s": "s",
    "n": "N",
    "a": "A",
    "v": "V",
}

#: Digits of a number that has no spread.
_DIGITS = 4


def unit_of(name: str) -> str:
    """The unit that a name ends in; empty where it is dimensionless."""
    return next((unit for ending, unit in _UNITS.items() if name.endswith(f"_{ending}")), "")


def short(name: str) -> str:
    """The name without its unit: c_long of c_long_per_n."""
    return next((name.removesuffix(f"_{ending}") for ending in _UNITS if name.endswith(f"_{ending}")), name)


def with_unit(name: str) -> str:
    """As an axis wants it: c_long [1/N]."""
    unit = unit_of(name)
    return f"{short(name)} [{unit}]" if unit else name


def number(value: float, std: float | None = None) -> str:
    """With two digits of its spread, or four of its own."""
    if not isfinite(value):
        return "unknown"
    if not std or not isfinite(std):
        return f"{value:.{_DIGITS}g}"
    decimals = 1 - floor(log10(std))
    # A spread larger than the number leaves few digits; very small or large numbers read better with a power of ten.
    if decimals > 8 or abs(value) >= 1e7:
        return f"{value:.{_DIGITS}g}"
    return f"{value:.{max(decimals, 0)}f}"


def with_spread(value: float, std: float | None) -> str:
    """0.00497 ± 0.00011."""
    return number(value) if std is None else f"{number(value, std)} ± {number(std, std)}"


def span(low: float, high: float, std: float | None = None) -> str:
    """0.00479 to 0.00515."""
    return f"{number(low, std)} to {number(high, std)}"


def motion(speed_mps: tuple[float, float], yaw_rate_radps: tuple[float, float]) -> str:
    """0.00 to 1.00 m/s and -1.00 to 1.00 rad/s."""
    slow, fast, right, left = (f"{round(end, 2) + 0.0:.2f}" for end in (*speed_mps, *yaw_rate_radps))  # + 0.0: no minus zero
    return f"{slow} to {fast} m/s and {right} to {left} rad/s"


def percent(part: float) -> str:
    """With two digits: 2.2 %, 0.04 %, 13 %; a hundred and more without a point."""
    if not isfinite(part):
        return "unknown"
    size = abs(100.0 * part)
    decimals = 0 if size >= 9.95 else 1 if size >= 0.095 else 2
    return f"{100.0 * part:.{decimals}f} %"


def listed(words: list[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
