"""The same drive a thousand times, with constants that are only known to some spread: where does the robot end?

python examples/thousand_drives.py OUTPUT_FOLDER
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import slipfit as sf
from slipfit.report.figures import save_figure

RUNS = 1000
COMMANDS = [
    sf.Command(for_s=4.0, v_mps=0.5, profile="quintic"),
    sf.Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=0.8, profile="quintic"),
    sf.Command(for_s=4.0, v_mps=0.5, profile="quintic"),
]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(seed=1)
    vary = {  # one number per run; lognormal, because constants of friction are positive
        "mass_kg": 20.0 * np.exp(draw.normal(0.0, 0.05, RUNS)),
        "c_long_per_n": 0.005 * np.exp(draw.normal(0.0, 0.2, RUNS)),
        "c_lat_per_n": 0.05 * np.exp(draw.normal(0.0, 0.2, RUNS)),
    }
    batch = sf.simulate_many("p3at", sf.Scenario(commands=COMMANDS), vary, ends_only=True)
    print(batch.summary())

    ends = batch.end_pose[batch.is_finished]
    figure = Figure(figsize=(6.5, 5.0), layout="constrained")
    axes = figure.subplots()
    dots = axes.scatter(ends[:, 0], ends[:, 1], c=np.degrees(ends[:, 2]), s=6, cmap="viridis")
    figure.colorbar(dots, label="heading at the end [°]")
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"ends of {len(ends)} drives")
    axes.set_aspect("equal", adjustable="datalim")
    save_figure(figure, folder / "thousand_drives.png", force=True)
    print(f"wrote {folder / 'thousand_drives.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "thousand_drives"))
