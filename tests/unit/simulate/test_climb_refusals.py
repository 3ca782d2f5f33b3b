"""Climbs that make no sense are refused before anything is compiled: curbs out of reach, coarse belts, long steps, names."""

import pytest

from slipfit.errors import SlipfitError
from slipfit.library import TrackedRobot, find_tracked_robot
from slipfit.simulate.climb import climb_many
from slipfit.simulate.climb_scenario import as_climb

CURB = {"schema": "slipfit/climb/1", "obstacle": {"kind": "curb", "height_m": 0.1}, "speed_mps": 0.3, "mu_static": 0.6}


def climb(**changes):
    return as_climb(CURB | changes)


@pytest.mark.parametrize(
    ("scenario", "vary", "sentence"),
    [
        ({"obstacle": {"kind": "curb", "height_m": 3.0}}, {}, r"height_m = 3 m: the curb is higher than packbot reaches"),
        ({"step_s": 0.05}, {}, r"step_s = 0.05 s is too long for a contact stiffness of .* take at most"),
        ({}, {"hight_m": [0.1]}, r"vary: there is no number 'hight_m' in this run; did you mean 'height_m'"),
        ({}, {"height_m": [0.1], "mu_static": [0.5, 0.6]}, r"vary: lengths differ"),
        ({}, {"mu_static": [-0.1]}, r"vary: mu_static"),
    ],
)
def test_climbs_that_make_no_sense_are_refused(scenario, vary, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        climb_many("packbot", climb(**scenario), vary)


def test_belts_of_few_segments_are_refused():
    """Four along the underside and three around half a sprocket are the least on which a belt stands."""
    data = find_tracked_robot("packbot").to_mapping()
    data["tracks"]["segments"] = 8
    with pytest.raises(SlipfitError, match=r"segments"):
        TrackedRobot.from_mapping(data, where="coarse")


def test_a_file_that_is_wrong_is_one_sentence(tmp_path):
    with pytest.raises(SlipfitError, match=r"unknown key 'obstacle.hight_m'; did you mean 'height_m'"):
        climb(obstacle={"kind": "curb", "hight_m": 0.1})
