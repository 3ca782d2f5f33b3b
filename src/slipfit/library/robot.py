"""A robot as its file describes it."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from slipfit.errors import ParameterError
from slipfit.library.files import FileModel, NamedFile
from slipfit.library.parameter import Between, Parameter, VectorParameter, Vectors

Positive = Annotated[Parameter, Between(1e-12, 1e6)]

#: Where an IMU sits: ahead, to the left and above, counted as the centre of mass is.
ImuPlace = Annotated[VectorParameter, Vectors(3)]


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


class Robot(NamedFile):
    """A skid-steer robot: every number with its source."""

    schema_: Literal["slipfit/robot/1"] = Field("slipfit/robot/1", alias="schema")
    name: str = Field(pattern=r"^[a-z0-9_\-]+$")
    about: str = ""
    drive: Literal["skid_steer"]
    mass_kg: Annotated[Parameter, Between(0.01, 1e5)]
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

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds; robots with another drive are told where they are at home."""
        if isinstance(data, Mapping) and data.get("schema") == cls.kind() and data.get("drive") == "tracked":
            raise ParameterError(
                f"{where}: drive is tracked, and this works with skid-steer robots on wheels; a tracked robot climbs in `slipfit "
                f"simulate` and is read by find_tracked_robot in Python"
            )
        if isinstance(data, Mapping) and data.get("schema") == cls.kind() and data.get("drive") == "omni":
            raise ParameterError(
                f"{where}: drive is omni, and this works with skid-steer robots; an omnidirectional robot is simulated by "
                f"`slipfit simulate`, calibrated by `slipfit omni calibrate`, and read by find_omni_robot in Python"
            )
        return super().from_mapping(data, where=where)

    @model_validator(mode="after")
    def _a_battery_feeds_motors(self) -> "Robot":
        if self.battery and not isinstance(self.powertrain, DcMotor):
            raise ValueError(f"battery: only motors draw current, this powertrain is a {self.powertrain.kind}; leave it out")
        return self

    @model_validator(mode="after")
    def _inertias_of_a_real_body(self) -> "Robot":
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
    def _centre_of_mass_between_the_wheels(self) -> "Robot":
        x, y, height = self.centre_of_mass_m.value
        at = np.array(self.wheels.at_m.value)
        if not (at[:, 0].min() < x < at[:, 0].max() and at[:, 1].min() < y < at[:, 1].max()):
            raise ValueError(f"centre_of_mass_m = [{x:g}, {y:g}] lies outside the wheels; the robot would tip over at rest")
        if height <= 0.0:
            raise ValueError(f"centre_of_mass_m has a height of {height:g} m; expected a height above the ground")
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

    #: Whether wheels can be commanded to move the robot sideways.
    moves_sideways: ClassVar[bool] = False

    def wheel_map(self, radius_m: float | None = None) -> np.ndarray:
        """The matrix (n, 3) that gives wheel speeds (rad/s) of a body velocity (vx_mps, vy_mps, yaw_rate_radps) without slip; of
        wheels with another radius where one is given. Nothing that these wheels do moves the robot sideways."""
        side_m = np.array([at[1] for at in self.wheels.at_m.value])
        rows = np.column_stack([np.ones_like(side_m), np.zeros_like(side_m), -side_m])
        return np.asarray(rows / (self.wheels.radius_m.value if radius_m is None else radius_m))

    def parameters(self) -> dict[str, Parameter]:
        """Every scalar, by its name."""
        parts = (self, self.wheels, self.powertrain, self.limits, self.battery)
        found = [v for part in parts if part for v in dict(part).values() if isinstance(v, Parameter)]
        return {p.name: p for p in found}

    def summary(self) -> str:
        """A screen of text: the numbers and where they come from."""
        rows = [f"{self.name}: {self.about}", f"  track {self.track_m:g} m, wheelbase {self.wheelbase_m:g} m"]
        com = ", ".join(f"{c:g}" for c in self.centre_of_mass_m.value)
        rows.append(f"  {'centre_of_mass_m':<32}{com:>22}  {self.centre_of_mass_m.source}")
        for p in self.parameters().values():
            spread = "" if p.std is None else f" ± {p.std:g}"
            rows.append(f"  {p.name:<32}{f'{p.value:g}{spread}':>22}  {p.source}")
        return "\n".join(rows)
