"""Columns of the Jacobian that need no difference."""

import numpy as np
import pytest

from recovery.drives import GOOD_IMU, STEPS_AND_SPINS, drive
from slipfit.calibration.one_drive import Fitter
from slipfit.calibration.run import _ground, problem_of, unknowns_of
from slipfit.calibration.unknowns import constant, started
from slipfit.library import find_robot
from slipfit.logs.inspection import inspect_log
from slipfit.logs.wheel_motion import wheel_angles


@pytest.mark.parametrize("mu", [None, 2.0])
def test_the_masss_column_follows_from_the_others(mu):
    """m -> a m, I -> a I, c -> c / a changes nothing: no force differs per mass, and a limit is mu g. Central differences agree
    to their own error, of second order in a step of .25 %; not across the kinks of a limit that acts, which is why it is used."""
    robot = find_robot("p3at")
    log = drive(sensors=GOOD_IMU, commands=STEPS_AND_SPINS).readings
    problem = problem_of(log, robot, _ground("wheel_slip", 9.81), wheel_angles(log, robot), inspect_log(log, robot))
    sought = [*unknowns_of(problem, robot), *([constant("mu", mu)] if mu else [])]
    unknowns = started(sought, {"c_long_per_n": 0.005, "c_lat_per_n": 0.05})
    point = np.array([u.start for u in unknowns])
    body = problem.bodies(unknowns, point[None])[0]
    mass = [u.name for u in unknowns].index("mass_kg")
    followed = Fitter(problem).jacobian(unknowns, point, body)[:, mass]
    differed = Fitter(problem).jacobian(unknowns, point, body, of=[mass])[:, 0]
    assert followed == pytest.approx(differed, abs=1e-3 * np.abs(differed).max())
