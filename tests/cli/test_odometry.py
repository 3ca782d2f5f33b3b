"""slipfit odometry, umbmark and circle: what a user types and reads."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.twin import Twin
from unit.calibration.odometry.loops import loop_log
from unit.calibration.odometry.squares import square

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
    assert (result.code, result.said) == (0, [])
    document = json.loads(result.out)
    assert document["parameters"]["left.metres_per_count"]["value"] == pytest.approx(2.17055e-5, abs=1e-9)
    powertrain = Twin.load("a.twin.yaml").powertrain
    assert powertrain.turn_counts_both == pytest.approx((44000, 44000))
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
    document = json.loads(
        slipfit("umbmark", *logs, "--truth", "pose", "--robot", "p3at", "--side-m", "4", "-o", "a.twin.yaml", "--json").out
    )
    assert document["e_b"]["value"] == pytest.approx(1.006, abs=3e-4)
    assert Twin.load("a.twin.yaml").powertrain.effective_track_m.value == pytest.approx(1.006 * robot.track_m, rel=1e-3)
    general = slipfit("umbmark", *logs, "--truth", "pose", "--robot", "p3at", "--any-path")
    assert "spin_track_m" in general.out
    squares = squares_of(robot, repeats=2)
    written = slipfit("umbmark", *squares, "--truth", "pose", "--robot", "p3at", "--any-path", "-o", "any.twin.yaml")
    assert "effective_track_m of the twin: as before, the paths do not tell it" in written.out  # closed paths know no scale


def squares_of(robot, *, repeats=1, e_b=1.006):
    """Logs of squares both ways; repetitions start a little later and so differ."""
    names = []
    for k, turn in enumerate((0.5 * math.pi, -0.5 * math.pi)):
        for n in range(repeats):
            names.append(f"run_{k}_{n}.mcap")
            path_log(square(4.0 + 0.001 * n, turn), robot, e_b, names[-1])
    return names


def test_squares_keep_the_mean_radius_of_a_twin(slipfit, tmp_path):
    """A tape said 2 % more than the library's radius, and 1 % between the sides: squares change the ratio and keep the mean."""
    robot, counts = find_robot("p3at"), 10000
    per_count = 1.02 * 2.0 * math.pi * robot.wheels.radius_m.value / counts
    rolled = [round(5.0 / (share * per_count)) for share in (0.995, 1.005)]
    (tmp_path / "tape.yaml").write_text(
        f"schema: slipfit/odometry/1\ncounts_per_turn: {counts}\nstraight_runs:\n"
        f"  - {{distance_m: 5.0, left_counts: {rolled[0]}, right_counts: {rolled[1]}}}\nerrors: {{tape_m: 0.025}}\n"
    )
    slipfit("odometry", "tape.yaml", "--robot", "p3at", "-o", "a.twin.yaml")
    line = (
        "umbmark",
        *squares_of(robot, repeats=2),
        "--truth",
        "pose",
        "--robot",
        "p3at",
        "--twin",
        "a.twin.yaml",
        "-o",
        "b.twin.yaml",
    )
    assert slipfit(*line).code == 0
    found = Twin.load("b.twin.yaml").powertrain
    left, right = found.left.metres_per_count, found.right.metres_per_count
    assert 0.5 * (left.value + right.value) == pytest.approx(per_count, rel=1e-4)
    assert right.value / left.value == pytest.approx(1.0, abs=1e-3)  # the squares were driven with equal wheels
    assert left.std / left.value == pytest.approx(0.005, rel=0.05)  # 25 mm of 5 m


def test_what_squares_cannot_be_is_refused(refused, slipfit):
    robot = find_robot("p3at")
    one, two = squares_of(robot)
    assert "squares of 4 m" in refused("umbmark", one, two, "--truth", "pose", "--robot", "p3at", "--side-m", "40")
    assert "above zero" in refused("umbmark", one, two, "--truth", "pose", "--robot", "p3at", "--side-m", "0")
    assert "--any-path" in refused("umbmark", one, two, "--truth", "pose", "--robot", "p3at", "--side-m", "4", "--any-path")
    assert "same recording" in refused("umbmark", one, two, two, "--truth", "pose", "--robot", "p3at")
    assert "spreads are unknown" in slipfit("umbmark", one, two, "--truth", "pose", "--robot", "p3at").out
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    for command in (("umbmark", one, two, "--truth", "pose"), ("odometry", one, "--truth", "pose")):
        sentence = refused(*command, "--robot", "p3at", "--twin", "a.twin.yaml", "-o", "b.twin.yaml")
        assert "twin of atrv_jr" in sentence


def test_timed_counts_of_a_csv_file_take_counts_from_flag_or_twin(slipfit, tmp_path):
    """[Haas2009], table 1, first row: 141631 counts in 50.44 s at setpoint 5 with 44000 counts a turn."""
    (tmp_path / "timed.csv").write_text(TIMED + "5,141631,141052,50.44\n")
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    expected = 5.0 / (2.0 * math.pi * 141631 / (44000 * 50.44))
    for known in (("--counts-per-turn", "44000"), ("--twin", "a.twin.yaml")):
        result = slipfit("odometry", "timed.csv", "--robot", "atrv_jr", *known, "-o", "b.twin.yaml", "--force")
        assert result.code == 0, result.err
        found = Twin.load("b.twin.yaml").powertrain
        assert found.left.setpoint_per_radps.value == pytest.approx(expected)
        assert found.turn_counts_both == pytest.approx((44000, 44000))


def test_tracks_that_disagree_are_told(slipfit):
    """(T^2 + B^2) / T = 0.797 m of the readings; 2 (b^2 + l^2 c_long / c_lat) / b of lab_floor with c_lat = 10 c_long:
    2 (0.25^2 + 0.19^2 / 10) / 0.25 = 0.529 m."""
    made = slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml").out
    driven = slipfit("circle", "--twin", "a.twin.yaml", "--turn-deg", "90", "--v-mps", "0.3", "--yaw-rate-radps", "0.3").out
    for text in (made, driven):
        assert "tracks disagree" in text
        assert "0.797 m" in text
        assert "0.529 m" in text


def test_slip_and_track_of_one_log_agree(slipfit):
    """The how-to's route: readings, then the log that the slip constants came from. A circle closes to 2 %, as in [Haas2009]."""
    slipfit("simulate", "atrv_jr", "--readings", "run.mcap")
    slipfit("calibrate", "run.mcap", "--robot", "atrv_jr", "-o", "a.twin.yaml", "--no-report")
    line = (
        "odometry",
        EXAMPLE,
        "run.mcap",
        "--robot",
        "atrv_jr",
        "--twin",
        "a.twin.yaml",
        "-o",
        "a.twin.yaml",
        "--force",
        "--json",
    )
    document = json.loads(slipfit(*line).out)
    assert not any("disagree" in finding for finding in document["findings"])
    checked = json.loads(slipfit("circle", "--twin", "a.twin.yaml", "--turn-deg", "180", "--json").out)
    assert checked["findings"] == []
    assert max(max(abs(c["along_m"]), abs(c["across_m"])) / c["way_m"] for c in checked["crossings"]) < 0.02


def test_a_twin_drives_a_circle(slipfit):
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    result = slipfit(
        "circle", "--twin", "a.twin.yaml", "--v-mps", "0.3", "--yaw-rate-radps", "0.3", "--turn-deg", "180", "--json"
    )
    assert [round(c["turn_rad"] / (math.pi / 2)) for c in json.loads(result.out)["crossings"]] == [1, 2]


@pytest.mark.parametrize("flag", ["--v-mps", "--yaw-rate-radps", "--turn-deg"])
def test_a_circle_of_no_number_is_refused(refused, slipfit, flag):
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    assert "nan" in refused("circle", "--twin", "a.twin.yaml", flag, "nan")


def test_a_circle_begins_within_its_log(refused):
    path_log(square(4.0, 0.5 * math.pi), find_robot("p3at"), 1.0, "run.mcap")
    for start in ("nan", "-1", "1e9"):
        assert "run.mcap" in refused("circle", "run.mcap", "--robot", "p3at", "--start-s", start)


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
    (tmp_path / "limits.yaml").write_text(EXAMPLE.read_text().replace("[-126, 127]", "[5, 127]"))
    assert "setpoint_limits is [5, 127]" in refused("odometry", "limits.yaml", "--robot", "atrv_jr")
    assert "above zero" in refused("odometry", EXAMPLE, "--robot", "atrv_jr", "--counts-per-turn", "-1")
    assert "ends in .yaml" in refused("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.json")


@pytest.mark.parametrize("command", ["odometry", "umbmark", "circle"])
def test_another_drive_is_refused_by_the_command_that_was_typed(refused, command):
    path_log(square(4.0, 0.5 * math.pi), find_robot("p3at"), 1.0, "run.mcap")
    assert f"drive is differential, and {command} works with skid-steer" in refused(
        command, "run.mcap", "--robot", "turtlebot3_burger"
    )


def test_a_circle_beyond_the_limits_says_so(slipfit):
    """5 m/s and 1 rad/s are 5 x 82.3 + 32.8 = 445 setpoints on the right, of 127."""
    slipfit("odometry", EXAMPLE, "--robot", "atrv_jr", "-o", "a.twin.yaml")
    told = slipfit("circle", "--twin", "a.twin.yaml", "--v-mps", "5", "--yaw-rate-radps", "1", "--turn-deg", "90")
    assert told.code == 0
    assert "beyond the robot's limits, another circle was driven: the left setpoint would be 379" in told.out
    assert "beyond" not in slipfit("circle", "--twin", "a.twin.yaml", "--turn-deg", "90").out
