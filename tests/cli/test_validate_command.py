"""slipfit validate, as a user runs it."""

import json

import pytest

from known_twins import known_twin


@pytest.fixture
def drive(slipfit, tmp_path):
    assert slipfit("simulate", "p3at", "--readings", "drive").code == 0
    known_twin().save(tmp_path / "true.twin.yaml")
    known_twin(c_long=0.05).save(tmp_path / "wrong.twin.yaml")
    return "drive"


def test_a_true_twin_is_a_yes_with_a_picture(slipfit, drive, tmp_path):
    result = slipfit("validate", "true.twin.yaml", drive, "--plot", "errors.png")
    assert result.code == 0
    assert "the twin beats the no-slip model" in result.out
    assert "best is the twin" in result.out
    assert (tmp_path / "errors.png").stat().st_size > 20_000


def test_a_wrong_twin_is_a_no(slipfit, drive):
    """c_lat = c_long turns like equal slip, far worse than no slip on document 000's floor (SPEC 0)."""
    result = slipfit("validate", "wrong.twin.yaml", drive, "--horizons", "2,5")
    assert result.code == 1
    assert "does not beat" in result.out


def test_json_is_one_document(slipfit, drive):
    document = json.loads(slipfit("validate", "true.twin.yaml", drive, "--horizons", "1,2", "--json").out)
    first = document["horizons"][0]
    assert (first["length"], first["unit"]) == (1.0, "s")
    assert set(first["models"]) == {"twin", "ideal", "equal_slip"}
    assert set(first["models"]["twin"]) == {"translation_m", "translation_percent", "heading_deg", "heading_deg_per_m"}
    assert document["winner"] == "twin"
    assert document["beats_no_slip"] is True
    assert document["seen_by_the_fit"] == []


def test_without_a_pose_the_imu_judges(slipfit, drive, tmp_path):
    (tmp_path / "drive" / "pose.csv").unlink()
    result = slipfit("validate", "true.twin.yaml", drive)
    assert result.code == 0
    assert "distances cannot be judged" in result.out


def test_bad_questions_are_refused(refused, drive, tmp_path):
    (tmp_path / "old.png").write_bytes(b"")
    assert "as 1,2,5,10" in refused("validate", "true.twin.yaml", drive, "--horizons", "soon")
    assert "between 0.05 and 3600" in refused("validate", "true.twin.yaml", drive, "--horizons", "0")
    assert "exists already" in refused("validate", "true.twin.yaml", drive, "--plot", "old.png")
    assert "no such file" in refused("validate", "nothing.yaml", drive)
    assert "no such file" in refused("validate", "true.twin.yaml", "nothing.mcap")
    assert "no ground 'ice'" in refused("validate", "true.twin.yaml", drive, "--ground", "ice")
