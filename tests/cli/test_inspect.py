"""slipfit inspect, as a user runs it."""

import json

import pytest


@pytest.fixture
def drive(slipfit):
    assert slipfit("simulate", "p3at", "--readings", "drive").code == 0
    return "drive"


def test_a_good_log_passes(slipfit, drive):
    result = slipfit("inspect", drive, "--robot", "p3at")
    assert result.code == 0
    assert "100 Hz" in result.out
    assert "error" not in result.out


def test_json_is_one_document(slipfit, drive):
    document = json.loads(slipfit("inspect", drive, "--robot", "p3at", "--json").out)
    assert document["channels"]["imu"]["samples"] == 1801
    assert document["worst"] == "info"
    assert {"severity", "channel", "kind", "found", "remedy", "is_corrected"} <= set(document["findings"][0])


def test_a_log_without_encoders_is_a_no(slipfit, drive, tmp_path):
    (tmp_path / "drive" / "encoders.csv").unlink()
    result = slipfit("inspect", drive, "--robot", "p3at")
    assert result.code == 1
    assert "fatal" in result.out
    assert "no encoders" in result.out


def test_a_picture_is_drawn_once(slipfit, drive, tmp_path):
    assert slipfit("inspect", drive, "--robot", "p3at", "--plot", "a.png").code == 0
    assert (tmp_path / "a.png").stat().st_size > 20_000
    assert slipfit("inspect", drive, "--robot", "p3at", "--plot", "a.png").code == 2


def test_bad_questions_are_refused(refused):
    assert "no such file" in refused("inspect", "nothing.mcap", "--robot", "p3at")
    assert "expected channel=topic" in refused("inspect", "nothing.mcap", "--robot", "p3at", "--topic", "pose")
