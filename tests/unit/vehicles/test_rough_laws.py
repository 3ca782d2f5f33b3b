"""Laws under wheels in space, beside the planar vehicle: one with its own axes, one with memory, one of friction curves."""

import math

import numpy as np
import pytest

from robots import changed, ground_with
from slipfit.library.terrain import TerrainFile
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.scenario import find_scenario

#: Half a second of rest on the slope, straight ahead, a turn, and to rest again.
COMMANDS = [
    {"for_s": 0.5, "v_mps": 0.0},
    {"for_s": 2.0, "v_mps": 0.4, "profile": "quintic"},
    {"for_s": 2.0, "v_mps": 0.3, "yaw_rate_radps": 0.4, "profile": "quintic"},
    {"for_s": 1.0, "v_mps": 0.0, "profile": "quintic"},
]


@pytest.mark.slow
@pytest.mark.parametrize("law", ["coulomb", "wheel_slip", "tmeasy"])
def test_a_law_drives_alike_in_space_and_in_the_plane(law, tmp_path):
    """A P3AT on stiff tyres (2e5 N/m, .25 mm) up a slope of 5° as a terrain and as a plane: the same way within 2 % of its length
    (loads are shared otherwise while turning), and books that balance."""
    slope = math.radians(5.0)
    robot = changed("p3at", wheels__tyre_stiffness_n_per_m=2e5, wheels__tyre_damping_n_s_per_m=1000.0)
    ground = ground_with(law, **({"relaxation_long_m": 0.02} if law == "wheel_slip" else {}))
    planar = simulate(robot, Scenario(commands=COMMANDS, ground={"slope_rad": slope}, energy=True, step_s=5e-4), ground=ground)
    heights = {"kind": "plane", "size_m": [10.0, 10.0], "spacing_m": 0.5, "slope_rad": slope}
    TerrainFile(name="slope", heights=heights).save(tmp_path / "slope.yaml")
    place = {"shape": "terrain", "terrain": str(tmp_path / "slope.yaml")}
    scenario = Scenario(commands=COMMANDS, ground=place, step_s=5e-4)
    space = simulate(robot, scenario, ground=ground)
    along = math.cos(slope)
    apart = np.hypot(space.x_m[-1] / along - planar.x_m[-1], space.y_m[-1] - planar.y_m[-1])
    assert apart < 0.02 * planar.distance_m
    assert abs(space.energy.remainder_share) < 5e-3
    assert abs(planar.energy.remainder_share) < 5e-3


@pytest.mark.parametrize(("law", "of_resultant"), [("wheel_slip", math.sqrt(2.0)), ("coulomb", 1.0), ("magic_formula", 1.0)])
def test_no_wheel_uses_more_friction_than_there_is(law, of_resultant):
    """Issue: a Husky on a height map with mu 0.6 used 1.508 of its loads. Forces belong to the loads of their own step; a pyramid
    limits each axis by itself, so that its corners have 1.41 times as much."""
    mu = {"mu_long": 0.6, "mu_lat": 0.6} if law == "coulomb" else {"mu": 0.6}
    drive = simulate("husky", find_scenario("crater_rim"), ground=ground_with(law, **mu))
    assert drive.largest_grip_used <= 1.01 * 0.6 * of_resultant
    bears = drive["load_n"] > 10.0
    grip = np.hypot(drive["force_x_n"], drive["force_y_n"])[bears] / drive["load_n"][bears]
    assert np.mean(grip > 1.02 * 0.6 * of_resultant) < 1e-3
