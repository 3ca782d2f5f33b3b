"""What twins of all drives share: grounds, draws, the file, and where it all comes from."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot
from slipfit.library.files import FileModel, NamedFile, nearest
from slipfit.library.schemas import schema_by_drive
from slipfit.twin.fitted import FittedParameter
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.kinematics import FittedKinematics
from slipfit.twin.posterior import draw
from slipfit.twin.powertrain import FittedPowertrain


class LogOrigin(FileModel):
    """A log that a twin rests on; the digest is empty where there was no file."""

    name: str
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


def _moment(given: Any) -> str:
    """A time as ISO 8601 in UTC; YAML reads an unquoted one as a date."""
    try:
        when = given if isinstance(given, datetime) else datetime.fromisoformat(given)
        when = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"made is {str(given)[:40]!r}; expected a time such as 2026-11-15T20:00:00Z") from None
    return when.isoformat().replace("+00:00", "Z")


class Provenance(FileModel):
    """Where a twin comes from: version, time, logs, what was corrected in them, and which pose served as truth."""

    slipfit: str
    made: Annotated[str, BeforeValidator(_moment)]
    logs: list[LogOrigin] = Field(default_factory=list)
    corrected: list[str] = Field(default_factory=list)
    truth: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @classmethod
    def now(
        cls, logs: list[LogOrigin], corrected: list[str], notes: list[str] | None = None, truth: list[str] | None = None
    ) -> "Provenance":
        """Made by this version, now."""
        import slipfit

        made = datetime.now(UTC).replace(microsecond=0).isoformat()
        version = slipfit.__version__
        return cls(slipfit=version, made=made, logs=logs, corrected=corrected, truth=truth or [], notes=notes or [])


GroundName = Annotated[str, Field(pattern=r"^[a-z0-9_\-]+$")]


class Twin(NamedFile):
    """A robot and the grounds it was calibrated on. `Twin.load` and `from_mapping` give the subclass that its `drive` names."""

    #: What the robot's `drive` says, whose twin it is, and what can be done with it.
    drive: ClassVar[str]
    whose: ClassVar[str]
    at_home: ClassVar[str]
    #: What its grounds are.
    ground_model: ClassVar[type[FittedGround]] = FittedGround

    schema_: Literal["slipfit/twin/1"] = Field("slipfit/twin/1", alias="schema")
    robot: Robot
    grounds: Mapping[GroundName, FittedGround]
    provenance: Provenance

    if TYPE_CHECKING:  # a field of twins that may have one fitted, and None of the others

        @property
        def powertrain(self) -> FittedPowertrain | None: ...

    @classmethod
    def file_schema(cls) -> dict[str, Any]:
        """All drives in one: what a twin's file may hold follows the `drive` of its robot."""
        from slipfit.twin.drives import TWINS

        return schema_by_drive(TWINS, "Twin", lambda rule: {"properties": {"robot": rule}})

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds. Asked of `Twin`, any drive is read; asked of one kind, the others are refused."""
        from slipfit.twin.drives import TWINS

        model = TWINS.get(drive_in(data))
        if cls is Twin:
            return cast(Self, (model or TWINS["skid_steer"]).from_mapping(data, where=where))
        if model is not None and model is not cls:
            raise ParameterError(f"{where}: {cls.refusal(model, 'this')}")
        return super().from_mapping(data, where=where)

    @classmethod
    def refusal(cls, other: "type[Twin]", use: str) -> str:
        """Why a twin of another drive does not serve, and where it is at home."""
        return f"a twin of {other.whose}, and {use} works with a twin of {cls.whose}; {other.at_home}"

    @model_validator(mode="after")
    def _covariances_of_known_numbers(self) -> Self:
        of_robot = self.robot.parameters()
        for name, ground in self.grounds.items():
            for entry in ground.covariance.names if ground.covariance else ():
                if entry not in of_robot and entry not in ground.parameters:
                    known = {*of_robot, *ground.parameters}
                    raise ValueError(f"grounds.{name}.covariance.names: there is no number '{entry}'; {nearest(entry, known)}")
        return self

    # --- what simulations and studies take from it ------------------------------------------------------------------

    def ground_name(self, name: str | None = None) -> str:
        """The name of a ground; of the only one, where none is asked for."""
        names = ", ".join(self.grounds)
        if name is None:
            if len(self.grounds) > 1:
                raise ParameterError(f"the twin of {self.robot.name} has several grounds; choose one of {names}")
            return next(iter(self.grounds))
        if name not in self.grounds:
            raise ParameterError(f"the twin of {self.robot.name} has no ground '{name}'; it has {names}")
        return name

    def ground(self, name: str | None = None) -> Ground:
        """A ground for simulation. Constants that the drives do not tell are filled: by the law's default, or from their
        bounds; the note of each says so. One that nothing is known of is an error that names the manoeuvre to drive."""
        name = self.ground_name(name)
        return self.grounds[name].as_ground(name, where=f"the twin of {self.robot.name}, ground {name}")

    def draws(self, n: int, seed: int, ground: str | None = None) -> dict[str, np.ndarray]:
        """n draws of the constants, from covariance and spreads: `simulate_many(twin, scenario, twin.draws(...))`, of tracked
        robots `climb_many(twin, climb, twin.draws(...))`."""
        fitted = self.grounds[self.ground_name(ground)]
        return draw(fitted, fitted.info, self.robot, n, seed)

    def with_parameter(
        self, name: str, fitted: FittedParameter, *, ground: str | None = None, log: LogOrigin | None = None, note: str = ""
    ) -> Self:
        """The twin with one constant of a ground replaced or added, from a log or by a note that says how."""
        chosen = self.ground_name(ground)
        return self.with_ground(
            chosen, self.grounds[chosen].with_parameter(name, fitted), logs=[log] if log else [], notes=[note] if note else []
        )

    def with_payload(self, mass_kg: float, at_m: tuple[float, float, float] | None = None) -> Self:
        """The twin with a payload, where constants are known to scale with the load of a wheel."""
        raise ParameterError(
            f"the twin of {self.robot.name}: a payload is put on skid-steer robots; change mass and inertias in the robot of "
            f"this twin"
        )

    def with_ground(self, name: str, ground: FittedGround, *, logs: list[LogOrigin], notes: list[str]) -> Self:
        """The twin with a ground added, or in place of the one of that name."""
        old = self.provenance
        logs = [*old.logs, *(log for log in logs if log not in old.logs)]
        provenance = old.model_copy(update={"logs": logs, "notes": [*old.notes, *notes]})
        return self.model_copy(update={"grounds": {**self.grounds, name: ground}, "provenance": provenance})

    # --- files and text ---------------------------------------------------------------------------------------------

    def to_mapping(self) -> dict[str, Any]:
        """As in the file; where it comes from stands last."""
        data = super().to_mapping()
        return data | {"provenance": data.pop("provenance")}

    def to_document(self) -> dict[str, Any]:
        """As in the file; with one ground its constants stand at the top too."""
        data = self.to_mapping()
        if len(self.grounds) == 1:
            data["parameters"] = data["grounds"][self.ground_name()]["parameters"]
        return data

    def summary(self) -> str:
        """A screen of text: robot, constants with intervals and what they mean, where all of it comes from."""
        rows = [f"twin of {self.robot.name}: {self.robot.about}", self._body_row()]
        for name, ground in self.grounds.items():
            rows += ground_rows(name, ground)
            rows += self._rows_beside(ground)
        return "\n".join([*rows, *self._rows_of_drive(), *_provenance_rows(self.provenance)])

    def _body_row(self) -> str:
        raise NotImplementedError

    def _rows_beside(self, ground: FittedGround) -> list[str]:
        """What else is to be said of a ground."""
        return []

    def _rows_of_drive(self) -> list[str]:
        return []


def drive_in(data: Any) -> str:
    """What the robot's `drive` says in what a twin's file holds; empty where it says nothing."""
    robot = data.get("robot") if isinstance(data, Mapping) else None
    return str(robot.get("drive", "")) if isinstance(robot, Mapping) else ""


def parameter_rows(parameters: dict[str, FittedParameter]) -> Iterator[str]:
    for name, p in parameters.items():
        note = f"; {p.note}" if p.note else ""
        yield f"  {name:<17} {p.text():<52}  {p.status.sentence} ({p.source}){note}"


def ground_rows(name: str, ground: FittedGround) -> Iterator[str]:
    about = f": {ground.about}" if ground.about else ""
    yield f"ground {name}{about}"
    yield f"  law {ground.law}: {ground.info.formula}"
    yield from parameter_rows(ground.parameters)
    yield from parameter_rows(ground.combinations)
    if ground.kinematics:
        yield from _kinematics_rows(ground.kinematics)
    if ground.fitted_on:
        low, high = ground.fitted_on.speed_mps
        slow, fast = ground.fitted_on.yaw_rate_radps
        yield f"  found at {low:.3g} to {high:.3g} m/s and {slow:.3g} to {fast:.3g} rad/s"


def _kinematics_rows(found: FittedKinematics) -> Iterator[str]:
    chosen = "the simplest model that predicts as well as the best is "
    yield f"  kinematics: {chosen if found.is_compared else ''}{found.rung}"
    yield from parameter_rows(found.parameters())
    noise = found.odometry_noise
    if noise:
        left = (("ahead", noise.ahead_m, "m"), ("to the left", noise.left_m, "m"), ("heading", noise.heading_rad, "rad"))
        told = ", ".join(f"{std:.3g} {unit} {where}" for where, std, unit in left if std is not None)
        yield f"  odometry with these is off by {told} after {noise.horizon_s:g} s (standard deviations)"


def _provenance_rows(provenance: Provenance) -> Iterator[str]:
    yield f"made {provenance.made} by slipfit {provenance.slipfit}"
    for log in provenance.logs:
        yield f"  log {log.name}" + (f", sha256 {log.sha256[:12]}" if log.sha256 else "")
    if provenance.corrected:
        yield f"  corrected: {', '.join(provenance.corrected)}"
    for line in provenance.truth:
        yield f"  truth: {line}"
    for note in provenance.notes:
        yield f"  note: {note}"
