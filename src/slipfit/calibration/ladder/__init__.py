"""From wheel speeds to body motion: a ladder of models, fitted to a drive and compared on what they have not seen."""

from slipfit.calibration.ladder.comparison import (
    Drive,
    Ladder,
    Scored,
    compare,
    drive_of,
    ladder_of,
    regressions_of,
    rungs_of,
    scored,
)
from slipfit.calibration.ladder.fit import FittedRung, fit_rung

__all__ = [
    "Drive",
    "FittedRung",
    "Ladder",
    "Scored",
    "compare",
    "drive_of",
    "fit_rung",
    "ladder_of",
    "regressions_of",
    "rungs_of",
    "scored",
]
