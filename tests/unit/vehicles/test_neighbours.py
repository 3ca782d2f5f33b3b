"""Runs of a batch do not feel who stands beside them: the same bits in any order, for every vehicle.

Runs differ so much that neighbours bear, slide, lift off, switch and end at different moments: what one lane leaves behind in
numbers that are shared, another would find."""

import numpy as np
import pytest

from robots import busy_scenario, ground_with
from slipfit.contact import LAWS
from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate_many
from slipfit.simulation.scenario import Start, Stop, find_scenario

#: Not a multiple of eight: the last runs have other neighbours than the first.
RUNS = 37

LYNX = "lynxmotion_4wd3"
TURNING = [{"for_s": 0.6, "v_mps": 0.4, "yaw_rate_radps": 1.0}, {"for_s": 0.4, "yaw_rate_radps": -1.5}]
OMNI_TURNING = [{"for_s": 0.4, "v_mps": 0.1, "vy_mps": -0.12, "yaw_rate_radps": 1.0}, {"for_s": 0.3, "vy_mps": 0.2}]
ANYWHERE = {"start_v_mps": (-1.0, 2.0), "slope_rad": (0.0, 0.4), "uphill_rad": (-3.0, 3.0)}


def drawn(ranges):
    draw = np.random.default_rng(7)
    return {name: draw.uniform(low, high, RUNS) for name, (low, high) in ranges.items()}


def assert_alike_in_any_order(drive, ranges):
    """`drive` gives a batch for arrays of numbers."""
    vary, order = drawn(ranges), np.random.default_rng(8).permutation(RUNS)
    told, mixed = drive(vary), drive({name: entries[order] for name, entries in vary.items()})
    np.testing.assert_array_equal(mixed.records, told.records[order])
    assert len(np.unique(told.records[:, -1, 0])) == RUNS  # the runs differ


@pytest.mark.parametrize("law", LAWS)
def test_skid_steered_robots(law):
    # Its first constant and its friction: all drawn apart would not always make a curve.
    first, example = LAWS[law].parameters[0].name, LAWS[law].example
    spread = {name: (0.3 * example[name], example[name]) for name in dict.fromkeys([first, "mu"]) if name in example}
    if "sliding_mu" in example:  # below every mu
        spread["sliding_mu"] = (0.1 * example["mu"], 0.3 * example["mu"])
    ranges = {"mass_kg": (5.0, 60.0), **ANYWHERE, **spread}
    scenario = busy_scenario(commands=TURNING)
    assert_alike_in_any_order(lambda vary: simulate_many("p3at", scenario, vary, ground=ground_with(law)), ranges)


def test_rovers_over_terrain():
    """From standing to leaving the ground at the bump, and leaving the map."""
    scenario = find_scenario("bump_3cm").model_copy(
        update={"commands": Scenario(commands=[{"for_s": 0.8, "wheels_v": [10.0, 8.0]}]).commands}
    )
    ranges = {"start_x_m": (0.2, 2.7), "start_v_mps": (0.0, 2.5), "mu": (0.1, 1.2), "mass_kg": (1.0, 5.0)}
    assert_alike_in_any_order(lambda vary: simulate_many(LYNX, scenario, vary), ranges)


@pytest.mark.parametrize("robot", [LYNX, "husky"])
def test_rovers_on_soil(robot):
    scenario = Scenario(commands=TURNING)
    ranges = {
        "mass_kg": (2.0, 4.0) if robot == LYNX else (30.0, 80.0),
        "k_phi": (4e5, 3e6),
        "cohesion_pa": (0.0, 3e3),
        **ANYWHERE,
    }
    assert_alike_in_any_order(lambda vary: simulate_many(robot, scenario, vary, ground="dry_sand"), ranges)


@pytest.mark.parametrize("robot", ["ohio_omni", "robotino", "optiodom_mecanum"])
def test_omni_robots(robot):
    scenario = Scenario(commands=OMNI_TURNING)
    mass = find_robot(robot).mass_kg.value
    ranges = {"mass_kg": (0.5 * mass, 2.0 * mass), "start_v_mps": (-0.5, 1.0), "mu": (0.05, 0.8)}
    assert_alike_in_any_order(lambda vary: simulate_many(robot, scenario, vary, ground=ground_with("arctan")), ranges)


@pytest.mark.parametrize("name", ["curb_117mm", "curb_117mm_ice", "ditch", "stairs"])
def test_tracked_robots(name):
    """Out of sand, sliding on ice, falling into a ditch, on edges one after the other."""
    scenario = find_scenario(name)
    near = scenario.ground.obstacle.model_copy(update={"distance_m": 0.3})
    ground = scenario.ground.model_copy(update={"obstacle": near})
    scenario = scenario.model_copy(update={"ground": ground, "stop": Stop(after_s=2.0), "start": Start(rolling=True)})
    ranges = {"height_m": (0.04, 0.16), "mu_static": (0.1, 1.2), "mass_kg": (15.0, 60.0), "speed_mps": (0.1, 0.9)}
    if name != "stairs":
        ranges |= {"yaw_rad": (-0.6, 0.6)}
    assert_alike_in_any_order(lambda vary: simulate_many("packbot", scenario, vary), ranges)


@pytest.mark.slow
def test_tracked_robots_over_terrain():
    """Slow: no other test has these runs in lanes, and they take a minute to compile."""
    ground = {"shape": "terrain", "terrain": "bump_3cm", "mu_static": 0.8}
    scenario = {"ground": ground, "straight": {"speed_mps": 0.3, "distance_m": 0.5}, "stop": {"after_s": 1.0}}
    ranges = {"start_x_m": (0.2, 1.2), "mu_static": (0.1, 1.2), "mass_kg": (15.0, 60.0), "speed_mps": (0.1, 0.9)}
    assert_alike_in_any_order(lambda vary: simulate_many("packbot", scenario, vary), ranges)
