"""By how much a sensor is late: the delay with which the filter is least surprised by it.

    cost(late) = sum over its readings of min(normalised innovation squared, gate)

over a grid, and a parabola through the best three. Outliers count once, as much as the gate. The readings are the same for every
delay, those that stay inside the drive with all of them: else chance decides about a sensor that tells nothing. A clock is off
all the time, so that no single event of the drive may decide: the best of `PARTS`, and of short drives its neighbours, into
which an event reaches, do not count.
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

#: The cost must fall by so much, against no delay at all and without its loudest parts, before a clock is believed to be off.
TOLD = 10.0

#: Parts of a drive of which the one that speaks loudest for a delay is left out: a robot that loses its grip once looks late,
#: from when it struggles until the filter has followed. Of parts shorter than that (s) the neighbours are left out, too.
PARTS, EVENT_S = 8, 5.0

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
    first_s, last_s = part.time_s[0] + LATEST_S, part.time_s[-1] + EARLIEST_S

    edges_s = np.linspace(first_s, last_s, PARTS + 1)

    def costs_of(late: float) -> np.ndarray:
        run = run_filter(part, motion, settings, late_s={**(late_s or {}), sensor: late})
        stamped_s = run.events.time_s + late
        of = (run.events.kinds == kind) & (run.told > 0) & (stamped_s >= first_s) & (stamped_s <= last_s)
        paid = np.minimum(run.nis[of], gate[run.told[of].astype(int)])
        return np.histogram(stamped_s[of], edges_s, weights=paid)[0]

    tried = np.arange(EARLIEST_S, LATEST_S + 0.5 * STEP_S, STEP_S)
    parts = np.array([costs_of(late) for late in tried])
    costs = parts.sum(axis=1)
    best = int(costs.argmin())
    found = float(tried[best])
    if 0 < best < len(tried) - 1:
        before, here, after = costs[best - 1 : best + 2]
        bend = before - 2.0 * here + after
        found += 0.5 * STEP_S * float((before - after) / bend) if bend > 0.0 else 0.0
    gains = parts[int(np.abs(tried).argmin())] - parts[best]
    loudest = int(gains.argmax())
    beside = 1 if edges_s[1] - edges_s[0] < EVENT_S else 0
    gained = float(gains.sum() - gains[max(0, loudest - beside) : loudest + beside + 1].sum())
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
