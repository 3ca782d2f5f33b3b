"""A scenario as its file describes it: where the robot stands, what it is told, and what watches it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from slipfit.control.route import Route
from slipfit.errors import ParameterError
from slipfit.library import Ground
from slipfit.library.files import FileModel, NamedFile, nearest
from slipfit.library.parameter import as_float, out_of_range

_FOLDER = Path(__file__).parent.parent / "library" / "scenarios"

#: Angles reach to a full turn, slopes to just below vertical.
TURN_RAD, STEEPEST_RAD = 6.2832, 1.5707


def _number(given: Any, info: ValidationInfo) -> float:
    return as_float(given, info.field_name or "value")


def within_range(lower: float, upper: float) -> BeforeValidator:
    """A range whose sentence recognises degrees, millimetres and the like."""

    def check(given: Any, info: ValidationInfo) -> float:
        number = _number(given, info)
        problem = out_of_range(info.field_name or "value", number, lower, upper)
        if problem:
            raise ValueError(problem)
        return number

    return BeforeValidator(check)


def _whole(given: Any, info: ValidationInfo) -> Any:
    if isinstance(given, bool):
        raise ValueError(f"{info.field_name} is {given}; expected a whole number")
    return given


AS_NUMBER = BeforeValidator(_number)  # comes after the Field that bounds it, else schemas do not tell the bounds
Number = Annotated[float, AS_NUMBER]
NonNegative = Annotated[float, Field(ge=0.0), BeforeValidator(_number)]
Rate = Annotated[float, Field(gt=0.0, le=100_000.0), BeforeValidator(_number)]
Angle = Annotated[float, Field(ge=-TURN_RAD, le=TURN_RAD), within_range(-TURN_RAD, TURN_RAD)]
Slope = Annotated[float, Field(ge=0.0, le=STEEPEST_RAD), within_range(0.0, STEEPEST_RAD)]
Pair = tuple[Number, Number]

#: A ramp lasts this long unless the command says otherwise, or is shorter.
RAMP_S = 1.0

#: What ends so is a file beside the scenario's, anything else a name of the library.
FILE_ENDINGS = (".yaml", ".yml", ".tif", ".tiff")

#: The largest run that one scenario may ask for, in steps: five hours at 1 ms.
MOST_STEPS = 20_000_000


class GroundPlace(FileModel):
    """The ground of a scenario: a plane, level or tilted, or a terrain; and its surface. Names of the library, or files."""

    shape: Literal["plane", "terrain"] = "plane"
    slope_rad: Slope = 0.0
    uphill_rad: Angle = 0.0  # direction of steepest ascent, from the x axis
    terrain: str | None = None  # name, or path of a terrain's file or GeoTIFF
    interpolation: Literal["bicubic", "bilinear"] = "bicubic"  # between the heights of a terrain
    surface: str = "lab_floor"
    gravity_mps2: Annotated[float, Field(ge=0.1, le=30.0), within_range(0.1, 30.0)] | None = None  # instead of the surface's

    @model_validator(mode="after")
    def _one_shape(self) -> "GroundPlace":
        if self.shape == "terrain" and self.terrain is None:
            raise ValueError("shape is terrain, but which? give `terrain:` a name (`slipfit terrain`) or a file")
        if self.shape == "plane" and self.terrain is not None:
            raise ValueError(f"terrain is {self.terrain}, and shape is plane; write `shape: terrain`")
        if self.shape == "terrain" and (self.slope_rad or self.uphill_rad):
            raise ValueError("slope_rad and uphill_rad belong to planes; a terrain has the slopes of its heights")
        return self

    def gravity_on(self, surface: Ground) -> float:
        """Gravity here: the place's own, else that of the surface's file."""
        return surface.gravity_mps2.value if self.gravity_mps2 is None else self.gravity_mps2


class Start(FileModel):
    """Pose and velocity of the wheels' centre at the start; the wheels roll along."""

    x_m: Number = 0.0
    y_m: Number = 0.0
    heading_rad: Angle = 0.0
    v_mps: Number = 0.0
    vy_mps: Number = 0.0
    yaw_rate_radps: Number = 0.0


class Command(FileModel):
    """What the robot is told for a while: body velocity, wheel speeds, or voltages (motors only)."""

    for_s: Number
    v_mps: Number | None = None
    vy_mps: Number | None = None  # to the left; omnidirectional robots only
    yaw_rate_radps: Number | None = None
    wheels_radps: list[Number] | None = None  # one per wheel, or [left, right] of a skid-steer robot
    wheels_v: list[Number] | None = None
    profile: Literal["step", "linear", "quintic"] = "step"
    ramp_s: NonNegative | None = None  # how long linear and quintic take; then the value is held

    @model_validator(mode="after")
    def _one_way_of_telling(self) -> "Command":
        if self.for_s <= 0.0:
            raise ValueError(f"for_s = {self.for_s:g} s ends before it starts; expected more than 0 s")
        has_body = any(rate is not None for rate in (self.v_mps, self.vy_mps, self.yaw_rate_radps))
        if has_body + (self.wheels_radps is not None) + (self.wheels_v is not None) != 1:
            raise ValueError(
                "a command gives either v_mps and/or yaw_rate_radps (vy_mps too for an omnidirectional robot), or wheels_radps, "
                "or wheels_v"
            )
        return self

    @property
    def ramp(self) -> float:
        """Seconds from the value before to this one."""
        if self.profile == "step":
            return 0.0
        return min(self.for_s, RAMP_S if self.ramp_s is None else self.ramp_s)


class Imu(FileModel):
    """Accelerometer and gyro. Bias is constant over a run; tilt is how the IMU sits on the robot."""

    rate_hz: Rate = 100.0
    accel_noise_mps2: NonNegative = 0.0
    accel_bias_mps2: Number | Pair = 0.0  # both axes, or [x, y]
    accel_step_mps2: NonNegative = 0.0  # resolution
    gyro_noise_radps: NonNegative = 0.0
    gyro_bias_radps: Number = 0.0
    gyro_step_radps: NonNegative = 0.0
    lever_arm_m: Pair = (0.0, 0.0)  # IMU from the wheels' centre
    tilt_rad: Pair = (0.0, 0.0)  # roll, pitch
    delay_s: NonNegative = 0.0


class Encoders(FileModel):
    """Wheel angles in counts."""

    rate_hz: Rate = 100.0
    counts_per_turn: Annotated[int, Field(ge=1), BeforeValidator(_whole)] = 4096
    noise_rad: NonNegative = 0.0
    delay_s: NonNegative = 0.0


class PoseSensor(FileModel):
    """Pose of the wheels' centre, from a tracker or a lidar."""

    rate_hz: Rate = 20.0
    position_noise_m: NonNegative = 0.0
    yaw_noise_rad: NonNegative = 0.0
    delay_s: NonNegative = 0.0


class Sensors(FileModel):
    """What watches the robot; what is not named is not there."""

    imu: Imu | None = None
    encoders: Encoders | None = None
    pose: PoseSensor | None = None

    @property
    def names(self) -> list[str]:
        """Those that are there."""
        return [name for name, sensor in self if sensor]


class Scenario(NamedFile):
    """One drive."""

    schema_: Literal["slipfit/scenario/1"] = Field("slipfit/scenario/1", alias="schema")
    about: str = ""
    ground: GroundPlace = GroundPlace()
    start: Start = Start()
    step_s: Number = 0.001
    record_s: Number = 0.01
    commands: list[Command] = Field(default_factory=list)
    route: Route | None = None  # instead of commands: waypoints that the robot steers for by itself
    energy: bool = False  # keep books of every joule; always kept on routes and terrains
    sensors: Sensors = Sensors()
    seed: Annotated[int, Field(ge=0), BeforeValidator(_whole)] = 0

    @model_validator(mode="after")
    def _can_be_run(self) -> "Scenario":
        problem = out_of_range("step_s", self.step_s, 1e-6, 0.1)
        if problem:
            raise ValueError(problem)
        if self.record_s < self.step_s:
            raise ValueError(f"record_s = {self.record_s:g} s is shorter than step_s = {self.step_s:g} s")
        if self.commands and self.route:
            raise ValueError("commands and route are both given; a robot follows one of them")
        if not self.commands and self.route is None:
            raise ValueError("commands is empty: the scenario ends before it starts; give at least one command, or a route")
        if self.duration_s < self.step_s:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, less than one step of {self.step_s:g} s")
        if self.duration_s / self.step_s > MOST_STEPS:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, more than {MOST_STEPS:,} steps of {self.step_s:g} s")
        return self

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file; a surface or terrain that is a file is looked for beside it."""
        scenario = super().load(path)
        named = {"surface": scenario.ground.surface, "terrain": scenario.ground.terrain or ""}
        beside = {key: str(Path(path).parent / name) for key, name in named.items() if name.endswith(FILE_ENDINGS)}
        return scenario.model_copy(update={"ground": scenario.ground.model_copy(update=beside)}) if beside else scenario

    @property
    def duration_s(self) -> float:
        """How long the drive lasts, at most where it follows a route."""
        if self.route:
            return self.route.time_limit_s((self.start.x_m, self.start.y_m))
        return sum(command.for_s for command in self.commands)

    @property
    def keeps_books(self) -> bool:
        """Whether slip, route and energy are recorded besides the motion."""
        return self.energy or self.route is not None or self.ground.shape == "terrain"


def scenario_names() -> list[str]:
    """Scenarios of the library."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def find_scenario(name: str | Path) -> Scenario:
    """A scenario of the library by name, or one of the user's by the path of its file."""
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")) or "/" in name:
        return Scenario.load(name)
    if name not in scenario_names():
        raise ParameterError(
            f"there is no scenario '{name}' in the library; {nearest(name, scenario_names())} (`slipfit scenarios` "
            f"shows them all; files of your own end in .yaml)"
        )
    return Scenario.load(_FOLDER / f"{name}.yaml")


def as_scenario(given: Scenario | Mapping[str, Any] | str | Path) -> Scenario:
    """A scenario from a record, what its file holds, a name of the library or the path of a file."""
    if isinstance(given, str | Path):
        return find_scenario(given)
    if isinstance(given, Mapping):
        return Scenario.from_mapping({"schema": Scenario.kind(), **given}, where="scenario")
    if not isinstance(given, Scenario):
        raise ParameterError(f"scenario is of type {type(given).__name__}; expected a Scenario, what its file holds, or its path")
    return given


def standard_drive(drive: str = "skid_steer") -> Scenario:
    """The calibration manoeuvres: a speed step, a stop, and a spin, with sensors that a real robot has; a tour in all directions
    for omnidirectional robots."""
    return find_scenario("omni_tour" if drive == "omni" else "step_and_spin")
