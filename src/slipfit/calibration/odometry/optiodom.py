"""Runs of the OptiOdom recordings: wheel increments and motion-capture poses of a differential robot.

A session is a folder with a metadata file and run files `<session>_run-NN.csv[.gz]` without header: time s, x m, y m, heading
rad, ticks of the right and of the left wheel since the row before.

Reference  [OptiOdom2021]
"""

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slipfit.calibration.odometry.travel import Run
from slipfit.errors import LogError

_NUMBER = re.compile(r"_run-(\d+)\.csv(\.gz)?$")


@dataclass(frozen=True, eq=False, slots=True)
class Session:
    """Runs of one recording and the robot's nominal numbers."""

    name: str
    kind: str  # circular, free, ivanjko (lines and half turns), square
    track_m: float
    radius_m: float
    side_m: float | None  # of squares
    runs: dict[int, Run]

    def odd(self) -> list[Run]:
        return [run for number, run in self.runs.items() if number % 2]

    def even(self) -> list[Run]:
        return [run for number, run in self.runs.items() if not number % 2]


def read_sessions(folder: Path | str) -> list[Session]:
    """All sessions of a differential robot below a folder, by kind and name."""
    found = [read_session(meta.parent) for meta in sorted(Path(folder).rglob("*_metadata.csv"))]
    if not found:
        raise LogError(f"{folder}: there is no file *_metadata.csv below it; expected recordings of OptiOdom")
    return found


def read_session(folder: Path | str) -> Session:
    """One session."""
    folder = Path(folder)
    files = sorted(folder.glob("*_metadata.csv"))
    if not files:
        raise LogError(f"{folder}: there is no file *_metadata.csv; expected a session of OptiOdom")
    meta = _metadata(files[0])
    if meta.get("type", [""])[0] != "diff":
        raise LogError(f"{files[0]}: type is '{meta.get('type', [''])[0]}'; expected diff, a differential robot")
    try:
        ticks = float(meta["ngear"][0]) * float(meta["encRes"][0])
        track, (right, left) = float(meta["Li"][0]), (float(entry) for entry in meta["Di"][:2])
        side = float(meta["L"][0]) if meta.get("L", [""])[0] else None
    except (KeyError, IndexError, ValueError):
        raise LogError(f"{files[0]}: expected numbers for ngear, encRes, Li and two of Di") from None
    runs = {}
    for path in sorted(folder.glob("*_run-*.csv*")):
        number = _NUMBER.search(path.name)
        if number:
            runs[int(number[1])] = _run(path, folder, np.pi * np.array([right, left]) / ticks)
    return Session(folder.name, folder.parent.name, track, 0.25 * (left + right), side, runs)


def _metadata(path: Path) -> dict[str, list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row[0]: [cell for cell in row[1:] if cell] or [""] for row in csv.reader(file) if row}


def _run(path: Path, folder: Path, metres_per_tick: np.ndarray) -> Run:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            rows = np.loadtxt(file, delimiter=",", ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        raise LogError(f"{path}: cannot be read as numbers with commas ({error})") from None
    if rows.shape[1] != 6 or not np.isfinite(rows).all():
        raise LogError(f"{path}: {rows.shape[1]} columns; expected six finite ones: time, x, y, heading, ticks right, ticks left")
    rolled = np.cumsum(np.vstack([np.zeros((1, 2)), rows[1:, 4:]]), axis=0) * metres_per_tick
    poses = np.column_stack([rows[:, 1], rows[:, 2], np.unwrap(rows[:, 3])])
    return Run(f"{folder.name}/{path.name}", rows[:, 0] - rows[0, 0], rolled[:, 1], rolled[:, 0], poses, folder.parent.name)
