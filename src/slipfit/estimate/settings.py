"""What a slip filter supposes: noise of sensors, how slip moves, when a reading is refused."""

from dataclasses import dataclass, fields
from math import isfinite

import numpy as np
from scipy.stats import chi2

from slipfit.errors import ParameterError
from slipfit.vehicles.slip_filter import SlipNoise

#: Numbers of the settings that may be zero.
_MAY_BE_ZERO = frozenset(
    {
        "slip_floor_mps", "slip_share", "slip_change", "place_m", "heading_rad", "gyro_bias_radps", "gyro_bias_walk_radps",
        "accel_bias_mps2", "accel_bias_walk_mps2", "adapt",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """Standard deviations. Those of what moves at random are per root of a second.

    Slip velocities move by `slip_floor_mps` at any speed, by `slip_share` times the speed, and by `slip_change` times each
    change of the rims' speed. They return to what the twin expects with `correlation_s` (None: never). `first_slip` is the first
    ratio's.
    """

    pose_m: float = 0.02
    pose_rad: float = 0.01
    gnss_m: float = 0.5
    velocity_mps: float = 0.05
    velocity_radps: float = 0.02
    gyro_radps: float = 0.01
    accel_mps2: float = 0.5
    slip_floor_mps: float = 0.02
    slip_share: float = 0.07
    slip_change: float = 0.1
    correlation_s: float | None = None
    place_m: float = 0.002
    heading_rad: float = 0.001
    gyro_bias_radps: float = 0.01
    gyro_bias_walk_radps: float = 1e-4
    accel_bias_mps2: float = 0.3
    accel_bias_walk_mps2: float = 0.02
    first_slip: float = 0.3
    first_slip_mps: float = 0.05
    first_centre_m: float = 0.3  # of rotation centres
    centre_walk_m: float = 0.05
    is_carried: bool = True
    adapt: float = 0.0
    gate_probability: float = 0.9999

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or (field.name == "correlation_s" and value is None):
                continue
            least = "not below zero" if field.name in _MAY_BE_ZERO else "above zero"
            is_wrong = not isfinite(value) or value < 0.0 or (value == 0.0 and field.name not in _MAY_BE_ZERO)
            if is_wrong:
                raise ParameterError(f"filter settings: {field.name} is {value:g}; expected a number {least}")
        if not 0.5 <= self.gate_probability < 1.0:
            raise ParameterError(f"filter settings: gate_probability is {self.gate_probability:g}; expected from 0.5 to below 1")

    def noise(self, *, is_centres: bool = False) -> SlipNoise:
        """As the kernel takes it. Sensors that a run does not have leave their bias at zero, with `first_covariance`."""
        floor = self.centre_walk_m if is_centres else self.slip_floor_mps
        share = 0.0 if is_centres else self.slip_share
        change = 0.0 if is_centres else self.slip_change
        return SlipNoise(
            floor=np.full(3, floor**2),
            share=np.full(3, share**2),
            change=np.full(3, change**2),
            decay_per_s=np.full(3, 0.0 if self.correlation_s is None else 1.0 / self.correlation_s),
            place=self.place_m**2,
            heading=self.heading_rad**2,
            gyro_bias=self.gyro_bias_walk_radps**2,
            accel_bias=self.accel_bias_walk_mps2**2,
            is_carried=1.0 if self.is_carried and not is_centres else 0.0,
            adapt=float(self.adapt),
            gate=np.array([np.inf, *chi2.ppf(self.gate_probability, [1, 2, 3])]),
        )
