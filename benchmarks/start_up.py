"""How long the command line takes to start, kernels compiled: each command in a fresh process, median of five, beside its goal.

python benchmarks/start_up.py
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from goals import at_most, report

ROUNDS = 5

#: A minute of arcs with all sensors, as a log to inspect.
MINUTE = """\
schema: slipfit/scenario/2
about: Arcs to the left and to the right for a minute.
commands:
  - {for_s: 20.0, v_mps: 0.4, yaw_rate_radps: 0.4}
  - {for_s: 20.0, v_mps: 0.4, yaw_rate_radps: -0.4}
  - {for_s: 20.0, v_mps: 0.4, yaw_rate_radps: 0.4}
sensors: {imu: {rate_hz: 100}, encoders: {rate_hz: 100}, pose: {rate_hz: 20}}
"""


class Start(NamedTuple):
    """Something that a user starts, with the arguments of Python and the goal."""

    what: str
    arguments: tuple[str, ...]
    goal_s: float


STARTS = (
    Start("import slipfit", ("-c", "import slipfit"), 0.05),
    Start("slipfit --help", ("-m", "slipfit", "--help"), 0.25),
    Start("slipfit simulate p3at", ("-m", "slipfit", "simulate", "p3at"), 1.0),
    Start("slipfit inspect minute.mcap", ("-m", "slipfit", "inspect", "minute.mcap"), 1.5),
    Start("slipfit inspect minute.mcap --robot p3at", ("-m", "slipfit", "inspect", "minute.mcap", "--robot", "p3at"), 1.5),
)


def run_s(arguments: tuple[str, ...], folder: Path) -> float:
    """Wall time of a fresh process, in seconds. Modules are compiled to byte code before, as those of an installed package are,
    also where the sources cannot be written to."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "byte_code")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began_s = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    taken_s = time.perf_counter() - began_s
    if done.returncode:
        raise SystemExit(f"python {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return taken_s


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "minute.yaml").write_text(MINUTE, encoding="utf-8")
        log = ("--scenario", "minute.yaml", "--readings", "minute.mcap")
        run_s(("-m", "slipfit", "simulate", "p3at", *log), folder)
        return report([at_most(f"{start.what}, s", median_s(start, folder), start.goal_s, ".3f") for start in STARTS])


def median_s(start: Start, folder: Path) -> float:
    run_s(start.arguments, folder)  # compiles kernels and byte code
    return statistics.median(run_s(start.arguments, folder) for _ in range(ROUNDS))


if __name__ == "__main__":
    sys.exit(main())
