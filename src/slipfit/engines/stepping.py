"""The loop that engines within this process share: settle with wheels held, then follow the commands and record every step."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from slipfit.engines.engine_run import row_width
from slipfit.engines.settings import WheelCommands
from slipfit.errors import SimulationError


class Stepper(Protocol):
    """A model in an engine, somewhere between two steps. Wheels in the order of the model, speeds positive forward."""

    step_s: float

    def command(self, speeds_radps: Sequence[float]) -> None:
        """Speeds that hold from now on."""

    def step(self) -> None:
        """One step on."""

    def record(self, row: np.ndarray) -> None:
        """Fill a row with the state and with the contacts of the last step: see `engine_run.BODY_COLUMNS`."""


def check_wheels(commands: WheelCommands, wheels: int, model: str) -> None:
    """Commands have a column for each wheel of the model."""
    if commands.wheels != wheels:
        raise SimulationError(f"{model} has {wheels} wheels; the commands have {commands.wheels} columns")


def drive(stepper: Stepper, commands: WheelCommands, settle_s: float) -> np.ndarray:
    """Rows at the beginning and after every step, shape (steps + 1, columns). A run that leaves the numbers ends in NaN."""
    table = commands.at_steps(stepper.step_s)
    rows = np.full((len(table) + 1, row_width(commands.wheels)), np.nan)
    stepper.command([0.0] * commands.wheels)
    for _ in range(max(1, round(settle_s / stepper.step_s))):
        stepper.step()
    stepper.record(rows[0])
    before: list[float] = []
    for k, speeds in enumerate(table.tolist()):
        if speeds != before:
            stepper.command(speeds)
            before = speeds
        stepper.step()
        stepper.record(rows[k + 1])
        if not abs(rows[k + 1, 0]) < 1e6:  # also true of NaN: nothing after it means anything
            rows[k + 1 :] = np.nan
            break
    return rows
