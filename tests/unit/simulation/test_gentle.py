"""Moves within the static limit: their areas and slopes in closed form, and the slip that they save in the simulator."""

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.library import Parameter, find_ground, find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import command_table
from slipfit.simulation.gentle import REST_S, STEEPEST, gentle_move, saved_slip

OHIO, PAPER = find_robot("ohio_omni"), find_ground("ohio_paper")
_WHEELS = OHIO.wheels.model_copy(update={"rigid_fraction": Parameter("rigid_fraction", 0.0)})
ALL_ROLLERS = OHIO.model_copy(update={"wheels": _WHEELS})
DELTA = np.radians(15.0)


@pytest.mark.parametrize("profile", list(STEEPEST))
@pytest.mark.parametrize("speed", [0.1, 5.0])
def test_profiles_cover_the_way_and_keep_to_their_share(profile, speed):
    """Along x the limit has a closed form (mu_w (1 + sin) -+ 2 mu_t cos) g / 3; the commanded wheels integrate to the way, and
    their steepest slope, over 10 ms because ramps begin within a step, is the share of that limit that was asked for."""
    values = PAPER.values()
    limits = [
        9.81 / 3.0 * (values["mu_w"] * (1.0 + np.sin(DELTA)) + sign * 2.0 * values["mu_t"] * np.cos(DELTA)) for sign in (-1, 1)
    ]
    move = gentle_move(OHIO, PAPER, way_m=0.4, speed=speed, profile=profile, share=0.5)
    scenario = Scenario(commands=move.commands(), step_s=0.0005)
    speeds = command_table(OHIO, scenario) @ np.linalg.pinv(OHIO.wheel_map()).T
    assert np.abs(speeds[:, 1:]).max() < 1e-12
    assert speeds[:, 0].sum() * scenario.time_step_s == pytest.approx(0.4, rel=2e-3)
    slopes = (speeds[20:, 0] - speeds[:-20, 0]) / (20 * scenario.time_step_s)
    assert slopes.max() == pytest.approx(0.5 * limits[0], rel=0.03)
    assert slopes.min() == pytest.approx(-0.5 * limits[1], rel=0.03)
    assert move.duration_s == pytest.approx(len(speeds) * scenario.time_step_s - REST_S, abs=1e-3)


def test_profiles_save_the_slip_of_steps():
    """0.4 m at up to 0.5 m/s, wheels all rollers: steps slide by centimetres, profiles by millimetres."""
    moves = {profile: gentle_move(ALL_ROLLERS, PAPER, way_m=0.4, speed=0.5, profile=profile) for profile in STEEPEST}
    saved = saved_slip(ALL_ROLLERS, PAPER, moves)
    assert saved.slid_m["step"] > 0.05
    for profile in STEEPEST:
        assert saved.slid_m[profile] < 0.1 * saved.slid_m["step"]
        assert saved.place_error_m[profile] < 0.1 * saved.place_error_m["step"]
    assert "wheels slid" in saved.summary()


def test_gaps_between_rollers_slip_however_gently_one_drives():
    """Rigid parts are dragged sideways at any acceleration (document 002's improved model): profiles save only what steps add."""
    saved = saved_slip(OHIO, PAPER, {"quintic": gentle_move(OHIO, PAPER, way_m=0.4, speed=0.4 / 3.5)})
    assert 0.5 * saved.slid_m["step"] < saved.slid_m["quintic"] < saved.slid_m["step"]


def test_turns_have_a_sense():
    move = gentle_move(ALL_ROLLERS, PAPER, turn_rad=-1.0, speed=1.0)
    assert move.commands()[0].yaw_rate_radps == pytest.approx(-1.0)
    assert saved_slip(ALL_ROLLERS, PAPER, {"quintic": move}).runs["quintic"].heading_rad[-1] == pytest.approx(-1.0, abs=0.01)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"speed": 1.0}, "a move is a way or a turn"),
        ({"speed": 1.0, "way_m": 1.0, "turn_rad": 1.0}, "a move is a way or a turn"),
        ({"speed": 0.0, "way_m": 1.0}, "expected a speed above 0"),
        ({"speed": 1.0, "way_m": -1.0}, "expected a way above 0"),
        ({"speed": 1.0, "way_m": 1.0, "profile": "cubic"}, "expected linear"),
        ({"speed": 1.0, "way_m": 1.0, "share": 1.5}, "a share of the limit up to 1"),
    ],
)
def test_impossible_moves_are_refused(asked, said):
    with pytest.raises(ParameterError, match=said):
        gentle_move(OHIO, PAPER, **asked)


def test_rollers_that_grip_better_than_wheels_allow_no_move():
    slippery = PAPER.model_copy(update={"parameters": {**PAPER.parameters, "mu_w": Parameter("mu_w", 0.02)}})
    with pytest.raises(ParameterError, match="no move goes without slip"):
        gentle_move(OHIO, slippery, way_m=1.0, speed=0.5)
