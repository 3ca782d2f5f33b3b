"""A number that knows its range, its spread and its source, and how files write it."""

import math

import pytest

from slipfit.errors import ParameterError
from slipfit.library.parameter import Between, Parameter, as_float, out_of_range, unit_of


@pytest.mark.parametrize("value", [0.0, 0.4, 1.5])
def test_a_value_within_its_bounds_is_taken(value):
    assert float(Parameter("mu", value, lower_bound=0.0, upper_bound=1.5)) == value


@pytest.mark.parametrize("value", [-0.1, 1.6, math.inf, -math.inf, math.nan])
def test_a_value_outside_its_bounds_is_refused_by_name(value):
    with pytest.raises(ParameterError, match="mu "):
        Parameter("mu", value, lower_bound=0.0, upper_bound=1.5)


def test_a_spread_of_zero_is_exact_and_none_is_unknown():
    assert Parameter("mu", 0.4, std=0.0).std == 0.0
    assert Parameter("mu", 0.4).std is None


@pytest.mark.parametrize("std", [-0.01, math.inf, math.nan])
def test_a_spread_is_finite_and_not_negative(std):
    with pytest.raises(ParameterError, match="std of mu"):
        Parameter("mu", 0.4, std=std)


def test_a_parameter_prints_value_spread_and_source():
    assert str(Parameter("mass_kg", 52.0, "datasheet", std=0.5)) == "mass_kg = 52 ± 0.5 (datasheet)"


def test_a_plain_number_is_an_assumed_value_and_a_record_says_more():
    assert Between(0.0, 100.0).named("mass_kg", 20) == Parameter("mass_kg", 20.0, "assumed", lower_bound=0.0, upper_bound=100.0)
    given = {"value": 20, "std": 0.2, "source": "scale", "note": "with battery"}
    assert Between(0.0, 100.0).named("mass_kg", given) == Parameter("mass_kg", 20.0, "scale", 0.2, "with battery", 0.0, 100.0)


def test_what_a_record_leaves_empty_is_not_given():
    assert Between().named("mass_kg", {"value": 20, "source": "", "std": None, "note": ""}) == Parameter("mass_kg", 20.0)


def test_a_record_goes_back_to_the_file_as_it_came():
    given = {"value": 20.0, "std": 0.2, "source": "scale", "note": "with battery"}
    assert Between().named("mass_kg", given).to_file() == given


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"valu": 3}, "unknown entry 'valu'"),
        ({"value": 3, 1: 2, "a": 3}, "unknown entry '1'"),
        ({"source": "scale"}, "has no value"),
        ({"value": 3, "source": 7}, "source of mass_kg is 7"),
        ({"value": 3, "std": -1}, "std of mass_kg is -1"),
        ({"value": 3, "std": True}, "std of mass_kg is True"),
        (None, "is None"),
        ([3], r"is \[3\]"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        Between(0.0, 100.0).named("mass_kg", given)


@pytest.mark.parametrize(("given", "number"), [(3, 3.0), (0.5, 0.5), ("1e-3", 0.001), ("  2 ", 2.0)])
def test_text_that_is_a_number_is_understood(given, number):
    """YAML 1.1 reads 1e-3 as text, because it has no dot."""
    assert as_float(given, "step_s") == number


@pytest.mark.parametrize("given", [True, False, None, "", "a few", [1.0], {"value": 1}, pytest.param(10**400, id="huge")])
def test_what_is_no_number_is_refused(given):
    with pytest.raises(ValueError, match=r"step_s is .*; expected a number"):
        as_float(given, "step_s")


@pytest.mark.parametrize(
    ("name", "value", "bounds", "hint"),
    [
        ("radius_m", 110.0, (0.01, 2.0), "if you meant millimetres, write 0.11"),
        ("mass_kg", 20_000.0, (0.01, 100.0), "if you meant grams, write 20"),
        ("slope_rad", 10.0, (0.0, 1.57), "if you meant degrees, write 0.174533"),
        ("step_s", 1.0, (1e-6, 0.1), "if you meant milliseconds, write 0.001"),
    ],
)
def test_a_wrong_unit_is_recognised(name, value, bounds, hint):
    """1 mm = 0.001 m, 1 g = 0.001 kg, 1 degree = pi/180, 1 ms = 0.001 s."""
    assert out_of_range(name, value, *bounds).endswith(hint)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.2217, "friction_angle_rad = 1.2217 rad lies outside [0, 1.0472] rad, 70° where 0° to 60° are allowed"),
        (-0.1, "-5.73° where 0° to 60° are allowed"),
        (70.0, "lies outside [0, 1.0472] rad; nor is 70° = 1.2217 rad within 0° to 60°"),
        (28.0, "; if you meant degrees, write 0.488692"),
    ],
)
def test_angles_out_of_range_are_told_in_degrees(value, words):
    """70° = 1.2217 rad, which nobody means as 1.2 degrees; 28° = 0.488692 rad; -0.1 rad = -5.73°."""
    assert out_of_range("friction_angle_rad", value, 0.0, 1.0472).endswith(words)


def test_no_unit_is_suggested_that_would_not_fit_either():
    assert "meant" not in out_of_range("radius_m", -5.0, 0.01, 2.0)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("mass_kg", "kg"), ("mu", ""), ("m", ""), ("c_long_per_n", ""), ("back_emf_v_s_per_rad", ""), ("torque_limit_nm", "nm")],
)
def test_the_unit_is_the_end_of_the_name_unless_it_is_a_quotient(name, unit):
    assert unit_of(name) == unit


def test_units_in_sentences_are_those_of_physics():
    assert "-1 N m lies outside [0, 9] N m" in out_of_range("torque_limit_nm", -1.0, 0.0, 9.0)
