"""By how much sensors are late: the delays with which the filter is least surprised by all that it hears.

    cost(delays) = sum over all readings of min(normalised innovation squared, gate)

over a grid that is made finer about its best point, and a parabola through the best three. *All* readings count: moving a gyro
costs it nothing, because slip follows it, and it is the pose that is surprised then. Outliers count once, as much as the gate.
The readings are the same for every delay, those that stay inside the drive with all of them. Of the likelihood's logarithm this
is the part that decides: determinants of the innovations' covariances change only where refused readings open the filter, which
costs several gates (docs/theory/estimation has numbers). Costs are taken as shares of what they are per reading, where that is
more than one: a filter that is too sure is too sure of delays as well.

Sensors move one after another, the one that gains most first. What a late pose explains, a gyro that is early explains nearly as
well; a sensor speaks after what it has seen, so that of two that gain alike the one that is late moves. A clock is off all the
time, so that no single event of the drive may decide: the best of `PARTS`, and of short drives its neighbours, into which an
event reaches, do not count. The best delay is none if it lies at the end of those that are tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from slipfit.estimation.filter import run_filter
from slipfit.estimation.motion import Motion
from slipfit.estimation.readings import REPORT_S, Readings
from slipfit.estimation.settings import FilterSettings
from slipfit.logs.rims import GRID_S

#: Delays that are tried (s), and their interval; it is halved so often about the best.
EARLIEST_S, LATEST_S, STEP_S, HALVINGS = -0.2, 1.2, 0.1, 2

#: The cost must fall by so much, against no delay at all and without its loudest parts, before a clock is believed to be off.
TOLD = 10.0

#: Less (s) is no delay: rims are straight lines between moments that are so far apart.
LEAST_S = GRID_S

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
    is_at_end: bool = False  # the cost falls up to the end of the delays that were tried: something is wrong, and not told


def find_delays(
    readings: Readings,
    motion: Motion,
    settings: FilterSettings,
    sensors: tuple[str, ...] = ("gyro", "pose"),
    *,
    late_s: Mapping[str, float] | None = None,
) -> tuple[Delay, ...]:
    """The delays of some sensors, together; others as given."""
    surprise = _Surprise(_first(readings, LONGEST_S), motion, settings)
    delays, found = dict(late_s or {}), {sensor: Delay(sensor, 0.0, 0.0, is_told=False) for sensor in sensors}
    for _ in range(2 * len(sensors)):  # each may have to move again once another has moved
        tried = [_best(surprise, delays, sensor) for sensor in sensors]
        moving = [delay for delay in tried if delay.is_told]
        if not moving:
            for delay in tried:
                if delay.is_at_end:
                    found[delay.sensor] = Delay(delay.sensor, found[delay.sensor].late_s, delay.gained, False, is_at_end=True)
            break
        most = max(delay.gained for delay in moving)
        alike = [delay for delay in moving if delay.gained > most - TOLD]
        chosen = max(alike, key=lambda delay: (delay.late_s > 0.0, delay.gained))
        delays[chosen.sensor], found[chosen.sensor] = chosen.late_s, chosen
    return tuple(found.values())


def find_delay(
    readings: Readings,
    motion: Motion,
    settings: FilterSettings,
    sensor: str = "pose",
    *,
    late_s: Mapping[str, float] | None = None,
) -> Delay:
    """The delay of a sensor, others as given."""
    return find_delays(readings, motion, settings, (sensor,), late_s=late_s)[0]


class _Surprise:
    """What delays cost, part by part of the drive."""

    def __init__(self, readings: Readings, motion: Motion, settings: FilterSettings) -> None:
        self.readings, self.motion, self.settings = readings, motion, settings
        # The last moment of the report may come so much before that of the rims.
        begin_s, end_s = readings.time_s[0] + LATEST_S, readings.time_s[-1] + EARLIEST_S - REPORT_S
        self.edges_s = np.linspace(begin_s, max(end_s, begin_s + REPORT_S), PARTS + 1)
        self.gate = settings.noise().gate
        self.numbers = 1.0  # that the readings consist of
        self._known: dict[tuple[tuple[str, float], ...], np.ndarray] = {}

    def __call__(self, late_s: Mapping[str, float]) -> np.ndarray:
        key = tuple(sorted((sensor, round(late, 6)) for sensor, late in late_s.items() if late))
        if key not in self._known:
            self._known[key] = self._run(late_s)
        return self._known[key]

    def _run(self, late_s: Mapping[str, float]) -> np.ndarray:
        run = run_filter(self.readings, self.motion, self.settings, late_s=late_s)
        total, self.numbers = np.zeros(PARTS), 0.0
        for sensor in self.readings.sensors:
            stamped_s = run.events.time_s + late_s.get(sensor.name, 0.0)
            of = (run.events.kinds == sensor.kind) & (run.told > 0)
            of &= (stamped_s >= self.edges_s[0]) & (stamped_s <= self.edges_s[-1])
            paid = np.minimum(run.nis[of], self.gate[run.told[of].astype(int)])
            total += np.histogram(stamped_s[of], self.edges_s, weights=paid)[0]
            self.numbers += float(run.told[of].sum())
        return total


def _best(surprise: _Surprise, delays: Mapping[str, float], sensor: str) -> Delay:
    """The best delay of one sensor, others as they are."""

    def cost(late: float) -> float:
        return float(surprise({**delays, sensor: late}).sum())

    step, count = STEP_S, round((LATEST_S - EARLIEST_S) / STEP_S)
    tried = [EARLIEST_S + k * STEP_S for k in range(count + 1)]
    best = min(tried, key=cost)
    is_at_end = best in (tried[0], tried[-1])
    for _ in range(HALVINGS):
        step *= 0.5
        best = min((best, best - step, best + step), key=cost)
    is_at_end = is_at_end or not tried[0] + step < best < tried[-1] - step
    late = best
    if not is_at_end:
        before, here, after = (cost(best + by) for by in (-step, 0.0, step))
        bend = before - 2.0 * here + after
        late += float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) * step if bend > 0.0 else 0.0
    left = surprise({**delays, sensor: best})
    per_number = max(1.0, float(left.sum()) / max(surprise.numbers, 1.0))
    gained = _gained(surprise({sensor: 0.0, **delays}) - left, surprise.edges_s) / per_number
    is_another = abs(late - delays.get(sensor, 0.0)) >= LEAST_S and gained > TOLD
    return Delay(sensor, late, gained, is_another and not is_at_end, is_another and is_at_end)


def _gained(gains: np.ndarray, edges_s: np.ndarray) -> float:
    """Over a drive, without the parts that gain most."""
    loudest = int(gains.argmax())
    beside = 1 if edges_s[1] - edges_s[0] < EVENT_S else 0
    return float(gains.sum() - gains[max(0, loudest - beside) : loudest + beside + 1].sum())


def _first(readings: Readings, longest_s: float) -> Readings:
    """The first part of a long drive: clocks do not change."""
    if readings.time_s[-1] - readings.time_s[0] <= longest_s:
        return readings
    count = int(np.searchsorted(readings.time_s, readings.time_s[0] + longest_s))
    return Readings(
        readings.name, readings.start_ns, readings.time_s[:count], readings.rims_mps[:count], readings.sensors, readings.silent_s
    )
