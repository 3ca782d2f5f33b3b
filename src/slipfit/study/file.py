"""A study as its file describes it: what crosses what, which numbers are unsure, and when enough is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from slipfit.library.files import FileModel, NamedFile, read_yaml
from slipfit.library.parameter import Between, Parameter
from slipfit.simulation.scenario_numbers import Number
from slipfit.study.spread import Spread

Whole = Annotated[int, Field(ge=1)]
Length = Annotated[Parameter, Between(1e-3, 20.0)]

#: Cells of the design (all combinations of its values): more would be a map, not a curve.
MOST_CELLS = 10_000

#: Runs of a Latin hypercube at each point of the design: rows that every worker holds in memory.
MOST_HYPERCUBE = 10_000_000

#: Scramblings below this number give no interval worth the name.
LEAST_SCRAMBLINGS = 16

#: What ends so is a file beside the study's, anything else a name of the library.
_FILE_ENDINGS = (".yaml", ".yml")


class StepClimb(FileModel):
    """The quasi-static step of a tracked robot as the model: its side view (`vehicles/step_climb`)."""

    sprocket_radius_m: Length
    underside_m: Length
    mass_ahead_m: Length
    mass_above_m: Length
    has_flippers: bool = True


class DesignRange(FileModel):
    """Values of a design variable: so many from one to another, or a list."""

    from_: Number | None = Field(None, alias="from")
    to: Number | None = None
    points: Annotated[int, Field(ge=2, le=1000)] = 12
    values: Annotated[list[Number], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "DesignRange":
        if self.values is not None:
            if self.from_ is not None or self.to is not None:
                raise ValueError("values and from/to are both given; keep one of them")
            if len(set(self.values)) < len(self.values):
                raise ValueError("values holds a number twice; expected each once")
        elif self.from_ is None or self.to is None:
            raise ValueError("expected from and to, or values")
        elif not self.from_ < self.to:
            raise ValueError(f"from = {self.from_:g} is not below to = {self.to:g}")
        return self

    def levels(self) -> list[float]:
        """The values, in order."""
        if self.values is not None:
            return sorted(self.values)
        assert self.from_ is not None
        assert self.to is not None
        step = (self.to - self.from_) / (self.points - 1)
        return [self.from_ + k * step for k in range(self.points - 1)] + [self.to]


class FromTable(FileModel):
    """Constants of a ground with the spreads that its file gives (`table`), or with one relative spread for all."""

    from_: str = Field(alias="from")
    spread: Literal["table"] | Annotated[float, Field(gt=0.0, lt=1.0)] = "table"


class Correlation(FileModel):
    """Two unsure numbers that go together: correlation of their normal scores."""

    between: tuple[str, str]
    value: Annotated[float, Field(gt=-1.0, lt=1.0)]


class Sampling(FileModel):
    """How inputs are chosen: every run by itself, Sobol points in several scramblings, or a Latin hypercube of fixed size."""

    method: Literal["independent", "sobol", "latin_hypercube"] = "independent"
    scramblings: Annotated[int, Field(ge=LEAST_SCRAMBLINGS, le=1024)] = LEAST_SCRAMBLINGS
    interval: Literal["wilson", "exact"] = "wilson"
    adaptive: bool = True


class Stop(FileModel):
    """When enough is known: a half width of every interval, or a number of runs."""

    half_width: Annotated[float, Field(gt=0.0, lt=0.5)] | None = None
    confidence: Annotated[float, Field(gt=0.5, lt=1.0)] = 0.9
    at_most_runs: Annotated[int, Field(ge=1, le=10**12)] = 20_000
    runs: Annotated[int, Field(ge=1, le=10**12)] | None = None

    @model_validator(mode="after")
    def _one_rule(self) -> "Stop":
        if (self.half_width is None) == (self.runs is None):
            raise ValueError("expected half_width (with at_most_runs) or runs, one of the two")
        return self


class Sensitivity(FileModel):
    """Sobol indices of the verdict: base_runs x (unsure numbers + 2) further runs."""

    base_runs: Annotated[int, Field(ge=64, le=2**24)] = 1024

    @field_validator("base_runs")
    @classmethod
    def _power_of_two(cls, runs: int) -> int:
        if runs & (runs - 1):
            raise ValueError(f"base_runs is {runs}; expected a power of two, {2 ** runs.bit_length()} for instance")
        return runs


class Limits(FileModel):
    """Where an outcome must lie to be a success."""

    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _has_one(self) -> "Limits":
        if self.at_least is None and self.at_most is None:
            raise ValueError("expected at_least, at_most or both")
        return self


def _tag(given: Any) -> str:
    if isinstance(given, str):
        return "posterior"
    if isinstance(given, FromTable) or (isinstance(given, dict) and "from" in given):
        return "table"
    return "spread"


Uncertain = Annotated[
    Annotated[Spread, Tag("spread")] | Annotated[FromTable, Tag("table")] | Annotated[Literal["posterior"], Tag("posterior")],
    Discriminator(_tag),
]


class StudyFile(NamedFile):
    """One question: can this robot cross this, when neither robot nor ground is known exactly?"""

    schema_: Literal["slipfit/study/1"] = Field("slipfit/study/1", alias="schema")
    about: str = ""
    twin: str | None = None  # file of a twin
    robot: str | None = None  # or a robot, of the library or a file
    scenario: str | None = None  # of the library or a file
    ground: str | None = None  # instead of the scenario's
    step_climb: StepClimb | None = None  # instead of robot and scenario
    success: str | dict[str, Limits]
    fixed: dict[str, Number] = Field(default_factory=dict)  # plain numbers that differ from the robot's, ground's or scenario's
    design: dict[str, DesignRange] = Field(default_factory=dict)
    uncertain: Annotated[dict[str, Uncertain], Field(min_length=1)]
    correlated: list[Correlation] = Field(default_factory=list)
    sampling: Sampling = Sampling()
    stop: Stop
    sensitivity: Sensitivity | None = None
    reserve: bool = False  # whether each climb's grip reserve is found: 8 to 14 further runs of each
    chunk_runs: Whole | None = None  # runs of one task; else as many as take a second or two
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0

    @model_validator(mode="after")
    def _can_be_run(self) -> "StudyFile":
        drivers = [name for name in ("twin", "robot", "step_climb") if getattr(self, name) is not None]
        if len(drivers) != 1:
            raise ValueError(f"found {' and '.join(drivers) or 'nothing'} to study; expected one of twin, robot, step_climb")
        if (self.scenario is None) != (self.step_climb is not None):
            raise ValueError(
                "scenario is missing; a robot or twin needs one" if self.scenario is None else "step_climb needs no scenario"
            )
        self._check_names()
        cells = 1
        for entry in self.design.values():
            cells *= len(entry.levels())
        if cells > MOST_CELLS:
            raise ValueError(f"design: its values make {cells} combinations; expected at most {MOST_CELLS}, take fewer points")
        self._check_sizes(cells)
        return self

    def _check_sizes(self, cells: int) -> None:
        method, stop = self.sampling.method, self.stop
        if method == "latin_hypercube":
            if stop.runs is None:
                raise ValueError(
                    "sampling.method is latin_hypercube, which needs its size beforehand; give stop.runs instead of half_width"
                )
            if stop.runs > MOST_HYPERCUBE * cells:
                raise ValueError(
                    f"stop.runs = {stop.runs} is too many for a Latin hypercube, which is held in memory; expected at most "
                    f"{MOST_HYPERCUBE * cells} here, or take method: sobol"
                )
        least = cells * (self.sampling.scramblings if method == "sobol" else 1)
        name, runs = ("at_most_runs", stop.at_most_runs) if stop.runs is None else ("runs", stop.runs)
        if runs < least:
            each = f" with {self.sampling.scramblings} scramblings each" if method == "sobol" else ""
            raise ValueError(f"stop.{name} = {runs} is too few for {cells} points{each}; expected at least {least}")

    def _check_names(self) -> None:
        for name, entry in self.uncertain.items():
            if name == "twin" and entry != "posterior":
                raise ValueError("uncertain.twin: expected the word posterior")
            if entry == "posterior" and name != "twin":
                raise ValueError(f"uncertain.{name}: only `twin` has a posterior; give a distribution")
            if isinstance(entry, FromTable) and name not in ("soil", "ground"):
                raise ValueError(f"uncertain.{name}: `from` belongs to `soil` or `ground`; give a distribution")
        if "twin" in self.uncertain and self.twin is None:
            raise ValueError("uncertain.twin: there is no twin in this study; give `twin:` its file")
        places: dict[str, Mapping[str, Any]] = {"fixed": self.fixed, "design": self.design, "uncertain": self.uncertain}
        for name in {*self.fixed, *self.design, *self.uncertain}:
            found = [place for place, entries in places.items() if name in entries]
            if len(found) > 1:
                raise ValueError(f"{name} stands under {' and '.join(found)}; keep one of them")
        for k, pair in enumerate(self.correlated):
            for name in pair.between:
                if not isinstance(self.uncertain.get(name), Spread):
                    raise ValueError(f"correlated[{k}]: '{name}' is no distribution under `uncertain`")
            if pair.between[0] == pair.between[1]:
                raise ValueError(f"correlated[{k}]: {pair.between[0]} is correlated with itself; name two numbers")

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file; what it names that is a file too is looked for beside it."""
        path = Path(path)
        study = cls.from_mapping(_measured_beside(read_yaml(path), path.parent), where=str(path))
        named = study._named_files()
        return study.model_copy(update={key: str(path.parent / name) for key, name in named.items()}) if named else study

    def with_whole_paths(self) -> Self:
        """The same study with files that are found from anywhere."""
        return self.model_copy(update={key: str(Path(name).absolute()) for key, name in self._named_files().items()})

    def _named_files(self) -> dict[str, str]:
        named = {key: getattr(self, key) for key in ("twin", "robot", "scenario", "ground")}
        return {key: name for key, name in named.items() if name and name.endswith(_FILE_ENDINGS)}


def _measured_beside(data: Any, folder: Path) -> Any:
    """What a study's file holds, with the paths of measured values seen from here."""
    entries = data.get("uncertain") if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        return data

    def moved(entry: Any) -> Any:
        measured = entry.get("empirical") if isinstance(entry, dict) else None
        if not isinstance(measured, dict) or not isinstance(measured.get("file"), str):
            return entry
        return entry | {"empirical": measured | {"file": str(folder / measured["file"])}}

    return data | {"uncertain": {name: moved(entry) for name, entry in entries.items()}}
