"""UMBmark against its first-order closed forms, and on made-up robots whose errors are known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from slipfit.calibration.odometry.travel import OdometryModel, error_percent
from slipfit.calibration.odometry.umbmark import umbmark, umbmark_of_runs
from slipfit.errors import LogError
from unit.calibration.odometry.squares import RADIUS_M, TRACK_M, robot, run, square

SIDE_M = 4.0
NUMBERS = {"side_m": SIDE_M, "track_m": TRACK_M, "radius_m": RADIUS_M}


def squares(truth, repeats=1, noise=None):
    turns = [turn for turn in (0.5 * math.pi, -0.5 * math.pi) for _ in range(repeats)]
    return [run(square(SIDE_M, turn), truth, noise=noise) for turn in turns]


def test_a_turn_error_alone():
    """[BorensteinFeng1996], type A: corners that turn by pi/2 - alpha miss by (-2 L alpha, -2 L alpha) clockwise and
    (-2 L alpha, 2 L alpha) counter-clockwise."""
    alpha = 0.01
    found = umbmark([(-0.08, -0.08)] * 2, [(-0.08, 0.08)] * 2, **NUMBERS)
    assert found.alpha_rad.value == pytest.approx(alpha)
    assert found.beta_rad.value == pytest.approx(0.0, abs=1e-12)
    assert found.e_b.value == pytest.approx(90.0 / (90.0 - math.degrees(alpha)))
    assert found.e_d.value == pytest.approx(1.0)
    assert found.e_max_syst_m == pytest.approx(0.08 * math.sqrt(2.0))


def test_a_bend_alone():
    """Type B: legs that turn by beta miss by (-2 L beta, -2 L beta) clockwise and (2 L beta, -2 L beta) counter-clockwise; with
    R = L / 2 / sin(beta / 2) the wheels differ by (R + b/2) / (R - b/2)."""
    beta = 0.02
    found = umbmark([(-0.16, -0.16)] * 2, [(0.16, -0.16)] * 2, **NUMBERS)
    radius = 0.5 * SIDE_M / math.sin(0.5 * beta)
    assert found.beta_rad.value == pytest.approx(beta)
    assert found.e_d.value == pytest.approx((radius + 0.1) / (radius - 0.1))
    assert found.radius_left_m.value + found.radius_right_m.value == pytest.approx(2.0 * RADIUS_M)


@pytest.mark.parametrize(("e_d", "e_b"), [(1.0, 1.004), (1.0003, 1.0), (0.9997, 1.004), (1.0003, 0.996)])
def test_it_finds_the_robots_own_errors(e_d, e_b):
    """Simulated truth. First order in alpha and beta: 3 % of what they are, for errors of 6 mrad a corner."""
    found = umbmark_of_runs(squares(robot(e_d, e_b)), side_m=SIDE_M, track_m=TRACK_M, radius_m=RADIUS_M)
    assert found.e_d.value - 1.0 == pytest.approx(e_d - 1.0, abs=0.03 * 3e-4)
    assert found.e_b.value - 1.0 == pytest.approx(e_b - 1.0, abs=0.03 * 4e-3)


def test_corrected_constants_bring_the_robot_home():
    """A robot that missed by 1 % of the way misses by less than a fiftieth of that with corrected radii and track."""
    runs = squares(robot(1.0005, 1.008))
    found = umbmark_of_runs(runs, track_m=TRACK_M, radius_m=RADIUS_M)
    assert error_percent(OdometryModel.ideal(TRACK_M), runs).max() > 0.4
    assert error_percent(found.model(RADIUS_M), runs).max() < 0.02


def test_intervals_hold_the_truth():
    """200 benchmarks of five runs a way with 5 mm of scatter: 90 % intervals of E_d and E_b hold it in 84 to 96 %."""
    draw, inside = np.random.default_rng(3), np.zeros(2)
    alpha, beta = 0.004, 0.003
    for _ in range(200):
        cw = np.array([-8 * (alpha + beta), -8 * (alpha + beta)]) + 0.005 * draw.standard_normal((5, 2))
        ccw = np.array([-8 * (alpha - beta), 8 * (alpha - beta)]) + 0.005 * draw.standard_normal((5, 2))
        found = umbmark(cw.tolist(), ccw.tolist(), **NUMBERS)
        for k, (estimate, truth) in enumerate(((found.alpha_rad, alpha), (found.beta_rad, beta))):
            inside[k] += abs(estimate.value - truth) < estimate.half_width_90
    assert ((inside > 0.84 * 200) & (inside < 0.96 * 200)).all()


def moved(record, x_m, y_m, heading_rad):
    """The same run in a frame that is turned and shifted."""
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    x, y, heading = record.poses.T
    return replace(record, poses=np.column_stack([x_m + c * x - s * y, y_m + s * x + c * y, heading + heading_rad]))


def test_where_a_square_starts_and_heads_does_not_matter():
    """Errors are those in the robot's frame at the start: a frame of a tracking system that is turned changes no constant."""
    runs = squares(robot(1.0003, 1.004))
    askew = [moved(runs[0], 3.0, -1.0, 2.1), moved(runs[1], -2.0, 5.0, -0.8)]
    found, same = (umbmark_of_runs(each, side_m=SIDE_M, track_m=TRACK_M, radius_m=RADIUS_M) for each in (askew, runs))
    assert found.e_d.value == pytest.approx(same.e_d.value, abs=1e-12)
    assert found.e_b.value == pytest.approx(same.e_b.value, abs=1e-12)


def test_one_direction_is_refused():
    with pytest.raises(LogError, match="expected both"):
        umbmark_of_runs(squares(robot())[:1], track_m=TRACK_M, radius_m=RADIUS_M)


def test_other_paths_are_refused():
    half = run(tuple(side[: len(side) // 2] for side in square(SIDE_M, 0.5 * math.pi)), robot())
    with pytest.raises(LogError, match="expected a square"):
        umbmark_of_runs([half], track_m=TRACK_M, radius_m=RADIUS_M)


def test_it_prints_and_documents_itself():
    found = umbmark_of_runs(squares(robot(1.0003, 1.004), repeats=2), track_m=TRACK_M, radius_m=RADIUS_M)
    assert "E_max,syst" in found.summary()
    assert found.to_document()["parameters"]["track_m"]["value"] == found.track_m.value


def test_one_square_a_way_has_no_spread():
    found = umbmark_of_runs(squares(robot(1.0003, 1.004)), track_m=TRACK_M, radius_m=RADIUS_M)
    assert (found.track_m.std, found.track_m.interval_90, found.radius_left_m.interval_90) == (None, None, None)
    assert found.to_document()["e_b"]["std"] is None
    assert "spreads are unknown" in found.summary()


def test_the_mean_radius_keeps_its_spread():
    """Squares tell the ratio: exact ones leave 1 % of the mean radius in both radii and, rolled with it, in the track."""
    found = umbmark([(-0.08, -0.08)] * 2, [(-0.08, 0.08)] * 2, **NUMBERS, radius_std_m=0.01 * RADIUS_M)
    for p in found.parameters().values():
        assert p.std / p.value == pytest.approx(0.01)
        assert p.interval_90[1] / p.value - 1.0 == pytest.approx(0.01645, rel=1e-3)


@pytest.mark.parametrize("side_m", [40.0, 3.1, 0.0, -4.0, math.nan])
def test_a_side_that_was_not_driven_is_refused(side_m):
    with pytest.raises(LogError, match="side"):
        umbmark_of_runs(squares(robot()), side_m=side_m, track_m=TRACK_M, radius_m=RADIUS_M)
