"""What models give back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Bounds = tuple[float, float]
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """How runs ended: a code into the model's outcomes (0 is success), and numbers that say by how much."""

    outcome: np.ndarray  # (runs,), integers
    measures: dict[str, np.ndarray]  # (runs,) each
