"""Calibrations by the front door: files and names in, records out, the same as from records."""

import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.calibration.odometry import OdometryModel, calibrate_odometry, calibrate_paths, constants_of, run_umbmark
from slipfit.errors import LogError, ParameterError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.provenance import with_truth
from unit.calibration.odometry.loops import loop_log
from unit.calibration.odometry.squares import TRACK_M, legs, run

EXAMPLE = Path(__file__).parents[4] / "examples" / "atrv_jr_odometry.yaml"
COUNTS = 1000.0


def log_of(rolled, truth, name):
    """A p3at whose encoders tell what these wheels rolled, stretched to its track, and whose pose is the truth's."""
    robot = find_robot("p3at")
    seen = run(rolled, truth, name=name)
    wider = 0.5 * (robot.track_m / TRACK_M - 1.0) * (seen.right_m - seen.left_m)
    angles = np.column_stack([seen.left_m - wider, seen.right_m + wider]) / robot.wheels.radius_m.value
    stamps = np.round(seen.time_s * 1e9).astype(np.int64)
    log = DriveLog(
        {
            "encoders": Channel("encoders", stamps, angles, ("left_angle_rad", "right_angle_rad")),
            "pose": Channel("pose", stamps, seen.poses, ("x_m", "y_m", "yaw_rad")),
        },
        source=name,
    )
    return with_truth(log, "pose")  # without noise and slip it looks like wheel odometry


def test_readings_and_a_log_together():
    """[Haas2009]'s readings, then a log of loops with 0.12 s: the log adds its lag, the readings' metres per count stay."""
    found = calibrate_odometry(EXAMPLE, loop_log(4), robot="atrv_jr").powertrain
    assert found.left.lag_s.value == pytest.approx(0.12, abs=0.005)
    assert found.left.metres_per_count == constants_of(EXAMPLE, find_robot("atrv_jr")).powertrain.left.metres_per_count
    assert found.setpoint_unit == "controller"


def test_paths_of_any_shape_say_which_track_a_twin_gets():
    """Truth: a track 1 % wider on arcs, 2 % on the spot; the twin gets that on arcs and a note of the other."""
    truth = OdometryModel(1.0, 1.0, 1.01 * TRACK_M, 1.02 * TRACK_M)
    shapes = [legs(("line", 1.0), ("arc", 0.8, a), ("line", 1.0), ("spin", s)) for a, s in ((2, 6), (-2, -6), (4, -6), (-4, 6))]
    fit = calibrate_paths(*(log_of(shape, truth, f"path {k}") for k, shape in enumerate(shapes)), robot="p3at")
    power, track = fit.powertrain((COUNTS, COUNTS)), find_robot("p3at").track_m
    assert power.effective_track_m.value == pytest.approx(1.01 * track, rel=2e-4)
    assert power.effective_track_m.note == f"on arcs; on the spot it is {1.02 * track:.4g} m, +0.99 %"
    radius = find_robot("p3at").wheels.radius_m.value
    assert power.left.metres_per_count.value == pytest.approx(2.0 * math.pi * radius / COUNTS, rel=2e-4)
    assert fit.powertrain().left.metres_per_count is None  # a twin cannot hold a radius without counts


def test_squares_alone_give_the_track_on_the_spot():
    truth = OdometryModel(1.0, 1.0, 1.02 * TRACK_M, 1.02 * TRACK_M)
    squares = [
        log_of(legs(*[p for _ in range(4) for p in (("line", side), ("spin", turn))]), truth, f"{side} {turn}")
        for side in (3.0, 4.0)
        for turn in (0.5 * math.pi, -0.5 * math.pi)
    ]
    general = calibrate_paths(*squares, robot="p3at").powertrain().effective_track_m
    assert general.note == "on the spot; the paths do not tell how it is on arcs"
    assert general.value == pytest.approx(1.02 * find_robot("p3at").track_m, rel=1e-3)
    found = run_umbmark(*squares, robot="p3at")
    assert found.powertrain().effective_track_m.note == "on the spot, UMBmark"
    assert found.e_b.value == pytest.approx(1.02, abs=1e-3)


def test_refusals():
    with pytest.raises(ParameterError, match="nothing to calibrate from"):
        calibrate_odometry(robot="p3at")
    with pytest.raises(LogError, match="no run given"):
        calibrate_paths(robot="p3at")
    with pytest.raises(LogError, match="expected both"):
        run_umbmark(robot="p3at")
