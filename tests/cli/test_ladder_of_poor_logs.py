"""slipfit compare, attribute and floors on logs that pause, lack a pose or end early: sentences, and no number that is none."""

import json

import numpy as np
import pytest

from slipfit.logs import Channel
from unit.calibration.ladder.logged_drives import logged_drive


@pytest.fixture(scope="module")
def log():
    return logged_drive(seconds=50)


def without_pose(log):
    """As a localisation that never started writes it: x is NaN."""
    values = log["pose"].values.copy()
    values[:, 0] = np.nan
    return log.having(Channel("pose", log["pose"].stamps_ns, values, log["pose"].columns))


def test_a_log_without_poses_is_compared_by_its_gyro(slipfit, log, tmp_path):
    wheels = log["encoders"]
    kept = (wheels.time_s < 20.0) | (wheels.time_s > 23.0)
    pausing = log.having(Channel("encoders", wheels.stamps_ns[kept], wheels.values[kept], wheels.columns))
    without_pose(pausing).save(tmp_path / "drive")
    result = slipfit("compare", "drive", "--robot", "husky", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert "NaN" not in result.out  # which JSON does not have
    notes = " ".join(document["notes"])
    assert "encoders silent for 3" in notes
    assert "fewer than three poses with x, y and yaw" in document["truth"]["why"]
    assert document["rungs"][0]["place_median_m"] is None


def test_floors_are_compared_by_gyros(slipfit, log, tmp_path):
    without_pose(log).save(tmp_path / "drive")
    result = slipfit("floors", "drive", "drive", "--robot", "husky")
    assert result.code == 0, result.err
    assert "nan" not in result.out
    assert "rad with its own numbers" in result.out


def test_a_dead_side_is_refused(refused, log, tmp_path):
    wheels = log["encoders"]
    log.having(Channel("encoders", wheels.stamps_ns, wheels.values * [1.0, 0.0], wheels.columns)).save(tmp_path / "drive")
    said = refused("compare", "drive", "--robot", "husky")
    assert "one side disconnected" in said
    assert "look after the encoder of the right side" in said


def test_a_horizon_longer_than_the_segments_is_refused(refused, tmp_path):
    logged_drive(seconds=30, segments=True).save(tmp_path / "drive")
    assert "sooner than the horizon of 20 s ends" in refused("compare", "drive", "--robot", "husky", "--horizon", "20")
