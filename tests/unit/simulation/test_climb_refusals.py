"""Climbs that make no sense are refused before anything is compiled: curbs out of reach, coarse belts, long steps, names."""

import pytest

import tracks
from slipfit.errors import SlipfitError
from slipfit.library import TrackedRobot, find_robot
from slipfit.simulation import simulate_many

CURB_GROUND = {"shape": "obstacle", "obstacle": {"kind": "curb", "height_m": 0.1}, "mu_static": 0.6}
CURB = {"obstacle": {"kind": "curb", "height_m": 0.1}, "speed_mps": 0.3, "mu_static": 0.6}


def climb(**changes):
    return tracks.climb(**CURB | changes)


@pytest.mark.parametrize(
    ("scenario", "vary", "sentence"),
    [
        ({"obstacle": {"kind": "curb", "height_m": 3.0}}, {}, r"height_m = 3 m: the curb is higher than packbot reaches"),
        ({"step_s": 0.05}, {}, r"step_s = 0.05 s is too long for a contact stiffness of .* take at most"),
        ({}, {"hight_m": [0.1]}, r"vary: there is no number 'hight_m' in this run; did you mean 'height_m'"),
        ({}, {"height_m": [0.1], "mu_static": [0.5, 0.6]}, r"vary: lengths differ"),
        ({}, {"mu_static": [-0.1]}, r"vary: mu_static"),
        ({"speed_mps": -0.3}, {}, r"speed_mps = -0.3 drives away from the goal; expected a speed above 0"),
        ({"speed_mps": 1e-3}, {}, r"patience_s = 3 s is too short for 0.001 m/s .* take 10 s or more"),
        ({}, {"speed_mps": [0.3, -0.2]}, r"speed_mps = -0.2 drives away"),
        ({"flipper_angle_rad": -0.5}, {}, r"tips begin 100 mm below the tracks, inside the ground; .* take -0.147 or more"),
        ({}, {"flipper_angle_rad": [0.5, -1.0]}, r"flipper_angle_rad = -1: the flippers' tips"),
        (
            {"soil": "dry_sand", "obstacle": {"kind": "ditch", "height_m": 0.1, "run_m": 0.2}},
            {},
            r"kind is ditch, and there is soil; .* leave out soil, or take a terrain",
        ),
        (
            {"soil": "dry_sand"},
            {"k_c": [990.0, -2e5]},
            r"soil dry_sand: k_c/b \+ k_phi is negative at this segment's width of 0.0",
        ),
    ],
)
def test_climbs_that_make_no_sense_are_refused(scenario, vary, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        simulate_many("packbot", climb(**scenario), vary)


def test_belts_of_few_segments_are_refused():
    """Four along the underside and three around half a sprocket are the least on which a belt stands."""
    data = find_robot("packbot").to_mapping()
    data["tracks"]["segments"] = 8
    with pytest.raises(SlipfitError, match=r"segments"):
        TrackedRobot.from_mapping(data, where="coarse")


@pytest.mark.parametrize(
    ("obstacle", "sentence"),
    [
        ({"kind": "ramp", "height_m": 0.5, "slope_rad": 0.0}, r"slope_rad = 0; a ramp rises"),
        ({"kind": "stairs", "height_m": 0.1, "steps": 3, "run_m": 0.0}, r"run_m is 0; how long is each stair\?"),
        ({"kind": "ditch", "height_m": 0.1, "run_m": 0.0}, r"run_m is 0; how wide is the ditch\?"),
        ({"kind": "curb", "height_m": 0.1, "yaw_rad": 1.5708}, r"yaw_rad = 1.57: its face would be parallel to the robot's path"),
    ],
)
def test_obstacles_without_a_shape_are_refused(obstacle, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        climb(obstacle=obstacle)


def test_a_file_that_is_wrong_is_one_sentence(tmp_path):
    with pytest.raises(SlipfitError, match=r"unknown key 'obstacle.hight_m' of slipfit/climb/1; did you mean 'height_m'"):
        climb(obstacle={"kind": "curb", "hight_m": 0.1})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"obstacle": {"kind": "curb", "height_m": 120.0}}, r"height_m = 120 m lies .*; if you meant millimetres, write 0\.12"),
        ({"speed_mps": 300.0}, r"speed_mps = 300 m/s lies .*; if you meant mm/s, write 0\.3"),
    ],
)
def test_other_units_are_recognised(changes, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        climb(**changes)


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        ("step_and_spin", r"sensors: packbot is tracked, and sensors are not simulated on tracks yet; it takes"),
        ("serpentine_10deg", r"ground\.slope_rad: packbot is tracked; a plane is level for it"),
        ({"ground": CURB_GROUND, "commands": [{"for_s": 1.0, "v_mps": 0.1}] * 2}, r"commands: .* only one constant command"),
        (
            {"ground": CURB_GROUND, "commands": [{"for_s": 1.0, "vy_mps": 0.1}]},
            r"commands\[0\]\.vy_mps: .* takes commands\.v_mps",
        ),
        ({"ground": CURB_GROUND, "straight": {}, "start": {"x_m": 1.0}}, r"start\.x_m: .* starts at the origin"),
        ({"ground": CURB_GROUND, "straight": {}, "battery": {"open_circuit_v": 24.0}}, r"battery: .* no battery"),
    ],
)
def test_what_tracked_robots_cannot_use_is_refused_with_what_they_can(scenario, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        simulate_many("packbot", scenario, {})


def test_climbs_that_do_not_fit_into_memory_are_refused():
    """A million runs of 1001 records with 31 columns of 8 bytes: 248 GB."""
    with pytest.raises(SlipfitError, match="248 GB; take a larger record_s"):
        simulate_many("packbot", climb(duration_s=10.0, record_s=0.01), {"mu_static": [0.6] * 1_000_000})
