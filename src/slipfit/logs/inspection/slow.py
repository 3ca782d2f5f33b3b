"""Sensors that agree only over longer spans: a lidar's poses come a few times a second, late by another time each.

Over most of a second such delays matter little, so that units and signs can be told where the moment of each pose cannot.
"""

import numpy as np

from slipfit.logs.inspection.align import FARTHEST_S, Increments, wheels_ahead, wheels_yaw
from slipfit.logs.inspection.signals import Inertial, Seen, Sums, Wheels

#: Spans (s), the fewest of them that say something, and steps of the delays that are tried.
SPAN_S, FEWEST, DELAY_STEP_S = 0.8, 20, 0.1

#: A unit is wrong alike everywhere: quartiles of ratios that are farther apart tell of jumps, or of the noise of a robot that
#: stands while its wheels spin (3.6 if it is normal).
SCATTER = 2.5

#: A robot that is stuck for most of a drive looks like one whose wheels speak in another unit; but where for this share of the
#: spans it went about as far as its wheels say, the unit is right and the rest is slip.
GRIPS = 0.1

#: Body over wheels, distance: with slip, and with a wrong wheel radius.
AHEAD_WINDOW = (0.5, 1.3)

#: A way ahead that is more than noise of a pose (m).
LEAST_WAY_M = 0.1

#: Share of explained variance from which yaws, and ways ahead, tell of the same motion.
LEAST_R2, LEAST_AHEAD_R2 = 0.5, 0.3


def way_ratio(wheels: Wheels, seen: Seen) -> float | None:
    """Way ahead of the pose over that of the wheels, the middle of all spans in which they clearly went; None where few did.

    Net ways: noise of poses that come often would add up to any length.
    """
    edges = np.arange(max(wheels.time_s[0], seen.time_s[0]), min(wheels.time_s[-1], seen.time_s[-1]), SPAN_S)
    if len(edges) < FEWEST:
        return None
    both = wheels.is_whole(edges) & seen.is_whole(edges)
    rolled, went = np.abs(wheels_ahead(wheels, edges)), np.abs(np.diff(seen.at(edges, 1)[:, 0]))
    clear = both & (rolled > max(LEAST_WAY_M, 0.5 * float(np.percentile(rolled, 90.0))))
    if clear.sum() < FEWEST:
        return None
    ratios = went[clear] / rolled[clear]
    low, ratio, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    grips = (ratios > AHEAD_WINDOW[0]) & (ratios < AHEAD_WINDOW[1])
    if not AHEAD_WINDOW[0] < ratio < AHEAD_WINDOW[1] and grips.mean() > GRIPS:
        return None
    return float(ratio) if high <= SCATTER * low else None


def yaw_sign(reference: Wheels | Inertial, seen: Seen) -> float | None:
    """Whether both turn the same way, 1 or -1, at the delay of the pose that agrees best; None where none does."""
    return _sign_of(_correlation(reference, seen, 0, wheels_yaw if isinstance(reference, Wheels) else _turned), LEAST_R2)


def ahead_sign(wheels: Wheels, *seen: Seen) -> float | None:
    """Whether the pose goes ahead when the wheels do, along its own yaw: of several readings of it the one that agrees best."""
    return _sign_of(max((_correlation(wheels, s, 1, wheels_ahead) for s in seen), key=abs), LEAST_AHEAD_R2)


def _sign_of(correlation: float, least_r2: float) -> float | None:
    return float(np.sign(correlation)) if correlation**2 >= least_r2 else None


def _turned(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    return np.asarray(np.diff(sums.at(edges_s, 0)[:, 0]))


def _correlation(reference: Wheels | Inertial, seen: Seen, column: int, of_reference: Increments) -> float:
    """The strongest of all delays; zero where there are few spans."""
    begin, end = max(reference.time_s[0], seen.time_s[0]) + FARTHEST_S, min(reference.time_s[-1], seen.time_s[-1])
    edges = np.arange(begin, end, SPAN_S)
    if len(edges) < FEWEST:
        return 0.0
    moved, whole = np.diff(seen.at(edges, column)[:, 0]), seen.is_whole(edges)
    found = []
    for late_s in np.arange(0.0, FARTHEST_S, DELAY_STEP_S):
        told = edges - late_s
        by_reference, ok = of_reference(reference, told), whole & reference.is_whole(told)
        if ok.sum() >= FEWEST and by_reference[ok].std() > 1e-6 and moved[ok].std() > 1e-6:
            found.append(float(np.corrcoef(by_reference[ok], moved[ok])[0, 1]))
    return max(found, key=abs, default=0.0)
