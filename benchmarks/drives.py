"""The drives that are timed: batches of kernels, built from the library's robots and grounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.kernels import Shared, as_batch
from slipfit.library import Robot, find_ground, find_robot
from slipfit.library.terrain import find_terrain
from slipfit.simulation import Scenario
from slipfit.simulation.assemble import law_of, losses_of, named_values, powertrain_of, start_of, wheels_of
from slipfit.simulation.drives.rover import runs_of
from slipfit.simulation.drives.skid_steer import SkidSteer
from slipfit.vehicles import loads, rigid_body, rough, run_loop, skid_steer
from slipfit.vehicles.books import NoBooks
from slipfit.vehicles.driver import table_for_all
from slipfit.vehicles.footing import Tyre
from slipfit.vehicles.losses import NoBattery
from yardstick import Yardstick

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
    vehicle: Any = skid_steer  # the module that drives it

    def one_by_one(self) -> None:
        self._call(self.vehicle.one_by_one, 0, self.n)

    def in_lanes(self) -> None:
        self.chunk(0, self.n)

    def chunk(self, lo: int, hi: int) -> None:
        self._call(self.vehicle.in_lanes, lo, hi)

    def _call(self, kernel: Callable[..., None], lo: int, hi: int) -> None:
        kernel(self.runs, lo, hi, HOLD, self.steps, STEP_S, self.out, self.status)

    @property
    def ends(self) -> np.ndarray:
        return self.out[:, -1]

    def parameters(self) -> np.ndarray:
        """One row of numbers per run, in the order of the batch's leaves: what rover.cpp and rough.cpp read."""
        r = self.runs
        tyre = (r.tyre,) if self.vehicle is rough else ()
        return rows_of(self.n, r.body, r.wheels, *tyre, r.powertrain, r.law, r.ground, r.losses)

    def cpp_s(self, yardstick: Yardstick, repetitions: int = 1) -> float:
        """CPU seconds of one run in C++."""
        r = self.runs
        field = r.ground.coefficients.array if hasattr(r.ground, "coefficients") else None
        return yardstick.seconds_per_run(
            self.parameters(), r.driver.commands.array, steps=self.steps, hold=HOLD, step_s=STEP_S, repetitions=repetitions,
            field=field,
        )  # fmt: skip


def rows_of(n: int, *parts: Any) -> np.ndarray:
    """The numbers of some parts of a batch of n runs, one row per run; what all runs share is left out."""
    return np.concatenate([leaf.reshape(n, -1) for part in parts for leaf in _leaves(part)], axis=1)


def _leaves(tree: Any) -> Iterator[np.ndarray]:
    for leaf in tree:
        if hasattr(leaf, "_fields"):
            yield from () if isinstance(leaf, Shared) else _leaves(leaf)
        else:
            yield leaf


def _drive(robot: Robot, surface: str, commands: np.ndarray, n: int, vary: dict[str, np.ndarray]) -> Drive:
    ground = find_ground(surface)
    scenario = Scenario.model_validate({"commands": [{"for_s": 1.0, "v_mps": 0.0}]})
    runs = SkidSteer().assemble(robot, ground, named_values(robot, ground, scenario) | vary, commands, n)
    return _with_space(runs, n, len(commands) * HOLD)


def _with_space(runs: Any, n: int, steps: int, vehicle: Any = skid_steer) -> Drive:
    body = rough.BODY6_COLUMNS if vehicle is rough else skid_steer.BODY_COLUMNS
    columns = len(body) + len(run_loop.WHEEL_COLUMNS) * runs.wheels.x.shape[1]
    return Drive(runs, n, steps, np.empty((n, 2, columns)), np.empty(n), vehicle)


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
    """Lynxmotion rovers with DC motors and air drag under changing voltages on a slope, magic formula."""
    factor = _spread(n, 0.2)
    vary = {"mass_kg": 2.148 * factor, "mu": 0.8 * factor, "slope_rad": np.full(n, 0.1), "uphill_rad": np.full(n, 0.3)}
    return _drive(find_robot("lynxmotion_4wd3"), "rover_tyre", _weaving_volts(seconds), n, vary)


def rough_rover(n: int, seconds: float, interpolation: str) -> Drive:
    """The same rovers under the same voltages on a rolling field; tyres that give."""
    robot, ground, factor = find_robot("lynxmotion_4wd3"), find_ground("rover_tyre"), _spread(n, 0.2)
    place = {"shape": "terrain", "terrain": "rolling_field"}
    scenario = Scenario.model_validate({"ground": place, "commands": [{"for_s": 1.0, "v_mps": 0.0}]})
    v = named_values(robot, ground, scenario) | {"mass_kg": 2.148 * factor, "mu": 0.8 * factor}
    commands = _weaving_volts(seconds)
    runs = rough.RoughRuns(
        body=rigid_body.Body6(
            v["mass_kg"], v["roll_inertia_kgm2"], v["pitch_inertia_kgm2"], v["yaw_inertia_kgm2"],
            v["centre_of_mass_x_m"], v["centre_of_mass_y_m"], v["centre_of_mass_height_m"],
        ),
        wheels=wheels_of(robot, v, n),
        tyre=Tyre(v["tyre_stiffness_n_per_m"], v["tyre_damping_n_s_per_m"]),
        powertrain=powertrain_of(robot, v),
        law=law_of(ground, v),
        ground=find_terrain("rolling_field").model(v["gravity_mps2"], interpolation),
        start=start_of(v),
        driver=table_for_all(commands, n),
        losses=losses_of(v),
        battery=NoBattery(0.0),
        books=NoBooks(0.0),
    )  # fmt: skip
    return _with_space(as_batch(runs, n), n, len(commands) * HOLD, rough)


def soil_rover(n: int, seconds: float) -> Drive:
    """The same rovers under the same voltages on a slope of dry sand, with ruts."""
    robot, ground, factor = find_robot("lynxmotion_4wd3"), find_ground("dry_sand"), _spread(n, 0.2)
    scenario = Scenario.model_validate({"commands": [{"for_s": 1.0, "v_mps": 0.0}]})
    slope = {"slope_rad": np.full(n, 0.05), "uphill_rad": np.full(n, 0.3)}
    v = named_values(robot, ground, scenario) | {"mass_kg": 2.148 * factor, "cohesion_pa": 1040.0 * factor, **slope}
    commands = _weaving_volts(seconds)
    runs = runs_of(robot, ground, scenario, v, table_for_all(commands, n), None, n)
    return _with_space(as_batch(runs._replace(books=NoBooks(0.0)), n), n, len(commands) * HOLD, rough)


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
