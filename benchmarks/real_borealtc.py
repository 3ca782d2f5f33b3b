"""A Husky on three floors, wheels and gyro only: `python benchmarks/real_borealtc.py [folder of recordings]`, half a minute.

BorealTC's runs: wheel speeds at 6.5 Hz and an IMU at 100 Hz, numbered by two clocks. A track is fitted to runs of odd numbers;
runs of even numbers say how well it predicts their yaw rate over windows of 0.6 s. Each run finds its own clock, with the track
held; beside it stands the error with one offset for each run. The interval is of the fit to all runs.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from goals import Figure, at_most, report
from slipfit.calibration.ladder.pooled import PooledFit, Run, RunClock, fit_pooled, run_of, yaw_icr, yaw_track
from slipfit.calibration.ladder.rungs import ideal
from slipfit.library import find_robot
from slipfit.logs import join_logs, read_log

ROOT = Path(__file__).parent.parent
COLUMNS = ROOT / "examples" / "columns"
DATA = ROOT.parent / "shared" / "data"

#: Floor, and the error that is asked of it (rad/s).
GOALS = {"FLOORING": 0.033, "ICE": 0.045, "ASPHALT": 0.06}


def runs_of(folder: Path) -> dict[int, Run]:
    """All runs of a floor that have an IMU, by number."""
    robot, found = find_robot("husky"), {}
    for imu in sorted(folder.glob("imu_*.csv.gz")):
        number = re.findall(r"\d+", imu.name)[0]
        wheels = read_log(folder / f"pro_{number}.csv", columns=COLUMNS / "borealtc_pro.yaml")
        found[int(number)] = run_of(join_logs(wheels, read_log(imu, columns=COLUMNS / "borealtc_imu.yaml")), robot)
    return found


def pooled_rmse(clocks: Sequence[RunClock]) -> float:
    """All windows of all runs alike (rad/s)."""
    return float(np.sqrt(np.mean(np.concatenate([clock.error_radps for clock in clocks]) ** 2)))


@dataclass(frozen=True, eq=False)
class Floor:
    """What is measured on one floor (rad/s, held-out runs)."""

    ideal: float
    track: float
    track_plain_offset: float  # one offset for each run, no wander
    sides: float  # track and gains of both sides
    fit: PooledFit  # track, all runs


def measure(folder: Path) -> Floor:
    robot, runs = find_robot("husky"), runs_of(folder)
    odd, even = ([run for n, run in runs.items() if n % 2 == k] for k in (1, 0))
    track, sides = fit_pooled(yaw_track(robot), odd), fit_pooled(yaw_icr(robot), odd)
    none = replace(track, rung=ideal(robot), values=np.zeros(0))
    return Floor(
        pooled_rmse(none.score(even)), pooled_rmse(track.score(even)), pooled_rmse(replace(track, wanders=False).score(even)),
        pooled_rmse(sides.score(even)), fit_pooled(yaw_track(robot), list(runs.values())),
    )  # fmt: skip


def main() -> int:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    robot, figures = find_robot("husky"), list[Figure]()
    head = f"{'yaw rate over 0.6 s, RMSE rad/s':<34}{'ideal':>8}{'track':>8}{'+ sides':>9}{'goal':>7}{'one offset':>12}"
    print(f"{head}   effective track, 90 %")
    for name, goal in GOALS.items():
        floor = measure(data / "borealtc_husky" / name)
        low, high = floor.fit.interval_90("effective_track_m")
        value = floor.fit.value("effective_track_m")
        clocks = sum(run.is_told for run in floor.fit.runs)
        worse = max(floor.track, floor.track_plain_offset)
        figures.append(at_most(f"husky on {name.lower()}: RMSE of the yaw rate, rad/s", worse, goal, ".4f", is_timed=False))
        print(
            f"{name.lower():<34}{floor.ideal:>8.4f}{floor.track:>8.4f}{floor.sides:>9.4f}{goal:>7.3f}{floor.track_plain_offset:>12.4f}"
            f"   {value:.3f} m ({low:.3f} to {high:.3f}), multiplier {value / robot.track_m:.3f}; "
            f"{clocks} of {len(floor.fit.runs)} clocks told"
        )
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
