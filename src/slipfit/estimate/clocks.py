"""By how much a sensor is late: the delay with which the filter is least surprised by it.

    cost(late) = sum over its readings of min(normalised innovation squared, gate)

over a grid, and a parabola through the best three. Outliers count once, as much as the gate.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from slipfit.estimate.filter import run_filter
from slipfit.estimate.motion import Motion
from slipfit.estimate.readings import Readings
from slipfit.estimate.settings import FilterSettings
from slipfit.vehicles.slip_filter import GYRO, POSE

#: Delays that are tried (s), and their interval.
EARLIEST_S, LATEST_S, STEP_S = -0.2, 1.2, 0.05

#: The cost must fall by so much, against no delay at all, before a clock is believed to be off.
TOLD = 10.0

#: A drive is looked at for so long (s) at most.
LONGEST_S = 300.0


@dataclass(frozen=True, slots=True)
class Delay:
    """Of one sensor (s); the cost's fall against no delay says how sure that is."""

    sensor: str
    late_s: float
    gained: float
    is_told: bool


def find_delay(
    readings: Readings,
    motion: Motion,
    settings: FilterSettings,
    sensor: str = "pose",
    *,
    late_s: Mapping[str, float] | None = None,
) -> Delay:
    """The delay of a sensor, others as given."""
    part = _first(readings, LONGEST_S)
    kind = POSE if sensor in ("pose", "gnss") else GYRO
    gate = settings.noise().gate

    def cost(late: float) -> float:
        run = run_filter(part, motion, settings, late_s={**(late_s or {}), sensor: late})
        of = (run.events.kinds == kind) & (run.told > 0)
        if not of.any():
            return float("inf")
        return float(np.minimum(run.nis[of], gate[run.told[of].astype(int)]).mean() * len(part[sensor].time_s))

    tried = np.arange(EARLIEST_S, LATEST_S + 0.5 * STEP_S, STEP_S)
    costs = np.array([cost(late) for late in tried])
    best = int(costs.argmin())
    found = float(tried[best])
    if 0 < best < len(tried) - 1:
        before, here, after = costs[best - 1 : best + 2]
        bend = before - 2.0 * here + after
        found += 0.5 * STEP_S * float((before - after) / bend) if bend > 0.0 else 0.0
    gained = float(np.interp(0.0, tried, costs) - costs[best])
    is_told = gained > TOLD
    return Delay(sensor, found if is_told else 0.0, gained, is_told)


def _first(readings: Readings, longest_s: float) -> Readings:
    """The first part of a long drive: clocks do not change."""
    if readings.time_s[-1] - readings.time_s[0] <= longest_s:
        return readings
    count = int(np.searchsorted(readings.time_s, readings.time_s[0] + longest_s))
    return Readings(
        readings.name, readings.start_ns, readings.time_s[:count], readings.rims_mps[:count], readings.sensors, readings.silent_s
    )
