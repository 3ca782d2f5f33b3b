"""Rotation centres, clocks and drift come back from logs as field robots write them; the simplest good model is named."""

import json

import numpy as np
import pytest

from slipfit.calibration.ladder import compare, drive_of, fit_rung, scored
from slipfit.calibration.ladder.bands import bands_of, sizes
from slipfit.calibration.ladder.fit import measured
from slipfit.calibration.ladder.rungs import RegressedRung, drifting_icr, equal_slip, icr, ideal, track_and_gain
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel
from slipfit.logs.provenance import with_truth
from slipfit.logs.rims import rims_of, seldom_hz
from slipfit.report.ladder_figure import draw_ladder
from unit.calibration.ladder.known_drives import known_drive
from unit.calibration.ladder.logged_drives import RADIUS_M, TRUTH, logged_drive

HUSKY = find_robot("husky")


@pytest.fixture(scope="module")
def drive():
    return drive_of(logged_drive(), HUSKY)


@pytest.fixture(scope="module")
def fit(drive):
    return fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)


def test_equal_slip_turns_by_track_and_wheelbase():
    """V_Tr = 2 V_L T / (T^2 + B^2) [Haas2009], with what the robot's file says of its wheels: four, at the ends of T and B."""
    at = np.array(HUSKY.wheels.at_m.value)
    wheelbase, track = np.ptp(at, axis=0)
    model = equal_slip(HUSKY).model({})
    assert (model.track, model.wheelbase) == pytest.approx((track, wheelbase))


def test_speeds_that_a_logger_repeats_are_joined_where_they_are_new():
    """A ramp told five times a second and written twenty times is a ramp; a speed that stays is held until the next is near."""
    stamps = np.arange(0, 10_000_000_000, 50_000_000)
    ramp = np.maximum((stamps - 4_000_000_000) // 200_000_000, 0) * 0.2
    log = logged_drive(seconds=20).having(
        Channel("encoders", stamps, np.column_stack([ramp, ramp]) / RADIUS_M, ("left_speed_radps", "right_speed_radps"))
    )
    rims = rims_of(log, HUSKY)
    at = rims.time_s
    late = (at > 4.6) & (at < 9.0)
    np.testing.assert_allclose(rims.left_mps[late], at[late] - 4.0, atol=0.03)
    np.testing.assert_allclose(rims.left_mps[at < 3.9], 0.0, atol=1e-12)


def test_speeds_too_seldom_for_accelerations_are_told():
    assert seldom_hz(logged_drive(seconds=20)) == pytest.approx(5.0, rel=0.05)
    assert seldom_hz(logged_drive(seconds=20, wheels_hz=20.0)) is None


class TestWhatComesBack:
    @pytest.mark.parametrize("name", TRUTH)
    def test_number(self, fit, name):
        """Within four of its own standard deviations, which are small."""
        assert fit.value(name) == pytest.approx(TRUTH[name], abs=4.0 * fit.std(name) + 0.004)
        assert fit.std(name) < 0.05

    def test_clocks(self, drive, fit):
        """The inspection may move the stamps before; what it moved and what the fit finds add up."""
        log = drive.inspection.log
        moved = {n: (drive.inspection.corrected[n].stamps_ns[-1] - log[n].stamps_ns[-1]) / 1e9 for n in ("imu", "pose")}
        assert fit.value("imu_late_s") - moved["imu"] == pytest.approx(0.04, abs=0.05)
        # A source of 8 Hz is written at 20: on average half a row later than it was new.
        assert fit.value("pose_late_s") - moved["pose"] == pytest.approx(0.3, abs=0.06)

    def test_poses_that_start_anew_tell_the_same(self):
        drive = drive_of(logged_drive(segments=True), HUSKY)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        for name, value in TRUTH.items():
            assert found.value(name) == pytest.approx(value, abs=4.0 * found.std(name) + 0.01)

    def test_without_a_pose_the_track_still_does(self):
        log = logged_drive()
        drive = drive_of(type(log)({n: c for n, c in log.channels.items() if n != "pose"}, about=log.about), HUSKY)
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        width = (TRUTH["y_left_m"] - TRUTH["y_right_m"]) / (0.5 * (TRUTH["gain_left"] + TRUTH["gain_right"]))
        assert found.value("effective_track_m") / found.value("gain") == pytest.approx(width, rel=0.01)


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """90 % intervals of 8 drives and 6 numbers: 48, of which 36 to 48 hold it (binomial, 99.9 %, numbers of one drive alike)."""
    held = 0
    for seed in range(8):
        drive = drive_of(logged_drive(seed=seed, seconds=80), HUSKY)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        held += sum(low <= TRUTH[n] <= high for n in TRUTH for low, high in [found.interval_90(n)])
    assert held >= 36


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [13, 25, 50])
def test_intervals_of_short_drives_hold_the_truth(pieces):
    """26, 50 and 100 s, 60 drives each, whose turns and ways are off by 3 % from piece to piece: of 120 intervals of 90 %, 98 to
    118 hold the truth (binomial, 99 %, both numbers of a drive by themselves)."""
    held = 0
    for seed in range(60):
        drive = known_drive(0.9, 0.95, pieces=pieces, seed=seed, turn_error=0.03, way_error=0.03)
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        for name, truth in (("effective_track_m", 0.9), ("gain", 0.95)):
            low, high = found.interval_90(name)
            held += low <= truth <= high
    assert 98 <= held <= 118


def test_bands_hold_nine_windows_of_ten_of_another_drive(drive):
    """Set on one drive, counted on another: of 74 windows 80 % is three standard deviations below; and no wider than need be."""
    rung = scored(icr(HUSKY), drive)
    bands, other = bands_of(rung, drive), drive_of(logged_drive(seed=5), HUSKY)
    whole = other.windows.whole & other.windows.is_trusted
    place_reach, heading_reach = bands.reach(*sizes(rung, other, other.windows))
    apart = rung.fit.predict(other.rims, other.windows) - measured(other.windows)
    for error, reach in ((np.hypot(apart[:, 0], apart[:, 1]), place_reach), (np.abs(apart[:, 2]), heading_reach)):
        assert (error <= reach)[whole].mean() >= 0.8
        assert np.median(reach[whole]) < 2.0 * np.quantile(error[whole], 0.9)


def test_a_regression_begins_where_its_base_ended(drive):
    """Nothing is left for it here: its terms stay near zero, and predictions as they were."""
    base = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
    found = fit_rung(RegressedRung(drifting_icr(HUSKY)), drive.rims, drive.windows, begin=base.as_values())
    apart = found.predict(drive.rims, drive.windows) - base.predict(drive.rims, drive.windows)
    assert np.median(np.hypot(apart[:, 0], apart[:, 1])) < 0.02


@pytest.fixture(scope="module")
def ladder():
    return compare(logged_drive(seconds=120), robot=HUSKY)


class TestLadder:
    def test_the_model_that_made_the_drive_is_chosen(self, ladder):
        assert ladder.chosen.name == "drifting icr"
        assert ladder.chosen.median_m < 0.7 * ladder["icr"].median_m
        assert ladder.chosen.median_rad < 0.1 * ladder["ideal"].median_rad

    def test_it_prints_and_saves_itself(self, ladder, tmp_path):
        assert "the simplest that is as good as the best is drifting icr" in ladder.summary()
        ladder.save(tmp_path / "ladder.json")
        document = json.loads((tmp_path / "ladder.json").read_text())
        assert document["chosen"] == "drifting icr"
        assert [rung["name"] for rung in document["rungs"]][:3] == ["ideal", "equal slip", "track and gain"]

    def test_it_is_drawn(self, ladder):
        figure = draw_ladder(ladder)
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert "drifting icr (chosen)" in labels


class TestBadInput:
    def test_a_standing_robot_is_named(self):
        log = logged_drive(seconds=30)
        still = log.having(Channel("encoders", log["encoders"].stamps_ns, 0.0 * log["encoders"].values, log["encoders"].columns))
        with pytest.raises(LogError, match="the robot stands; drive it"):
            drive_of(still, HUSKY)

    def test_a_short_drive_is_named(self):
        with pytest.raises(LogError, match="windows of 2 s; expected 12 or more"):
            drive_of(logged_drive(seconds=16), HUSKY)

    def test_poses_that_jump_are_left_out(self):
        """Every tenth second the truth is elsewhere by 5 m: windows across it are not trusted, the others tell what they told."""
        log = logged_drive()
        pose = log["pose"]
        values = pose.values.copy()
        values[:, 0] += 5.0 * np.floor(pose.stamps_ns / 1e10)
        drive = drive_of(log.having(Channel("pose", pose.stamps_ns, values, pose.columns)), HUSKY)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        assert found.value("y_left_m") == pytest.approx(TRUTH["y_left_m"], abs=4.0 * found.std("y_left_m") + 0.01)
        assert 0.6 < drive.windows.is_trusted.mean() < 1.0

    def test_a_pose_that_contradicts_everything_costs_the_pose_only(self):
        """It drifts by 4 m/s, and the user calls it independent: the gyro alone determines the track, and the summary says so."""
        log = logged_drive()
        pose = log["pose"]
        values = pose.values + np.outer(4.0 * pose.stamps_ns / 1e9, [1.0, 0.0, 0.0])
        drifting = log.having(Channel("pose", pose.stamps_ns, values, pose.columns))
        drive = drive_of(with_truth(drifting, "pose"), HUSKY)
        assert any("the pose is not used" in note for note in drive.notes)
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        width = (TRUTH["y_left_m"] - TRUTH["y_right_m"]) / (0.5 * (TRUTH["gain_left"] + TRUTH["gain_right"]))
        assert found.value("effective_track_m") == pytest.approx(width, rel=0.01)

    def test_straight_driving_does_not_tell_the_track(self):
        log = logged_drive(motion=lambda left, right: (0.5 * (left + right), 0.0 * left, 0.0 * left))
        wheels = log["encoders"]
        straight = np.repeat(wheels.values.mean(axis=1, keepdims=True), 2, axis=1)
        drive = drive_of(log.having(Channel("encoders", wheels.stamps_ns, straight, wheels.columns)), HUSKY)
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        assert found.tells("gain")
        assert not found.tells("effective_track_m")

    def test_a_gyros_bias_is_found_beside_a_pose(self):
        log = logged_drive(seconds=100)
        imu = log["imu"]
        drive = drive_of(log.having(Channel("imu", imu.stamps_ns, imu.values + 0.03, imu.columns)), HUSKY)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        assert found.value("gyro_bias_radps") == pytest.approx(0.03, abs=0.003)
        assert found.value("y_left_m") == pytest.approx(TRUTH["y_left_m"], abs=4.0 * found.std("y_left_m") + 0.01)

    def test_ideal_has_no_number_of_motion(self, drive):
        assert fit_rung(ideal(HUSKY), drive.rims, drive.windows).names == ("imu_late_s", "gyro_bias_radps", "pose_late_s")
