"""The answer of a study: P with its interval at every point of the design, and what it depends on."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library.files import write_json
from slipfit.study.curve import MonotoneCurve, Probit, fit_probit, monotone_curve
from slipfit.study.modes import Mode, Swing
from slipfit.study.sensitivity import Index

SCHEMA = "slipfit/study_result/1"

#: From here on numbers are written with a power of ten.
_MANY = 1e7

#: Said where a crossing has no interval.
NO_CROSSING_INTERVAL = "no interval: the points do not tell the slope"

_WAYS = {
    "independent": "independent runs",
    "sobol": "scrambled Sobol points",
    "latin_hypercube": "a Latin hypercube",
}


@dataclass(frozen=True)
class Point:
    """One combination of design values."""

    at: dict[str, float]
    runs: int
    successes: int
    probability: float
    low: float
    high: float
    outcomes: dict[str, int]  # how often each came
    grip_reserve: tuple[float, float, float] | None = None  # 5, 50 and 95 % of its runs have less; where it was asked for

    @property
    def half_width(self) -> float:
        return 0.5 * (self.high - self.low)


@dataclass(frozen=True, eq=False)
class Study:
    """P(success) and what it rests on. Intervals hold with the study's confidence at each point."""

    about: str
    success: str
    model: str
    points: tuple[Point, ...]
    confidence: float
    method: str
    interval: str
    half_width: float | None  # that was asked for
    modes: tuple[Mode, ...]
    tornado: tuple[Swing, ...]
    indices: tuple[Index, ...]
    findings: tuple[str, ...]
    rounds: int
    seconds: float
    seed: int
    version: str
    folder: str = ""

    @property
    def runs(self) -> int:
        return sum(point.runs for point in self.points)

    @property
    def design_names(self) -> tuple[str, ...]:
        return tuple(self.points[0].at)

    @property
    def probability(self) -> float:
        """Over all points of the design, each counted alike."""
        return float(np.mean([point.probability for point in self.points]))

    def slices(self) -> list[tuple[dict[str, float], list[Point]]]:
        """Points along the first design variable, for each combination of the others."""
        found: dict[tuple[float, ...], list[Point]] = {}
        for point in self.points:
            found.setdefault(tuple(point.at.values())[1:], []).append(point)
        return [(dict(zip(self.design_names[1:], key, strict=True)), points) for key, points in found.items()]

    def probit(self, points: list[Point]) -> Probit | None:
        """Curve through the points of one slice."""
        x, runs, successes = self._along(points)
        return fit_probit(x, runs, successes, self.confidence)

    def monotone(self, points: list[Point]) -> MonotoneCurve:
        x, runs, successes = self._along(points)
        return monotone_curve(x, runs, successes, np.array([p.low for p in points]), np.array([p.high for p in points]))

    def _along(self, points: list[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = self.design_names[0]
        return (
            np.array([p.at[first] for p in points]),
            np.array([p.runs for p in points]),
            np.array([p.successes for p in points]),
        )

    # --- text and files -----------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """A screen of text."""
        return "\n".join([*self.rows(), *(f"  note: {finding}" for finding in self.findings)])

    def rows(self) -> list[str]:
        """The answer line by line, without notes."""
        rows = [f"{self.about or self.model}: P({self.success}) from {self.runs} runs, {_WAYS[self.method]}, seed {self.seed}"]
        level = f"{100 * self.confidence:g} %"
        for others, points in self.slices():
            if others:
                rows.append("  " + ", ".join(f"{name} = {number_text(value, 4)}" for name, value in others.items()))
            for p in points:
                place = f"{self.design_names[0]} = {number_text(p.at[self.design_names[0]], 4)}" if p.at else "overall"
                rows.append(f"  {place:<28} P = {p.probability:.3f}  ({level}: {p.low:.3f} to {p.high:.3f}, {p.runs} runs)")
            rows += self._crossing_rows(points)
        for mode in self.modes:
            rows.append(f"  failed: {mode.words:<24} {100 * mode.share:5.1f} % (all points alike)  {_region(mode)}")
        for index in self.indices:
            rows.append(
                f"  Sobol indices of {index.name:<20} first {index.first:6.3f} ± {index.first_half_width:.3f}   "
                f"total {index.total:6.3f} ± {index.total_half_width:.3f}"
            )
        return rows

    def crossings(self, points: list[Point]) -> list[tuple[float, float, float, float]]:
        """Where along the first design variable P is 0.9, 0.5 and 0.1, with intervals, by the probit; only between points. An
        interval from -inf to inf is none: the points do not tell the slope."""
        fit = self.probit(points) if len(points) > 2 and points[0].at else None
        if fit is None:
            return []
        name = self.design_names[0]
        found = [(share, *fit.where(share)) for share in (0.9, 0.5, 0.1)]
        return [entry for entry in found if points[0].at[name] <= entry[1] <= points[-1].at[name]]

    def passings(self, points: list[Point], share: float = 0.5) -> list[tuple[float, float]]:
        """Between which neighbours along the first design variable the curve that only rises or falls passes a share; of points
        that no probit fits well."""
        fit = self.probit(points) if len(points) > 2 and points[0].at else None
        if not points[0].at or (fit is not None and not fit.is_poor):
            return []
        curve = self.monotone(points)
        above = curve.probability > share
        return [(float(a), float(b)) for a, b, c, d in zip(curve.x, curve.x[1:], above, above[1:], strict=False) if c != d]

    def _crossing_rows(self, points: list[Point]) -> list[str]:
        level, rows = f"{100 * self.confidence:g} %", []
        for a, b in self.passings(points):
            rows.append(
                f"  P passes 0.5 between {self.design_names[0]} = {number_text(a, 4)} and {number_text(b, 4)}, by the points"
            )
        for share, x, low, high in self.crossings(points):
            told = f"{level}: {number_text(low, 4)} to {number_text(high, 4)}" if math.isfinite(low) else NO_CROSSING_INTERVAL
            rows.append(f"  P = {share:g} at {self.design_names[0]} = {number_text(x, 4)}  ({told}, probit)")
        return rows

    def to_document(self) -> dict[str, Any]:
        """As in its file."""
        data = {"schema": SCHEMA, **asdict(self)}
        data["probability"] = self.probability
        data["runs"] = self.runs
        data["curves"] = [self._curve_document(others, points) for others, points in self.slices()] if self.design_names else []
        return data

    def _curve_document(self, others: dict[str, float], points: list[Point]) -> dict[str, Any]:
        curve = self.monotone(points)
        document: dict[str, Any] = {
            "at": others,
            "x": curve.x.tolist(),
            "monotone": curve.probability.tolist(),
            "monotone_low": curve.low.tolist(),
            "monotone_high": curve.high.tolist(),
            "probit": None,
        }
        fit = self.probit(points) if len(points) > 2 else None
        if fit:
            crossings = {
                f"{share:g}": [place if math.isfinite(place) else None for place in fit.where(share)] for share in (0.9, 0.5, 0.1)
            }
            document["probit"] = {
                "offset": fit.offset,
                "slope": fit.slope,
                "covariance": fit.covariance.tolist(),
                "p_value": fit.p_value,
                "where": crossings,
            }
        return document

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a .json file."""
        write_json(Path(path), self.to_document(), force=force)

    @classmethod
    def load(cls, path: Path | str) -> "Study":
        """Read back what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data.get("schema") != SCHEMA:
                raise ParameterError(f"{path}: schema is {data.get('schema')!r}; expected '{SCHEMA}'")
            kept = {name: data[name] for name in cls.__dataclass_fields__}
            kept["points"] = tuple(_point(point) for point in kept["points"])
            kept["modes"] = tuple(_mode(mode) for mode in kept["modes"])
            kept["tornado"] = tuple(Swing(s["name"], tuple(s["at_low"]), tuple(s["at_high"])) for s in kept["tornado"])
            kept["indices"] = tuple(Index(**index) for index in kept["indices"])
            return cls(**kept | {"findings": tuple(kept["findings"])})
        except OSError as error:
            raise ParameterError(f"{path}: cannot be read ({error.strerror}); check the path") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ParameterError(f"{path}: cannot be read as the result of a study ({error})") from None


def _point(data: dict[str, Any]) -> Point:
    reserve = data.get("grip_reserve")
    return Point(**data | {"grip_reserve": tuple(map(float, reserve)) if reserve else None})


def _mode(data: dict[str, Any]) -> Mode:
    region = {name: (float(a), float(b), float(c)) for name, (a, b, c) in data["region"].items()}
    return Mode(**data | {"region": region})


def _region(mode: Mode) -> str:
    return "; ".join(f"{name} {span_text(low, high)}" for name, (low, _, high) in list(mode.region.items())[:4])


def number_text(number: float, digits: int = 3) -> str:
    """A number for people: 1570 and 0.0157, with a power of ten only where it has many zeros, 1.57e8."""
    text = f"{number:.{digits}g}"
    if "e" in text and 1.0 <= abs(number) < _MANY:
        return f"{float(text):.0f}"
    mantissa, _, power = text.partition("e")
    return f"{mantissa}e{int(power)}" if power else text


def span_text(low: float, high: float) -> str:
    """One number where a single run failed so, or all at the same place."""
    first, last = number_text(low), number_text(high)
    return first if first == last else f"{first} to {last}"
