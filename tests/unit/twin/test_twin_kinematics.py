"""Kinematics of a ground: the same bits in the file, and twins without them as before."""

import json

import pytest
from jsonschema import Draft202012Validator

from known_kinematics import kinematics, with_kinematics
from known_twins import known_twin
from slipfit.errors import ParameterError
from slipfit.library.schemas import schema_text
from slipfit.twin import Twin


def test_what_was_saved_is_loaded_to_the_last_bit(tmp_path):
    """1/3 has no short decimal form."""
    twin = with_kinematics(known_twin(), floor=kinematics(multiplier=1.0 / 3.0, ahead_m=1.0 / 3.0))
    twin.save(tmp_path / "a.twin.yaml")
    again = Twin.load(tmp_path / "a.twin.yaml")
    assert again == twin
    assert again.grounds["floor"].kinematics.odometry_noise.ahead_m == 1.0 / 3.0
    assert again.to_yaml() == twin.to_yaml()


def test_a_twin_without_them_says_nothing_of_them():
    assert known_twin().grounds["floor"].kinematics is None
    assert "kinematics" not in known_twin().to_yaml()


def test_the_schema_knows_them():
    check = Draft202012Validator(json.loads(schema_text(Twin)))
    good = with_kinematics(known_twin()).to_mapping()
    assert not list(check.iter_errors(good))
    good["grounds"]["floor"]["kinematics"]["odometry_noise"]["horizon"] = 2.0
    assert list(check.iter_errors(good))


def test_the_summary_tells_them():
    told = with_kinematics(known_twin()).summary()
    assert "the simplest model that predicts as well as the best is icr" in told
    assert "0.2 m ahead, 0.1 m to the left, 0.06 rad heading after 2 s" in told


def test_the_summary_claims_no_comparison_that_nobody_made():
    """`slipfit estimate` finds track and gain from one drive, without other models and their errors."""
    alone = {**kinematics(), "rung": "track and gain", "numbers": {}, "odometry_noise": None}
    told = with_kinematics(known_twin(), floor=alone).summary()
    assert "kinematics: track and gain\n" in told
    assert "as well as the best" not in told


def test_a_payload_leaves_them():
    """c N stays under a payload, and with it how the robot turns."""
    twin = with_kinematics(known_twin())
    assert twin.with_payload(5.0).grounds["floor"].kinematics == twin.grounds["floor"].kinematics


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"track_m": 0.0}, "track_m"),
        ({"gain": {"value": -1.0, "status": "converged", "source": "x"}}, "gain is -1; expected above zero"),
        ({"effective_track": 1.0}, "did you mean 'effective_track_m'"),
        ({"odometry_noise": {"horizon_s": 2.0, "windows": 3, "ahead_m": -0.1}}, "ahead_m"),
    ],
)
def test_nonsense_is_refused(change, said):
    with pytest.raises(ParameterError, match=r"kinematics") as error:
        with_kinematics(known_twin(), floor={**kinematics(), **change})
    assert said in str(error.value)


def test_a_negative_alpha_is_refused():
    entry = kinematics()
    entry["odometry_noise"]["amcl"]["alpha3"] = {"value": -0.1, "status": "converged", "source": "x"}
    with pytest.raises(ParameterError, match=r"alpha3 is -0\.1; expected not below zero"):
        with_kinematics(known_twin(), floor=entry)
