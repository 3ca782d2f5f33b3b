"""Drives on soil as a user asks for them; and soils that cannot be: one sentence with what to do, exit 2, nothing written."""

import json
from pathlib import Path

import pytest
import yaml

from slipfit.library import find_ground


def written(**constants):
    """A file with the library's dry sand, some of its constants changed."""
    data = find_ground("dry_sand").to_mapping()
    data["parameters"] = data["parameters"] | constants
    Path("mine.yaml").write_text(yaml.safe_dump(data | {"name": "mine"}))
    return "mine.yaml"


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"n": 0.0}, "n = 0 lies outside [0.01, 3]"),
        ({"n": -1.1}, "n = -1.1 lies outside"),
        ({"friction_angle_rad": 1.2}, "at most 60 degrees"),
        ({"friction_angle_rad": 28.0}, "if you meant degrees, write 0.488692"),
        ({"cohesion_pa": 1.04}, "multiply by 1000"),
        ({"k_c": 0.99}, "k_c = 0.99 N/m^(n+1) is less than any soil's, while k_phi is not; in kN/m^(n+1) it would be 990"),
        ({"k_c": 52.53}, "tables print kN, multiply by 1000"),
        ({"k_phi": 1528.43, "k_c": 0.99}, "multiply k_c and k_phi by 1000"),
    ],
)
def test_impossible_soils_are_refused(refused, constants, said):
    line = refused("simulate", "lynxmotion_4wd3", "--ground", written(**constants), "-o", "drive.csv")
    assert said in line
    assert "mine.yaml" in line


def test_omni_robots_do_not_drive_on_soil(refused):
    assert "dry_sand has the law soil" in refused("simulate", "ohio_omni", "--ground", "dry_sand")


def test_a_drive_on_soil_is_told_and_drawn_with_its_sinkage(slipfit):
    """Whatever the scenario says of energy. Dry sand carries the robot's 2 kg on a few millimetres, as everybody has seen."""
    Path("short.yaml").write_text("schema: slipfit/scenario/2\ncommands: [{for_s: 0.2, wheels_v: [3.0, 3.0]}]\n")
    drive = ("simulate", "lynxmotion_4wd3", "--scenario", "short.yaml", "--ground", "dry_sand")
    result = slipfit(*drive, "--plot", "drive.svg", "--report", "drive.html", "--json")
    assert result.code == 0
    depth = json.loads(result.out)["sinkage_m"]
    assert 0.001 < depth["median"] <= depth["deepest"] < 0.02
    assert "sinkage of each wheel below the untouched surface" in Path("drive.html").read_text()
    assert Path("drive.svg").exists()


def test_a_robot_that_sinks_in_at_once_is_told_so_first(slipfit):
    """6 kN/m^3 under 2 kg on four wheels of 64 mm: no depth below the axles carries them. One record has no slip or rate."""
    Path("short.yaml").write_text("schema: slipfit/scenario/2\ncommands: [{for_s: 0.2, wheels_v: [3.0, 3.0]}]\n")
    soft = written(k_c=0.0, k_phi=6000.0, cohesion_pa=0.0, n=1.1)
    result = slipfit("simulate", "lynxmotion_4wd3", "--scenario", "short.yaml", "--ground", soft)
    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[1].startswith("  status   A wheel sank deeper than its radius")
    assert "nan" not in result.out
