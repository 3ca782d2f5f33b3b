"""A route as scenario files describe it: waypoints, a speed, and how the robot steers for them."""

import math
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from slipfit.control.guidance import HeadingPd, LineOfSight, Path, PurePursuit, SurgePid, VoltageLoops, WheelSpeeds
from slipfit.errors import ParameterError
from slipfit.kernels import Shared
from slipfit.library import SkidSteerRobot
from slipfit.library.files import FileModel
from slipfit.library.parameter import as_float, out_of_range
from slipfit.library.robot import SpeedLoop

#: More volts per unit than this are a slip of the pen: any error at all would then ask for all that a battery has.
LARGEST_GAIN = 1e4


def _number(given: Any, info: ValidationInfo) -> float:
    return as_float(given, info.field_name or "value")


def _above_zero(largest: float) -> BeforeValidator:
    def check(given: Any, info: ValidationInfo) -> float:
        name, number = info.field_name or "value", _number(given, info)
        if number <= 0.0:
            raise ValueError(f"{name} = {number:g}; expected more than 0")
        if problem := out_of_range(name, number, 0.0, largest):
            raise ValueError(problem)
        return number

    return BeforeValidator(check)


def _gain(given: Any, info: ValidationInfo) -> float:
    name, number = info.field_name or "value", _number(given, info)
    if number < 0.0:
        raise ValueError(f"{name} = {number:g}; a negative gain drives away from what is wanted, expected 0 or more")
    if problem := out_of_range(name, number, 0.0, LARGEST_GAIN):
        raise ValueError(problem)
    return number


Number = Annotated[float, BeforeValidator(_number)]
Gain = Annotated[float, Field(ge=0.0, le=LARGEST_GAIN), BeforeValidator(_gain)]
Length = Annotated[float, Field(gt=0.0, le=1000.0), _above_zero(1000.0)]
Speed = Annotated[float, Field(gt=0.0, le=100.0), _above_zero(100.0)]
Rate = Annotated[float, Field(gt=0.0, le=100_000.0), _above_zero(100_000.0)]
Duration = Annotated[float, Field(gt=0.0, le=1e6), _above_zero(1e6)]


class SurgeGains(FileModel):
    """Volts from the speed error; the defaults are those of [SarahSwintonMEng]."""

    kp_v_s_per_m: Gain = 3.0
    ki_v_per_m: Gain = 13.75
    kd_v_s2_per_m: Gain = 0.0


class HeadingGains(FileModel):
    """Volts between the sides from heading error and yaw rate."""

    kp_v_per_rad: Gain = 8.0
    kd_v_s_per_rad: Gain = 1.0


class Gains(FileModel):
    """Motors use surge and heading; robots with speed loops need only how fast to turn for each rad of heading error."""

    surge: SurgeGains = SurgeGains()
    heading: HeadingGains = HeadingGains()
    turn_per_s: Gain = 2.0


class Route(FileModel):
    """Waypoints in the ground's own x and y, and how they are driven."""

    waypoints_m: list[tuple[Number, Number]]
    speed_mps: Speed
    acceptance_m: Length = 0.15
    guidance: Literal["line_of_sight", "pure_pursuit"] = "line_of_sight"
    lookahead_m: Length = 0.5  # of pure pursuit
    gains: Gains = Gains()
    control_rate_hz: Rate = 100.0
    at_most_s: Duration | None = None  # when a robot that has not arrived gives up

    @model_validator(mode="after")
    def _can_be_driven(self) -> "Route":
        if not self.waypoints_m:
            raise ValueError("waypoints_m is empty: there is nowhere to go; give at least one [x, y]")
        for n, (before, after) in enumerate(pairwise(self.waypoints_m)):
            distance = math.dist(before, after)
            if distance == 0.0:
                raise ValueError(f"waypoints_m[{n}] and [{n + 1}] are both {_shown(after)}; expected different places")
            if distance <= self.acceptance_m:
                raise ValueError(
                    f"waypoints_m[{n + 1}] = {_shown(after)} is {distance:.3g} m from the one before, within acceptance_m = "
                    f"{self.acceptance_m:g} m: it would count as reached at once; leave it out or take a smaller acceptance_m"
                )
        return self

    def time_limit_s(self, start_m: tuple[float, float]) -> float:
        """When the run ends at the latest: `at_most_s`, or twice the time that the legs take at the route's speed plus ten
        seconds."""
        return 2.0 * self.length_m(start_m) / self.speed_mps + 10.0 if self.at_most_s is None else self.at_most_s

    def length_m(self, start_m: tuple[float, float]) -> float:
        """Length of the legs, from the start over all waypoints."""
        return math.fsum(math.dist(a, b) for a, b in pairwise([start_m, *self.waypoints_m]))

    def hold_steps(self, step_s: float) -> int:
        """How many steps of a simulation a command lasts."""
        steps = 1.0 / (self.control_rate_hz * step_s)
        if abs(steps - round(steps)) > 1e-6 * steps or round(steps) < 1:
            fitting = 1.0 / (max(1, round(steps)) * step_s)
            raise ParameterError(
                f"control_rate_hz = {self.control_rate_hz:g} asks for a command every {steps:.4g} steps of {step_s:g} s; "
                f"expected whole steps, take control_rate_hz: {fitting:.6g}"
            )
        return round(steps)

    def driver(self, robot: SkidSteerRobot, start_m: tuple[float, float] = (0.0, 0.0)) -> LineOfSight | PurePursuit:
        """What the compiled vehicle asks for commands, for a robot that starts at `start_m`; every number may be replaced by an
        array with one entry per run."""
        away = math.dist(start_m, self.waypoints_m[0])
        if away <= self.acceptance_m:
            raise ParameterError(
                f"waypoints_m[0] = {_shown(self.waypoints_m[0])} is {away:.3g} m from the start {_shown(start_m)}, within "
                f"acceptance_m = {self.acceptance_m:g} m; leave it out, or start elsewhere"
            )
        points = Shared(np.array(self.waypoints_m, dtype=np.float64).ravel())
        path = Path(points, start_m[0], start_m[1], self.acceptance_m)
        if self.guidance == "pure_pursuit":
            return PurePursuit(path, self.speed_mps, self._loops(robot), self.lookahead_m)
        return LineOfSight(path, self.speed_mps, self._loops(robot))

    def _loops(self, robot: SkidSteerRobot) -> VoltageLoops | WheelSpeeds:
        radius_m, half_track_m, limits = robot.wheels.radius_m.value, 0.5 * robot.track_m, robot.limits
        most_mps = limits.speed_mps.value if limits and limits.speed_mps else math.inf
        if self.speed_mps > most_mps:
            raise ParameterError(
                f"speed_mps = {self.speed_mps:g} m/s is more than the {most_mps:g} m/s that {robot.name}'s controller allows "
                f"(limits.speed_mps); take a lower speed"
            )
        if isinstance(robot.powertrain, SpeedLoop):
            return WheelSpeeds(radius_m, half_track_m, self.gains.turn_per_s, most_mps / radius_m)
        motor, surge, heading = robot.powertrain, self.gains.surge, self.gains.heading
        friction = motor.resistance_ohm.value * motor.viscous_friction_nm_s_per_rad.value / motor.torque_constant_nm_per_a.value
        fastest_mps = radius_m * motor.voltage_limit_v.value / (motor.back_emf_v_s_per_rad.value + friction)
        if self.speed_mps > fastest_mps:
            raise ParameterError(
                f"speed_mps = {self.speed_mps:g} m/s is more than the {fastest_mps:.3g} m/s at which {robot.name}'s motors run "
                f"unloaded at {motor.voltage_limit_v.value:g} V; take a lower speed (1 km/h is 0.278 m/s)"
            )
        return VoltageLoops(
            SurgePid(surge.kp_v_s_per_m, surge.ki_v_per_m, surge.kd_v_s2_per_m),
            HeadingPd(heading.kp_v_per_rad, heading.kd_v_s_per_rad),
            robot.powertrain.voltage_limit_v.value,
        )


def _shown(place: tuple[float, float]) -> str:
    return f"[{place[0]:g}, {place[1]:g}]"
