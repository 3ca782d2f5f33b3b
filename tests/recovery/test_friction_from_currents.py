"""Friction that simulated drives were made with comes back from motion and currents, with intervals that hold."""

import sys
from pathlib import Path

import numpy as np
import pytest

from slipfit.estimate import FilterSettings, estimate
from slipfit.estimate.friction import NAMES, DriveConstants, friction
from slipfit.library import find_robot
from slipfit.logs import Channel
from slipfit.simulate import Scenario, simulate

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "estimate"))
from side_drives import drive, log_of, with_currents

HUSKY = find_robot("husky")
SETTINGS = FilterSettings(pose_m=0.002, pose_rad=0.002, slip_floor_mps=0.01, slip_share=0.03)
LENGTH_M = 0.6
AS_GIVEN = DriveConstants(20.0, 0.4)


def weaving(duration_s=60.0):
    """Straight, curves to both sides and turns on the spot, over and over."""

    def rims(t):
        phase = (t % 20.0) / 20.0
        turn = np.where(phase < 0.3, 0.0, np.where(phase < 0.5, 0.15, np.where(phase < 0.7, -0.15, 0.45)))
        ahead = np.where(phase < 0.7, 0.5, 0.0)
        kernel = np.ones(80) / 80.0
        smooth = [np.convolve(np.pad(x, 40, mode="edge"), kernel, mode="same")[40:-40] for x in (ahead, turn)]
        return smooth[0] - smooth[1], smooth[0] + smooth[1]

    def slip(t):
        return 0.1 + 0.02 * np.sin(t), 0.12 + 0.0 * t, 0.0 * t

    return drive(rims, slip, duration_s, track_m=HUSKY.track_m)


TRUTH = weaving()


def found(seed, *, k_true=20.0, k=AS_GIVEN, rolling=0.05, lateral=0.4, noise_a=0.3, truth=TRUTH):
    log = log_of(truth, seed)
    log = with_currents(
        log, truth, HUSKY, mu_rolling=rolling, mu_lateral=lateral, length_m=LENGTH_M, newton_per_ampere=k_true, noise_a=noise_a,
        seed=seed,
    )  # fmt: skip
    motion = estimate(HUSKY, log, settings=SETTINGS, late_s={"pose": 0.0}, smooth=False)
    return friction(motion, log, HUSKY, k, contact_length_m=LENGTH_M)


def test_a_tracked_robots_friction_comes_back_within_five_percent():
    """Both coefficients, of one piece: nothing changes in this drive."""
    result = found(1)
    assert len(result.pieces) == 1
    assert result.pieces[0].value("mu_lateral") == pytest.approx(0.4, rel=0.05)
    assert result.pieces[0].value("mu_rolling") == pytest.approx(0.05, rel=0.05)


@pytest.mark.slow
def test_ninety_percent_intervals_of_friction_cover():
    """60 drives, the force for each ampere drawn from its own spread: 90 % less 3 deviations of a share of 60 are 78 %."""
    draw, hits = np.random.default_rng(5), np.zeros(2)
    for seed in range(60):
        piece = found(seed, k_true=draw.normal(20.0, 0.4)).pieces[0]
        for j, (name, true) in enumerate(zip(NAMES, (0.05, 0.4), strict=True)):
            low, high = piece.interval_90(name)
            hits[j] += low <= true <= high
    assert (hits / 60.0 >= 0.78).all()


def test_a_change_of_floor_shows():
    """From 0.4 to 0.2 of lateral friction at 31 s, in the middle of a block: found within two turns on the spot."""
    result = found(2, lateral=lambda t: np.where(t < 31.0, 0.4, 0.2))
    assert len(result.pieces) == 2
    assert result.changes_s[0] == pytest.approx(31.0, abs=8.0)
    assert result.pieces[0].value("mu_lateral") == pytest.approx(0.4, rel=0.05)
    assert result.pieces[1].value("mu_lateral") == pytest.approx(0.2, rel=0.07)


def test_a_wheeled_robots_friction_comes_back_from_the_simulator():
    """The rover with motors on Coulomb friction of 0.6: currents and motion are the simulator's, whose wheels follow their own
    law. In turns its wheels slide in all directions; what comes back is the coefficient of the ground."""
    from robots import ground_with

    rover = find_robot("lynxmotion_4wd3")
    turns = [{"for_s": 6.0, "v_mps": 0.0, "yaw_rate_radps": w} for w in (2.5, -2.5, 1.8)]
    straight = [{"for_s": 4.0, "v_mps": 0.4}]
    data = {
        "schema": Scenario.kind(),
        "commands": [*straight, *turns, *straight, *turns],
        "sensors": {"encoders": {"rate_hz": 50.0}, "pose": {"rate_hz": 20.0, "position_noise_m": 0.001, "yaw_noise_rad": 0.001}},
    }
    drive_ = simulate(rover, Scenario.from_mapping(data, where="turns"), ground=ground_with("coulomb", mu_long=0.6, mu_lat=0.6))
    stamps = np.round(drive_.time_s * 1e9).astype(np.int64)
    columns = tuple(f"wheel_{k}_current_a" for k in range(4))
    log = drive_.readings.having(Channel("motors", stamps, drive_.effort, columns))
    motion = estimate(rover, log, settings=SETTINGS, late_s={"pose": 0.0})
    result = friction(motion, log, rover)
    assert len(result.pieces) == 1
    assert result.pieces[0].value("mu_lateral") == pytest.approx(0.6, rel=0.05)
