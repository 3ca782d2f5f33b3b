"""Drive a Pioneer 3-AT forward and spin it on the spot, and see how much of the commanded turn arrives.

python examples/first_drive.py OUTPUT_FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import slipfit as sf
from slipfit.report.figures import draw_drive, save_figure

COMMANDS = [
    sf.Command(for_s=3.0, v_mps=0.5, profile="quintic"),
    sf.Command(for_s=1.0, v_mps=0.0, profile="quintic"),
    sf.Command(for_s=8.0, yaw_rate_radps=1.0, profile="quintic"),
    sf.Command(for_s=1.0, v_mps=0.0, profile="quintic"),
]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    robot = sf.find_robot("p3at")
    drive = sf.simulate(robot, sf.Scenario(commands=COMMANDS))  # on lab_floor, unless the scenario says otherwise
    print(drive.summary())

    rim_mps = drive.wheel_speed_radps * robot.wheels.radius_m.value
    odometry_rad = np.trapezoid((rim_mps[:, 1] - rim_mps[:, 0]) / robot.track_m, drive.time_s)
    told, turned = np.degrees([odometry_rad, drive.heading_rad[-1]])
    print(f"odometry without slip would say {told:.1f}°, the robot turned {turned:.1f}°")

    drive.save(folder / "first_drive.csv", force=True)
    save_figure(draw_drive(drive, robot), folder / "first_drive.png", force=True)
    print(f"wrote {folder / 'first_drive.csv'} and {folder / 'first_drive.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "first_drive"))
