"""A number that knows where it comes from, and how files may write it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as shown  # what was found in a file, at most a line of it
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from slipfit.errors import ParameterError

ASSUMED = "assumed"

#: Slips of the pen by the unit at the end of a name: (what was probably meant, factor to the right unit).
_USUAL_MISTAKES = {
    "m": (("millimetres", 1e-3), ("centimetres", 1e-2)),
    "kg": (("grams", 1e-3),),
    "s": (("milliseconds", 1e-3),),
    "mps": (("mm/s", 1e-3),),
    "kgm2": (("kg mm²", 1e-6), ("kg cm²", 1e-4)),
}

#: Angles up to a right one that are out of range were meant in radians all the same; larger ones are more likely degrees.
_LIKELY_RAD = 1.5708

#: Units at the end of names, as they stand in sentences.
_UNITS = {
    "kg": "kg",
    "m": "m",
    "s": "s",
    "rad": "rad",
    "hz": "Hz",
    "n": "N",
    "nm": "N m",
    "v": "V",
    "h": "H",
    "ohm": "ohm",
    "pa": "Pa",
    "kgm2": "kg m²",
    "kgpm3": "kg/m³",
    "mps": "m/s",
    "radps": "rad/s",
    "mps2": "m/s²",
    "radps2": "rad/s²",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One physical number and where it comes from. The name ends in its unit; dimensionless ones have none."""

    name: str
    value: float
    source: str = ASSUMED  # key of references.bib, digest of a log, or "assumed"
    std: float | None = None  # None: never estimated
    note: str = ""
    lower_bound: float = -math.inf
    upper_bound: float = math.inf

    def __post_init__(self) -> None:
        problem = out_of_range(self.name, self.value, self.lower_bound, self.upper_bound)
        if problem:
            raise ParameterError(problem)
        _check_std(self.name, self.std)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:g}"
        return f"{self.name} = {self.value:g}{spread} ({self.source})"

    def to_file(self) -> dict[str, Any]:
        """As it stands in a file."""
        return _record(self.value, self.std, self.source, self.note)


@dataclass(frozen=True, slots=True)
class VectorParameter:
    """Several numbers of one kind: a position, or the positions of all wheels."""

    name: str
    value: tuple[Any, ...]  # floats, or tuples of floats
    source: str = ASSUMED
    std: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        _check_std(self.name, self.std)

    def to_file(self) -> dict[str, Any]:
        """As it stands in a file."""
        lists = [list(entry) if isinstance(entry, tuple) else entry for entry in self.value]
        return _record(lists, self.std, self.source, self.note)


def _record(value: Any, std: float | None, source: str, note: str) -> dict[str, Any]:
    record = {"value": value, "std": std, "source": source, "note": note}
    return {key: entry for key, entry in record.items() if entry not in (None, "")}


def _check_std(name: str, std: float | None) -> None:
    if std is not None and not (math.isfinite(std) and std >= 0.0):
        raise ParameterError(f"the std of {name} is {std:g}; a spread is finite and not negative")


def unit_of(name: str) -> str:
    """Unit at the end of a name: 'mass_kg' -> 'kg'. Empty where there is none, or a quotient such as 'c_long_per_n'."""
    last = name.rsplit("_", 1)[-1]
    return last if "_" in name and "_per_" not in name and last in _UNITS else ""


def unit_words(name: str) -> str:
    """Unit at the end of a name as it stands in sentences: 'mass_kg' -> 'kg', 'density_kgpm3' -> 'kg/m³'; empty without one."""
    return _UNITS.get(unit_of(name), "")


def plain(value: float, digits: int) -> str:
    """A number of so many digits without an exponent, as long as it has neither ten digits nor four noughts behind the point."""
    short = f"{value:.{digits}g}"
    if "e" not in short or not 1e-4 <= abs(value) < 1e9:
        return short
    return f"{float(short):.12f}".rstrip("0").rstrip(".")


def in_degrees(name: str, value: float, std: float | None) -> str:
    """An angle in degrees, in brackets, behind its unit; nothing for other numbers."""
    if unit_of(name) != "rad":
        return ""
    spread = "" if std is None else f" ± {plain(math.degrees(std), 2)}°"
    return f" ({plain(math.degrees(value), 4)}°{spread})"


def out_of_range(name: str, value: float, lower: float, upper: float) -> str:
    """A sentence when the value cannot be right, else nothing."""
    unit = unit_of(name)
    tail = f" {_UNITS[unit]}" if unit else ""
    if math.isnan(value):
        return f"{name} is not a number; expected between {lower:g} and {upper:g}{tail}"
    if lower <= value <= upper:
        return ""
    sentence = f"{name} = {value:g}{tail} lies outside [{lower:g}, {upper:g}]{tail}"
    if unit == "rad" and math.isfinite(value):
        return sentence + _of_an_angle(value, lower, upper)
    for meant, factor in _USUAL_MISTAKES.get(unit, ()):
        if lower <= value * factor <= upper:
            return f"{sentence}; if you meant {meant}, write {value * factor:g}"
    return sentence


def _of_an_angle(value: float, lower: float, upper: float) -> str:
    """What an angle out of range is in degrees, or would be if it were meant in degrees."""
    ends = " to ".join(f"{math.degrees(end):.4g}°" for end in (lower, upper) if math.isfinite(end))
    if abs(value) <= _LIKELY_RAD:
        return f", {math.degrees(value):.4g}° where {ends} are allowed"
    meant = math.radians(value)
    if lower <= meant <= upper:
        return f"; if you meant degrees, write {meant:g}"
    return f"; nor is {value:g}° = {meant:.5g} rad within {ends}"


# --- how files write numbers -----------------------------------------------------------------------------------------


def _split(given: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Value, and what else the record says. A plain number is an exact or assumed value."""
    if not isinstance(given, Mapping):
        return given, {}
    unknown = sorted(map(str, set(given) - {"value", "std", "source", "note"}))
    if unknown:
        raise ValueError(f"{name} has an unknown entry '{unknown[0]}'; expected value, std, source or note")
    if "value" not in given:
        raise ValueError(f"{name} has no value; write a number, or {{value: ..., std: ..., source: ...}}")
    rest = {key: entry for key, entry in given.items() if key != "value" and entry not in (None, "")}
    for key in ("source", "note"):
        if key in rest and not isinstance(rest[key], str):
            raise ValueError(f"{key} of {name} is {shown(rest[key])}; expected text")
    if "std" in rest:
        rest["std"] = as_float(rest["std"], f"the std of {name}")
    return given["value"], rest


def as_float(given: Any, name: str) -> float:
    """A float, or a sentence. YAML reads 1e-3 as text, which is understood; True is not a number."""
    if isinstance(given, bool) or not isinstance(given, Real | str):
        raise ValueError(f"{name} is {shown(given)}; expected a number")
    try:
        return float(given)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is {shown(given)}; expected a number in the unit of its name") from None


_RECORD_KEYS = {
    "std": {"type": "number", "minimum": 0},
    "source": {"type": "string"},
    "note": {"type": "string"},
}


def _record_schema(value: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of a value that may be plain or a record."""
    record = {
        "type": "object",
        "properties": {"value": value, **_RECORD_KEYS},
        "required": ["value"],
        "additionalProperties": False,
    }
    return {"anyOf": [value, record]}


def _number_schema(lower: float, upper: float) -> dict[str, Any]:
    """JSON schema of a number with finite bounds only where it has some."""
    bounds = {"minimum": lower, "maximum": upper}
    return {"type": "number", **{key: bound for key, bound in bounds.items() if math.isfinite(bound)}}


@dataclass(frozen=True)
class Between:
    """Marks a number in a file: `Annotated[Parameter, Between(0, 1)]`."""

    lower: float = -math.inf
    upper: float = math.inf

    def parse(self, given: Any, info: ValidationInfo) -> Parameter:
        if isinstance(given, Parameter):
            return given
        return self.named(info.field_name or "value", given)

    def named(self, name: str, given: Any) -> Parameter:
        """The parameter of that name from what a file says."""
        value, rest = _split(given, name)
        number = as_float(value, name)
        try:
            return Parameter(name=name, value=number, lower_bound=self.lower, upper_bound=self.upper, **rest)
        except ParameterError as error:
            raise ValueError(str(error)) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self.parse, serialization=core_schema.plain_serializer_function_ser_schema(lambda p: p.to_file())
        )

    def json_schema(self) -> dict[str, Any]:
        return _record_schema(_number_schema(self.lower, self.upper))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.json_schema()


@dataclass(frozen=True)
class Vectors:
    """Marks a vector, or a list of vectors, of a given size: `Annotated[VectorParameter, Vectors(3)]`."""

    size: int
    is_list: bool = False
    largest: float = 20.0  # m

    def parse(self, given: Any, info: ValidationInfo) -> VectorParameter:
        if isinstance(given, VectorParameter):
            return given
        name = info.field_name or "value"
        value, rest = _split(given, name)
        if self.is_list:
            if not isinstance(value, list | tuple):
                raise ValueError(f"{name} is {shown(value)}; expected a list of [x, y] positions")
            entries: tuple[Any, ...] = tuple(self._vector(f"{name}[{k}]", entry) for k, entry in enumerate(value))
        else:
            entries = self._vector(name, value)
        try:
            return VectorParameter(name, entries, **rest)
        except ParameterError as error:
            raise ValueError(str(error)) from None

    def _vector(self, name: str, entries: Any) -> tuple[float, ...]:
        if not isinstance(entries, list | tuple) or len(entries) != self.size:
            raise ValueError(f"{name} is {shown(entries)}; expected {self.size} numbers in brackets")
        numbers = tuple(as_float(entry, name) for entry in entries)
        for number in numbers:
            problem = out_of_range("position_m", number, -self.largest, self.largest)
            if problem:
                raise ValueError(f"{name}: {problem}")
        return numbers

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self.parse, serialization=core_schema.plain_serializer_function_ser_schema(lambda p: p.to_file())
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {"type": "number", "minimum": -self.largest, "maximum": self.largest}
        vector: dict[str, Any] = {"type": "array", "items": number, "minItems": self.size, "maxItems": self.size}
        return _record_schema({"type": "array", "items": vector} if self.is_list else vector)


@dataclass(frozen=True)
class PerWheel:
    """Marks numbers of wheels, one for all or one for each: `Annotated[VectorParameter, PerWheel(0.0, 1.0)]`."""

    lower: float = -math.inf
    upper: float = math.inf

    def parse(self, given: Any, info: ValidationInfo) -> VectorParameter:
        if isinstance(given, VectorParameter):
            return given
        name = info.field_name or "value"
        value, rest = _split(given, name)
        entries = value if isinstance(value, list | tuple) else [value]
        if not entries:
            raise ValueError(f"{name} is empty; expected one number for all wheels, or one for each")
        numbers = tuple(as_float(entry, f"{name}[{k}]" if len(entries) > 1 else name) for k, entry in enumerate(entries))
        for number in numbers:
            problem = out_of_range(name, number, self.lower, self.upper)
            if problem:
                raise ValueError(problem)
        try:
            return VectorParameter(name, numbers, **rest)
        except ParameterError as error:
            raise ValueError(str(error)) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self.parse, serialization=core_schema.plain_serializer_function_ser_schema(lambda p: p.to_file())
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = _number_schema(self.lower, self.upper)
        return _record_schema({"anyOf": [number, {"type": "array", "items": number, "minItems": 1}]})
