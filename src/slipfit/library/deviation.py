"""Middle and spread of numbers that outliers do not disturb, said once."""

import numpy as np

#: A normal distribution's standard deviation over its median absolute deviation.
NORMAL = 1.4826


def robust_std(values: np.ndarray, about: float | None = None) -> float:
    """Standard deviation by the median absolute deviation, about the median or a known centre."""
    centre = float(np.median(values)) if about is None else about
    return NORMAL * float(np.median(np.abs(values - centre)))


def finite_median(values: np.ndarray) -> float:
    """The median of what is known; NaN where nothing is."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")
