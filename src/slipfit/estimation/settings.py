"""What a slip filter supposes: noise of sensors, how slip moves, when a reading is refused."""

from dataclasses import dataclass, fields
from math import inf, isfinite

import numpy as np
from scipy.stats import chi2

from slipfit.errors import ParameterError
from slipfit.vehicles.slip_filter import SlipNoise

#: A twin's expectation comes back with this correlation time (s) where the settings do not say.
CORRELATION_S = 5.0

#: What rims depart from a steady ramp counts beyond so many standard deviations of their own noise: one reading of 370.
USUAL_STDS = 3.0

#: Numbers of the settings that may be zero.
_MAY_BE_ZERO = frozenset(
    {
        "slip_floor_mps", "slip_share", "slip_change", "rim_mps", "place_m", "heading_rad", "gyro_bias_radps",
        "gyro_bias_walk_radps", "accel_bias_mps2", "accel_bias_walk_mps2", "adapt",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """Standard deviations. Those of what moves at random are per root of a second.

    Slip velocities move by `slip_floor_mps` at any speed, by `slip_share` times the speed, and by `slip_change` times what the
    rims depart from a steady ramp (docs/theory/estimation derives the 2), where that is more than their noise: `rim_mps`, or what
    the rims of a log scatter by. They return to what is expected with `correlation_s`: None is `CORRELATION_S` where a twin says
    what to expect, and never where none does; infinity is never. `first_slip` is the first ratio's.
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
    slip_change: float = 2.0
    rim_mps: float = 0.005
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
            is_endless = field.name == "correlation_s" and value == inf
            is_wrong = not isfinite(value) or value < 0.0 or (value == 0.0 and field.name not in _MAY_BE_ZERO)
            is_wrong = is_wrong and not is_endless
            if is_wrong:
                raise ParameterError(f"filter settings: {field.name} is {value:g}; expected a number {least}")
        if not 0.5 <= self.gate_probability < 1.0:
            raise ParameterError(f"filter settings: gate_probability is {self.gate_probability:g}; expected from 0.5 to below 1")

    def noise(self, *, is_centres: bool = False, is_expecting: bool = False) -> SlipNoise:
        """As the kernel takes it. Sensors that a run does not have leave their bias at zero, with `first_covariance`."""
        memory_s = (CORRELATION_S if is_expecting else inf) if self.correlation_s is None else self.correlation_s
        floor = self.centre_walk_m if is_centres else self.slip_floor_mps
        share = 0.0 if is_centres else self.slip_share
        change = 0.0 if is_centres else self.slip_change
        return SlipNoise(
            floor=np.full(3, floor**2),
            share=np.full(3, share**2),
            change=np.full(3, change**2),
            usual=(USUAL_STDS * self.rim_mps) ** 2,
            decay_per_s=np.full(3, 1.0 / memory_s),
            place=self.place_m**2,
            heading=self.heading_rad**2,
            gyro_bias=self.gyro_bias_walk_radps**2,
            accel_bias=self.accel_bias_walk_mps2**2,
            is_carried=1.0 if self.is_carried and not is_centres else 0.0,
            adapt=float(self.adapt),
            gate=np.array([np.inf, *chi2.ppf(self.gate_probability, [1, 2, 3])]),
        )
