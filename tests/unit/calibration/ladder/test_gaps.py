"""Sensors that pause, sides that are disconnected, poses that say nothing: what is left out is named, the rest tells truth."""

import re
from dataclasses import replace

import numpy as np
import pytest

from slipfit.calibration.ladder import drive_of, fit_rung
from slipfit.calibration.ladder.rungs import drifting_icr, icr, track_and_gain
from slipfit.calibration.ladder.windows import windows_of
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.provenance import with_truth
from slipfit.logs.rims import rims_of, silences
from unit.calibration.ladder.logged_drives import RADIUS_M, STEP_S, TRUTH, logged_drive, moved_by_truth

HUSKY = find_robot("husky")
WIDTH_M = (TRUTH["y_left_m"] - TRUTH["y_right_m"]) / (0.5 * (TRUTH["gain_left"] + TRUTH["gain_right"]))


@pytest.fixture(scope="module")
def log():
    return with_truth(logged_drive(seconds=100), "pose")  # without noise and slip of a law it looks like wheel odometry


def without(channel, begin_s, end_s):
    kept = (channel.time_s < begin_s) | (channel.time_s > end_s)
    return Channel(channel.name, channel.stamps_ns[kept], channel.values[kept], channel.columns)


def having_values(log, name, change):
    """The log with the values of one channel changed in a copy."""
    values = log[name].values.copy()
    change(values)
    return log.having(Channel(name, log[name].stamps_ns, values, log[name].columns))


class TestSilence:
    def test_is_a_gap_of_stamps(self):
        """20 Hz but for 1.4 s at 23.1 s; and what lies before and after everything."""
        time_s = np.arange(0.0, 60.0, 0.05)
        found = silences(time_s[(time_s < 23.11) | (time_s > 24.49)])
        assert len(found) == 3
        np.testing.assert_allclose(found[1], [23.1, 24.5])
        assert found[0, 0] == -np.inf
        assert found[2, 1] == np.inf

    def test_is_not_two_lost_samples_nor_a_slow_source(self):
        time_s = np.arange(0.0, 60.0, 0.05)
        assert len(silences(np.delete(time_s, [100, 101, 500]))) == 2
        assert len(silences(np.arange(0.0, 60.0, 0.5))) == 2

    def test_is_not_a_value_that_repeats(self, log):
        """A robot that stands for 6 s says 0 all the while."""
        standing = (log["encoders"].time_s > 40.0) & (log["encoders"].time_s < 46.0)

        def stand(values):
            values[standing] = 0.0

        rims = rims_of(having_values(log, "encoders", stand), HUSKY)
        assert np.isinf(rims.silent_s).any(axis=1).all()

    @pytest.mark.parametrize("name", ["encoders", "imu"])
    def test_windows_that_touch_it_are_not_used_and_named(self, log, name):
        """3.4 s are within 2 or 3 windows of 2 s; poses are asked for up to 0.3 s before."""
        drive = drive_of(log.having(without(log[name], 23.0, 26.4)), HUSKY)
        windows = drive.windows
        touched = windows.whole & windows.is_silent
        assert 2 <= touched.sum() <= 4
        assert not (windows.is_trusted & windows.is_silent).any()
        assert windows.from_s[touched].min() > 20.5
        assert windows.to_s[touched].max() < 29.0
        sensor = "gyro" if name == "imu" else name
        # The source of 5 Hz was last new up to 0.2 s before.
        assert any(re.search(f"windows are not used: {sensor} silent for 3.[4-7] s at 2[23]", note) for note in drive.notes)

    @pytest.mark.parametrize("gyro", [True, False], ids=["gyro", "no gyro"])
    def test_no_window_of_poses_reaches_across_a_silence_of_them(self, log, gyro):
        """A window of 2 s that begins in 20 s without poses would last from the pose before to the one after, and without a gyro
        nothing counts the turns between."""
        channels = {name: channel for name, channel in log.channels.items() if gyro or name != "imu"}
        silent = replace(log, channels=channels | {"pose": without(log["pose"], 30.0, 50.0)})
        windows = drive_of(silent, HUSKY).windows
        assert len(windows)
        assert (windows.pose_to_s - windows.pose_from_s)[np.isfinite(windows.pose_to_s)].max() < 3.0
        assert not ((windows.from_s > 30.5) & (windows.to_s < 49.5)).any()

    def test_rows_that_are_not_finite_are_none(self, log):
        lost = (log["encoders"].time_s > 50.0) & (log["encoders"].time_s < 54.0)

        def lose(values):
            values[lost, 1] = np.nan

        drive = drive_of(having_values(log, "encoders", lose), HUSKY)
        assert any("encoders silent for 4." in note for note in drive.notes)

    def test_angles_are_not_bridged_either(self, log):
        """The sum of the speeds as angles, without 3 s of them."""
        speeds = log["encoders"]
        angles = np.cumsum(speeds.values, axis=0) * 0.05
        told = Channel("encoders", speeds.stamps_ns, angles, ("left_angle_rad", "right_angle_rad"))
        rims = rims_of(log.having(without(told, 30.0, 33.0)), HUSKY)
        np.testing.assert_allclose(rims.silent_s[1], [30.0, 33.0], atol=0.051)

    def test_a_gyro_that_ends_early_turned_nowhere_after(self, log):
        windows = windows_of(log.having(without(log["imu"], 60.0, 1e9)), rims_of(log, HUSKY))
        assert not windows.is_trusted[windows.from_s > 62.0].any()
        assert any("gyro silent from 60" in words for words in windows.silences)

    def test_a_gyro_that_is_silent_for_most_of_a_drive_is_left_out(self, log):
        """It ends after 30 s of 99: poses tell turns all the while."""
        drive = drive_of(log.having(without(log["imu"], 30.0, 1e9)), HUSKY)
        assert any("the gyro is not used" in note for note in drive.notes)
        assert drive.windows.believed.sum() > 40
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        assert found.value("effective_track_m") / found.value("gain") == pytest.approx(WIDTH_M, rel=0.02)

    def test_the_rest_tells_the_truth(self, log):
        drive = drive_of(log.having(without(log["encoders"], 20.0, 27.0), without(log["imu"], 60.0, 66.0)), HUSKY)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        for name in ("y_left_m", "y_right_m", "gain_left", "gain_right"):
            assert found.value(name) == pytest.approx(TRUTH[name], abs=4.0 * found.std(name) + 0.004)


def test_a_steady_speed_of_a_slow_source_is_no_silence():
    """Five values a second, written twenty times; for 4 s both sides say exactly the same."""
    log = logged_drive(seconds=60)
    steady = (log["encoders"].time_s > 30.0) & (log["encoders"].time_s < 34.0)

    def hold(values):
        values[steady] = 0.5 / RADIUS_M

    drive = drive_of(having_values(log, "encoders", hold), HUSKY)
    assert not any("silent" in note for note in drive.notes)


class TestDeadSide:
    @pytest.mark.parametrize("column", [0, 1])
    @pytest.mark.parametrize("has_gyro", [True, False])
    def test_is_named_and_fatal(self, log, column, has_gyro):
        def cut(values):
            values[:, column] = 0.0

        channels = having_values(log, "encoders", cut).channels
        dead = DriveLog({n: c for n, c in channels.items() if has_gyro or n != "imu"})
        side = ("left", "right")[column]
        with pytest.raises(
            LogError, match=f"the {side} side stays as it is while .* one side disconnected; look after the encoder"
        ):
            drive_of(dead, HUSKY)

    def test_that_never_changes_is_one(self, log):
        def stick(values):
            values[:, 0] = 3.0

        with pytest.raises(LogError, match="the left side stays as it is"):
            drive_of(having_values(log, "encoders", stick), HUSKY)

    def test_of_an_angle_is_found_too(self, log):
        speeds = log["encoders"]
        angles = np.cumsum(speeds.values, axis=0) * 0.05 * [1.0, 0.0]
        told = Channel("encoders", speeds.stamps_ns, angles, ("left_angle_rad", "right_angle_rad"))
        with pytest.raises(LogError, match="the right side stays as it is"):
            drive_of(log.having(told), HUSKY)

    def test_for_a_while_costs_that_while(self, log):
        """From 30 s to 50 s: ten windows of 2 s, and one or two at either end."""
        dead = (log["encoders"].time_s > 30.0) & (log["encoders"].time_s < 50.0)

        def cut(values):
            values[dead, 1] = 0.0

        drive = drive_of(having_values(log, "encoders", cut), HUSKY)
        assert len(drive.inspection.of_kind("dead side")) == 1
        lost = drive.windows.whole & drive.windows.is_silent
        assert 9 <= lost.sum() <= 12
        assert any("encoders silent for 20" in note or "encoders silent for 19" in note for note in drive.notes)
        found = fit_rung(drifting_icr(HUSKY), drive.rims, drive.windows)
        for name in ("y_left_m", "y_right_m", "gain_left", "gain_right"):
            assert found.value(name) == pytest.approx(TRUTH[name], abs=4.0 * found.std(name) + 0.004)

    def test_a_turn_about_a_standing_side_is_none(self):
        """The left side really stands: every drive is a turn about it, by (right - left) / width."""
        real = logged_drive(seconds=60, motion=lambda left, right: (0.4 * right, 0.0 * right, right / WIDTH_M))

        def stand(values):
            values[:, 0] = 0.0

        drive = drive_of(having_values(real, "encoders", stand), HUSKY)
        assert not drive.inspection.of_kind("dead side")


class TestPoseThatSaysNothing:
    @pytest.mark.parametrize("column", [0, 1, 2])
    def test_is_none(self, log, column):
        def forget(values):
            values[:, column] = np.nan

        drive = drive_of(having_values(log, "pose", forget), HUSKY)
        assert any("the pose is not used: its x, y or yaw is never told" in note for note in drive.notes)
        found = fit_rung(track_and_gain(HUSKY), drive.rims, drive.windows)
        assert found.value("effective_track_m") == pytest.approx(WIDTH_M, rel=0.01)

    def test_and_no_gyro_is_an_error(self, log):
        def forget(values):
            values[:, 0] = np.nan

        blind = having_values(log, "pose", forget)
        with pytest.raises(LogError, match="neither gyro nor pose tell how the body turned"):
            drive_of(with_truth(DriveLog({n: c for n, c in blind.channels.items() if n != "imu"}), "pose"), HUSKY)


class TestHorizon:
    def test_longer_than_the_segments_is_refused(self):
        """Segments of 2 s at 20 Hz: 1.95 s from the first row to the last."""
        with pytest.raises(LogError, match=r"starts anew every 1.95 s, sooner than the horizon of 10 s ends; .* 2 s or less"):
            drive_of(logged_drive(seconds=60, segments=True), HUSKY, horizon_s=10.0)

    def test_windows_last_as_long_as_they_say(self):
        """Segments of 1.95 s: windows of 1.4 s are cut from them."""
        drive = drive_of(logged_drive(seconds=60, segments=True), HUSKY, horizon_s=1.4)
        length_s = (drive.windows.to_s - drive.windows.from_s)[drive.windows.whole]
        np.testing.assert_allclose(length_s, 1.4)

    def test_short_segments_are_named(self):
        """Seven are cut in two, and the drive ends in the midst of one."""
        log = logged_drive(seconds=60, segments=True)
        index = log["segments"].values.copy()
        index[(log["segments"].time_s % 8.0) > 7.0] += 1000.0
        drive = drive_of(log.having(Channel("segments", log["segments"].stamps_ns, index, ("index",))), HUSKY)
        assert "15 segments are not used: shorter than the horizon" in drive.notes


class TestStuckWheels:
    """Wheels that spin while the body stays: named, and neither averaged nor taken for a unit."""

    @staticmethod
    def stuck(*, from_s, to_s):
        """A drive whose body stands between two moments, whatever the wheels do."""

        def motion(left, right):
            moves = np.ones(len(left))
            moves[int(from_s / STEP_S) : int(to_s / STEP_S)] = 0.0
            u, v, r = moved_by_truth(left, right)
            return u * moves, v * moves, r * moves

        return logged_drive(motion=motion)

    def test_for_a_while(self):
        drive = drive_of(self.stuck(from_s=40.0, to_s=70.0), HUSKY)
        assert any("wheels spin, the robot hardly moves" in note for note in drive.notes)
        fit = fit_rung(icr(HUSKY), drive.rims, drive.windows)
        assert fit.value("gain_left") == pytest.approx(TRUTH["gain_left"], rel=0.02)

    def test_all_the_time(self):
        with pytest.raises(LogError, match="wheels spin, the robot hardly moves"):
            drive_of(self.stuck(from_s=0.0, to_s=150.0), HUSKY)


def test_a_pose_that_jumps_without_a_gyro_is_refused():
    """5 m and 3 rad every second: nobody can tell who is right, and no unit explains it."""
    log = logged_drive()
    pose, random = log["pose"], np.random.default_rng(2)
    jumps = random.standard_normal((200, 3)) * [5.0, 5.0, 3.0]
    values = pose.values + jumps[(pose.stamps_ns // 1_000_000_000).astype(int)]
    channels = {"encoders": log["encoders"], "pose": Channel("pose", pose.stamps_ns, values, pose.columns)}
    with pytest.raises(LogError, match="contradict the wheels, and no gyro says who is right"):
        drive_of(DriveLog(channels, about="jumps"), HUSKY)


def test_an_encoder_frozen_at_a_speed_is_found():
    """From 40 s to 90 s the left side repeats one speed while the robot goes on turning: those rows are left out."""
    log = logged_drive()
    wheels = log["encoders"]
    values = wheels.values.copy()
    frozen = (wheels.time_s >= 40.0) & (wheels.time_s < 90.0)
    values[frozen, 0] = values[np.argmax(frozen), 0]
    drive = drive_of(log.having(Channel("encoders", wheels.stamps_ns, values, wheels.columns)), HUSKY)
    assert any("left side stays as it is from" in finding.found for finding in drive.inspection.findings)
    fit = fit_rung(icr(HUSKY), drive.rims, drive.windows)
    assert fit.value("gain_left") == pytest.approx(TRUTH["gain_left"], rel=0.02)
