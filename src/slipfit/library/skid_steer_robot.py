"""A skid-steer robot as its file describes it."""

import math
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from slipfit.library.files import FileModel
from slipfit.library.parameter import Between, Parameter, VectorParameter, Vectors
from slipfit.library.robot import DcMotor, ImuPlace, Positive, Robot, SpeedLoop
from slipfit.vehicles import loads


class Wheels(FileModel):
    """Wheels in pairs from front to rear, left before right: front-left, front-right, rear-left, rear-right."""

    radius_m: Annotated[Parameter, Between(0.01, 2.0)]
    width_m: Annotated[Parameter, Between(0.001, 2.0)]
    at_m: Annotated[VectorParameter, Vectors(2, is_list=True)]
    spin_inertia_kgm2: Annotated[Parameter, Between(1e-7, 1e3)]
    tyre_stiffness_n_per_m: Annotated[Parameter, Between(10.0, 1e8)] | None = None  # each; on uneven ground
    tyre_damping_n_s_per_m: Annotated[Parameter, Between(0.0, 1e6)] | None = None
    grouser_height_m: Annotated[Parameter, Between(0.0, 1.0)] | None = None  # beyond radius_m; counts on soil
    grouser_count: Annotated[Parameter, Between(1.0, 1000.0)] | None = None  # around one wheel

    @model_validator(mode="after")
    def _grousers_are_whole(self) -> "Wheels":
        height, count = self.grouser_height_m, self.grouser_count
        if height is not None and height.value >= self.radius_m.value:
            raise ValueError(
                f"grouser_height_m = {height.value:g} m is not less than the wheel's radius_m of {self.radius_m.value:g} m; "
                f"expected the height of the grousers above the rim, in metres"
            )
        if count is not None and height is None:
            raise ValueError("grouser_count is given without grouser_height_m; give the height too, or neither")
        if count is not None and not count.value.is_integer():
            raise ValueError(f"grouser_count = {count.value:g}; expected a whole number of grousers around one wheel")
        return self

    @model_validator(mode="after")
    def _come_in_pairs(self) -> "Wheels":
        at = self.at_m.value
        if len(at) < 4 or len(at) % 2:
            raise ValueError(f"at_m has {len(at)} wheels; a skid-steer robot has 4, 6 or another even number")
        for left, right in zip(at[::2], at[1::2], strict=True):
            if not (left[1] > 0.0 > right[1]) or abs(left[0] - right[0]) > 1e-3 or abs(left[1] + right[1]) > 1e-3:
                raise ValueError(
                    f"at_m has {list(left)} and {list(right)} as one pair; expected a left wheel (y > 0) and the "
                    f"right wheel opposite to it, pairs from front to rear"
                )
        xs = [pair[0] for pair in at[::2]]
        if any(ahead <= behind for ahead, behind in pairwise(xs)):
            raise ValueError(f"at_m has its pairs at x = {xs}; expected them from front to rear")
        if max(pair[1] for pair in at[::2]) - min(pair[1] for pair in at[::2]) > 1e-3:
            raise ValueError("at_m has pairs of different track; expected the same track for all")
        return self


class Battery(FileModel):
    """What feeds all motors of a robot; its voltage falls under load."""

    open_circuit_v: Annotated[Parameter, Between(0.1, 1e4)]
    internal_resistance_ohm: Annotated[Parameter, Between(0.0, 1e3)]


class Limits(FileModel):
    """What the robot's own controller allows."""

    speed_mps: Annotated[Parameter, Between(0.01, 100.0)] | None = None
    yaw_rate_radps: Annotated[Parameter, Between(0.01, 100.0)] | None = None


class TorqueModel(FileModel):
    """Constants of a model without wheels, in which motor torque acts on the body and viscous friction stands for the ground
    (`vehicles.torque_model`). What motors lose grows with their current: efficiency + efficiency_per_a |i|."""

    efficiency: Annotated[Parameter, Between(0.0, 1.0)]
    efficiency_per_a: Annotated[Parameter, Between(-1e3, 0.0)]
    damping_ahead_n_s_per_m: Positive
    drag_ahead_n_s2_per_m2: Annotated[Parameter, Between(0.0, 1e6)]
    damping_aside_n_s_per_m: Positive
    damping_yaw_nm_s_per_rad: Positive


class SkidSteerRobot(Robot):
    """A skid-steer robot: every number with its source."""

    model_config = ConfigDict(title="Robot")  # as the JSON schema of version 1 has it

    kind_of_robot: ClassVar[str] = "skid-steer robots, whose left and right wheels skid sideways in every turn"
    at_home: ClassVar[str] = "a skid-steer robot is simulated by `slipfit simulate` and calibrated by `slipfit calibrate`"

    drive: Literal["skid_steer"]
    yaw_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)]
    roll_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)] | None = None
    pitch_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)] | None = None
    centre_of_mass_m: Annotated[VectorParameter, Vectors(3)]
    wheels: Wheels
    powertrain: Annotated[SpeedLoop | DcMotor, Field(discriminator="kind")]
    limits: Limits | None = None
    battery: Battery | None = None  # without one, motors get the voltage they are told
    air_drag_n_s2_per_m2: Annotated[Parameter, Between(0.0, 1e4)] | None = None  # force ahead for each (m/s)^2
    rolling_resistance: Annotated[Parameter, Between(0.0, 1.0)] | None = None  # force against rolling over load
    caster_m: Annotated[Parameter, Between(0.0, 0.5)] | None = None  # how far behind its contact a tyre's side force acts
    torque_model: TorqueModel | None = None
    imu_at_m: ImuPlace | None = None

    @model_validator(mode="after")
    def _a_battery_feeds_motors(self) -> "SkidSteerRobot":
        if self.battery and not isinstance(self.powertrain, DcMotor):
            raise ValueError(f"battery: only motors draw current, this powertrain is a {self.powertrain.kind}; leave it out")
        return self

    @model_validator(mode="after")
    def _inertias_of_a_real_body(self) -> "SkidSteerRobot":
        """No body has a principal moment larger than the sum of the other two: they are sums of squares."""
        if self.roll_inertia_kgm2 is None or self.pitch_inertia_kgm2 is None:
            return self
        moments = {p.name: p.value for p in (self.roll_inertia_kgm2, self.pitch_inertia_kgm2, self.yaw_inertia_kgm2)}
        largest = max(moments, key=lambda name: moments[name])
        others = math.fsum(moments.values()) - moments[largest]
        if moments[largest] > others * (1.0 + 1e-9):
            raise ValueError(
                f"{largest} = {moments[largest]:g} kg m² is more than the other two moments together ({others:g}); no "
                f"body has such inertias, check units and axes (x roll, y pitch, z yaw)"
            )
        return self

    @model_validator(mode="after")
    def _centre_of_mass_between_the_wheels(self) -> "SkidSteerRobot":
        x, y, height = self.centre_of_mass_m.value
        at = np.array(self.wheels.at_m.value)
        if not (at[:, 0].min() < x < at[:, 0].max() and at[:, 1].min() < y < at[:, 1].max()):
            raise ValueError(f"centre_of_mass_m = [{x:g}, {y:g}] lies outside the wheels; the robot would tip over at rest")
        if height <= 0.0:
            raise ValueError(f"centre_of_mass_m has a height of {height:g} m; expected a height above the ground")
        return self

    @property
    def at_m(self) -> np.ndarray:
        """Wheel positions from the robot's origin, (n, 2)."""
        return np.array(self.wheels.at_m.value)

    @property
    def supports_m(self) -> np.ndarray:
        """Where the robot stands on the ground, (n, 2): its wheels."""
        return self.at_m

    def wheel_tables(self) -> Any:
        """The kernel's tables of the wheels, radius 1 m: places, and how they share the weight (`vehicles.loads`)."""
        return loads.wheels(self.at_m, 1.0)

    @property
    def rolling_rad(self) -> np.ndarray:
        """Direction in which each wheel drives the robot, (n,): ahead."""
        return np.zeros(len(self.wheels.at_m.value))

    @property
    def radii_m(self) -> np.ndarray:
        """Radius of each wheel, (n,)."""
        return np.full(len(self.wheels.at_m.value), self.wheels.radius_m.value)

    @property
    def rigid_share(self) -> float:
        """Part of a wheel's turn without a roller under it that could roll sideways: none where there are no rollers."""
        return 0.0

    def drawn_width_m(self, radius_m: Any) -> Any:
        """Width to draw wheels of these radii with."""
        return np.full(np.shape(radius_m), self.wheels.width_m.value)

    def as_wheeled(self) -> "SkidSteerRobot":
        return self

    @property
    def track_m(self) -> float:
        """Distance between left and right wheels."""
        left, right = self.wheels.at_m.value[:2]
        return float(left[1] - right[1])

    @property
    def wheelbase_m(self) -> float:
        """Distance between the first and the last axle."""
        at = self.wheels.at_m.value
        return float(at[0][0] - at[-1][0])

    def wheel_map(self, radius_m: float | None = None) -> np.ndarray:
        """The matrix (n, 3) that gives wheel speeds (rad/s) of a body velocity (vx_mps, vy_mps, yaw_rate_radps) without slip; of
        wheels with another radius where one is given. Nothing that these wheels do moves the robot sideways."""
        side_m = np.array([at[1] for at in self.wheels.at_m.value])
        rows = np.column_stack([np.ones_like(side_m), np.zeros_like(side_m), -side_m])
        return np.asarray(rows / (self.wheels.radius_m.value if radius_m is None else radius_m))

    def _parts(self) -> list[FileModel]:
        return [part for part in (self, self.wheels, self.powertrain, self.limits, self.battery) if part]

    def _rows_of_drive(self) -> list[str]:
        return [f"  track {self.track_m:g} m, wheelbase {self.wheelbase_m:g} m", self._centre_row()]
