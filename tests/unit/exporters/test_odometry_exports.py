"""Effective track and odometry's errors in ROS's files: the twin's numbers, shapes that the packages read, what is said."""

import numpy as np
import pytest
import yaml

from known_kinematics import kinematics, with_kinematics
from known_twins import known_twin
from slipfit.errors import ExportError
from slipfit.exporters import export
from slipfit.exporters.odometry import double
from slipfit.exporters.robot_localization import STATE
from slipfit.twin import Twin


def parameters(done):
    (node,) = [entry for key, entry in yaml.safe_load(done.text).items() if key != "controller_manager"]
    return node["ros__parameters"]


def told(done):
    return {entry.what: f"{entry.why}; {entry.remedy}" for entry in done.ledger.entries}


# --- ros2-control ----------------------------------------------------------------------------------------------------


def test_multipliers_are_effective_track_and_gain():
    """1.5 times the track, 90 % in 5 % to either side; not the 1.039 of the law's constants."""
    done = export(with_kinematics(known_twin()), "ros2-control")
    found = parameters(done)
    assert found["wheel_separation_multiplier"] == pytest.approx(1.5)
    assert found["left_wheel_radius_multiplier"] == found["right_wheel_radius_multiplier"] == pytest.approx(0.95)
    assert "wheel_separation_multiplier: 1.5  # 90 %: 1.4250 to 1.5750" in done.text
    assert "left_wheel_radius_multiplier: 0.95  # 90 %: 0.9300 to 0.9700" in done.text
    assert "the drive asked for 'icr'" in told(done)["model of the drive"]


def test_covariances_are_the_residuals():
    """Place: mean of 0.2² and 0.1²; heading 0.06²; velocities: the same errors over 2 s. All doubles, six of each."""
    found = parameters(export(with_kinematics(known_twin()), "ros2-control"))
    pose, twist = found["pose_covariance_diagonal"], found["twist_covariance_diagonal"]
    assert [pose[0], pose[1], pose[5]] == pytest.approx([0.025, 0.025, 0.0036])
    assert [twist[0], twist[1], twist[5]] == pytest.approx([0.01, 0.0025, 0.0009])
    assert len(pose) == len(twist) == 6
    assert all(isinstance(entry, float) for entry in (*pose, *twist))


def test_other_grounds_stand_below_as_comments():
    """Uncommented, they are the file of that ground."""
    twin = with_kinematics(known_twin(), hall=kinematics(), sand=kinematics(multiplier=1.8, gain=0.9))
    done = export(twin, "ros2-control", ground="hall")
    assert parameters(done)["wheel_separation_multiplier"] == pytest.approx(1.5)
    _, commented = done.text.split("    # ground sand\n")
    rows = yaml.safe_load("\n".join(row.removeprefix("    # ") for row in commented.splitlines()))
    of_sand = parameters(export(twin, "ros2-control", ground="sand"))
    assert rows == {key: of_sand[key] for key in rows}
    assert rows["wheel_separation_multiplier"] == pytest.approx(1.8)
    assert "the numbers are those of hall; sand below" in told(done)["ground"]


def test_a_ground_that_cannot_be_told_says_why_below():
    data = with_kinematics(known_twin()).to_mapping()
    found = {"value": 0.8, "status": "converged", "source": "x"}
    data["grounds"]["ice"] = {"law": "coulomb", "parameters": {"mu": found}}
    text = export(Twin.from_mapping(data, where="x"), "ros2-control", ground="floor").text
    assert "    # ground ice has the law coulomb; ros2-control can be written for wheel_slip" in text


def test_kinematics_without_a_track_are_refused():
    """Straight driving tells no track, and no constant across the wheels either: the law of the same drive knows no better."""
    entry = kinematics()
    entry["effective_track_m"] = {"value": None, "status": "not_excited", "source": "x"}
    with pytest.raises(ExportError, match="the drive did not tell the effective track; spin and drive arcs"):
        export(with_kinematics(known_twin(), floor=entry), "ros2-control")


def test_a_drive_without_poses_has_no_covariances():
    entry = kinematics()
    entry["odometry_noise"] = {"horizon_s": 2.0, "windows": 50, "heading_rad": 0.05}
    done = export(with_kinematics(known_twin(), floor=entry), "ros2-control")
    assert "pose_covariance_diagonal" not in parameters(done)
    assert "covariances" in told(done)


# --- nav2-amcl -------------------------------------------------------------------------------------------------------


def test_amcl_gets_its_alphas():
    """As in the twin; alpha4 was not told, alpha5 is the omnidirectional model's: nav2's own 0.2."""
    done = export(with_kinematics(known_twin()), "nav2-amcl")
    found = parameters(done)
    assert [found[f"alpha{k}"] for k in range(1, 6)] == pytest.approx([0.01, 1e-5, 0.04, 0.2, 0.2])
    assert all(isinstance(found[f"alpha{k}"], float) for k in range(1, 6))
    assert found["robot_model_type"] == "nav2_amcl::DifferentialMotionModel"
    assert "alpha1: 0.01  # 90 %: 0.006 to 0.014" in done.text
    assert "alpha4 = 0.2" in told(done)
    assert done.text.isascii()


# --- robot-localization ----------------------------------------------------------------------------------------------


def test_process_noise_is_the_drift():
    """225 doubles, row by row: x and y the mean of 0.02 and 0.004 m²/s, yaw 0.0018 rad²/s, speeds as the robot changes them."""
    done = export(with_kinematics(known_twin()), "robot-localization")
    found = parameters(done)
    matrix = np.array(found["process_noise_covariance"]).reshape(15, 15)
    noise = dict(zip(STATE, np.diag(matrix), strict=True))
    assert np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0
    assert all(isinstance(entry, float) for entry in found["process_noise_covariance"])
    assert [noise[key] for key in ("x", "y", "yaw", "vx", "vyaw")] == pytest.approx([0.012, 0.012, 0.0018, 0.3, 0.5])
    assert [key for key, used in zip(STATE, found["odom0_config"], strict=True) if used] == ["vx", "vy", "vyaw"]
    assert "twist.covariance  [0.01, 0.0025, 1.0e+06" in done.text
    assert done.text.isascii()


def test_drift_needs_poses():
    entry = kinematics()
    entry["odometry_noise"] = {"horizon_s": 2.0, "windows": 50, "heading_rad": 0.05}
    with pytest.raises(ExportError, match="has no drift of the place"):
        export(with_kinematics(known_twin(), floor=entry), "robot-localization")


@pytest.mark.parametrize("target", ["nav2-amcl", "robot-localization"])
def test_a_ground_without_kinematics_is_refused(target):
    with pytest.raises(ExportError, match=f"ground floor has no kinematics with odometry_noise, which {target} is written from"):
        export(known_twin(), target)


@pytest.mark.parametrize(("value", "text"), [(1e-5, "1.0e-05"), (0.2, "0.2"), (3.0, "3.0"), (1e6, "1.0e+06"), (0.0, "0.0")])
def test_numbers_are_doubles_for_every_reader(value, text):
    """YAML 1.1 takes 1e-05 for text, and ROS a whole number for an integer."""
    assert double(value) == text
    assert yaml.safe_load(text) == value
