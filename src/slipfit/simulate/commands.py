"""From a scenario's commands to the table that kernels follow: one row per step, one column per wheel."""

from collections.abc import Callable

import numpy as np

from slipfit.errors import SimulationError
from slipfit.library import OmniRobot, Robot
from slipfit.library.robot import DcMotor
from slipfit.simulate.scenario import Command, Scenario

#: Less than this is rounding of the inverse kinematics (rad).
_NO_TURN_RAD = 1e-9


def quintic(fraction: np.ndarray) -> np.ndarray:
    """Smooth step from 0 to 1 with zero speed and acceleration at both ends: 10 s^3 - 15 s^4 + 6 s^5."""
    s = np.clip(fraction, 0.0, 1.0)
    return np.asarray(s**3 * (10.0 + s * (6.0 * s - 15.0)))


def _linear(fraction: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(fraction, 0.0, 1.0))


def _at_once(fraction: np.ndarray) -> np.ndarray:
    return np.ones_like(fraction)


_PROFILES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"step": _at_once, "linear": _linear, "quintic": quintic}


def wheel_speeds(robot: Robot | OmniRobot, v_mps: float, yaw_rate_radps: float, vy_mps: float = 0.0) -> np.ndarray:
    """Wheel speeds (rad/s) of a robot that would roll at this body velocity without slip: what drivers command."""
    if isinstance(robot, OmniRobot):
        return np.asarray(robot.wheel_map() @ (v_mps, vy_mps, yaw_rate_radps))
    side_m = np.array([at[1] for at in robot.wheels.at_m.value])
    return np.asarray((v_mps - yaw_rate_radps * side_m) / robot.wheels.radius_m.value)


def no_load_voltage(motor: DcMotor, speed_radps: np.ndarray) -> np.ndarray:
    """Voltage at which an unloaded motor turns at this speed: V = (R b / K_t + K_e) omega, from the motor's equations at rest."""
    friction = motor.resistance_ohm.value * motor.viscous_friction_nm_s_per_rad.value
    return np.asarray(speed_radps * (friction / motor.torque_constant_nm_per_a.value + motor.back_emf_v_s_per_rad.value))


def commanded_turn(robot: Robot | OmniRobot, table: np.ndarray, step_s: float) -> float:
    """How far a table of commands would turn the robot if no wheel slipped (rad); motors at their no-load speeds."""
    motor = robot.powertrain if isinstance(robot.powertrain, DcMotor) else None
    speeds = table / float(no_load_voltage(motor, np.array(1.0))) if motor else table
    if isinstance(robot, OmniRobot):
        turn = float(np.sum(speeds @ np.linalg.pinv(robot.wheel_map())[2]) * step_s)
        return turn if abs(turn) > _NO_TURN_RAD else 0.0
    rims = speeds * robot.wheels.radius_m.value
    return float(np.sum(rims[:, 1::2].mean(axis=1) - rims[:, ::2].mean(axis=1)) * step_s / robot.track_m)


def _per_wheel(robot: Robot | OmniRobot, given: list[float], where: str) -> np.ndarray:
    count = len(robot.wheels.at_m.value)
    if isinstance(robot, OmniRobot) and len(given) != count:
        raise SimulationError(f"{where} has {len(given)} entries; {robot.name} takes {count}, one for each wheel")
    if len(given) == 2:
        return np.tile(np.asarray(given, dtype=float), count // 2)
    if len(given) != count:
        raise SimulationError(f"{where} has {len(given)} entries; {robot.name} takes {count}, or two for left and right")
    return np.asarray(given, dtype=float)


def _target(robot: Robot | OmniRobot, command: Command, where: str) -> np.ndarray:
    """What each wheel is told at the end of the ramp: rad/s, or V for motors."""
    motor = robot.powertrain if isinstance(robot.powertrain, DcMotor) else None
    if command.wheels_v is not None:
        if motor is None:
            raise SimulationError(f"{where}.wheels_v: {robot.name} has a speed loop; command speeds, not voltages")
        volts, most = _per_wheel(robot, command.wheels_v, f"{where}.wheels_v"), motor.voltage_limit_v.value
        if np.abs(volts).max() > most:
            raise SimulationError(
                f"{where}.wheels_v: {volts[np.abs(volts).argmax()]:g} V is more than the {most:g} V of {robot.name}'s motors "
                f"(voltage_limit_v); command less, or mend the robot's file"
            )
        return volts
    if command.wheels_radps is not None:
        speeds = _per_wheel(robot, command.wheels_radps, f"{where}.wheels_radps")
    else:
        if command.vy_mps and not isinstance(robot, OmniRobot):
            raise SimulationError(
                f"{where}.vy_mps: {robot.name} is a skid-steer robot and cannot be told to drive sideways; leave vy_mps out, or "
                f"take an omnidirectional robot (`slipfit robots`)"
            )
        speeds = wheel_speeds(robot, command.v_mps or 0.0, command.yaw_rate_radps or 0.0, command.vy_mps or 0.0)
    return no_load_voltage(motor, speeds) if motor else speeds


def command_table(robot: Robot | OmniRobot, scenario: Scenario) -> np.ndarray:
    """Commands of every wheel at every step, shape (steps, wheels). A row holds during the step that it starts."""
    step_s = scenario.step_s
    ends_s = np.cumsum([command.for_s for command in scenario.commands])
    ends = np.round(ends_s / step_s).astype(int)  # rows: sums of decimals are not multiples of the step
    time_s = np.arange(ends[-1]) * step_s
    table = np.empty((ends[-1], len(robot.wheels.at_m.value)))
    start = scenario.start
    sideways_mps = start.vy_mps if isinstance(robot, OmniRobot) else None  # another robot's wheels do not roll that way
    rolling = Command(for_s=1.0, v_mps=start.v_mps, vy_mps=sideways_mps, yaw_rate_radps=start.yaw_rate_radps)
    before = _target(robot, rolling, "start")
    first = 0
    for k, (command, end, end_s) in enumerate(zip(scenario.commands, ends, ends_s, strict=True)):
        rows, start_s = slice(first, end), end_s - command.for_s
        after = _target(robot, command, f"commands[{k}]")
        fraction = (time_s[rows] + step_s - start_s) / max(command.ramp, step_s)
        table[rows] = before + (after - before) * _PROFILES[command.profile](fraction)[:, None]
        before, first = after, end
    return table
