"""Grousers of wheels on soil: how large they make a wheel, and whether they stand close enough for that.

Soil between grousers turns with the wheel, so that its tips count: R + h in place of R, and the robot stands h higher. That holds
where the next tip cuts into the soil ahead before the rim gets there; otherwise the rim pushes soil ahead of itself, which the
model does not know. Between two tips the wheel travels (1 - i) (R + h) 2 pi / N, and that must be less than the way by which tips
meet the surface earlier than the rim:

    N >= 2 pi (R + h) (1 - i) / (sqrt((R + h)^2 - a^2) - sqrt(R^2 - a^2)),    a = R + h - z

Symbols    R radius of the rim · h height and N number of grousers · z sinkage of the tips · a height of the axle · i slip
Reference  the idea is [SkoniecznyEtAl2012]'s; derived in docs/theory/soil, eq. (spacing)
Valid for  driven wheels, 0 <= i < 1, on level soil; a rim above the soil (a > R) needs the tips' own way only
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

#: Below this sinkage, m, nothing is said of the spacing: the wheel hardly touches.
_LEAST_SINKAGE_M = 1e-4


def on_tips(values: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of runs with the wheels' radius and the centre of mass as high as grousers make them."""
    height_m: Any = values.get("grouser_height_m")
    if height_m is None:
        return dict(values)
    raised = {name: np.asarray(values[name]) + height_m for name in ("radius_m", "centre_of_mass_height_m")}
    return dict(values) | raised


def fewest_grousers(radius_m: float, height_m: float, sinkage_m: float, slip: float) -> int:
    """How many grousers a wheel needs for the soil between them to turn with it."""
    tips = radius_m + height_m
    axle = np.clip(tips - sinkage_m, 0.0, tips)
    earlier = np.sqrt(tips**2 - axle**2) - np.sqrt(max(0.0, radius_m**2 - axle**2))
    return int(np.ceil(2.0 * np.pi * tips * (1.0 - np.clip(slip, 0.0, 1.0)) / max(earlier, 1e-9)))


def spacing_note(radius_m: float, height_m: float, count: int, sinkage_m: np.ndarray, slip: np.ndarray) -> str:
    """A sentence where grousers stand too far apart at a drive's median sinkage and slip; empty where they do not."""
    middle_m, usual = float(np.median(sinkage_m)), float(np.clip(np.median(slip), 0.0, 1.0))
    if not (np.isfinite(middle_m) and np.isfinite(usual)) or middle_m < _LEAST_SINKAGE_M or height_m <= 0.0:
        return ""
    needed = fewest_grousers(radius_m, height_m, middle_m, usual)
    if count >= needed:
        return ""
    return (
        f"{count} grousers stand too far apart at the median sinkage of {1e3 * middle_m:.1f} mm: the model takes the soil "
        f"between them as turning with the wheel, which needs {needed} or more; these wheels pull less than it says"
    )
