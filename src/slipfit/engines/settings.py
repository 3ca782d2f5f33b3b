"""How an engine is to run a model: what is not given stays as the model's file has it."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from slipfit.errors import SimulationError

#: What holds where neither the settings nor the file say anything.
DEFAULT_STEP_S, DEFAULT_ITERATIONS = 0.001, 50

#: A robot dropped on springs of 1e5 N/m comes to rest within this time.
SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Step size, solver and contact stiffness; direction of gravity and of the robot.

    `gravity_mps2` is in the world's axes: tilted gravity on a level plane is a slope. `kp_n_per_m` and `kd_ns_per_m` replace
    those of the wheels. Engines say in the run's notes what they cannot follow.
    """

    step_s: float | None = None
    iterations: int | None = None
    kp_n_per_m: float | None = None
    kd_ns_per_m: float | None = None
    gravity_mps2: tuple[float, float, float] | None = None
    heading_rad: float = 0.0  # turns the robot as the file places it
    settle_s: float = SETTLE_S  # time to come to rest, wheels held, before the run begins

    def __post_init__(self) -> None:
        ranges = {
            "step_s": (self.step_s, 1e-6, 0.1),
            "iterations": (self.iterations, 1, 100_000),
            "kp_n_per_m": (self.kp_n_per_m, 1.0, 1e15),
            "kd_ns_per_m": (self.kd_ns_per_m, 0.0, 1e15),
            "heading_rad": (self.heading_rad, -100.0, 100.0),
            "settle_s": (self.settle_s, 0.0, 100.0),
        }
        for name, (value, lower, upper) in ranges.items():
            if value is not None and not lower <= value <= upper:
                raise SimulationError(f"engine settings: {name} = {value:g}; expected {lower:g} to {upper:g}")
        if self.gravity_mps2 is not None and not all(isfinite(part) and abs(part) <= 100.0 for part in self.gravity_mps2):
            raise SimulationError(f"engine settings: gravity_mps2 = {self.gravity_mps2}; expected three numbers within ±100 m/s²")


@dataclass(frozen=True, eq=False, slots=True)
class WheelCommands:
    """Speed of every wheel (rad/s, positive forward) in rows that hold for `row_s` each, as `command_table` gives them.

    Shape (rows, wheels), wheels in the order front left, front right, and so on.
    """

    rows_radps: np.ndarray
    row_s: float = 0.001

    def __post_init__(self) -> None:
        if self.rows_radps.ndim != 2 or not self.rows_radps.size:
            raise SimulationError(f"wheel commands have shape {self.rows_radps.shape}; expected (rows, wheels)")
        if not np.isfinite(self.rows_radps).all():
            row = int(np.argmin(np.isfinite(self.rows_radps).all(axis=1)))
            raise SimulationError(f"wheel commands: row {row} is not finite; expected rad/s")
        if not self.row_s > 0.0:
            raise SimulationError(f"wheel commands: row_s = {self.row_s:g}; expected more than zero")

    @classmethod
    def held(cls, speeds_radps: tuple[float, ...] | list[float], for_s: float) -> "WheelCommands":
        """The same speeds throughout."""
        return cls(np.asarray([speeds_radps], dtype=float), for_s)

    @property
    def duration_s(self) -> float:
        return len(self.rows_radps) * self.row_s

    @property
    def wheels(self) -> int:
        return int(self.rows_radps.shape[1])

    def at_steps(self, step_s: float) -> np.ndarray:
        """What holds at the beginning of each step, shape (steps, wheels)."""
        steps = max(1, round(self.duration_s / step_s))
        # A little more than nothing, so that sums of decimals find the row that begins there.
        row = np.minimum((np.arange(steps) * step_s / self.row_s + 1e-9).astype(int), len(self.rows_radps) - 1)
        return np.asarray(self.rows_radps[row])
