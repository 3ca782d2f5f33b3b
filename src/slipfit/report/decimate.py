"""Long signals as few points that look the same: smallest and largest of every bin, lines broken at gaps."""

import numpy as np

#: Points of a line: two for each pixel of a wide screen.
MOST_POINTS = 4000

#: A pause this many times longer than the usual one breaks a line.
GAP_PERIODS = 5.0


def envelope(time_s: np.ndarray, values: np.ndarray, most: int = MOST_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Time and values of at most about `most` points, in single precision; NaN where the sensor paused."""
    seen = np.isfinite(time_s) & np.isfinite(values)
    t, y = np.asarray(time_s)[seen], np.asarray(values)[seen]
    kept = _extremes(y, most) if len(t) > most else np.arange(len(t))
    periods = np.diff(t)
    gaps = np.flatnonzero(periods > GAP_PERIODS * np.median(periods)) if len(periods) else np.empty(0, np.int64)
    # A gap that lies between two kept points breaks the line there, once.
    breaks = np.unique(np.searchsorted(kept, gaps + 1))
    breaks = breaks[(breaks > 0) & (breaks < len(kept))]
    return np.insert(t[kept], breaks, np.nan).astype(np.float32), np.insert(y[kept], breaks, np.nan).astype(np.float32)


def _extremes(y: np.ndarray, most: int) -> np.ndarray:
    """Places of the smallest and largest value of equal bins, and both ends."""
    count = len(y)
    width = -(-count // max(most // 2, 1))
    bins = -(-count // width)
    table = np.pad(y, (0, bins * width - count), mode="edge").reshape(bins, width)
    begins = width * np.arange(bins)
    places = np.concatenate([[0, count - 1], begins + table.argmin(axis=1), begins + table.argmax(axis=1)])
    return np.unique(np.minimum(places, count - 1))


def unused_spans(time_s: np.ndarray, weight: np.ndarray, *, least_share: float = 0.002) -> list[tuple[float, float]]:
    """Begin and end of the stretches whose weight is below a half; those that nearly touch are joined."""
    t = np.asarray(time_s, dtype=float)
    flags = np.asarray(weight) < 0.5
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    found: list[tuple[float, float]] = []
    near_s = least_share * float(t[-1] - t[0]) if len(t) else 0.0
    for first, behind in zip(edges[::2], edges[1::2], strict=True):
        begin, end = float(t[first]), float(t[min(behind, len(t) - 1)])
        if found and begin - found[-1][1] <= near_s:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found
