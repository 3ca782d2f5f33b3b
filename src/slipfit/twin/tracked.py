"""Twins of tracked robots: friction of what is hard, constants of soils, and what turning and rolling on them cost."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from slipfit.contact import TRACK_LAWS
from slipfit.contact.law import LawInfo
from slipfit.errors import ParameterError
from slipfit.library import Ground, TrackedRobot
from slipfit.library.files import FileModel
from slipfit.twin.fitted import FittedParameter, Number
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.record import GroundName, LogOrigin, Provenance, Twin, parameter_rows

#: Laws of what is hard and of what is soft: a climb has a place for one ground of each.
FRICTION, SOIL = TRACK_LAWS

_AboveZero = Annotated[Number, Field(gt=0.0)]

_TABLE = "take it from a table or from tests (`--soil dry_sand`, `slipfit soil`)"


class TrackBalance(FileModel):
    """What a drive's forces told, as it told it: resistance against turning (M = mu_lateral W L / 4) and rolling, and of soil
    the strength A c + W tan(phi) of one track's contact of length L and area A under its load W."""

    contact_length_m: _AboveZero
    contact_area_m2: _AboveZero | None = None
    load_n: _AboveZero | None = None  # of one track
    mu_lateral: FittedParameter | None = None
    mu_rolling: FittedParameter | None = None
    strength_n: FittedParameter | None = None

    def parameters(self) -> dict[str, FittedParameter]:
        """What a summary shows."""
        return {name: entry for name, entry in self if isinstance(entry, FittedParameter)}


class TrackGround(FittedGround):
    """One ground of a tracked robot's twin: hard with friction (law stiction), or a soil."""

    laws: ClassVar[Mapping[str, LawInfo]] = TRACK_LAWS
    manoeuvres: ClassVar[Mapping[str, str]] = {
        "mu": "turn on the spot with motor currents in the log (`slipfit estimate --twin`), or see `slipfit friction`",
        **{p.name: _TABLE for p in TRACK_LAWS[SOIL].parameters},
    }

    balance: TrackBalance | None = None

    @model_validator(mode="after")
    def _friction_falls(self) -> Self:
        static, dynamic = (self.parameters.get(name) for name in ("mu_static", "mu_dynamic"))
        if static and dynamic and static.value is not None and dynamic.value is not None and dynamic.value > static.value:
            raise ValueError(
                f"parameters.mu_dynamic = {dynamic.value:g} is larger than mu_static = {static.value:g}; friction falls when "
                f"sliding begins"
            )
        return self

    @classmethod
    def of_file(cls, ground: Ground) -> Self:
        """A ground as tracks meet it: a soil as it is; of Coulomb's friction the coefficient along, for every direction."""
        if ground.law == SOIL:
            return cls._from_file(ground, SOIL, ground.parameters)
        if ground.law == "coulomb":
            return cls._from_file(ground, FRICTION, {"mu_static": ground.parameters["mu_long"]})
        raise ParameterError(
            f"ground {ground.name} has the law {ground.law}; tracks slide by Coulomb's or sink into soil: take a ground with the "
            f"law coulomb or soil"
        )

    def merged(self, newer: "TrackGround") -> "TrackGround":
        """This ground with what was found later in its place: what the newer one does not tell stays as it was."""
        forces = newer if newer.tells_forces or not self.tells_forces else self
        return forces.model_copy(update={"kinematics": newer.kinematics or self.kinematics})

    @property
    def tells_forces(self) -> bool:
        """Whether a simulation has anything of it: a ground of kinematics alone says nothing of friction or soil."""
        return any(p.value is not None or p.at_least is not None or p.at_most is not None for p in self.parameters.values())


class TrackedTwin(Twin):
    """A tracked robot and the grounds that something was found out on."""

    drive: ClassVar[str] = "tracked"
    ground_model: ClassVar[type[FittedGround]] = TrackGround
    whose: ClassVar[str] = "a tracked robot"
    at_home: ClassVar[str] = (
        "`slipfit simulate` and `slipfit study` let it climb, `slipfit estimate` takes it, and in Python Twin.load reads it"
    )

    robot: TrackedRobot
    grounds: Annotated[dict[GroundName, TrackGround], Field(min_length=1)]

    @property
    def powertrain(self) -> None:
        """None is fitted for tracked robots."""
        return None

    @classmethod
    def new_or_extended(
        cls, older: "TrackedTwin | None", robot: TrackedRobot, found: Mapping[str, TrackGround], logs: list[LogOrigin],
        notes: list[str] | None = None,
    ) -> "TrackedTwin":  # fmt: skip
        """A twin with these grounds: a new one, or the older one with them added."""
        if older is None:
            twin = cls(robot=robot, grounds=dict(found), provenance=Provenance.now(logs, [], notes))
        elif older.robot.name != robot.name:
            raise ParameterError(
                f"the twin is of {older.robot.name}, and this of {robot.name}; expected one robot: start another twin"
            )
        else:
            twin = older
            for name, ground in found.items():
                there = older.grounds.get(name)
                twin = twin.with_ground(name, there.merged(ground) if there else ground, logs=logs, notes=[])
            provenance = Provenance.now(twin.provenance.logs, twin.provenance.corrected, [*twin.provenance.notes, *(notes or [])])
            twin = twin.model_copy(update={"provenance": provenance})
        return cls.from_mapping(twin.to_mapping(), where=f"the twin of {robot.name}")

    def values(self, ground: str | None = None) -> dict[str, float]:
        """Constants of a ground as a climb takes them. What was not told is filled, as for robots on wheels; where nothing is
        known an error names what to do."""
        name = self.ground_name(ground)
        filled = self.grounds[name].filled(where=f"the twin of {self.robot.name}, ground {name}")
        found = {key: p.value for key, p in filled.items()}
        if self.grounds[name].law == FRICTION:  # what slides never grips better than what holds
            found["mu_dynamic"] = min(found.get("mu_dynamic", found["mu_static"]), found["mu_static"])
        return found

    def grounds_of(self, law: str) -> list[str]:
        """Names of the grounds with a law that say something of forces."""
        return [name for name, ground in self.grounds.items() if ground.law == law and ground.tells_forces]

    def _body_row(self) -> str:
        r = self.robot
        return f"  {r.mass_kg.value:g} kg, tread {r.track_m:g} m, axles {r.wheelbase_m:g} m apart"

    def _rows_beside(self, ground: FittedGround) -> list[str]:
        rows = list(parameter_rows(ground.kinematics.numbers)) if ground.kinematics else []
        if isinstance(ground, TrackGround) and ground.balance:
            rows += parameter_rows(ground.balance.parameters())
        return rows
