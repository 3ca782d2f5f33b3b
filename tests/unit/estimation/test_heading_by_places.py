"""A heading that nobody told: found by the places of GNSS and the way of the wheels, online and of a log."""

from math import pi

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.course import course_of
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.vehicles.kinematic import along_arc

HUSKY = find_robot("husky")
STEP_S, PLACE_M = 0.02, 0.3

WAYS = {
    "ahead": lambda t: (0.8, 0.8),
    "backwards": lambda t: (-0.8, -0.8),
    "standing at first": lambda t: (0.0, 0.0) if t < 5.0 else (0.8, 0.8),
    "a turn on the spot at first": lambda t: (-0.4, 0.4) if t < 4.0 else (0.8, 0.8),
    "a curve": lambda t: (0.6, 0.9),
    "ahead and back": lambda t: (0.8, 0.8) if t < 3.0 else (-0.8, -0.7),
}


def apart(a, b):
    return (a - b + pi) % (2.0 * pi) - pi


def driven(way, seed, *, outliers=0.0, late_s=0.0, until_s=14.0, places_hz=5.0):
    """The filter until it knows its heading: its error then, the spread it says, and what it answered before."""
    draw = np.random.default_rng(seed)
    online = OnlineSlipFilter(HUSKY, settings=FilterSettings(gnss_m=PLACE_M), effective_track_m=HUSKY.track_m)
    pose, slip = np.array([500.0, -300.0, draw.uniform(-pi, pi)]), draw.normal(size=3) * [0.05, 0.05, 0.02]
    waiting, before = [], []
    for k in range(int(until_s / STEP_S)):
        t = k * STEP_S
        rims = np.array(way(t))
        left, right = rims * (1.0 - slip[:2])
        u, r = 0.5 * (left + right), (right - left) / HUSKY.track_m
        online.rims(t, *rims)
        online.gyro(t, r + 0.005 * draw.normal())
        if k % round(1.0 / places_hz / STEP_S) == 0:
            place = pose[:2] + PLACE_M * draw.normal(size=2)
            place += 30.0 * draw.normal(size=2) * (draw.uniform() < outliers)
            waiting.append((t + late_s, t, place))
        while waiting and waiting[0][0] <= t + 1e-9:
            _, when, place = waiting.pop(0)
            now = online.pose(when, *place)
            if now.heading_is_known:
                return apart(now.yaw_rad, pose[2]), float(online._row[13]), before, np.hypot(*(now[10:12] - pose[:2]))
            before.append(now)
        pose = np.array(along_arc(*pose, u, -u * np.tan(slip[2]), r, STEP_S))
    return None


@pytest.mark.parametrize("more", [{}, {"outliers": 0.15}, {"late_s": 0.6}], ids=["plain", "outliers", "late"])
@pytest.mark.parametrize("way", WAYS)
def test_the_heading_is_within_its_stated_spread(way, more):
    """Recovered truth: any heading, 6 seeds. The spread is that of places over the way, at most 0.1 rad, and of the slip angle
    that the filter supposes, about 0.3 rad at its start."""
    found = [driven(WAYS[way], seed, **more) for seed in range(6)]
    assert all(f is not None for f in found)
    errors, spreads = np.array([f[0] for f in found]), np.array([f[1] for f in found])
    assert (np.abs(errors) < 3.0 * spreads).all()
    assert (spreads < 0.6).all()
    # The slip angles of these drives scatter by 0.02 rad, less than the filter supposes: what is left is noise of places.
    assert np.sqrt(np.mean(errors**2)) < 0.2
    assert max(f[3] for f in found) < 5.0 * PLACE_M


def test_before_the_heading_is_known_the_answer_says_so():
    """The place is the last one that was told, the heading counts from the start."""
    _, _, before, _ = driven(WAYS["standing at first"], 3)
    assert before
    assert not any(now.heading_is_known for now in before)
    assert all(abs(now.x_m - 500.0) < 5.0 and abs(now.y_m + 300.0) < 5.0 for now in before)
    assert all(np.isfinite(now).all() for now in before)


def test_a_heading_that_is_told_needs_no_places():
    online = OnlineSlipFilter(HUSKY)
    online.rims(0.0, 0.5, 0.5)
    assert not online.now().heading_is_known
    assert online.pose(0.1, np.nan, np.nan, 1.0).heading_is_known
    assert OnlineSlipFilter(HUSKY).pose(0.0, 1.0, 2.0, 0.5).heading_is_known


def test_a_robot_that_spins_on_the_spot_has_no_course():
    """Wheels go 20 m, places stay: no heading, however long it takes."""
    draw = np.random.default_rng(1)
    way = np.linspace(0.0, 20.0, 100) + 0.0j
    places = 0.3 * (draw.normal(size=100) + 1j * draw.normal(size=100))
    found = course_of(way, places, 0.3)
    assert found is None or not found.is_known


def test_the_spread_of_a_course_is_that_of_least_squares():
    """n places along L scatter the angle by sigma sqrt(12 / n) / L (sum of squares of an even row): over 400 draws."""
    draw, n, length = np.random.default_rng(2), 30, 10.0
    way = np.linspace(0.0, length, n) + 0.0j
    turns = []
    for _ in range(400):
        places = np.exp(0.7j) * way + 0.3 * (draw.normal(size=n) + 1j * draw.normal(size=n))
        turns.append(course_of(way, places, 0.3))
    expected = 0.3 * np.sqrt(12.0 / n) / length
    assert np.std([t.turn_rad for t in turns]) == pytest.approx(expected, rel=0.15)
    assert np.median([t.std_rad for t in turns]) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["ahead", "backwards"])
def test_a_log_with_places_alone_finds_its_heading_past_outliers(direction):
    """A tenth of the places lie 20 m away, the first one too; the robot stands for 5 s at first, and faces 2.2 rad."""

    def rims(t):
        speed = direction * 0.8 * np.clip(t - 5.0, 0.0, 1.0)
        return speed, speed * (1.0 + 0.1 * np.sin(0.2 * t))

    truth = drive(rims, lambda t: (0.05 + 0.0 * t, 0.05 + 0.0 * t, 0.0 * t), 60.0, track_m=HUSKY.track_m)
    log, draw = log_of(truth, 1, pose_hz=5.0, gyro_radps=0.005), np.random.default_rng(4)
    seen = np.exp(2.2j) * (log["pose"].values[:, 0] + 1j * log["pose"].values[:, 1]) + 100.0
    seen += 0.1 * (draw.normal(size=len(seen)) + 1j * draw.normal(size=len(seen)))
    wild = draw.uniform(size=len(seen)) < 0.1
    wild[0] = True
    seen[wild] += 20.0 * np.exp(1j * draw.uniform(0.0, 2.0 * pi, int(wild.sum())))
    gnss = Channel("gnss", log["pose"].stamps_ns, np.column_stack([seen.real, seen.imag]), ("x_m", "y_m"))
    log = DriveLog({"encoders": log["encoders"], "imu": log["imu"], "gnss": gnss}, about="places with outliers")
    settings = FilterSettings(gnss_m=0.1)
    found = estimate(HUSKY, log, settings=settings, late_s={"gyro": 0.0}, effective_track_m=HUSKY.track_m)
    off = apart(found.pose[:, 2], np.interp(found.time_s, truth.time_s, truth.pose[:, 2]) + 2.2)
    assert (np.abs(off) < 3.0 * found.pose_std[:, 2]).all()
    assert np.sqrt(np.mean(off**2)) < 0.15
    assert not any(f.kind == "heading not known" for f in found.findings)


def test_places_of_a_robot_that_hardly_moves_tell_no_heading_and_a_finding_says_so():
    """Ahead and back by 0.2 m among places that scatter by 0.5 m."""

    def rims(t):
        return 0.1 * np.sin(0.5 * t), 0.1 * np.sin(0.5 * t) + 0.01 * np.cos(t)

    truth = drive(rims, lambda t: (0.0 * t, 0.0 * t, 0.0 * t), 20.0, track_m=HUSKY.track_m)
    log = log_of(truth, 1, pose_hz=5.0, gyro_radps=0.005)
    gnss = Channel("gnss", log["pose"].stamps_ns, log["pose"].values[:, :2], ("x_m", "y_m"))
    log = DriveLog({"encoders": log["encoders"], "imu": log["imu"], "gnss": gnss}, about="hardly moving")
    found = estimate(HUSKY, log, settings=FilterSettings(gnss_m=0.5))
    assert any(f.kind == "heading not known" for f in found.findings)
    assert np.isfinite(found.pose).all()


def test_no_places_whatever_make_a_filter_that_is_not_finite():
    """NaN, infinities, huge numbers, late ones, and a clock that is set back, while the heading is looked for and after."""
    wrong = [np.nan, np.inf, -np.inf, 1e300, 0.0, 1e-300]
    for seed in range(5):
        draw = np.random.default_rng(seed)

        def number(size, draw=draw):
            return float(draw.choice(wrong)) if draw.uniform() < 0.15 else float(size * draw.normal())

        online, t = OnlineSlipFilter(HUSKY), 0.0
        online.rims(t, 0.5, 0.5)
        for _ in range(400):
            t += 0.02 - 100.0 * (draw.uniform() < 0.002)
            online.rims(t, number(1.0), number(1.0))
            online.pose(t - draw.choice([0.0, 1.0]), number(100.0), number(100.0), std_m=number(0.3))
            assert np.isfinite(online.now()).all()
