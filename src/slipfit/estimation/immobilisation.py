"""Is the robot stuck, or about to be? From the slip of both sides, its spread and its trend.

A robot is stuck when the side that slips less still slips by more than `STUCK_SLIP` while its wheels turn. With i that slip and
sigma its spread,

    P(stuck) = Phi((i - i_s) / sigma)

and with the trend i. of the last `TREND_S` the time left is (i_s - i) / i.. An alarm is raised when P stays above `SURE` for
`HELD_S`, and again only after P fell below one half.

P counts where a sensor tells what it rests on. How far the robot gets *ahead* only a pose, a place or a velocity tell: an
accelerometer cannot be told from a tilt, and its integral drifts by more than a slip within seconds. A gyro alone is enough where
the sides turn against each other. Then, with w_l < 0 < w_r, body speed u and yaw rate r, the slips 1 - (u - r B/2) / w_l and
1 - (u + r B/2) / w_r are equal for one u, and the smaller of them is less for every other one:

    min(i_l, i_r) <= 1 - r B / (w_r - w_l)

so that an error of u never raises an alarm.

Valid for  turning wheels: a robot whose rims are slower than `TURNING_MPS` waits, it is not stuck
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

#: Slip ratio above which the ground does not carry the robot any more.
STUCK_SLIP = 0.8

#: Probability that raises an alarm, and for how long it has to last (s). Less of either alarms for nothing over once an hour,
#: more of the second warns later than 2 s (`benchmarks/estimate_alarms.py`; table in docs/theory/estimation).
SURE, HELD_S = 0.99, 0.5

#: Readings older than this (s) tell nothing about the motion of now.
HEARD_S = 1.0

#: Rims slower than this (m/s) do not try to move the robot.
TURNING_MPS = 0.1

#: Trends are taken over so long (s); a warning that is farther ahead than this (s) is none.
TREND_S, FARTHEST_S = 1.0, 30.0

#: A spread below this (of a ratio) is not believed.
LEAST_STD = 0.02


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """When an alarm is raised: the slip that counts as stuck, how sure, and for how long (s)."""

    slip: float = STUCK_SLIP
    sure: float = SURE
    held_s: float = HELD_S


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """Which motion sensors told of lately, (n,) each: the way ahead (pose, place, velocity), and turning (gyro, pose)."""

    ahead: np.ndarray
    turning: np.ndarray

    @classmethod
    def of(cls, time_s: np.ndarray, ahead_s: np.ndarray, turning_s: np.ndarray) -> "Evidence":
        """At times of a report, from times of readings in their order."""
        return cls(*(_since(time_s, told) <= HEARD_S for told in (ahead_s, turning_s)))

    def judges(self, rims_mps: np.ndarray) -> np.ndarray:
        """Where being stuck can be told, (n,): the way ahead is, or sides turn against each other and turning is."""
        if rims_mps.shape[1] != 2:
            return self.ahead
        against = (rims_mps.prod(axis=1) < 0.0) & (np.abs(rims_mps).min(axis=1) > TURNING_MPS)
        return np.asarray(self.ahead | (self.turning & against))


def _since(time_s: np.ndarray, told_s: np.ndarray) -> np.ndarray:
    """Seconds since the last of `told_s`; infinite before the first."""
    last = np.searchsorted(told_s, time_s, side="right") - 1
    return np.where(last >= 0, time_s - np.append(told_s, np.inf)[np.maximum(last, 0)], np.inf)


@dataclass(frozen=True, eq=False, slots=True)
class Immobilisation:
    """Probability of being stuck over time, seconds until it is likely, and the alarms."""

    probability: np.ndarray
    warning_s: np.ndarray
    alarms_s: tuple[float, ...]


def driving_slip(slip: np.ndarray, rims_mps: np.ndarray) -> np.ndarray:
    """Slip that drives, (n, k): positive where a wheel outruns the ground, whichever way it turns."""
    return np.asarray(slip * np.sign(rims_mps))


def immobilisation(
    time_s: np.ndarray,
    slip: np.ndarray,
    slip_std: np.ndarray,
    is_told: np.ndarray,
    rims_mps: np.ndarray,
    *,
    evidence: Evidence | None = None,
    rule: AlarmRule | None = None,
) -> Immobilisation:
    """From the ratios of both sides, (n, 2), or of whatever else has to move the robot; `is_told` False, and what `evidence` does
    not reach (without it: everything is reached), count as no slip."""
    rule = rule or AlarmRule()
    turns = np.abs(rims_mps) > TURNING_MPS
    driven = np.where(turns, driving_slip(slip, rims_mps), np.inf)
    less = driven.argmin(axis=1)
    at = np.arange(len(time_s))
    i, sigma = driven[at, less], np.maximum(slip_std[at, less], LEAST_STD)
    counts = turns.any(axis=1) & is_told[at, less]
    if evidence is not None:
        counts &= evidence.judges(rims_mps)
    i = np.where(counts, i, 0.0)
    probability = np.where(counts, norm.cdf((i - rule.slip) / sigma), 0.0)
    return Immobilisation(probability, _warnings(time_s, i, counts, rule.slip), tuple(alarms(time_s, probability, rule)))


def _warnings(time_s: np.ndarray, slip: np.ndarray, counts: np.ndarray, limit: float) -> np.ndarray:
    """Seconds until slip reaches the limit, by the slope of a line through the last `TREND_S`."""
    step = float(np.median(np.diff(time_s))) if len(time_s) > 1 else 1.0
    per = max(2, round(TREND_S / step))
    kernel = np.arange(per) - 0.5 * (per - 1)
    kernel = kernel / (step * float(kernel @ kernel))
    slope = np.zeros(len(slip))
    if len(slip) >= per:
        slope[per - 1 :] = np.convolve(slip, kernel[::-1], mode="valid")
    left = np.where(slope > 1e-6, (limit - slip) / np.maximum(slope, 1e-6), np.inf)
    left = np.where(slip >= limit, 0.0, left)
    return np.asarray(np.where(counts & (left <= FARTHEST_S), left, np.inf))


def alarms(time_s: np.ndarray, probability: np.ndarray, rule: AlarmRule) -> Sequence[float]:
    """When alarms are raised (s)."""
    found, since, is_armed = [], None, True
    for t, p in zip(time_s.tolist(), probability.tolist(), strict=True):
        if p <= rule.sure:
            since = None
            is_armed = is_armed or p < 0.5
        elif is_armed:
            since = t if since is None else since
            if t - since >= rule.held_s - 1e-9:
                found.append(t)
                is_armed = False
    return found
