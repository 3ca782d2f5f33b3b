"""slipfit plan, as a user runs it."""

import json

import pytest


@pytest.fixture
def planned(slipfit):
    result = slipfit("plan", "p3at", "--precision", "5%", "-o", "plan.scenario.yaml", "--csv", "plan.csv")
    assert result.code == 0
    return result


def test_a_plan_says_what_to_drive_and_what_it_tells(planned, tmp_path):
    assert "c_long and c_lat to 5 %" in planned.out
    assert "x speed step" in planned.out
    assert "with an exact mass" in planned.out
    assert "wrote plan.csv" in planned.out
    assert (tmp_path / "plan.csv").read_text().startswith("time_s,v_mps,yaw_rate_radps\n0,0,0\n")


def test_the_scenario_is_driven_and_calibrated(slipfit, planned):
    """What the plan writes is what simulate and calibrate read; the truth is the guess that the plan was made for."""
    assert slipfit("simulate", "p3at", "--scenario", "plan.scenario.yaml", "--readings", "drive").code == 0
    document = json.loads(slipfit("calibrate", "drive", "--robot", "p3at", "--json").out)
    assert document["parameters"]["c_long_per_n"]["value"] == pytest.approx(0.005, rel=0.2)  # four times 5 %


def test_nothing_is_overwritten(refused, planned):
    assert "exists already" in refused("plan", "p3at", "-o", "plan.scenario.yaml")
    assert "exists already" in refused("plan", "p3at", "--csv", "plan.csv")


def test_json_and_a_no(slipfit):
    """What cannot be reached in the time is exit code 1, with the plan that comes nearest."""
    result = slipfit("plan", "p3at", "--precision", "0.1%", "--max-duration-s", "25", "--imu-noise", "0.2", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert not document["is_reached"]
    assert document["duration_s"] <= 25.0
    assert {"guess", "std", "std_without_mass", "scatter", "relative"} == set(document["promises"]["c_long_per_n"])
    assert {m["kind"] for m in document["manoeuvres"]} >= {"speed step"}


def test_bad_questions_are_refused(refused):
    assert "as 6x4" in refused("plan", "p3at", "--floor", "large")
    assert "sides between" in refused("plan", "p3at", "--floor", "6x-4")
    assert "as 3% or 0.03" in refused("plan", "p3at", "--precision", "good")
    assert "expected a share" in refused("plan", "p3at", "--precision", "3")
    assert "--imu-noise = -1" in refused("plan", "p3at", "--imu-noise", "-1")
    assert "did you mean" in refused("plan", "p3att")
    assert "take a larger floor" in refused("plan", "p3at", "--floor", "0.7x0.6")
    assert ".yaml" in refused("plan", "p3at", "-o", "plan.txt")
