"""Two loggers, two clocks: by how much the wheels' samples of a run come late, as a line through knots.

A logger that numbers its samples instead of stamping them loses time here and gains some there: its clock does not only start
late, it wanders. The wander is a random walk, seen through the turning that wheels and gyro share:

    late(t) = sum_k late_k hat_k(t),    late_0 ~ N(0, FIRST_STD_S),    late_k - late_(k-1) ~ N(0, WANDER sqrt(KNOT_S))

The cost has many valleys (a robot that sways turns alike every few seconds), so that the first guess is the cheapest way over a
grid of offsets, by dynamic programming.
"""

from dataclasses import dataclass

import numpy as np

#: A knot for so many seconds, and how far the clock wanders in one (s, s per root of a second).
KNOT_S, WANDER = 10.0, 0.06

#: Offsets that are expected of a run, and the grid on which they are looked for (s).
FIRST_STD_S, FARTHEST_S, STEP_S = 1.0, 2.5, 0.1


@dataclass(frozen=True, eq=False, slots=True)
class ClockLine:
    """Knots of one run's clock; one knot is a plain offset."""

    at_s: np.ndarray  # (K,)

    @classmethod
    def over(cls, end_s: float, *, wanders: bool) -> "ClockLine":
        if not wanders or end_s <= KNOT_S:
            return cls(np.array([0.0]))
        return cls(np.linspace(0.0, end_s, round(end_s / KNOT_S) + 1))

    def __len__(self) -> int:
        return len(self.at_s)

    def hats(self, time_s: np.ndarray) -> np.ndarray:
        """What each knot weighs at each time, (T, K)."""
        if len(self.at_s) == 1:
            return np.ones((len(time_s), 1))
        unit = np.eye(len(self.at_s))
        return np.column_stack([np.interp(time_s, self.at_s, row) for row in unit])

    def information(self) -> np.ndarray:
        """Of the prior, (K, K): where the walk starts, and its steps."""
        k = len(self.at_s)
        found = np.zeros((k, k))
        found[0, 0] = FIRST_STD_S**-2
        if k > 1:
            steps = np.diff(np.eye(k), axis=0)
            found += steps.T @ (steps / (WANDER**2 * np.diff(self.at_s))[:, None])
        return found

    def guess(self, time_s: np.ndarray, costs: np.ndarray, offsets_s: np.ndarray) -> np.ndarray:
        """The cheapest way. `costs` (T, offsets): what each moment costs at each offset."""
        nearest = np.abs(time_s[:, None] - self.at_s[None]).argmin(axis=1)
        local = np.zeros((len(self.at_s), len(offsets_s)))
        np.add.at(local, nearest, costs)
        local[0] += 0.5 * (offsets_s / FIRST_STD_S) ** 2
        total, came = local[0], []
        for k in range(1, len(self.at_s)):
            width = WANDER**2 * (self.at_s[k] - self.at_s[k - 1])
            ways = total[:, None] + 0.5 * (offsets_s[None] - offsets_s[:, None]) ** 2 / width
            came.append(ways.argmin(axis=0))
            total = ways.min(axis=0) + local[k]
        chosen = [int(total.argmin())]
        for back in reversed(came):
            chosen.append(int(back[chosen[-1]]))
        return np.asarray(offsets_s[chosen[::-1]])


def tried_offsets() -> np.ndarray:
    return np.arange(-FARTHEST_S, FARTHEST_S + 0.5 * STEP_S, STEP_S)
