"""An omnidirectional robot as its file describes it: wheels with rollers, at any place and angle."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from slipfit.library.files import FileModel
from slipfit.library.parameter import Between, Parameter, PerWheel, VectorParameter, Vectors
from slipfit.library.robot import DcMotor, ImuPlace, Robot, SpeedLoop
from slipfit.vehicles.loads import spring_shares
from slipfit.vehicles.omni_kinematics import OMNI_ROLLER_RAD, free_motions, wheel_map

TURN_RAD = 2.0 * np.pi

#: Flatter than this (sine of the roller's angle) a wheel would have to turn more than a hundred times as fast as it moves.
_FLATTEST = 0.01

#: Width of a wheel with rollers against its radius, as drawn: files do not tell it.
_DRAWN_WIDTH = 0.8

#: Wheels whose positions span less than this (m) stand on a line.
_NARROWEST_M = 1e-3


def _same_for_all(name: str, value: float) -> Any:
    return Field(default_factory=lambda: VectorParameter(name, (value,)))


class OmniWheels(FileModel):
    """Wheels in any order. One number serves all wheels, or there is one for each.

    rolling_rad is the direction, from the body's x axis, in which the robot goes when the wheel turns forward. roller_rad is the
    angle of a roller's axis from the wheel's axle, from its left end towards the rolling direction: pi/2 for omni wheels, pi/4
    or -pi/4 for mecanum wheels. Each of the `rollers` equal sectors of a turn has its roller first and then, over
    rigid_fraction of it, the rigid part between two rollers; phase_sectors tells where in a sector the wheel stands at the start.
    """

    radius_m: Annotated[Parameter, Between(0.005, 2.0)]
    radius_ratio: Annotated[VectorParameter, PerWheel(0.5, 2.0)] = _same_for_all("radius_ratio", 1.0)  # of each wheel
    at_m: Annotated[VectorParameter, Vectors(2, is_list=True)]
    rolling_rad: Annotated[VectorParameter, PerWheel(-TURN_RAD, TURN_RAD)]
    roller_rad: Annotated[VectorParameter, PerWheel(-np.pi, np.pi)] = _same_for_all("roller_rad", OMNI_ROLLER_RAD)
    spin_inertia_kgm2: Annotated[Parameter, Between(1e-7, 1e3)]
    rollers: Annotated[Parameter, Between(1.0, 1000.0)]
    rigid_fraction: Annotated[Parameter, Between(0.0, 1.0)] | None = None
    roller_arc_rad: Annotated[Parameter, Between(0.0, TURN_RAD)] | None = None  # instead of rigid_fraction
    phase_sectors: Annotated[VectorParameter, PerWheel(-1000.0, 1000.0)] = _same_for_all("phase_sectors", 0.0)

    @model_validator(mode="after")
    def _one_number_for_all_or_for_each(self) -> "OmniWheels":
        count = len(self.at_m.value)
        if count < 3:
            raise ValueError(f"at_m has {count} wheels; an omnidirectional robot has three or more")
        for numbers in (self.radius_ratio, self.rolling_rad, self.roller_rad, self.phase_sectors):
            if len(numbers.value) not in (1, count):
                raise ValueError(f"{numbers.name} has {len(numbers.value)} entries; expected one for all, or {count}")
        return self

    @model_validator(mode="after")
    def _sectors_of_a_turn(self) -> "OmniWheels":
        if self.rollers.value != round(self.rollers.value):
            raise ValueError(f"rollers = {self.rollers.value:g}; expected a whole number of rollers in a turn")
        if self.rigid_fraction is not None and self.roller_arc_rad is not None:
            raise ValueError("rigid_fraction and roller_arc_rad are both given; they say the same, keep one of them")
        if self.roller_arc_rad is not None and self.rollers.value * self.roller_arc_rad.value > TURN_RAD * (1.0 + 1e-9):
            raise ValueError(
                f"{self.rollers.value:g} rollers of {self.roller_arc_rad.value:g} rad each overlap: together they have "
                f"{self.rollers.value * self.roller_arc_rad.value:.4g} rad, a turn has {TURN_RAD:.4f}; check roller_arc_rad"
            )
        return self

    @property
    def rigid_share(self) -> float:
        """Part of each sector that is rigid; 0 where the file does not say."""
        return float(self.rigid_share_of(self.rollers.value))

    def rigid_share_of(self, rollers: Any) -> Any:
        """The same with so many rollers in a turn, one number or one per run: of a given size they leave less between them."""
        if self.roller_arc_rad is not None:
            return np.maximum(0.0, 1.0 - np.asarray(rollers, dtype=float) * self.roller_arc_rad.value / TURN_RAD)
        return 0.0 if self.rigid_fraction is None else self.rigid_fraction.value

    def each(self, numbers: VectorParameter) -> np.ndarray:
        """One number per wheel, (n,)."""
        return np.broadcast_to(np.asarray(numbers.value, dtype=float), len(self.at_m.value)).copy()


class Prescribed(FileModel):
    """Wheels that turn as commanded, whatever it takes."""

    kind: Literal["prescribed"]


class OmniRobot(Robot):
    """A robot on omni or mecanum wheels: every number with its source."""

    has_sides: ClassVar[bool] = False
    kind_of_robot: ClassVar[str] = "omnidirectional robots, whose wheels roll sideways on rollers"
    at_home: ClassVar[str] = (
        "an omnidirectional robot is simulated by `slipfit simulate` and calibrated by `slipfit omni calibrate`"
    )

    drive: Literal["omni"]
    yaw_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)]
    centre_of_mass_m: Annotated[VectorParameter, Vectors(3)]
    loads: Literal["statics", "equal"] = "statics"  # equal: each wheel carries its share of the weight, whatever happens
    wheels: OmniWheels
    powertrain: Annotated[SpeedLoop | DcMotor | Prescribed, Field(discriminator="kind")]
    imu_at_m: ImuPlace | None = None

    @model_validator(mode="after")
    def _wheels_move_and_hold_the_robot(self) -> "OmniRobot":
        wheels = self.wheels
        flat = np.abs(np.sin(self.roller_rad)) < _FLATTEST
        if flat.any():
            raise ValueError(
                f"wheels.roller_rad of wheel {int(np.argmax(flat)) + 1} lies along the axle: such a wheel cannot drive; expected "
                f"about 1.571 (omni) or ±0.785 (mecanum)"
            )
        free = free_motions(self.at_m, self.rolling_rad, self.roller_rad)
        if len(free):
            vx, vy, turn = free[0]
            way = f"{vx:.2f} ahead, {vy:.2f} to the left, {turn:.2f} turning"
            raise ValueError(
                f"wheels: this layout has rank {3 - len(free)} of 3: no wheel drives or holds the robot against a motion of "
                f"({way}); check at_m, rolling_rad and roller_rad"
            )
        at = np.array(wheels.at_m.value)
        if np.linalg.svd(at - at.mean(axis=0), compute_uv=False)[-1] < _NARROWEST_M:
            raise ValueError("wheels.at_m: all wheels stand on one line and cannot hold the robot up; check the positions")
        return self

    @model_validator(mode="after")
    def _centre_of_mass_above_the_wheels(self) -> "OmniRobot":
        x, y, height = self.centre_of_mass_m.value
        if height <= 0.0:
            raise ValueError(f"centre_of_mass_m has a height of {height:g} m; expected a height above the ground")
        if self.loads == "statics" and (spring_shares(self.at_m) @ [1.0, x, y]).min() < 0.0:
            raise ValueError(
                f"centre_of_mass_m = [{x:g}, {y:g}] leaves a wheel without load at rest; the robot would tip over, check the "
                f"positions"
            )
        return self

    @property
    def at_m(self) -> np.ndarray:
        """Wheel positions from the robot's origin, (n, 2)."""
        return np.array(self.wheels.at_m.value)

    @property
    def rolling_rad(self) -> np.ndarray:
        """Direction in which each wheel drives the robot, (n,)."""
        return self.wheels.each(self.wheels.rolling_rad)

    @property
    def roller_rad(self) -> np.ndarray:
        """Angle of each wheel's rollers, (n,)."""
        return self.wheels.each(self.wheels.roller_rad)

    @property
    def radii_m(self) -> np.ndarray:
        """Radius of each wheel, (n,)."""
        return self.wheels.radius_m.value * self.wheels.each(self.wheels.radius_ratio)

    #: Whether wheels can be commanded to move the robot sideways.
    moves_sideways: ClassVar[bool] = True

    def wheel_map(self, radius_m: float | None = None) -> np.ndarray:
        """The matrix (n, 3) that gives wheel speeds (rad/s) of a body velocity (vx_mps, vy_mps, yaw_rate_radps) without slip; of
        wheels with another radius_m where one is given."""
        radii_m = self.radii_m if radius_m is None else radius_m * self.wheels.each(self.wheels.radius_ratio)
        return wheel_map(self.at_m, self.rolling_rad, self.roller_rad, radii_m)

    @property
    def supports_m(self) -> np.ndarray:
        """Where the robot stands on the ground, (n, 2): its wheels."""
        return self.at_m

    @property
    def rigid_share(self) -> float:
        """Part of each wheel's turn that is rigid, between two rollers."""
        return self.wheels.rigid_share

    @property
    def size_words(self) -> tuple[str, str]:
        """Wheels stand anywhere: their number in place of track and wheelbase."""
        return "omni", f"{len(self.at_m)} wheels"

    def drawn_width_m(self, radius_m: Any) -> Any:
        """Width to draw wheels of these radii with."""
        return _DRAWN_WIDTH * radius_m

    def as_wheeled(self) -> "OmniRobot":
        return self

    def sources(self) -> set[str]:
        return super().sources() | {p.source for p in self.vectors().values()}

    def vectors(self) -> dict[str, VectorParameter]:
        """Every number that has one entry per wheel or axis, by its name."""
        found = [v for part in (self, self.wheels) for v in dict(part).values() if isinstance(v, VectorParameter)]
        return {p.name: p for p in found}

    def _parts(self) -> list[FileModel]:
        return [self, self.wheels, self.powertrain]

    def _rows_of_drive(self) -> list[str]:
        rows = [f"  {len(self.at_m)} wheels, loads {self.loads}, powertrain {self.powertrain.kind}"]
        for vector in self.vectors().values():
            entries = ", ".join(f"[{e[0]:g}, {e[1]:g}]" if isinstance(e, tuple) else f"{e:.4g}" for e in vector.value)
            rows.append(f"  {vector.name:<32}{entries:>22}  {vector.source}")
        return rows
