"""What a log says a robot was told, as one value per side."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import COMMAND_COLUMNS, COMMANDS, SIDES, side_column, wheel_columns
from slipfit.simulation.commands import wheel_speeds
from slipfit.twin import FittedPowertrain

#: Columns of setpoints in a controller's own units.
SETPOINT_COLUMNS = ("left_setpoint", "right_setpoint")


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """Commands that hold from their stamp to the next."""

    stamps_ns: np.ndarray
    values: np.ndarray  # (T, 2) left, right
    unit: Literal["controller", "radps"]


def has_commands(log: DriveLog) -> bool:
    """Whether a log has commands that say what each side was to do."""
    return COMMANDS in log and any(set(names) <= set(log[COMMANDS].columns) for names in _forms(0, 8))


def told_speeds(log: DriveLog, robot: SkidSteerRobot, known: FittedPowertrain | None = None) -> Told:
    """Setpoints of the controller, speeds of wheels or sides, or body velocities turned into wheel speeds, in this order.

    With `known` constants of a controller, speeds become the setpoints that its driver made of them.
    """
    name = log.source or log.about or "log"
    if COMMANDS not in log:
        raise LogError(f"{name}: there is no channel 'commands'; expected what the robot was told, beside its encoders")
    channel, wheels = log[COMMANDS], len(robot.wheels.at_m.value)
    columns = set(channel.columns)
    for names in _forms(wheels, wheels):
        if set(names) <= columns:
            values = np.column_stack([channel.column(n) for n in names])
            break
    else:
        raise LogError(
            f"{name}: commands have columns {', '.join(channel.columns)}; expected speeds of both sides, or v and yaw rate"
        )
    if names == COMMAND_COLUMNS:
        ahead, turning = wheel_speeds(robot, 1.0, 0.0)[:2], wheel_speeds(robot, 0.0, 1.0)[:2]
        values = values[:, :1] * ahead + values[:, 1:] * turning
    elif values.shape[1] > 2:
        values = np.column_stack([values[:, ::2].mean(axis=1), values[:, 1::2].mean(axis=1)])
    kept = np.isfinite(values).all(axis=1)
    if kept.sum() < 2:
        raise LogError(f"{name}: {kept.sum()} commands that are numbers; expected two or more")
    order = np.argsort(channel.stamps_ns[kept], kind="stable")
    stamps, values = channel.stamps_ns[kept][order], values[kept][order]
    if names == SETPOINT_COLUMNS:
        return Told(stamps, values, "controller")
    per_radps = [side.value("setpoint_per_radps", np.nan) for side in (known.left, known.right)] if known else [np.nan]
    if known is not None and known.setpoint_unit == "controller" and np.isfinite(per_radps).all():
        return Told(stamps, values * np.array(per_radps), "controller")
    return Told(stamps, values, "radps")


def _forms(fewest: int, most: int) -> list[tuple[str, ...]]:
    sides = tuple(side_column("speed", side) for side in SIDES)
    wheels = [wheel_columns("speed", n) for n in range(max(4, fewest), most + 1, 2)]
    return [SETPOINT_COLUMNS, sides, *wheels, COMMAND_COLUMNS]
