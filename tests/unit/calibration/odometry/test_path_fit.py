"""Radii and tracks from paths of any shape: what was driven with comes back, and what was not driven is said to be unknown."""

import math

import numpy as np
import pytest

from slipfit.calibration.odometry.path_fit import fit_runs
from slipfit.calibration.odometry.travel import OdometryModel, run_of_log, spin_share
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.provenance import with_truth
from slipfit.twin import Status
from unit.calibration.odometry.squares import RADIUS_M, TRACK_M, legs, robot, run, square

TRUTH = robot(1.001, 1.012, 1.003, spin=0.995, offset=0.006)


def paths(truth, draw=None, noise=(0.004, 0.01), kinds=("square", "circle", "line")):
    """Squares and circles both ways and lines, three of each, seen with noise."""
    seen = None if draw is None else (draw, *noise)
    shapes = {
        "square": [square(1.7, turn) for turn in (0.5 * math.pi, -0.5 * math.pi)],
        "circle": [legs(("arc", 0.75, angle)) for angle in (3 * math.pi, -3 * math.pi)],
        "line": [legs(("line", 5.0))],
    }
    return [run(shape, truth, noise=seen, kind=kind) for kind in kinds for shape in shapes[kind] for _ in range(3)]


def test_an_exact_drive_gives_exact_constants():
    """Without noise only the weak priors pull, and they do so by their square over that of the data's spread."""
    fit = fit_runs(paths(TRUTH), radius_m=RADIUS_M, track_m=TRACK_M)
    assert fit.model.gain_left == pytest.approx(TRUTH.gain_left, abs=1e-5)
    assert fit.model.gain_right == pytest.approx(TRUTH.gain_right, abs=1e-5)
    assert fit.model.track_m == pytest.approx(TRUTH.track_m, rel=1e-5)
    assert fit.model.spin_track_m == pytest.approx(TRUTH.spin_track_m, rel=1e-5)
    assert fit.model.heading_offset_rad == pytest.approx(0.006, abs=1e-5)
    assert fit.identifiability == ()


def test_intervals_hold_the_truth():
    """20 calibrations with fresh noise: 90 % intervals of the five constants hold them in 80 to 98 %, taken together."""
    draw, inside = np.random.default_rng(11), []
    truths = {
        "radius_left_m": RADIUS_M * TRUTH.gain_left,
        "radius_right_m": RADIUS_M * TRUTH.gain_right,
        "track_m": TRUTH.track_m,
        "spin_track_m": TRUTH.spin_track_m,
        "heading_offset_rad": TRUTH.heading_offset_rad,
    }
    for _ in range(20):
        found = fit_runs(paths(TRUTH, draw), radius_m=RADIUS_M, track_m=TRACK_M).parameters()
        inside += [found[name].interval_90[0] <= value <= found[name].interval_90[1] for name, value in truths.items()]
    assert 0.80 < np.mean(inside) < 0.98


def test_circles_do_not_tell_of_squares():
    """No circle turns on the spot: the constant has no value, a sentence says so, and the interval about a square's end is wide
    enough to hold what really happens; with squares among the runs it is narrow."""
    draw = np.random.default_rng(5)
    circles = fit_runs(paths(TRUTH, draw, kinds=("circle",)), radius_m=RADIUS_M, track_m=TRACK_M)
    everything = fit_runs(paths(TRUTH, draw), radius_m=RADIUS_M, track_m=TRACK_M)
    assert circles.parameters()["spin_track_m"].status is Status.NOT_EXCITED
    assert any("turns on the spot" in line and "square" in line for line in circles.identifiability)
    unseen = run(square(1.7, 0.5 * math.pi), TRUTH)
    wide, narrow = circles.predict(unseen), everything.predict(unseen)
    assert wide.radius_90_m > 5.0 * narrow.radius_90_m
    assert np.hypot(*(wide.pose[:2] - unseen.poses[-1, :2])) < wide.radius_90_m
    another_circle = run(legs(("arc", 0.75, 2 * math.pi)), TRUTH)
    assert circles.predict(another_circle).radius_90_m < 0.2 * wide.radius_90_m


def test_predictions_hold_the_ends_of_other_runs():
    """Ends of 60 unseen runs with the same noise lie within the 90 % radius in 85 % or more."""
    draw = np.random.default_rng(8)
    fit = fit_runs(paths(TRUTH, draw), radius_m=RADIUS_M, track_m=TRACK_M)
    unseen = [r for _ in range(4) for r in paths(TRUTH, draw)]
    inside = [np.hypot(*(p.pose[:2] - r.poses[-1, :2])) < p.radius_90_m for r in unseen for p in (fit.predict(r),)]
    assert np.mean(inside) > 0.85


def test_lines_alone_tell_no_track():
    fit = fit_runs(paths(TRUTH, np.random.default_rng(2), kinds=("line",)), radius_m=RADIUS_M, track_m=TRACK_M)
    found = fit.parameters()
    assert found["track_m"].status is Status.NOT_EXCITED
    assert found["radius_left_m"].value == pytest.approx(RADIUS_M * TRUTH.gain_left, rel=0.01)
    assert any("drive arcs" in line for line in fit.identifiability)


def test_a_spin_is_told_from_an_arc_and_a_line():
    n = 50
    assert spin_share(-np.ones(n), np.ones(n), 0.05) == pytest.approx(1.0)
    assert spin_share(np.ones(n), np.ones(n), 0.05) == pytest.approx(0.0)
    arc = spin_share(np.full(n, 0.65), np.full(n, 0.85), 0.05)  # w / 2 s = 0.2 / 1.5
    assert arc[n // 2] == pytest.approx(0.2**4 / (0.2**4 + 1.5**4))
    assert spin_share(np.zeros(n), np.zeros(n), 0.05) == pytest.approx(0.0)


def test_without_a_spin_constant_it_is_the_textbook_drive():
    """An arc of radius R by a robot with nominal wheels ends on the circle: closed form."""
    rolled = legs(("arc", 0.75, 2.0))
    end = OdometryModel.ideal(TRACK_M).path(run(rolled, robot()))[-1]
    assert end == pytest.approx([0.75 * math.sin(2.0), 0.75 * (1.0 - math.cos(2.0)), 2.0], abs=1e-9)


def test_a_log_becomes_a_run():
    """Encoders and poses at their own stamps: one metre ahead, then a quarter turn on the spot."""
    p3at = find_robot("p3at")
    t = np.linspace(0.0, 20.0, 401)
    ahead, turn = np.clip(t / 10.0, 0.0, 1.0), 0.5 * np.pi * np.clip(t / 10.0 - 1.0, 0.0, 1.0)
    sides = np.column_stack([ahead - 0.5 * p3at.track_m * turn, ahead + 0.5 * p3at.track_m * turn]) / p3at.wheels.radius_m.value
    poses = np.column_stack([ahead, 0.0 * t, turn])
    log = DriveLog(
        {
            "encoders": Channel("encoders", (t * 1e9).astype(np.int64), sides, ("left_angle_rad", "right_angle_rad")),
            "pose": Channel("pose", ((t + 0.01) * 1e9).astype(np.int64), poses, ("x_m", "y_m", "yaw_rad")),
        },
        source="walk",
    )
    found = run_of_log(with_truth(log, "pose"), p3at)  # without noise and slip it looks like wheel odometry
    assert OdometryModel.ideal(p3at.track_m).end_error_m(found) < 2e-3
    assert found.turned_rad == pytest.approx(0.5 * np.pi, abs=2e-3)  # the last pose comes 10 ms late
    with pytest.raises(LogError, match="no pose"):
        run_of_log(DriveLog({"encoders": log["encoders"]}, source="walk"), p3at)


def circles(turns=3.0, seconds=60.0):
    """A log of a robot that drives circles at a steady speed, and its pose."""
    p3at = find_robot("p3at")
    t = np.linspace(0.0, seconds, 50 * int(seconds) + 1)
    heading = 2.0 * np.pi * turns * t / seconds
    sides = np.outer(heading, 1.0 + 0.5 * p3at.track_m * np.array([-1.0, 1.0])) / p3at.wheels.radius_m.value
    poses = np.column_stack([np.sin(heading), 1.0 - np.cos(heading), heading])
    stamps = (t * 1e9).astype(np.int64)
    return DriveLog(
        {
            "encoders": Channel("encoders", stamps, sides, ("left_angle_rad", "right_angle_rad")),
            "pose": Channel("pose", stamps, poses, ("x_m", "y_m", "yaw_rad")),
        },
        source="circles",
    )


def test_a_path_whose_pose_is_silent_on_the_way_is_refused():
    """In 20 s the robot drives a whole circle of 1 m: 6.28 m, and the poses before and after have the same heading. A tenth of a
    second misses nothing."""
    log = circles()

    def without(begin_s, end_s):
        pose = log["pose"]
        kept = (pose.time_s <= begin_s) | (pose.time_s >= end_s)
        return with_truth(log.having(Channel("pose", pose.stamps_ns[kept], pose.values[kept], pose.columns)), "pose")

    with pytest.raises(LogError, match=r"circles: the pose is silent from 15\.0 to 35\.0 s while the wheels roll 7\.[0-9]+ m"):
        run_of_log(without(15.0, 35.0), find_robot("p3at"))
    assert run_of_log(without(15.0, 15.1), find_robot("p3at")).turned_rad == pytest.approx(6.0 * np.pi, abs=1e-6)


def test_squares_and_lines_tell_the_track_on_the_spot():
    """All their turns are spins: that track is found, and the sentence asks for arcs, not for spins. Squares alone end where they
    began, which leaves the radii's scale open and with it every track; still nobody says that there are no spins."""
    draw = np.random.default_rng(5)
    fit, squares = (
        fit_runs(paths(TRUTH, draw, kinds=kinds), radius_m=RADIUS_M, track_m=TRACK_M)
        for kinds in (("square", "line"), ("square",))
    )
    assert fit.parameters()["spin_track_m"].value == pytest.approx(TRUTH.spin_track_m, rel=0.01)
    for found in (fit, squares):
        assert not any("no run turns" in line for line in found.identifiability)
        assert any("of the turning is on the spot" in line and "drive arcs" in line for line in found.identifiability)
    assert squares.parameters()["radius_left_m"].value is None
