"""Arctangent friction by closed form, and its arctangents in lanes."""

import math

import numpy as np
import pytest

from slipfit.contact import LAWS, Touch, force, traction
from slipfit.contact.touch import blended
from slipfit.kernels import Eight, alike, at, atan_slopes, compiled, put

LOAD_N = 10.0


def force_of(law, sx, sy):
    return force(traction(law, Touch(sx, sy, 0.3, LOAD_N), None, 0, 1e-3), sx, sy)


def model(name="arctan", **values):
    return LAWS[name].model({"mu_w": 0.26, "mu_t": 0.09} | values)


def test_half_of_the_limit_is_reached_at_one_over_k():
    """atan(1) = pi/4: half of mu N on each axis, whatever the other does (box); printed k = 1000 s/m."""
    assert force_of(model(), 1e-3, -1e-3) == pytest.approx((0.13 * LOAD_N, -0.045 * LOAD_N), rel=1e-9)
    assert force_of(model(), 1e-3, 5.0)[0] == pytest.approx(0.13 * LOAD_N, rel=1e-9)


def test_it_starts_with_the_slope_of_the_arctangent():
    """F / s -> mu N (2 / pi) k."""
    answer = traction(model(), Touch(0.0, 0.0, 0.0, LOAD_N), None, 0, 1e-3)
    assert answer.xx == pytest.approx(0.26 * LOAD_N * 2.0 / math.pi * 1000.0, rel=1e-9)


def test_an_ellipse_shares_its_grip_between_the_axes():
    """Along a diagonal each axis has 1 / sqrt 2 of what it has alone."""
    alone = force_of(model("arctan_ellipse"), 5.0, 0.0)[0]
    both = force_of(model("arctan_ellipse"), 5.0 / math.sqrt(2.0), 5.0 / math.sqrt(2.0))
    assert both[0] == pytest.approx(alone / math.sqrt(2.0), rel=1e-9)
    assert both[1] / both[0] == pytest.approx(0.09 / 0.26, rel=1e-9)


def test_kinetic_friction_falls_to_its_ratio():
    """Half of the fall at the kinetic speed, all of it far beyond."""
    law = model(kinetic_ratio=0.6, kinetic_speed_mps=0.05, steepness_s_per_m=1e7)
    assert force_of(law, 0.05, 0.0)[0] == pytest.approx(0.26 * LOAD_N * 0.8, rel=1e-4)
    assert force_of(law, 50.0, 0.0)[0] == pytest.approx(0.26 * LOAD_N * 0.6, rel=1e-4)
    assert force_of(law, 1e-4, 0.0)[0] == pytest.approx(0.26 * LOAD_N, rel=1e-3)


def test_rigid_parts_have_their_own_coefficients_or_the_rollers():
    values = {"mu_w": 0.26, "mu_t": 0.09, "mu_w_rigid": 0.47, "mu_t_rigid": 0.46}
    rigid = LAWS["arctan"].rigid_model(values)
    assert (rigid.mu_x, rigid.mu_y) == (0.47, 0.46)
    assert LAWS["arctan"].rigid_model({"mu_w": 0.26, "mu_t": 0.09})[:2] == (0.26, 0.09)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("more", [{}, {"kinetic_ratio": 0.7}], ids=["level", "falling"])
@pytest.mark.parametrize("name", ["arctan", "arctan_ellipse"])
def test_a_blend_gives_the_mean_force(name, more, share):
    """Friction is linear in mu."""
    values = {"mu_w": 0.26, "mu_t": 0.09, "mu_w_rigid": 0.47, "mu_t_rigid": 0.46, **more}
    rollers, rigid = LAWS[name].model(values), LAWS[name].rigid_model(values)
    mean = (1.0 - share) * np.array(force_of(rollers, 2e-3, -3e-3)) + share * np.array(force_of(rigid, 2e-3, -3e-3))
    assert force_of(blended(rollers, rigid, share), 2e-3, -3e-3) == pytest.approx(mean.tolist(), rel=1e-12)


@compiled
def _slopes(x, y, out):
    for i in range(0, len(x), 8):
        slope_x, slope_y = atan_slopes(at(x, Eight(i)), at(y, Eight(i)))
        put(out[:, 0], Eight(i), slope_x)
        put(out[:, 1], Eight(i), alike(slope_y, slope_x))


def test_arctangents_in_lanes_are_those_of_the_standard_library():
    """Over twenty decades, through all three ranges of the reduction, to four units in the last place."""
    draw = np.random.default_rng(1)
    x, y = 10.0 ** draw.uniform(-10.0, 10.0, (2, 4096))
    out = np.empty((4096, 2))
    _slopes(x, y, out)
    np.testing.assert_allclose(out, np.column_stack([np.arctan(x) / x, np.arctan(y) / y]), rtol=9e-16)
