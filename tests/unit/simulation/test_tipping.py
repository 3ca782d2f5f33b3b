"""Robots on planes tip over where statics says, and say so."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from robots import changed, ground_with, unlimited
from slipfit.library import find_robot
from slipfit.simulation import Outcome, Scenario, simulate, simulate_many

REST = [{"for_s": 1.0, "v_mps": 0.0}]


@pytest.mark.parametrize("energy", [False, True])
@pytest.mark.parametrize(("uphill_rad", "half_m"), [(0.0, 0.125), (math.pi / 2.0, 0.201), (math.pi, 0.125)])
def test_a_parked_robot_tips_over_where_its_weight_points_past_its_wheels(uphill_rad, half_m, energy):
    """Statics: tan(slope) = half the wheelbase, or the track, over the height of the center of mass, 0.152 m."""
    edge = math.atan(half_m / 0.152)
    slopes = {"slope_rad": [edge - 0.01, edge + 0.01]}
    place = {"slope_rad": 0.1, "uphill_rad": uphill_rad}
    robot = unlimited(find_robot("p3at"))
    batch = simulate_many(
        robot,
        Scenario(commands=REST, ground=place, energy=energy),
        slopes,
        ground=ground_with("coulomb", mu_long=3.0, mu_lat=3.0),
    )
    assert batch.outcomes == (Outcome.FINISHED, Outcome.TIPPED_OVER)
    tipped = batch.run(1)
    assert 0.09 < tipped.stopped_at_s < 0.15  # looked at every 7 ms
    assert tipped.time_s[-1] == pytest.approx(tipped.stopped_at_s, abs=0.02)
    ends = simulate_many(
        robot,
        Scenario(commands=REST, ground=place, energy=energy),
        slopes,
        ground=ground_with("coulomb", mu_long=3.0, mu_lat=3.0),
        ends_only=True,
    )
    assert ends.outcomes == batch.outcomes


def test_a_turtlebot_tips_over_its_axle():
    """Its only caster is behind: nose down it stands until its weight points past the axle."""
    robot = find_robot("turtlebot3_burger")
    x, _, height = robot.centre_of_mass_m.value
    edge = math.atan(-x / height)
    slopes = {"slope_rad": [edge - 0.01, edge + 0.01]}
    place = {"slope_rad": 0.1, "uphill_rad": math.pi}
    ground = ground_with("coulomb", mu_long=3.0, mu_lat=3.0)
    batch = simulate_many(unlimited(robot), Scenario(commands=REST, ground=place), slopes, ground=ground)
    assert batch.outcomes == (Outcome.FINISHED, Outcome.TIPPED_OVER)


def test_a_jolt_tips_nothing():
    """A tall robot that brakes at mu g leans for as long as it slides: 0.05 s from 0.2 m/s, 0.5 s from 2 m/s."""
    robot = unlimited(changed("p3at", centre_of_mass_m=[0.0, 0.0, 0.35]))
    batch = simulate_many(
        robot, Scenario(commands=REST), {"start_v_mps": [0.2, 2.0]}, ground=ground_with("coulomb", mu_long=0.4, mu_lat=0.4)
    )
    assert batch.outcomes == (Outcome.FINISHED, Outcome.TIPPED_OVER)


def test_the_command_says_it_and_exits_with_1(tmp_path):
    """Issue: a P3AT at 80 degrees slid for 1188 m, and the command exited with 0."""
    command = [sys.executable, "-m", "slipfit", "simulate", "p3at", "--slope-deg", "80", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["status"] == "tipped_over"
    assert np.hypot(found["end"]["x_m"], found["end"]["y_m"]) < 1.0


def test_no_library_robot_tips_on_level_ground():
    """Commands of the default drive, with the robots' own limits."""
    for name in ("p3at", "husky", "jackal", "warthog", "turtlebot3_burger"):
        assert simulate(name, "step_and_spin").outcome is Outcome.FINISHED
