"""The filter on a robot: the same numbers as over a log, late readings, bad readings, alarm."""

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.errors import ParameterError
from slipfit.estimation import FilterSettings
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.library import find_robot

HUSKY = find_robot("husky")
SETTINGS = FilterSettings(pose_m=0.005, pose_rad=0.005)


def steady(*values):
    return lambda t: tuple(value + 0.0 * t for value in values)


TRUTH = drive(steady(0.5, 0.6), steady(0.1, 0.2, 0.03), 10.0, track_m=HUSKY.track_m)


def readings(seed=0):
    """(time, kind, numbers) in order, from a simulated log."""
    log, found = log_of(TRUTH, seed, gyro_radps=0.005, pose_m=0.005, pose_rad=0.005), []
    start = log["encoders"].stamps_ns[0]
    radius = HUSKY.wheels.radius_m.value
    for kind, name, columns in (("rims", "encoders", (0, 1)), ("gyro", "imu", (3,)), ("pose", "pose", (0, 1, 2))):
        channel = log[name]
        scale = radius if kind == "rims" else 1.0
        for stamp, row in zip(channel.stamps_ns, channel.values, strict=True):
            found.append(((int(stamp) - int(start)) / 1e9, kind, [scale * row[c] for c in columns]))
    rank = {"rims": 0, "gyro": 1, "pose": 2}
    return sorted(found, key=lambda r: (r[0], rank[r[1]]))


def fed(events, online=None):
    online = online or OnlineSlipFilter(HUSKY, settings=SETTINGS)
    for time_s, kind, numbers in events:
        now = getattr(online, kind)(time_s, *numbers)
    return online, now


def test_slip_comes_out_as_readings_go_in():
    _, now = fed(readings())
    assert now.slip_left == pytest.approx(0.1, abs=3 * now.slip_left_std)
    assert now.slip_right == pytest.approx(0.2, abs=3 * now.slip_right_std)
    assert now.slip_angle_rad == pytest.approx(0.03, abs=3 * now.slip_angle_std_rad)
    assert now.slip_left_std < 0.05
    assert now.stuck < 1e-6


def test_a_late_pose_changes_the_answer_as_if_it_had_come_in_time():
    """Poses that come 0.2 s late, told with the time at which they were true: the same state in the end."""
    events = readings(1)
    _, plain = fed(events)
    late = sorted(events, key=lambda r: r[0] + (0.2 if r[1] == "pose" else 0.0))
    _, now = fed(late)
    assert now.slip_left == pytest.approx(plain.slip_left, abs=1e-6)
    assert now.x_m == pytest.approx(plain.x_m, abs=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
def test_bad_readings_are_counted_and_nothing_else(bad):
    online, before = fed(readings(2)[:400])
    t = before.time_s + 0.001
    for now in (online.rims(t, bad, 0.5), online.gyro(t, bad), online.pose(t, bad, bad, bad), online.pose(bad, 0.0, 0.0)):
        assert np.isfinite([value for value in now if not isinstance(value, bool)]).all()
    assert np.isfinite(list(map(float, online.gyro(t + 0.01, 0.2)))).all()


def test_what_is_older_than_the_memory_is_left_out():
    online, now = fed(readings(3))
    again = online.pose(-5.0, 0.0, 0.0, 0.0)
    assert online.left_out == 1
    assert again == now


def test_spinning_wheels_on_the_spot_are_stuck():
    """Rims at 0.5 m/s, poses that stay: within 2 s the probability is above 0.9."""
    online, draw = OnlineSlipFilter(HUSKY, settings=SETTINGS), np.random.default_rng(0)
    for k in range(200):
        t = 0.01 * k
        online.rims(t, 0.5, 0.5)
        if k % 5 == 0:
            now = online.pose(t, *(0.005 * draw.normal(size=3)))
    assert now.stuck > 0.9


def numbers(now):
    return np.array([float(value) for value in now])


@pytest.mark.parametrize("std", [0.0, -0.01, float("nan"), float("inf")])
def test_poses_whose_spread_is_none_are_left_out(std):
    online, before = fed(readings(4)[:400])
    now = online.pose(before.time_s + 0.001, 100.0, 100.0, 0.0, std_m=std)
    assert online.left_out == 1
    assert now == before


def test_ten_seconds_without_anything_leave_numbers():
    online, before = fed(readings(5)[:400])
    for k in range(20):  # the first ones wait until others confirm their clock
        online.rims(before.time_s + 10.0 + 0.01 * k, 0.5, 0.6)
        now = online.gyro(before.time_s + 10.0 + 0.01 * k, 0.1)
    assert online.restarts == 0
    assert now.time_s == pytest.approx(before.time_s + 10.19)
    assert np.isfinite(numbers(now)).all()
    assert now.slip_left_std > before.slip_left_std


def test_any_order_of_readings_gives_the_same_state():
    """Readings of half a second shuffled, rims among them: all of them within the memory of 2 s."""
    events = readings(6)
    _, plain = fed(events)
    draw = np.random.default_rng(0)
    blocks = [events[k : k + 80] for k in range(0, len(events), 80)]
    shuffled = [event for block in blocks for event in (block[j] for j in draw.permutation(len(block)))]
    # The first pose starts the filter, wherever it is: keep the first block as it came.
    _, now = fed([*events[:80], *shuffled[80:]])
    assert numbers(now)[1:7] == pytest.approx(numbers(plain)[1:7], abs=2e-3)
    assert now.x_m == pytest.approx(plain.x_m, abs=2e-3)


def test_a_clock_that_is_set_back_starts_the_filter_anew():
    online, now = fed(readings(7))
    for k in range(300):
        now = online.rims(-1000.0 + 0.01 * k, 0.5, 0.5)
    assert online.restarts == 1
    assert now.time_s == pytest.approx(-997.01)
    assert np.isfinite(numbers(now)).all()


def test_a_robot_that_starts_far_from_the_origin_is_there_with_its_first_pose():
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    online.rims(0.0, 0.5, 0.5)
    now = online.pose(0.1, 1000.0, -500.0, 2.0)
    assert (now.x_m, now.y_m, now.yaw_rad) == (1000.0, -500.0, 2.0)


def test_a_heading_by_itself_and_then_places_are_the_first_pose():
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    online.pose(0.0, float("nan"), float("nan"), 2.0)
    now = online.pose(0.1, 1000.0, -500.0)
    assert (now.x_m, now.y_m, now.yaw_rad) == (1000.0, -500.0, pytest.approx(2.0))


def test_long_drives_forget_what_is_older_than_two_seconds():
    """Ten seconds at 2 kHz: more readings than the memory has room for; a late pose is still put where it belongs."""
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    for k in range(10_000):
        t = 1e-3 * k
        online.rims(t, 0.5, 0.5)
        online.gyro(t, 0.0)
        if k % 100 == 99 and t > 0.4:
            now = online.pose(t - 0.3, 0.4 * (t - 0.3), 0.0, 0.0)
    assert online.left_out == 0
    assert now.slip_left == pytest.approx(0.2, abs=0.03)


def test_wheels_of_another_robot_are_a_sentence():
    omni = OnlineSlipFilter(find_robot("ohio_omni"))
    with pytest.raises(ParameterError, match="omni wheels"):
        omni.rims(0.0, 0.5, 0.5)
    with pytest.raises(ParameterError, match="3 wheels"):
        omni.wheels(0.0, 1.0, 1.0)
    with pytest.raises(ParameterError, match="left and right"):
        OnlineSlipFilter(HUSKY).wheels(0.0, 1.0, 1.0, 1.0)


def driven(online, begin, end, *, slip=0.2, wrong=None, ahead_s=3600.0, clock_s=0.0, x_m=0.0):
    """Rims at 0.5 m/s and 20 Hz, gyro and pose; one gyro stamp is wrong."""
    for k in range(begin, end):
        t = 0.05 * k + clock_s
        online.rims(t, 0.5, 0.5)
        online.gyro(t, 0.0)
        now = online.pose(t, x_m + 0.5 * (1.0 - slip) * 0.05 * (k - begin), 0.0, 0.0)
        if k == wrong:
            now = online.gyro(t + ahead_s, 0.0)
    return now


@pytest.mark.parametrize("ahead_s", [5.0, 3600.0, 1e9])
def test_one_stamp_in_the_future_is_left_out_and_nothing_else(ahead_s):
    """A single reading from 5 s, an hour or 30 years ahead: the answer stays at the time of all others, slip is 0.2 as before,
    and a robot that then gets stuck is told."""
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    now = driven(online, 0, 200, wrong=100, ahead_s=ahead_s)
    assert (online.left_out, online.restarts) == (1, 0)
    assert now.time_s == pytest.approx(199 * 0.05)
    assert now.left_is_told
    assert now.slip_left == pytest.approx(0.2, abs=0.03)
    assert driven(online, 200, 260, slip=1.0, x_m=199 * 0.02).stuck > 0.9


def test_a_sensor_whose_clock_is_always_ahead_is_left_out():
    """All stamps of the gyro, more of them than of the wheels: wheels and poses in between say what time it is."""
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    for k in range(100):
        online.rims(0.05 * k, 0.5, 0.5)
        for j in range(20):
            online.gyro(100.0 + 0.05 * k + 0.0025 * j, 0.0)
        now = online.pose(0.05 * k, 0.02 * k, 0.0, 0.0)
    assert (online.left_out, online.restarts) == (2000, 0)
    assert now.slip_left == pytest.approx(0.2, abs=0.03)


def test_a_clock_that_is_set_ahead_starts_the_filter_anew():
    """Ten readings of wheels and others confirm it, nine of which are left out."""
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    driven(online, 0, 100)
    now = driven(online, 100, 200, clock_s=1e6)
    assert (online.left_out, online.restarts) == (9, 1)
    assert now.time_s == pytest.approx(1e6 + 199 * 0.05)
    assert now.slip_left == pytest.approx(0.2, abs=0.03)


def test_wheels_alone_confirm_a_clock_by_a_hundred_readings():
    online = OnlineSlipFilter(HUSKY, settings=SETTINGS)
    for k in range(300):
        now = online.rims(0.01 * k + (1000.0 if k >= 150 else 0.0), 0.5, 0.5)
    assert (online.left_out, online.restarts) == (99, 1)
    assert now.time_s == pytest.approx(1002.99)


def test_a_robot_of_the_library_is_found_by_its_name():
    assert OnlineSlipFilter("husky").motion.track_m == HUSKY.track_m


@pytest.mark.parametrize("call", [("rims", "x", 1, 1), ("gyro", 0.0, None), ("pose", 0.0, "far", 0.0), ("wheels", 0.0, "a", "b")])
def test_words_in_place_of_numbers_are_a_sentence(call):
    method, *values = call
    with pytest.raises(ParameterError, match="expected numbers"):
        getattr(OnlineSlipFilter(HUSKY), method)(*values)
