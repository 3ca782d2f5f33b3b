"""A scenario whose steps are too long: what is printed, and what the JSON document holds."""

import json

import pytest

from slipfit.simulation import Scenario

NOTE = "step_s = 0.1 s is longer than the 2 ms up to which drives are accurate: each step was computed in 50 steps of 2 ms"


@pytest.fixture
def arc(slipfit):
    """A drive that a P3AT cannot turn on dry asphalt (docs/theory/stepping)."""
    commands = [{"for_s": 5.0, "v_mps": 1.0, "yaw_rate_radps": 1.0}]
    Scenario(commands=commands, step_s=0.1, record_s=0.1).save("arc.yaml")
    return "arc.yaml"


def test_the_note_is_printed(slipfit, arc):
    assert f"  note     {NOTE}" in slipfit("simulate", "p3at", "--scenario", arc, "--ground", "dry_asphalt").out.splitlines()


def test_the_note_is_in_the_document_and_the_drive_is_that_of_short_steps(slipfit, arc):
    result = slipfit("simulate", "p3at", "--scenario", arc, "--ground", "dry_asphalt", "--json")
    document = json.loads(result.out)
    assert document["notes"] == [NOTE]
    assert abs(document["end"]["heading_rad"]) < 0.002


def test_a_drive_of_too_many_short_steps_is_one_sentence(refused):
    Scenario(commands=[{"for_s": 50_000.0, "v_mps": 0.1}], step_s=0.1, record_s=1.0).save("long.yaml")
    said = refused("simulate", "p3at", "--scenario", "long.yaml")
    assert "step_s = 0.1 s is computed in steps of 2 ms, and the drive lasts 50000 s, more than 20,000,000 of them" in said
