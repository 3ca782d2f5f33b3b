"""Tracks with slip, seen from above: SPEC 5(a), errata 1 and 3, table 5(b)."""

import math

import numpy as np
import pytest

from slipfit.errors import SlipfitError
from slipfit.simulation.track_kinematics import (
    lateral_resistance,
    planar_rates,
    track_traction_n,
    turn_on_the_spot,
    turning_moment_nm,
    turning_radius_m,
    yaw_rate_after,
)

SAND = {"cohesion_pa": 1040.0, "friction_angle_rad": math.radians(28), "shear_modulus_m": 0.012}
TRACKS = {"load_n": 311.64, "area_m2": 0.07112, "length_m": 0.508}


@pytest.mark.parametrize(("slip", "thrust"), [(0.05, 140.075), (0.1, 183.874), (0.2, 211.366), (0.4, 225.513), (0.6, 230.231)])
def test_thrust_of_a_track_is_the_specifications(slip, thrust):
    """SPEC 5(b), computed independently: tolerance 1e-3 N."""
    assert track_traction_n(slip, **SAND, **TRACKS) == pytest.approx(thrust, abs=1e-3)


def test_thrust_never_reaches_the_strength():
    """SPEC 5(b): at most A c + W tan phi = 239.667 N."""
    assert track_traction_n(1e6, **SAND, **TRACKS) == pytest.approx(239.667, abs=1e-3)


def test_yaw_rate_agrees_with_the_turning_radius():
    """Erratum 3: r/(2B) as printed contradicts R = V / psi.; r/B agrees."""
    radius, tread, left, right = 0.089, 0.34, 3.0, 5.0
    rates = planar_rates(0.0, left, right, 0.1, 0.2, 0.0, radius_m=radius, tread_m=tread)
    ground = radius * left * 0.9, radius * right * 0.8
    assert rates.x_mps / rates.yaw_rate_radps == pytest.approx(turning_radius_m(*ground, tread))
    printed = radius / (2.0 * tread) * (right * 0.8 - left * 0.9)
    assert rates.x_mps / printed != pytest.approx(turning_radius_m(*ground, tread), rel=0.1)


def test_a_slip_angle_turns_the_velocity_and_not_the_heading():
    """tan a = -y./x. in the body's axes."""
    rates = planar_rates(0.7, 4.0, 4.0, 0.0, 0.0, 0.2, radius_m=0.1, tread_m=0.3)
    c, s = math.cos(0.7), math.sin(0.7)
    along, aside = c * rates.x_mps + s * rates.y_mps, c * rates.y_mps - s * rates.x_mps
    assert -aside / along == pytest.approx(math.tan(0.2))
    assert rates.yaw_rate_radps == 0.0


def test_turning_resistance_holds_and_has_a_sign():
    """M_r = mu W L / 4 = 0.5 x 300 x 0.5 / 4 = 18.75 N m."""
    given = {"mu_lat": 0.5, "load_n": 300.0, "length_m": 0.5}
    assert turning_moment_nm(18.0, 0.0, **given) == 0.0
    assert turning_moment_nm(-20.0, 0.0, **given) == pytest.approx(-1.25)
    assert turning_moment_nm(20.0, 0.1, **given) == pytest.approx(1.25)
    assert turning_moment_nm(20.0, -0.1, **given) == pytest.approx(38.75)


def test_wide_turns_resist_less():
    """At R = B the formula gives mu / 1.075; on the spot not more than mu."""
    assert lateral_resistance(0.6) == pytest.approx(0.6)
    assert lateral_resistance(0.6, 0.34, 0.34) == pytest.approx(0.6 / 1.075)
    assert (np.diff(lateral_resistance(0.6, np.linspace(0.5, 20.0, 40), 0.34)) < 0.0).all()


def test_constants_of_the_radius_are_inputs():
    """mu / (a + b R / B) with a = 1, b = 0.5 at R = 2 B: half of mu. b = 0 leaves it as it is."""
    assert lateral_resistance(0.6, 0.68, 0.34, on_the_spot=1.0, per_radius=0.5) == pytest.approx(0.3)
    assert lateral_resistance(0.6, 5.0, 0.34, on_the_spot=1.0, per_radius=0.0) == pytest.approx(0.6)
    with pytest.raises(SlipfitError, match="on_the_spot = 0"):
        lateral_resistance(0.6, on_the_spot=0.0)


RESISTS = {"mu_lat": 0.5, "load_n": 300.0, "length_m": 0.5, "yaw_inertia_kgm2": 1.5}  # M_r = 18.75 N m


def turned(rate, moment, seconds, dt=0.01):
    for _ in range(round(seconds / dt)):
        rate = yaw_rate_after(rate, moment, dt, **RESISTS)
    return float(rate)


def test_a_turn_is_held_starts_and_stops_as_coulomb_says():
    """Held below 18.75 N m; above, (M - M_r) t / I; coasting stops after I r / M_r = 0.08 s for 1 rad/s, and stays stopped."""
    assert turned(0.0, 18.7, 1.0) == 0.0
    assert turned(0.0, -21.75, 1.0) == pytest.approx(-2.0)
    assert turned(1.0, 0.0, 0.07) == pytest.approx(1.0 - 18.75 / 1.5 * 0.07)
    assert turned(1.0, 0.0, 0.09) == turned(-1.0, 10.0, 1.0) == 0.0


def test_a_turn_on_the_spot_takes_less_than_sliding_straight_across():
    """Limits: tracks far apart slip little along (mu W L / 4 = 23.75 N m and the ideal rate); in between it is less."""
    given = {"mu": 0.6, "load_n": 311.66, "length_m": 0.508}
    wide, packbot = turn_on_the_spot(**given, tread_m=50.0), turn_on_the_spot(**given, tread_m=0.34)
    assert wide.moment_nm == pytest.approx(0.6 * 311.66 * 0.508 / 4.0, rel=1e-3)
    assert wide.rate_share == pytest.approx(1.0, abs=1e-3)
    assert 0.8 * wide.moment_nm < packbot.moment_nm < wide.moment_nm
    assert 0.4 < packbot.rate_share < 0.7


def test_many_equal_loads_are_a_uniform_one():
    given = {"mu": 0.6, "load_n": 311.66, "length_m": 0.508, "tread_m": 0.34}
    places = (np.arange(4000) + 0.5) / 4000 * 0.508 - 0.254
    for found, expected in zip(turn_on_the_spot(**given, places_m=places), turn_on_the_spot(**given), strict=True):
        assert found == pytest.approx(expected, rel=1e-6)
