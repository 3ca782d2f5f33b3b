"""Document 004, estimation: its eight identified sets of soil constants, and its printed errors."""

import math

import numpy as np
import pytest

from slipfit.estimate.motion import sides

#: K (m), c (Pa), phi (degrees), F_max (N) as both tables of the document have them.
SETS = [
    (0.0012, 740.0, 15.697, 43.789), (0.0015, 735.0, 16.075, 44.901), (0.0014, 750.0, 16.415, 45.905),
    (0.01197, 1210.0, 28.361, 84.115), (0.00925, 1350.0, 25.386, 73.944), (0.01627, 1085.0, 30.913, 93.3),
    (0.022, 1350.0, 36.91, 117.04), (0.009, 1530.0, 23.03, 66.25),
]  # fmt: skip


def test_the_strength_of_all_eight_sets_is_that_of_one_weight_without_cohesion():
    """Erratum 6, a finding of ours: F_max / tan(phi) = 155.82 N in every row, within the rounding of angle and force."""
    weights = [force / math.tan(math.radians(phi)) for _, _, phi, force in SETS]
    assert np.mean(weights) == pytest.approx(155.82, abs=0.01)
    assert weights == pytest.approx([155.82] * 8, abs=0.03)


def test_cohesion_has_no_part_in_it():
    """Least squares of F_max - W tan(phi) by c: an area of 1e-5 m², against 0.0356 m² of one track."""
    rest = np.array([force - 155.82 * math.tan(math.radians(phi)) for _, _, phi, force in SETS])
    cohesion = np.array([c for _, c, _, _ in SETS])
    assert abs(rest @ cohesion / (cohesion @ cohesion)) < 2e-5


def test_the_yaw_rate_is_that_of_the_documents_own_radius():
    """Erratum 3: r / B, not r / (2 B). R = (B / 2) (sum / difference) of the sides' speeds, and R = V / yaw rate."""
    track, left, right = 0.34, 0.4, 0.6
    u, _, rate = sides(track).model.into_twist @ np.array([left, right, 0.0])
    radius = 0.5 * track * (right + left) / (right - left)
    assert u / rate == pytest.approx(radius)
    assert u / (0.5 * rate) != pytest.approx(radius)  # as printed


def test_three_poses_are_read_of_six_states():
    """Erratum 4: H is 3 x 6. Poses tell X, Y, psi alone: slopes of the other three are zero, yet slip is observable by motion:
    det d(X., Y., psi.)/d(i_L, i_R, alpha) = V sec²(alpha) r² w_L w_R / B is not zero while the robot drives."""
    track, left, right, alpha, i_l, i_r, h = 0.34, 0.4, 0.6, 0.05, 0.1, 0.2, 1e-6

    def rates(p):
        u_l, u_r = left * (1.0 - p[0]), right * (1.0 - p[1])
        v = 0.5 * (u_l + u_r)
        return np.array([v, -v * math.tan(p[2]), (u_r - u_l) / track])

    p = np.array([i_l, i_r, alpha])
    slopes = np.column_stack([(rates(p + e) - rates(p - e)) / (2.0 * h) for e in h * np.eye(3)])
    speed = rates(p)[0]
    assert abs(np.linalg.det(slopes)) == pytest.approx(speed / math.cos(alpha) ** 2 * left * right / track, rel=1e-6)
