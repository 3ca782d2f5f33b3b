"""What the first use of each kind of robot costs, no kernel compiled: each command in a fresh process with an empty cache.

    python benchmarks/first_use.py                          this checkout
    python benchmarks/first_use.py --sources OTHER/src      another one, to compare two versions in one run of the machine

Prints wall time, CPU time (which other work on the machine hardly changes) and the number of kernels compiled. No goals: what the
machine is busy with would decide them.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

#: Arcs and speed steps with an IMU, encoders and a pose: a log to calibrate and to estimate slip from.
DRIVE = """\
schema: slipfit/scenario/1
about: Speed steps and arcs to both sides.
commands:
  - {for_s: 3.0, v_mps: 0.3, yaw_rate_radps: 0.0}
  - {for_s: 4.0, v_mps: 0.4, yaw_rate_radps: 0.5}
  - {for_s: 4.0, v_mps: 0.6, yaw_rate_radps: -0.5}
  - {for_s: 4.0, v_mps: 0.0, yaw_rate_radps: 0.8}
  - {for_s: 4.0, v_mps: 0.5, yaw_rate_radps: 0.0}
sensors: {imu: {rate_hz: 100}, encoders: {rate_hz: 100}, pose: {rate_hz: 20}}
"""

#: What users type first, by the kind of robot or question; the log and the twin are there.
COMMANDS = (
    ("simulate", "p3at"),
    ("simulate", "husky", "--scenario", "crater_rim"),
    ("simulate", "husky", "--ground", "dry_sand"),
    ("simulate", "packbot", "--scenario", "curb_117mm"),
    ("simulate", "robotino", "--ground", "ohio_paper"),
    ("calibrate", "drive.mcap", "--robot", "p3at", "-o", "new.twin.yaml", "--force"),
    ("estimate", "drive.twin.yaml", "drive.mcap"),
)


class Use(NamedTuple):
    """What one command took."""

    wall_s: float
    cpu_s: float
    kernels: int


def run(arguments: tuple[str, ...], folder: Path, cache: Path, sources: Path | None) -> Use:
    """One command in a fresh process."""
    environment = {**os.environ, "SLIPFIT_CACHE": str(cache)}
    if sources:
        environment["PYTHONPATH"] = str(sources)
    before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "slipfit", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    wall_s, after = time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"slipfit {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Use(wall_s, cpu_s, len(list(cache.rglob("*.nbc"))))


def main(sources: Path | None) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "drive.yaml").write_text(DRIVE, encoding="utf-8")
        warm = folder / "warm"
        run(("simulate", "p3at", "--scenario", "drive.yaml", "--readings", "drive.mcap"), folder, warm, sources)
        run(("calibrate", "drive.mcap", "--robot", "p3at", "-o", "drive.twin.yaml"), folder, warm, sources)
        print(f"{'command':<60}{'wall, s':>9}{'CPU, s':>9}{'kernels':>9}")
        for i, command in enumerate(COMMANDS):
            use = run(command, folder, folder / f"cache_{i}", sources)
            print(f"{' '.join(command):<60}{use.wall_s:9.1f}{use.cpu_s:9.1f}{use.kernels:9d}", flush=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, help="folder that holds the package of another checkout")
    given = parser.parse_args()
    sys.exit(main(given.sources.resolve() if given.sources else None))
