"""Rovers from the command line: library scenarios, routes, terrains; what is printed, written and refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from slipfit.simulation.scenario import scenario_names

ROVER = "lynxmotion_4wd3"
SHORT = """\
schema: slipfit/scenario/2
ground: {shape: plane, slope_rad: 0.2, surface: rover_tyre}
step_s: 0.0005
route: {waypoints_m: [[0.5, 0.1]], speed_mps: 0.3, at_most_s: 6.0}
"""
YARD = """\
schema: slipfit/scenario/2
ground: {shape: terrain, terrain: yard.yaml, surface: rover_tyre}
step_s: 0.0005
start: {x_m: 1.0, y_m: 1.0}
route: {waypoints_m: [[1.5, 1.0]], speed_mps: 0.3}
"""
HEIGHTS = "schema: slipfit/terrain/1\nname: yard\nheights: {kind: array, file: yard.npy, spacing_m: 0.1}\n"


def written(name, text, *changes):
    """A file with the text, parts of which are replaced: (old, new), ..."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path(name).write_text(text)
    return name


def yard(*changes, heights=None):
    np.save("yard.npy", np.zeros((31, 31)) if heights is None else heights)
    Path("yard.yaml").write_text(HEIGHTS)
    return written("drive.yaml", YARD, *changes)


def test_the_library_lists_its_scenarios(slipfit):
    """Those of issue 8: voltages, serpentines at five slopes, a crater, also on Mars (3.71 m/s²)."""
    text = slipfit("scenarios").out
    assert all(f"{name} " in text for name in scenario_names())
    document = {s["name"]: s for s in json.loads(slipfit("scenarios", "--json").out)["scenarios"]}
    assert {"rover_voltages", "crater_rim", "crater_rim_mars", "serpentine_flat", "serpentine_33deg"} <= document.keys()
    assert document["crater_rim_mars"]["ground"]["gravity_mps2"] == pytest.approx(3.71, abs=0.02)
    assert document["serpentine_30deg"]["ground"]["slope_rad"] == pytest.approx(np.radians(30.0), abs=1e-5)


def test_a_scenario_shown_is_a_file_to_start_from(slipfit):
    Path("mine.yaml").write_text(slipfit("scenarios", "show", "serpentine_20deg").out)
    shown = json.loads(slipfit("scenarios", "show", "mine.yaml", "--json").out)
    assert shown["ground"] == json.loads(slipfit("scenarios", "show", "serpentine_20deg", "--json").out)["ground"]


def test_a_route_that_is_driven_exits_with_0_and_tells_everything(slipfit):
    """The waypoint is 0.51 m away, of which 0.15 m count as reached: at 0.3 m/s not before 1.2 s. Every joule is there: what was
    supplied is stored or became heat, but for 0.1 % of the throughput."""
    written("short.yaml", SHORT)
    result = slipfit("simulate", ROVER, "--scenario", "short.yaml", "--json", "-o", "drive.parquet", "--plot", "drive.svg")
    assert result.code == 0
    document = json.loads(result.out)
    assert (document["status"], document["waypoints"], document["waypoints_reached"]) == ("arrived", 1, 1)
    assert 0.36 / 0.3 < document["arrived_at_s"] < 6.0
    assert 0.0 <= document["largest_cross_track_m"] < 0.15
    assert 0.0 < document["smallest_tip_over_margin_rad"] < np.pi / 2
    assert 0.0 <= document["slip"]["median"] <= document["slip"]["at_95"] <= 2.0
    energy = document["energy"]
    heat = sum(joules for name, joules in energy.items() if name.startswith("in_"))
    kept = sum(energy[name] for name in ("body_j", "wheels_j", "height_j", "magnetic_j", "twist_j", "tyres_j"))
    assert energy["supplied_j"] == pytest.approx(heat + kept, abs=1e-3 * energy["throughput_j"])
    assert document["written"] == ["drive.parquet", "drive.svg"]
    assert Path("drive.svg").read_text().startswith("<?xml")


def test_a_page_of_the_route_has_the_torque_model_beside(slipfit):
    written("short.yaml", SHORT)
    result = slipfit("simulate", ROVER, "--scenario", "short.yaml", "--report", "rover.html")
    assert result.code == 0
    assert "all 1 waypoints reached" in result.out
    page = Path("rover.html").read_text(encoding="utf-8")
    assert "Simulated drive of a rover" in page
    assert "by the torque model" in page
    assert len(page.encode()) < 6_000_000


@pytest.mark.parametrize("elsewhere", [("--ground", "rover_tyre"), ()], ids=["another ground", "another gravity"])
def test_the_torque_model_is_left_out_where_it_would_drive_elsewhere(slipfit, elsewhere):
    """It takes gravity from the surface that the scenario names."""
    written("short.yaml", SHORT, *([] if elsewhere else [("surface: rover_tyre", "surface: rover_tyre, gravity_mps2: 3.71")]))
    slipfit("simulate", ROVER, "--scenario", "short.yaml", *elsewhere, "--report", "rover.html")
    assert "by the torque model" not in Path("rover.html").read_text(encoding="utf-8")


def test_a_route_that_is_not_driven_in_time_exits_with_1(slipfit):
    written("short.yaml", SHORT, ("at_most_s: 6.0", "at_most_s: 0.5"))
    result = slipfit("simulate", ROVER, "--scenario", "short.yaml", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert (document["status"], document["waypoints_reached"], document["arrived_at_s"]) == ("timed_out", 0, None)


def test_a_slope_of_the_command_line_counts_for_routes_too(slipfit):
    """Level instead of 0.2 rad: nothing is lifted."""
    written("short.yaml", SHORT)
    document = json.loads(slipfit("simulate", ROVER, "--scenario", "short.yaml", "--slope-deg", "0", "--json").out)
    assert document["slope_rad"] == 0.0
    assert document["energy"]["height_j"] == pytest.approx(0.0, abs=1e-9)


def test_an_unknown_scenario_tells_the_nearest(refused):
    error = refused("simulate", ROVER, "--scenario", "crater_rin")
    assert "there is no scenario 'crater_rin' in the library" in error
    assert "crater_rim" in error
    assert "nowhere.yaml" in refused("simulate", ROVER, "--scenario", "nowhere.yaml")


def test_a_slope_of_a_terrain_is_refused(refused):
    error = refused("simulate", ROVER, "--scenario", "crater_rim", "--slope-deg", "10")
    assert "--slope-deg 10: the scenario's ground is the terrain crater_rim" in error


def test_a_waypoint_off_the_map_is_told_with_the_map(refused):
    """The map is 3 m x 3 m."""
    yard(("[[1.5, 1.0]]", "[[1.5, 1.0], [9.0, 1.0]]"))
    error = refused("simulate", ROVER, "--scenario", "drive.yaml")
    assert "route.waypoints_m[1] = [9, 1] lies off the map" in error
    assert "x from 0 to 3 m" in error


def test_a_map_with_holes_is_refused_with_their_place(refused):
    heights = np.zeros((31, 31))
    heights[4, 7] = np.nan
    yard(heights=heights)
    error = refused("simulate", ROVER, "--scenario", "drive.yaml")
    assert "1 of 961 heights are missing, the first at x = 0.7 m, y = 0.4 m" in error


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("speed_mps: 0.3", "speed_mps: 0.3, gains: {surge: {kp_v_s_per_m: -3}}"), "a negative gain drives away"),
        (("speed_mps: 0.3", "speed_mps: 0.3, gains: {heading: {kp_v_per_rad: 1.0e9}}"), "kp_v_per_rad"),
        (("speed_mps: 0.3", "speed_mps: -0.3"), "speed_mps = -0.3; expected more than 0"),
        (("route:", "commands: [{for_s: 1.0, v_mps: 0.1}]\nroute:"), "commands and route are both given"),
        (("[[0.5, 0.1]]", "[]"), "waypoints_m is empty"),
        (("shape: plane, ", "shape: terrain, "), "which?"),
    ],
    ids=["negative gain", "huge gain", "backwards", "commands and route", "nowhere", "no terrain"],
)
def test_what_no_route_can_have_is_one_sentence(refused, change, told):
    written("short.yaml", SHORT, change)
    error = refused("simulate", ROVER, "--scenario", "short.yaml")
    assert "short.yaml" in error
    assert told in error


def test_gains_that_are_far_too_high_are_a_verdict_and_no_traceback(slipfit):
    """The largest gain that is allowed turns every error into full voltage: whatever comes of it, there is a status."""
    written("short.yaml", SHORT, ("speed_mps: 0.3", "speed_mps: 0.3, gains: {heading: {kp_v_per_rad: 1.0e4, kd_v_s_per_rad: 0}}"))
    result = slipfit("simulate", ROVER, "--scenario", "short.yaml", "--json")
    document = json.loads(result.out)
    assert result.code == (0 if document["status"] == "arrived" else 1)
    assert document["status"] in ("arrived", "timed_out", "slid_away", "tipped_over", "diverged")


def test_an_omnidirectional_robot_has_no_routes(refused):
    written("short.yaml", SHORT, ("rover_tyre", "ohio_paper"))
    assert "omnidirectional robot" in refused("simulate", "ohio_omni", "--scenario", "short.yaml")
