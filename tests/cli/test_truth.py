"""Wheel odometry is not ground truth: what commands say and do with ordinary ROS 2 bags."""

import json
from dataclasses import replace

import pytest

from ordinary_bags import calibration_cases, confusion_cases, write, write_bad

#: Bags that no command can calibrate, and what their sentence must name.
REFUSED = {
    "encoders_and_wheel_odometry_only": ("/odom is wheel odometry", "record an IMU"),
    "two_robots": ("2 robots, /robot1 and /robot2", "--topic encoders=/robot1/joint_states"),
    "tf_loop": ("frame base_link has 2 parents", "expected one"),
    "frame_with_two_parents": ("frame base_link has 2 parents", "expected one"),
    "tf_gap": ("are not connected", "expected a chain of transforms"),
    "clock_reset": ("backward", "expected one clock"),
    "wheels_never_move": ("the robot stands", "drive it"),
}


@pytest.fixture
def ordinary(tmp_path):
    """A bag with encoders, IMU and wheel odometry."""
    case = replace(calibration_cases(1)[0], name="ordinary")
    return str(write(case, tmp_path))


@pytest.mark.parametrize("name", REFUSED)
def test_bags_without_anything_to_calibrate_from_are_refused_in_one_sentence(slipfit, tmp_path, name):
    bag = write_bad(name, tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    result = slipfit("calibrate", str(bag), "--robot", "p3at", "-o", "out.twin.yaml")
    assert result.code == 2
    assert len(result.said) == 1
    assert all(words in " ".join(result.err.split()) for words in REFUSED[name])
    assert {path.name for path in tmp_path.iterdir()} == before


def test_what_a_bag_lacks_is_told(slipfit, tmp_path):
    """Wheels that stand, and an IMU whose place no transform tells."""
    parked = slipfit("inspect", str(write_bad("wheels_never_move", tmp_path))).out
    assert "the wheels stand still" in parked
    assert "no encoders" not in parked
    mounted = slipfit("inspect", str(write_bad("imu_frame_without_transform", tmp_path))).out
    assert "no static transforms between base_link and imu_link; its axes are taken for those of the body" in mounted


def test_inspect_needs_no_robot_and_lists_topics_uses_and_provenance(slipfit, ordinary):
    result = slipfit("inspect", ordinary)
    assert result.code == 0
    assert "/joint_states" in result.out
    assert "wheel odometry" in result.out
    document = json.loads(slipfit("inspect", ordinary, "--json").out)
    uses = {topic["name"]: topic["use"] for topic in document["topics"]}
    assert uses["/joint_states"] == "encoders"
    assert document["truth"]["channel"] is None
    assert {pose["origin"] for pose in document["truth"]["poses"]} == {"wheel odometry"}
    assert document["worst"] == "warning"


def test_calibrate_uses_the_imu_and_states_that_odometry_is_not_the_truth(slipfit, ordinary, tmp_path):
    result = slipfit("calibrate", ordinary, "--robot", "p3at", "-o", "a.twin.yaml", "--no-report", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    (drive,) = document["drives"]
    assert not any(name.startswith("pose_") for name in drive["nuisances"])
    assert "no pose is independent of the wheels" in document["provenance"]["truth"][0]
    assert "wheel odometry" in (tmp_path / "a.twin.yaml").read_text()
    odometry = next(pose["name"] for pose in drive["truth"]["poses"])
    given = json.loads(slipfit("calibrate", ordinary, "--robot", "p3at", "--truth", odometry, "--json").out)
    assert "although it is wheel odometry" in given["provenance"]["truth"][0]
    assert any(name.startswith("pose_") for name in given["drives"][0]["nuisances"])


def test_compare_validate_estimate_and_floors_state_their_truth(slipfit, tmp_path):
    """A bag with a true pose and odometry: the pose serves, and every command says so."""
    case = next(c for c in confusion_cases() if "mocap_and" in c.name and c.robot == "p3at")
    bag = str(write(replace(case, name="both"), tmp_path))
    true = next(name for name, kind in case.truth.items() if kind == "independent")
    compared = slipfit("compare", bag, "--robot", "p3at", "--twin", "a.twin.yaml")
    assert f"truth: {true}: independent" in compared.out
    assert f"truth: {true}: independent" in slipfit("validate", "a.twin.yaml", bag).out
    assert f"pose: {true}: independent" in slipfit("estimate", "a.twin.yaml", bag).out
    assert f"{true}: independent" in slipfit("floors", bag, bag, "--robot", "p3at").out
    without = slipfit("validate", "a.twin.yaml", bag, "--truth", "none")
    assert "no pose is used, as specified (--truth none)" in without.out
    unknown = slipfit("compare", bag, "--robot", "p3at", "--truth", "/nothing")
    assert unknown.code == 2
    assert "there is no such pose" in unknown.err
    assert all(name in " ".join(unknown.err.split()) for name in ("/odom", true))  # what can be passed instead


def test_umbmark_refuses_wheel_odometry_as_the_true_path(slipfit, ordinary):
    """It compares places: an IMU, which the log has, does not help."""
    result = slipfit("umbmark", ordinary, "--robot", "p3at", "--any-path")
    assert result.code == 2
    assert result.err.count("no pose is independent of the wheels") == 1
    assert "an IMU" not in result.err
