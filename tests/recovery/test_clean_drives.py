"""Clean synthetic logs give their constants back: the ratio within 1e-3, c_long within 0.5 %."""

import pytest

from recovery.drives import CLEAN, CLEAN_IMU, STEPS_AND_ARCS, STEPS_AND_SPINS, drive
from robots import unlimited
from slipfit.calibration.run import calibrate
from slipfit.library import find_robot
from slipfit.twin import Status

#: c_long of a P3AT; other robots have the same c N, so that as much of the speed slips.
C_LONG = (0.001, 0.005, 0.02)
RATIOS = (1.0, 10.0, 100.0)

GRID = [(name, c_long, ratio) for name in ("p3at", "jackal", "husky") for c_long in C_LONG for ratio in RATIOS]

#: c_lat of .7 and 2.4 1/N: a wheel that reverses in a spin is singular there (docs/theory/stepping); arcs do not reverse.
ON_ARCS = {("jackal", 0.02, 100.0), ("husky", 0.02, 100.0)}


#: Without a pose: the contact's time constant at .2 m/s is 1 ms, as long as the replay's step (.5 and .9 % were measured).
AS_SHORT_AS_A_STEP = {("husky", 0.001, 10.0), ("husky", 0.001, 100.0)}


def check(name, c_long, ratio, sensors):
    """Motors hold any speed: with 2 N m a P3AT cannot spin where c_long = .001."""
    robot, p3at = find_robot(name), find_robot("p3at")
    scaled = c_long * p3at.mass_kg.value / robot.mass_kg.value
    commands = STEPS_AND_ARCS if (name, c_long, ratio) in ON_ARCS else STEPS_AND_SPINS
    fit = calibrate(drive(unlimited(robot), scaled, ratio, sensors=sensors, commands=commands).readings, robot=robot)
    assert fit["c_long"].status is Status.CONVERGED
    is_coarse = sensors is CLEAN_IMU and (name, c_long, ratio) in AS_SHORT_AS_A_STEP
    assert fit["c_long"].value == pytest.approx(scaled, rel=1e-2 if is_coarse else 5e-3)
    assert fit["c_lat"].value / fit["c_long"].value == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "c_long", "ratio"),
    [("p3at", 0.001, 100.0), ("p3at", 0.02, 1.0), ("jackal", 0.005, 1.0), ("husky", 0.005, 10.0)],
)
def test_constants_come_back(name, c_long, ratio):
    check(name, c_long, ratio, CLEAN)


def test_constants_come_back_without_a_pose():
    check("p3at", 0.005, 10.0, CLEAN_IMU)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "c_long", "ratio"), GRID)
def test_the_whole_grid_comes_back(name, c_long, ratio):
    check(name, c_long, ratio, CLEAN)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "c_long", "ratio"), GRID)
def test_the_grid_comes_back_without_a_pose(name, c_long, ratio):
    check(name, c_long, ratio, CLEAN_IMU)
