"""Examples of failures in motion: what is drawn is the run that failed."""

import pytest

from slipfit.report.study_example import _as_in_run, step_view
from slipfit.simulation.run import resolve
from slipfit.study import prepare
from studies import study
from tracks import climb


@pytest.mark.parametrize("name", ["curb_117mm", "stairs", "ramp_20deg", "ditch"])
def test_robot_and_obstacle_have_the_numbers_of_the_run(name):
    found = resolve("packbot", name)
    numbers = {"height_m": 0.09, "sprocket_radius_m": 0.1, "centre_of_mass_height_m": 0.08, "mass_kg": 30.0}
    robot, drawn = _as_in_run(found, numbers)
    assert drawn.ground.obstacle.height_m == 0.09
    assert drawn.ground.obstacle.kind == found.scenario.ground.obstacle.kind
    assert robot.outline().radius_m == 0.1
    assert robot.outline().mass_above_m == 0.08
    assert robot.mass_kg.value == 30.0


def test_a_run_over_terrain_is_drawn_where_it_began():
    field = {"kind": "field", "terrain": "bump_3cm", "start_m": [0.3, 0.1], "heading_rad": 0.0, "run_m": 1.3}
    _, drawn = _as_in_run(resolve("packbot", climb(mu_static=0.8, obstacle=field)), {"start_x_m": 0.5, "heading_rad": 0.2})
    assert (drawn.start.x_m, drawn.start.y_m) == (0.5, 0.1)
    assert drawn.start.heading_rad == 0.2


def test_a_step_ends_where_friction_does():
    """SPEC 5: 100 mm need a friction of .4607 at 24.739 degrees; with .3 the way ends before, with .5 it goes on to there."""
    model = prepare(study()).model
    ways = [step_view(model, {"curb.height_m": 0.1, "curb.friction": mu})["frames"] for mu in (0.3, 0.5)]
    assert len(ways[0]) < len(ways[1])
    assert "24.7°" in ways[1][-1]["layout"]["annotations"][0]["text"]
