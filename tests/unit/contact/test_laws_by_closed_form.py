"""Each law against its formula, worked out by hand."""

import math
from typing import ClassVar

import numpy as np
import pytest

from robots import ground_with
from slipfit.contact import LAWS, Touch, force, traction
from slipfit.contact.magic_formula import curvature
from slipfit.contact.slip import SPEED_FLOOR_MPS, driving_slip, ground_speed, slip_ratio, transport_speed
from slipfit.errors import ParameterError


def force_of(name, values, slip_x, slip_y, *, rim=0.5, load=50.0):
    law = LAWS[name].model(values)
    return force(traction(law, Touch(slip_x, slip_y, rim, load), None, 0, 1e-3), slip_x, slip_y)


class TestCoulomb:
    def test_cone_limits_the_resultant(self):
        """|F| = mu N along the slip: 3-4-5 triangle, mu N = 40."""
        assert force_of("coulomb", {"mu_long": 0.8}, 0.3, 0.4) == pytest.approx((24.0, 32.0))

    def test_pyramid_limits_each_axis(self):
        assert force_of("coulomb_pyramid", {"mu_long": 0.8, "mu_lat": 0.6}, 0.3, -0.01) == pytest.approx((40.0, -30.0))

    def test_anisotropic_cone_dissipates_most(self):
        """Of all forces in the ellipse, the law's takes out the most power: sampled on the rim of the ellipse."""
        sx, sy = 0.2, 0.5
        fx, fy = force_of("coulomb", {"mu_long": 0.9, "mu_lat": 0.4}, sx, sy)
        angle = np.linspace(0.0, 2.0 * np.pi, 100_001)
        best = np.max(45.0 * np.cos(angle) * sx + 20.0 * np.sin(angle) * sy)
        assert fx * sx + fy * sy == pytest.approx(best, rel=1e-8)  # sampling error of the angle, squared
        assert (fx / 45.0) ** 2 + (fy / 20.0) ** 2 == pytest.approx(1.0)

    def test_a_direction_across_the_wheel_swaps_the_coefficients(self):
        across = {"mu_long": 0.9, "mu_lat": 0.4, "direction_rad": math.pi / 2}
        assert force_of("coulomb_pyramid", across, 0.3, 0.3) == pytest.approx((20.0, 45.0))

    def test_a_slanted_direction_steers(self):
        """Pyramid turned by 45°, slip along the wheel: (mu1 + mu2)/2 N along, (mu1 - mu2)/2 N across."""
        slanted = {"mu_long": 0.9, "mu_lat": 0.4, "direction_rad": math.pi / 4}
        assert force_of("coulomb_pyramid", slanted, 0.3, 0.0) == pytest.approx(
            ((0.9 + 0.4) / 2 * math.sqrt(2) * 50.0, (0.9 - 0.4) / 2 * math.sqrt(2) * 50.0)
        )

    @pytest.mark.parametrize("name", ["coulomb", "coulomb_pyramid"])
    def test_a_direction_turns_the_law_with_it(self, name):
        """Slip turned by the angle of the direction gives the force turned by it: there is no other direction in the contact."""
        values, slip, angle = {"mu_long": 0.9, "mu_lat": 0.4}, np.array([0.3, 0.1]), 0.4
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        assert force_of(name, values | {"direction_rad": angle}, *(turn @ slip)) == pytest.approx(
            turn @ force_of(name, values, *slip)
        )


class TestViscousAndWheelSlip:
    def test_viscous_force_is_slip_over_k(self):
        """F = v_slip / k [Trimble2022], below the limit."""
        values = {"k_long_mps_per_n": 0.01, "k_lat_mps_per_n": 0.05, "mu": 10.0}
        assert force_of("viscous_slip", values, 0.02, -0.1) == pytest.approx((2.0, -2.0))

    @pytest.mark.parametrize("name", ["wheel_slip", "wheel_slip_cone"])
    def test_wheel_slip_force_is_slip_over_c_and_rim_speed(self, name):
        """F = v_slip / (c |v_r|) [Trimble2022], whatever the sign of the rim speed."""
        values = {"c_long": 0.005, "c_lat": 0.05}
        values = {LAWS[name].parameter(k).name: v for k, v in values.items()}
        for rim in (0.5, -0.5):
            assert force_of(name, values, 0.02, 0.1, rim=rim) == pytest.approx((8.0, 4.0))

    def test_the_cone_of_wheel_slip_keeps_the_direction_of_the_force(self):
        """Raw force (80, 60) N, limit 25 N: scaled to (20, 15)."""
        values = {"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": 0.5}
        assert force_of("wheel_slip_cone", values, 0.2, 1.5) == pytest.approx((20.0, 15.0))

    def test_the_pyramid_of_wheel_slip_limits_each_axis(self):
        values = {"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": 0.5}
        assert force_of("wheel_slip", values, 0.2, 0.25) == pytest.approx((25.0, 10.0))


class TestMagicFormula:
    """SPEC 4(b): B 10, C 1.5, mu .8, critical slip .2: E .300105, peak .8 at .2, slope 12.0, mu(1) .6670."""

    VALUES: ClassVar = {"mu": 0.8, "stiffness_b": 10.0, "shape_c": 1.5, "critical_slip": 0.2, "lateral_ratio": 0.9}

    def coefficient(self, slip):
        return force_of("magic_formula", self.VALUES, slip * 0.5, 0.0, load=1.0)[0]

    def test_curvature(self):
        assert curvature(10.0, 1.5, 0.2) == pytest.approx(0.300105, abs=1e-6)

    def test_peak(self):
        slips = np.linspace(0.01, 1.0, 991)
        values = [self.coefficient(s) for s in slips.tolist()]
        assert max(values) == pytest.approx(0.8, abs=1e-6)
        assert slips[int(np.argmax(values))] == pytest.approx(0.2, abs=1e-3)  # the grid's spacing

    def test_initial_slope(self):
        assert self.coefficient(1e-5) / 1e-5 == pytest.approx(12.0, abs=1e-3)

    def test_sliding(self):
        assert self.coefficient(1.0) == pytest.approx(0.6670, abs=1e-4)

    def test_a_curve_that_would_push_is_refused(self):
        """B 10, C 2, S_c .2: E = (2 - tan(45°)) / (2 - atan(2)) = 1.12, and mu(1.5) would be -.18 of the load."""
        with pytest.raises(ParameterError, match=r"curvature E of 1\.12"):
            ground_with("magic_formula", shape_c=2.0)

    def test_lateral_force_is_the_ratio_of_the_longitudinal(self):
        along = force_of("magic_formula", self.VALUES, 0.03, 0.0)[0]
        across = force_of("magic_formula", self.VALUES, 0.0, 0.03)[1]
        assert across == pytest.approx(0.9 * along)

    def test_combined_slip_shares_one_curve(self):
        """Force along the slip for k_y = 1: only the resultant slip counts."""
        round_ = self.VALUES | {"lateral_ratio": 1.0}
        fx, fy = force_of("magic_formula", round_, 0.03, 0.04)
        assert math.hypot(fx, fy) == pytest.approx(force_of("magic_formula", round_, 0.05, 0.0)[0])
        assert fy / fx == pytest.approx(4.0 / 3.0)


class TestSlip:
    def test_transport_speed_is_the_larger_of_ground_and_rim(self):
        assert transport_speed(0.3, 5.0, -0.7) == 0.7
        assert transport_speed(-0.9, 0.0, 0.7) == 0.9

    def test_sliding_sideways_on_a_standing_wheel_has_the_documented_floor(self):
        """SPEC 0: v_eps = 0.02 m/s."""
        assert transport_speed(0.0, 0.5, 0.0) == SPEED_FLOOR_MPS == 0.02

    @pytest.mark.parametrize(
        ("u", "w", "slip"),
        [(0.8, 1.0, 0.2), (1.0, 0.8, -0.2), (0.0, 1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 2.0), (0.0, 0.0, 0.0)],
    )
    def test_slip_ratio(self, u, w, slip):
        """SPEC 5: i = (r omega - V) / max(|r omega|, |V|), positive when the wheel outruns the ground."""
        assert slip_ratio(u, w) == pytest.approx(slip)

    @pytest.mark.parametrize(
        ("u", "w", "slip"),
        [(0.8, 1.0, 0.2), (-0.8, -1.0, 0.2), (0.0, -1.0, 1.0), (-0.5, 0.0, -1.0), (0.5, 0.0, -1.0), (-0.5, -0.25, -0.5)],
    )
    def test_driving_slip_is_the_same_both_ways(self, u, w, slip):
        """Specification 5(a), i = 1 - V / (r omega) when driving, with both speeds negative; locked wheels have -1."""
        assert driving_slip(u, w) == pytest.approx(slip)

    @pytest.mark.parametrize("slip", [-0.9, -0.3, 0.0, 0.4, 1.0])
    def test_ground_speed_inverts_the_slip_ratio(self, slip):
        assert slip_ratio(ground_speed(1.3, slip), 1.3) == pytest.approx(slip)
