"""What a fit of tyre forces found: the law and its constants, the curve with its band, and how its peers did."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from slipfit.calibration.tyre.held_out import FLEXIBLE, HeldOut
from slipfit.contact import LAWS
from slipfit.library import Ground
from slipfit.library.json_record import JsonRecord
from slipfit.twin import FittedParameter

#: Correlations beyond this are said.
STRONG = 0.95


@dataclass(frozen=True, eq=False, slots=True)
class TyreFit(JsonRecord):
    """One table of forces, one law. `curve` is what to trust: constants may be told badly where the curve is told well."""

    schema: ClassVar[str] = "slipfit/tyre_fit/1"
    called: ClassVar[str] = "tyre fit"
    written_by: ClassVar[str] = "slipfit tyre fit"

    data: str
    law: str
    values: dict[str, float]  # the best fit, whether the data tell each constant or not
    parameters: dict[str, FittedParameter]
    offsets: dict[str, float]
    rows: int
    repeats: int
    mean_load_n: float
    slip_range: tuple[float, float]  # of the resultant slip
    residual_n: dict[str, float]  # root mean square, by axis
    spread_n: dict[str, float]  # of forces that were meant to be the same; empty without repeats of settings
    slips: np.ndarray  # (n,) of the curve
    friction: np.ndarray  # (n,)
    band_90: np.ndarray  # (n,) half of it
    names: tuple[str, ...]  # of the correlations: constants that were sought
    correlation: np.ndarray
    rank: int
    candidates: tuple[HeldOut, ...]
    findings: tuple[str, ...]

    @property
    def flexible(self) -> HeldOut | None:
        return next((c for c in self.candidates if c.name == FLEXIBLE), None)

    def ground(self, name: str) -> Ground:
        """A ground for simulations. Constants that the data do not tell have the best fit's value, and say so."""
        records = {}
        for key, value in self.values.items():
            told = self.parameters[key]
            record: dict[str, Any] = {"value": value, "source": told.source}
            if told.std is not None:
                record["std"] = told.std
            if told.note:
                record["note"] = told.note
            records[key] = record
        about = f"{LAWS[self.law].name} fitted to {self.data}, slip {self.slip_range[0]:.2g} to {self.slip_range[1]:.2g}"
        about = "; ".join([about, *(f"doubt: {finding}" for finding in self.findings)])
        plain = re.sub(r"[^a-z0-9_\-]+", "_", name.lower()).strip("_") or "tyre"
        return Ground(name=plain, about=about, law=self.law, parameters=records)

    def summary(self) -> str:
        """A screen of text."""
        rows = [
            f"{self.data}: {self.rows} rows, {self.repeats} repeat{'s' * (self.repeats > 1)}, "
            f"mean load {self.mean_load_n:.3g} N, resultant slip {self.slip_range[0]:.2g} to {self.slip_range[1]:.2g}",
            f"law {self.law}: {LAWS[self.law].formula}",
        ]
        for name, told in self.parameters.items():
            rest = "" if told.value is not None else f" (best fit {self.values[name]:.4g})"
            rows.append(f"  {name:<16}{told.text() if told.text() != 'unknown' else 'not told'}{rest}")
        rows += [f"  {name:<16}{value:+.4f} of the load, not part of the ground" for name, value in self.offsets.items()]
        rows += self._certainty_rows() + self._curve_rows() + self._error_rows()
        return "\n".join([*rows, *(f"! {finding}" for finding in self.findings)])

    def _certainty_rows(self) -> list[str]:
        n = len(self.names)
        rows = [] if self.rank == n else [f"  the data tell {self.rank} directions of {n} constants: judge the curve, not them"]
        strong = [
            f"{self.names[i]} with {self.names[j]} {self.correlation[i, j]:+.2f}"
            for i in range(n)
            for j in range(i)
            if abs(self.correlation[i, j]) > STRONG
        ]
        return rows + ([f"  go together: {', '.join(strong)}"] if strong else [])

    def _curve_rows(self) -> list[str]:
        picked = np.unique(np.linspace(0, len(self.slips) - 1, 7).astype(int))
        cells = [f"{self.slips[k]:.3g}: {self.friction[k]:.3f} ± {self.band_90[k]:.3f}" for k in picked]
        return ["  mu over slip, with its 90 % band: " + " · ".join(cells)]

    def _error_rows(self) -> list[str]:
        rows = [f"forces that were left out, root mean square in N ({'repeat by repeat' if self.repeats > 1 else 'row by row'})"]
        for c in sorted(self.candidates, key=lambda c: c.total_n):
            parts = []
            for axis, value in c.rms_n.items():
                times = f" ({value / self.spread_n[axis]:.2f} of the spread)" if self.spread_n.get(axis) else ""
                parts.append(f"{axis} {value:.3g}{times}")
            rows.append(f"  {c.name:<16}{', '.join(parts)}{'  <- chosen' * (c.name == self.law)}")
        return rows

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "schema": self.schema,
            "data": self.data,
            "law": self.law,
            "values": self.values,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
            "offsets": self.offsets,
            "rows": self.rows,
            "repeats": self.repeats,
            "mean_load_n": self.mean_load_n,
            "slip_range": list(self.slip_range),
            "residual_n": self.residual_n,
            "spread_within_cells_n": self.spread_n,
            "curve": {"slip": self.slips.tolist(), "friction": self.friction.tolist(), "half_band_90": self.band_90.tolist()},
            "correlation": {"names": list(self.names), "matrix": self.correlation.tolist()},
            "rank": self.rank,
            "held_out": [c.to_document() for c in self.candidates],
            "findings": list(self.findings),
        }

    @classmethod
    def _of_document(cls, data: dict[str, Any], where: str) -> Self:
        peers = [HeldOut(c["name"], c["constants"], c["rms_n"], c["worst_repeat_rms_n"]) for c in data["held_out"]]
        return cls(
            data=data["data"],
            law=data["law"],
            values=data["values"],
            parameters={name: FittedParameter.model_validate(p) for name, p in data["parameters"].items()},
            offsets=data["offsets"],
            rows=data["rows"],
            repeats=data["repeats"],
            mean_load_n=data["mean_load_n"],
            slip_range=(data["slip_range"][0], data["slip_range"][1]),
            residual_n=data["residual_n"],
            spread_n=data["spread_within_cells_n"],
            slips=np.array(data["curve"]["slip"], dtype=float),
            friction=np.array(data["curve"]["friction"], dtype=float),
            band_90=np.array(data["curve"]["half_band_90"], dtype=float),
            names=tuple(data["correlation"]["names"]),
            correlation=np.array(data["correlation"]["matrix"], dtype=float),
            rank=data["rank"],
            candidates=tuple(peers),
            findings=tuple(data["findings"]),
        )
