"""From a scenario's commands to the table that kernels follow: one row per step, one column per wheel."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from slipfit.errors import SimulationError
from slipfit.library import OmniRobot, SkidSteerRobot
from slipfit.library.robot import DcMotor
from slipfit.simulation.scenario import START_NUMBERS, Command, Scenario

Wheeled = SkidSteerRobot | OmniRobot

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


def wheel_speeds(robot: Wheeled, v_mps: float, yaw_rate_radps: float, vy_mps: float = 0.0) -> np.ndarray:
    """Wheel speeds (rad/s) of a robot that would roll at this body velocity without slip: what drivers command."""
    return np.asarray(_rim_speeds(robot, v_mps, vy_mps, yaw_rate_radps) / robot.wheels.radius_m.value)


def _rim_speeds(robot: Wheeled, v_mps: Any, vy_mps: Any, yaw_rate_radps: Any) -> np.ndarray:
    """Wheel speeds times radius_m at a body velocity without slip, (wheels,) or, of columns, (runs, wheels). Sums of products by
    hand: a matrix product may round otherwise in a batch than in a single run."""
    along_x, along_y, about_z = robot.wheel_map(1.0).T
    return np.asarray(v_mps * along_x + vy_mps * along_y + yaw_rate_radps * about_z)


def no_load_voltage(motor: DcMotor, speed_radps: np.ndarray) -> np.ndarray:
    """Voltage at which an unloaded motor turns at this speed: V = (R b / K_t + K_e) omega, from the motor's equations at rest."""
    return np.asarray(speed_radps * _volts_per_radps({name: p.value for name, p in dict(motor).items() if name in _AT_NO_LOAD}))


#: Numbers of a motor on which its unloaded speed depends.
_AT_NO_LOAD = ("resistance_ohm", "viscous_friction_nm_s_per_rad", "torque_constant_nm_per_a", "back_emf_v_s_per_rad")


def _volts_per_radps(values: Mapping[str, Any]) -> Any:
    resistance, friction, per_ampere, back_emf = (np.asarray(values[name], dtype=float) for name in _AT_NO_LOAD)
    return resistance * friction / per_ampere + back_emf


def start_commands(robot: Wheeled, values: Mapping[str, Any], n: int) -> np.ndarray:
    """What keeps the wheels of each of n runs rolling as they do at its start (rad/s, or V for motors), shape (n, wheels).

    values : numbers of the runs by name, each one number or one per run: start velocity, wheel radius and motor of the run
    """

    def column(name: str) -> np.ndarray:
        return np.broadcast_to(np.asarray(values[name], dtype=float).reshape(-1, 1), (n, 1))

    rims = _rim_speeds(robot, column("start_v_mps"), column("start_vy_mps"), column("start_yaw_rate_radps"))
    speeds = rims / column("radius_m")
    if isinstance(robot.powertrain, DcMotor):
        speeds = speeds * np.broadcast_to(np.reshape(_volts_per_radps(values), (-1, 1)), (n, 1))
    return np.asarray(speeds)


def commanded_turn(robot: Wheeled, table: np.ndarray, step_s: float, values: Mapping[str, float]) -> float:
    """How far a table of commands would turn the robot if no wheel slipped (rad); motors at their no-load speeds.

    values : numbers of the run by name: its wheel radius and motor
    """
    speeds = table / float(_volts_per_radps(values)) if isinstance(robot.powertrain, DcMotor) else table
    turn = float(np.sum(speeds @ np.linalg.pinv(robot.wheel_map(values["radius_m"]))[2]) * step_s)
    return turn if abs(turn) > _NO_TURN_RAD else 0.0


def _per_wheel(robot: Wheeled, given: list[float], where: str) -> np.ndarray:
    count = len(robot.wheels.at_m.value)
    if robot.moves_sideways and len(given) != count:
        raise SimulationError(f"{where} has {len(given)} entries; {robot.name} takes {count}, one for each wheel")
    if len(given) == 2:
        return np.tile(np.asarray(given, dtype=float), count // 2)
    if len(given) != count:
        raise SimulationError(f"{where} has {len(given)} entries; {robot.name} takes {count}, or two for left and right")
    return np.asarray(given, dtype=float)


def _target(robot: Wheeled, command: Command, where: str) -> np.ndarray:
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
        if command.vy_mps and not robot.moves_sideways:
            raise SimulationError(
                f"{where}.vy_mps: {robot.name} is a skid-steer robot and cannot be told to drive sideways; leave vy_mps out, or "
                f"take an omnidirectional robot (`slipfit robots`)"
            )
        speeds = wheel_speeds(robot, command.v_mps or 0.0, command.yaw_rate_radps or 0.0, command.vy_mps or 0.0)
    return no_load_voltage(motor, speeds) if motor else speeds


def command_ends(scenario: Scenario) -> np.ndarray:
    """The row at which each command ends, shape (commands,)."""
    ends_s = np.cumsum([command.for_s for command in scenario.commands])
    return np.asarray(np.round(ends_s / scenario.time_step_s).astype(int))  # sums of decimals are not multiples of the step


def command_table(robot: Wheeled, scenario: Scenario, start: np.ndarray | None = None) -> np.ndarray:
    """Commands of every wheel at every step, shape (steps, wheels). A row holds during the step that it starts.

    start : what keeps the wheels rolling as they do at the start, where the first ramp begins; the scenario's own by default
    """
    step_s, ends = scenario.time_step_s, command_ends(scenario)
    ends_s = np.cumsum([command.for_s for command in scenario.commands])
    time_s = np.arange(ends[-1]) * step_s
    table = np.empty((ends[-1], len(robot.wheels.at_m.value)))
    first_command = first_rows(robot, scenario, (_rolling(robot, scenario) if start is None else start)[None])[0]
    table[: len(first_command)] = first_command
    before, first = _target(robot, scenario.commands[0], "commands[0]"), ends[0]
    table[len(first_command) : first] = before
    for k, (command, end, end_s) in list(enumerate(zip(scenario.commands, ends, ends_s, strict=True)))[1:]:
        rows, start_s = slice(first, end), end_s - command.for_s
        after = _target(robot, command, f"commands[{k}]")
        fraction = (time_s[rows] + step_s - start_s) / max(command.ramp, step_s)
        table[rows] = before + (after - before) * _PROFILES[command.profile](fraction)[:, None]
        before, first = after, end
    return table


def first_rows(robot: Wheeled, scenario: Scenario, start: np.ndarray) -> np.ndarray:
    """Rows of the first command until it has its full value, for starts of shape (n, wheels): (n, rows, wheels). The rows after
    them are the command itself, whatever the start was."""
    command, step_s = scenario.commands[0], scenario.time_step_s
    time_s = np.arange(command_ends(scenario)[0]) * step_s
    share = _PROFILES[command.profile]((time_s + step_s) / max(command.ramp, step_s))
    share = share[: len(share) - int(np.argmax(share[::-1] != 1.0))] if (share != 1.0).any() else share[:0]
    after, before = _target(robot, command, "commands[0]"), start[:, None, :]
    return np.asarray(before + (after - before) * share[:, None])


def _rolling(robot: Wheeled, scenario: Scenario) -> np.ndarray:
    """`start_commands` of the robot's file and the scenario's start."""
    start = {f"start_{name}": getattr(scenario.start, name) for name in START_NUMBERS}
    return np.asarray(start_commands(robot, {name: p.value for name, p in robot.parameters().items()} | start, 1)[0])
