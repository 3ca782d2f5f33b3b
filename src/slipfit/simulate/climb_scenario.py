"""What a tracked robot is asked to do: an obstacle, the ground before it, a speed."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from slipfit.contact.soil import INFO as SOIL
from slipfit.errors import ParameterError
from slipfit.library import find_ground
from slipfit.library.files import FileModel, NamedFile, nearest
from slipfit.simulate.scenario import MOST_STEPS, Angle, NonNegative, Number

_FOLDER = Path(__file__).parent.parent / "library" / "climbs"

#: Highest, widest and longest obstacle that a file may describe, m.
_LARGEST_M = 10.0

Size = Annotated[Number, Field(ge=0.0, le=_LARGEST_M)]


class Obstacle(FileModel):
    """What stands in the way; seen from the side it begins `distance_m` ahead of the tracks' front and goes on across."""

    kind: Literal["none", "curb", "stairs", "ramp", "ditch"] = "none"
    height_m: Size = 0.0  # of a curb, of one stair, of a ramp's top; depth of a ditch
    edge_radius_m: Size = 0.0
    yaw_rad: Angle = 0.0  # how far its face is turned from square ahead, counter-clockwise
    grip: Annotated[Number, Field(gt=0.0, le=10.0)] = 1.0  # its friction over that of the surface
    distance_m: Size = 0.3
    steps: Annotated[int, Field(ge=1, le=20)] = 1  # of stairs
    run_m: Size = 0.28  # of each stair; width of a ditch
    slope_rad: Annotated[Number, Field(ge=0.0, lt=1.5)] = 0.35  # of a ramp

    @model_validator(mode="after")
    def _has_a_size(self) -> "Obstacle":
        if self.kind != "none" and self.height_m <= 0.0:
            raise ValueError(f"obstacle.height_m is missing; how high is the {self.kind}?")
        return self


class ClimbScenario(NamedFile):
    """One climb, or one drive of a tracked robot on level ground."""

    schema_: Literal["slipfit/climb/1"] = Field("slipfit/climb/1", alias="schema")
    about: str = ""
    surface: str | None = None  # ground of the library with the law coulomb, for its friction; else mu_static
    mu_static: Annotated[Number, Field(gt=0.0, le=5.0)] | None = None
    mu_dynamic: Annotated[Number, Field(gt=0.0, le=5.0)] | None = None  # as static where it is not given
    fading_speed_mps: Annotated[Number, Field(gt=0.0, le=10.0)] = 0.05
    soil: dict[str, Number] | str | None = None  # constants by name, or a ground with the law soil; none on hard ground
    soil_depth_m: Annotated[Number, Field(gt=0.0, le=1000.0)] = 1000.0  # above a rigid base
    obstacle: Obstacle = Obstacle()
    speed_mps: Annotated[Number, Field(ge=-10.0, le=10.0)] = 0.3
    yaw_rate_radps: Annotated[Number, Field(ge=-10.0, le=10.0)] = 0.0
    ramp_s: NonNegative = 0.5  # until the command has its full value
    starts_rolling: bool = False  # at its speed, instead of from rest
    flipper_angle_rad: Angle | None = None  # the robot's own where it is not given
    gravity_mps2: Annotated[Number, Field(ge=0.1, le=30.0)] = 9.81
    duration_s: Annotated[Number, Field(gt=0.0, le=3600.0)] = 9.0
    patience_s: Annotated[Number, Field(gt=0.0, le=3600.0)] = 3.0  # without progress, before a robot counts as held
    step_s: Annotated[Number, Field(ge=1e-6, le=0.1)] = 0.001
    record_s: Annotated[Number, Field(ge=1e-4, le=100.0)] = 0.02

    @model_validator(mode="after")
    def _one_surface(self) -> "ClimbScenario":
        if (self.surface is None) == (self.mu_static is None):
            raise ValueError("give either surface (a ground of the library) or mu_static, for the friction of what is hard")
        if self.duration_s / self.step_s > MOST_STEPS:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, more than {MOST_STEPS:,} steps of {self.step_s:g} s")
        self.friction()
        self.soil_values()
        return self

    def friction(self) -> tuple[float, float]:
        """Static and dynamic coefficient."""
        if self.mu_static is not None:
            static = self.mu_static
        else:
            ground = find_ground(str(self.surface))
            if ground.law != "coulomb":
                raise ValueError(
                    f"surface {ground.name} has the law {ground.law}; tracks slide by Coulomb's: take a ground with the law "
                    f"coulomb, or give mu_static"
                )
            static = ground.values()["mu_long"]
        dynamic = static if self.mu_dynamic is None else self.mu_dynamic
        if dynamic > static:
            raise ValueError(
                f"mu_dynamic = {dynamic:g} is larger than mu_static = {static:g}; friction falls when sliding begins"
            )
        return static, dynamic

    def soil_values(self) -> dict[str, float]:
        """The soil's constants by name, complete; empty on hard ground."""
        if self.soil is None:
            return {}
        if isinstance(self.soil, str):
            ground = find_ground(self.soil)
            if ground.law != SOIL.name:
                raise ValueError(f"soil {ground.name} has the law {ground.law}; expected a ground with the law {SOIL.name}")
            given: dict[str, float] = ground.values()
        else:
            given = dict(self.soil)
        names = [p.name for p in SOIL.parameters]
        for key in given:
            if key not in names:
                raise ValueError(f"soil.{key}: a soil has no such constant; {nearest(key, names)}")
        missing = next((p for p in SOIL.parameters if p.is_required and p.name not in given), None)
        if missing:
            raise ValueError(f"soil.{missing.name} is missing; it is {missing.about}")
        for p in SOIL.parameters:
            if p.name in given and not p.lower <= given[p.name] <= p.upper:
                raise ValueError(f"soil.{p.name} = {given[p.name]:g} lies outside [{p.lower:g}, {p.upper:g}]; it is {p.about}")
        problem = SOIL.problem(given)
        if problem:
            raise ValueError(f"soil: {problem}")
        defaults = {p.name: p.default for p in SOIL.parameters if p.default is not None}
        return defaults | given | ({"layer_m": self.soil_depth_m} if self.soil_depth_m < 1000.0 else {})


def climb_names() -> list[str]:
    """Climbs of the library."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def find_climb(name: str | Path) -> ClimbScenario:
    """A climb of the library by name, or one of the user's by the path of its file."""
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")) or "/" in name:
        return ClimbScenario.load(name)
    if name not in climb_names():
        raise ParameterError(
            f"there is no climb '{name}' for tracked robots in the library; {nearest(name, climb_names())} (a file of your "
            f"own ends in .yaml)"
        )
    return ClimbScenario.load(_FOLDER / f"{name}.yaml")


def as_climb(given: Any) -> ClimbScenario:
    """A climb from a record, what its file holds, a name or a path."""
    if isinstance(given, ClimbScenario):
        return given
    if isinstance(given, dict):
        return ClimbScenario.from_mapping({"schema": ClimbScenario.kind(), **given}, where="scenario")
    return find_climb(given)
