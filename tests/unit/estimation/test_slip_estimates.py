"""Slip from logs with known slip: accuracy, outages, pivots and stops, delays, both formulations, files, bad input."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.errors import LogError, ParameterError
from slipfit.estimation import FilterSettings, SlipEstimate, estimate
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog, read_log
from slipfit.logs.inspection.record import Severity
from slipfit.logs.provenance import with_truth
from slipfit.vehicles.kinematic import IcrDrive, along_arc, body_velocity

sys.path.insert(0, str(Path(__file__).parents[2]))

HUSKY = find_robot("husky")

#: What the synthetic case says of its sensors; slip that moves slowly.
FINE = FilterSettings(
    pose_m=0.002, pose_rad=0.002, slip_floor_mps=0.003, slip_share=0.015, slip_change=0.02, place_m=1e-4, heading_rad=1e-4
)
NOT_LATE = {"pose": 0.0, "gyro": 0.0}


def swaying(t):
    return 0.5 + 0.1 * np.sin(0.5 * t), 0.6 + 0.1 * np.cos(0.3 * t)


def slipping(t):
    turn = 2.0 * np.pi * t
    return 0.10 + 0.05 * np.sin(turn / 20.0), 0.15 + 0.05 * np.cos(turn / 25.0), 0.05 * np.sin(turn / 30.0)


TRUTH = drive(swaying, slipping, 60.0, track_m=HUSKY.track_m)


def true_slip(truth, time_s):
    return np.column_stack([np.interp(time_s, truth.time_s, column) for column in truth.slip.T])


def rms(found, truth, from_s=2.0):
    late = found.time_s > from_s
    return np.sqrt(np.mean((found.slip - true_slip(truth, found.time_s))[late] ** 2, axis=0))


def test_the_synthetic_case_of_the_specification():
    """SPEC 5(b): 2 mm, 2 mrad, 20 Hz; errors of i_L, i_R, alpha, mean over 50 seeds, at most 0.007 each. Forwards only."""
    errors = [
        rms(estimate(HUSKY, log_of(TRUTH, seed), settings=FINE, smooth=False, late_s=NOT_LATE), TRUTH) for seed in range(50)
    ]
    assert (np.mean(errors, axis=0) <= 0.007).all()


def test_the_smoother_is_better_than_the_filter():
    log = log_of(TRUTH, 1)
    ways = [rms(estimate(HUSKY, log, settings=FINE, smooth=way, late_s=NOT_LATE), TRUTH) for way in (False, True)]
    assert (ways[1] < ways[0]).all()


def test_rotation_centres_are_found():
    """The peer formulation, on a drive that is made with rotation centres at 0.4, -0.35 and 0.05 m."""
    half = 0.5 * HUSKY.track_m

    def twist(t):
        return body_velocity(IcrDrive(0.4, -0.35, 0.05, 1.0, 1.0), *swaying(t))

    def slip(t):
        (u, _, r), (left, right) = twist(t), swaying(t)
        return 1.0 - (u - half * r) / left, 1.0 - (u + half * r) / right, 0.0 * t

    truth = drive(swaying, slip, 60.0, track_m=HUSKY.track_m, across=lambda t: twist(t)[1])
    settings = replace(FINE, centre_walk_m=0.01)
    found = estimate(HUSKY, log_of(truth, 2), settings=settings, formulation="centres", late_s=NOT_LATE)
    late = found.time_s > 10.0
    true = np.column_stack([np.interp(found.time_s, truth.time_s, c) for c in truth.twist.T])
    assert found.formulation == "centres"
    assert (np.sqrt(np.mean((found.velocity - true)[late] ** 2, axis=0)) < [0.01, 0.01, 0.02]).all()


def without_poses(log, *spans):
    pose = log["pose"]
    time_s = (pose.stamps_ns - pose.stamps_ns[0]) / 1e9
    kept = np.ones(len(time_s), dtype=bool)
    for begin, end in spans:
        kept &= (time_s < begin) | (time_s > end)
    return log.having(Channel("pose", pose.stamps_ns[kept], pose.values[kept], pose.columns))


def test_slip_goes_on_through_five_seconds_without_pose_and_is_back_after_them():
    """Without poses slip is what it was: it moves by 0.016 a second at most, 0.08 in 5 s. Two seconds after it is known again."""
    found = estimate(HUSKY, without_poses(log_of(TRUTH, 3), (20.0, 25.0)), settings=FINE, smooth=False, late_s=NOT_LATE)
    apart = np.abs(found.slip - true_slip(TRUTH, found.time_s))
    meanwhile, after = (found.time_s > 20.0) & (found.time_s < 25.0), (found.time_s > 27.0) & (found.time_s < 35.0)
    assert apart[meanwhile].max() < 0.09
    assert apart[after].max() < 0.03
    assert found.slip_std[meanwhile].max() > 2.0 * found.slip_std[after].max()


def test_ten_seconds_without_pose_are_a_finding_and_no_nan():
    found = estimate(HUSKY, without_poses(log_of(TRUTH, 3), (20.0, 30.0)), settings=FINE, late_s=NOT_LATE)
    assert any(f.kind == "outage" for f in found.findings)
    for name in ("slip", "slip_std", "velocity", "velocity_std", "pose", "pose_std", "stuck"):
        assert np.isfinite(getattr(found, name)).all(), name


def pivoting(t):
    """Ahead, a turn on the spot, a stop, ahead again; ramps of a second."""
    knots = np.array([0.0, 8.0, 9.0, 16.0, 17.0, 21.0, 22.0, 30.0])
    left = np.interp(t, knots, [0.5, 0.5, -0.4, -0.4, 0.0, 0.0, 0.5, 0.5])
    right = np.interp(t, knots, [0.5, 0.5, 0.4, 0.4, 0.0, 0.0, 0.5, 0.5])
    return left, right


def test_pivots_and_stops_hold_what_nothing_tells_and_leave_without_a_jump():
    """In the pivot V = 0 and the slip angle is unobservable, at rest the slip of both sides: they are held, and shown as held."""
    truth = drive(pivoting, lambda t: (0.1 + 0.0 * t, 0.15 + 0.0 * t, 0.04 + 0.0 * t), 30.0, track_m=HUSKY.track_m)
    found = estimate(HUSKY, log_of(truth, 4), settings=FINE, smooth=False, late_s=NOT_LATE)
    at = found.time_s
    pivot, rest, end = (at > 10.0) & (at < 15.0), (at > 18.0) & (at < 20.5), at > 23.0
    assert not found.is_told[pivot, 2].any()
    assert found.is_told[pivot, :2].all()
    assert not found.is_told[rest].any()
    assert np.ptp(found.slip[rest, 0]) == 0.0
    assert found.is_told[end].all()
    true = true_slip(truth, at)
    assert np.abs(found.slip - true)[end].max() < 0.03
    # No jump: what is told moves from one report to the next by less than its own spread, twice over, and a hundredth.
    told = found.is_told[1:] & found.is_told[:-1] & (at[1:, None] > 2.0)
    moved = np.abs(np.diff(found.slip, axis=0))
    assert (moved <= 2.0 * found.slip_std[1:] + 0.01)[told].all()


def test_the_spread_of_a_slip_angle_has_both_velocities_in_it():
    """atan(-v / u) of 20000 draws of both sides and of v: at 0.6 rad the error of u counts as much as that of v."""
    from slipfit.vehicles.slip_ratios import slip_ratios

    draw = np.random.default_rng(1)
    stds, (u, v) = np.array([[0.04, 0.04, 0.01]]), (0.5, 0.35)
    out = np.empty((1, 9))
    slip_ratios(False, 0.5, np.array([[0.6, 0.6]]), np.array([[u, v, 0.0]]), stds, out)
    sides = u + stds[0, :2] * draw.standard_normal((20000, 2))
    angles = np.arctan(-(v + stds[0, 2] * draw.standard_normal(20000)) / sides.mean(axis=1))
    assert out[0, 2] == pytest.approx(np.arctan(-v / u))
    assert out[0, 5] == pytest.approx(angles.std(), rel=0.05)


def test_a_stuck_turn_on_the_spot_with_constant_rims_is_estimated():
    """Both sides at exactly 0.5 m/s against each other, and the robot stands: slip 1 of both, and an alarm."""
    truth = drive(lambda t: (-0.5 + 0.0 * t, 0.5 + 0.0 * t), lambda t: (1.0 + 0.0 * t, 1.0 + 0.0 * t, 0.0 * t), 12.0)
    found = estimate(HUSKY, log_of(truth, 1, gyro_radps=0.005))
    assert np.abs(np.median(found.slip[:, :2], axis=0)) == pytest.approx([1.0, 1.0], abs=0.02)
    assert found.alarms_s


def test_a_late_pose_is_found_by_the_filter():
    """Poses 0.3 s late, beside a gyro that is not."""
    from slipfit.estimation.clocks import find_delay
    from slipfit.estimation.motion import sides
    from slipfit.estimation.readings import readings_of

    log, motion = log_of(TRUTH, 5, gyro_radps=0.005, late_s=0.3), sides(HUSKY.track_m)
    found = find_delay(readings_of(log, HUSKY, motion, FINE), motion, FINE, "pose")
    assert found.is_told
    assert found.late_s == pytest.approx(0.3, abs=0.02)


def test_an_omni_robots_slip_comes_back():
    """Wheels of Ohio's omni robot turn as for (0.3, 0.1, 1.0); the body does 0.9 of the way ahead and 0.8 of the turn."""
    robot = find_robot("ohio_omni")
    time_s, said = np.arange(0.0, 20.0, 0.02), np.array([0.3, 0.1, 1.0])
    angles = np.outer(time_s, robot.wheel_map() @ said)
    pose = np.zeros((len(time_s), 3))
    for k in range(1, len(time_s)):
        pose[k] = along_arc(*pose[k - 1], 0.27, 0.1, 0.8, 0.02)
    stamps = np.round(time_s * 1e9).astype(np.int64)
    columns = tuple(f"wheel_angle_{k}_rad" for k in range(angles.shape[1]))
    parts = (Channel("encoders", stamps, angles, columns), Channel("pose", stamps, pose, ("x_m", "y_m", "yaw_rad")))
    log = with_truth(DriveLog({channel.name: channel for channel in parts}), "pose")  # a constant share looks like a radius
    found = estimate(robot, log, settings=FINE, late_s=NOT_LATE)
    assert found.slip_names == ("slip_ahead", "slip_aside", "slip_turning")
    assert found.slip[-100:].mean(axis=0) == pytest.approx([0.1, 0.0, 0.2], abs=0.01)


def test_alarms_are_counted_and_a_short_one_names_its_rule():
    """Ten alarms, of which eight are named; and a probability of 1 that did not last for half a second."""
    found = estimate(HUSKY, log_of(TRUTH, 6), settings=FINE, late_s=NOT_LATE)
    many = replace(found, alarms_s=tuple(float(k) for k in range(10)))
    assert "10 alarms, at 0.0 s" in many.summary()
    assert "7.0 s and 2 more" in many.summary()
    short = replace(found, stuck=np.where(found.time_s < 0.2, 1.0, 0.0), alarms_s=())
    assert "no alarm; largest probability 1, for less than the 0.5 s above 0.99 that raise an alarm" in short.summary()


def test_what_was_never_told_has_no_spread(tmp_path):
    """A robot that stands for a second and then drives: no spread of a slip before it is told, and none of zero in a table."""
    truth = drive(lambda t: (np.where(t < 1.0, 0.0, 0.5),) * 2, lambda t: (0.1 + 0.0 * t, 0.1 + 0.0 * t, 0.0 * t), 10.0)
    found = estimate(HUSKY, log_of(truth, 1), settings=FINE, smooth=False, late_s=NOT_LATE)
    assert not found.is_told[0].any()
    assert np.isinf(found.slip_std[0]).all()
    assert np.isnan(found.channels()["slip_estimate"].column("slip_left_std")[0])
    found.save(tmp_path / "slip.json")
    assert np.array_equal(SlipEstimate.load(tmp_path / "slip.json").slip_std, found.slip_std)


def test_a_clock_that_inspection_corrects_is_told_once():
    """Poses 0.3 s late, which inspection is certain of: no second offset by the filter, and no error, because it is mended."""
    found = estimate(HUSKY, log_of(TRUTH, 5, gyro_radps=0.005, late_s=0.3), settings=FINE)
    corrected = [f for f in found.findings if f.kind == "clock offset" and f.is_corrected]
    assert [f.channel for f in corrected] in ([], ["pose"])
    assert len(corrected) + ("pose" in found.late_s) == 1
    assert all(f.severity is not Severity.ERROR for f in corrected)


def test_estimates_go_to_files_and_come_back(tmp_path):
    found = estimate(HUSKY, log_of(TRUTH, 6), settings=FINE, late_s=NOT_LATE)
    found.save(tmp_path / "slip.json")
    again = SlipEstimate.load(tmp_path / "slip.json")
    assert np.array_equal(again.slip, found.slip)
    assert np.array_equal(again.warning_s, found.warning_s)
    assert again.summary() == found.summary()
    found.to_log().save(tmp_path / "slip.mcap")
    log = read_log(tmp_path / "slip.mcap")
    assert np.array_equal(log["slip_estimate"].column("slip_left"), found.slip[:, 0])
    found.to_log().save(tmp_path / "tables")
    assert (tmp_path / "tables" / "slip_estimate.csv").exists()


def test_readings_that_are_no_numbers_are_left_out_and_told():
    log = log_of(TRUTH, 7)
    values = log["pose"].values.copy()
    values[100:140] = np.nan
    values[200:203] = 1e12  # beyond any sensor
    bad = log.having(Channel("pose", log["pose"].stamps_ns, values, log["pose"].columns))
    found = estimate(HUSKY, bad, settings=FINE, smooth=False, late_s=NOT_LATE)
    assert np.isfinite(found.slip).all()
    assert np.isfinite(found.pose).all()


def test_measurements_out_of_order_are_put_in_order():
    log = log_of(TRUTH, 8)
    order = np.arange(len(log["pose"].stamps_ns))
    order[100], order[101] = 101, 100
    pose = log["pose"]
    mixed = log.having(Channel("pose", pose.stamps_ns[order], pose.values[order], pose.columns))
    found = estimate(HUSKY, mixed, settings=FINE, smooth=False, late_s=NOT_LATE)
    assert (rms(found, TRUTH) < 0.01).all()


BAD_NOISE = [("pose_m", 0.0), ("pose_m", -1.0), ("gyro_radps", float("nan")), ("slip_floor_mps", -0.1), ("gate_probability", 1.0)]


@pytest.mark.parametrize(("name", "value"), BAD_NOISE)
def test_noise_that_is_none_is_a_sentence(name, value):
    with pytest.raises(ParameterError, match=name):
        FilterSettings(**{name: value})


def test_a_log_without_wheels_or_without_anything_beside_them_is_a_sentence():
    log = log_of(TRUTH, 9)
    for missing, words in (("encoders", "encoders"), ("pose", "how the body moved|pose|gyro")):
        channels = {name: c for name, c in log.channels.items() if name != missing}
        with pytest.raises(LogError, match=words):
            estimate(HUSKY, replace(log, channels=channels), settings=FINE)


def test_omni_robots_have_no_rotation_centres_of_sides():
    with pytest.raises(ParameterError, match="omni"):
        estimate(find_robot("ohio_omni"), log_of(TRUTH, 9), formulation="centres")


def three_wheels(log):
    """The log as an omni robot's would be: three wheels."""
    encoders = log["encoders"]
    turned = np.cumsum(np.column_stack([encoders.values, encoders.values[:, 0]]), axis=0) * 0.02
    return log.having(Channel("encoders", encoders.stamps_ns, turned, tuple(f"wheel_angle_{k}_rad" for k in range(3))))


def sideways(log):
    commands = np.tile([0.3, 0.3, 0.0], (50, 1))
    return log.having(Channel("commands", log["pose"].stamps_ns[:50], commands, ("v_mps", "vy_mps", "yaw_rate_radps")))


@pytest.mark.parametrize(
    ("robot", "change", "words"),
    [
        (find_robot("ohio_omni"), lambda log: log, "left and a right side.*omni robot"),
        (HUSKY, three_wheels, "tell 3 wheels; husky has 4"),
        (find_robot("packbot"), three_wheels, "tell 3 wheels"),
        (find_robot("optiodom_mecanum"), three_wheels, "3 wheels; optiodom_mecanum is an omni robot on 4"),
        (HUSKY, sideways, "sideways.*omni"),
    ],
    ids=["omni for sides", "husky for three wheels", "tracks for three wheels", "mecanum for three wheels", "husky aside"],
)
def test_a_robot_of_another_kind_than_the_logs_is_a_sentence(robot, change, words):
    with pytest.raises(LogError, match=words):
        estimate(robot, change(log_of(TRUTH, 10)), settings=FINE)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"late_s": {"lidar": 0.1}}, "lidar"),
        ({"late_s": {"pose": float("nan")}}, "late_s of pose"),
        ({"ground": "grass"}, "grounds belong to twins"),
        ({"effective_track_m": -1.0}, "effective_track_m"),
        ({"imu_at_m": (float("nan"), 0.0)}, "imu_at_m"),
        ({"expected": lambda rims: rims}, "slip map"),
    ],
    ids=["sensor", "delay", "ground", "track", "imu", "map"],
)
def test_what_does_not_fit_is_a_sentence(more, words):
    with pytest.raises(ParameterError, match=words):
        estimate(HUSKY, log_of(TRUTH, 10), settings=FINE, **more)


def test_what_is_no_robot_is_a_sentence():
    with pytest.raises(ParameterError, match="robot is of type int; expected a Robot"):
        estimate(3, log_of(TRUTH, 10))


def test_an_effective_track_says_which_slip_to_expect():
    """Without anything but wheels and a gyro that is silent for long, slip in turns is what the effective track says:
    r = (w_r - w_l) / T_eff, so that s_r - s_l = (w_r - w_l) (1 - T / T_eff)."""
    from slipfit.estimation.motion import motion_of

    motion = motion_of(HUSKY, effective_track_m=2.0 * HUSKY.track_m)
    slips = motion.expected_slip(np.array([[0.4, 0.6]]))[0]
    assert slips == pytest.approx([-0.05, 0.05, 0.0])


def test_mcap_and_csv_say_the_same_to_other_readers(tmp_path):
    """rosbags' own decoder by the definitions in the file, and Python's csv."""
    import csv

    from rosbags.highlevel import AnyReader

    found = estimate(HUSKY, log_of(TRUTH, 6), settings=FINE, late_s=NOT_LATE)
    found.to_log().save(tmp_path / "slip.mcap")
    with AnyReader([tmp_path / "slip.mcap"]) as reader:
        (topic,) = [c for c in reader.connections if c.topic.endswith("slip_estimate")]
        rows = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages([topic])]
    assert len(rows) == len(found.time_s)
    assert dict(zip(rows[-1].columns, rows[-1].values, strict=True))["slip_right"] == found.slip[-1, 1]
    found.to_log().save(tmp_path / "tables")
    with (tmp_path / "tables" / "slip_estimate.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["slip_left"]) == found.slip[-1, 0]
    assert float(last["slip_angle_std_rad"]) == found.slip_std[-1, 2]


def test_the_page_shows_what_is_held_and_how_consistent_the_filter_was():
    """A turn on the spot: grey for the slip angle; a line of innovations for the pose."""
    from slipfit.report.estimate_report import estimate_page, over_time

    truth = drive(pivoting, lambda t: (0.1 + 0.0 * t, 0.15 + 0.0 * t, 0.04 + 0.0 * t), 30.0, track_m=HUSKY.track_m)
    found = estimate(HUSKY, log_of(truth, 4), settings=FINE, late_s=NOT_LATE)
    names = [line["name"] for line in over_time(found)["data"]]
    assert {"slip angle, held", "slip left, held", "pose"} <= set(names)
    page = estimate_page(found)
    assert "slip_angle not observable" in page
    (pose,) = found.consistency
    times = np.array(pose.over_time)[:, 0]
    assert (np.diff(times) > 0.0).all()
    assert len(times) == pytest.approx(15, abs=1)


def test_gnss_and_gyro_find_the_heading_and_slip_of_a_robot_that_starts_any_way():
    """Places of 0.3 m at 5 Hz, no heading; the robot starts at 2.5 rad. At the end it is where it is, and its heading known."""
    turn = np.exp(2.5j)
    log = log_of(TRUTH, 11, pose_hz=5.0, pose_m=0.3, gyro_radps=0.005)
    seen = (log["pose"].values[:, 0] + 1j * log["pose"].values[:, 1]) * turn
    gnss = Channel("gnss", log["pose"].stamps_ns, np.column_stack([seen.real, seen.imag]), ("x_m", "y_m"))
    log = replace(log, channels={"encoders": log["encoders"], "imu": log["imu"], "gnss": gnss})
    found = estimate(HUSKY, log, settings=replace(FINE, gnss_m=0.3, gyro_radps=0.005))
    end = (TRUTH.pose[-1, 0] + 1j * TRUTH.pose[-1, 1]) * turn
    assert np.abs(found.pose[-1, 0] + 1j * found.pose[-1, 1] - end) < 0.5
    assert np.angle(np.exp(1j * (found.pose[-1, 2] - TRUTH.pose[-1, 2] - 2.5))) == pytest.approx(0.0, abs=0.1)
    assert (rms(found, TRUTH, from_s=15.0)[:2] < 0.08).all()


def test_a_shaking_imu_is_taken_to_be_as_bad_as_it_is():
    """Noise of 0.05 rad/s and 2 m/s^2 comes back from second differences to a tenth; the pose's 2 mm stays the usual 2 cm."""
    from slipfit.estimation.motion import sides
    from slipfit.estimation.readings import readings_of
    from slipfit.estimation.scatter import widened

    log, settings = log_of(TRUTH, 12, gyro_radps=0.05, accel=2.0), FilterSettings()
    readings = readings_of(log, HUSKY, sides(HUSKY.track_m), settings)
    raised, findings = widened(readings, ("pose", "gyro", "accelerometer"))
    assert raised["gyro"].stds[0] == pytest.approx(0.05, rel=0.1)
    assert raised["pose"].stds[0] == settings.pose_m
    assert [f.channel for f in findings] == ["gyro", "accelerometer"]
    # Means of two readings each, at 50 Hz.
    assert raised["accelerometer"].stds[:2] == pytest.approx(2.0 / np.sqrt(2.0), rel=0.1)
    assert widened(readings, ())[1] == []
