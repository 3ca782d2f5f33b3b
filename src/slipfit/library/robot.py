"""What robots of every drive share: the file's common part, how a file finds its model, and what others ask of any robot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from slipfit.errors import ParameterError
from slipfit.library.files import FileModel, NamedFile
from slipfit.library.parameter import Between, Parameter, VectorParameter, Vectors

if TYPE_CHECKING:
    from slipfit.library.omni_robot import OmniRobot
    from slipfit.library.skid_steer_robot import SkidSteerRobot

Positive = Annotated[Parameter, Between(1e-12, 1e6)]

#: Where an IMU sits: ahead, to the left and above, counted as the centre of mass is.
ImuPlace = Annotated[VectorParameter, Vectors(3)]


#: A weight over the squares of the wheels' radii (or over the tracks' area) from which a mass is doubted. Robots of the library
#: have 1 to 22 kPa, mining trucks some 150 kPa; a small robot's mass in grams gives more than 1 MPa.
MOST_PRESSURE_PA = 5e5


class SpeedLoop(FileModel):
    """Wheels that turn as commanded, as long as the torque suffices."""

    kind: Literal["speed_loop"]
    torque_limit_nm: Annotated[Parameter, Between(1e-4, 1e5)]


class DcMotor(FileModel):
    """A DC motor per wheel, driven by voltage; constants on the wheel's side of the gear."""

    kind: Literal["dc_motor"]
    resistance_ohm: Positive
    inductance_h: Annotated[Parameter, Between(0.0, 100.0)]
    torque_constant_nm_per_a: Positive
    back_emf_v_s_per_rad: Positive
    rotor_inertia_kgm2: Annotated[Parameter, Between(0.0, 1e3)]
    viscous_friction_nm_s_per_rad: Annotated[Parameter, Between(0.0, 1e3)]
    voltage_limit_v: Annotated[Parameter, Between(0.1, 1e4)]
    current_limit_a: Annotated[Parameter, Between(1e-3, 1e5)] | None = None
    shaft_stiffness_nm_per_rad: Annotated[Parameter, Between(1e-6, 1e9)] | None = None  # between rotor and wheel; else rigid
    shaft_damping_nm_s_per_rad: Annotated[Parameter, Between(0.0, 1e6)] | None = None

    @model_validator(mode="after")
    def _a_shaft_has_stiffness(self) -> "DcMotor":
        if self.shaft_damping_nm_s_per_rad is not None and self.shaft_stiffness_nm_per_rad is None:
            raise ValueError("shaft_damping_nm_s_per_rad is given without shaft_stiffness_nm_per_rad; give both, or none")
        return self


class Robot(NamedFile):
    """A robot: every number with its source. `Robot.load` and `Robot.from_mapping` give the subclass that `drive` names."""

    #: Whether wheels or belts stand in a left and a right row that each turn as commanded; and whether belts do.
    has_sides: ClassVar[bool] = True
    has_belts: ClassVar[bool] = False
    #: Whether wheels can be commanded to move the robot sideways.
    moves_sideways: ClassVar[bool] = False
    #: Which robots these are, and which commands take them: what a refusal of another drive says.
    kind_of_robot: ClassVar[str]
    at_home: ClassVar[str]

    schema_: Literal["slipfit/robot/1"] = Field("slipfit/robot/1", alias="schema")
    name: str = Field(pattern=r"^[a-z0-9_\-]+$")
    about: str = ""
    drive: str
    mass_kg: Annotated[Parameter, Between(0.01, 1e5)]

    if TYPE_CHECKING:  # every drive has these; each declares them itself, at the place where its files have them
        yaw_inertia_kgm2: Parameter
        centre_of_mass_m: VectorParameter
        imu_at_m: VectorParameter | None

        @property
        def radii_m(self) -> Any: ...

        @property
        def powertrain(self) -> FileModel: ...

    @classmethod
    def file_schema(cls) -> dict[str, Any]:
        """All drives in one: what a robot's file may hold follows its `drive`."""
        from slipfit.library.drives import ROBOTS
        from slipfit.library.schemas import schema_by_drive

        return schema_by_drive(ROBOTS, "Robot", lambda rule: rule) if cls is Robot else super().file_schema()

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds. Asked of `Robot`, any drive is read; asked of one kind, the others are refused."""
        from slipfit.library.drives import ROBOTS

        drive = data.get("drive") if isinstance(data, Mapping) else None
        if cls is not Robot:
            if isinstance(drive, str) and data.get("schema") == cls.kind() and ROBOTS.get(drive, cls) is not cls:
                raise ParameterError(f"{where}: {cls.refusal(drive, 'this')}")
            return super().from_mapping(data, where=where)
        if drive is not None and drive not in tuple(ROBOTS):  # a tuple: YAML allows a list there, which has no hash
            raise ParameterError(f"{where}: drive is '{drive}'; expected one of {', '.join(ROBOTS)}")
        model = ROBOTS[drive or "skid_steer"]
        return cast(Self, model.from_mapping(data, where=where))

    @classmethod
    def refusal(cls, drive: str, use: str) -> str:
        """Why a robot with another drive does not serve, and where it is at home."""
        from slipfit.library.drives import ROBOTS

        return f"drive is {drive}, and {use} works with {cls.kind_of_robot}; {ROBOTS[drive].at_home}"

    @property
    def track_m(self) -> float:
        """Distance between left and right wheels or belts."""
        raise NotImplementedError

    @property
    def wheelbase_m(self) -> float:
        """Distance between the first and the last axle."""
        raise NotImplementedError

    @property
    def size_words(self) -> tuple[str, str]:
        """Track and wheelbase as a table of robots shows them."""
        return f"{self.track_m:g} m", f"{self.wheelbase_m:g} m"

    def as_wheeled(self) -> "SkidSteerRobot | OmniRobot":
        """The robot itself, or one on wheels in place of its tracks, for what asks how far rims roll and what the body weighs."""
        raise NotImplementedError

    def sources(self) -> set[str]:
        """Where the numbers come from."""
        return {p.source for p in self.parameters().values()} | {self.centre_of_mass_m.source}

    def doubts(self) -> tuple[str, ...]:
        """What the file says that no such robot is known to have: a mass that its wheels or tracks would not carry."""
        weight_n, over_m2 = 9.81 * self.mass_kg.value, self.carrying_m2
        if weight_n <= MOST_PRESSURE_PA * over_m2:
            return ()
        return (
            f"mass_kg = {self.mass_kg.value:g} kg is much for {self.carried_by}: {1e-6 * weight_n / over_m2:.2g} MPa, more than "
            f"{1e-6 * MOST_PRESSURE_PA:g} MPa; is it in grams?",
        )

    @property
    def carrying_m2(self) -> float:
        """An area that grows with what wheels or tracks of this size carry: the squares of the wheels' radii together."""
        return float(sum(self.radii_m**2))

    @property
    def carried_by(self) -> str:
        """What carries the robot, in words."""
        return f"{len(self.radii_m)} wheels of {self.radii_m[0]:g} m radius"

    def parameters(self) -> dict[str, Parameter]:
        """Every scalar, by its name."""
        found = [v for part in self._parts() for v in dict(part).values() if isinstance(v, Parameter)]
        return {p.name: p for p in found}

    def summary(self) -> str:
        """A screen of text: the numbers and where they come from."""
        rows = [f"{self.name}: {self.about}", *self._rows_of_drive()]
        for p in self.parameters().values():
            spread = "" if p.std is None else f" ± {p.std:g}"
            rows.append(f"  {p.name:<32}{f'{p.value:g}{spread}':>22}  {p.source}")
        rows += [f"warning: {doubt}" for doubt in self.doubts()]
        return "\n".join(rows)

    def _parts(self) -> list[FileModel]:
        """The parts of the file that hold its scalars."""
        raise NotImplementedError

    def _rows_of_drive(self) -> list[str]:
        """The summary's rows above the scalars."""
        raise NotImplementedError

    def _centre_row(self) -> str:
        com = ", ".join(f"{c:g}" for c in self.centre_of_mass_m.value)
        return f"  {'centre_of_mass_m':<32}{com:>22}  {self.centre_of_mass_m.source}"
