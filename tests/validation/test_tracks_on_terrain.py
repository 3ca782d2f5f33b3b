"""Tracked robots over height fields, hard and soft: statics of the slope, level ground by other means, bumps; and refusals.

All runs are single ones, through one kernel."""

import numpy as np
import pytest

from slipfit.errors import SlipfitError
from slipfit.simulation import simulate, simulate_many
from slipfit.simulation.outcome import Outcome
from tracks import climb, own_rest_m, plain_climber

SLOPE_RAD = np.radians(20.0)  # of the terrain slope_20deg, along x


def over(terrain, *, soil=None, **more):
    obstacle = {"kind": "field", "terrain": terrain, **more.pop("obstacle", {})}
    return climb(mu_static=0.8, soil=soil, obstacle=obstacle, **more)


@pytest.fixture(scope="module")
def parked():
    start = {"start_m": [-2.0, 0.5], "run_m": 1.0}
    return simulate(plain_climber(), over("slope_20deg", obstacle=start, speed_mps=0.0, duration_s=1.0, record_s=0.1))


def test_on_a_slope_hard_ground_bears_the_weights_share(parked):
    """Statics: N = m g cos 20 degrees; the start is put down so well that a second is enough to 1e-4."""
    loads = parked["hard_load_left_n"][-1] + parked["hard_load_right_n"][-1]
    assert loads == pytest.approx(plain_climber().mass_kg.value * 9.81 * np.cos(SLOPE_RAD), rel=1e-4)


def test_on_a_slope_the_belts_hold_the_rest(parked):
    """Statics: both drives together m g sin 20 degrees; belts and contacts hold without creeping on."""
    drives = parked["drive_left_n"][-1] + parked["drive_right_n"][-1]
    assert drives == pytest.approx(plain_climber().mass_kg.value * 9.81 * np.sin(SLOPE_RAD), rel=1e-3)
    assert abs(parked["vx_mps"][-1]) < 1e-3


def test_the_robot_stands_as_the_slope_does(parked):
    assert parked.pitch_up_rad[0] == pytest.approx(SLOPE_RAD, abs=1e-6)
    assert parked.pitch_up_rad[-1] == pytest.approx(SLOPE_RAD, abs=1e-3)


def test_a_bump_is_driven_over():
    """Geometry: the robot tips over the top of the bump with its nose up by theta = asin(0.03 / 0.254), its centre of mass then
    e = 81 mm / cos(theta) above the top: 30.6 mm higher than before; at 0.3 m/s a little more. Then it stands as before."""
    run = simulate("packbot", over("bump_3cm", obstacle={"start_m": [0.3, 0.0], "run_m": 1.3}, duration_s=9.0))
    assert run.outcome is Outcome.CLIMBED
    assert run["z_m"].max() - run["z_m"][0] == pytest.approx(0.0306, abs=1e-3)
    assert run["z_m"][-1] == pytest.approx(run["z_m"][0], abs=1e-3)


def test_level_sand_is_the_same_as_a_field():
    """SPEC 5(a), the root of its pressure curve under undersides and sprockets' arcs: 4.61 mm, where undersides alone (5(b)) sink
    4.841 mm."""
    start = {"start_m": [-1.5, 0.0], "run_m": 0.5}
    rest = simulate(
        plain_climber(), over("bump_3cm", soil="dry_sand", obstacle=start, speed_mps=0.0, duration_s=1.5, record_s=0.1)
    )
    assert rest["sinkage_left_m"][-1] == pytest.approx(own_rest_m(), rel=1e-3)


def test_a_ditch_covered_by_sand_is_driven_through(tmp_path):
    """Geometry: h = -0.1 m cos^2(pi s / 2 m). In its middle the robot stands on what lies below its underside of 0.508 m,
    85 to 100 mm lower than the level; driving, it sinks some ten millimetres more than where it stood at first."""
    (tmp_path / "dip.yaml").write_text(
        "schema: slipfit/terrain/1\nname: dip\nheights: {kind: bump, size_m: [6.0, 3.0], spacing_m: 0.05, height_m: -0.1, "
        "length_m: 2.0}\n"
    )
    start = {"start_m": [-1.6, 0.0], "run_m": 3.0}
    run = simulate("packbot", over(str(tmp_path / "dip.yaml"), soil="dry_sand", obstacle=start, speed_mps=0.5))
    assert run.outcome is Outcome.CLIMBED
    assert run["hard_load_left_n"].max() == 0.0
    assert 0.085 < run["z_m"][0] - run["z_m"].min() < 0.11
    assert 0.0 < run["z_m"][0] - run["z_m"][-1] < 0.012


@pytest.mark.parametrize(
    ("obstacle", "sentence"),
    [
        ({"kind": "field"}, "shape is terrain, but which"),
        ({"kind": "curb", "height_m": 0.1, "terrain": "bump_3cm"}, "obstacle.terrain belongs to terrains, and its kind is curb"),
        ({"kind": "curb", "height_m": 0.1, "heading_rad": 0.2}, "obstacle.heading_rad belongs to terrains"),
        (
            {"kind": "field", "terrain": "bump_3cm", "start_m": [2.5, 0.0], "run_m": 1.0},
            "the front at the end, .* lies off the map",
        ),
        ({"kind": "field", "terrain": "bump_4cm", "run_m": 1.0}, "bump_3cm"),
    ],
    ids=["no terrain", "terrain of a curb", "heading of a curb", "off the map", "unknown terrain"],
)
def test_fields_that_make_no_sense_are_refused(obstacle, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        simulate_many("packbot", climb(mu_static=0.8, obstacle=obstacle), {})


def test_a_terrain_beside_the_climbs_file_is_found(tmp_path):
    (tmp_path / "hump.yaml").write_text(
        "schema: slipfit/terrain/1\nname: hump\nheights: {kind: bump, size_m: [4.0, 4.0], spacing_m: 0.05, height_m: 0.02, "
        "length_m: 0.5, at_m: [1.0, 0.0]}\n"
    )
    (tmp_path / "climb.yaml").write_text(
        "schema: slipfit/climb/1\nmu_static: 0.8\nobstacle: {kind: field, terrain: hump.yaml, run_m: 0.5}\nduration_s: 0.02\n"
    )
    run = simulate("packbot", tmp_path / "climb.yaml")
    assert run.outcome is Outcome.TIMED_OUT
