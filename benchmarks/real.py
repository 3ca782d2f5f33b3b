"""Six recordings of real skid-steer robots: what each model of the ladder predicts, scored by the data set's own script.

    python benchmarks/real.py

The recordings lie beside the checkout, or where SLIPFIT_DATA says; the script in `tools` beside them.

Fitted on odd `calib_step`, scored on even ones. T: median error of place after 2 s, all horizons (m). I: median error of the
heading's change against the IMU, steady horizons (rad). From measured wheel speeds. The script tells the robot by "husky" in the
path that it is given, so it is run where the recordings are.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from goals import Figure, at_most, report
from slipfit.calibration.ladder import Drive, FittedRung, drive_of, fit_rung, regressions_of, rungs_of
from slipfit.library import find_robot
from slipfit.logs import read_log

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("SLIPFIT_DATA", ROOT.parent / "shared" / "data"))
COLUMNS = ROOT / "examples" / "columns" / "drive.yaml"

#: The model that the goals are judged by: one for all recordings, or the choice would be made on held-out data.
JUDGED = "icr with regression"

#: Goals: T and I.
RECORDINGS = {
    "test_husky": (0.13, 0.06),
    "test_warthog": (0.25, 0.05),
    "warthog_wheels_asphalt": (0.33, 0.02),
    "warthog_wheels_gravel_2024_8_6_11h37s32": (0.31, 0.02),
    "warthog_wheels_sand_2024_9_25_14h13s47": (0.33, 0.05),
    "warthog_wheels_sand_2024_9_25_14h32s32": (0.36, 0.06),
}


def folder() -> Path:
    return DATA / "drive_warthog_husky"


@dataclass(frozen=True, eq=False)
class Recording:
    """One drive, which windows may be fitted, and how far the inspection moved the IMU's stamps."""

    name: str
    drive: Drive
    is_odd: np.ndarray
    moved_s: float

    @classmethod
    def read(cls, name: str) -> "Recording":
        path = folder() / f"{name}.csv.gz"
        log = read_log(path, columns=COLUMNS)
        drive = drive_of(log, find_robot(robot_of(name)))
        corrected = drive.inspection.corrected["imu"].stamps_ns
        odd = {int(float(row["horizon"])): int(float(row["calib_step"])) % 2 == 1 for row in _rows(path)}
        return cls(name, drive, np.array([odd[p] for p in drive.windows.piece]), (corrected[0] - log["imu"].stamps_ns[0]) / 1e9)

    def fitted(self) -> Iterator[tuple[FittedRung, float]]:
        """Every rung on the odd steps, and how long that took (s)."""
        robot, ends = find_robot(robot_of(self.name)), {}
        for rung in (*rungs_of(robot), *regressions_of(robot)):
            begun = time.perf_counter()
            base = getattr(rung, "base", None)
            begin = ends[base.name] if base else None
            fit = fit_rung(rung, self.drive.rims, self.drive.windows, self.is_odd, begin=begin)
            ends[rung.name] = fit.as_values()
            yield fit, time.perf_counter() - begun

    def score(self, fit: FittedRung) -> dict[str, float]:
        """What the data set's script says of a fit's predictions."""
        windows = self.drive.windows
        # The script integrates the IMU by its own stamps, which the inspection may have moved.
        asked = replace(windows, from_s=windows.from_s + self.moved_s, to_s=windows.to_s + self.moved_s)
        predicted = fit.predict(self.drive.rims, asked)
        rows = {int(p): motion for p, motion, whole in zip(windows.piece, predicted, windows.whole, strict=True) if whole}
        with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["horizon", "x_m", "y_m", "dyaw_rad"])
            writer.writerows([p, *motion] for p, motion in rows.items())
            file.flush()
            script = DATA.resolve().parent / "tools" / "score_horizons.py"
            command = [sys.executable, str(script), f"{self.name}.csv.gz", file.name]
            done = subprocess.run(command, cwd=folder(), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{self.name}: {done.stderr.strip()}")
        return json.loads(done.stdout)


def robot_of(name: str) -> str:
    return "husky" if "husky" in name else "warthog"


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt") as file:
        yield from csv.DictReader(file)


def main() -> int:
    figures: list[Figure] = []
    for name, (place_goal, turn_goal) in RECORDINGS.items():
        recording = Recording.read(name)
        print(name, flush=True)
        for fit, took_s in recording.fitted():
            s = recording.score(fit)
            if fit.rung.name == JUDGED:
                figures.append(at_most(f"{name}, T, m", s["T_m"], place_goal, ".3f", is_timed=False))
                figures.append(at_most(f"{name}, I, rad", s["I_steady_rad"], turn_goal, ".4f", is_timed=False))
            print(
                f"  {fit.rung.name:<28} T {s['T_m']:.3f} (steady {s['T_steady_m']:.3f}, transitory {s['T_transitory_m']:.3f})  "
                f"I {s['I_steady_rad']:.4f}  {took_s:5.1f} s  {s['horizons']} horizons",
                flush=True,
            )
    assert len(figures) == 2 * len(RECORDINGS), f"no model is named {JUDGED}"
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
