"""Where a drive's energy went: from the supply to what moves, is lifted, is wound up, and to heat."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

#: What the books call them, in the order in which people read them.
_WORDS = {
    "in_battery_j": "battery's resistance",
    "in_resistance_j": "motors' resistance",
    "in_shaft_j": "bearings and shafts",
    "in_sliding_j": "wheels sliding over the ground",
    "in_tyres_j": "tyres' damping",
    "in_rolling_j": "rolling resistance",
    "in_air_j": "air",
    "in_soil_j": "soil pressed down and pushed away",
    "body_j": "motion of the body",
    "wheels_j": "rotors and wheels",
    "height_j": "height",
    "magnetic_j": "motors' magnetic fields",
    "twist_j": "twist of shafts",
    "tyres_j": "pressed tyres",
}


#: Less than this share of what a robot turns over does not count as driving it: motors without voltage on a slope.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Energy:
    """Books of a drive, J: what the supply gave, what is stored more than at the start, what became heat.

    throughput_j is the integral of |V I|, the measure for the remainder: what the stepping scheme itself swallowed.
    """

    supplied_j: float
    throughput_j: float
    in_battery_j: float
    in_resistance_j: float
    in_shaft_j: float
    in_sliding_j: float
    in_tyres_j: float
    in_rolling_j: float
    in_air_j: float
    body_j: float
    wheels_j: float
    height_j: float
    magnetic_j: float
    twist_j: float
    tyres_j: float
    in_soil_j: float = 0.0

    @property
    def dissipated_j(self) -> float:
        """All that became heat."""
        return float(sum(getattr(self, f.name) for f in fields(self) if f.name.startswith("in_")))

    @property
    def stored_j(self) -> float:
        """What is stored more than at the start; negative where a robot came down."""
        return self.body_j + self.wheels_j + self.height_j + self.magnetic_j + self.twist_j + self.tyres_j

    @property
    def remainder_j(self) -> float:
        """What the books do not explain: the numerical damping of the scheme (docs/theory/rover), which shrinks with the step."""
        return self.supplied_j - self.stored_j - self.dissipated_j

    @property
    def remainder_share(self) -> float:
        """The remainder, as a share of all that went through the motors; NaN where nothing did but rounding."""
        turned_over_j = self.dissipated_j + abs(self.body_j) + abs(self.height_j)
        is_driven = self.throughput_j > _ROUNDING * turned_over_j
        return self.remainder_j / self.throughput_j if is_driven else float("nan")

    def rows(self) -> list[tuple[str, float]]:
        """Words and joules of everything that is not zero, heat first, the largest first."""
        parts = {word: getattr(self, name) for name, word in _WORDS.items()}
        heat = [(word, parts[word]) for name, word in _WORDS.items() if name.startswith("in_")]
        kept = [(word, parts[word]) for name, word in _WORDS.items() if not name.startswith("in_")]
        by_size = [*sorted(heat, key=lambda row: -abs(row[1])), *sorted(kept, key=lambda row: -abs(row[1]))]
        return [row for row in by_size if abs(row[1]) > 1e-6 * max(self.throughput_j, 1e-12)]

    def summary(self) -> str:
        """A few lines for people."""
        lines = [f"  energy   {self.supplied_j:.4g} J from the supply"]
        lines += [f"           {joules:>10.4g} J  {word}" for word, joules in self.rows()]
        share = f" ({100 * self.remainder_share:.2g} % of what went through)" if np.isfinite(self.remainder_share) else ""
        lines.append(f"           {self.remainder_j:>10.2g} J  not explained{share}")
        return "\n".join(lines)


def energy_between(log: Mapping[str, np.ndarray], last: int) -> Energy:
    """Energy balance from the first record to record `last`."""
    return Energy(**{name: float(column[last] - column[0]) for name, column in log.items()})
