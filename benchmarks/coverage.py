"""How often 90 % intervals hold the truth: `python benchmarks/coverage.py [drives [study]]`, some seconds for each drive.

A minute as `slipfit plan` makes it, IMU and encoders only, with quiet and with noisy sensors, on floors that let wheels slide,
drives without a plan, and truths that the fit does not contain. Mass, inertia and centre of mass of every robot are drawn
from their spreads. Not timed: the figures are shares, means and spreads.
"""

import sys
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from scipy import sparse

from other_truths import Truth
from recovery.many_drives import (
    BY_HAND,
    SHORT,
    TRUTH,
    Row,
    drive_by_hand,
    minute_plan,
    others_drive,
    our_drive,
    row,
    studies,
)
from robots import changed, wheel_slip
from slipfit.calibration.one_drive import Fitter, Problem
from slipfit.calibration.run import problem_of, unknowns_of
from slipfit.calibration.unknowns import started
from slipfit.calibration.weights import Weighing, _banded_factor, _differences
from slipfit.library import Robot, find_robot
from slipfit.logs.inspection import inspect_log
from slipfit.logs.wheel_motion import WheelAngles, wheel_angles
from slipfit.simulation import simulate

#: What the fit does not contain, and the mean of what it then should say over the truth on the first floor.
OTHERS = {
    "centre of mass 2 cm ahead": (Truth(com_shift_x_m=0.02), 1.0),
    "floor that changes by 10 %": (Truth(floor_change=0.1, other_floor_from_s=28.0), 1.05),
    "tyre that relaxes over 2 cm": (Truth(relaxation_long_m=0.02, relaxation_lat_m=0.02), 1.0),
}


def ours(noise: float, bias: float, seed: int) -> Row:
    return row(our_drive(minute_plan(noise, bias), seed), find_robot("p3at"), TRUTH)


def exactly_known() -> Robot:
    nominal = find_robot("p3at")
    return changed("p3at", mass_kg=nominal.mass_kg.value, yaw_inertia_kgm2=nominal.yaw_inertia_kgm2.value)


def known_robot(noise: float, bias: float, seed: int) -> Row:
    """The robot is as its file says, which knows it exactly: nothing but the drive makes the interval."""
    robot = exactly_known()
    return row(
        simulate(robot, minute_plan(noise, bias).to_scenario(seed=seed), ground=wheel_slip(**SHORT)).readings, robot, TRUTH
    )


def sliding(seed: int) -> Row:
    """mu anywhere from .15 to .32: all of these floors let the planned drive's wheels slide."""
    mu = float(np.random.default_rng([seed, 5]).uniform(0.15, 0.32))
    return row(our_drive(minute_plan(0.05, 0.02), seed, mu=mu), find_robot("p3at"), TRUTH | {"mu": mu})


def by_hand(kind: str, seed: int) -> Row:
    return row(drive_by_hand(kind, seed), find_robot("p3at"), TRUTH)


def others(label: str, seed: int) -> Row:
    truth, scale = OTHERS[label]
    known = {name: scale * value for name, value in TRUTH.items()}
    return row(others_drive(minute_plan(0.05, 0.02), truth, 0.05, 0.02, seed), find_robot("p3at"), known)


STUDIES = {
    "robot known exactly, noise .05": partial(known_robot, 0.05, 0.02),
    "noise .05 m/s², bias .02": partial(ours, 0.05, 0.02),
    "noise .2 m/s², bias .05": partial(ours, 0.2, 0.05),
    "wheels that slide, noise .05": sliding,
    **{f"driven by hand, {kind}": partial(by_hand, kind) for kind in BY_HAND},
    **{label: partial(others, label) for label in OTHERS},
}


def reachable(noise: float, bias: float) -> str:
    """What this fit can reach on the planned minute by Fisher information: its own windows and weights, the mass's spread
    included."""
    promises = minute_plan(noise, bias).promises
    return ", ".join(f"{name} {promise.std / promise.guess:.4f}" for name, promise in promises.items())


def bounds(noise: float, bias: float) -> str:
    """Of a robot known exactly, relative: the Cramér-Rao bound of all readings, noise of the counts included, and this fit's."""
    robot = exactly_known()
    log = simulate(robot, minute_plan(noise, bias).to_scenario(), ground=wheel_slip(**SHORT)).readings
    wheels = wheel_angles(log, robot)
    problem = problem_of(log, robot, wheel_slip(**SHORT), wheels, inspect_log(log, robot))
    unknowns = started(unknowns_of(problem, robot), TRUTH)
    point = np.array([u.start for u in unknowns])
    body, prior = problem.bodies(unknowns, point[None])[0], np.diag([u.prior_std**-2 if u.prior_std else 0.0 for u in unknowns])
    fitter, found = Fitter(problem), []
    for weighings in (every_reading(problem, wheels, noise), fitter.weighings):
        fitter.weighings = weighings
        jacobian = fitter.jacobian(unknowns, point, body)
        found.append(np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian + prior)))[:2] / list(TRUTH.values()))
    return ", ".join(f"{name} {b:.4f}, fit {f / b:.2f} of it" for name, b, f in zip(TRUTH, *found, strict=True))


def every_reading(problem: Problem, wheels: WheelAngles, noise: float) -> list[Weighing]:
    """White noise of the IMU, and that of counts through second (accelerations) and first derivatives (turning rates)."""
    time_s, robot = problem.observations.imu.time_s, problem.robot
    way_m = robot.wheels.radius_m.value * wheels.noise_rad / 2.0  # four wheels
    weighings = []
    for std, wheel_noise, order in ((noise, way_m, 2), (noise, 0.0, 0), (0.002, 2.0 * way_m / robot.track_m, 1)):
        covariance = sparse.diags_array(np.full(len(time_s), std**2))
        if order:
            derivative = _differences(time_s, order)
            covariance = covariance + wheel_noise**2 * (derivative @ derivative.T)
        ones = np.ones(len(time_s))
        weighings.append(Weighing(None, _banded_factor(sparse.coo_array(covariance)), time_s, ones, ones))
    return weighings


def main() -> None:
    for noise, bias in ((0.05, 0.02), (0.2, 0.05)):
        print(f"reachable with noise {noise} m/s², bias {bias}: {reachable(noise, bias)}", flush=True)
        print(f"bound of a robot known exactly: {bounds(noise, bias)}", flush=True)
    count, wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200, " ".join(sys.argv[2:])
    with Pool() as pool:
        for label, one in STUDIES.items():
            if wanted in label:
                for name, found in studies(pool.imap(one, range(count), chunksize=1)).items():
                    print(f"{label}: {name}, {found}", flush=True)


if __name__ == "__main__":
    main()
