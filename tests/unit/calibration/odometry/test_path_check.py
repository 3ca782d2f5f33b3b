"""Circles as a check: errors that were put in come out along and across the path."""

import math

import numpy as np
import pytest

from slipfit.calibration.odometry.path_check import check_circle, check_run, drive_circle, simulate_circle
from slipfit.calibration.odometry.travel import Run
from slipfit.errors import LogError, ParameterError
from slipfit.twin import Twin
from unit.twin.twins import mapping


def circle_poses(v, w, turn, start=(0.0, 0.0, 0.0), scale=1.0):
    t = np.linspace(0.0, abs(turn / w), 2001)
    radius, angle = scale * v / w, w * t
    x, y = radius * np.sin(angle), radius * (1.0 - np.cos(angle))
    c, s = math.cos(start[2]), math.sin(start[2])
    return t, np.column_stack([start[0] + c * x - s * y, start[1] + s * x + c * y, start[2] + angle])


@pytest.mark.parametrize(("v", "w"), [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1)])
def test_the_circle_itself_has_no_error(v, w):
    """Whatever way it is driven, and wherever it starts; linear reading between 2000 poses costs a micrometre."""
    found = check_circle(*circle_poses(v, w, 2 * math.pi, start=(3.0, -1.0, 2.0)), v, w)
    assert [round(c.turn_rad / (math.pi / 2)) for c in found.crossings] == [k * (1 if w > 0 else -1) for k in (1, 2, 3, 4)]
    assert all(max(abs(c.along_m), abs(c.across_m)) < 3e-6 for c in found.crossings)


@pytest.mark.parametrize("w", [0.1, -0.1])
def test_a_larger_circle_lies_across(w):
    """5 % more radius: after half a turn the diameter is 5 % longer, all of it across (outward); nothing along."""
    half = check_circle(*circle_poses(0.2, w, math.pi, scale=1.05), 0.2, w).crossings[-1]
    assert half.across_m == pytest.approx(0.05 * 2 * 2.0, abs=1e-5)
    assert half.along_m == pytest.approx(0.0, abs=1e-5)
    assert half.across_percent == pytest.approx(100 * 0.2 / (math.pi * 2.0), abs=1e-3)


def test_a_robot_that_runs_ahead_errs_along():
    """2 % too fast on the same circle: ahead by 2 % of the way (small angles), heading 2 % too far."""
    t, poses = circle_poses(0.2, 0.1, 2.0 * math.pi)
    quarter = check_circle(t / 1.02, poses, 0.2, 0.1).crossings[0]
    assert quarter.along_percent == pytest.approx(2.0, abs=0.02)
    assert quarter.heading_rad == pytest.approx(0.02 * math.pi / 2)


def test_kinematic_oracle():
    """SPEC 2(b): continuous setpoints, exact durations, endpoint within 1e-6 m."""
    wide = 0.79677
    for v, w in ((0.1, 0.1), (0.3, 0.15), (0.2, -0.2)):
        rims = (v - 0.5 * wide * w, v + 0.5 * wide * w)
        found = check_circle(*drive_circle(rims, wide, 2 * math.pi / abs(w)), v, w)
        assert all(max(abs(c.along_m), abs(c.across_m)) < 1e-6 for c in found.crossings)


def test_a_recorded_run_and_text():
    t, poses = circle_poses(0.2, 0.1, 2 * math.pi)
    found = check_run(Run("walk", t, t, t, poses), 0.2, 0.1)
    assert "circle of 2 m to the left" in found.summary()
    assert len(found.to_document()["crossings"]) == 4


def test_a_twin_drives_its_own_circle():
    """A p3at whose effective track fits its floor (c_lat = 10.08 c_long: W = T + B^2 / (T 10.08)) stays within 1 %; at 0.1 rad/s
    nothing but slip bends the path."""
    robot = mapping()["robot"]
    track, base = 0.402, 0.25
    found = {"status": "converged", "source": "known"}
    powertrain = {"effective_track_m": {"value": track + base**2 / (track * (0.0501 / 0.00497)), **found}}
    twin = Twin.from_mapping({**mapping(), "robot": robot, "powertrain": powertrain}, where="twin")
    assert simulate_circle(twin, 0.1, 0.1, math.pi).worst_percent < 1.0


def test_a_smaller_wheel_saturates_at_a_slower_rim():
    """A left wheel of 0.98 R that reaches 1 rad/s rolls as one of R that reaches 0.98 rad/s; a circle that asks for rims of
    0.99 R rad/s is beyond both, and both miss it alike. A wheel of R would just do it."""
    found = {"status": "converged", "source": "known"}
    robot = Twin.from_mapping(mapping(), where="twin").robot
    radius, wide = robot.wheels.radius_m.value, 0.5
    v, w = 0.99 * radius + 0.5 * wide * 0.1, 0.1

    def circle(share, reached):
        left = {
            "metres_per_count": {"value": 2.0 * math.pi * share * radius / 1000.0, **found},
            "saturation_radps": {"value": reached, **found},
        }
        counts = {"counts_per_turn": {"value": 1000.0, **found}, "effective_track_m": {"value": wide, **found}}
        twin = Twin.from_mapping({**mapping(), "powertrain": {**counts, "left": left}}, where="twin")
        return simulate_circle(twin, v, w, math.pi).crossings[-1]

    smaller, slower, enough = circle(0.98, 1.0), circle(1.0, 0.98), circle(1.0, 1.0)
    assert (smaller.along_m, smaller.across_m) == pytest.approx((slower.along_m, slower.across_m), abs=1e-9)
    # 0.01 R rad/s too slow for 31.4 s: heading is 0.01 R 31.4 / W' ahead, W' a little off W by slip.
    assert smaller.heading_rad - enough.heading_rad == pytest.approx(0.01 * radius * math.pi / w / wide, rel=0.25)


def test_refusals():
    t, poses = circle_poses(0.2, 0.1, 1.0)
    with pytest.raises(LogError, match="a quarter"):
        check_circle(t, poses, 0.2, 0.1)
    with pytest.raises(ParameterError, match="no circle"):
        check_circle(t, poses, 0.2, 0.0)
