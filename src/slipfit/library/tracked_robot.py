"""A tracked robot as its file describes it: belts, flippers, belly, drive and how hard it touches."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from slipfit.library.files import FileModel
from slipfit.library.parameter import Between, Parameter, VectorParameter, Vectors
from slipfit.library.robot import ImuPlace, Robot, SpeedLoop
from slipfit.library.skid_steer_robot import SkidSteerRobot, Wheels
from slipfit.vehicles.track_shape import Outline, counts

#: Contact needs this many segments along the underside and around half a sprocket: a coarser belt stands on a few corners.
LEAST_ALONG, LEAST_AROUND = 4, 3


class Tracks(FileModel):
    """Two belts around a sprocket behind and an idler in front, both of the same radius. Radius with belt, without cleats."""

    sprocket_radius_m: Annotated[Parameter, Between(0.01, 2.0)]
    axle_distance_m: Annotated[Parameter, Between(0.02, 10.0)]
    tread_m: Annotated[Parameter, Between(0.02, 10.0)]  # between the middles of the belts
    belt_width_m: Annotated[Parameter, Between(0.005, 2.0)]
    segments: Annotated[Parameter, Between(4.0, 400.0)]  # of each belt
    cleat_height_m: Annotated[Parameter, Between(0.0, 0.2)] | None = None
    cleat_share: Annotated[Parameter, Between(0.0, 1.0)] | None = None  # of the belt's area, at the cleats' root
    cleat_taper: Annotated[Parameter, Between(0.0, 1.0)] | None = None  # 1 - area of the tip over area of the root


class Flippers(FileModel):
    """Two arms that turn about the front axle, with belts of their own on the same sprocket."""

    flipper_length_m: Annotated[Parameter, Between(0.02, 5.0)]  # between its axles
    flipper_tip_radius_m: Annotated[Parameter, Between(0.005, 1.0)]
    flipper_tread_m: Annotated[Parameter, Between(0.02, 10.0)]
    flipper_width_m: Annotated[Parameter, Between(0.005, 1.0)]
    flipper_angle_rad: Annotated[Parameter, Between(-math.pi, math.pi)]  # up from straight ahead, where a scenario says nothing


class Belly(FileModel):
    """The plate between the tracks."""

    belly_clearance_m: Annotated[Parameter, Between(0.0, 1.0)]  # above the underside of the belts
    belly_width_m: Annotated[Parameter, Between(0.005, 5.0)]


class TrackDrive(FileModel):
    """What turns the belts: a speed loop on each side, at the belt's surface."""

    kind: Literal["track_loop"]
    sprocket_inertia_kgm2: Annotated[Parameter, Between(1e-7, 1e3)]  # of all that turns with one belt, at its sprocket
    belt_mass_kg: Annotated[Parameter, Between(0.0, 1e3)]  # of one belt
    torque_limit_nm: Annotated[Parameter, Between(1e-3, 1e5)]  # of one sprocket
    speed_gain_n_s_per_m: Annotated[Parameter, Between(0.0, 1e7)]
    integral_gain_n_per_m: Annotated[Parameter, Between(0.0, 1e8)]
    derivative_gain_kg: Annotated[Parameter, Between(0.0, 1e5)]
    belt_tension_n: Annotated[Parameter, Between(0.0, 1e6)]
    belt_loss_share: Annotated[Parameter, Between(0.0, 1.0)]  # of the tension
    belt_loss_n_s_per_m: Annotated[Parameter, Between(0.0, 1e5)]


class HardContact(FileModel):
    """How a segment meets hard ground: k delta^p, damped."""

    contact_stiffness_n_per_m_p: Annotated[Parameter, Between(1e2, 1e14)]
    contact_exponent: Annotated[Parameter, Between(1.0, 3.0)]
    contact_damping_n_s_per_m: Annotated[Parameter, Between(0.0, 1e7)]
    damping_full_at_m: Annotated[Parameter, Between(1e-7, 0.1)]


class TrackedRobot(Robot):
    """A robot on two tracks: every number with its source. Its origin lies between the axles, on the underside of the belts."""

    has_belts: ClassVar[bool] = True
    kind_of_robot: ClassVar[str] = "tracked robots, which stand on two belts"
    at_home: ClassVar[str] = (
        "a tracked robot climbs in `slipfit simulate`, and `slipfit tracks` and `slipfit estimate` take its logs"
    )

    drive: Literal["tracked"]
    roll_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)]
    pitch_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)]
    yaw_inertia_kgm2: Annotated[Parameter, Between(1e-6, 1e6)]
    centre_of_mass_m: Annotated[VectorParameter, Vectors(3)]
    tracks: Tracks
    flippers: Flippers | None = None
    belly: Belly | None = None
    powertrain: TrackDrive
    contact: HardContact
    imu_at_m: ImuPlace | None = None

    @model_validator(mode="after")
    def _stands_on_its_tracks(self) -> "TrackedRobot":
        x, y, height = self.centre_of_mass_m.value
        half = 0.5 * self.tracks.axle_distance_m.value
        if not -half < x < half:
            raise ValueError(f"centre_of_mass_m has x = {x:g} m; it must lie between the axles, within ±{half:g} m")
        if abs(y) > 1e-9:
            raise ValueError(
                f"centre_of_mass_m has y = {y:g} m; tracked robots are simulated with their mass in the middle, write 0"
            )
        if height <= 0.0:
            raise ValueError(f"centre_of_mass_m has a height of {height:g} m; expected a height above the underside of the belts")
        return self

    @model_validator(mode="after")
    def _segments_that_suffice(self) -> "TrackedRobot":
        given = self.tracks.segments.value
        if given != round(given) or round(given) % 2:
            raise ValueError(f"tracks.segments = {given:g}; expected an even whole number")
        along, around = counts(self.outline(), round(given))
        if along < LEAST_ALONG or around < LEAST_AROUND:
            raise ValueError(
                f"tracks.segments = {given:g} gives {along} segments along the underside and {around} around half a sprocket; "
                f"contact needs at least {LEAST_ALONG} and {LEAST_AROUND}, take more"
            )
        return self

    @model_validator(mode="after")
    def _flippers_taper_to_their_tip(self) -> "TrackedRobot":
        if self.flippers and self.flippers.flipper_length_m.value <= abs(
            self.tracks.sprocket_radius_m.value - self.flippers.flipper_tip_radius_m.value
        ):
            raise ValueError("flippers.flipper_length_m is shorter than the radii differ: the tip lies inside the sprocket")
        return self

    def outline(self) -> Outline:
        """The side view, without flipper or belly where there is none."""
        tracks, (x, _, height) = self.tracks, self.centre_of_mass_m.value
        more = {p.name: p.value for p in self.parameters().values() if p.name in Outline._fields}
        return Outline(
            radius_m=tracks.sprocket_radius_m.value,
            axle_distance_m=tracks.axle_distance_m.value,
            tread_m=tracks.tread_m.value,
            belt_width_m=tracks.belt_width_m.value,
            mass_ahead_m=0.5 * tracks.axle_distance_m.value + x,
            mass_above_m=height,
            **{name: value for name, value in more.items() if name not in ("axle_distance_m", "tread_m", "belt_width_m")},
        )

    @property
    def carrying_m2(self) -> float:
        """Area of both tracks between their axles."""
        return float(2.0 * self.tracks.axle_distance_m.value * self.tracks.belt_width_m.value)

    @property
    def carried_by(self) -> str:
        """What carries the robot, in words."""
        return f"two tracks of {self.tracks.axle_distance_m.value:g} m"

    @property
    def track_m(self) -> float:
        """Distance between the middles of the belts."""
        return self.tracks.tread_m.value

    @property
    def wheelbase_m(self) -> float:
        """Distance between the axles."""
        return self.tracks.axle_distance_m.value

    def as_wheeled(self) -> SkidSteerRobot:
        """The same body on four wheels in place of sprockets and idlers: for all that asks how far rims roll, how far apart they
        are and what the body weighs, as readers and inspections of logs do. Its contacts are no tracks."""
        x, y = 0.5 * self.wheelbase_m, 0.5 * self.track_m
        radius, drive = self.tracks.sprocket_radius_m, self.powertrain
        limit = drive.torque_limit_nm
        wheels = {
            "radius_m": replace(radius, name="radius_m"),
            "width_m": replace(self.tracks.belt_width_m, name="width_m"),
            "at_m": VectorParameter("at_m", ((x, y), (x, -y), (-x, y), (-x, -y)), "sprockets and idlers"),
            "spin_inertia_kgm2": replace(drive.sprocket_inertia_kgm2, name="spin_inertia_kgm2", std=None),
        }
        return SkidSteerRobot(
            name=self.name, about=self.about, drive="skid_steer", mass_kg=self.mass_kg, yaw_inertia_kgm2=self.yaw_inertia_kgm2,
            centre_of_mass_m=self.centre_of_mass_m, wheels=Wheels(**wheels), imu_at_m=self.imu_at_m,
            powertrain=SpeedLoop(kind="speed_loop", torque_limit_nm=limit),
        )  # fmt: skip

    def _parts(self) -> list[FileModel]:
        parts = (self, self.tracks, self.flippers, self.belly, self.powertrain, self.contact)
        return [part for part in parts if part]

    def _rows_of_drive(self) -> list[str]:
        return [f"  tread {self.track_m:g} m, axles {self.wheelbase_m:g} m apart", self._centre_row()]
