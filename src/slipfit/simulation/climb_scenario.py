"""What a tracked robot is asked to do: an obstacle, the ground before it, a speed."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from slipfit.contact.soil import INFO as SOIL
from slipfit.errors import ParameterError
from slipfit.library import find_ground
from slipfit.library.files import FileModel, NamedFile, nearest, read_yaml
from slipfit.simulation.scenario import (
    AS_NUMBER,
    FILE_ENDINGS,
    MOST_STEPS,
    Angle,
    NonNegative,
    Number,
    Scenario,
    Sensors,
    find_scenario,
    scenario_names,
    within_range,
)

_FOLDER = Path(__file__).parent.parent / "library" / "climbs"

#: Highest, widest and longest obstacle that a file may describe, m.
_LARGEST_M = 10.0

#: A ramp less steep than this, rad, is level ground; an obstacle turned further than that is never met.
_LEAST_SLOPE_RAD, MOST_YAW_RAD = 0.001, 1.5

Size = Annotated[float, Field(ge=0.0, le=_LARGEST_M), within_range(0.0, _LARGEST_M)]


def _beside(data: dict[str, Any], keys: tuple[str, ...], folder: Path) -> dict[str, str]:
    """Those of the keys that name a file, with its path seen from here."""
    named = {key: data[key] for key in keys if isinstance(data.get(key), str)}
    return {key: str(folder / name) for key, name in named.items() if name.endswith(FILE_ENDINGS)}


#: Keys that only fields have; files of other obstacles are written without them.
_OF_FIELDS = {"start_m", "heading_rad"}


class Obstacle(FileModel):
    """What stands in the way; seen from the side it begins `distance_m` ahead of the tracks' front and goes on across."""

    kind: Literal["none", "curb", "stairs", "ramp", "ditch", "field"] = "none"
    height_m: Size = 0.0  # of a curb, of one stair, of a ramp's top; depth of a ditch
    edge_radius_m: Size = 0.0
    yaw_rad: Angle = 0.0  # how far its face is turned from square ahead, counter-clockwise
    grip: Annotated[float, Field(gt=0.0, le=10.0), AS_NUMBER] = 1.0  # its friction over that of the surface
    distance_m: Size = 0.3
    steps: Annotated[int, Field(ge=1, le=20)] = 1  # of stairs
    run_m: Size = 0.28  # of each stair; width of a ditch; way to go over a field
    slope_rad: Annotated[float, Field(ge=0.0, lt=1.5), AS_NUMBER] = 0.35  # of a ramp
    terrain: str | None = None  # of a field: name, or path of a terrain's file or GeoTIFF
    start_m: tuple[Number, Number] = (0.0, 0.0)  # on a field: where the centre of mass begins, x and y of the map
    heading_rad: Angle = 0.0  # on a field: where the robot heads, from the map's x axis

    @model_validator(mode="after")
    def _has_a_size(self) -> "Obstacle":
        if self.kind == "field":
            if self.terrain is None:
                raise ValueError("obstacle.kind is field, but which? give `terrain:` a name (`slipfit terrain`) or a file")
            if self.run_m <= 0.0:
                raise ValueError("obstacle.run_m is 0; how far is the robot to go over the field?")
        elif self.terrain is not None:
            raise ValueError(f"obstacle.terrain is {self.terrain}, and its kind is {self.kind}; write `kind: field`")
        elif given := sorted(_OF_FIELDS & self.model_fields_set):
            raise ValueError(
                f"obstacle.{given[0]} is for fields, and its kind is {self.kind}; robots start at 0, 0 along x there"
            )
        elif self.kind != "none" and self.height_m <= 0.0:
            raise ValueError(f"obstacle.height_m is missing; how high is the {self.kind}?")
        if self.kind == "ramp" and self.slope_rad < _LEAST_SLOPE_RAD:
            raise ValueError(f"obstacle.slope_rad = {self.slope_rad:g}; a ramp rises: expected {_LEAST_SLOPE_RAD:g} or more")
        if self.run_m <= 0.0 and (self.kind == "ditch" or (self.kind == "stairs" and self.steps > 1)):
            what = "wide is the ditch" if self.kind == "ditch" else "long is each stair"
            raise ValueError(f"obstacle.run_m is 0; how {what}?")
        if abs(self.yaw_rad) > MOST_YAW_RAD:
            raise ValueError(
                f"obstacle.yaw_rad = {self.yaw_rad:.3g}: its face would lie along the robot's way; expected -{MOST_YAW_RAD:g} to "
                f"{MOST_YAW_RAD:g}"
            )
        return self


class ClimbScenario(NamedFile):
    """One climb, or one drive of a tracked robot on level ground."""

    schema_: Literal["slipfit/climb/1"] = Field("slipfit/climb/1", alias="schema")
    about: str = ""
    surface: str | None = None  # ground of the library with the law coulomb, for its friction; else mu_static
    mu_static: Annotated[float, Field(gt=0.0, le=5.0), AS_NUMBER] | None = None
    mu_dynamic: Annotated[float, Field(gt=0.0, le=5.0), AS_NUMBER] | None = None  # as static where it is not given
    fading_speed_mps: Annotated[float, Field(gt=0.0, le=10.0), AS_NUMBER] = 0.05
    soil: dict[str, Number] | str | None = None  # constants by name, or a ground with the law soil; none on hard ground
    soil_depth_m: Annotated[float, Field(gt=0.0, le=1000.0), AS_NUMBER] = 1000.0  # above a rigid base
    obstacle: Obstacle = Obstacle()
    speed_mps: Annotated[float, Field(ge=-10.0, le=10.0), within_range(-10.0, 10.0)] = 0.3
    yaw_rate_radps: Annotated[float, Field(ge=-10.0, le=10.0), AS_NUMBER] = 0.0
    ramp_s: NonNegative = 0.5  # until the command has its full value
    starts_rolling: bool = False  # at its speed, instead of from rest
    flipper_angle_rad: Angle | None = None  # the robot's own where it is not given
    gravity_mps2: Annotated[float, Field(ge=0.1, le=30.0), AS_NUMBER] = 9.81
    duration_s: Annotated[float, Field(gt=0.0, le=3600.0), AS_NUMBER] = 9.0
    patience_s: Annotated[float, Field(gt=0.0, le=3600.0), AS_NUMBER] = 3.0  # without progress, before a robot counts as held
    step_s: Annotated[float, Field(ge=1e-6, le=0.1), AS_NUMBER] = 0.0005
    record_s: Annotated[float, Field(ge=1e-4, le=100.0), AS_NUMBER] = 0.02

    @model_validator(mode="after")
    def _one_surface(self) -> "ClimbScenario":
        if (self.surface is None) == (self.mu_static is None):
            raise ValueError("give either surface (a ground of the library) or mu_static, for the friction of what is hard")
        if self.duration_s / self.step_s > MOST_STEPS:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, more than {MOST_STEPS:,} steps of {self.step_s:g} s")
        self.friction()
        self.soil_values()
        return self

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file; files of grounds and terrains that it names lie in its own folder."""
        data = read_yaml(Path(path))
        if not isinstance(data, dict):
            return cls.from_mapping(data, where=str(path))
        data = data | _beside(data, ("surface", "soil"), Path(path).parent)
        if isinstance(data.get("obstacle"), dict):
            data["obstacle"] = data["obstacle"] | _beside(data["obstacle"], ("terrain",), Path(path).parent)
        return cls.from_mapping(data, where=str(path))

    def to_mapping(self) -> dict[str, Any]:
        """As it stands in a file; what was not set, and what only a field has, is left out."""
        data = super().to_mapping()
        if self.obstacle.kind != "field":
            data["obstacle"] = {key: entry for key, entry in data["obstacle"].items() if key not in _OF_FIELDS}
        return data

    @property
    def sensors(self) -> Sensors:
        """Climbs have none."""
        return Sensors()

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
            try:
                ground = find_ground(self.soil)
            except ParameterError as error:
                raise ValueError(f"soil: {error}") from None
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
    if isinstance(name, Path) or _is_file(name):
        return ClimbScenario.load(name)
    if name in scenario_names():
        raise ParameterError(f"{name} is a drive for robots on wheels; tracked robots take a climb, curb_117mm for instance")
    if name not in climb_names():
        raise ParameterError(
            f"there is no climb '{name}' for tracked robots in the library; {nearest(name, climb_names())} (`slipfit scenarios` "
            f"shows them all; a file of your own ends in .yaml)"
        )
    return ClimbScenario.load(_FOLDER / f"{name}.yaml")


def is_climb(name: str) -> bool:
    """Whether a name or a file is a climb's, as its `schema` says."""
    if not _is_file(name):
        return name in climb_names()
    data = read_yaml(Path(name))
    return isinstance(data, dict) and data.get("schema") == ClimbScenario.kind()


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml")) or "/" in name


def find_any_scenario(name: str) -> Scenario | ClimbScenario:
    """A drive or a climb of the library by name, or a user's by the path of its file, as its `schema` says."""
    if is_climb(name):
        return find_climb(name)
    if _is_file(name) or name in scenario_names():
        return find_scenario(name)
    raise ParameterError(
        f"there is no scenario '{name}' in the library; {nearest(name, [*scenario_names(), *climb_names()])} (`slipfit "
        f"scenarios` shows them all; files of your own end in .yaml)"
    )


def as_climb(given: Any) -> ClimbScenario:
    """A climb from a record, what its file holds, a name or a path."""
    if isinstance(given, ClimbScenario):
        return given
    if isinstance(given, dict):
        return ClimbScenario.from_mapping({"schema": ClimbScenario.kind(), **given}, where="scenario")
    return find_climb(given)
