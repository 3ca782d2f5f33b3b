"""Document 004: the quasi-static step of a tracked robot. Numbers of SPEC section 5, computed independently of this project."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from slipfit.vehicles.step_climb import (
    VALID_FRICTION,
    ClimberShape,
    friction_needed,
    friction_to_tip,
    highest_step_m,
    largest_step_m,
    tip_pitch_rad,
    wall_friction,
)

#: PackBot as SPEC 5 assumes it.
PACKBOT = ClimberShape(sprocket_radius_m=0.089, underside_m=0.508, mass_ahead_m=0.254, mass_above_m=0.075)
ROUND_M = 0.1016

#: h (mm), th_tip (degrees), mu with flippers, without on a sharp edge, without on an edge of 101.6 mm.
TABLE = [
    (25, 5.718, 0.1001, 0.3541, 0.2424),
    (50, 11.650, 0.2061, 0.5127, 0.3420),
    (75, 17.918, 0.3233, 0.6569, 0.4218),
    (100, 24.739, 0.4607, 0.7405, 0.4933),
    (117, 29.912, 0.5752, 0.7405, 0.5396),
    (125, 32.590, 0.6391, 0.7405, 0.5612),
    (150, 43.327, 0.9428, 0.9428, 0.6997),
]

#: SPEC's frictions were searched on a grid of pitches that ends a little before the tip (its own th_tip of 43.327 degrees has a
#: tangent of .94326, its friction there is .9428): they are low by up to 5e-4 where the tip decides.
GRID_OF_SPEC = 5.5e-4


class TestTable:
    @pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}mm")
    def test_pitch_at_the_tip(self, row):
        assert math.degrees(tip_pitch_rad(PACKBOT, row[0] / 1e3)) == pytest.approx(row[1], abs=6e-4)

    @pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}mm")
    def test_friction_with_flippers(self, row):
        assert friction_needed(PACKBOT, row[0] / 1e3, has_flippers=True) == pytest.approx(row[2], abs=GRID_OF_SPEC)
        assert friction_to_tip(PACKBOT, row[0] / 1e3) == pytest.approx(math.tan(math.radians(row[1])), abs=3e-5)

    @pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}mm")
    def test_friction_without_flippers(self, row):
        assert friction_needed(PACKBOT, row[0] / 1e3, has_flippers=False) == pytest.approx(row[3], abs=GRID_OF_SPEC)
        assert friction_needed(PACKBOT, row[0] / 1e3, ROUND_M, has_flippers=False) == pytest.approx(row[4], abs=GRID_OF_SPEC)

    def test_163_mm_is_too_high_for_a_sharp_edge_and_not_for_a_round_one(self):
        """SPEC: none, infinite, infinite, .8000."""
        assert math.isnan(tip_pitch_rad(PACKBOT, 0.163))
        for has_flippers in (True, False):
            assert friction_needed(PACKBOT, 0.163, has_flippers=has_flippers) == math.inf
            assert friction_needed(PACKBOT, 0.163, ROUND_M, has_flippers=has_flippers) == pytest.approx(0.8, abs=GRID_OF_SPEC)

    def test_whole_table_at_once(self):
        """Arrays of heights against arrays of edges give what single numbers give."""
        heights = np.array([row[0] for row in TABLE])[:, None] / 1e3
        edges = np.array([0.0, ROUND_M])
        together = friction_needed(PACKBOT, heights, edges, has_flippers=False)
        assert together == pytest.approx(np.array([row[3:] for row in TABLE]), abs=GRID_OF_SPEC)
        assert together[2, 1] == friction_needed(PACKBOT, 0.075, ROUND_M, has_flippers=False)


class TestLimits:
    def test_wall(self):
        """SPEC: .74052, root of mu² (L + R - a) + mu R - a."""
        assert wall_friction(PACKBOT) == pytest.approx(0.74052, abs=1e-5)
        assert friction_needed(PACKBOT, 0.12, has_flippers=False) == pytest.approx(wall_friction(PACKBOT), abs=1e-12)

    def test_largest_steps(self):
        """SPEC: 70.3, 89.6, 106.2, 120.2, 131.6, 140.7 mm for mu = .3 to .8 (.3 mm)."""
        steps_mm = 1e3 * largest_step_m(PACKBOT, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
        assert steps_mm == pytest.approx([70.3, 89.6, 106.2, 120.2, 131.6, 140.7], abs=0.3)

    def test_geometric_limits(self):
        """SPEC: 158.8 (sharp), 169.2 (25.4 mm), 203.2 mm (101.6 mm)."""
        limits_mm = 1e3 * highest_step_m(PACKBOT, [0.0, 0.0254, ROUND_M])
        assert limits_mm == pytest.approx([158.8, 169.2, 203.2], abs=0.06)

    def test_117_mm_with_an_edge_of_one_inch(self):
        """SPEC: .5519 with flippers, .7405 without."""
        assert friction_needed(PACKBOT, 0.117, 0.0254, has_flippers=True) == pytest.approx(0.5519, abs=GRID_OF_SPEC)
        assert friction_needed(PACKBOT, 0.117, 0.0254, has_flippers=False) == pytest.approx(0.7405, abs=GRID_OF_SPEC)

    def test_sinkage_decides(self):
        """SPEC: 35.8 mm of sinkage make 198.8 mm of 163, tan th_tip 1.31, and with bracing 1.040."""
        assert friction_to_tip(PACKBOT, 0.1988, ROUND_M) == pytest.approx(1.31, abs=5e-3)
        assert friction_needed(PACKBOT, 0.1988, ROUND_M, has_flippers=True) == pytest.approx(1.040, abs=5e-4)

    def test_monotone_in_height_as_far_as_the_closed_form_holds(self):
        heights = np.linspace(0.005, 0.2, 400)
        for edge in (0.0, 0.0254, ROUND_M):
            needed = friction_needed(PACKBOT, heights, edge, has_flippers=True)
            is_valid = friction_to_tip(PACKBOT, heights, edge) <= VALID_FRICTION
            assert is_valid.sum() > 200
            assert np.all(np.diff(needed[is_valid]) > 0.0)
            assert needed[is_valid] == pytest.approx(friction_to_tip(PACKBOT, heights, edge)[is_valid], abs=1e-9)

    def test_balance_against_a_search_over_the_share_of_friction(self):
        """mu = min over lambda of max(|lambda|, |F_r| / N_r), written out with forces and searched on a grid of lambda."""
        radius, length, ahead, above = PACKBOT
        pitch = np.radians(20.0)
        height = 0.1
        along = (height - radius * (1 - np.cos(pitch))) / np.sin(pitch)
        forward, normal = np.array([np.cos(pitch), np.sin(pitch)]), np.array([-np.sin(pitch), np.cos(pitch)])
        axle = np.array([0.0, radius])
        mass, touch = axle + ahead * forward + (above - radius) * normal, axle + along * forward - radius * normal
        share = np.linspace(-2.0, 2.0, 400_001)
        direction = normal[:, None] + share * forward[:, None]
        on_edge = mass[0] / (touch[0] * direction[1] - touch[1] * direction[0])
        rear = np.array([0.0, 1.0])[:, None] - on_edge * direction
        is_pushed = (on_edge > 0) & (rear[1] > 0)
        expected = np.min(np.maximum(np.abs(share), np.abs(rear[0] / rear[1]))[is_pushed])
        from slipfit.vehicles.step_climb import _needed_on_underside

        assert along < length
        assert _needed_on_underside(PACKBOT, height, 0.0, np.array([pitch]))[0] == pytest.approx(expected, abs=2e-5)


def test_monte_carlo_of_the_document_by_quadrature():
    """SPEC: mu ~ N(.6, .1), h ~ U(50, 200 mm), flippers, sharp: P = .4596; P is the mean of P(mu > mu_needed(h)) over heights."""
    limit = float(highest_step_m(PACKBOT))
    crossed = integrate.quad(lambda h: stats.norm.sf(float(friction_to_tip(PACKBOT, h)), 0.6, 0.1), 0.05, limit, epsabs=1e-9)[0]
    assert crossed / 0.15 == pytest.approx(0.4596, abs=5e-5)
