"""slipfit calibrate, as a user runs it: a bag in, a twin and a report out; and what it says of logs that it cannot use."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from recovery.drives import GOOD, STEPS_AND_SPINS, drive, steps
from slipfit.calibration import posterior
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import IMU_COLUMNS, ODOMETRY_COLUMNS, wheel_columns
from slipfit.twin import Twin

OUT = ("--robot", "p3at", "-o", "x.twin.yaml")


@pytest.fixture(scope="module")
def readings():
    """23 s of a P3AT with c_long = .005, c_lat = .05: wheel angles, IMU, pose."""
    return drive(sensors=GOOD, commands=STEPS_AND_SPINS).readings


def without(log, *names):
    return replace(log, channels={name: channel for name, channel in log.channels.items() if name not in names})


def ros_bag(log):
    """The same as robots record it: the pose as Odometry."""
    pose = log["pose"]
    values = np.column_stack([pose.values, np.zeros((len(pose.values), 3))])
    return without(log, "pose").having(Channel("odometry", pose.stamps_ns, values, ODOMETRY_COLUMNS))


# --- what it writes ---------------------------------------------------------------------------------------------------


def test_a_bag_becomes_a_twin_and_a_report(slipfit, refused, readings, tmp_path):
    readings.save(tmp_path / "run.mcap")
    result = slipfit("calibrate", "run.mcap", *OUT)
    assert result.code == 0, result.err
    assert "wrote x.twin.yaml" in result.out
    assert (tmp_path / "x.report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    fitted = Twin.load("x.twin.yaml").grounds["calibrated"].parameters["c_long_per_n"]
    assert fitted.value == pytest.approx(0.005, abs=4.0 * fitted.std)
    assert slipfit("simulate", "x.twin.yaml").code == 0
    # Nothing is overwritten unasked, neither the twin nor the report.
    assert "x.twin.yaml" in refused("calibrate", "run.mcap", *OUT)
    assert "x.report.html" in refused(
        "calibrate", "run.mcap", "--robot", "p3at", "-o", "y.twin.yaml", "--report", "x.report.html"
    )


def test_a_bag_with_odometry_needs_only_the_robot(slipfit, readings, tmp_path):
    """JointState of four wheels, Imu and Odometry; --json prints the parameter records of a twin and nothing else."""
    ros_bag(readings).save(tmp_path / "run.mcap")
    before = sorted(tmp_path.iterdir())
    result = slipfit("calibrate", "run.mcap", "--robot", "p3at", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    c_long, c_lat, mu = (document["parameters"][name] for name in ("c_long_per_n", "c_lat_per_n", "mu"))
    assert c_long["status"] == c_lat["status"] == "converged"
    assert c_long["value"] == pytest.approx(0.005, abs=4.0 * c_long["std"])
    assert c_lat["value"] == pytest.approx(0.05, abs=4.0 * c_lat["std"])
    assert c_long["interval_90"][0] < c_long["value"] < c_long["interval_90"][1]
    assert mu["value"] is None
    assert mu["status"] == "not_excited"
    assert mu["at_least"] > 0.2
    assert document["grounds"]["calibrated"]["parameters"] == document["parameters"]
    assert document["provenance"]["logs"][0]["name"] == "run.mcap"
    assert sorted(tmp_path.iterdir()) == before


def test_a_drive_without_a_spin_tells_no_c_lat(slipfit, tmp_path):
    straight = drive(sensors=GOOD, commands=[{"for_s": 1.5, "v_mps": 0.0}, *steps()]).readings
    straight.save(tmp_path / "straight.mcap")
    result = slipfit("calibrate", "straight.mcap", "--robot", "p3at", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["parameters"]["c_lat_per_n"]["status"] in ("not_excited", "bound_only")
    assert document["parameters"]["c_lat_per_n"]["value"] is None
    assert any("c_lat" in sentence for sentence in document["identifiability"])
    assert any("spin" in sentence for sentence in document["advice"])


def test_values_and_stamps_that_cannot_be_are_left_out_and_told(slipfit, readings, tmp_path):
    """NaN and infinite readings, and rows of the IMU that come in the wrong order."""
    imu, pose = readings["imu"], readings["pose"]
    bad = imu.values.copy()
    bad[500:505], bad[900] = np.nan, np.inf
    order = np.arange(len(imu.stamps_ns))
    order[[1200, 1201]] = order[[1201, 1200]]
    poses = pose.values.copy()
    poses[200] = np.nan
    log = readings.having(
        replace(imu, stamps_ns=imu.stamps_ns[order], values=bad[order]),
        replace(pose, values=poses),
    )
    log.save(tmp_path / "drive")
    result = slipfit("calibrate", "drive", "--robot", "p3at", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    c_long = document["parameters"]["c_long_per_n"]
    assert c_long["value"] == pytest.approx(0.005, abs=4.0 * c_long["std"])
    told = "; ".join(document["provenance"]["corrected"])
    assert "6 rows of imu that are not finite" in told
    assert "1 rows of pose that are not finite" in told
    assert "order of imu" in told


# --- what it refuses: one sentence, exit 2, no file left --------------------------------------------------------------


def test_a_truncated_bag_is_refused(refused, readings, tmp_path):
    readings.save(tmp_path / "run.mcap")
    whole = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "run.mcap").write_bytes(whole[: len(whole) // 2])
    assert "run.mcap" in refused("calibrate", "run.mcap", *OUT)


def test_a_corrupted_bag_is_refused(refused, readings, tmp_path):
    readings.save(tmp_path / "run.bag")
    data = bytearray((tmp_path / "run.bag").read_bytes())
    middle = len(data) // 2
    data[middle : middle + 5000] = bytes(5000)
    data[-3000:] = bytes(3000)
    (tmp_path / "run.bag").write_bytes(bytes(data))
    assert "run.bag" in refused("calibrate", "run.bag", *OUT)


def test_an_empty_file_is_refused(refused, tmp_path):
    (tmp_path / "run.mcap").touch()
    line = refused("calibrate", "run.mcap", *OUT)
    assert "run.mcap: the file is empty" in line
    assert "record" in line


def test_unknown_messages_alone_are_refused(refused, tmp_path):
    store = get_typestore(Stores.ROS2_HUMBLE)
    message = store.types["std_msgs/msg/String"]("hello")
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/chatter", "std_msgs/msg/String", typestore=store)
        for k in range(20):
            writer.write(connection, 10**9 + k, store.serialize_cdr(message, "std_msgs/msg/String"))
    line = refused("calibrate", "bag", *OUT)
    assert "bag" in line
    assert "/chatter" in line


@pytest.mark.parametrize(
    ("missing", "said", "remedy"),
    [(("imu", "pose"), "neither IMU nor pose", "record"), (("encoders",), "no encoders", "record JointState")],
)
def test_missing_topics_are_named(refused, readings, tmp_path, missing, said, remedy):
    without(readings, *missing).save(tmp_path / "run.mcap")
    line = refused("calibrate", "run.mcap", *OUT)
    assert "run.mcap" in line
    assert said in line
    assert remedy in line


def test_a_standing_robot_is_refused(refused, tmp_path):
    drive(sensors=GOOD, commands=[{"for_s": 8.0, "v_mps": 0.0}]).readings.save(tmp_path / "run.mcap")
    line = refused("calibrate", "run.mcap", *OUT)
    assert "run.mcap: encoders: " in line
    assert "stands" in line
    assert "drive it" in line


def test_a_channel_of_nothing_but_nan_counts_as_missing(refused, readings, tmp_path):
    imu = readings["imu"]
    log = without(readings, "pose").having(replace(imu, values=np.full_like(imu.values, np.nan)))
    log.save(tmp_path / "drive")
    assert "drive" in refused("calibrate", "drive", *OUT)


def test_a_steered_robot_is_refused(refused, tmp_path):
    """Ackermann: each wheel rolls at the speed of its place, hypot(v - omega y, omega x), so front wheels outrun rear ones."""
    time_s = 0.01 * np.arange(3001)
    speed, rate, radius = 0.8, 0.9 * np.sin(0.5 * time_s), 0.11
    places = [(0.25, 0.201), (0.25, -0.201), (0.0, 0.201), (0.0, -0.201)]
    wheel_speeds = np.column_stack([np.hypot(speed - rate * y, rate * x) for x, y in places]) / radius
    angles = np.cumsum(wheel_speeds, axis=0) * 0.01
    stamps = np.round(time_s * 1e9).astype(np.int64)
    noise = np.random.default_rng(0).normal(0.0, 0.02, (len(time_s), 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    felt = np.column_stack([np.zeros_like(rate), speed * rate, np.full_like(rate, 9.81), 0 * rate, 0 * rate, rate]) + noise
    encoders = Channel("encoders", stamps, angles, wheel_columns("angle", 4))
    log = DriveLog({"encoders": encoders, "imu": Channel("imu", stamps, felt, IMU_COLUMNS)})
    log.save(tmp_path / "car.mcap")
    line = refused("calibrate", "car.mcap", *OUT)
    assert "car.mcap: encoders: " in line
    assert "steered" in line


def test_bad_questions_are_refused(refused, readings, tmp_path):
    assert "no such file" in refused("calibrate", "nothing.mcap", *OUT)
    readings.save(tmp_path / "run.mcap")
    assert "p3at" in refused("calibrate", "run.mcap", "--robot", "p3att", "-o", "x.twin.yaml")
    assert ".yaml" in refused("calibrate", "run.mcap", "--robot", "p3at", "-o", "x.sdf")
    assert "wheel_slip" in refused("calibrate", "run.mcap", *OUT, "--law", "magic")


# --- intervals from draws ---------------------------------------------------------------------------------------------


def test_posterior_by_emcee(slipfit, readings, tmp_path, monkeypatch):
    """A chain cut after eight steps: the option arrives, and that so few draws are too few is said."""
    monkeypatch.setattr(posterior, "MOST_STEPS", 8)
    readings.save(tmp_path / "run.mcap")
    result = slipfit("calibrate", "run.mcap", *OUT, "--posterior", "emcee", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["drives"][0]["posterior"]["steps"] == 8
    assert any("chain is too short" in note for note in document["provenance"]["notes"])
    c_long = document["parameters"]["c_long_per_n"]
    assert c_long["std"] == document["drives"][0]["posterior"]["unknowns"]["c_long_per_n"]["std"]
    assert "<!doctype html" in (tmp_path / "x.report.html").read_text(encoding="utf-8").lower()[:100]


def test_posteriors_that_cannot_be_had_are_refused(refused, readings, tmp_path, monkeypatch):
    readings.save(tmp_path / "run.mcap")
    assert "takes one log" in refused("calibrate", "run.mcap", "run.mcap", *OUT, "--posterior", "emcee")
    assert "known are emcee, gauss" in refused("calibrate", "run.mcap", *OUT, "--posterior", "nuts")
    monkeypatch.setitem(sys.modules, "emcee", None)
    assert "pip install 'slipfit[posterior]'" in refused("calibrate", "run.mcap", *OUT, "--posterior", "emcee")
