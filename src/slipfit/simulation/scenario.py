"""A scenario as its file describes it: the ground, the task, the start, and the sensors; for robots of every drive."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from slipfit.control.route import Route
from slipfit.errors import ParameterError
from slipfit.library.files import FileModel, NamedFile, nearest
from slipfit.library.parameter import out_of_range
from slipfit.simulation.scenario_ground import ScenarioGround
from slipfit.simulation.scenario_numbers import (
    AS_NUMBER,
    AS_WHOLE,
    Angle,
    NonNegative,
    Number,
    Pair,
    Rate,
    within_range,
)
from slipfit.simulation.scenario_version_1 import in_version_2

_FOLDER = Path(__file__).parent.parent / "library" / "scenarios"

#: A command's ramp lasts this long unless the command says otherwise, or is shorter.
RAMP_S = 1.0

#: The largest run that one scenario may ask for, in steps: five hours at 1 ms.
MOST_STEPS = 20_000_000

#: Step of robots on wheels, and the time between two records, where a scenario gives none.
WHEEL_STEP_S, WHEEL_RECORD_S = 0.001, 0.01

#: How long a straight drive to behind an obstacle may take where `stop.after_s` is not given.
_OVER_AN_OBSTACLE_S = 9.0


class Start(FileModel):
    """Pose and velocity of the wheels' centre at the start, or of a tracked robot's center of mass; wheels roll along."""

    x_m: Number = 0.0
    y_m: Number = 0.0
    heading_rad: Angle = 0.0
    v_mps: Number = 0.0
    vy_mps: Number = 0.0
    yaw_rate_radps: Number = 0.0
    rolling: bool = False  # tracked robots: at the speed of the task, instead of from rest
    flipper_angle_rad: Angle | None = None  # the robot's own where it is not given


#: Numbers of a start on wheels that can vary from run to run, named start_x_m and so on.
START_NUMBERS = ("x_m", "y_m", "heading_rad", "v_mps", "vy_mps", "yaw_rate_radps")


class Command(FileModel):
    """What the robot is commanded for some time: body velocity, wheel speeds, or voltages (motors only)."""

    for_s: Number
    v_mps: Number | None = None
    vy_mps: Number | None = None  # to the left; omnidirectional robots only
    yaw_rate_radps: Number | None = None
    wheels_radps: list[Number] | None = None  # one per wheel, or [left, right] of a skid-steer robot
    wheels_v: list[Number] | None = None
    profile: Literal["step", "linear", "quintic"] = "step"
    ramp_s: NonNegative | None = None  # how long linear and quintic take; then the value is held

    @model_validator(mode="after")
    def _one_kind(self) -> "Command":
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


class StraightDrive(FileModel):
    """A drive straight ahead to a goal: behind the obstacle, or `distance_m` ahead on a plane or terrain."""

    speed_mps: Annotated[float, Field(ge=-10.0, le=10.0), within_range(-10.0, 10.0)] = 0.3
    ramp_s: NonNegative = 0.5  # until the command has its full value
    distance_m: Annotated[float, Field(gt=0.0, le=1000.0), AS_NUMBER] | None = None


class Stop(FileModel):
    """When a run ends that does not reach its goal."""

    after_s: Annotated[float, Field(gt=0.0, le=3600.0), AS_NUMBER] | None = None  # of a straight drive
    patience_s: Annotated[float, Field(gt=0.0, le=3600.0), AS_NUMBER] = 3.0  # without progress, before a robot counts as stuck


class BatteryInstead(FileModel):
    """Numbers that stand in place of those of the robot's battery."""

    open_circuit_v: Annotated[float, Field(ge=0.1, le=1e4), within_range(0.1, 1e4)] | None = None
    internal_resistance_ohm: Annotated[float, Field(ge=0.0, le=1e3), within_range(0.0, 1e3)] | None = None


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
    counts_per_turn: Annotated[int, Field(ge=1), AS_WHOLE] = 4096
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
    """One drive: a ground, a task (commands, a route, or a straight drive to a goal), and what records it."""

    schema_: Literal["slipfit/scenario/2"] = Field("slipfit/scenario/2", alias="schema")
    about: str = ""
    ground: ScenarioGround = ScenarioGround()
    start: Start = Start()
    commands: list[Command] = Field(default_factory=list)
    route: Route | None = None  # instead of commands: waypoints that the robot steers for by itself
    straight: StraightDrive | None = None  # instead of commands: straight ahead to a goal
    stop: Stop = Stop()
    energy: bool = False  # keep an energy balance; always kept on routes and terrains
    battery: BatteryInstead = BatteryInstead()
    sensors: Sensors = Sensors()
    seed: Annotated[int, Field(ge=0), AS_WHOLE] = 0
    step_s: Number | None = None  # the drive type's own where it is not given
    record_s: Number | None = None  # likewise

    @model_validator(mode="after")
    def _one_task(self) -> "Scenario":
        tasks = {"commands": bool(self.commands), "route": self.route is not None, "straight": self.straight is not None}
        given = [name for name, is_given in tasks.items() if is_given]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are both given; a robot follows one of them")
        if not given:
            raise ValueError(
                "commands is empty: the scenario ends before it starts; give at least one command, a route, or a straight drive"
            )
        if self.straight:
            self._check_goal(self.straight)
        elif self.stop.after_s is not None:
            instead = "route.at_most_s" if self.route else "for_s of its commands"
            raise ValueError(f"stop.after_s is for straight drives; the time of this task is set by {instead}")
        return self

    @model_validator(mode="after")
    def _can_be_run(self) -> "Scenario":
        for name, given, lower, upper in (("step_s", self.step_s, 1e-6, 0.1), ("record_s", self.record_s, 1e-6, 1e6)):
            problem = "" if given is None else out_of_range(name, given, lower, upper)
            if problem:
                raise ValueError(problem)
        if self.record_s is not None and self.record_s < self.time_step_s:
            raise ValueError(f"record_s = {self.record_interval_s:g} s is shorter than step_s = {self.time_step_s:g} s")
        if self.duration_s < self.time_step_s:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, less than one step of {self.time_step_s:g} s")
        if self.duration_s / self.time_step_s > MOST_STEPS:
            raise ValueError(f"the drive lasts {self.duration_s:g} s, more than {MOST_STEPS:,} steps of {self.time_step_s:g} s")
        return self

    def _check_goal(self, straight: StraightDrive) -> None:
        """A straight drive needs a goal and an end."""
        if (self.ground.shape == "obstacle") == (straight.distance_m is not None):
            raise ValueError(
                "straight.distance_m: the goal is behind the obstacle, leave it out"
                if straight.distance_m is not None
                else f"straight.distance_m is missing; how far is the goal on this {self.ground.shape}?"
            )
        if straight.speed_mps <= 0.0 and self.stop.after_s is None:
            raise ValueError(f"straight.speed_mps = {straight.speed_mps:g} never arrives; give stop.after_s, or a speed above 0")

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds, of this version or the one before."""
        return super().from_mapping(in_version_2(data, where=where), where=where)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file; a surface, soil or terrain that is a file is looked for beside it."""
        scenario = super().load(path)
        beside = scenario.ground.beside(Path(path).parent)
        return scenario if beside is scenario.ground else scenario.model_copy(update={"ground": beside})

    def to_mapping(self) -> dict[str, Any]:
        """As it stands in a file: what was set."""
        data = self.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)
        if self.ground.surface is None and "surface" in data.get("ground", {}):
            del data["ground"]["surface"]
        return {"schema": self.kind(), **{key: entry for key, entry in data.items() if key != "schema"}}

    def in_steps_of(self, step_s: float, record_s: float) -> Self:
        """The scenario with these steps and records where it gives none."""
        given = {"step_s": self.step_s or step_s, "record_s": self.record_s or record_s}
        return self.model_copy(update=given)

    @property
    def time_step_s(self) -> float:
        """Step of the computation: what the file or the drive type gives, else that of robots on wheels."""
        return WHEEL_STEP_S if self.step_s is None else self.step_s

    @property
    def record_interval_s(self) -> float:
        """Time between two records, likewise."""
        return max(WHEEL_RECORD_S, self.time_step_s) if self.record_s is None else self.record_s

    @property
    def duration_s(self) -> float:
        """How long the drive lasts, at most where it has a goal."""
        if self.route:
            return self.route.time_limit_s((self.start.x_m, self.start.y_m))
        if self.straight is None:
            return sum(command.for_s for command in self.commands)
        if self.stop.after_s is not None:
            return self.stop.after_s
        way_m = self.straight.distance_m
        return _OVER_AN_OBSTACLE_S if way_m is None else 2.0 * way_m / self.straight.speed_mps + 10.0

    @property
    def has_goal(self) -> bool:
        """Whether there is an obstacle or a distance that a robot may get over or not."""
        return self.straight is not None or self.ground.obstacle is not None

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


#: Scenarios that suit a drive type; step_and_spin suits the others.
_STANDARD = {"omni": "omni_tour", "tracked": "curb_117mm"}


def standard_drive(drive: str = "skid_steer") -> Scenario:
    """The calibration manoeuvres: a speed step, a stop, and a spin, with sensors that a real robot has; a tour in all directions
    for omnidirectional robots, and a curb for tracked ones."""
    return find_scenario(_STANDARD.get(drive, "step_and_spin"))
