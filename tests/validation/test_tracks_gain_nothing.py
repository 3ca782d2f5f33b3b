"""Tracked robots gain no energy from what they touch (SPEC 7.2): on fields, in ditches, over edges met askew.

Kinetic, potential and pressed energy together grow by no more than the work of the motors."""

import numpy as np
import pytest

from slipfit.kernels import as_batch
from slipfit.library import TrackedRobot, find_robot
from slipfit.simulation import climb as climbs
from slipfit.simulation.climb_start import depth_at_start_m
from slipfit.simulation.scenario import find_scenario
from tracks import climb, driven, gained_beyond_motors, track_step_s

#: What a step may gain, J: beside its disc a run bears at once where an edge passes its end, as deep as the disc does; a dent of
#: 0.2 mm under the robot's weight holds k d^2.5 / 2.5 = 0.023 J (docs/theory/tracked, Ends).
DENT_J = 0.05


def _packbot(*without):
    data = find_robot("packbot").to_mapping()
    for key in without:
        del data[key]
    return TrackedRobot.from_mapping(data, where="tests")


@pytest.mark.parametrize("terrain", ["rolling_field", "crater_rim"])
def test_on_fields_robots_gain_no_more_than_their_motors_give(terrain):
    """Eight starts, drawn with one seed, 2 s each. Entries that fill packs were a kilometre above the robot: tilted, off the map,
    under ground that goes on rising, 9.8e11 J."""
    rng, robot = np.random.default_rng(5), _packbot()
    for x, y, heading in np.column_stack([rng.uniform(-2.0, 2.0, (8, 2)), rng.uniform(-3.0, 3.0, 8)]):
        obstacle = {"kind": "field", "terrain": terrain, "run_m": 0.5, "start_m": [x, y], "heading_rad": heading}
        scenario = climb(mu_static=0.8, obstacle=obstacle, duration_s=2.0)
        records, _ = driven(robot, scenario, alone=True)
        gained = np.cumsum(gained_beyond_motors(records, track_step_s(scenario)), axis=1)
        assert gained.max() < DENT_J


@pytest.mark.parametrize("width_m", [0.8, 1.0])
def test_ditches_end_alike_alone_and_side_by_side(width_m):
    """The same equations. Alone, an entry that filled a pack, with an arm of a kilometre, struck what turned at 1 rad/s and threw
    the robot up by 6 m, "climbed" (0.3 m deep, 0.8 m wide, friction 0.8, the first one). Nothing is gained either way."""
    rng = np.random.default_rng(11)
    ranges = {"height_m": (0.15, 0.45), "mu_static": (0.4, 1.0), "speed_mps": (0.15, 0.6)}
    vary = {
        name: np.r_[first, rng.uniform(*ends, 7)] for (name, ends), first in zip(ranges.items(), (0.3, 0.8, 0.3), strict=True)
    }
    obstacle = {"kind": "ditch", "height_m": 0.3, "run_m": width_m}
    scenario = climb(mu_static=0.8, obstacle=obstacle, duration_s=6.0)
    (beside, codes), (alone, codes_alone) = (driven(_packbot(), scenario, vary, alone=each) for each in (False, True))
    assert codes.tolist() == codes_alone.tolist()
    assert alone[:, :200, :3] == pytest.approx(beside[:, :200, :3], abs=1e-9)  # on level ground
    for records in (beside, alone):
        assert gained_beyond_motors(records, track_step_s(scenario)).max() < DENT_J


@pytest.mark.parametrize("degrees", [10, 20, 30, 45])
def test_curbs_of_the_library_met_askew_give_nothing(degrees):
    """Flippers began to bear at their roots, beside the sprockets, 20 mm deep: 2400 J in a step at 30 degrees, 126 J at 45."""
    scenario = find_scenario(f"curb_117mm_yaw_{degrees}deg")
    records, _ = driven(_packbot(), scenario, seconds=6.0, alone=True)
    assert gained_beyond_motors(records, track_step_s(scenario)).max() < DENT_J


def _askew(count):
    rng = np.random.default_rng(11)
    ranges = {"height_m": (0.05, 0.17), "mu_static": (0.4, 1.2), "yaw_rad": (-1.0, 1.0)}
    return {name: rng.uniform(*ends, count) for name, ends in ranges.items()}


@pytest.mark.slow
@pytest.mark.parametrize("without", [(), ("flippers",), ("belly",), ("flippers", "belly")], ids=" ".join)
def test_none_of_96_curbs_met_askew_gives_anything(without):
    """Sharp curbs of 50 to 170 mm, up to 57 degrees from square. Without flippers 14 of 100 such kicked by more than 5 J."""
    scenario = climb(mu_static=0.8, obstacle={"kind": "curb", "height_m": 0.1}, duration_s=8.0)
    records, _ = driven(_packbot(*without), scenario, _askew(96))
    gained = gained_beyond_motors(records, track_step_s(scenario)).max(axis=1)
    print(np.sort(gained)[-5:])
    assert gained.max() < 2.0 * DENT_J


@pytest.mark.parametrize("edge_m", [0.0, 0.03])
def test_an_edge_that_passes_an_end_is_felt_before(edge_m):
    """Quasi-static: the robot is pushed along over a curb of 60 mm in steps of 0.2 mm, at 40 attitudes and heights, askew, nosed
    up and rolled. As long as it is less than 1 mm deep, a step adds no more than its own length (normals are unit vectors) to the
    deepest place; places that bear side by side, at most three, count 3^(1 / 2.5) = 1.55 in the depth of the energy that all
    hold."""
    rng, robot, step = np.random.default_rng(6), _packbot(), 2e-4
    scenario = climb(mu_static=0.8, obstacle={"kind": "curb", "height_m": 0.06, "edge_radius_m": edge_m}, duration_s=0.01)
    x = np.arange(0.0, 1.0, step)
    for yaw, pitch, roll, up in zip(
        *rng.uniform([[-1.0], [0.0], [-0.3], [0.05]], [[1.0], [0.5], [0.3], [0.2]], (4, 40)), strict=True
    ):
        values, n = climbs.varied_numbers(robot, scenario, {"yaw_rad": np.full(len(x), yaw)})
        runs = climbs.climb_runs(robot, scenario, values, n, 0.01, 1)
        begin = runs.begin._replace(
            x=runs.begin.x + x, z=up + runs.begin.z + 0.0 * x, pitch_up=pitch + 0.0 * x, roll=roll + 0.0 * x
        )
        depth = depth_at_start_m(as_batch(runs._replace(begin=begin), n), n)
        shallow = depth[:-1] < 1e-3
        assert (depth[1:] < 1.55 * (depth[:-1] + step))[shallow].all()
