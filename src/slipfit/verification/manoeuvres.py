"""What a robot is driven through in an engine: the two calibration tests, a slope, and a free drive; ramps as its balance allows.

A wheel that slips with wheel_slip does not slip at all while it stands. So wheels that have to turn round do so at rest: a robot
that is still turning when a whole side stands still would be thrown over, in the twin as in an engine.
"""

import math
from dataclasses import dataclass

import numpy as np

from slipfit.engines import WheelCommands
from slipfit.exporters.bodies import torque_limit_nm
from slipfit.library import Ground, SkidSteerRobot
from slipfit.simulation import Command, Scenario, Trajectory, simulate
from slipfit.simulation.scenario_ground import ScenarioGround

#: Shares of the accelerations that would lift a wheel, and that the motors could give.
OF_TIPPING, OF_TORQUE = 0.2, 0.5

#: Steepest ramp (m/s²), however low and strong a robot is.
MOST_MPS2 = 2.0

#: Rest before each manoeuvre (s): drift and loads at rest are read there.
REST_S = 1.0

#: Yaw rate and duration of the spin: more than a whole turn, so that a yaw rate that hangs on the heading shows.
SPIN_RADPS, SPIN_S = 1.0, 8.0

#: Speeds of the longitudinal test (m/s).
SLOW_MPS, FAST_MPS = 0.2, 1.0

#: Side slope on which the directions of friction show, and the speed there.
SLOPE_RAD, SLOPE_MPS = math.radians(5.0), 0.5

#: Rows of commands (s).
STEP_S = 0.001


@dataclass(frozen=True, eq=False, slots=True)
class Manoeuvre:
    """A drive of the twin in our simulator, and the wheel speeds that an engine is to follow: those that the twin reached."""

    name: str
    scenario: Scenario
    motion: Trajectory
    commands: WheelCommands

    @property
    def gravity_mps2(self) -> tuple[float, float]:
        """Gravity over its size, along x and y of the level plane: a slope is tilted gravity."""
        place = self.scenario.ground
        down = -math.sin(place.slope_rad)
        return down * math.cos(place.uphill_rad), down * math.sin(place.uphill_rad)


def manoeuvre(name: str, robot: SkidSteerRobot, ground: Ground, commands: list[Command], slope_rad: float = 0.0) -> Manoeuvre:
    """The twin's own drive. A slope rises to the right, so that the robot is pulled to its left."""
    place = ScenarioGround(slope_rad=slope_rad, uphill_rad=-math.pi / 2.0 if slope_rad else 0.0)
    scenario = Scenario(commands=commands, ground=place, step_s=STEP_S, record_s=STEP_S)
    motion = simulate(robot, scenario, ground=ground)
    return Manoeuvre(name, scenario, motion, WheelCommands(np.asarray(motion.wheel_speed_radps[1:]), STEP_S))


def spin(robot: SkidSteerRobot, ground: Ground, for_s: float = SPIN_S) -> Manoeuvre:
    """Rest, then a steady spin on the spot: the test of [Trimble2022] for c_lat / c_long."""
    return manoeuvre("spin", robot, ground, [_rest(), *_ramped(robot, ground, [(for_s, 0.0, SPIN_RADPS)])])


def speed_step(robot: SkidSteerRobot, ground: Ground) -> Manoeuvre:
    """Slow, then as fast as balance and motors allow to a higher speed: the test of [Trimble2022] for c_long."""
    legs = [(1.5, SLOW_MPS, 0.0), (2.5, FAST_MPS, 0.0)]
    return manoeuvre("speed step", robot, ground, [_rest(), *_ramped(robot, ground, legs)])


def side_slope(robot: SkidSteerRobot, ground: Ground) -> Manoeuvre:
    """Rest across a slope, then straight ahead: slip across the wheels alone carries the robot down."""
    return manoeuvre("side slope", robot, ground, [_rest(), *_ramped(robot, ground, [(2.0, SLOPE_MPS, 0.0)])], SLOPE_RAD)


#: Seconds, m/s, rad/s.
_FIRST_LEGS = [(1.5, 0.3, 0.0), (1.5, 0.8, 0.0), (3.5, 0.6, 0.5), (1.0, 0.0, 0.0), (2.5, 0.0, 1.0)]
_MORE_LEGS = [(1.0, 0.0, 0.0), (3.5, 0.7, -0.4), (1.0, 0.0, 0.0), (1.5, -0.4, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, -1.2)]


def free_drive(robot: SkidSteerRobot, ground: Ground) -> Manoeuvre:
    """Twenty seconds of speed steps, arcs and spins."""
    return manoeuvre("free drive", robot, ground, _ramped(robot, ground, _FIRST_LEGS + _MORE_LEGS))


def short_drive(robot: SkidSteerRobot, ground: Ground) -> Manoeuvre:
    """The first half of it: a step, an arc, a spin."""
    return manoeuvre("short drive", robot, ground, _ramped(robot, ground, _FIRST_LEGS))


def short_spin(robot: SkidSteerRobot, ground: Ground) -> Manoeuvre:
    """Long enough to be steady, too short for a whole turn."""
    return spin(robot, ground, 3.0)


def _rest() -> Command:
    return Command(for_s=REST_S, v_mps=0.0)


def steepest_ramp_mps2(robot: SkidSteerRobot, ground: Ground) -> float:
    """Acceleration of rims that keeps wheels on the ground and motors below their limit.

    Symbols    a = min(OF_TIPPING g arm / h, OF_TORQUE n tau / (R m)); g the ground's gravity, arm the least distance from the
               centre of mass to the outline of the wheels, h its height, n wheels with torque tau and radius R
    """
    at, (x, y, height) = np.array(robot.wheels.at_m.value), robot.centre_of_mass_m.value
    arm = min(float(at[:, 0].max()) - x, x - float(at[:, 0].min()), float(at[:, 1].max()) - y, y - float(at[:, 1].min()))
    tipping = ground.gravity_mps2.value * max(arm, 0.0) / height
    pull = len(at) * torque_limit_nm(robot) / (robot.wheels.radius_m.value * robot.mass_kg.value)
    return float(max(0.1, min(OF_TIPPING * tipping, OF_TORQUE * pull, MOST_MPS2)))


def _ramped(robot: SkidSteerRobot, ground: Ground, legs: list[tuple[float, float, float]]) -> list[Command]:
    """Legs of (seconds, m/s, rad/s), each reached by a ramp that takes at most half of it."""
    a, half_track = steepest_ramp_mps2(robot, ground), 0.5 * robot.track_m
    commands, before = [], (0.0, 0.0)
    for for_s, v_mps, yaw_radps in legs:
        change = abs(v_mps - before[0]) + half_track * abs(yaw_radps - before[1])
        ramp_s = min(change / a, 0.5 * for_s)
        commands.append(Command(for_s=for_s, v_mps=v_mps, yaw_rate_radps=yaw_radps, profile="linear", ramp_s=max(ramp_s, STEP_S)))
        before = v_mps, yaw_radps
    return commands
