"""Noise of odometry comes back from residuals that were drawn with it."""

import numpy as np
import pytest

from slipfit.calibration.ladder.odometry_noise import amcl_noise, drifts, odometry_noise
from slipfit.library import find_robot
from slipfit.logs.rims import GRID_S
from unit.calibration.ladder.known_drives import HORIZON_S, known_drive, scored_track_and_gain


def arc(way_m, turn_rad, points=51):
    """Poses of a steady arc, a line or a spin, from the origin."""
    share = np.linspace(0.0, 1.0, points)
    heading = share * turn_rad
    if abs(turn_rad) < 1e-9:
        return np.column_stack([share * way_m, 0.0 * share, heading])
    radius = way_m / turn_rad
    return np.column_stack([radius * np.sin(heading), radius * (1.0 - np.cos(heading)), heading])


def nearest_axis(angle):
    return min(abs(angle), abs(np.pi - abs(angle)))


def drawn_by_nav2(path, alphas, random):
    """One update of nav2_amcl's differential motion model, as its source has it: residual odometry minus robot."""
    a1, a2, a3, a4 = alphas
    x, y, turn = path[-1]
    way = np.hypot(x, y)
    rot1 = 0.0 if way < 0.01 else np.arctan2(y, x)
    rot2 = (turn - rot1 + np.pi) % (2.0 * np.pi) - np.pi
    noise1, noise2 = nearest_axis(rot1), nearest_axis(rot2)
    drawn1 = rot1 - random.normal(0.0, np.sqrt(a1 * noise1**2 + a2 * way**2))
    drawn_way = way - random.normal(0.0, np.sqrt(a3 * way**2 + a4 * noise1**2 + a4 * noise2**2))
    drawn2 = rot2 - random.normal(0.0, np.sqrt(a1 * noise2**2 + a2 * way**2))
    robot = np.array([drawn_way * np.cos(drawn1), drawn_way * np.sin(drawn1), drawn1 + drawn2])
    return np.array([x, y, rot1 + rot2]) - robot


def motions(count, random):
    """Straight lines, spins and arcs, ahead and astern, of the size of a few updates."""
    ways, turns = random.uniform(0.3, 1.0, count) * random.choice([-1.0, 1.0], count), random.uniform(-0.6, 0.6, count)
    turns[::3], ways[1::3] = 0.0, 0.0
    return [arc(*motion) for motion in zip(ways, turns, strict=True) if max(abs(motion[0]), abs(motion[1])) > 0.25]


@pytest.mark.parametrize("truth", [(0.02, 0.003, 0.02, 0.01), (0.1, 0.001, 0.05, 0.002)])
def test_alphas_come_back_from_noise_of_nav2s_own_model(truth):
    """1700 variances of each kind are known to about 5 %, where both of two causes act to 15 %; four deviations of the spread."""
    random = np.random.default_rng(3)
    paths = motions(6000, random)
    residuals = np.array([drawn_by_nav2(path, truth, random) for path in paths])
    found = amcl_noise(paths, residuals, np.arange(len(paths)) // 10)
    for k, expected in enumerate(truth, start=1):
        alpha = getattr(found, f"alpha{k}")
        assert alpha.value == pytest.approx(expected, abs=4.0 * alpha.std + 0.03 * expected)
        assert alpha.std < 0.25 * expected
        assert alpha.interval_90[0] < alpha.value < alpha.interval_90[1]


def test_wild_residuals_do_not_carry_the_alphas_away():
    """One residual in a hundred counts as 9 variances at most, 9 % more, shared out unevenly among two causes; squared as it is,
    it would be a thousand variances."""
    random = np.random.default_rng(4)
    paths, truth = motions(3000, random), (0.02, 0.003, 0.02, 0.01)
    residuals = np.array([drawn_by_nav2(path, truth, random) for path in paths])
    calm = amcl_noise(paths, residuals, np.arange(len(paths)))
    residuals[::100] += 5.0
    wild = amcl_noise(paths, residuals, np.arange(len(paths)))
    assert wild.alpha3.value < 1.4 * calm.alpha3.value
    assert wild.alpha1.value < 1.4 * calm.alpha1.value


def test_drift_comes_back_from_white_noise():
    """Velocities with white noise of known density, integrated step by step; 600 windows know a variance to 6 %."""
    random = np.random.default_rng(5)
    densities = np.array([0.02, 0.004, 0.01])
    paths, residuals = [], []
    for _ in range(600):
        u, r = random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)
        path = arc(u * HORIZON_S, r * HORIZON_S, round(HORIZON_S / GRID_S) + 1)
        noise = random.standard_normal((len(path) - 1, 3)) * np.sqrt(densities / GRID_S)
        rate = r + noise[:, 2]
        heading = np.concatenate([[0.0], np.cumsum(rate) * GRID_S])[:-1]
        c, s, v = np.cos(heading), np.sin(heading), u + noise[:, 0]
        robot = np.array([(c * v - s * noise[:, 1]).sum(), (s * v + c * noise[:, 1]).sum(), rate.sum()]) * GRID_S
        paths.append(path)
        residuals.append(path[-1] - robot)
    found = drifts(paths, np.array(residuals), np.arange(600) // 6)
    assert list(found.values()) == pytest.approx(densities, rel=0.25)


def test_errors_that_last_give_the_alphas_of_any_update():
    """A drive that turns by 10 % and goes by 15 % too far, from piece to piece: Var(heading) = alpha1 theta² / 2 on arcs and
    alpha1 theta² on the spot, so alpha1 lies between 0.1² and 2 · 0.1²; Var(way) = alpha3 d², alpha3 = 0.15²."""
    robot = find_robot("husky")
    drive = known_drive(0.9, 0.95, turn_error=0.1, way_error=0.15, pieces=400)
    found = odometry_noise(scored_track_and_gain(drive, robot), drive, HORIZON_S)
    assert 0.85 * 0.1**2 < found.amcl.alpha1.value < 2.3 * 0.1**2
    assert found.amcl.alpha3.value == pytest.approx(0.15**2, rel=0.3)
    assert found.amcl.alpha2.value < 1e-4
    assert found.growth == pytest.approx(1.0, abs=0.1)
    assert found.windows == pytest.approx(400, abs=2)


def test_without_poses_only_the_heading_is_told():
    robot = find_robot("husky")
    drive = known_drive(0.9, 0.95, turn_error=0.1, has_pose=False)
    found = odometry_noise(scored_track_and_gain(drive, robot), drive, HORIZON_S)
    assert found.heading_rad is not None
    assert found.ahead_m is None
    assert found.ahead_m2_per_s is None
    assert found.amcl.alpha1.value > 0.0
    assert found.amcl.alpha3.value is None


def test_a_robot_that_hardly_turns_tells_nothing_of_turning():
    """Straight runs with a turn of a hundredth: whatever the heading errs, turning does not explain it."""
    random = np.random.default_rng(4)
    paths = [arc(1.0, 0.01 * random.standard_normal()) for _ in range(60)]
    found = amcl_noise(paths, 0.02 * random.standard_normal((60, 3)), np.arange(60) // 6)
    assert (found.alpha1.value, found.alpha4.value) == (None, None)
    assert found.alpha2.value == pytest.approx(0.5 * 0.02**2, rel=0.5)  # Var(heading) = 2 alpha2 d²
