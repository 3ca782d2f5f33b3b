"""slipfit omni, as a user types it."""

import json

import numpy as np
import pytest

from unit.calibration.omni.made_up_runs import line, log_of


@pytest.fixture
def lines(tmp_path):
    """Folders of CSV files: lines in twelve directions that lose a fifth of their way."""
    folders = []
    for k, a in enumerate(np.radians(np.arange(0.0, 360.0, 30.0))):
        folders.append(tmp_path / f"run_{k:02d}")
        log_of(line(a, 0.8, 0.01, 0.05)).save_csv(folders[-1])
    return folders


def test_calibrate_tells_saves_and_draws(slipfit, lines, tmp_path):
    done = slipfit(
        "omni",
        "calibrate",
        *lines,
        "--truth",
        "pose",
        "--robot",
        "robotino",
        "--hold-out",
        3,
        "-o",
        "felt.json",
        "--plot",
        "felt.png",
    )
    assert done.code == 0, done.err
    assert "slip map" in done.out
    assert "not fitted" in done.out
    assert (tmp_path / "felt.png").stat().st_size > 10_000
    saved = json.loads((tmp_path / "felt.json").read_text())
    assert saved["slip_factor"] == pytest.approx(0.8, abs=0.01)
    assert len(saved["judged_on"]) == 4
    again = slipfit("omni", "calibrate", *lines, "--truth", "pose", "--robot", "robotino", "--json")
    document = json.loads(again.out)
    assert document["scores"][-1]["percent"] < 0.5
    assert document["is_held_out"] is False


def test_calibrate_refuses_in_a_sentence(refused, lines, tmp_path):
    assert "skid" in refused("omni", "calibrate", *lines, "--robot", "p3at")
    assert "--hold-out 1" in refused("omni", "calibrate", *lines, "--truth", "pose", "--robot", "robotino", "--hold-out", 1)
    assert "expected 4 or more" in refused("omni", "calibrate", *lines[:3], "--truth", "pose", "--robot", "robotino")
    assert ".json" in refused("omni", "calibrate", *lines, "--truth", "pose", "--robot", "robotino", "-o", "felt.yaml")


def test_units_that_no_slip_explains_are_refused(refused, lines):
    """Wheel angles sixteen times too large, as without the gear."""
    for folder in lines:
        path = folder / "encoders.csv"
        rows = path.read_text().splitlines()
        scaled = [",".join([row.split(",")[0], *(f"{16.0 * float(v):.9g}" for v in row.split(",")[1:])]) for row in rows[1:]]
        path.write_text("\n".join([rows[0], *scaled]) + "\n")
    said = refused("omni", "calibrate", *lines, "--truth", "pose", "--robot", "robotino")
    assert "0.05 times as far as the wheels of robotino roll" in said
    assert "check gear, counts per turn" in said


def test_tilt(slipfit, refused):
    """tan(14.5 degrees) is 0.2586."""
    done = slipfit("omni", "tilt", "--mu-w-deg", 14.4, "--mu-w-deg", 14.6, "--surface", "paper", "--json")
    document = json.loads(done.out)
    assert document["parameters"]["mu_w"]["value"] == pytest.approx(0.2586, abs=1e-4)
    assert document["missing"] == ["mu_t", "mu_w_rigid", "mu_t_rigid"]
    assert "no readings" in refused("omni", "tilt")


def test_motor_refuses_logs_without_currents(refused, lines):
    assert "currents of their motors" in refused("omni", "motor", lines[0])
