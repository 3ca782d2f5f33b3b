"""A mass that its wheels would not carry is doubted, in every place where a user would look."""

import pytest

from slipfit.library import Robot, find_robot, robot_names
from slipfit.simulation import simulate


def in_grams(name):
    data = find_robot(name).to_mapping()
    return Robot.from_mapping(data | {"mass_kg": {"value": 1e3 * data["mass_kg"]["value"], "source": "assumed"}}, where="x")


@pytest.mark.parametrize("name", robot_names())
def test_robots_of_the_library_are_believed_and_their_masses_in_grams_are_not(name):
    assert find_robot(name).doubts() == ()
    if find_robot(name).mass_kg.value < 100.0:  # heavier ones in grams are beyond what files take
        (doubt,) = in_grams(name).doubts()
        assert "is it in grams?" in doubt
        assert doubt in in_grams(name).summary()


def test_a_simulation_says_so():
    heavy = in_grams("p3at")
    assert heavy.doubts()[0] in simulate(heavy, {"commands": [{"for_s": 0.01, "v_mps": 0.0}]}).notes
