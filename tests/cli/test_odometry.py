"""slipfit odometry, umbmark and circle: what a user types and reads."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.twin import Twin
from unit.calibrate.odometry.loops import loop_log
from unit.calibrate.odometry.squares import square

EXAMPLE = Path(__file__).parents[2] / "examples" / "atrv_jr_odometry.yaml"
TIMED = "setpoint,left_counts,right_counts,duration_s\n"


def path_log(rolled, robot, e_b, name):
    """A path of a robot whose true track is e_b times what its file says; it steers by its own odometry."""
    left, right = rolled
    heading = (right - left) / (0.2 * e_b)
    step, middle = np.diff(0.5 * (left + right)), 0.5 * (heading[1:] + heading[:-1])
    x, y = (np.concatenate([[0.0], np.cumsum(step * f(middle))]) for f in (np.cos, np.sin))
    stamps = np.arange(len(left)) * 50_000_000
    # The library's robot is wider than the one of these squares: stretch the turns, not the lines.
    wider = 0.5 * (robot.track_m / 0.2 - 1.0) * (right - left)
    angles = np.column_stack([left - wider, right + wider]) / robot.wheels.radius_m.value
    DriveLog(
        {
            "encoders": Channel("encoders", stamps, angles, ("left_angle_rad", "right_angle_rad")),
            "pose": Channel("pose", stamps, np.column_stack([x, y, heading]), ("x_m", "y_m", "yaw_rad")),
        }
    ).save(name)


def test_the_documents_tables_make_a_twin(slipfit):
    """[Haas2009]: 44000 counts, 2.17055e-5 m; the twin keeps each side's own setpoint per speed and says where it comes from."""
    result = slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml", "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document["parameters"]["left.metres_per_count"]["value"] == pytest.approx(2.17055e-5, abs=1e-9)
    powertrain = Twin.load("a.twin.yaml").powertrain
    assert powertrain.counts_per_turn.value == pytest.approx(44000)
    assert powertrain.left.setpoint_per_radps.source == "Haas2009"
    assert powertrain.left.setpoint_per_radps.value != powertrain.right.setpoint_per_radps.value
    assert "not calibrated" in slipfit("twin", "a.twin.yaml").out
    assert slipfit("simulate", "a.twin.yaml").code == 0


def test_a_log_adds_its_speed_loops_to_the_twin(slipfit):
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    loop_log(4).save("loops.mcap")
    result = slipfit("odometry", "loops.mcap", "--robot", "atrv_jr", "--twin", "a.twin.yaml", "-o", "b.twin.yaml")
    assert result.code == 0
    before, after = (Twin.load(name).powertrain for name in ("a.twin.yaml", "b.twin.yaml"))
    assert after.left.lag_s.value == pytest.approx(0.12, abs=0.005)
    assert after.left.metres_per_count == before.left.metres_per_count
    assert after.setpoint_unit == "controller"
    assert after.left.setpoint_per_radps.value == pytest.approx(1.02 * before.left.setpoint_per_radps.value, rel=0.01)
    assert [log.name for log in Twin.load("b.twin.yaml").provenance.logs] == ["loops.mcap"]


def test_squares_make_radii_and_track(slipfit):
    """A p3at whose track is 0.6 % wider than its file says: E_b of 1.006 comes back, and the twin has the wider track."""
    robot = find_robot("p3at")
    for k, turn in enumerate((0.5 * math.pi, -0.5 * math.pi)):
        path_log(square(4.0, turn), robot, 1.006, f"run_{k}.mcap")
    logs = ("run_0.mcap", "run_1.mcap")
    document = json.loads(slipfit("umbmark", *logs, "--robot", "p3at", "--side-m", "4", "-o", "a.twin.yaml", "--json").out)
    assert document["e_b"]["value"] == pytest.approx(1.006, abs=3e-4)
    assert Twin.load("a.twin.yaml").powertrain.effective_track_m.value == pytest.approx(1.006 * robot.track_m, rel=1e-3)
    general = slipfit("umbmark", *logs, "--robot", "p3at", "--any-path")
    assert "spin_track_m" in general.out


def test_a_twin_drives_a_circle(slipfit):
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    result = slipfit(
        "circle", "--twin", "a.twin.yaml", "--v-mps", "0.3", "--yaw-rate-radps", "0.3", "--turn-deg", "180", "--json"
    )
    assert [round(c["turn_rad"] / (math.pi / 2)) for c in json.loads(result.out)["crossings"]] == [1, 2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("5,141631,141052,0", ["duration_s", "0"]),
        ("5,-141631,141052,50", ["left_counts", "-141631"]),
        ("5,141631,141052", ["line 2", "3 cells"]),
        ("5,141631,many,50", ["right_counts", "many"]),
        ("5,141631,141052,50", ["counts per turn"]),
    ],
)
def test_bad_readings_are_one_sentence(refused, tmp_path, line, words):
    (tmp_path / "timed.csv").write_text(TIMED + line + "\n")
    sentence = refused("odometry", "timed.csv", "--robot", "atrv_jr", "-o", "a.twin.yaml")
    assert all(word in sentence for word in words), sentence


def test_other_refusals(refused, tmp_path):
    (tmp_path / "empty.yaml").write_text("schema: slipfit/odometry/1\n")
    assert "no readings" in refused("odometry", "empty.yaml", "--robot", "atrv_jr")
    assert "no such file" in refused("odometry", "missing.mcap", "--robot", "atrv_jr")
    assert "neither log nor twin" in refused("circle")
    assert "ends in .yaml" in refused("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.json")
