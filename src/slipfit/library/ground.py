"""A ground as its file describes it: a law, its constants, and gravity."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictStr, field_validator, model_validator

from slipfit.contact import GROUND_LAWS
from slipfit.contact.law import LawInfo
from slipfit.library.files import NamedFile, nearest
from slipfit.library.parameter import Between, Parameter, in_degrees, plain, unit_words

_GRAVITIES = Between(0.1, 30.0)
STANDARD_GRAVITY = _GRAVITIES.named(
    "gravity_mps2", {"value": 9.81, "note": "rounded standard gravity, as in all published numbers used here"}
)


def _tell_editors(schema: dict[str, Any]) -> None:
    """JSON schema: the law is one of ours, and its constants are those that it has."""
    schema["properties"]["law"]["enum"] = sorted(GROUND_LAWS)
    schema["allOf"] = [
        {
            "if": {"properties": {"law": {"const": law.name}}},
            "then": {
                "properties": {
                    "parameters": {
                        "properties": {
                            name: {"description": p.about, **Between(p.lower, p.upper).json_schema()}
                            for p in law.parameters
                            for name in (p.name, p.alias)
                            if name
                        },
                        "additionalProperties": False,
                    }
                }
            },
        }
        for law in GROUND_LAWS.values()
    ]


class Ground(NamedFile):
    """What a wheel meets: the law belongs to the pair of tyre and ground."""

    model_config = ConfigDict(json_schema_extra=_tell_editors)

    schema_: Literal["slipfit/ground/1"] = Field("slipfit/ground/1", alias="schema")
    name: str = Field(pattern=r"^[a-z0-9_\-]+$")
    about: str = ""
    notes: list[StrictStr] = Field(default_factory=list)  # what to know of it, and to doubt
    gravity_mps2: Annotated[Parameter, _GRAVITIES] = STANDARD_GRAVITY
    law: str
    moisture_percent: Annotated[Parameter, Between(0.0, 400.0)] | None = None  # water over dry mass, of soils
    parameters: dict[str, Any]

    @field_validator("law")
    @classmethod
    def _known_law(cls, law: str) -> str:
        if law not in GROUND_LAWS:
            raise ValueError(f"there is no law '{law}'; {nearest(law, GROUND_LAWS)}")
        return law

    @model_validator(mode="after")
    def _parameters_of_the_law(self) -> "Ground":
        object.__setattr__(self, "parameters", law_parameters(self.law, self.parameters))
        return self

    def values(self) -> dict[str, float]:
        """Constants of the law, by name."""
        return {name: p.value for name, p in self.parameters.items()}

    def to_mapping(self) -> dict[str, Any]:
        data = super().to_mapping()
        if not self.notes:
            del data["notes"]
        return data | {"parameters": {name: p.to_file() for name, p in self.parameters.items()}}

    def summary(self) -> str:
        """A few lines of text: the constants and where they come from."""
        law = GROUND_LAWS[self.law]
        given = [(p, p.source) for p in (*self.parameters.values(), self.gravity_mps2)]
        filled = [p for p in law.parameters if p.default is not None and p.name not in self.parameters]
        given += [(Parameter(p.name, float(p.default or 0.0)), f"default: {p.about}") for p in filled]
        cells = [(p.name, plain(p.value, 6), _spread(p), _unit(law, p), source) for p, source in given]
        width = [max(len(row[k]) for row in cells) for k in range(4)]
        rows = [
            f"  {name:<{width[0]}}  {value:>{width[1]}}{spread:<{width[2]}}  {unit:<{width[3]}}  {source}"
            for name, value, spread, unit, source in cells
        ]
        if any(p.std is not None for p, _ in given):
            rows.append("  ± is one standard deviation")
        notes = [f"  note: {note}" for note in self.notes]
        return "\n".join([f"{self.name}: {self.about}", f"  law {self.law}: {law.formula}", *rows, *notes])


def unit_of_constant(law: str, name: str) -> str:
    """Unit of a law's constant, as it stands in sentences."""
    found = GROUND_LAWS[law].parameter(name)
    return (found.unit if found else "") or unit_words(name)


def _spread(p: Parameter) -> str:
    return "" if p.std is None else f" ± {plain(p.std, 3)}"


def _unit(law: LawInfo, p: Parameter) -> str:
    return unit_of_constant(law.name, p.name) + in_degrees(p.name, p.value, p.std)


def law_parameters(law: str, given: Mapping[str, Any]) -> dict[str, Parameter]:
    """The law's constants by their full names; short names are accepted, unknown and missing ones are not."""
    info = GROUND_LAWS[law]
    found: dict[str, Parameter] = {}
    for key, entry in given.items():
        wanted = info.parameter(key)
        if wanted is None:
            names = [n for p in info.parameters for n in (p.name, p.alias) if n]
            raise ValueError(f"parameters.{key}: the law {law} has no such constant; {nearest(key, names)}")
        if wanted.name in found:
            raise ValueError(f"parameters.{key}: {wanted.name} is given twice; keep one of them")
        if isinstance(entry, Parameter):
            found[wanted.name] = entry
            continue
        try:
            found[wanted.name] = Between(wanted.lower, wanted.upper).named(wanted.name, entry)
        except ValueError as error:
            raise ValueError(f"parameters.{key}: {error}; it is {wanted.about}") from None
    missing = next((p for p in info.parameters if p.is_required and p.name not in found), None)
    if missing:
        raise ValueError(f"parameters.{missing.name} is missing; the law {law} needs it ({missing.about})")
    problem = info.problem({name: p.value for name, p in found.items()})
    if problem:
        raise ValueError(f"parameters: {problem}")
    return found
