"""A rover on soil against plain C++: `python benchmarks/soil_speed.py`. Ends with 1 if a goal is missed.

`soil.cpp` is the same equations, state, step, quadrature and integrator: rigid wheels on dry sand with ruts, DC motors, air drag.
Both sides must end in the same state to 1e-9. Measured as `rover_speed.py` does.
"""

import sys
import tempfile
from pathlib import Path

from drives import soil_rover
from rover_speed import against_cpp, head
from yardstick import Yardstick, one_core

ROUNDS = 9
IN_LANES = 0.4  # of the time of C++, at most
MOST_MS = 0.05  # a step of one robot


def main() -> int:
    head(ROUNDS)
    with tempfile.TemporaryDirectory() as folder, one_core():
        is_met, ns = against_cpp("dry sand", soil_rover, Yardstick("soil.cpp", Path(folder)), IN_LANES, ROUNDS)
    is_fast = 1e-6 * ns["single"] <= MOST_MS
    print(f"one robot: {1e-6 * ns['single']:.4f} ms per step (<= {MOST_MS:g})   {'met' if is_fast else 'MISSED'}")
    return 0 if is_met and is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
