"""The battery that every law passes by being in `LAWS`: claims that hold for any passive contact law."""

import itertools
import math

import numpy as np
import pytest

from slipfit.contact import LAWS, Touch, force, traction
from slipfit.contact.touch import coupled
from slipfit.kernels import Eight, at, compiled, put

LOAD_N = 50.0
RIM_MPS = 0.5


def force_of(law, slip_x, slip_y, *, rim=RIM_MPS, load=LOAD_N):
    return force(traction(law, Touch(slip_x, slip_y, rim, load), None, 0, 1e-3), slip_x, slip_y)


@pytest.fixture(params=LAWS.values(), ids=LAWS)
def info(request):
    return request.param


@pytest.fixture
def law(info):
    return info.model(info.example)


def touches(n=200):
    """Slip velocities over nine decades, any direction, rolling or not."""
    draw = np.random.default_rng(7)
    size, angle = 10.0 ** draw.uniform(-9.0, 0.5, n), draw.uniform(-np.pi, np.pi, n)
    rim = np.where(draw.random(n) < 0.2, 0.0, draw.uniform(-2.0, 2.0, n))
    return zip((size * np.cos(angle)).tolist(), (size * np.sin(angle)).tolist(), rim.tolist(), strict=True)


def largest_coefficient(info):
    return max(value for name, value in info.example.items() if name.startswith("mu"))


def test_no_force_without_load(law):
    """A wheel in the air has no traction."""
    for sx, sy, rim in touches():
        assert force_of(law, sx, sy, rim=rim, load=0.0) == (0.0, 0.0)


def test_no_force_without_slip(law):
    """Rigid laws start at zero; static friction is reached through a slip too small to see."""
    assert force_of(law, 0.0, 0.0) == (0.0, 0.0)


def test_force_never_drives_the_slip(law):
    """Second law: the contact takes power out, F.s >= 0, at any slip."""
    for sx, sy, rim in touches():
        fx, fy = force_of(law, sx, sy, rim=rim)
        assert fx * sx + fy * sy >= 0.0


def test_secants_are_positive(law):
    """The stepping rests on a symmetric positive semidefinite secant (docs/theory/stepping)."""
    for sx, sy, rim in touches():
        answer = traction(law, Touch(sx, sy, rim, LOAD_N), None, 0, 1e-3)
        assert answer.xx >= 0.0
        assert answer.yy >= 0.0
        assert answer.xx * answer.yy >= answer.xy**2


def test_a_law_that_claims_no_coupling_has_none(law):
    """The vehicle leaves out what `coupled` denies: a false claim would give a wrong motion without an error."""
    for sx, sy, rim in touches():
        answer = traction(law, Touch(sx, sy, rim, LOAD_N), None, 0, 1e-3)
        assert coupled(law) or (answer.start_x, answer.start_y, answer.xy) == (0.0, 0.0, 0.0)


def test_force_stays_within_the_coefficient(info, law):
    """Coulomb: no axis carries more than mu N. 1e-12 for rounding."""
    most = largest_coefficient(info) * LOAD_N * (1.0 + 1e-12)
    for sx, sy, rim in touches():
        assert max(map(abs, force_of(law, sx, sy, rim=rim))) <= most


def test_mirrored_slip_gives_the_mirrored_force(law):
    """Left and right of a wheel are alike (the examples have no direction of their own), and so are ahead and back."""
    for sx, sy, rim in touches():
        fx, fy = force_of(law, sx, sy, rim=rim)
        assert force_of(law, sx, -sy, rim=rim) == pytest.approx((fx, -fy), rel=1e-13, abs=1e-13)
        assert force_of(law, -sx, sy, rim=-rim) == pytest.approx((-fx, fy), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 2])
def test_force_has_no_jumps(info, law, angle):
    """One percent more slip changes the force by at most two percent of its limit: no law here is steeper than F ~ s^2."""
    most = largest_coefficient(info) * LOAD_N
    sizes = 1e-9 * 1.01 ** np.arange(2100)
    forces = [force_of(law, size * math.cos(angle), size * math.sin(angle)) for size in sizes.tolist()]
    for before, after in itertools.pairwise(forces):
        assert math.dist(before, after) <= 0.02 * most


def test_rest_holds_or_is_said_to_creep(info, law):
    """A standing wheel pushed to a slip of a micrometre per second answers with a force worth the name, or admits creeping."""
    fx, fy = force_of(law, 1e-6, 0.0, rim=0.0), force_of(law, 0.0, 1e-6, rim=0.0)
    holds = min(abs(fx[0]), abs(fy[1])) > 0.1 * LOAD_N
    assert holds == info.holds_at_rest


def test_constants_are_in_their_own_range(info):
    """What a law prints as an example is legal input."""
    for p in info.parameters:
        if p.name in info.example:
            assert p.lower <= info.example[p.name] <= p.upper


@compiled
def _forces(law, slips, out):
    for i in range(len(slips)):
        answer = traction(law, Touch(slips[i], 0.3 * slips[i], RIM_MPS, LOAD_N), None, 0, 1e-3)
        out[i, 0], out[i, 1] = force(answer, slips[i], 0.3 * slips[i])


@compiled
def _forces_in_lanes(law, slips, out):
    for i in range(0, len(slips), 8):
        slip = at(slips, Eight(i))
        answer = traction(law, Touch(slip, 0.3 * slip, RIM_MPS, LOAD_N), None, 0, 1e-3)
        fx, fy = force(answer, slip, 0.3 * slip)
        put(out[:, 0], Eight(i), fx)
        put(out[:, 1], Eight(i), fy)


def test_lanes_and_floats_agree_and_a_nan_stays_alone(law):
    """One source, two compilations: equal to rounding; the lane with a NaN does not touch its neighbours."""
    law = type(law)(*(leaf if hasattr(leaf, "_fields") else float(leaf) for leaf in law))
    slips = np.append(np.linspace(-1.0, 1.0, 18), np.nan)
    alone, lanes = np.empty((19, 2)), np.empty((19, 2))
    _forces(law, slips, alone)
    _forces_in_lanes(law, slips, lanes)
    assert np.isnan(lanes[18]).all()
    np.testing.assert_allclose(lanes[:18], alone[:18], rtol=1e-14, atol=1e-14)
    plain = [force_of(law, s, 0.3 * s) for s in slips[:18].tolist()]
    np.testing.assert_allclose(alone[:18], plain, rtol=1e-13, atol=1e-13)  # fused multiply-add against plain Python
