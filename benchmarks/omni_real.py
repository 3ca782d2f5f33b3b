"""Omnidirectional robots from real logs: Robotino on four surfaces, OptiOdom's three omni and four mecanum wheels.

    python benchmarks/omni_real.py [PICTURE.png]

The recordings lie beside the checkout, or where SLIPFIT_DATA says.

Robotino: fitted on headings of 5, 15, 25 … degrees, judged on 0, 10, 20 …; then the other way round. OptiOdom: fitted on odd
runs, judged on even ones. Median end error, % of the driven way; "heading": with the truth's heading, what a gyro gives.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goals import at_most, report
from slipfit.calibration.omni import OmniCalibration, OmniRun, calibrate_omni, end_percent, fit_motors, runs_of_logs
from slipfit.library import OmniRobot, find_robot
from slipfit.logs import read_log
from slipfit.report.figures import save_figure
from slipfit.report.omni_figure import draw_omni

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("SLIPFIT_DATA", ROOT.parent / "shared" / "data"))
COLUMNS = ROOT / "examples" / "columns"

#: Surfaces of the Robotino, and goals with the heading measured and without.
SURFACES = {"table": (0.6, 1.7), "brown": (0.9, 1.5), "gray": (1.5, 7.5), "green": (3.5, 16.5)}

#: Counts of a wheel's turn: 1024 of the encoder, gear of 12.
OMNI3_COUNTS = 1024.0 * 12.0

#: Published constants of Robotino's motors, at the wheel, and its supply.
PUBLISHED = {"resistance_ohm": 5.95, "inductance_h": 0.0089, "torque_constant_nm_per_a": 0.0514 * 16.0}
SUPPLY_V = 24.0


@dataclass(frozen=True, eq=False)
class Judged:
    """A run and what it is told apart by: its heading, or its number, and its kind of path."""

    run: OmniRun
    number: int
    kind: str = ""


def robotino(surface: str) -> tuple[OmniRobot, list[Judged]]:
    """Runs on one surface; `number` is the heading in steps of 5 degrees."""
    robot = find_robot("robotino")
    folder = DATA / "robotino_slip/datasets/for_research_movement_direction/one_surface_type" / f"{surface}_surface"
    logs = [read_log(path, columns=COLUMNS / "robotino.yaml") for path in sorted(folder.glob("*.csv.gz"))]
    told = [(log["commands"].column("v_mps")[-1], log["commands"].column("vy_mps")[-1]) for log in logs]
    steps = [round(np.degrees(np.arctan2(vy, vx)) / 5.0) for vx, vy in told]
    return robot, [Judged(run, step) for run, step in zip(runs_of_logs(logs, robot), steps, strict=True)]


def optiodom(kind: str) -> tuple[OmniRobot, list[Judged]]:
    """Runs of `omni3` or `omni4`; `number` is that of the run in its session."""
    robot = find_robot({"omni3": "optiodom_omni3", "omni4": "optiodom_mecanum"}[kind])
    paths = sorted((DATA / "optiodom_umbmark" / kind).glob("*/*/*_run-*.csv.gz"))
    logs = [read_log(path, columns=COLUMNS / f"optiodom_{kind}.yaml") for path in paths]
    runs = runs_of_logs(logs, robot, counts_per_turn=OMNI3_COUNTS)
    numbers = [int(path.name.split("run-")[1][:2]) for path in paths]
    return robot, [Judged(run, n, path.parent.parent.name) for run, n, path in zip(runs, numbers, paths, strict=True)]


def calibrated(robot: OmniRobot, runs: list[Judged], surface: str, *, fit_odd: bool = True) -> OmniCalibration:
    """Fitted on odd numbers and judged on even ones, or the other way round."""
    fitted = [judged.run for judged in runs if judged.number % 2 == fit_odd]
    held = [judged.run for judged in runs if judged.number % 2 != fit_odd]
    return calibrate_omni(fitted, robot, surface=surface, held_out=held)


def motors() -> str:
    """What the identification logs tell of the motors, beside the published constants."""
    paths = sorted((DATA / "robotino_slip/datasets/dc_motor_model_identification").glob("data_for_*.csv.gz"))
    found = fit_motors([read_log(path, columns=COLUMNS / "robotino_motor.yaml") for path in paths], supply_v=SUPPLY_V)
    rows = [found.summary(), *(f"  published {name}: {value:g}" for name, value in PUBLISHED.items())]
    return "\n".join(rows)


def explained(found: OmniCalibration) -> str:
    """Shares of the ideal model's error that friction takes away, and the map beside it."""
    ideal, friction, mapped = (found.score(name).percent for name in ("ideal", "friction", "slip map"))
    by_friction, by_map = (100.0 * (1.0 - left / ideal) for left in (friction, mapped))
    return f"of the ideal's error friction explains {by_friction:.0f} %, the map {by_map:.0f} % (heading not measured)"


def main() -> int:
    drawn, figures = [], []
    for surface, (goal_heading, goal) in SURFACES.items():
        robot, runs = robotino(surface)
        for fit_odd in (True, False):
            begun = time.perf_counter()
            found = calibrated(robot, runs, surface, fit_odd=fit_odd)
            fitted = "5, 15, 25 …°" if fit_odd else "0, 10, 20 …°"
            print(f"robotino on {surface}, fitted on {fitted}", flush=True)
            name, score = f"robotino on {surface}, fitted on {fitted}: end error", found.score("slip map")
            figures += [
                at_most(f"{name}, %", score.percent, goal, is_timed=False),
                at_most("  with the heading measured, %", score.with_heading_percent, goal_heading, is_timed=False),
            ]
            for s in found.scores:
                both = f"{s.with_heading_percent:7.3f} % with heading  {s.percent:7.3f} %"
                print(f"  {s.model:<12} {both}  heading {s.heading_deg:.2f}°")
            print(f"  {explained(found)}; {time.perf_counter() - begun:.1f} s", flush=True)
            if fit_odd:
                print(found.friction.summary() if found.friction else "  friction: not fitted", flush=True)
                drawn.append(found)
    for kind, goal in {"omni3": 0.55, "omni4": 0.64}.items():
        robot, runs = optiodom(kind)
        found = calibrated(robot, runs, "lab")
        print(robot.name, flush=True)
        figures.append(at_most(f"{robot.name}: end error, %", found.score("slip map").percent, goal, is_timed=False))
        for s in found.scores:
            print(f"  {s.model:<12} {s.percent:7.3f} %  heading {s.heading_deg:.2f}°")
        even = [judged for judged in runs if judged.number % 2 == 0]
        for path_kind in sorted({judged.kind for judged in even}):
            errors = [end_percent(found.slip_map.path(j.run, robot), j.run) for j in even if j.kind == path_kind]
            print(f"  slip map, {path_kind}: {np.median(errors):.3f} % of {len(errors)} runs")
        print(found.constants.summary(), flush=True)
        drawn.append(found)
    print(motors())
    if len(sys.argv) > 1:
        save_figure(draw_omni(*drawn), Path(sys.argv[1]), force=True)
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
