"""One robot, one list of commands, several contact laws: how far apart do they end?

    python examples/compare_laws.py OUTPUT_FOLDER [LAW ...]

Each law compiles its own kernel the first time it is driven, some ten seconds.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import slipfit as sf
from slipfit.contact import LAWS
from slipfit.report.figures import save_figure

COMMANDS = [
    sf.Command(for_s=1.0, v_mps=0.5, profile="quintic"),
    sf.Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=0.8, profile="quintic"),
    sf.Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=-0.8, profile="quintic"),
    sf.Command(for_s=1.0, v_mps=0.0, profile="quintic"),
]


def ground_with(law: str) -> sf.Ground:
    """A ground with the example constants that the law itself names."""
    data = {"schema": sf.Ground.kind(), "name": f"example_{law}", "law": law, "parameters": dict(LAWS[law].example)}
    return sf.Ground.from_mapping(data, where=law)


def main(folder: Path, laws: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(6.5, 5.0), layout="constrained")
    axes = figure.subplots()
    print(f"{'law':<18}{'x [m]':>8}{'y [m]':>8}{'heading [°]':>13}{'grip used':>11}")
    for law in laws:
        drive = sf.simulate("jackal", sf.Scenario(commands=COMMANDS), ground=ground_with(law))
        end = (drive.x_m[-1], drive.y_m[-1], np.degrees(drive.heading_rad[-1]))
        print(f"{law:<18}{end[0]:>8.3f}{end[1]:>8.3f}{end[2]:>13.1f}{drive.largest_grip_used:>11.2f}")
        axes.plot(drive.x_m, drive.y_m, label=law)
    axes.legend(frameon=False)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="jackal: the same commands on different laws")
    axes.set_aspect("equal", adjustable="datalim")
    save_figure(figure, folder / "compare_laws.png", force=True)
    print(f"wrote {folder / 'compare_laws.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "compare_laws"), sys.argv[2:] or ["wheel_slip", "magic_formula"])
