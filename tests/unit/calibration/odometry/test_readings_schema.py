"""The JSON schema of readings, for editors: current, and of the same opinion as the loader."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from slipfit.calibration.odometry import OdometryReadings
from slipfit.errors import ParameterError
from slipfit.library.schemas import schema_path, schema_text

EXAMPLE = yaml.safe_load((Path(__file__).parents[4] / "examples" / "atrv_jr_odometry.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def checker():
    return Draft202012Validator(json.loads(schema_path(OdometryReadings).read_text(encoding="utf-8")))


def test_the_kept_schema_is_current_and_a_schema(checker):
    """`make schemas` writes it anew."""
    assert schema_path(OdometryReadings).read_text(encoding="utf-8") == schema_text(OdometryReadings)
    Draft202012Validator.check_schema(checker.schema)


def test_the_example_fits_and_a_misspelt_key_does_not(checker):
    assert list(checker.iter_errors(EXAMPLE)) == []
    for key in EXAMPLE:
        misspelt = copy.deepcopy(EXAMPLE)
        misspelt[key + "x"] = misspelt.pop(key)
        assert not checker.is_valid(misspelt), key


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tyre_diameter_m", 0.0),
        ("track_m", "wide"),
        ("setpoint_limits", [-126]),
        ("marked_turns.0.counts", -44000),
        ("marked_turns.0.side", "lft"),
        ("timed_counts.0.duration_s", 0),
        ("timed_counts.0.durations", 1.0),
        ("errors.stopwatch_s", -0.1),
        ("schema", "slipfit/robot/1"),
    ],
)
def test_schema_and_loader_refuse_the_same(checker, path, value):
    data = copy.deepcopy(EXAMPLE)
    *folders, key = path.split(".")
    entry = data
    for folder in folders:
        entry = entry[int(folder) if folder.isdigit() else folder]
    entry[key] = value
    assert not checker.is_valid(data)
    with pytest.raises(ParameterError):
        OdometryReadings.from_mapping(data, where="here")
