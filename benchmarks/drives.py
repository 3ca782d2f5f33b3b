"""The drives that are timed: batches of kernels, built from the library's robots and grounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.library import Robot, find_ground, find_robot
from slipfit.simulate import Scenario
from slipfit.simulate.assemble import assemble, named_values
from slipfit.vehicles import loads, skid_steer

STEP_S = 0.001
HOLD = 10  # steps between two commands
GENTLE_CURVE_RADPS = (4.0, 5.0)  # left and right, as mujoco_robot drives


@dataclass(frozen=True, eq=False)
class Drive:
    """A batch with a place for its results: what is written at the start and at the end of each run."""

    runs: Any
    n: int
    steps: int
    out: np.ndarray
    status: np.ndarray

    def one_by_one(self) -> None:
        self._call(skid_steer.one_by_one, 0, self.n)

    def in_lanes(self) -> None:
        self.chunk(0, self.n)

    def chunk(self, lo: int, hi: int) -> None:
        self._call(skid_steer.in_lanes, lo, hi)

    def _call(self, kernel: Callable[..., None], lo: int, hi: int) -> None:
        kernel(self.runs, lo, hi, HOLD, self.steps, STEP_S, self.out, self.status)

    @property
    def ends(self) -> np.ndarray:
        return self.out[:, -1]

    def parameters(self) -> np.ndarray:
        """One row of numbers per run, in the order of the batch's leaves: what rover.cpp reads."""
        parts = (self.runs.body, self.runs.wheels, self.runs.powertrain, self.runs.law, self.runs.ground)
        return np.concatenate([leaf.reshape(self.n, -1) for part in parts for leaf in _leaves(part)], axis=1)


def _leaves(tree: Any) -> Iterator[np.ndarray]:
    for leaf in tree:
        if hasattr(leaf, "_fields"):
            yield from _leaves(leaf)
        else:
            yield leaf


def _drive(robot: Robot, surface: str, commands: np.ndarray, n: int, vary: dict[str, np.ndarray]) -> Drive:
    ground = find_ground(surface)
    scenario = Scenario.model_validate({"commands": [{"for_s": 1.0, "v_mps": 0.0}]})
    runs = assemble(robot, ground, named_values(robot, ground, scenario) | vary, commands, n)
    return _with_space(runs, n, len(commands) * HOLD)


def _with_space(runs: Any, n: int, steps: int) -> Drive:
    columns = len(skid_steer.BODY_COLUMNS) + len(skid_steer.WHEEL_COLUMNS) * runs.wheels.x.shape[1]
    return Drive(runs, n, steps, np.empty((n, 2, columns)), np.empty(n))


def _spread(n: int, width: float) -> np.ndarray:
    """Factors about 1, so that no two runs are the same."""
    return 1.0 + width * (np.arange(n) / max(n - 1, 1) - 0.5) if n > 1 else np.ones(1)


def _weaving_volts(seconds: float) -> np.ndarray:
    """Voltages that turn, reverse and slip: a sine and steps on each side, beyond the limit of 12 V now and then."""
    t = np.arange(0.0, seconds - 1e-9, HOLD * STEP_S)
    left = 8.0 * np.sin(2.0 * np.pi * t / 4.0) + np.where(t % 3.0 < 1.5, 5.0, -2.0)
    right = 7.0 * np.cos(2.0 * np.pi * t / 5.0) - np.where(t % 2.0 < 1.0, 2.0, -3.0)
    return np.stack([left, right, left, right], axis=1)


def rover(n: int, seconds: float) -> Drive:
    """Lynxmotion rovers with DC motors under changing voltages on a slope, magic formula."""
    factor = _spread(n, 0.2)
    vary = {"mass_kg": 2.148 * factor, "mu": 0.8 * factor, "slope_rad": np.full(n, 0.1), "uphill_rad": np.full(n, 0.3)}
    return _drive(find_robot("lynxmotion_4wd3"), "rover_tyre", _weaving_volts(seconds), n, vary)


def p3at(n: int, seconds: float, wheels: int = 4) -> Drive:
    """Pioneers with commanded wheel speeds on a gentle curve, wheel_slip; more than four wheels stand on more axles."""
    robot = find_robot("p3at")
    commands = np.tile(GENTLE_CURVE_RADPS * (wheels // 2), (round(seconds / (HOLD * STEP_S)), 1))
    drive = _drive(robot, "lab_floor", commands, n, {"c_lat_per_n": 0.05 * _spread(n, 0.4)})
    if wheels == 4:
        return drive
    side_m, radius_m = robot.wheels.at_m.value[0][1], robot.wheels.radius_m.value
    at_m = [[x, y] for x in np.linspace(0.25, -0.25, wheels // 2) for y in (side_m, -side_m)]
    tables = loads.Wheels(*(np.tile(table, (n, 1)) for table in loads.wheels(at_m, radius_m)))
    return _with_space(drive.runs._replace(wheels=tables), n, drive.steps)
