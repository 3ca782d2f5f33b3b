"""Studies over many drives: does the mean hit the truth, does the scatter reach the bound, do intervals cover as they say?

The robot's mass, yaw inertia and centre of mass are only known to their spreads, and c_long's interval contains the mass's:
so every drive of a study is one of another robot, drawn from those spreads.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from other_truths import RobotNumbers, Truth, TruthSensors, other_drive
from robots import changed, wheel_slip
from slipfit.calibrate import calibrate
from slipfit.calibrate.plan import plan, usual_sensors
from slipfit.calibrate.planned_drive import Plan
from slipfit.library import Robot, find_robot
from slipfit.logs import DriveLog
from slipfit.simulate import simulate
from slipfit.simulate.commands import command_table

TRUTH = {"c_long_per_n": 0.005, "c_lat_per_n": 0.05}

#: Spread of the centre of mass that every fit supposes (unknowns.body).
COM_STD_M = 0.02


@dataclass(frozen=True)
class Study:
    """Results of many fits of one constant, relative to the truth."""

    error: np.ndarray
    std: np.ndarray  # stated
    is_covered: np.ndarray

    @property
    def coverage(self) -> float:
        return float(self.is_covered.mean())

    def __str__(self) -> str:
        return (
            f"{len(self.error)} drives: mean {self.error.mean():+.4f}, scatter {self.error.std(ddof=1):.4f}, "
            f"stated {self.std.mean():.4f}, 90 % intervals cover {self.coverage:.3f}"
        )


def study(logs: Iterable[DriveLog], robot: Robot, truth: dict[str, float]) -> dict[str, Study]:
    """Fit every log."""
    rows: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in truth}
    for log in logs:
        fit = calibrate(log, robot=robot)
        for name, known in truth.items():
            p = fit[name]
            assert p.value is not None, f"{name} was not told: {p.status}"
            low, high = p.interval_90
            rows[name].append((p.value / known - 1.0, p.std / known, low <= known <= high))
    return {name: Study(*(np.array(column) for column in zip(*found, strict=True))) for name, found in rows.items()}


def minute_plan(noise: float, bias: float) -> Plan:
    """About a minute as `slipfit plan` makes it: IMU and encoders only."""
    sensors = usual_sensors(imu_noise_mps2=noise, imu_bias_mps2=bias, counts_per_turn=4096)
    return plan(find_robot("p3at"), sensors=sensors, precision=0.001, max_duration_s=60.0)


def one_of_many(seed: int, *, com: bool = True) -> Robot:
    """A P3AT as it may really be."""
    draw, nominal = np.random.default_rng([seed, 17]), find_robot("p3at")
    x, y = COM_STD_M * draw.standard_normal(2) * com
    return changed(
        "p3at",
        mass_kg=float(nominal.mass_kg.value + nominal.mass_kg.std * draw.standard_normal()),
        yaw_inertia_kgm2=float(nominal.yaw_inertia_kgm2.value + nominal.yaw_inertia_kgm2.std * draw.standard_normal()),
        roll_inertia_kgm2=None,
        centre_of_mass_m=[float(x), float(y), nominal.centre_of_mass_m.value[2]],
    )


def our_drives(drive: Plan, count: int) -> Iterator[DriveLog]:
    """Simulated by slipfit."""
    for seed in range(count):
        yield simulate(one_of_many(seed), drive.to_scenario(seed=seed), ground=wheel_slip(**SHORT)).readings


SHORT = {"c_long": TRUTH["c_long_per_n"], "c_lat": TRUTH["c_lat_per_n"]}


def others_drives(drive: Plan, truth: Truth, noise: float, bias: float, count: int) -> Iterator[DriveLog]:
    """Simulated by other equations, with what the fit does not contain."""
    commands = command_table(find_robot("p3at"), drive.to_scenario())
    sensors = TruthSensors(noise, bias, bias, 0.002)
    for seed in range(count):
        yield other_drive(RobotNumbers.of(one_of_many(seed, com=False)), commands, truth, sensors, seed)
