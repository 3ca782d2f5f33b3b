"""A slip filter over the readings of a drive, forwards and, for logs, back again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from slipfit.estimation.first_pose import FirstPose, first_pose
from slipfit.estimation.motion import Motion
from slipfit.estimation.readings import Events, Readings
from slipfit.estimation.scatter import rim_scatter
from slipfit.estimation.settings import FilterSettings
from slipfit.vehicles import slip_filter as kernel
from slipfit.vehicles.slip_filter import AT_INPUTS, BOOK, NEVER, RECORD, N
from slipfit.vehicles.slip_smoother import smooth as smooth_back

#: The filter's names of what became of a reading, by number.
FATES = ("used", "skipped", "refused", "relocated")


@dataclass(frozen=True, eq=False, slots=True)
class FilterRun:
    """Every event's record: forwards, and smoothed where that was asked for."""

    events: Events
    forward: np.ndarray  # (n, RECORD)
    smoothed: np.ndarray | None
    forward_cov: np.ndarray | None = None  # (n, N, N), where they were to be kept
    smoothed_cov: np.ndarray | None = None
    is_heading_known: bool = True  # False: places alone, and they do not tell it

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
    pose: FirstPose,
) -> Start:
    """Where the first pose says, with the slip that the twin expects."""
    state = np.zeros(N)
    state[:3] = pose.pose
    state[3:6] = motion.first_slip() if motion.is_centres else inputs[6:9]
    book = np.zeros(BOOK)
    book[0], book[1], book[2] = time_s, 1.0, NEVER
    book[AT_INPUTS:] = inputs
    cov = motion.first_covariance(settings, inputs, pose.std, gyro=gyro, accelerometer=accelerometer)
    return Start(state, cov, book)


def run_filter(
    readings: Readings,
    motion: Motion,
    settings: FilterSettings,
    *,
    late_s: Mapping[str, float] | None = None,
    smooth: bool = False,
    keep: bool = False,
) -> FilterRun:
    """Forwards through all events; back again with `smooth`; with all covariances with `keep`."""
    motion = replace(motion, is_heard_ahead=readings.tell_ahead)
    events = readings.events(motion, late_s or {})
    first = first_pose(readings, motion, settings)
    has = {name: readings.has(name) for name in ("gyro", "accelerometer")}
    start = start_of(motion, settings, float(events.time_s[0]), events.inputs[0], pose=first, **has)
    noise = motion.noise(replace(settings, rim_mps=max(settings.rim_mps, rim_scatter(readings))), **has)
    n = len(events.time_s)
    kept = n if smooth or keep else 0
    out, states, covs = np.empty((n, RECORD)), np.empty((kept, N)), np.empty((kept, N, N))
    stream = (events.time_s, events.kinds, np.ascontiguousarray(events.values), np.ascontiguousarray(events.stds), events.inputs)
    kernel.run(motion.model, noise, *stream, start.state, start.cov, start.book, out, states, covs)
    back, back_covs = None, np.empty((n if smooth and keep else 0, N, N))
    if smooth:
        back = np.empty((n, RECORD))
        smooth_back(motion.model, noise, *stream, out, states, covs, back, back_covs)
    kept_covs = (covs if keep else None, back_covs if smooth and keep else None)
    return FilterRun(events, out, back, *kept_covs, is_heading_known=first.is_heading_known)
