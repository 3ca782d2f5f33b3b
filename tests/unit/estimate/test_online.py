"""The filter on a robot: the same numbers as over a log, late readings, bad readings, alarm."""

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.errors import ParameterError
from slipfit.estimate import FilterSettings
from slipfit.estimate.online import OnlineSlipFilter
from slipfit.library import find_omni_robot, find_robot

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


def test_omni_robots_are_refused():
    with pytest.raises(ParameterError, match="left and a right side"):
        OnlineSlipFilter(find_omni_robot("ohio_omni"))
