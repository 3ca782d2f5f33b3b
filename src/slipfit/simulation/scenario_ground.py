"""The ground of a scenario: a plane, a terrain or an obstacle on level ground; its surface, and the soil that covers it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from slipfit.contact.soil import INFO as SOIL
from slipfit.contact.soil.constants import BOTTOMLESS_M
from slipfit.errors import ParameterError
from slipfit.library import Ground, find_ground
from slipfit.library.files import FileModel, nearest
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.simulation.scenario_numbers import AS_NUMBER, Angle, Gravity, Number, Slope, within_range

#: Highest, widest and longest obstacle that a file may describe, m.
_LARGEST_M = 10.0

#: A ramp less steep than this, rad, is level ground; an obstacle turned further than that is never met.
_LEAST_SLOPE_RAD, MOST_YAW_RAD = 0.001, 1.5

#: What ends so is a file beside the scenario's, anything else a name of the library.
FILE_ENDINGS = (".yaml", ".yml", ".tif", ".tiff")

Size = Annotated[float, Field(ge=0.0, le=_LARGEST_M), within_range(0.0, _LARGEST_M)]
Friction = Annotated[float, Field(gt=0.0, le=5.0), AS_NUMBER]


class Obstacle(FileModel):
    """An obstacle on level ground; seen from the side it begins `distance_m` ahead of the robot's front and goes on across."""

    kind: Literal["curb", "stairs", "ramp", "ditch"]
    height_m: Size = 0.0  # of a curb, of one stair, of a ramp's top; depth of a ditch
    edge_radius_m: Size = 0.0
    yaw_rad: Angle = 0.0  # how far its face is turned from square ahead, counter-clockwise
    grip: Annotated[float, Field(gt=0.0, le=10.0), AS_NUMBER] = 1.0  # its friction over that of the surface
    distance_m: Size = 0.3
    steps: Annotated[int, Field(ge=1, le=20)] = 1  # of stairs
    run_m: Size = 0.28  # of each stair; width of a ditch
    slope_rad: Annotated[float, Field(ge=0.0, lt=1.5), AS_NUMBER] = 0.35  # of a ramp

    @model_validator(mode="after")
    def _has_a_size(self) -> "Obstacle":
        if self.height_m <= 0.0:
            raise ValueError(f"obstacle.height_m is missing; how high is the {self.kind}?")
        if self.kind == "ramp" and self.slope_rad < _LEAST_SLOPE_RAD:
            raise ValueError(f"obstacle.slope_rad = {self.slope_rad:g}; a ramp rises: expected {_LEAST_SLOPE_RAD:g} or more")
        if self.run_m <= 0.0 and (self.kind == "ditch" or (self.kind == "stairs" and self.steps > 1)):
            what = "wide is the ditch" if self.kind == "ditch" else "long is each stair"
            raise ValueError(f"obstacle.run_m is 0; how {what}?")
        if abs(self.yaw_rad) > MOST_YAW_RAD:
            raise ValueError(
                f"obstacle.yaw_rad = {self.yaw_rad:.3g}: its face would be parallel to the robot's path; expected "
                f"-{MOST_YAW_RAD:g} to {MOST_YAW_RAD:g}"
            )
        return self


class ScenarioGround(FileModel):
    """What a robot drives on. Names of the library, or files."""

    shape: Literal["plane", "terrain", "obstacle"] = "plane"
    slope_rad: Slope = 0.0
    uphill_rad: Angle = 0.0  # direction of steepest ascent, from the x axis
    terrain: str | None = None  # name, or path of a terrain's file or GeoTIFF
    interpolation: Literal["bicubic", "bilinear"] = "bicubic"  # between the heights of a terrain
    obstacle: Obstacle | None = None
    surface: str | None = "lab_floor"  # a ground with any law; null where mu_static stands in its place
    mu_static: Friction | None = None  # of tracks
    mu_dynamic: Friction | None = None  # as static where it is not given
    fading_speed_mps: Annotated[float, Field(gt=0.0, le=10.0), AS_NUMBER] = 0.05
    soil: dict[str, Number] | str | None = None  # covers the surface: constants by name, or a ground with the law soil
    soil_depth_m: Annotated[float, Field(gt=0.0, le=BOTTOMLESS_M), AS_NUMBER] = BOTTOMLESS_M  # above a rigid base
    gravity_mps2: Gravity | None = None  # instead of the surface's

    @model_validator(mode="before")
    @classmethod
    def _friction_in_place_of_a_surface(cls, given: Any) -> Any:
        has_friction = isinstance(given, Mapping) and given.get("mu_static") is not None
        return {**given, "surface": None} if has_friction and "surface" not in given else given

    @model_validator(mode="after")
    def _one_shape(self) -> "ScenarioGround":
        if self.shape == "terrain" and self.terrain is None:
            raise ValueError("shape is terrain, but which? give `terrain:` a name (`slipfit terrain`) or a file")
        if self.shape != "terrain" and self.terrain is not None:
            raise ValueError(f"terrain is {self.terrain}, and shape is {self.shape}; write `shape: terrain`")
        if self.shape == "obstacle" and self.obstacle is None:
            raise ValueError("shape is obstacle, but which? give `obstacle:` a kind, as in {kind: curb, height_m: 0.1}")
        if self.shape != "obstacle" and self.obstacle is not None:
            raise ValueError(f"there is an obstacle, and shape is {self.shape}; write `shape: obstacle`")
        if self.shape != "plane" and (self.slope_rad or self.uphill_rad):
            raise ValueError(f"slope_rad and uphill_rad belong to planes; {_OWN_SLOPES[self.shape]}")
        return self

    @model_validator(mode="after")
    def _one_surface(self) -> "ScenarioGround":
        if (self.surface is None) == (self.mu_static is None):
            raise ValueError("give either surface (a ground of the library) or mu_static (friction of tracks)")
        if self.mu_static is not None and self.mu_dynamic is not None:
            _check_falls(self.mu_static, self.mu_dynamic)
        if not isinstance(self.soil, str):
            self.soil_values()
        return self

    def beside(self, folder: Path) -> "ScenarioGround":
        """The same ground, with files that it names found in a folder."""
        named = {key: getattr(self, key) for key in ("surface", "terrain", "soil")}
        files = {key: name for key, name in named.items() if isinstance(name, str) and name.endswith(FILE_ENDINGS)}
        return self.model_copy(update={key: str(folder / name) for key, name in files.items()}) if files else self

    def gravity_on(self, surface: Ground | None) -> float:
        """Gravity here: the scenario's own, else that of the surface's file."""
        if self.gravity_mps2 is not None:
            return self.gravity_mps2
        return (STANDARD_GRAVITY if surface is None else surface.gravity_mps2).value

    def friction(self) -> tuple[float, float]:
        """Static and dynamic coefficient of tracks on what is hard."""
        static = self.mu_static
        if static is None:
            ground = _found("surface", str(self.surface))
            if ground.law != "coulomb":
                as_soil = f"write `soil: {ground.name}`" if ground.law == SOIL.name else "give mu_static"
                raise ParameterError(
                    f"ground.surface {ground.name} has the law {ground.law}; tracks slide by Coulomb's: take a ground with the "
                    f"law coulomb, or {as_soil}"
                )
            static = ground.values()["mu_long"]
        dynamic = static if self.mu_dynamic is None else self.mu_dynamic
        try:
            _check_falls(static, dynamic)
        except ValueError as error:
            raise ParameterError(f"ground: {error}") from None
        return static, dynamic

    def soil_values(self) -> dict[str, float]:
        """The soil's constants by name, complete; empty on hard ground."""
        if self.soil is None:
            return {}
        if isinstance(self.soil, str):
            ground = _found("soil", self.soil)
            if ground.law != SOIL.name:
                raise ParameterError(
                    f"ground.soil {ground.name} has the law {ground.law}; expected a ground with the law {SOIL.name}"
                )
            given = ground.values()
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
        return defaults | given | ({"layer_m": self.soil_depth_m} if self.soil_depth_m < BOTTOMLESS_M else {})


#: Why other shapes have no slope of their own.
_OWN_SLOPES = {"terrain": "a terrain has the slopes of its heights", "obstacle": "obstacles stand on level ground"}


def _found(key: str, name: str) -> Ground:
    try:
        return find_ground(name)
    except ParameterError as error:
        raise ParameterError(f"ground.{key}: {error}") from None


def _check_falls(static: float, dynamic: float) -> None:
    if dynamic > static:
        raise ValueError(f"mu_dynamic = {dynamic:g} is larger than mu_static = {static:g}; friction falls when sliding begins")
