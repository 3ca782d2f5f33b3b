"""Soils that cannot be: one sentence that says what was found and what to do, exit 2, nothing written."""

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
        ({"k_phi": 1528.43, "k_c": 0.99}, "multiply k_c and k_phi by 1000"),
    ],
)
def test_impossible_soils_are_refused(refused, constants, said):
    line = refused("simulate", "lynxmotion_4wd3", "--ground", written(**constants), "-o", "drive.csv")
    assert said in line
    assert "mine.yaml" in line


def test_omni_robots_do_not_drive_on_soil(refused):
    assert "dry_sand has the law soil" in refused("simulate", "ohio_omni", "--ground", "dry_sand")
