"""What a calibration of a soil found: constants with intervals, combinations that are determined, errors, doubts."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.contact.soil import INFO
from slipfit.errors import ParameterError
from slipfit.library import Ground
from slipfit.library.files import write_json
from slipfit.twin import FittedParameter

SCHEMA = "slipfit/soil_fit/1"

#: Correlations beyond this are said.
STRONG = 0.95


@dataclass(frozen=True, eq=False, slots=True)
class SoilFit:
    """One calibration, of plates, shear tests, wheel tests or a cone. Best values of all constants are in `values`."""

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

    def ground(self, name: str, base: Ground | None = None) -> Ground:
        """A ground with these constants; those that were not sought are the base's. One that the data do not tell says so."""
        records: dict[str, Any] = {key: p.to_file() for key, p in base.parameters.items()} if base else {}
        records |= self.held
        for key, told in self.parameters.items():
            if INFO.parameter(key) is None:
                continue
            record: dict[str, Any] = {"value": self.values[key], "source": told.source}
            if told.std is not None:
                record["std"] = told.std
            note = told.note or ("" if told.value is not None else "not told by the data")
            records[key] = record | ({"note": note} if note else {})
        missing = [p.name for p in INFO.parameters if p.is_required and p.name not in records]
        if missing:
            raise ParameterError(
                f"{self.data}: {self.test} tests tell {', '.join(self.parameters)}; a ground needs {', '.join(missing)} too: "
                f"name a soil to take them from (--soil dry_sand, or a file)"
            )
        about = f"{self.test} fit of {self.data}"
        about = "; ".join([about, *(f"doubt: {finding}" for finding in self.findings)])
        plain = re.sub(r"[^a-z0-9_\-]+", "_", name.lower()).strip("_") or "soil"
        return Ground(name=plain, about=about, law=INFO.name, parameters=records)

    def summary(self) -> str:
        """A screen of text."""
        lines = [f"{self.data}: {self.test}, {self.rows} rows"]
        for name, told in self.parameters.items():
            rest = "" if told.value is not None else f" (best fit {self.values[name]:.4g})"
            text = told.text()
            status = "  sits on the bound of its range" if told.status == "at_bound" else ""
            lines.append(f"  {name:<22}{'not told' if text == 'unknown' else text}{rest}{status}")
        lines += [f"  {name}: {told.text()}" for name, told in self.combinations.items()]
        if self.rank < len(self.names):
            lines.append(f"  the data tell {self.rank} directions of {len(self.names)} constants")
        lines += self._together()
        lines += [f"  {name.replace('_', ' ')}: {value:.4g}" for name, value in self.errors.items()]
        lines += [f"  valid for {name} {low:.3g} to {high:.3g}" for name, (low, high) in self.valid_for.items()]
        lines += _held_out_lines(self.held_out)
        return "\n".join([*lines, *(f"! {finding}" for finding in self.findings)])

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
            "schema": SCHEMA,
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
            "findings": list(self.findings),
        }

    @classmethod
    def from_document(cls, data: Any, *, where: str) -> "SoilFit":
        """From what `to_document` gave."""
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, dict) else type(data).__name__
            raise ParameterError(f"{where}: schema is {found!r}; expected {SCHEMA!r}, as slipfit soil writes it")
        try:
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
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ParameterError(f"{where}: not a whole soil fit ({error}); write it anew with slipfit soil") from None

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a JSON file; an existing one only with `force`."""
        write_json(Path(path), self.to_document(), force=force)

    @classmethod
    def load(cls, path: Path | str) -> "SoilFit":
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ParameterError(f"{path}: cannot be read as JSON ({error}); expected a soil fit") from None
        return cls.from_document(data, where=str(path))


def _held_out_lines(records: tuple[dict[str, Any], ...]) -> list[str]:
    if not records:
        return []
    lines = ["repeats that were left out: pull in % of the load, sinkage in mm (and on what was fitted)"]
    for one in records:
        lines.append(
            f"  {one['model']:<10}repeat {one['left_out'] + 1}: {100 * one['pull']:.1f} %, {1e3 * one['sinkage_m']:.1f} mm "
            f"({100 * one['fitted_pull']:.1f} %, {1e3 * one['fitted_sinkage_m']:.1f} mm)"
        )
    return lines
