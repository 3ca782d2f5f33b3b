"""Heading from a quaternion and back."""

import math

import numpy as np


def yaw_of(x: np.ndarray, y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Heading of the x axis, in (-π, π]: atan2(2 (w z + x y), w² + x² - y² - z²).

    A quaternion of any length will do, but none of length zero: drivers without a heading send that, and it becomes NaN.
    """
    with np.errstate(all="ignore"):  # a broken recording holds infinities; they become NaN
        yaw = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
        return np.where(w * w + x * x + y * y + z * z > 0.0, yaw, np.nan)


def quaternion_of(yaw_rad: float) -> tuple[float, float, float, float]:
    """Quaternion (x, y, z, w) of a turn about z."""
    if not math.isfinite(yaw_rad):
        return 0.0, 0.0, math.nan, math.nan
    return 0.0, 0.0, math.sin(yaw_rad / 2.0), math.cos(yaw_rad / 2.0)
