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


@pytest.mark.parametrize("silent", [{"status": "not_excited"}, {"status": "bound_only", "at_most": 0.5}])
def test_an_entry_without_a_value_does_not_replace_one_that_has_it(silent):
    old = FittedPowertrain.model_validate(powertrain())
    nothing = FittedParameter(source="log", **silent)
    both = old.merged(
        FittedPowertrain(
            effective_track_m=nothing, left=Side(lag_s=nothing, delay_s=nothing), right=Side(dead_band_setpoint=nothing)
        )
    )
    assert both.effective_track_m == old.effective_track_m
    assert both.left.lag_s == old.left.lag_s
    assert both.left.delay_s == nothing  # nothing was known before
    assert both.right.dead_band_setpoint == old.right.dead_band_setpoint


def test_lags_of_two_calibrations_do_not_add_up():
    old = FittedPowertrain.model_validate({"left": {"lag_s": found(0.1), "second_lag_s": found(0.05)}})
    both = old.merged(FittedPowertrain.model_validate({"left": {"lag_s": found(0.14)}}))
    assert (both.left.value("lag_s", 0.0), both.left.value("second_lag_s", 0.0)) == (0.14, 0.0)


def test_a_side_counts_by_itself_and_the_newer_count_stands():
    common = FittedPowertrain.model_validate({"counts_per_turn": found(44000.0)})
    own = FittedPowertrain.model_validate(
        {"left": {"counts_per_turn": found(100.0)}, "right": {"counts_per_turn": found(50.0), "metres_per_count": found(0.02)}}
    )
    assert common.turn_counts_both == (44000.0, 44000.0)
    assert common.merged(own).turn_counts_both == (100.0, 50.0)
    assert common.merged(own).counts_per_turn is None
    assert own.merged(common).turn_counts_both == (44000.0, 44000.0)
    assert own.rolling_radius_m("right") == pytest.approx(1.0 / (2.0 * 3.141592653589793))
    assert own.rolling_radius_m("left") is None


@pytest.mark.parametrize("unit", ["controller", "radps"])
def test_one_radius_for_wheels_of_two(unit):
    """A wheel of 0.098 m whose rims run at v turns as one of 0.1 m at v / 0.1: 2 % slower, 2 % more setpoint per rad/s."""
    side = {
        "metres_per_count": found(2.0 * 3.141592653589793 * 0.098 / 1000.0),
        "setpoint_per_radps": found(10.0, std=0.1),
        "dead_band_setpoint": found(2.0),
        "saturation_radps": found(5.0),
    }
    power = FittedPowertrain.model_validate({"setpoint_unit": unit, "counts_per_turn": found(1000.0), "left": side})
    seen = power.rolled_at(0.1)
    is_radps = unit == "radps"
    assert seen.left.saturation_radps.value == pytest.approx(4.9)
    assert seen.left.setpoint_per_radps.value == pytest.approx(10.0 if is_radps else 10.0 / 0.98)
    assert seen.left.dead_band_setpoint.value == pytest.approx(1.96 if is_radps else 2.0)
    assert seen.right == power.right  # nothing is known of its radius
