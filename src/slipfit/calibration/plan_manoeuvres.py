"""Candidate manoeuvres of a planned drive: each starts and ends at rest, and comes back to where it began.

Speed steps go there and back along the floor, spins turn left and then right, arcs follow a circle forward and return along it
backward. So a plan may repeat and mix them in any order, and needs no more floor than its largest one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import degrees, pi, sqrt

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library import Ground, SkidSteerRobot
from slipfit.library.robot import DcMotor
from slipfit.simulation import Command
from slipfit.simulation.trajectory import Trajectory

#: Free floor around the robot (m).
MARGIN_M = 0.1

#: Share of the friction coefficient that a plan uses, and least share of its load at rest that a wheel keeps.
GRIP_SHARE, LEAST_LOAD_SHARE = 0.7, 0.15

#: Share of what torque and load transfer allow that commands ask for: contacts overshoot.
ASKED_SHARE = 0.85

#: Longest that a wheel may be at its torque limit in one manoeuvre (s): commands are not followed then.
AT_LIMIT_S = 0.05

#: Share of mu g that the centripetal acceleration of an arc takes: the wheels' own scrubbing takes more.
ARC_SHARE = 0.15

#: Speed and yaw rate of robots whose file has no limits.
USUAL_SPEED_MPS, USUAL_YAW_RATE_RADPS = 1.0, 2.0

#: Speed before and after a step (m/s), as in [Trimble2022], and the rest between manoeuvres (s).
LOW_SPEED_MPS, PAUSE_S = 0.2, 0.4


@dataclass(frozen=True, slots=True)
class Manoeuvre:
    """Something to drive, from rest to rest and back to its start."""

    kind: str  # speed step, spin, arc
    about: str
    commands: tuple[Command, ...]

    @property
    def duration_s(self) -> float:
        return sum(command.for_s for command in self.commands)


@dataclass(frozen=True, slots=True)
class Floor:
    """Free floor, the longer side first; the robot starts along it."""

    length_m: float
    width_m: float

    @classmethod
    def from_text(cls, text: str, *, where: str = "floor") -> "Floor":
        """From sides in metres, as 6x4; `where` names it in sentences."""
        try:
            length, width = (float(part) for part in text.lower().split("x"))
        except ValueError:
            raise ParameterError(f"{where} is '{text}'; expected length and width in metres, as 6x4") from None
        if not all(0.1 <= side <= 1000.0 for side in (length, width)):
            raise ParameterError(f"{where} is '{text}'; expected sides between 0.1 and 1000 m")
        return cls(max(length, width), min(length, width))

    def __str__(self) -> str:
        return f"{self.length_m:g} x {self.width_m:g} m"


def footprint_m(robot: SkidSteerRobot) -> tuple[float, float]:
    """Length and width of the robot over its wheels: what the file tells of its outline."""
    wheels = robot.wheels
    return robot.wheelbase_m + 2.0 * wheels.radius_m.value, robot.track_m + wheels.width_m.value


def swept_m(trajectory: Trajectory, robot: SkidSteerRobot) -> tuple[float, float]:
    """Length and width of the rectangle along the axes that the robot's outline sweeps."""
    length, width = footprint_m(robot)
    c, s = np.abs(np.cos(trajectory.heading_rad)), np.abs(np.sin(trajectory.heading_rad))
    reach_x, reach_y = 0.5 * (c * length + s * width), 0.5 * (s * length + c * width)
    x, y = trajectory.x_m, trajectory.y_m
    return (
        float((x + reach_x).max() - (x - reach_x).min()),
        float((y + reach_y).max() - (y - reach_y).min()),
    )


def objection(trajectory: Trajectory, robot: SkidSteerRobot, floor: Floor, mu: float) -> str:
    """Why a manoeuvre cannot be part of a plan; empty if it can.

    The resultant |F|/N is held below the limit, which keeps out of the cone and of the pyramid at once.
    """
    length, width = swept_m(trajectory, robot)
    if length > floor.length_m - 2.0 * MARGIN_M or width > floor.width_m - 2.0 * MARGIN_M:
        return f"needs {length + 2.0 * MARGIN_M:.1f} x {width + 2.0 * MARGIN_M:.1f} m of floor"
    least = float((trajectory.lowest_load_n[1:] / trajectory.load_n[0]).min())
    if least < LEAST_LOAD_SHARE:
        return (
            "a wheel leaves the ground" if trajectory.lifted_wheels else f"a wheel keeps only {100.0 * least:.0f} % of its load"
        )
    if not trajectory.largest_grip_used < GRIP_SHARE * mu:
        return f"uses {trajectory.largest_grip_used:.2f} of the load as grip, more than {GRIP_SHARE:g} mu = {GRIP_SHARE * mu:.2f}"
    if trajectory.at_effort_limit_s > AT_LIMIT_S:
        return f"is at the torque limit for {trajectory.at_effort_limit_s:.2f} s"
    return ""


def candidates(robot: SkidSteerRobot, ground: Ground, floor: Floor, mu: float, max_speed_mps: float | None) -> list[Manoeuvre]:
    """Everything worth a look; what does not fit in the end shows when it is simulated."""
    limits = robot.limits
    fastest = max_speed_mps or (limits.speed_mps.value if limits and limits.speed_mps else USUAL_SPEED_MPS)
    turning = limits.yaw_rate_radps.value if limits and limits.yaw_rate_radps else USUAL_YAW_RATE_RADPS
    turning = min(turning, fastest / (0.5 * robot.track_m))
    hardest = hardest_acceleration_mps2(robot, ground, mu)
    return [
        *_speed_steps(robot, floor, fastest, hardest),
        *_spins(turning),
        *_arcs(fastest, turning, ARC_SHARE * mu * ground.gravity_mps2.value),
    ]


def hardest_acceleration_mps2(robot: SkidSteerRobot, ground: Ground, mu: float) -> float:
    """Acceleration ahead that grip, torque and load transfer allow.

    All wheels push alike, m a / n, while the lighter axle carries N (1 - |x| / l - a h / (g l)). So grip G allows
    a = g G (1 - |x|/l) / (1 + G h/l), a share s of its load that it keeps a = g (1 - |x|/l - s) l / h, and the torque
    a = n tau / (r (m + n J / r^2)).

    Symbols    x, h centre of mass ahead and above ground · l half the wheelbase · r, J radius and inertia of a wheel
    """
    gravity, wheels = ground.gravity_mps2.value, len(robot.wheels.at_m.value)
    radius, powertrain = robot.wheels.radius_m.value, robot.powertrain
    if isinstance(powertrain, DcMotor):
        stall_a = powertrain.voltage_limit_v.value / powertrain.resistance_ohm.value
        torque = 0.5 * stall_a * powertrain.torque_constant_nm_per_a.value  # at half the speed half the torque is left
    else:
        torque = powertrain.torque_limit_nm.value
    moved_kg = robot.mass_kg.value + wheels * robot.wheels.spin_inertia_kgm2.value / radius**2
    com_x, _, height = robot.centre_of_mass_m.value
    half = 0.5 * robot.wheelbase_m
    lighter, grip = 1.0 - abs(com_x) / half, GRIP_SHARE * mu
    by_grip = gravity * grip * lighter / (1.0 + grip * height / half)
    by_load = gravity * (lighter - LEAST_LOAD_SHARE) * half / height
    return float(ASKED_SHARE * min(by_grip, wheels * torque / (radius * moved_kg), by_load))


def _speed_steps(robot: SkidSteerRobot, floor: Floor, fastest: float, hardest: float) -> Iterator[Manoeuvre]:
    """0.2 m/s, up to a speed, down to 0.2 m/s; then the same backward."""
    way = floor.length_m - 2.0 * MARGIN_M - footprint_m(robot)[0] - 0.25  # what low speed and stopping take
    if way <= 0.0:
        return
    for hold_s, share, strength in product((0.2, 0.6), (0.6, 1.0), (0.5, 1.0)):
        a = strength * hardest
        fits = 0.5 * a * (sqrt(hold_s**2 + 4.0 * way / a) - hold_s)  # v^2 / a + v hold = way
        v = round(share * min(fastest, 0.95 * fits), 2)
        low = min(LOW_SPEED_MPS, 0.25 * v)
        if v < 0.1:
            continue
        ramp = round((v - low) / a, 3)
        one_way = (
            (0.3, low, 0.4),
            (ramp, v, hold_s),
            (ramp, low, 0.4),
            (0.2, 0.0, PAUSE_S),
        )
        commands = [
            Command(for_s=round(ramp_s + held_s, 3), v_mps=sign * speed, profile="linear", ramp_s=ramp_s)
            for sign in (1.0, -1.0)
            for ramp_s, speed, held_s in one_way
        ]
        about = f"{low:.2g} to {v:.2g} m/s and back in {ramp:.2g} s each, held {hold_s:g} s, forward and backward"
        yield Manoeuvre("speed step", about, tuple(commands))


def _spins(turning: float) -> Iterator[Manoeuvre]:
    """On the spot, left and right."""
    for share, hold_s in product((0.5, 1.0), (1.0, 3.0)):
        rate = round(share * turning, 2)
        commands = [
            Command(for_s=for_s, yaw_rate_radps=sign * target, profile="quintic", ramp_s=1.0)
            for sign in (1.0, -1.0)
            for target, for_s in ((rate, 1.0 + hold_s), (0.0, 1.0 + PAUSE_S))
        ]
        yield Manoeuvre("spin", f"{rate:.2g} rad/s held {hold_s:g} s, left and right", tuple(commands))


def _arcs(fastest: float, turning: float, side_mps2: float) -> Iterator[Manoeuvre]:
    """Part of a circle forward, the same backward; left and right. A larger radius asks for less side force."""
    for radius, angle in product((0.5, 1.0, 2.0, 3.0), (pi / 6.0, pi / 2.0)):
        v = round(min(0.8 * fastest, 0.8 * turning * radius, sqrt(side_mps2 * radius)), 2)
        for_s = round(1.0 + angle * radius / v, 2) if v >= 0.1 else 0.0
        if not for_s:
            continue
        commands = [
            Command(for_s=duration, v_mps=sign * v * moves, yaw_rate_radps=side * sign * v / radius * moves,
                    profile="quintic", ramp_s=1.0)
            for side, sign in product((1.0, -1.0), (1.0, -1.0))
            for moves, duration in ((1.0, for_s), (0.0, 1.0 + PAUSE_S))
        ]  # fmt: skip
        about = f"radius {radius:g} m by {degrees(angle):.0f}° at {v:.2g} m/s, left and right, forward and backward"
        yield Manoeuvre("arc", about, tuple(commands))
