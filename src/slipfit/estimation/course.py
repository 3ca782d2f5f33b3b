"""Which way a robot faces, by places alone: its way by wheels and gyro is turned until it fits them.

The way z has an unknown heading, and places are g = g_0 + s z + noise with s = |s| e^(i psi):

    s = sum conj(z - mean z) (g - mean g) / sum |z - mean z|^2,    std(psi) = sigma / (|s| sqrt(sum |z - mean z|^2))

Forwards and backwards, straight or in turns, with stops: z has it all. |s| is the share of the wheels' way that the robot gets
ahead; of one that is stuck it is nothing, and so is what its heading is known by. Of all pairs of places the one counts whose s
fits half of the places best, and outliers are those that lie far from it.

Symbols    z, g places as complex numbers (m) · sigma standard deviation of a place along an axis
Reference  least squares, and least median of squares for the outliers, derived in docs/theory/estimation
"""

from typing import NamedTuple

import numpy as np

#: So much of the way (m) tells the heading at the start: farther on slip and drift of the gyro turn it.
FAR_M = 20.0

#: Slip and drift along that way turn it by about so much (rad).
LEAST_STD_RAD = 0.03

#: A heading is known from this spread on (rad), and from so many places: half of them may be outliers, less one.
KNOWN_RAD, LEAST_PLACES = 0.1, 5

#: More places than this cost time and tell little more.
MOST_PLACES = 60

#: Places beyond so many standard deviations are outliers: one in 460 of those that are none.
OUTLIER = 3.5

#: Median of a place's distance in standard deviations of an axis (Rayleigh's distribution).
MEDIAN = 1.177


class Course(NamedTuple):
    turn_rad: float  # from the way's frame to that of the places
    std_rad: float
    origin: complex  # of the way, among the places
    is_used: np.ndarray  # (n,) False: an outlier

    @property
    def is_known(self) -> bool:
        return self.std_rad < KNOWN_RAD


def course_of(way: np.ndarray, places: np.ndarray, place_std_m: float) -> Course | None:
    """None where the places are too few, or tell nothing."""
    if len(way) < LEAST_PLACES:
        return None
    at = np.unique(np.linspace(0, len(way) - 1, min(len(way), MOST_PLACES)).astype(int))
    z, g = way[at], places[at]
    first, last = np.triu_indices(len(z), 1)
    # Pairs that are close together say nothing of directions.
    apart = np.abs(z[last] - z[first])
    far = apart >= np.quantile(apart, 0.5)
    if not apart.max() > 0.0:
        return None
    first, last = first[far & (apart > 0.0)], last[far & (apart > 0.0)]
    scale = (g[last] - g[first]) / (z[last] - z[first])
    offset = 0.5 * (g[last] + g[first] - scale * (z[last] + z[first]))
    away = np.abs(g[None] - offset[:, None] - scale[:, None] * z[None])
    middle = np.partition(away, len(z) // 2, axis=1)[:, len(z) // 2]
    best = int(middle.argmin())
    sigma = max(place_std_m, float(middle[best]) / MEDIAN)
    is_used = np.abs(places - offset[best] - scale[best] * way) <= OUTLIER * sigma
    if 2 * is_used.sum() <= len(way):
        return None
    fitted, origin, spread = _fit(way[is_used], places[is_used])
    told = abs(fitted) * spread**0.5
    return Course(float(np.angle(fitted)), sigma / told, origin, is_used) if told > 0.0 else None


def first_course(way: np.ndarray, places: np.ndarray, place_std_m: float) -> Course | None:
    """By the fewest of the first places that tell it: farther on the robot may slip otherwise. None where all of them do not."""
    for count in range(LEAST_PLACES, len(way) + 1):
        # Long drives that stand at first: look again after each tenth more.
        if count > MOST_PLACES and count % (count // 10) and count < len(way):
            continue
        found = course_of(way[:count], places[:count], place_std_m)
        if found is not None and found.is_known:
            return found
    return None


def _fit(z: np.ndarray, g: np.ndarray) -> tuple[complex, complex, float]:
    """Scale and turn, offset, and the sum of squares that tells them."""
    middle = z.mean()
    spread = float(np.sum(np.abs(z - middle) ** 2))
    scale = complex(np.sum((z - middle).conj() * (g - g.mean())) / max(spread, 1e-300))
    return scale, complex(g.mean() - scale * middle), spread
