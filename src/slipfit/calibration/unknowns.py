"""What a fit looks for: the law's constants, and the nuisances that would otherwise pass for them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slipfit.contact.wheel_slip import RELAXATION
from slipfit.library import SkidSteerRobot

CONSTANTS = ("c_long_per_n", "c_lat_per_n", "mu")

#: Bounds of the constants; below the lowest slip constant a replay does not differ from rolling.
LOWEST = {"c_long_per_n": 1e-6, "c_lat_per_n": 1e-6, "mu": 0.02}
HIGHEST = {"c_long_per_n": 1.0, "c_lat_per_n": 10.0, "mu": 10.0}

#: Numbers of the robot itself, the same in all of its drives.
OF_THE_ROBOT = ("centre_of_mass_x_m", "centre_of_mass_y_m", "mass_kg", "yaw_inertia_kgm2", "radius_m")

#: Tyres of such robots relax within centimetres; solid ones hardly (m).
RELAXATION_STD_M, DAMPING_STD_S = 0.03, 0.01

#: As good as none.
NO_RELAXATION = 1e-5

#: A nuisance stays within this many of its expected spreads.
FARTHEST = 4.0


@dataclass(frozen=True, slots=True)
class Unknown:
    """One unknown number: where it starts, how far it may go, what is expected of it."""

    name: str
    start: float
    scale: float  # a typical change: finite differences and steps of the solver
    prior_std: float | None  # about `expected`; None: the data alone decide
    about: str
    acts_on: str  # "motion": the replay runs anew; "sensors": only what the sensors say of it changes
    expected: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf

    @property
    def is_constant(self) -> bool:
        """Whether it is one of the law's."""
        return self.name in CONSTANTS

    def bounds(self) -> tuple[float, float]:
        if self.prior_std is None:
            return self.lower, self.upper
        reach = FARTHEST * self.prior_std
        return max(self.lower, self.expected - reach), min(self.upper, self.expected + reach)


def constant(name: str, start: float) -> Unknown:
    """A constant of the law."""
    return Unknown(name, start, 0.02 * start, None, "", "motion", lower=LOWEST[name], upper=HIGHEST[name])


def body(robot: SkidSteerRobot) -> list[Unknown]:
    """The robot's own numbers, as far as they are not known exactly: their spread becomes part of the constants'."""
    com_x, com_y, _ = robot.centre_of_mass_m.value
    found = [
        Unknown("centre_of_mass_x_m", com_x, 0.002, 0.02, "centre of mass ahead of the wheels' centre", "motion", com_x),
        Unknown("centre_of_mass_y_m", com_y, 0.002, 0.02, "centre of mass left of the wheels' centre", "motion", com_y),
    ]
    known = {
        "mass_kg": (robot.mass_kg, "mass"),
        "yaw_inertia_kgm2": (robot.yaw_inertia_kgm2, "yaw inertia"),
        "radius_m": (robot.wheels.radius_m, "wheel radius"),
    }
    for name, (p, about) in known.items():
        if p.std:
            found.append(Unknown(name, p.value, 0.01 * p.value, p.std, about, "motion", p.value, lower=0.05 * p.value))
    return found


def tyres() -> list[Unknown]:
    """How far a tyre rolls before its force follows: what is left out here would be found in the slip constants."""
    spreads = (RELAXATION_STD_M, RELAXATION_STD_M, DAMPING_STD_S, DAMPING_STD_S)
    about = ("relaxation length of the tyres", "the same across", "damping of a relaxing tyre", "the same across")
    return [
        Unknown(name, 0.1 * spread, 0.03 * spread, spread, text, "motion", lower=NO_RELAXATION)
        for name, spread, text in zip(RELAXATION, spreads, about, strict=True)
    ]


#: How far an IMU may be from where one expects it (m): from the wheels' center, and from where transforms say it is on a body
#: whose origin may be off the wheels' center.
IMU_STD_M, MOUNTED_STD_M = 0.2, 0.1


def imu_unknowns(
    *, has_pose: bool, moves_at_start: bool, gyro_scale_std: float = 0.0, at_m: tuple[float, float, float] | None = None
) -> list[Unknown]:
    """What may be wrong with an IMU. Its yaw scale shows only beside a pose; without one it is as exact as one says. `at_m` is
    its position by the log's transforms."""
    x_m, y_m, arm_std = (0.0, 0.0, IMU_STD_M) if at_m is None else (at_m[0], at_m[1], MOUNTED_STD_M)
    found = [
        Unknown("accel_bias_x_mps2", 0.0, 0.01, None, "accelerometer bias (or tilt) ahead", "sensors"),
        Unknown("accel_bias_y_mps2", 0.0, 0.01, None, "accelerometer bias (or tilt) to the left", "sensors"),
        Unknown("gyro_bias_radps", 0.0, 0.001, None, "gyro bias", "sensors"),
        Unknown("accel_scale", 1.0, 0.01, 0.03, "accelerometer scale, wheel radius included", "sensors", 1.0),
        Unknown("imu_yaw_rad", 0.0, 0.005, 0.05, "IMU turned about the vertical", "sensors"),
        Unknown("imu_x_m", x_m, 0.01, arm_std, "IMU ahead of the wheels' centre", "sensors", x_m),
        Unknown("imu_y_m", y_m, 0.01, arm_std, "IMU left of the wheels' centre", "sensors", y_m),
        Unknown("imu_clock_s", 0.0, 0.001, 0.05, "IMU stamps behind the encoders'", "sensors"),
        Unknown("floor_slope_x", 0.0, 0.001, 0.01, "floor rising along the first heading", "sensors"),
        Unknown("floor_slope_y", 0.0, 0.001, 0.01, "floor rising to the left of it", "sensors"),
    ]
    if has_pose or gyro_scale_std > 0.0:
        std = 0.02 if has_pose else gyro_scale_std
        found.append(Unknown("gyro_scale", 1.0, 0.001, std, "gyro scale", "sensors", 1.0))
    if moves_at_start:
        found.append(Unknown("start_v_mps", 0.0, 0.01, 0.1, "start speed", "motion"))
    return found


def pose_unknowns() -> list[Unknown]:
    """What may be wrong with a pose: where its origin sits on the robot, and when it was taken."""
    return [
        Unknown("pose_clock_s", 0.0, 0.002, 0.05, "pose stamps behind the encoders'", "sensors"),
        Unknown("pose_yaw_rad", 0.0, 0.005, 0.05, "pose turned about the vertical", "sensors"),
        Unknown("pose_x_m", 0.0, 0.01, 0.2, "pose ahead of the wheels' centre", "sensors"),
        Unknown("pose_y_m", 0.0, 0.01, 0.2, "pose left of the wheels' centre", "sensors"),
        Unknown("pose_scale", 1.0, 0.001, 0.01, "pose scale, wheel radius included", "sensors", 1.0),
    ]


def started(unknowns: Sequence[Unknown], at: dict[str, float]) -> list[Unknown]:
    """The same unknowns with other starts; those of constants set their scale."""
    moved = []
    for u in unknowns:
        start = at.get(u.name, u.start)
        scale = 0.02 * start if u.is_constant else u.scale
        moved.append(replace(u, start=start, scale=scale))
    return moved
