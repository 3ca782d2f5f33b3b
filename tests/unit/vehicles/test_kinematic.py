"""Kinematic skid-steer models against geometry, and their kernels in lanes against one by one."""

import math

import numpy as np
import pytest

from slipfit.kernels import Shared, as_batch
from slipfit.vehicles import kinematic
from slipfit.vehicles.kinematic import DriftingIcr, EqualSlip, IcrDrive, IdealDrive, SideSlip, body_velocity, drive_one

MODELS = [
    IdealDrive(0.5),
    EqualSlip(0.5, 0.38),
    IcrDrive(0.4, -0.3, 0.05, 0.98, 1.01),
    DriftingIcr(0.4, -0.3, 0.05, 0.98, 1.01, 0.2),
    SideSlip(0.5, 0.1, -0.05, 0.02),
]


def test_ideal_drive_is_the_textbook():
    assert body_velocity(IdealDrive(0.5), 0.4, 0.6) == pytest.approx((0.5, 0.0, 0.4))


def test_equal_slip_turns_by_t_over_diagonal():
    """[Haas2009]: V_Tr = 2 V_L T / (T^2 + B^2)."""
    assert body_velocity(EqualSlip(0.5, 0.38), -0.3, 0.3)[2] == pytest.approx(2 * 0.3 * 0.5 / (0.25 + 0.1444))


def test_rotation_centres_on_the_wheels_give_the_ideal_drive():
    """Limit case of the ICR model."""
    assert body_velocity(IcrDrive(0.25, -0.25, 0.0, 1.0, 1.0), 0.4, 0.6) == pytest.approx(
        body_velocity(IdealDrive(0.5), 0.4, 0.6)
    )


def test_each_side_rolls_without_slip_at_its_own_rotation_centre():
    """Definition of the centres: ground speed u - r y equals the side's gained rim speed; v vanishes at x."""
    model = IcrDrive(0.4, -0.3, 0.05, 0.98, 1.01)
    u, v, r = body_velocity(model, 0.4, 0.7)
    assert u - r * 0.4 == pytest.approx(0.98 * 0.4)
    assert u + r * 0.3 == pytest.approx(1.01 * 0.7)
    assert v + r * 0.05 == pytest.approx(0.0)


def test_slip_per_side():
    """SPEC 5: V = r/2 (w_L (1 - i_L) + w_R (1 - i_R)), psi. = r/B (...), tan(alpha) = -v/u."""
    u, v, r = body_velocity(SideSlip(0.5, 0.1, 0.2, 0.1), 1.0, 2.0)
    assert (u, v, r) == pytest.approx((0.5 * (0.9 + 1.6), -1.25 * math.tan(0.1), (1.6 - 0.9) / 0.5))


@pytest.mark.parametrize(
    ("slow", "fast", "duration_s"), [(0.1, 0.1, math.pi / 2 / 0.1), (0.15, 0.15, math.pi / 0.15), (0.2, 0.1, 2 * math.pi / 0.1)]
)
@pytest.mark.parametrize("direction", [-1.0, 1.0])
def test_circles_end_where_they_should(slow, fast, duration_s, direction):
    """SPEC 2(b), circle test oracle: continuous commands and exact durations give the endpoint to 1e-6 m."""
    v, w = slow, direction * fast
    track, base = 0.5, 0.3852
    difference = w * (track**2 + base**2) / track
    rims = np.tile([v - difference / 2, v + difference / 2], (1000, 1))
    end = drive_one(EqualSlip(track, base), rims, duration_s / 1000)[-1]
    radius, angle = v / w, w * duration_s
    assert end == pytest.approx([radius * math.sin(angle), radius * (1 - math.cos(angle)), angle], abs=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_lanes_equal_one_by_one_and_a_nan_stays_alone(model):
    """One source for both; sine and cosine differ by rounding only (1e-15 each, 300 steps)."""
    n, steps = 11, 300
    rims = np.column_stack([np.sin(np.linspace(0, 5, steps)), np.cos(np.linspace(0, 3, steps))])
    runs = as_batch(kinematic.KinematicRuns(model, Shared(rims)), n)
    runs.model[0][:] *= np.linspace(0.9, 1.1, n)
    runs.model[0][4] = np.nan
    lanes, alone = np.empty((n, steps + 1, 3)), np.empty((n, steps + 1, 3))
    kinematic.in_lanes(runs, 0, n, 0.02, lanes)
    kinematic.one_by_one(runs, 0, n, 0.02, alone)
    others = np.arange(n) != 4
    assert np.isnan(lanes[4, -1]).any()
    np.testing.assert_allclose(lanes[others], alone[others], rtol=0.0, atol=1e-12)
    runs.model[0][4] = 1.0
    again = np.empty_like(lanes)
    kinematic.in_lanes(runs, 0, n, 0.02, again)
    assert (again[others] == lanes[others]).all()  # to the last bit


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
def test_swapped_sides_mirror_the_path(model):
    """SPEC 7.3: left and right swapped flip y and heading exactly."""
    rims = np.column_stack([np.linspace(0.1, 0.5, 200), np.linspace(0.4, -0.2, 200)])
    there, mirrored = drive_one(model, rims, 0.02), drive_one(model, rims[:, ::-1].copy(), 0.02)
    np.testing.assert_allclose(mirrored, there * [1.0, -1.0, -1.0], rtol=0.0, atol=1e-13)
