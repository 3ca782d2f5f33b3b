"""A rover on soil against plain C++: `python benchmarks/soil_speed.py`. Exits 1 if a goal is missed.

`soil.cpp` is the same equations, state, step, quadrature and integrator: rigid wheels on dry sand with ruts, DC motors, air drag.
Both sides must end in the same state to 1e-9. Measured as `rover_speed.py` does.
"""

import sys
import tempfile
from pathlib import Path

from drives import soil_rover
from goals import at_most, report
from rover_speed import against_cpp, head
from yardstick import Yardstick, one_core

ROUNDS = 9
IN_LANES = 0.4  # of the time of C++, at most
MOST_MS = 0.05  # a step of one robot


def main() -> int:
    head(ROUNDS)
    with tempfile.TemporaryDirectory() as folder, one_core():
        figures, ns = against_cpp("dry sand", soil_rover, Yardstick("soil.cpp", Path(folder)), IN_LANES, ROUNDS)
    return report([*figures, at_most("dry sand, one run: ms per step", 1e-6 * ns["single"], MOST_MS, ".4f")])


if __name__ == "__main__":
    sys.exit(main())
