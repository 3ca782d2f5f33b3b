"""The powertrain of a twin: what a file may say, and that it comes back as written."""

import pytest

from slipfit.errors import ParameterError
from slipfit.twin import FittedParameter, FittedPowertrain, Side, Status, Twin
from unit.twin.twins import example, mapping


def found(value, **more):
    return {"value": value, "status": "converged", "source": "table 1", **more}


def powertrain():
    return {
        "setpoint_limits": [-126, 127],
        "counts_per_turn": found(44000.0, std=110.0, interval_90=[43800.0, 44200.0]),
        "effective_track_m": found(0.7968),
        "left": {"metres_per_count": found(2.17e-5), "setpoint_per_radps": found(12.47), "lag_s": found(0.1)},
        "right": {"dead_band_setpoint": found(2.0), "saturation_radps": found(10.1), "delay_s": found(0.04)},
    }


def test_comes_back_as_written(tmp_path):
    twin = Twin.from_mapping({**mapping(), "powertrain": powertrain()}, where="twin")
    twin.save(tmp_path / "t.yaml")
    assert Twin.load(tmp_path / "t.yaml") == twin
    assert twin.powertrain.left.value("lag_s", 0.0) == 0.1
    assert twin.powertrain.right.value("lag_s", 0.25) == 0.25


def test_summary_names_every_constant():
    text = Twin.from_mapping({**mapping(), "powertrain": powertrain()}, where="twin").summary()
    for name in ("counts_per_turn", "left.metres_per_count", "right.dead_band_setpoint", "units of the controller"):
        assert name in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts_per_turn": found(-1.0)}, ["counts_per_turn", "-1", "above zero"]),
        ({"setpoint_limits": [127, -126]}, ["setpoint_limits", "127"]),
        ({"left": {"lag_s": found(-0.1)}}, ["lag_s", "-0.1"]),
        ({"left": {"lag": found(0.1)}}, ["lag", "did you mean 'lag_s'"]),
        ({"setpoint_unit": "rpm"}, ["setpoint_unit", "rpm"]),
    ],
)
def test_what_cannot_be_is_a_sentence(change, words):
    with pytest.raises(ParameterError) as caught:
        Twin.from_mapping({**mapping(), "powertrain": {**powertrain(), **change}}, where="twin")
    assert all(word in str(caught.value) for word in words)


def test_newer_constants_take_the_place_of_older_ones():
    old = FittedPowertrain.model_validate(powertrain())
    newer = FittedParameter(value=0.2, status=Status.CONVERGED, source="log")
    twin = example().with_powertrain(old).with_powertrain(FittedPowertrain(left=Side(lag_s=newer)), note="speed loop")
    assert twin.powertrain.left.lag_s == newer
    assert twin.powertrain.left.metres_per_count == old.left.metres_per_count
    assert twin.powertrain.counts_per_turn == old.counts_per_turn
    assert "speed loop" in twin.provenance.notes


def test_constants_of_another_setpoint_unit_do_not_mix():
    old = FittedPowertrain.model_validate(powertrain())
    newer = FittedPowertrain.model_validate(
        {"setpoint_unit": "radps", "setpoint_limits": [-20, 20], "left": {"setpoint_per_radps": found(1.02)}}
    )
    both = old.merged(newer)
    assert both.setpoint_unit == "radps"
    assert both.left.setpoint_per_radps == newer.left.setpoint_per_radps
    assert both.right.dead_band_setpoint is None
    assert (both.left.metres_per_count, both.right.delay_s) == (old.left.metres_per_count, old.right.delay_s)
