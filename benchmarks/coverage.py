"""How often 90 % intervals hold the truth: `python benchmarks/coverage.py [drives]`, some seconds for each drive.

A minute as `slipfit plan` makes it, IMU and encoders only, with quiet and with noisy sensors, and with truths that the fit does
not contain. Not timed: the figures are shares, means and spreads.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from other_truths import Truth
from recovery.many_drives import TRUTH, minute_plan, others_drives, our_drives, study
from slipfit.library import find_robot

OTHERS = {
    "centre of mass 2 cm ahead": (Truth(com_shift_x_m=0.02), 1.0),
    "floor that changes by 10 %": (Truth(floor_change=0.1, other_floor_from_s=28.0), 1.05),
    "tyre that relaxes over 2 cm": (Truth(relaxation_long_m=0.02, relaxation_lat_m=0.02), 1.0),
}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    robot = find_robot("p3at")
    for noise, bias in ((0.05, 0.02), (0.2, 0.05)):
        plan = minute_plan(noise, bias)
        for name, found in study(our_drives(plan, count), robot, TRUTH).items():
            print(f"noise {noise} m/s², bias {bias}: {name}, {found}", flush=True)
    plan = minute_plan(0.05, 0.02)
    for label, (truth, scale) in OTHERS.items():
        known = {name: scale * value for name, value in TRUTH.items()}
        for name, found in study(others_drives(plan, truth, 0.05, 0.02, count), robot, known).items():
            print(f"{label}: {name}, {found}", flush=True)


if __name__ == "__main__":
    main()
