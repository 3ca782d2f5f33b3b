"""Setpoints of document 001 from its constants, and back."""

import math

import pytest

from controllers import EFFECTIVE_TRACK_M, K2, TYRE_M, controlled_twin, powertrain
from known_twins import known_twin
from robots import six_wheeled
from slipfit.control import Mode, Scale, SideScale
from slipfit.control.setpoints import effective_track, geometric_track_m
from slipfit.errors import ParameterError
from slipfit.library import find_robot


@pytest.fixture
def scale():
    return Scale.of(controlled_twin())


@pytest.mark.parametrize(("v", "rate", "ch1", "ch2"), [(0.1, 0.1, 8.158, 3.25), (0.3, 0.3, 24.474, 9.75)])
def test_setpoints_of_the_document(scale, v, rate, ch1, ch2):
    """SPEC 2(b): V = .1 gives 8.158, omega = .1 gives 3.25; .3 gives 24.474 and 9.75."""
    assert scale.channels(v, rate) == pytest.approx((ch1, ch2), abs=1e-3)


def test_half_the_effective_track(scale):
    """SPEC 2(b): (T^2 + B^2) / (2 T) = 0.39839 m for 32.5."""
    assert 0.5 * scale.effective_track_m == pytest.approx(0.39839, abs=1e-5)


def test_full_scale_speed(scale):
    """Erratum 2: 127 means 1.557 m/s by k2 (rounded), 1.537 m/s by Table 1 (96.58 rpm): 1.2 % too little."""
    assert scale.fastest_mps == pytest.approx(1.557, abs=1e-3)
    by_table = math.pi * TYRE_M * 96.583 / 60.0
    assert by_table == pytest.approx(1.537, abs=1e-3)
    assert scale.fastest_mps / by_table - 1.0 == pytest.approx(0.0126, abs=5e-4)


def test_speed_is_per_second(scale):
    """Erratum 8: eq. (1) needs V in distance per minute; taken per second it gives a sixtieth, 8.158 / 60 = .136."""
    k = K2 * math.pi / 60.0
    printed = 0.1 / (math.pi * TYRE_M) * k
    assert printed == pytest.approx(8.158 / 60.0, abs=1e-4)
    assert scale.channels(0.1, 0.0)[0] == pytest.approx(60.0 * printed)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(("v", "rate"), [(0.3, 0.15), (-0.2, 0.7), (0.0, -1.0), (1.0, 0.0)])
def test_velocities_come_back(mode, v, rate):
    """Gains that differ by 3 % between the sides included."""
    scale = Scale.of(controlled_twin(right_gain=1.03))
    assert scale.velocity(*scale.channels(v, rate, mode), mode) == pytest.approx((v, rate), abs=1e-12)


def test_sides_keep_their_own_gains():
    """SPEC 2: a difference is never averaged away. 1 m/s straight needs 81.579 on the left, 3 % more on the right."""
    left, right = Scale.of(controlled_twin(right_gain=1.03)).setpoints(1.0, 0.0)
    assert (left, right / left) == pytest.approx((K2 / TYRE_M, 1.03))


def test_wheel_speeds_of_channels(scale):
    """Document 001: rim speed = setpoint d / k2; 24.8 of both sides is d m/s, 2 rad/s of a wheel of radius d / 2."""
    assert scale.wheels_radps(24.8, 0.0) == pytest.approx((2.0, 2.0))


def test_dead_band_turns_nothing():
    scale = Scale.of(controlled_twin(dead_band=4.0))
    assert scale.velocity(3, 0) == (0.0, 0.0)
    assert scale.velocity(5, 0)[0] == pytest.approx(5 * TYRE_M / K2)


def test_problem_names_the_side():
    scale = Scale.of(controlled_twin())
    assert "the right setpoint would be 138.6; the controller takes -126 to 127" in scale.problem(1.5, 0.5)
    assert scale.problem(1.55, 0.0) == ""
    slow = SideScale(80.0, 0.152, fastest_mps=1.0)
    assert "they reach 1 m/s" in Scale(slow, slow, 0.8).problem(1.2, 0.0)


def test_track_from_geometry():
    """SPEC 2(b): T = .50, B = .38 gives 32.175 with k2 and d of the document."""
    geometric = geometric_track_m(find_robot("atrv_jr"))
    assert geometric == pytest.approx((0.5**2 + 0.38**2) / 0.5)
    assert 0.5 * geometric * K2 / TYRE_M == pytest.approx(32.175, abs=1e-3)


def test_track_from_slip_constants():
    """SPEC 0: with c_lat = c_long the spin of document 000 has the track of document 001, to 1e-12."""
    twin = known_twin("atrv_jr", 0.005, 0.005)
    track, source = effective_track(twin)
    assert track == pytest.approx(geometric_track_m(twin.robot), rel=1e-12)
    assert "c_lat / c_long" in source
    ten, _ = effective_track(known_twin())
    assert 0.402 / ten == pytest.approx(0.962765, abs=1e-6)  # SPEC 1: the P3AT's spin at a ratio of 10


def test_track_of_six_wheels():
    """Derived: the mean square of the axles stands for (B / 2)^2; .25, 0 and -.25 m."""
    assert geometric_track_m(six_wheeled()) == pytest.approx(0.402 + 4.0 * (2.0 * 0.25**2 / 3.0) / 0.402)


def test_a_fitted_track_goes_first():
    track, source = effective_track(controlled_twin())
    assert track == EFFECTIVE_TRACK_M
    assert source.startswith("powertrain.effective_track_m")


def test_missing_constants_are_named():
    with pytest.raises(ParameterError, match="has no powertrain; find its odometer and speed constants"):
        Scale.of(known_twin())
    half = powertrain()
    half = half.model_copy(update={"right": half.right.model_copy(update={"setpoint_per_radps": None})})
    with pytest.raises(ParameterError, match=r"no powertrain\.right\.setpoint_per_radps"):
        Scale.of(known_twin().with_powertrain(half))
    other = powertrain().model_copy(update={"setpoint_unit": "radps"})
    with pytest.raises(ParameterError, match="setpoints in radps; expected units of a controller"):
        Scale.of(known_twin().with_powertrain(other))


@pytest.mark.parametrize(("left", "right"), [(0.4, 0.6), (-0.5, 0.5), (0.3, -0.1)])
def test_velocities_are_those_of_the_kinematic_vehicle(left, right):
    """[Haas2009] once more, as `vehicles.kinematic` has it: omega = (v_r - v_l) T / (T^2 + B^2)."""
    side = SideScale(K2 / TYRE_M, TYRE_M / 2.0)
    scale = Scale(side, side, geometric_track_m(find_robot("atrv_jr")))
    v, rate = scale.velocity(left * K2 / TYRE_M, right * K2 / TYRE_M, Mode.SEPARATE)
    assert v == pytest.approx(0.5 * (left + right))
    assert rate == pytest.approx((right - left) * 0.5 / (0.5**2 + 0.38**2))
