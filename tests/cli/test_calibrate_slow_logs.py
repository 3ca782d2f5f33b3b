"""slipfit calibrate with wheel speeds that come too seldom for the joint fit: options are used, or refused with a sentence."""

import json

import pytest

from slipfit.calibration import ladder
from slipfit.twin import Twin
from unit.calibration.ladder.logged_drives import logged_drive


@pytest.fixture(scope="module")
def slow():
    return logged_drive(seconds=40)


@pytest.fixture
def saved(slow, tmp_path):
    slow.save(tmp_path / "slow")
    return "slow"


@pytest.mark.parametrize(
    "option",
    [
        ("--law", "wheel_slip_cone"),
        ("--gravity-mps2", "1.62"),
        ("--gyro-scale-std", "0.01"),
        ("--posterior", "emcee"),
        ("--report", "page.html"),
    ],
)
def test_options_of_the_joint_fit_are_refused(refused, saved, option):
    if option[1] == "emcee":
        pytest.importorskip("emcee")
    said = refused("calibrate", saved, "--robot", "husky", *option)
    assert "come 5 times a second, too seldom for accelerations, which the joint fit needs" in said
    assert f"have no use for {' '.join(option)}: leave it out" in said


def test_several_slow_logs_are_refused(refused, saved):
    said = refused("calibrate", saved, saved, "--robot", "husky")
    assert "expected accelerations, and speeds 15 times a second, in each of several logs" in said
    assert "slipfit compare" in said


def test_counts_per_turn_are_passed_on(slipfit, saved, monkeypatch):
    """What the ladder is called with; the ladder itself is tested elsewhere."""
    told = {}

    def listening(*_, **named):
        told.update(named)
        raise KeyboardInterrupt

    monkeypatch.setattr(ladder, "compare", listening)
    slipfit("calibrate", saved, "--robot", "husky", "--counts-per-turn", "4096")
    assert told["counts_per_turn"] == 4096


def test_a_slow_log_becomes_a_twin_and_a_figure(slipfit, saved, tmp_path):
    result = slipfit("calibrate", saved, "--robot", "husky", "-o", "x.twin.yaml", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert "a figure stands in for the report" in document["note"]
    assert (tmp_path / "x.report.png").exists()
    assert not (tmp_path / "x.report.html").exists()
    assert Twin.load("x.twin.yaml").grounds["calibrated"].kinematics is not None


def test_a_gyro_alone_is_an_imu_too(slipfit, tmp_path):
    """Speeds often enough, but no accelerometer: the ladder needs none."""
    logged_drive(seconds=40, wheels_hz=20.0).save(tmp_path / "quick")
    result = slipfit("calibrate", "quick", "--robot", "husky", "-o", "husky.twin.yaml", "--no-report")
    assert result.code == 0, result.err
    assert "the IMU tells no accelerations: models from speeds to motion are compared instead" in result.out
    assert Twin.load(tmp_path / "husky.twin.yaml").robot.name == "husky"
