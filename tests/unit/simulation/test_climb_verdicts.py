"""Every verdict of a climb on a scenario that must give it, by a closed form; and runs end with their verdict.

The robot is that of SPEC 5 (`tracks.plain_climber`: underside L = 0.508 m, belts b = 0.07 m wide, 31.77 kg), so W = 311.7 N and
the belts stand on A = 2 b L = 0.0711 m².
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from slipfit.library import TrackedRobot
from slipfit.simulation import simulate, simulate_many
from slipfit.simulation.outcome import Outcome
from tracks import climb, plain_climber

RAMP_RAD = math.radians(20.0)


def ramp(slope_rad, mu, **more):
    obstacle = {"kind": "ramp", "height_m": 0.5, "slope_rad": slope_rad, "distance_m": 0.1}
    return climb(mu_static=mu, obstacle=obstacle, duration_s=30.0, **more)


def mud(cohesion_pa):
    """Water-logged soil without friction and slip-sinkage, of k = 100 kN/m³ and n = 1; a low doorstep 0.4 m ahead."""
    soil = {"k_c": 0.0, "k_phi": 1e5, "n": 1.0, "cohesion_pa": cohesion_pa, "friction_angle_rad": 0.0, "shear_modulus_m": 0.01}
    obstacle = {"kind": "curb", "height_m": 0.03, "distance_m": 0.4}
    return climb(mu_static=0.8, soil=soil | {"slip_sinkage": 0.0}, obstacle=obstacle, duration_s=12.0)


def with_belly(clearance_m):
    data = plain_climber().to_mapping() | {"belly": {"belly_clearance_m": clearance_m, "belly_width_m": 0.25}}
    return TrackedRobot.from_mapping(data, where="tests")


def with_mass_at(x_m, height_m):
    return TrackedRobot.from_mapping(plain_climber().to_mapping() | {"centre_of_mass_m": [x_m, 0.0, height_m]}, where="tests")


def test_a_ramp_is_climbed_from_the_friction_on_that_its_slope_has():
    """A robot that lies on a slope slides below mu = tan(slope), however long its tracks; 3 % for the way it gets there."""
    batch = simulate_many(
        plain_climber(), ramp(RAMP_RAD, 0.5), {"mu_static": math.tan(RAMP_RAD) * np.array([0.9, 0.97, 1.03, 1.1])}
    )
    assert batch.outcomes == (Outcome.SLIPPED, Outcome.SLIPPED, Outcome.CLIMBED, Outcome.CLIMBED)


def test_a_robot_tips_over_backwards_where_its_mass_passes_the_rear_axle():
    """Mass a = 0.134 m ahead of the rear axle and e = 0.3 m up: on a slope steeper than atan(a/e) = 24.07° gravity passes behind
    the rear axle's foot. Slowly, and 2° on either side: at the ramp's foot the robot begins to turn up."""
    robot, limit = with_mass_at(-0.12, 0.3), math.atan(0.134 / 0.3)
    below, above = (simulate(robot, ramp(limit + math.radians(d), 1.0, speed_mps=0.1)) for d in (-2.0, 2.0))
    assert below.outcome is Outcome.CLIMBED
    assert above.outcome is Outcome.TIPPED_BACKWARDS


def test_a_robot_is_stuck_in_mud_that_resists_more_than_it_shears():
    """Sinkage W/(A k) = 43.8 mm; compacting takes 2 b k z²/2 = 13.4 N, and the mud's cohesion gives at most A c: 10.7 N at
    150 Pa, too little, and 213 N at 3 kPa, plenty."""
    assert simulate(plain_climber(), mud(150.0)).outcome is Outcome.STUCK_IN_SOIL
    assert simulate(plain_climber(), mud(3000.0)).outcome is Outcome.CLIMBED


@pytest.mark.parametrize("speed_mps", [0.3, -0.3], ids=["ahead", "back"])
def test_a_robot_without_an_obstacle_is_stuck_in_the_same_mud(speed_mps):
    """Neither ahead nor back, by the same sums: 100 Pa give 7.1 N and a little of the arcs. On 3 kPa the drive reaches its end,
    and no obstacle means no margin."""
    held, free = (
        simulate(plain_climber(), climb(mu_static=0.8, soil=mud(cohesion).ground.soil, speed_mps=speed_mps, duration_s=12.0))
        for cohesion in (100.0, 3000.0)
    )
    assert held.outcome is Outcome.STUCK_IN_SOIL
    assert held.stopped_at_s < 12.0
    assert free.outcome is Outcome.FINISHED
    assert held.margin is free.margin is None
    assert "margin" not in free.summary()


def test_a_robot_that_sinks_to_its_middle_is_stuck():
    """Mud a twentieth as stiff: W / (A k) would be 0.88 m."""
    soil = mud(3000.0).ground.soil | {"k_phi": 5e3}
    deep = simulate(plain_climber(), climb(mu_static=0.8, soil=soil, speed_mps=0.0, duration_s=2.0))
    assert deep.outcome is Outcome.STUCK_IN_SOIL
    assert deep["z_m"][-1] < 0.0


def test_a_robot_whose_belly_bears_most_is_high_centred():
    """Linear soil: k (A z + A_b (z - c) + sum A_a (z - a)+) = W with the belly's A_b = 0.25 L and c = 5 mm, and of the sprockets'
    arcs pieces of 15°, a = R (1 - cos) up, with A_a = 4 b (pi/12 R) cos, gives z = 18.0 mm and 53 % of the weight on the belly,
    whose cohesion of 127 N outdoes the belts' 71 N. With c = 60 mm, more than the 43.8 mm of belts alone, the same robot drives
    up to the doorstep."""
    centred, free = (simulate(with_belly(c), mud(1000.0)) for c in (0.005, 0.06))
    assert centred.outcome is Outcome.HIGH_CENTRED
    angles = np.radians(np.arange(7.5, 90.0, 15.0))
    up, arcs = 0.089 * (1.0 - np.cos(angles)), 4.0 * 0.07 * 0.089 * np.pi / 12.0 * np.cos(angles)
    own = brentq(
        lambda z: 0.07112 * z + 0.127 * (z - 0.005) + arcs @ np.maximum(z - up, 0.0) - 31.77 * 9.81 / 1e5, 0.01, 0.03, xtol=1e-14
    )
    assert own == pytest.approx(0.0180, abs=1e-4)
    assert centred["z_m"][0] == pytest.approx(0.075 - own, abs=1e-8)
    assert own <= centred["deepest_m"].max() < own + 1e-3  # the belts' pull lets it squat by some milliradians
    assert centred["belly_load_n"][-1] / 311.7 == pytest.approx(0.53, abs=0.01)
    assert free["belly_load_n"].max() == 0.0
    assert free["x_m"][-1] > 0.39 > 0.1 > centred["x_m"][-1]


def test_whoever_is_not_there_in_time_has_timed_out():
    """One metre at 0.1 m/s takes ten seconds; there are five."""
    obstacle = {"kind": "curb", "height_m": 0.05, "distance_m": 1.0}
    late = simulate(plain_climber(), climb(mu_static=0.8, speed_mps=0.1, obstacle=obstacle, duration_s=5.0))
    assert late.outcome is Outcome.TIMED_OUT
    assert late.stopped_at_s == pytest.approx(5.0)
    assert late["time_s"][-1] == pytest.approx(5.0)


def test_runs_end_with_their_verdict():
    """Slipping is told after `patience_s` without progress, here 2 s; a ramp of 0.5 m at 0.3 m/s and 20° takes longer than
    (0.1 + 0.5 / sin 20° + L) / 0.3 = 6.9 s. Nothing is recorded after either, and the rest of the 30 s is not driven."""
    batch = simulate_many(plain_climber(), ramp(RAMP_RAD, 0.5, patience_s=2.0), {"mu_static": [0.3, 0.8]})
    slipped, climbed = batch.run(0), batch.run(1)
    assert 2.0 < slipped.stopped_at_s < 6.9 < climbed.stopped_at_s < 10.0
    for run in (slipped, climbed):
        assert 0.0 <= run.stopped_at_s - run["time_s"][-1] < 0.02  # record_s
    assert (batch.margin > 0.0).tolist() == [False, True]


def test_many_climbs_are_kept_as_a_table(tmp_path):
    """What was varied and how it ended, one row per run, read back as numbers to the last digit."""
    batch = simulate_many(plain_climber(), ramp(RAMP_RAD, 0.5), {"mu_static": [0.3, 0.8]}, ends_only=True)
    batch.save(tmp_path / "runs.csv")
    names, *rows = [line.split(",") for line in (tmp_path / "runs.csv").read_text().splitlines()]
    ends = ["end_x_m", "end_y_m", "end_heading_rad"]
    assert names == ["run", "mu_static", "outcome", *ends, "margin", "stopped_at_s", "deepest_m"]
    assert [row[:3] for row in rows] == [["0", "0.3", "slipped"], ["1", "0.8", "climbed"]]
    assert [float(row[6]) for row in rows] == batch.margin.tolist()
