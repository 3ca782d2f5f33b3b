"""Setpoints from body velocities, and back: the constants of a robot's motor controller.

    v_side = v -+ omega E / 2,    setpoint_side = g_side v_side,    omega = (v_right - v_left) / E

Symbols    E effective track; (T^2 + B^2) / T for a four-wheel robot whose wheels slip alike · g setpoint per m/s, k2 / d of
           [Haas2009] eq. (2) · T, B track and wheelbase · - left, + right
Reference  [Haas2009] section 3, with E for its Dia^2 / T
Valid for  slow drives on one floor: E stands for slip. Setpoints within a dead band turn nothing
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from slipfit.contact.wheel_slip import spin_yaw_rate
from slipfit.control.mixing import Mode
from slipfit.errors import ParameterError
from slipfit.library import SkidSteerRobot
from slipfit.twin import SkidSteerTwin
from slipfit.twin.powertrain import USUAL_LIMITS, FittedPowertrain

#: Setpoints may leave their limits by as much as rounding makes of a plan that was cut to them.
ROUNDING = 1e-9

#: Tracks that differ by less agree: circles close to about 2 % of their way, [Haas2009] section 4.
TRACKS_AGREE = 0.02


@dataclass(frozen=True, slots=True)
class SideScale:
    """Constants of one side."""

    setpoint_per_mps: float
    wheel_radius_m: float
    dead_band_setpoint: float = 0.0
    fastest_mps: float = math.inf

    def setpoint(self, rim_mps: float) -> float:
        """Setpoint for a rim speed."""
        return self.setpoint_per_mps * rim_mps

    def rim_mps(self, setpoint: float) -> float:
        """Rim speed that a setpoint brings about."""
        if abs(setpoint) < self.dead_band_setpoint:
            return 0.0
        return max(-self.fastest_mps, min(self.fastest_mps, setpoint / self.setpoint_per_mps))


@dataclass(frozen=True, slots=True)
class Scale:
    """How a robot's body velocities and its controller's setpoints go together."""

    left: SideScale
    right: SideScale
    effective_track_m: float
    limits: tuple[float, float] = USUAL_LIMITS
    track_source: str = "given"

    @classmethod
    def of(cls, twin: SkidSteerTwin, ground: str | None = None) -> "Scale":
        """From a twin's powertrain. A missing effective track comes from its slip constants, or from track and wheelbase."""
        power = twin.powertrain
        if power is None:
            raise ParameterError(
                f"the twin of {twin.robot.name} has no powertrain; find its odometer and speed constants with slipfit odometry"
            )
        if power.setpoint_unit != "controller":
            raise ParameterError(
                f"the twin of {twin.robot.name} has setpoints in {power.setpoint_unit}; expected units of a controller: "
                f"calibrate with its own setpoints"
            )
        track_m, source = effective_track(twin, ground)
        left, right = _side(twin.robot, power, "left"), _side(twin.robot, power, "right")
        return cls(left, right, track_m, power.setpoint_limits, source)

    def rims_mps(self, v_mps: float, yaw_rate_radps: float) -> tuple[float, float]:
        """Rim speeds of left and right for a body velocity."""
        apart = 0.5 * yaw_rate_radps * self.effective_track_m
        return v_mps - apart, v_mps + apart

    def setpoints(self, v_mps: float, yaw_rate_radps: float) -> tuple[float, float]:
        """Setpoints of left and right for a body velocity; not rounded, not limited."""
        left, right = self.rims_mps(v_mps, yaw_rate_radps)
        return self.left.setpoint(left), self.right.setpoint(right)

    def channels(self, v_mps: float, yaw_rate_radps: float, mode: Mode = Mode.MIXED) -> tuple[float, float]:
        """What the two channels are told for a body velocity; not rounded, not limited."""
        return mode.channels(*self.setpoints(v_mps, yaw_rate_radps))

    def wheels_radps(self, first: float, second: float, mode: Mode = Mode.MIXED) -> tuple[float, float]:
        """Wheel speeds of left and right that two channels bring about."""
        left, right = mode.sides(first, second, self.limits)
        return self.left.rim_mps(left) / self.left.wheel_radius_m, self.right.rim_mps(right) / self.right.wheel_radius_m

    def velocity(self, first: float, second: float, mode: Mode = Mode.MIXED) -> tuple[float, float]:
        """Body velocity that two channels bring about: v = (v_r + v_l) / 2, omega = (v_r - v_l) / E."""
        sides = mode.sides(first, second, self.limits)
        left, right = self.left.rim_mps(sides[0]), self.right.rim_mps(sides[1])
        return 0.5 * (left + right), (right - left) / self.effective_track_m

    @property
    def fastest_mps(self) -> float:
        """Largest speed ahead that both sides reach."""
        _, highest = self.limits
        return min(min(side.fastest_mps, highest / side.setpoint_per_mps) for side in (self.left, self.right))

    @property
    def quickest_radps(self) -> float:
        """Largest yaw rate on the spot that both sides reach, either way."""
        lowest, highest = self.limits
        most = min(-lowest, highest)
        rim = min(min(side.fastest_mps, most / side.setpoint_per_mps) for side in (self.left, self.right))
        return 2.0 * rim / self.effective_track_m

    def problem(self, v_mps: float, yaw_rate_radps: float) -> str:
        """Why a body velocity cannot be driven, as a clause; empty where it can."""
        lowest, highest = self.limits
        rims, told = self.rims_mps(v_mps, yaw_rate_radps), self.setpoints(v_mps, yaw_rate_radps)
        for name, side, rim, setpoint in zip(("left", "right"), (self.left, self.right), rims, told, strict=True):
            if not lowest - ROUNDING <= setpoint <= highest + ROUNDING:
                return f"the {name} setpoint would be {setpoint:.1f}; the controller takes {lowest:g} to {highest:g}"
            if abs(rim) > side.fastest_mps * (1.0 + ROUNDING):
                return f"the {name} wheels would roll at {rim:.3g} m/s; they reach {side.fastest_mps:.3g} m/s"
        return ""


def _side(robot: SkidSteerRobot, power: FittedPowertrain, name: Literal["left", "right"]) -> SideScale:
    side = power.left if name == "left" else power.right
    if side.setpoint_per_radps is None or side.setpoint_per_radps.value is None:
        raise ParameterError(
            f"the twin of {robot.name} has no powertrain.{name}.setpoint_per_radps; find it with slipfit odometry, from timed "
            f"counts of both sides"
        )
    radius_m = power.rolling_radius_m(name) or robot.wheels.radius_m.value
    return SideScale(
        setpoint_per_mps=side.setpoint_per_radps.value / radius_m,
        wheel_radius_m=radius_m,
        dead_band_setpoint=side.value("dead_band_setpoint", 0.0),
        fastest_mps=side.value("saturation_radps", math.inf) * radius_m,
    )


def geometric_track_m(robot: SkidSteerRobot) -> float:
    """Effective track of wheels that all slip alike: (T^2 + B^2) / T with four wheels, with more the mean square of the axles.

    Reference  [Haas2009] section 3; [Trimble2022] eq. (3) with c_lat = c_long
    """
    return robot.track_m + 4.0 * _rms_ahead_m(robot) ** 2 / robot.track_m


def _rms_ahead_m(robot: SkidSteerRobot) -> float:
    """Root mean square distance of the axles from their middle; half the wheelbase with two."""
    return float(np.std([at[0] for at in robot.wheels.at_m.value]))


def effective_track(twin: SkidSteerTwin, ground: str | None = None) -> tuple[float, str]:
    """Effective track and where it comes from: the powertrain, the slip constants of a ground, or geometry alone."""
    found = twin.powertrain.effective_track_m if twin.powertrain else None
    if found is not None and found.value is not None:
        return found.value, f"powertrain.effective_track_m ({found.source})"
    name = twin.ground_name(ground) if ground is not None or len(twin.grounds) == 1 else None
    by_slip = slip_track_m(twin, name) if name is not None else None
    if by_slip is not None:
        return by_slip, f"c_lat / c_long of {name}"
    return geometric_track_m(twin.robot), "(T² + B²) / T from the wheels' places"


def slip_track_m(twin: SkidSteerTwin, ground: str) -> float | None:
    """Effective track that a ground's slip constants mean, E = 2 (b^2 + l^2 c_long / c_lat) / b; none where it has none.

    Symbols    b half the track · l root mean square of the axles' distances from their middle, half the wheelbase with two
    Reference  [Trimble2022] eq. (3), omega of a spin with rim speeds -+ omega_t b, in E = 2 omega_t b / omega
    """
    fitted, robot = twin.grounds[ground], twin.robot
    along, across = (fitted.parameters.get(key) for key in ("c_long_per_n", "c_lat_per_n"))
    if fitted.law != "wheel_slip" or not (along and across and along.value and across.value):
        return None
    return robot.track_m / float(spin_yaw_rate(1.0, across.value / along.value, 0.5 * robot.track_m, _rms_ahead_m(robot)))


def track_findings(twin: SkidSteerTwin, ground: str | None = None) -> tuple[str, ...]:
    """A sentence for each ground whose slip constants mean another effective track than the one that setpoints are made with."""
    found = twin.powertrain.effective_track_m if twin.powertrain else None
    if found is None or not found.value:
        return ()
    said = []
    for name in twin.grounds if ground is None else (twin.ground_name(ground),):
        meant = slip_track_m(twin, name)
        if meant is not None and abs(found.value / meant - 1.0) > TRACKS_AGREE:
            how, off = f" ({found.note})" if found.note else "", 100.0 * (found.value / meant - 1.0)
            said.append(
                f"tracks disagree: powertrain.effective_track_m is {found.value:.3g} m{how}, but the slip constants of {name} "
                f"mean {meant:.3g} m: told by the one, the simulated robot turns {off:+.0f} % off; "
                f"calibrate slip and track from one log of turns on that floor"
            )
    return tuple(said)
