"""A robot that loses its grip at once: the filter follows, the alarm comes, and no clock is blamed for it."""

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.library import find_robot
from slipfit.logs import Channel

HUSKY = find_robot("husky")
SETTINGS = FilterSettings(pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
LOST_S = 10.0


def straight(lost_s=None):
    """At 0.5 m/s with a slip of 0.05; of 0.95 after `lost_s`, within a tenth of a second."""

    def slip(t):
        i = 0.05 + (0.0 if lost_s is None else 0.9 * np.clip((t - lost_s) / 0.1, 0.0, 1.0))
        return i + 0.0 * t, i + 0.0 * t, 0.0 * t

    return drive(lambda t: (0.5 + 0.0 * t, 0.5 + 0.0 * t), slip, 20.0)


@pytest.mark.parametrize("smooth", [False, True], ids=["forwards", "smoothed"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_filter_follows_and_the_alarm_comes_once(seed, smooth):
    """Poses at 20 Hz: after a few that are refused slip opens up; a second later it is within three spreads of 0.95. The alarm
    comes within 2 s, the goal."""
    log = log_of(straight(LOST_S), seed, pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
    found = estimate(HUSKY, log, settings=SETTINGS, use=("pose", "gyro"), smooth=smooth)
    later = found.time_s > LOST_S + 1.0
    assert (np.abs(found.slip[later, :2] - 0.95) < 3.5 * found.slip_std[later, :2] + 0.02).all()
    assert len(found.alarms_s) == 1
    assert LOST_S < found.alarms_s[0] <= LOST_S + 2.0
    assert abs(found.late_s.get("pose", 0.0)) < 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_hindsight_grip_was_there_until_it_was_lost(seed):
    """What comes after the loss says nothing about slip before it: smoothed, it is within four spreads of 0.05 until then; and
    the alarm is that of the filter forwards, as online."""
    log = log_of(straight(LOST_S), seed, pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
    known = {"settings": SETTINGS, "use": ("pose", "gyro"), "late_s": {"pose": 0.0, "gyro": 0.0}}
    found, forwards = (estimate(HUSKY, log, smooth=smooth, **known) for smooth in (True, False))
    before = (found.time_s > 1.0) & (found.time_s < LOST_S - 0.05)
    assert (np.abs(found.slip[before, :2] - 0.05) < 4.0 * found.slip_std[before, :2]).all()
    assert found.alarms_s == forwards.alarms_s
    assert found.stuck.tolist() == forwards.stuck.tolist()


@pytest.mark.parametrize("jump_m", [-3.0, -1.0, 1.0])
def test_a_map_that_jumps_ahead_is_no_slip(jump_m):
    """A robot without slip, whose poses jump by some metres along its way at 20 s: what is told stays within four spreads of zero
    at all times, and nothing is stuck."""
    log = log_of(drive(lambda t: (0.5 + 0.0 * t, 0.6 + 0.0 * t), lambda t: (0.0 * t, 0.0 * t, 0.0 * t), 30.0), 1)
    poses = log["pose"]
    time_s, seen = (poses.stamps_ns - poses.stamps_ns[0]) / 1e9, poses.values.copy()
    yaw = np.interp(20.0, time_s, seen[:, 2])
    seen[time_s >= 20.0, :2] += jump_m * np.array([np.cos(yaw), np.sin(yaw)])
    log = log.having(Channel(poses.name, poses.stamps_ns, seen, poses.columns))
    found = estimate(HUSKY, log, settings=FilterSettings(pose_m=0.002, pose_rad=0.002), late_s={"pose": 0.0})
    assert found.is_smoothed
    assert "jumps" in [finding.kind for finding in found.findings]
    assert (np.abs(found.slip_velocity) < 4.0 * found.slip_velocity_std).all()
    assert not found.alarms_s


@pytest.mark.parametrize("lost_s", [4.0, 10.0])
def test_a_robot_that_is_stuck_for_most_of_its_drive_has_no_wrong_unit(lost_s):
    """It goes a twentieth of what its wheels say, as if they spoke in other units; before, it went as far as they said."""
    log = log_of(straight(lost_s), 1, pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
    found = estimate(HUSKY, log, settings=SETTINGS, use=("pose", "gyro"), smooth=False)
    assert not any(finding.kind == "unit" for finding in found.findings)
    assert lost_s < found.alarms_s[0] <= lost_s + 2.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_gyro_that_tells_nothing_is_not_late(seed):
    """A straight drive: the gyro says noise, shifted or not."""
    log = log_of(straight(), seed, pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
    assert "gyro" not in estimate(HUSKY, log, settings=SETTINGS, use=("pose", "gyro"), smooth=False).late_s


def test_online_the_robot_is_stuck_with_a_pose_and_not_told_by_a_gyro_alone():
    truth = straight(2.0)
    online, blind = (OnlineSlipFilter(HUSKY, settings=SETTINGS) for _ in range(2))
    for k in range(0, 600, 2):
        t, (left, right) = float(truth.time_s[k]), truth.rims[k]
        for robot in (online, blind):
            robot.rims(t, float(left), float(right))
            robot.gyro(t, 0.0)
        if k % 6 == 0:
            online.pose(t, *(float(p) for p in truth.pose[k]))
    assert online.now().stuck > 0.9
    assert blind.now().stuck == 0.0


def pivot(lost_s=None):
    """Sides against each other at about 0.45 m/s with a slip of 0.3; of 0.95 after `lost_s`, within a tenth of a second."""

    def slip(t):
        i = 0.3 + (0.0 if lost_s is None else 0.65 * np.clip((t - lost_s) / 0.1, 0.0, 1.0))
        return i + 0.0 * t, i + 0.0 * t, 0.0 * t

    return drive(lambda t: (-0.45 - 0.03 * np.sin(t), 0.45 + 0.03 * np.sin(1.1 * t)), slip, 16.0, track_m=HUSKY.track_m)


@pytest.mark.parametrize("use", [("gyro",), ("gyro", "accelerometer")])
def test_a_gyro_alone_tells_of_a_grip_that_is_lost_in_a_pivot(use):
    """No pose at all. The gate refuses the gyro at first; then turning opens up. Mean slip of both sides is what a gyro tells,
    1 - r B / (w_r - w_l); how it is shared between them is not, no side's slip is told, and the smaller one is not above it."""
    log = log_of(pivot(LOST_S), 1, gyro_radps=0.01)
    found = estimate(HUSKY, log, settings=SETTINGS, use=use, smooth=False)
    later = found.time_s > LOST_S + 0.5
    turning = 1.0 - found.velocity[:, 2] * HUSKY.track_m / np.diff(found.rims_mps)[:, 0]
    assert turning[later] == pytest.approx(0.95, abs=0.03)
    assert found.stuck[later].min() > 0.9 > 0.5 > found.stuck[found.time_s < LOST_S].max()
    assert not found.is_told.any()


def test_a_gyro_says_nothing_new_about_the_way_ahead():
    """What the filter knows of the body's speed ahead is as uncertain after the gyro was refused and followed as without that."""
    before, after = (
        estimate(HUSKY, log_of(truth, 1, gyro_radps=0.01), settings=SETTINGS, use=("gyro",), smooth=False)
        for truth in (pivot(), pivot(LOST_S))
    )
    assert after.velocity_std[-1, 0] == pytest.approx(before.velocity_std[-1, 0], rel=0.05)
    assert not any(finding.kind == "jumps" for finding in after.findings)


def test_online_a_gyro_alone_tells_of_a_pivot_without_grip():
    """As over a log: no side's slip is told, and the robot is stuck."""
    truth, online = pivot(4.0), OnlineSlipFilter(HUSKY, settings=SETTINGS)
    for k in range(0, 600, 2):
        online.rims(float(truth.time_s[k]), *(float(w) for w in truth.rims[k]))
        now = online.gyro(float(truth.time_s[k]), float(truth.twist[k, 2]))
        assert now.stuck < 0.5 or truth.time_s[k] > 4.0
    assert now.stuck > 0.9
    assert not any((now.left_is_told, now.right_is_told, now.angle_is_told))


def test_a_gyro_alone_does_not_tell_how_much_sides_slip():
    """Turns to both sides by 0.6 of what the rims say, as a Husky does on asphalt with no slip ahead: constant ratios of 0.4 of
    both sides would explain it, and nothing says that they are. The body goes on at the rims' mean within its spread."""
    turns = 0.12

    def rims(t):
        away = turns * np.clip(3.0 * np.sin(0.25 * np.pi * t), -1.0, 1.0)  # within a second: where rims jump, slip is doubted
        return 0.3 - away, 0.3 + away

    def slip(t):  # of the turn alone: u is the mean of the rims
        left, right = rims(t)
        lost = 0.4 * 0.5 * (right - left)
        return -lost / left, lost / right, 0.0 * t

    log = log_of(drive(rims, slip, 40.0, track_m=HUSKY.track_m), 1, gyro_radps=0.01)
    found = estimate(HUSKY, log, settings=SETTINGS, use=("gyro", "accelerometer"))
    assert not found.is_told.any()
    assert "way ahead not told" in [f.kind for f in found.findings]
    late = found.time_s > 5.0
    assert found.velocity[late, 0] == pytest.approx(0.3, abs=0.01)
    assert (found.velocity_std[late, 0] > 0.05).all()
    told = estimate(HUSKY, log, settings=SETTINGS, use=("gyro",), effective_track_m=HUSKY.track_m / 0.6)
    assert told.is_told[:, :2].mean() > 0.9
    assert not any(f.kind == "way ahead not told" for f in told.findings)


def test_a_velocity_that_stops_is_followed():
    """Odometry by a camera, say, and no pose: slip is open after three refusals, within three spreads of 0.95 a second later."""
    truth = straight(LOST_S)
    log = log_of(truth, 1)
    stamps = log["pose"].stamps_ns
    at = (stamps - stamps[0]) / 1e9
    seen = np.column_stack([np.interp(at, truth.time_s, column) for column in truth.twist.T])
    seen += np.random.default_rng(1).normal(size=seen.shape) * [0.02, 0.02, 0.01]
    log = log.having(Channel("odometry", stamps, seen, ("vx_mps", "vy_mps", "yaw_rate_radps")))
    settings = FilterSettings(velocity_mps=0.02, velocity_radps=0.01)
    found = estimate(HUSKY, log, settings=settings, use=("odometry",), smooth=False)
    later = found.time_s > LOST_S + 1.0
    assert (np.abs(found.slip[later, :2] - 0.95) < 3.5 * found.slip_std[later, :2] + 0.02).all()
    assert [LOST_S < t <= LOST_S + 2.0 for t in found.alarms_s] == [True]
