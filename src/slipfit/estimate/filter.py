"""A slip filter over the readings of a drive, forwards and, for logs, back again."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from slipfit.estimate.motion import Motion
from slipfit.estimate.readings import Events, Readings
from slipfit.estimate.settings import FilterSettings
from slipfit.vehicles import slip_filter as kernel
from slipfit.vehicles.slip_filter import BOOK, NEVER, RECORD, N

#: The filter's names of what became of a reading, by number.
FATES = ("used", "skipped", "refused", "relocated")


@dataclass(frozen=True, eq=False, slots=True)
class FilterRun:
    """Every event's record: forwards, and smoothed where that was asked for."""

    events: Events
    forward: np.ndarray  # (n, RECORD)
    smoothed: np.ndarray | None
    covariances: np.ndarray | None  # (n, N, N) of the forward run, where they were kept

    @property
    def best(self) -> np.ndarray:
        """The smoothed record where there is one."""
        return self.forward if self.smoothed is None else self.smoothed

    @property
    def nis(self) -> np.ndarray:
        """Normalised innovation squared of each event."""
        return np.asarray(self.forward[:, 2 * N + 6])

    @property
    def told(self) -> np.ndarray:
        """Number of readings of each event."""
        return np.asarray(self.forward[:, 2 * N + 7])

    @property
    def fates(self) -> np.ndarray:
        """What became of them, as numbers of `FATES`."""
        return np.asarray(self.forward[:, 2 * N + 8])


@dataclass(frozen=True, eq=False, slots=True)
class Start:
    """State and covariance before the first event, and the book of a run."""

    state: np.ndarray
    cov: np.ndarray
    book: np.ndarray


def start_of(
    motion: Motion,
    settings: FilterSettings,
    time_s: float,
    inputs: np.ndarray,
    *,
    gyro: bool,
    accelerometer: bool,
    pose: np.ndarray,
) -> Start:
    """At rest where the first pose says, with the slip that the twin expects."""
    state = np.zeros(N)
    state[:3] = np.where(np.isfinite(pose), pose, 0.0)
    state[3:6] = motion.first_slip() if motion.is_centres else inputs[6:9]
    book = np.zeros(BOOK)
    book[0], book[1], book[2] = time_s, 1.0, NEVER
    book[4:] = inputs
    return Start(state, motion.first_covariance(settings, inputs, gyro=gyro, accelerometer=accelerometer), book)


def run_filter(
    readings: Readings,
    motion: Motion,
    settings: FilterSettings,
    *,
    late_s: Mapping[str, float] | None = None,
    smooth: bool = False,
) -> FilterRun:
    """Forwards through all events; back again with `smooth`."""
    events = readings.events(motion, late_s or {})
    noise = settings.noise(is_centres=motion.is_centres)
    first = next((s.values[0] for s in readings.sensors if s.name in ("pose", "gnss")), np.full(3, np.nan))
    has = {name: readings.has(name) for name in ("gyro", "accelerometer")}
    start = start_of(motion, settings, float(events.time_s[0]), events.inputs[0], pose=first, **has)
    if not has["gyro"]:
        noise = noise._replace(gyro_bias=0.0)
    if not has["accelerometer"]:
        noise = noise._replace(accel_bias=0.0)
    n = len(events.time_s)
    kept = n if smooth else 0
    out, states, covs = np.empty((n, RECORD)), np.empty((kept, N)), np.empty((kept, N, N))
    stream = (events.time_s, events.kinds, np.ascontiguousarray(events.values), np.ascontiguousarray(events.stds), events.inputs)
    kernel.run(motion.model, noise, *stream, start.state, start.cov, start.book, out, states, covs)
    back = None
    if smooth:
        back = np.empty((n, RECORD))
        scales = np.ascontiguousarray(out[:, -1])
        kernel.smooth(motion.model, noise, events.time_s, events.kinds, events.inputs, scales, states, covs, back)
    return FilterRun(events, out, back, covs if smooth else None)
