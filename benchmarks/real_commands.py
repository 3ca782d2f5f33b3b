"""From commands to poses: `python benchmarks/real_commands.py [folder of recordings]`, about half a minute.

DRIVE's recordings: powertrain (`CommandLoop`) and rung are fitted to horizons of odd calibration steps; horizons of even ones
are predicted from their commands, starting from the wheel speeds that the first sample shows. As the recordings' authors do,
errors of place and heading against the lidar pose are averaged over the 40 samples of a horizon, and compared with an ideal
differential drive that does as commanded, with the geometry that the recordings name. Poses are compared at the time that they
are of: late by what the fit found. Horizons in which lidar, gyro and wheels contradict each other are left out, for all models
alike.
"""

import csv
import gzip
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from goals import Figure, at_least, report
from slipfit.calibration.ladder import drive_of, fit_rung
from slipfit.calibration.ladder.command_loop import fit_command_loop, pieces_of, predicted_rims
from slipfit.calibration.ladder.fit import predicted_motion
from slipfit.calibration.ladder.rungs import RegressedRung, icr
from slipfit.calibration.ladder.windows import Windows, window_row
from slipfit.library import find_robot
from slipfit.logs import DriveLog, read_log
from slipfit.logs.poses import poses_of
from slipfit.logs.rims import Rims
from slipfit.vehicles.kinematic import IdealDrive, body_velocity

ROOT = Path(__file__).parent.parent
COLUMNS = ROOT / "examples" / "columns" / "drive.yaml"
DATA = ROOT.parent / "shared" / "data"

#: Improvement over the ideal drive that is asked (% of place and heading): what the recordings' authors reach.
GOALS = {
    "asphalt": (62, 77, ("warthog_wheels_asphalt",)),
    "gravel": (67, 85, ("warthog_wheels_gravel_2024_8_6_11h37s32",)),
    "sand": (64, 84, ("warthog_wheels_sand_2024_9_25_14h13s47", "warthog_wheels_sand_2024_9_25_14h32s32")),
    "husky": (50, 92, ("test_husky",)),
}

#: Tracks that the recordings' authors use (m).
TRACK_M = {"husky": 0.55, "warthog": 1.08}

SAMPLES, SAMPLE_S = 40, 0.05


@dataclass(frozen=True, eq=False)
class Errors:
    """Mean errors over the samples of each scored horizon: (n, 2), m and rad."""

    ideal: np.ndarray
    model: np.ndarray

    def improvement(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the median and of the mean over horizons (%)."""
        medians = 1.0 - np.median(self.model, axis=0) / np.median(self.ideal, axis=0)
        means = 1.0 - self.model.mean(axis=0) / self.ideal.mean(axis=0)
        return 100.0 * medians, 100.0 * means


def steps_of(path: Path) -> dict[int, int]:
    """The calibration step of each horizon."""
    with gzip.open(path, "rt") as file:
        return {int(float(row["horizon"])): int(float(row["calib_step"])) for row in csv.DictReader(file)}


def sampled(log: DriveLog, rims: Rims, windows: Windows) -> Windows:
    """Every sample of every horizon as a window from its start; where the pose is still the first one, nothing moved."""
    poses, rows = poses_of(log, rims), []
    for start, piece in zip(windows.from_s[windows.whole], windows.piece[windows.whole], strict=True):
        for k in range(1, SAMPLES):
            end, share = start + k * SAMPLE_S, k / (SAMPLES - 1)
            rows.append(window_row(poses, start, end, share, piece) or (start, end, start, start, share, piece, 0.0, 0.0, 0.0))
    table = np.array(rows)
    start, end, pose_from, pose_to, share, piece = table[:, :6].T
    nothing = np.full(len(table), np.nan)
    trusted = np.repeat(windows.is_trusted[windows.whole], SAMPLES - 1)
    return Windows(
        start, end, pose_from, pose_to, table[:, 6:9], nothing, share, piece.astype(int), trusted, windows.pose_late_s
    )  # fmt: skip


def measure(path: Path, name: str) -> Errors:
    robot = find_robot(name)
    drive = drive_of(read_log(path, columns=COLUMNS), robot)
    windows, log = drive.windows, drive.inspection.corrected
    steps = steps_of(path)
    odd = np.array([steps[piece] % 2 == 1 for piece in windows.piece])
    pieces = pieces_of(log, robot, drive.rims, windows)
    assert pieces is not None, f"{path} has no commands"
    loop = fit_command_loop(pieces, (odd & windows.is_trusted)[windows.whole])
    rims = predicted_rims(loop, pieces, drive.rims)
    fit = fit_rung(RegressedRung(icr(robot)), rims, windows, odd)
    samples = sampled(log, drive.rims, windows)
    by_stamps = replace(samples, pose_from_s=samples.from_s, pose_to_s=samples.to_s)
    told = pieces.told[0]
    twist = np.column_stack(body_velocity(IdealDrive(TRACK_M[name]), told.left_mps, told.right_mps))
    scored = ~odd[windows.whole] & windows.is_trusted[windows.whole]
    return Errors(
        _averaged(predicted_motion(twist, by_stamps, {}), samples)[scored], _averaged(fit.predict(rims, samples), samples)[scored]
    )


def _averaged(said: np.ndarray, samples: Windows) -> np.ndarray:
    apart = said - samples.moved
    errors = np.column_stack([np.hypot(apart[:, 0], apart[:, 1]), np.abs(apart[:, 2])])
    return np.asarray(errors.reshape(-1, SAMPLES - 1, 2).mean(axis=1))


def main() -> int:
    folder = (Path(sys.argv[1]) if len(sys.argv) > 1 else DATA) / "drive_warthog_husky"
    figures: list[Figure] = []
    print(f"{'better than the ideal drive, place / heading':<46}{'goal':>10}{'medians':>13}{'means':>13}{'horizons':>10}")
    for name, (place, heading, recordings) in GOALS.items():
        robot = "husky" if name == "husky" else "warthog"
        each = [measure(folder / f"{recording}.csv.gz", robot) for recording in recordings]
        both = Errors(np.vstack([e.ideal for e in each]), np.vstack([e.model for e in each]))
        medians, means = both.improvement()
        figures += [
            at_least(f"{name}, better than the ideal drive: position, %", medians[0], place, ".0f", is_timed=False),
            at_least(f"{name}, better than the ideal drive: heading, %", medians[1], heading, ".0f", is_timed=False),
        ]
        print(
            f"{name:<46}{f'{place} / {heading}':>10}{f'{medians[0]:.0f} / {medians[1]:.0f} %':>13}"
            f"{f'{means[0]:.0f} / {means[1]:.0f} %':>13}{len(both.model):>10}"
        )
        if len(each) > 1:
            for recording, errors in zip(recordings, each, strict=True):
                medians, means = errors.improvement()
                one = f"{medians[0]:.0f} / {medians[1]:.0f} %"
                print(f"  {recording:<54}{one:>13}{f'{means[0]:.0f} / {means[1]:.0f} %':>13}{len(errors.model):>10}")
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
