"""Studies over many drives: does the mean hit the truth, does the scatter reach the bound, do intervals cover as they say?

The robot's mass, yaw inertia and centre of mass are only known to their spreads, and c_long's interval contains the mass's:
so every drive of a study is one of another robot, drawn from those spreads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from other_truths import RobotNumbers, Truth, TruthSensors, other_drive
from recovery.drives import GOOD_IMU, MANY_STEPS
from robots import changed, wheel_slip
from slipfit.calibration import calibrate
from slipfit.calibration.plan import plan, usual_sensors
from slipfit.calibration.planned_drive import Plan
from slipfit.library import Robot, find_robot
from slipfit.logs import DriveLog
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.commands import command_table

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
        told = self.error[np.isfinite(self.error)]
        return (
            f"{len(self.error)} drives, told in {len(told)}: mean {told.mean():+.4f}, scatter {told.std(ddof=1):.4f}, "
            f"stated {np.nanmean(self.std):.4f}, 90 % intervals cover {self.coverage:.3f}"
        )


#: What one fit says of each constant: relative error, stated relative spread, whether the interval holds the truth.
Row = dict[str, tuple[float, float, bool]]


def row(log: DriveLog, robot: Robot, truth: dict[str, float]) -> Row:
    """Fit one log."""
    fit, found = calibrate(log, robot=robot), {}
    for name, known in truth.items():
        p = fit[name]
        if p.value is None:
            found[name] = (np.nan, np.nan, False)
        else:
            low, high = p.interval_90
            found[name] = (p.value / known - 1.0, p.std / known, low <= known <= high)
    return found


def studies(rows: Iterable[Row]) -> dict[str, Study]:
    """Columns of many rows, constant by constant; a constant that was not told counts as not covered."""
    rows = list(rows)
    return {name: Study(*(np.array(column) for column in zip(*(r[name] for r in rows), strict=True))) for name in rows[0]}


def study(logs: Iterable[DriveLog], robot: Robot, truth: dict[str, float]) -> dict[str, Study]:
    """Fit every log."""
    return studies(row(log, robot, truth) for log in logs)


@cache
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


SHORT = {"c_long": TRUTH["c_long_per_n"], "c_lat": TRUTH["c_lat_per_n"]}


def our_drive(drive: Plan, seed: int, **ground: float) -> DriveLog:
    """Simulated by slipfit; by default on a ground that never lets go."""
    return simulate(one_of_many(seed), drive.to_scenario(seed=seed), ground=wheel_slip(**SHORT, **ground)).readings


#: As somebody drives who has read no plan: speeds told as jumps, which the torque limit turns into ramps; then spins.
JUMPS = [
    {"for_s": 2.0, "v_mps": 0.0},
    *(
        {"for_s": for_s, "v_mps": sign * v, "profile": "step"}
        for sign in (1.0, -1.0) * 2
        for for_s, v in ((2.0, 0.2), (2.0, 1.0), (2.0, 0.2), (1.0, 0.0))
    ),
    *(
        c
        for sign in (1.0, -1.0)
        for c in ({"for_s": 12.0, "yaw_rate_radps": sign, "profile": "quintic"}, {"for_s": 2.0, "v_mps": 0.0})
    ),
]

#: The same, and with linear ramps whose corners fall on samples: neither is what the planner would choose.
BY_HAND = {"jumps": JUMPS, "ramps": MANY_STEPS}


def drive_by_hand(kind: str, seed: int) -> DriveLog:
    """IMU and encoders only, noise .05 m/s², 4096 counts."""
    data = {"schema": Scenario.kind(), "commands": BY_HAND[kind], "sensors": GOOD_IMU, "seed": seed}
    return simulate(one_of_many(seed), Scenario.from_mapping(data, where=kind), ground=wheel_slip(**SHORT)).readings


def others_drive(drive: Plan, truth: Truth, noise: float, bias: float, seed: int) -> DriveLog:
    """Simulated by other equations, with what the fit does not contain."""
    commands = command_table(find_robot("p3at"), drive.to_scenario())
    sensors = TruthSensors(noise, bias, bias, 0.002)
    return other_drive(RobotNumbers.of(one_of_many(seed, com=False)), commands, truth, sensors, seed)
