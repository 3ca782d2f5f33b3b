"""What a calibration of a soil found: constants with intervals, combinations that are determined, errors, doubts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from slipfit.contact.soil import INFO
from slipfit.contact.soil.constants import LEAST_COHESIVE
from slipfit.errors import ParameterError
from slipfit.library import Ground
from slipfit.library.files import validated
from slipfit.library.ground import unit_of_constant
from slipfit.library.json_record import JsonRecord
from slipfit.library.parameter import in_degrees, plain
from slipfit.twin import FittedParameter, Status

#: Correlations beyond this are said.
STRONG = 0.95

#: Root mean square errors beyond this share of the largest stress, or of the load, are said.
POOR = 0.1

#: Cohesions below this, Pa, that a fit ends at are none: the law takes them for kPa (`contact.soil.constants`).
NO_COHESION_PA = 20.0

#: The same of every constant that may be next to none.
NEXT_TO_NONE = {"cohesion_pa": NO_COHESION_PA, "k_c": LEAST_COHESIVE}

#: What is usually wrong where constants of a fit are no soil's.
_LIKELY = {
    "plates": "check which column is pressure and which force, units and factors of both, of sinkage and of diameters, and that "
    "the pressure grows with sinkage",
    "shear": "check units and factors of shear, normal stress and displacement (kPa and Pa are 1000 apart)",
    "wheel": "check units of load, pull and sinkage, and the soil's constants; --hold keeps one of them",
    "cone": "check the cone index and the kind of soil",
}

#: What each kind of test is called where it gives no soil.
_TESTS = {"plates": "the fit of these plates", "shear": "the fit of these shear tests", "wheel": "the fit of this wheel"}
_TESTS["cone"] = "this cone index"

#: Between doubts in the `about` of grounds that were written before there were `notes`.
_DOUBT = "; doubt: "

#: How advice to whoever runs the tests begins; it has no place in a ground's file.
_ADVICE = ("press ", "repeat the ", "shear on", "hold ", "name `", "check ", "doubt ")


@dataclass(frozen=True, eq=False, slots=True)
class SoilFit(JsonRecord):
    """One calibration, of plates, shear tests, wheel tests or a cone. Best values of all constants are in `values`."""

    schema: ClassVar[str] = "slipfit/soil_fit/1"
    called: ClassVar[str] = "soil fit"
    written_by: ClassVar[str] = "slipfit soil"

    test: str  # plates, shear, wheel or cone
    data: str
    rows: int
    values: dict[str, float]
    parameters: dict[str, FittedParameter]  # those that were sought
    combinations: dict[str, FittedParameter]  # what is determined even where constants are not
    names: tuple[str, ...]  # of the correlations
    correlation: np.ndarray
    rank: int
    errors: dict[str, float]
    valid_for: dict[str, tuple[float, float]]
    findings: tuple[str, ...]
    held: dict[str, dict[str, Any]] = field(default_factory=dict)  # constants that came from elsewhere, as in files
    held_out: tuple[dict[str, Any], ...] = ()  # wheels: errors of each model by repeat that was left out
    kept: tuple[str, ...] = ()  # sought, not told, and therefore left as the soil had them

    def ground(self, name: str, base: Ground | None = None) -> Ground:
        """A ground with these constants; those that were not sought, or kept, are the base's, and so are the base's doubts."""
        records: dict[str, Any] = {key: p.to_file() for key, p in base.parameters.items()} if base else {}
        records |= self.held
        for key, told in self.parameters.items():
            if INFO.parameter(key) is None or key in self.kept:
                continue
            record: dict[str, Any] = {"value": self.values[key], "source": told.source}
            if told.std is not None:
                record["std"] = told.std
            note = told.note or ("" if told.value is not None else "not told by the data")
            records[key] = record | ({"note": note} if note else {})
        for key, least in NEXT_TO_NONE.items():
            if key in self.parameters and key not in self.kept and 0.0 < abs(self.values[key]) < least:
                records[key] |= {"value": 0.0, "note": f"{self.values[key]:.2g} was found, which is none"}
        missing = [p.name for p in INFO.parameters if p.is_required and p.name not in records]
        if missing:
            raise ParameterError(
                f"{self.data}: {self.test} tests tell {', '.join(self.parameters)}; a ground needs {', '.join(missing)} too: "
                f"name a soil to take them from (--soil dry_sand, or a file)"
            )
        plain_name = re.sub(r"[^a-z0-9_\-]+", "_", name.lower()).strip("_") or "soil"
        notes = [note for finding in self.findings if (note := _without_advice(finding))]
        content = {
            "name": plain_name,
            "about": f"{self.test} fit of {self.data}",
            "notes": [*notes, *self._notes_of(base)],
            "law": INFO.name,
            "parameters": records,
        }
        try:
            return validated(Ground, content, where=f"{self.data}: {_TESTS[self.test]} gives no soil")
        except ParameterError as error:
            raise ParameterError(f"{error}; {_LIKELY[self.test]}") from None

    def _notes_of(self, base: Ground | None) -> list[str]:
        """What was said of constants that stay: the base's notes, unless a test of the same kind takes its place."""
        if base is None or base.about.startswith(f"{self.test} fit of "):
            return []
        of = f"of {base.name}: "
        return [note if note.startswith("of ") else of + note for note in (*base.notes, *base.about.split(_DOUBT)[1:])]

    def summary(self) -> str:
        """A screen of text."""
        lines = [f"{self.data}: " + ("one number" if self.test == "cone" else f"{self.test}, {self.rows} rows")]
        cells = [self.told_cells(name) for name in self.parameters]
        cells += [(name, told.value_text(), told.range_text(), "") for name, told in self.combinations.items()]
        width = [max(len(row[k]) for row in cells) for k in range(3)]
        lines += [
            f"  {name:<{width[0]}}  {value:<{width[1]}}  {ends:<{width[2]}}  {said}".rstrip() for name, value, ends, said in cells
        ]
        lines.append("  ± is one standard deviation, 90 % an interval that holds the truth nine times in ten")
        if self.told < len(self.parameters) and self.names:
            lines.append(f"  {self.told_sentence()}")
        lines += self._together()
        lines += [f"  {words}: {value}" for words, value in self.errors_told()]
        lines += [f"  valid for {words} {ends}" for words, ends in self.range_told()]
        lines += _held_out_lines(self.held_out)
        return "\n".join([*lines, *(f"! {finding}" for finding in self.findings)])

    def told_cells(self, name: str) -> tuple[str, str, str, str]:
        """A constant, its value with spread and unit, its interval, and its status."""
        told, unit = self.parameters[name], unit_of_constant(INFO.name, name)
        space = " " if unit else ""
        if told.value is None:
            return name, "not told" if not told.range_text() else "", told.range_text(), f"({self.untold(name)}{space}{unit})"
        said = "sits on the bound of its range" if told.status == "at_bound" else ""
        return name, f"{told.value_text()}{space}{unit}{in_degrees(name, told.value, told.std)}", told.range_text(), said

    def errors_told(self) -> list[tuple[str, str]]:
        """Errors in words, with units."""
        return [_with_unit(name, value) for name, value in self.errors.items()]

    def range_told(self) -> list[tuple[str, str]]:
        """Between what the tests lay, in words, with units."""
        told = []
        for name, (low, high) in self.valid_for.items():
            words, end = _with_unit(name, high)
            begin = _with_unit(name, low)[1].split()[0]
            told.append((words, f"{begin} to {end}"))
        return told

    @property
    def told(self) -> int:
        """How many constants the data tell."""
        return sum(one.value is not None for one in self.parameters.values())

    def told_sentence(self) -> str:
        """How much of what was sought the data tell."""
        combined = f", and {len(self.combinations)} of their combinations" if self.combinations else ""
        return f"the data tell {self.told} of {len(self.parameters)} constants{combined}"

    def untold(self, name: str) -> str:
        """What stands for a constant that is not told."""
        words = "stays the soil's" if name in self.kept else "best fit"
        return f"{words} {plain(self.values[name], 4)}"

    def _together(self) -> list[str]:
        n = len(self.names)
        strong = [
            f"{self.names[i]} with {self.names[j]} {self.correlation[i, j]:+.2f}"
            for i in range(n)
            for j in range(i)
            if abs(self.correlation[i, j]) > STRONG
        ]
        return [f"  go together: {', '.join(strong)}"] if strong else []

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "schema": self.schema,
            "test": self.test,
            "data": self.data,
            "rows": self.rows,
            "values": self.values,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
            "combinations": {name: p.model_dump() for name, p in self.combinations.items()},
            "correlation": {"names": list(self.names), "matrix": self.correlation.tolist()},
            "rank": self.rank,
            "errors": self.errors,
            "valid_for": {name: list(ends) for name, ends in self.valid_for.items()},
            "held": self.held,
            "held_out": list(self.held_out),
            "kept": list(self.kept),
            "findings": list(self.findings),
        }

    @classmethod
    def _of_document(cls, data: dict[str, Any], where: str) -> Self:
        told = {
            key: {name: FittedParameter.model_validate(p) for name, p in data[key].items()}
            for key in ("parameters", "combinations")
        }
        return cls(
            data["test"],
            data["data"],
            data["rows"],
            data["values"],
            told["parameters"],
            told["combinations"],
            tuple(data["correlation"]["names"]),
            np.array(data["correlation"]["matrix"], dtype=float),
            data["rank"],
            data["errors"],
            {name: (ends[0], ends[1]) for name, ends in data["valid_for"].items()},
            tuple(data["findings"]),
            data["held"],
            tuple(data["held_out"]),
            tuple(data.get("kept", ())),
        )


def _without_advice(finding: str) -> str:
    """What a finding says, without what to do about it."""
    parts = [part for part in finding.split("; ") if not part.startswith(_ADVICE) and "--" not in part]
    return "; ".join(parts)


def _with_unit(name: str, value: float) -> tuple[str, str]:
    """A number of an error or of a range as it is read: stresses in kPa, lengths in mm, shares in percent."""
    if "_over_" in name:
        return name.replace("_", " "), f"{100.0 * value:.3g} %"
    for ending, factor, unit in (("_pa", 1e-3, "kPa"), ("_m", 1e3, "mm")):
        if name.endswith(ending):
            return name.removesuffix(ending).replace("_", " "), f"{factor * value:.3g} {unit}"
    return name.replace("_", " "), f"{value:.3g}"


def determined(combinations: Mapping[str, FittedParameter]) -> dict[str, FittedParameter]:
    """Combinations that are told: those whose interval leaves 0 out."""
    return {
        name: one
        for name, one in combinations.items()
        if one.value is not None and (one.interval_90 is None or one.interval_90[0] > 0.0 or one.interval_90[1] < 0.0)
    }


def doubts(errors: Mapping[str, float], parameters: Mapping[str, FittedParameter]) -> list[str]:
    """What to say of fits that miss their rows, and of constants on the ends of their ranges."""
    said = [
        f"{name.replace('_', ' ')} is {100 * value:.0f} %: the law does not have these rows' shape; doubt the table or the law"
        for name, value in errors.items()
        if "rmse_over" in name and value > POOR
    ]
    for name, one in parameters.items():
        if one.status is Status.AT_BOUND and one.value is not None and not (name == "cohesion_pa" and one.value < NO_COHESION_PA):
            said.append(f"{name} sits on the bound of its range, {one.value:.4g}: doubt it, the rows ask for what the law lacks")
    return said


def _held_out_lines(records: tuple[dict[str, Any], ...]) -> list[str]:
    if not records:
        return []
    lines = ["repeats that were left out: pull in % of the load, sinkage in mm (and on what was fitted)"]
    for one in records:
        lines.append(
            f"  {one['model']:<10}repeat {one['left_out'] + 1}: {100 * one['pull']:.1f} %, {1e3 * one['sinkage_m']:.1f} mm "
            f"({100 * one['fitted_pull']:.1f} %, {1e3 * one['fitted_sinkage_m']:.1f} mm)"
            + (", chosen without it" if one.get("chosen") else "")
        )
    return lines
