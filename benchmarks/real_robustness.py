"""More about the six recordings: how much driving a model needs, what its bands hold, and what a mutilated log changes.

python benchmarks/real_robustness.py
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from real import COLUMNS, RECORDINGS, Recording, folder, robot_of
from slipfit.calibration.ladder import Drive, FittedRung, drive_of, fit_rung, scored
from slipfit.calibration.ladder.bands import bands_of, sizes
from slipfit.calibration.ladder.comparison import regressions_of, rungs_of
from slipfit.calibration.ladder.fit import measured
from slipfit.calibration.ladder.rungs import Rung, drifting_icr
from slipfit.library import find_robot
from slipfit.logs import DriveLog, read_log
from slipfit.logs.drive_log import Channel
from unit.logs.inspection.drives import MUTILATIONS

#: Seconds of calibration drives that are tried; the last is all of them.
SECONDS = (24, 46, 90, 150, 10_000)

#: Other data, not data that can be set right.
NOT_MENDED = ("half the poses",)


def fitted(rung: Rung, drive: Drive, used: np.ndarray) -> FittedRung:
    base = getattr(rung, "base", None)
    begin = fit_rung(base, drive.rims, drive.windows, used).as_values() if base else None
    return fit_rung(rung, drive.rims, drive.windows, used, begin=begin)


def learning(recording: Recording) -> None:
    """T and I after so many seconds of odd steps."""
    robot, windows = find_robot(robot_of(recording.name)), recording.drive.windows
    pieces = np.unique(windows.piece[recording.is_odd])
    rungs = {rung.name: rung for rung in (*rungs_of(robot), *regressions_of(robot))}
    for name in ("drifting icr", "wheel_slip", "icr with regression"):
        told = []
        for seconds in SECONDS:
            first = pieces[: seconds // 2]
            s = recording.score(fitted(rungs[name], recording.drive, np.isin(windows.piece, first)))
            told.append(f"{2 * len(first)} s {s['T_m']:.3f} m {s['I_steady_rad']:.3f} rad")
        print(f"  {name:<22} {'  '.join(told)}", flush=True)


def held(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Which even windows lie within the 90 % bands that odd ones set: place, heading."""
    windows = recording.drive.windows
    seen = replace(recording.drive, windows=replace(windows, is_trusted=windows.is_trusted & recording.is_odd))
    rung = scored(drifting_icr(find_robot(robot_of(recording.name))), seen)
    asked = windows.whole & windows.is_trusted & ~recording.is_odd
    place, heading = bands_of(rung, seen).reach(*sizes(rung, recording.drive, windows))
    apart = rung.fit.predict(recording.drive.rims, windows) - measured(windows)
    return (np.hypot(apart[:, 0], apart[:, 1]) <= place)[asked], (np.abs(apart[:, 2]) <= heading)[asked]


def mutilated(recording: Recording, log: DriveLog) -> None:
    """Change of T and I when something is wrong with the log, in per cent; only what is not zero is printed."""
    robot = find_robot(robot_of(recording.name))
    before = recording.score(fitted(drifting_icr(robot), recording.drive, recording.is_odd))
    odd = dict(zip(recording.drive.windows.piece.tolist(), recording.is_odd.tolist(), strict=True))
    for name, (change, *_) in MUTILATIONS.items():
        if name in NOT_MENDED or name == "sides":
            continue
        bad = change(log, np.random.default_rng(3))
        if name == "clock of pose":  # segments stand in the rows of the pose
            late = bad["pose"].stamps_ns[0] - log["pose"].stamps_ns[0]
            bad = bad.having(replace(bad["segments"], stamps_ns=bad["segments"].stamps_ns + late))
        print_change(name, before, rescored(recording, log, bad, odd))
    print_change("sides", before, rescored(recording, log, log.having(exchanged(log["encoders"])), odd))


def exchanged(encoders: Channel) -> Channel:
    return replace(encoders, values=encoders.values[:, ::-1])


def rescored(recording: Recording, log: DriveLog, bad: DriveLog, odd: dict[int, bool]) -> dict[str, float]:
    robot = find_robot(robot_of(recording.name))
    drive = drive_of(bad, robot)
    moved = (drive.inspection.corrected["imu"].stamps_ns[0] - log["imu"].stamps_ns[0]) / 1e9
    is_odd = np.array([odd.get(p, False) for p in drive.windows.piece])
    other = Recording(recording.name, drive, is_odd, moved)
    return other.score(fitted(drifting_icr(robot), drive, is_odd))


def print_change(name: str, before: dict[str, float], after: dict[str, float]) -> None:
    place, turn = (100.0 * (after[key] / before[key] - 1.0) for key in ("T_m", "I_steady_rad"))
    if abs(place) > 0.05 or abs(turn) > 0.05:
        print(f"  {name:<18} T {place:+.1f} %, I {turn:+.1f} %", flush=True)


def main() -> None:
    places, headings = [], []
    for name in RECORDINGS:
        recording = Recording.read(name)
        print(f"{name}: seconds of calibration", flush=True)
        learning(recording)
        place, heading = held(recording)
        places.append(place)
        headings.append(heading)
        print(f"  90 % bands hold {place.mean():.3f} of places, {heading.mean():.3f} of headings", flush=True)
        print("  changes by mutilations (those not named: none)", flush=True)
        mutilated(recording, read_log(folder() / f"{name}.csv.gz", columns=COLUMNS))
    print(f"pooled: bands hold {np.concatenate(places).mean():.3f} of places, {np.concatenate(headings).mean():.3f} of headings")


if __name__ == "__main__":
    main()
