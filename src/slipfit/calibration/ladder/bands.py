"""How far a prediction may be off: bands that held-out windows themselves set, wider where the robot goes far or turns much.

    size^2 = a^2 + (b way)^2 + (c turn)^2,    band = q size,    q the 90 % quantile of error / size over held-out windows

The quantile makes the share right whatever the errors' distribution, as long as later drives are like these [Vovk2005].
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.optimize import nnls

from slipfit.calibration.ladder.comparison import Drive, Scored
from slipfit.calibration.ladder.windows import Windows

#: Share of windows that a band holds.
HELD = 0.9


@dataclass(frozen=True, slots=True)
class Band:
    """Half width of one error's band over windows of the horizon."""

    constant: float
    per_m: float
    per_rad: float
    quantile: float

    def reach(self, way_m: np.ndarray, turn_rad: np.ndarray) -> np.ndarray:
        """90 % of errors lie below."""
        size = np.sqrt(self.constant**2 + (self.per_m * way_m) ** 2 + (self.per_rad * turn_rad) ** 2)
        return np.asarray(self.quantile * size)


@dataclass(frozen=True, slots=True)
class Bands:
    """Of place (m; None without a pose) and heading (rad)."""

    place: Band | None
    heading: Band

    def reach(self, way_m: np.ndarray, turn_rad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nothing = np.full(len(way_m), np.nan)
        return nothing if self.place is None else self.place.reach(way_m, turn_rad), self.heading.reach(way_m, turn_rad)


def bands_of(scored: Scored, drive: Drive) -> Bands:
    """From the errors of a rung on windows that it had not seen."""
    asked = drive.windows.believed
    way, turn = sizes(scored, drive, drive.windows)
    place = _band(scored.place_m, way[asked], turn[asked]) if np.isfinite(scored.place_m).any() else None
    return Bands(place, _band(scored.heading_rad, way[asked], turn[asked]))


def sizes(scored: Scored, drive: Drive, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
    """Way that the wheels rolled and angle that the model turns, of every window."""
    turned = scored.fit.predict(drive.rims, windows)[:, 2]
    return drive.rims.rolled_m(windows.from_s, windows.to_s), np.abs(turned)


def _band(errors: np.ndarray, way_m: np.ndarray, turn_rad: np.ndarray) -> Band:
    kept = np.isfinite(errors)
    errors, way_m, turn_rad = errors[kept], way_m[kept], turn_rad[kept]
    # Large errors are cut: one lost pose would decide how errors grow with the way.
    cut = np.minimum(errors, 3.0 * np.median(errors)) ** 2
    design = np.column_stack([np.ones(len(errors)), way_m**2, turn_rad**2])
    squares, _ = nnls(design, cut)
    squares[0] = max(squares[0], 1e-4 * float(cut.mean()))
    constant, per_m, per_rad = (float(v) for v in np.sqrt(squares))
    ratios = np.sort(errors / Band(constant, per_m, per_rad, 1.0).reach(way_m, turn_rad))
    rank = min(len(ratios), ceil(HELD * (len(ratios) + 1)))
    return Band(constant, per_m, per_rad, float(ratios[rank - 1]))
