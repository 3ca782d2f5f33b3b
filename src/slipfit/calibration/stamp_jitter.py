"""Encoder readings at regular times, where the log's stamps jitter about a regular period.

Drivers read encoders in a timed loop. Either the reading comes at regular times and its stamp is late by a random part of a
millisecond, or the loop itself jitters and the stamp is right. A wheel at w rad/s turns by w d within the deviation d of a stamp
from the regular clock: fourth differences of the angles over the sample's number, which motion hardly reaches, contain
fourth differences of w d where readings follow their stamps and nothing of them where readings are regular. The regression

    D4(angle) = share D4(w d) + noise

decides: share 0 regular readings, 1 readings at their stamps. Readings that follow their stamps are moved to the regular times by
w d, the others get regular stamps. Stamps without jitter, and clocks that wander, are left as they are.

Symbols    w wheel speed (rad/s) · d deviation of a stamp from the regular clock (s) · D4 fourth difference
Derived in docs/theory/calibration.md#stamps-that-jitter
"""

from dataclasses import dataclass, replace

import numpy as np

from slipfit.library.deviation import robust_std
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import WheelAngles

#: Jitter below this standard deviation is left alone (s): rounding of stamps, and less than one count at usual speeds.
LEAST_JITTER_S = 2e-5

#: Stamps belong to a regular clock when 99 % of them are nearer to it than this share of its period.
NEAR_SHARE = 0.35

#: A clock wanders when medians of a second differ by more than this share of the jitter; those of white jitter by .2 at most.
WANDERING, MEDIAN_S = 0.6, 1.0

#: Differences beyond this many standard deviations are corners of the motion; they are clipped.
CORNER = 4.0

#: A share that lies this near to 0 or 1, or as many standard errors, is 0 or 1.
NEAR_WHOLE, NEAR_ERRORS = 0.15, 3.0

#: A standard error beyond which the angles do not show which readings jitter; stamps are then taken as they are.
NOT_SHOWN = 0.3


@dataclass(frozen=True, eq=False, slots=True)
class Jitter:
    """Deviations of stamps from a regular clock, and which share of them the readings follow."""

    late_s: np.ndarray
    share: float  # 0: readings at regular times; 1: readings at their stamps
    regular_s: np.ndarray  # since the first stamp

    @property
    def std_s(self) -> float:
        return float(self.late_s.std())


def without_jitter(wheels: WheelAngles) -> WheelAngles:
    """The same motion at regular stamps, or the readings as they are where stamps do not jitter."""
    found = jitter_of(wheels)
    if found is None:
        return wheels
    angles = wheels.angle_rad - _speeds(found.regular_s + found.share * found.late_s, wheels.angle_rad) * (
        found.share * found.late_s[:, None]
    )
    stamps = wheels.stamps_ns[0] + np.round(found.regular_s * NANOSECONDS).astype(np.int64)
    return replace(wheels, stamps_ns=stamps, angle_rad=angles, known_noise_rad=wheels.noise_rad)


def jitter_of(wheels: WheelAngles) -> Jitter | None:
    """Jitter of the stamps; None where there is none, or no regular clock behind it."""
    time_s = (wheels.stamps_ns - wheels.stamps_ns[0]) / NANOSECONDS
    if len(time_s) < 50:
        return None
    number = _numbers(time_s)
    period_s, start_s = np.polyfit(number, time_s, 1)
    late_s = time_s - (start_s + period_s * number)
    if late_s.std() < LEAST_JITTER_S or np.quantile(np.abs(late_s), 0.99) > NEAR_SHARE * period_s:
        return None
    if (np.diff(number) < 1).any() or _wanders(late_s, period_s):
        return None
    regular_s = start_s + period_s * number
    share, error = _share(number, regular_s, late_s, wheels.angle_rad)
    if not error < NOT_SHOWN:
        share = 1.0
    near = max(NEAR_WHOLE, NEAR_ERRORS * error) if error < NOT_SHOWN else 0.0
    share = round(share) if abs(share - round(share)) < near else share
    return Jitter(late_s, float(np.clip(share, 0.0, 1.0)), regular_s)


def _numbers(time_s: np.ndarray) -> np.ndarray:
    """Number of each sample on a regular clock; samples that were lost leave gaps."""
    period_s = float(np.median(np.diff(time_s)))
    number = np.cumsum(np.concatenate([[0.0], np.maximum(1.0, np.round(np.diff(time_s) / period_s))]))
    for _ in range(3):  # the median of jittering intervals is not the period
        period_s, start_s = np.polyfit(number, time_s, 1)
        number = np.round((time_s - start_s) / period_s)
    return np.asarray(number)


def _wanders(late_s: np.ndarray, period_s: float) -> bool:
    count = max(10, round(MEDIAN_S / period_s))
    blocks = len(late_s) // count
    if blocks < 4:
        return False
    medians = np.median(late_s[: blocks * count].reshape(blocks, count), axis=1)
    return bool(medians.std() > WANDERING * late_s.std())


def _speeds(time_s: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Central differences (rad/s)."""
    apart = angles[2:] - angles[:-2]
    speeds = apart / (time_s[2:] - time_s[:-2])[:, None]
    return np.vstack([speeds[:1], speeds, speeds[-1:]])


def _share(number: np.ndarray, regular_s: np.ndarray, late_s: np.ndarray, angles: np.ndarray) -> tuple[float, float]:
    """Share of the deviations that the readings follow, and its standard error."""
    distinct = np.unique(angles, axis=1)
    shown = np.diff(distinct, n=4, axis=0)
    expected = np.diff(_speeds(regular_s, distinct) * late_s[:, None], n=4, axis=0)
    used = (number[4:] - number[:-4] == 4)[:, None] & (expected != 0.0)
    y, g = shown[used], expected[used]
    power = float(g @ g)
    if power == 0.0:
        return 1.0, float("inf")
    share, left = 1.0, y
    for _ in range(5):
        left = y - share * g
        limit = CORNER * robust_std(left, about=0.0)
        share += float(np.clip(left, -limit, limit) @ g) / power
    # Fourth differences of neighbors, and wheels of one side, are correlated: effectively about one in three counts.
    return share, float(np.sqrt(3.0 * (np.clip(left, -limit, limit) ** 2) @ g**2)) / power
