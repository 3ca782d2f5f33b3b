"""Omnidirectional robots on the command line."""

import json
from pathlib import Path

import slipfit as sf

SIDEWAYS = Path(sf.__file__).parent / "library" / "scenarios" / "ohio_sideways.yaml"


def test_robots_lists_them_beside_the_others(slipfit):
    names = [robot["name"] for robot in json.loads(slipfit("robots", "--json").out)["robots"]]
    assert {"p3at", "ohio_omni", "robotino", "optiodom_omni3", "optiodom_mecanum"} <= set(names)
    assert "3 wheels" in slipfit("robots").out
    shown = slipfit("robots", "show", "robotino")
    assert shown.code == 0
    assert "rolling_rad" in shown.out
    assert "RobotinoSlip: BrOleg5" in shown.out


def test_the_documents_manoeuvre_from_its_file(slipfit):
    """SPEC 3(b), improved model on paper: -85.92, -28.18 mm, -.1947 rad; 0.03 mm are this method's at 0.25 ms."""
    result = slipfit("simulate", "ohio_omni", "--scenario", SIDEWAYS, "--plot", "drive.png", "-o", "drive.csv", "--json")
    end = json.loads(result.out)["end"]
    assert abs(end["x_m"] - 0.4 + 85.92e-3) < 1e-3
    assert abs(end["y_m"] + 28.18e-3) < 1e-3
    assert abs(end["heading_rad"] + 0.1947) < 3e-3
    assert Path("drive.png").stat().st_size > 10_000
    assert "wheel_angle_rad_2" in Path("drive.csv").read_text().splitlines()[0]


def test_what_cannot_be_is_told_in_one_line(refused):
    assert "needs the law arctan" in refused("simulate", "robotino", "--ground", "gravel")
    assert "drive is omni" in refused("calibrate", "log.csv", "--robot", "robotino")
    Path("bad.yaml").write_text(
        sf.find_robot("robotino").to_yaml().replace("rigid_fraction:\n    value: 0.0", "rigid_fraction:\n    value: -0.2")
    )
    assert "wheels.rigid_fraction: rigid_fraction = -0.2 lies outside [0, 1]" in refused("robots", "show", "bad.yaml")
    Path("side.yaml").write_text("schema: slipfit/scenario/2\ncommands:\n  - {for_s: 1.0, vy_mps: 0.1}\n")
    assert "side.yaml: commands[0].vy_mps: p3at is a skid-steer robot" in refused("simulate", "p3at", "--scenario", "side.yaml")
