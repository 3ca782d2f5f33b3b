"""How often 90 % intervals hold the truth: `python benchmarks/coverage.py [drives [study]]`, some seconds for each drive.

A minute as `slipfit plan` makes it, IMU and encoders only, with quiet and with noisy sensors, on floors that let wheels slide,
and with truths that the fit does not contain. Mass, inertia and centre of mass of every robot are drawn from their spreads.
Not timed: the figures are shares, means and spreads.
"""

import sys
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from other_truths import Truth
from recovery.many_drives import SHORT, TRUTH, Row, minute_plan, others_drive, our_drive, row, studies
from robots import changed, wheel_slip
from slipfit.library import find_robot
from slipfit.simulate import simulate

#: What the fit does not contain, and the mean of what it then should say over the truth on the first floor.
OTHERS = {
    "centre of mass 2 cm ahead": (Truth(com_shift_x_m=0.02), 1.0),
    "floor that changes by 10 %": (Truth(floor_change=0.1, other_floor_from_s=28.0), 1.05),
    "tyre that relaxes over 2 cm": (Truth(relaxation_long_m=0.02, relaxation_lat_m=0.02), 1.0),
}


def ours(noise: float, bias: float, seed: int) -> Row:
    return row(our_drive(minute_plan(noise, bias), seed), find_robot("p3at"), TRUTH)


def known_robot(noise: float, bias: float, seed: int) -> Row:
    """The robot is as its file says, which knows it exactly: nothing but the drive makes the interval."""
    nominal = find_robot("p3at")
    robot = changed("p3at", mass_kg=nominal.mass_kg.value, yaw_inertia_kgm2=nominal.yaw_inertia_kgm2.value)
    return row(
        simulate(robot, minute_plan(noise, bias).to_scenario(seed=seed), ground=wheel_slip(**SHORT)).readings, robot, TRUTH
    )


def sliding(seed: int) -> Row:
    """mu anywhere from .15 to .32: all of these floors let the planned drive's wheels slide."""
    mu = float(np.random.default_rng([seed, 5]).uniform(0.15, 0.32))
    return row(our_drive(minute_plan(0.05, 0.02), seed, mu=mu), find_robot("p3at"), TRUTH | {"mu": mu})


def others(label: str, seed: int) -> Row:
    truth, scale = OTHERS[label]
    known = {name: scale * value for name, value in TRUTH.items()}
    return row(others_drive(minute_plan(0.05, 0.02), truth, 0.05, 0.02, seed), find_robot("p3at"), known)


STUDIES = {
    "robot known exactly, noise .05": partial(known_robot, 0.05, 0.02),
    "noise .05 m/s², bias .02": partial(ours, 0.05, 0.02),
    "noise .2 m/s², bias .05": partial(ours, 0.2, 0.05),
    "wheels that slide, noise .05": sliding,
    **{label: partial(others, label) for label in OTHERS},
}


def reachable(noise: float, bias: float) -> str:
    """What this fit can reach on the planned minute by Fisher information: its own windows and weights, the mass's spread
    included. The bound of all readings with known wheel speeds is lower (docs/theory/calibration)."""
    promises = minute_plan(noise, bias).promises
    return ", ".join(f"{name} {promise.std / promise.guess:.4f}" for name, promise in promises.items())


def main() -> None:
    for noise, bias in ((0.05, 0.02), (0.2, 0.05)):
        print(f"reachable with noise {noise} m/s², bias {bias}: {reachable(noise, bias)}", flush=True)
    count, wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200, " ".join(sys.argv[2:])
    with Pool() as pool:
        for label, one in STUDIES.items():
            if wanted in label:
                for name, found in studies(pool.imap(one, range(count), chunksize=1)).items():
                    print(f"{label}: {name}, {found}", flush=True)


if __name__ == "__main__":
    main()
