"""Constants from typed readings: closed forms, spreads, and sentences."""

import math

import pytest

from slipfit.calibration.odometry.constants import constants_of, equal_slip_track_m
from slipfit.calibration.odometry.readings import OdometryReadings
from slipfit.calibration.odometry.spreads import mean_of
from slipfit.control import Scale
from slipfit.errors import ParameterError
from slipfit.library import find_ground, find_robot
from slipfit.twin.uncalibrated import uncalibrated_twin

EXAMPLE = {
    "schema": "slipfit/odometry/1",
    "tyre_diameter_m": 0.3,
    "marked_turns": [{"side": "left", "turns": 10, "counts": 10010}, {"side": "right", "turns": 10, "counts": 9990}],
    "timed_counts": [{"setpoint": 50, "left_counts": 10000, "right_counts": 10400, "duration_s": 20.0}],
    "errors": {"mark_turns": 0.01, "stopwatch_s": 0.1, "diameter_m": 0.003},
}


def readings(**changes):
    return OdometryReadings.from_mapping({**EXAMPLE, **changes}, where="table.yaml")


def test_closed_forms():
    """Counts over turns; pi d / counts; setpoint over 2 pi counts / (counts per turn, seconds): each side by itself."""
    found = constants_of(readings()).powertrain
    assert found.counts_per_turn is None  # each side has its own
    assert (found.left.counts_per_turn.value, found.right.counts_per_turn.value) == (1001.0, 999.0)
    assert found.left.metres_per_count.value == pytest.approx(math.pi * 0.3 / 1001)
    assert found.right.metres_per_count.value == pytest.approx(math.pi * 0.3 / 999)
    assert found.left.setpoint_per_radps.value == pytest.approx(50 / (2 * math.pi * 10000 / (1001 * 20)))
    assert found.right.setpoint_per_radps.value == pytest.approx(50 / (2 * math.pi * 10400 / (999 * 20)))


def test_spreads_by_hand():
    """A mark to 0.01 turns over ten turns: 0.1 %. A metre per count adds 1 % of the diameter, a speed 0.1 s of 20 s."""
    found = constants_of(readings()).powertrain
    k, m = found.left.setpoint_per_radps, found.left.metres_per_count
    assert m.std / m.value == pytest.approx(math.hypot(0.001, 0.01), rel=0.01)
    assert k.std / k.value == pytest.approx(math.hypot(0.001, 0.005), rel=0.01)
    assert k.interval_90[1] - k.value == pytest.approx(1.645 * k.std, rel=1e-3)


def test_a_tape_beats_the_tyres_data_sheet():
    runs = [
        {"distance_m": 5.0, "left_counts": 5000, "right_counts": 5050},
        {"distance_m": 5.0, "left_counts": 5001, "right_counts": 5049},
    ]
    result = constants_of(readings(straight_runs=runs))
    assert result.powertrain.left.metres_per_count.value == pytest.approx(1e-3, rel=2e-4)
    assert result.powertrain.right.metres_per_count.value == pytest.approx(5 / 5049.5, rel=1e-6)
    assert any("radius of each side" in line and "-0.97" in line for line in result.findings)


def test_spins_tell_the_track_better_than_geometry():
    """Counts of a metre per 1000 and 2 pi: (right - left) / angle."""
    runs = [{"distance_m": 5.0, "left_counts": 5000, "right_counts": 5000}]
    spins = [{"turned_rad": 2 * math.pi, "left_counts": -2000, "right_counts": 2000}]
    found = constants_of(readings(straight_runs=runs, spins=spins), find_robot("p3at")).powertrain.effective_track_m
    assert found.value == pytest.approx(4.0 / (2 * math.pi))
    assert found.std / found.value < 0.01


def test_geometry_alone_is_wide():
    """Between the track itself (wheels slip only sideways) and beyond (T^2 + B^2) / T nothing is known of the floor."""
    robot = find_robot("p3at")
    found = constants_of(readings(), robot).powertrain.effective_track_m
    assert found.value == pytest.approx(equal_slip_track_m(0.402, 0.25))
    assert found.interval_90[0] < found.value - 0.05


def test_readings_that_scatter_more_than_they_should_widen_the_spread():
    """Three readings of error 1 that lie at -10, 0, 10: chi^2 / 2 = 100, so the mean's error is 10 / sqrt(3)."""
    found = mean_of([-10.0, 0.0, 10.0], [1.0, 1.0, 1.0])
    assert (found.std, found.freedom) == (pytest.approx(10.0 / math.sqrt(3.0)), pytest.approx(2.0))
    assert mean_of([1.0, 1.0], [1.0, 1.0]).std == pytest.approx(1.0 / math.sqrt(2.0))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"timed_counts": [{"setpoint": 5, "left_counts": 1, "right_counts": 1, "duration_s": 0}]}, ["duration_s", "0"]),
        (
            {"timed_counts": [{"setpoint": 5, "left_counts": -9, "right_counts": 1, "duration_s": 1}]},
            ["left_counts", "-9", "sign"],
        ),
        ({"timed_counts": [{"setpoint": 0, "left_counts": 9, "right_counts": 1, "duration_s": 1}]}, ["setpoint is 0"]),
        ({"marked_turns": [{"side": "left", "counts": -44000}]}, ["counts", "-44000"]),
        ({"marked_turns": [{"side": "port", "counts": 44000}]}, ["side", "port"]),
        ({"marked_turns": [{"side": "left", "counts": "many"}]}, ["counts", "many"]),
        ({"straight_runs": [{"distance_m": -1, "left_counts": 9, "right_counts": 9}]}, ["distance_m", "-1"]),
        ({"spins": [{"turned_rad": 1, "left_counts": 9, "right_counts": -9}]}, ["turned_rad", "left turn"]),
        ({"marked_turns": [], "timed_counts": []}, ["no readings"]),
        ({"setpoint_limits": [5, 127]}, ["setpoint_limits", "[5, 127]", "below zero"]),
        ({"setpoint_limits": [-200, 200]}, ["setpoint_limits", "-200", "-127 to 127"]),
        ({"setpoint_limits": [-40, 40]}, ["timed_counts[0]", "setpoint is 50", "-40 to 40"]),
        ({"timed_count": []}, ["timed_count", "did you mean 'timed_counts'"]),
    ],
)
def test_readings_that_cannot_be_are_named(changes, words):
    with pytest.raises(ParameterError) as caught:
        readings(**changes)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_speeds_need_counts_per_turn():
    with pytest.raises(ParameterError, match="marked_turns, or counts_per_turn"):
        constants_of(readings(marked_turns=[]))


def test_a_csv_file_of_timed_counts(tmp_path):
    path = tmp_path / "timed.csv"
    path.write_text("setpoint,left_counts,right_counts,duration_s\n50,10000,10400,20\n-50,-10000,-10400,20\n")
    assert [row.setpoint for row in OdometryReadings.load(path).timed_counts] == [50.0, -50.0]
    path.write_text("setpoint,left,right,duration_s\n50,10000,10400,20\n")
    with pytest.raises(ParameterError, match="left_counts"):
        OdometryReadings.load(path)


def scale_of(table):
    robot = find_robot("atrv_jr")
    return Scale.of(uncalibrated_twin(robot, find_ground("lab_floor")).with_powertrain(constants_of(table, robot).powertrain))


def test_counters_that_differ_make_equal_setpoints_for_wheels_that_turn_alike():
    """44000 counts a turn on the left, 22000 on the right: wheels that turn alike count two to one and need one setpoint."""
    scale = scale_of(
        readings(
            marked_turns=[{"side": "left", "counts": 44000}, {"side": "right", "counts": 22000}],
            timed_counts=[{"setpoint": 50, "left_counts": 440000, "right_counts": 220000, "duration_s": 20.0}],
        )
    )
    # Ten turns in 20 s are pi rad/s, at a radius of 0.15 m.
    assert scale.setpoints(1.0, 0.0) == pytest.approx([50 / (math.pi * 0.15)] * 2)
    assert (scale.left.wheel_radius_m, scale.right.wheel_radius_m) == pytest.approx((0.15, 0.15))


def test_marks_that_are_off_do_not_reach_taped_speeds():
    """A speed by tape and stopwatch does not depend on the mark: half a per cent between the marks leaves both sides alike."""
    scale = scale_of(
        readings(
            marked_turns=[{"side": "left", "counts": 44000}, {"side": "right", "counts": 44220}],
            straight_runs=[{"distance_m": 5.0, "left_counts": 230000, "right_counts": 230000}],
            timed_counts=[{"setpoint": 50, "left_counts": 460000, "right_counts": 460000, "duration_s": 20.0}],
        )
    )
    # 460000 counts are 10 m in 20 s: 0.5 m/s at setpoint 50.
    assert scale.setpoints(1.0, 0.0) == pytest.approx((100.0, 100.0))


def test_one_marked_side_stands_for_both_and_says_so():
    found = constants_of(readings(marked_turns=[{"side": "right", "counts": 1000}])).powertrain
    assert found.turn_counts_both == (1000.0, 1000.0)
    assert found.left.counts_per_turn is None
    assert "right side" in found.counts_per_turn.note


def test_counts_known_before_serve_a_table_without():
    known = constants_of(readings()).powertrain
    found = constants_of(readings(marked_turns=[]), known=known).powertrain
    assert found.left.setpoint_per_radps.value == pytest.approx(known.left.setpoint_per_radps.value)
    assert found.right.setpoint_per_radps.value == pytest.approx(known.right.setpoint_per_radps.value)
