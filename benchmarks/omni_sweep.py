"""Which of [Williams2002]'s figures are reachable: `python benchmarks/omni_sweep.py [--plot sweep.png]`.

Sweeps what the document does not tell or rounds (phases of the wheels, share of rigid material) for the Ohio robot with
r = 0.10 m and I = m r²/2, on paper and carpet, and says for each printed figure the range that is reached. Then the share for
which the shortfall is the printed one.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from slipfit.simulation import Scenario, simulate_many

GOAL_M = 0.4
MANOEUVRE = Scenario.model_validate(
    {"commands": [{"for_s": 3.5, "v_mps": GOAL_M / 3.5}, {"for_s": 1.0, "v_mps": 0.0}], "step_s": 5e-4, "record_s": 0.5}
)
FRACTIONS = np.array([0.0, 0.02, 0.04, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15, 0.20])
PHASES = np.arange(0.0, 1.0, 0.1)


def swept(ground: str, front_equal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Share of rigid material of every run, and its end (mm short of the goal, mm sideways, rad)."""
    axes = [FRACTIONS, PHASES, PHASES] if front_equal else [FRACTIONS, PHASES, PHASES, PHASES]
    grids = [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]
    share, left, rear = grids[0], grids[1], grids[-1]
    right = left if front_equal else grids[2]
    vary = {"rigid_fraction": share, "phase_0_sectors": left, "phase_1_sectors": right, "phase_2_sectors": rear}
    ends = simulate_many("ohio_omni", MANOEUVRE, vary, ground=ground, ends_only=True).end_pose
    return share, np.column_stack([1e3 * (ends[:, 0] - GOAL_M), 1e3 * ends[:, 1], ends[:, 2]])


def _range(values: np.ndarray, digits: int) -> str:
    return f"{values.min():.{digits}f} to {values.max():.{digits}f}"


def _verdict(values: np.ndarray, printed: float, tolerance: float) -> str:
    return "reachable" if values.min() - tolerance <= printed <= values.max() + tolerance else "NOT reachable"


def table(share: np.ndarray, ends: np.ndarray, title: str) -> list[str]:
    rows = [title, f"{'rigid share':>12}{'x - 0.4 (mm)':>22}{'y (mm)':>20}{'heading (rad)':>22}"]
    for fraction in FRACTIONS:
        x, y, heading = ends[share == fraction].T
        rows.append(f"{fraction:>12.2f}{_range(x, 1):>22}{_range(y, 1):>20}{_range(heading, 3):>22}")
    return rows


def verdicts(paper: dict[bool, tuple[np.ndarray, np.ndarray]], carpet: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Printed figures against what is reached; tolerances are half of their last digit."""
    (share, ends), (free_share, free_ends) = paper[True], paper[False]
    tenth, free_tenth, first, turned = ends[share == 0.10], free_ends[free_share == 0.10], ends[share == 0.0], carpet[1][:, 2]
    cases = [
        ("-14 mm", "paper, rollers only (fits A, B: -13.5, -13.2)", first[:, 0], -14.0, 0.5, 1),
        ("-53 mm", "paper, a tenth rigid, front phases equal", tenth[:, 0], -53.0, 0.5, 1),
        ("-53 mm", "paper, a tenth rigid, all phases free", free_tenth[:, 0], -53.0, 0.5, 1),
        ("-53 mm", "paper, any share up to 0.2, front phases equal", ends[:, 0], -53.0, 0.5, 1),
        ("-.111 rad", "paper, any share up to 0.2, front phases equal", ends[:, 2], -0.111, 5e-4, 3),
        ("+.558 rad", "carpet, any share up to 0.2, front phases equal", turned, 0.558, 5e-4, 3),
        ("-.558 rad", "carpet, likewise (fits A, B with other r and I: -.565, -.570)", turned, -0.558, 5e-4, 3),
    ]
    rows = ["", f"{'printed':<12}{'over':<66}{'verdict':<16}range"]
    for printed, over, values, wanted, tolerance, digits in cases:
        rows.append(f"{printed:<12}{over:<66}{_verdict(values, wanted, tolerance):<16}{_range(values, digits)}")
    medians = np.array([np.median(ends[share == fraction, 0]) for fraction in FRACTIONS])
    rows.append(f"\nmedian shortfall on paper is 53 mm at a rigid share of {np.interp(53.0, -medians, FRACTIONS):.3f}")
    return rows


def draw(paper: tuple[np.ndarray, np.ndarray], carpet: tuple[np.ndarray, np.ndarray], path: Path) -> None:
    from matplotlib.figure import Figure

    from slipfit.report.figures import BLUE, ORANGE, save_figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    short, turned = figure.subplots(1, 2)
    for (share, ends), colour, name in ((paper, BLUE, "paper"), (carpet, ORANGE, "carpet")):
        for axes, column in ((short, 0), (turned, 2)):
            axes.plot(share, ends[:, column], ".", color=colour, markersize=3, alpha=0.4, label=name)
    for axes, printed, label in ((short, (-14.0, -53.0), "x - 0.4 m [mm]"), (turned, (-0.016, -0.111, 0.558), "heading [rad]")):
        for value in printed:
            axes.axhline(value, color="#7f7f7f", linestyle="--", linewidth=0.8)
        axes.set_xlabel("rigid share of a sector [-]")
        axes.set_ylabel(label)
        axes.grid(alpha=0.25)
    short.legend(frameon=False)
    figure.suptitle("End of the manoeuvre by rigid share, every phase (dots); printed figures dashed", fontsize=10)
    save_figure(figure, path, force=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plot", type=Path, help="draw the sweep into this picture")
    arguments = parser.parse_args()
    paper = {front_equal: swept("ohio_paper", front_equal) for front_equal in (True, False)}
    carpet = swept("ohio_carpet", True)
    print("\n".join(table(*paper[True], "paper, phases of wheels 1 and 2 equal")))
    print("\n".join(["", *table(*carpet, "carpet, phases of wheels 1 and 2 equal"), *verdicts(paper, carpet)]))
    if arguments.plot:
        draw(paper[True], carpet, arguments.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
