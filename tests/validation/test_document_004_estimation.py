"""Document 004, estimation: its eight identified sets of soil constants, and its printed errors."""

import math

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.estimation.motion import sides
from slipfit.estimation.settings import FilterSettings
from slipfit.estimation.soil import TractionData, traction
from slipfit.library import Ground, find_ground
from slipfit.vehicles.slip_filter import POSE, N, Q, predict, update

#: K (m), c (Pa), phi (degrees), F_max (N) as both tables of the document have them.
SETS = [
    (0.0012, 740.0, 15.697, 43.789), (0.0015, 735.0, 16.075, 44.901), (0.0014, 750.0, 16.415, 45.905),
    (0.01197, 1210.0, 28.361, 84.115), (0.00925, 1350.0, 25.386, 73.944), (0.01627, 1085.0, 30.913, 93.3),
    (0.022, 1350.0, 36.91, 117.04), (0.009, 1530.0, 23.03, 66.25),
]  # fmt: skip


#: One track of the document's robot: its area (m²) and length (m).
TRACK_M2, TRACK_LENGTH_M = 0.07 * 0.508, 0.508

#: F_max / tan(phi) of all eight rows (N), SPEC 5, erratum 6.
WEIGHT_N = 155.82


def largest(c, phi_degrees, area_m2=TRACK_M2, load_n=WEIGHT_N):
    """The traction that our law tends to: slip of one and next to no shear modulus, so that all of the strength is mobilised."""
    one = TractionData(np.ones(3), np.zeros(3), np.full(3, load_n), area_m2, TRACK_LENGTH_M)
    return float(traction(np.array([c, math.radians(phi_degrees), 1e-9]), one)[0])


@pytest.mark.parametrize(("c", "phi", "force"), [row[1:] for row in SETS])
def test_printed_strengths_are_those_of_our_law_without_cohesion(c, phi, force):
    """Erratum 6: W tan(phi) at 155.82 N, within the rounding of angle and force; with the printed cohesion one track would have
    26 to 54 N more."""
    assert largest(0.0, phi) == pytest.approx(force, abs=0.03)
    assert 26.0 < largest(c, phi) - force < 55.0


def test_cohesion_has_no_part_in_it():
    """Erratum 6: least squares of what our law lacks without cohesion, by what cohesion adds per area: 1e-5 m², against 0.0356 m²
    of one track."""
    lacks = np.array([force - largest(0.0, phi) for _, _, phi, force in SETS])
    adds = np.array([largest(c, phi, area_m2=1.0) - largest(0.0, phi) for _, c, phi, _ in SETS])
    assert abs(lacks @ adds / (adds @ adds)) < 2e-5


def test_cohesions_printed_as_kilopascals_are_pascals():
    """Erratum 5: the table's dry sand has 1.04 kPa. 1210 kPa on both tracks, 0.07112 m², would hold with 86 kN, as much as 270
    robots weigh; as Pa it is a third of one."""
    assert find_ground("dry_sand").values()["cohesion_pa"] == 1040.0
    assert largest(1210e3, 0.0, area_m2=2.0 * TRACK_M2) == pytest.approx(86e3, rel=0.01)
    assert largest(1210.0, 0.0, area_m2=2.0 * TRACK_M2) == pytest.approx(86.0, rel=0.01)


@pytest.mark.parametrize("c", [row[1] for row in SETS])
def test_soils_take_them_as_pascals_only(c):
    """Erratum 5: both wrong factors of 1000 are refused and named."""
    mapping = find_ground("dry_sand").to_mapping()

    def ground(cohesion_pa):
        mapping["parameters"]["cohesion_pa"] = {"value": cohesion_pa, "source": "Hackett2011"}
        return Ground.from_mapping(mapping, where="dry_sand")

    assert ground(c).values()["cohesion_pa"] == c
    with pytest.raises(ParameterError, match=r"more than any soil's.*divide by 1000|lies outside \[0, 1e\+06\] Pa"):
        ground(1e3 * c)
    with pytest.raises(ParameterError, match=r"less than any soil's.*multiply by 1000"):
        ground(1e-3 * c)


def test_the_yaw_rate_is_that_of_the_documents_own_radius():
    """Erratum 3: r / B, not r / (2 B). R = (B / 2) (sum / difference) of the sides' speeds, and R = V / yaw rate."""
    track, left, right = 0.34, 0.4, 0.6
    u, _, rate = sides(track).model.into_twist @ np.array([left, right, 0.0])
    radius = 0.5 * track * (right + left) / (right - left)
    assert u / rate == pytest.approx(radius)
    assert u / (0.5 * rate) != pytest.approx(radius)  # as printed


def test_three_poses_are_read_of_six_states():
    """Erratum 4: H is 3 x 6, (I 0). The update of the textbook with it, K = P H^T (H P H^T + R)^-1, is what our filter does to
    pose and slip; the printed 3 x 3 would leave slip where it was."""
    draw = np.random.default_rng(4)
    state, cov, mixed = np.zeros(N), np.zeros((N, N)), draw.normal(size=(6, 6))
    state[:6] = draw.normal(size=6) * 0.1
    cov[:6, :6] = mixed @ mixed.T
    pose, std = np.array([0.3, -0.2, 0.1]), np.array([0.02, 0.03, 0.05])
    reads = np.hstack([np.eye(3), np.zeros((3, 3))])
    gain = cov[:6, :6] @ reads.T @ np.linalg.inv(reads @ cov[:6, :6] @ reads.T + np.diag(std**2))
    expected = state[:6] + gain @ (pose - state[:3])
    left = (np.eye(6) - gain @ reads) @ cov[:6, :6]
    motion, settings = sides(0.34), FilterSettings()
    noise = motion.noise(settings, gyro=False, accelerometer=False)._replace(gate=np.full(4, np.inf))
    update(motion.model, noise, state, cov, POSE, pose, std, np.array([0.4, 0.6, 0.0]), 0.0, 0, np.empty((N + 3, N)))
    assert state[:6] == pytest.approx(expected, abs=1e-9)
    assert cov[:6, :6] == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize(("left", "right"), [(0.4, 0.6), (0.0, 0.6)])
def test_poses_tell_slip_by_motion(left, right):
    """det d(X., Y., psi.)/d(i_L, i_R, alpha) = V sec²(alpha) r² w_L w_R / B (SPEC 5), by differences of our filter's motion. It
    vanishes where a track stops; that of our states, slip velocities, does not: 1 / B."""
    track, alpha, dt, h = 0.34, 0.05, 1e-4, 1e-4
    rims, motion, slopes = np.array([left, right]), sides(track), np.empty((N, N))
    noise = motion.noise(FilterSettings(), gyro=False, accelerometer=False)._replace(decay_per_s=np.zeros(3))
    (inputs,) = motion.inputs(rims[None])

    def rates(p):
        state, speed = np.zeros(N), float(np.mean(rims * (1.0 - p[:2])))
        state[Q : Q + 3] = *(p[:2] * rims), speed * math.tan(p[2])
        predict(motion.model, noise, state, np.zeros((N, N)), 1.0, dt, inputs, inputs, slopes)
        return state[:3] / dt

    p = np.array([0.1, 0.2, alpha])
    by_ratio = np.column_stack([(rates(p + e) - rates(p - e)) / (2.0 * h) for e in h * np.eye(3)])
    speed = 0.5 * (0.9 * left + 0.8 * right)
    assert abs(np.linalg.det(by_ratio)) == pytest.approx(speed / math.cos(alpha) ** 2 * left * right / track, rel=1e-4, abs=1e-9)
    assert abs(np.linalg.det(slopes[:3, Q : Q + 3] / dt)) == pytest.approx(1.0 / track, rel=1e-4)
