"""Studies over many drives: does the mean hit the truth, does the scatter reach the bound, do intervals cover as they say?"""

from dataclasses import dataclass

import numpy as np

from slipfit.calibrate import calibrate
from slipfit.calibrate.plan import plan, usual_sensors
from slipfit.library import Robot, find_robot
from slipfit.simulate import Scenario


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


def study(logs, robot: Robot, truth: dict[str, float]) -> dict[str, Study]:
    """Fit every log; NaN where a constant was not told."""
    rows = {name: [] for name in truth}
    for log in logs:
        fit = calibrate(log, robot=robot)
        for name, known in truth.items():
            p = fit[name]
            if p.value is None:
                rows[name].append((np.nan, np.nan, False))
            else:
                low, high = p.interval_90
                rows[name].append((p.value / known - 1.0, p.std / known, low <= known <= high))
    return {name: Study(*(np.array(column) for column in zip(*found, strict=True))) for name, found in rows.items()}


def minute_scenario(noise: float, bias: float) -> Scenario:
    """A minute as `slipfit plan` makes it: IMU and encoders only."""
    sensors = usual_sensors(imu_noise_mps2=noise, imu_bias_mps2=bias, counts_per_turn=4096)
    return plan(find_robot("p3at"), sensors=sensors, precision=0.001, max_duration_s=60.0).to_scenario()
