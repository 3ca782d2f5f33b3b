"""One drive in two CSV files, IMU and wheels: calibrated and inspected as one; what does not belong together is told."""

import json
import re

import numpy as np
import pytest

from recovery.drives import GOOD_IMU, STEPS_AND_SPINS, drive

IMU_MAP = """schema: slipfit/columns/1
time: {column: time, unit: ms}
acceleration: {x: ax, y: ay, z: az}
gyro: {z: wz}
"""
WHEEL_MAP = """schema: slipfit/columns/1
time: {column: t, unit: s}
wheel_angles: {columns: [fl, fr, rl, rr]}
"""
MAPS = ("--columns", "imu.yaml", "--columns", "wheels.yaml")
BOTH = ("imu.csv", "wheels.csv")


def write(path, header, stamps, values):
    rows = [",".join(map(repr, row)) for row in np.column_stack([stamps, values]).tolist()]
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture(scope="module")
def readings():
    """23 s of a P3AT with c_long = .005, c_lat = .05: wheel angles and IMU."""
    return drive(sensors=GOOD_IMU, commands=STEPS_AND_SPINS).readings


@pytest.fixture
def two_files(readings, tmp_path):
    imu, wheels = readings["imu"], readings["encoders"]
    write(tmp_path / "imu.csv", "time,ax,ay,az,wx,wy,wz", imu.stamps_ns / 1e6, imu.values)
    write(tmp_path / "wheels.csv", "t,fl,fr,rl,rr", wheels.stamps_ns / 1e9, wheels.values)
    (tmp_path / "imu.yaml").write_text(IMU_MAP)
    (tmp_path / "wheels.yaml").write_text(WHEEL_MAP)
    return tmp_path


def test_two_files_calibrate_as_one_drive(slipfit, two_files):
    result = slipfit("calibrate", *BOTH, "--same-drive", *MAPS, "--robot", "p3at", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["parameters"]["c_long_per_n"]
    assert found["value"] == pytest.approx(0.005, abs=4.0 * found["std"])


def test_two_files_are_inspected_as_one_drive(slipfit, two_files):
    result = slipfit("inspect", *BOTH, "--same-drive", *MAPS, "--robot", "p3at", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["source"] == "imu.csv + wheels.csv"
    assert set(document["channels"]) == {"imu", "encoders"}


def test_maps_follow_the_order_of_the_files(slipfit, two_files):
    turned = ("--columns", "wheels.yaml", "--columns", "imu.yaml")
    assert slipfit("inspect", "wheels.csv", "imu.csv", "--same-drive", *turned, "--robot", "p3at").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", *BOTH, *MAPS), "add --same-drive"),
        (("calibrate", *BOTH, *MAPS), "neither IMU nor pose|no encoders"),
        (("calibrate", *BOTH, "--same-drive", *MAPS, "--columns", "imu.yaml"), "--columns is given 3 times for 2 CSV files"),
        (
            ("calibrate", *BOTH, "--same-drive", "--columns", "imu.yaml"),
            "wheels.csv: there is no column 'time', which the column",
        ),
        (("calibrate", *BOTH, "--same-drive"), "imu.csv: what its columns mean is not known; give a column map: --columns"),
    ],
    ids=["no flag", "two drives", "too many maps", "one map for all", "no map"],
)
def test_what_is_not_clear_is_asked_for(refused, two_files, arguments, said):
    assert re.search(said, refused(*arguments, "--robot", "p3at"))


def test_files_without_a_common_moment_are_refused(refused, two_files):
    (two_files / "imu.csv").write_text(
        "time,ax,ay,az,wx,wy,wz\n" + "".join(f"{1e6 + 10 * k},0,0,9.8,0,0,0\n" for k in range(100))
    )
    said = refused("calibrate", *BOTH, "--same-drive", *MAPS, "--robot", "p3at")
    assert "no moment in common" in said
    assert "check the unit" in said
