"""Files of version 1 are read as what version 2 writes for the same drive; what cannot be converted names the key."""

import pytest

from slipfit.errors import SlipfitError
from slipfit.simulation import Scenario
from slipfit.simulation.scenario import as_scenario

SOIL = {
    "k_c": 990.0,
    "k_phi": 1528430.0,
    "n": 1.1,
    "cohesion_pa": 1040.0,
    "friction_angle_rad": 0.48869,
    "shear_modulus_m": 0.012,
}
CURB = {"kind": "curb", "height_m": 0.1, "distance_m": 0.4}


def old(kind, **keys):
    return Scenario.from_mapping({"schema": f"slipfit/{kind}/1", **keys}, where="old.yaml")


def new(**keys):
    return as_scenario(keys)


def test_a_scenario_of_wheels_keeps_its_keys():
    keys = {"ground": {"slope_rad": 0.1, "surface": "gravel"}, "commands": [{"for_s": 1.0, "v_mps": 0.2}], "step_s": 0.0005}
    assert old("scenario", **keys) == new(**keys)


@pytest.mark.parametrize(
    ("climb", "scenario"),
    [
        pytest.param(
            {"obstacle": CURB, "mu_static": 0.9, "mu_dynamic": 0.8, "soil": SOIL, "starts_rolling": True},
            {
                "ground": {"shape": "obstacle", "obstacle": CURB, "mu_static": 0.9, "mu_dynamic": 0.8, "soil": SOIL},
                "start": {"rolling": True},
                "straight": {"speed_mps": 0.3, "ramp_s": 0.5},
                "stop": {"after_s": 9.0},
            },
            id="curb",
        ),
        pytest.param(
            {"surface": "ice", "speed_mps": 0.0, "yaw_rate_radps": 1.0, "duration_s": 4.0, "flipper_angle_rad": 1.2},
            {
                "ground": {"surface": "ice"},
                "commands": [{"for_s": 4.0, "v_mps": 0.0, "yaw_rate_radps": 1.0, "profile": "linear", "ramp_s": 0.5}],
                "start": {"flipper_angle_rad": 1.2},
            },
            id="turn on level ground",
        ),
        pytest.param(
            {"mu_static": 0.8, "obstacle": {"kind": "field", "terrain": "bump_3cm", "start_m": [0.3, 0.1], "run_m": 1.3}},
            {
                "ground": {"shape": "terrain", "terrain": "bump_3cm", "mu_static": 0.8},
                "start": {"x_m": 0.3, "y_m": 0.1},
                "straight": {"speed_mps": 0.3, "distance_m": 1.3},
                "stop": {"after_s": 9.0},
            },
            id="terrain",
        ),
        pytest.param(
            {"obstacle": CURB, "mu_static": 0.9, "yaw_rate_radps": 0.1, "patience_s": 5.0, "ramp_s": 0.0},
            {
                "ground": {"shape": "obstacle", "obstacle": CURB, "mu_static": 0.9},
                "commands": [{"for_s": 9.0, "v_mps": 0.3, "yaw_rate_radps": 0.1}],
                "stop": {"patience_s": 5.0},
            },
            id="turning at a curb",
        ),
    ],
)
def test_a_climb_becomes_ground_and_task(climb, scenario):
    """Version 1 drove under 9.81 m/s² unless it said otherwise."""
    scenario["ground"]["gravity_mps2"] = 9.81
    assert old("climb", **climb) == new(**scenario)


def test_a_climb_that_ends_on_its_ramp_ends_at_the_same_speed():
    """0.4 m/s after 2 s is 0.1 m/s after 0.5 s."""
    (command,) = old("climb", mu_static=0.8, speed_mps=0.4, ramp_s=2.0, duration_s=0.5).commands
    assert (command.v_mps, command.ramp) == (pytest.approx(0.1), 0.5)


@pytest.mark.parametrize(
    ("climb", "sentence"),
    [
        (
            {"mu_static": 0.8, "yaw_rate_radps": 0.5, "obstacle": {"kind": "field", "terrain": "bump_3cm"}},
            r"old.yaml: yaw_rate_radps = 0.5 on a terrain cannot be converted .* slipfit/scenario/2 with `straight:",
        ),
        (
            {"mu_static": 0.8, "obstacle": CURB | {"start_m": [0.0, 1.0]}},
            r"obstacle.start_m belongs to terrains, and",
        ),
        ({"mu_static": 0.8, "sped_mps": 0.3}, r"old.yaml: unknown key 'sped_mps' of slipfit/climb/1; did you mean 'speed_mps'"),
        ({"mu_static": 0.8, "obstacle": 5}, r"old.yaml: ground.obstacle: found 5; expected keys and values"),
        ({"mu_static": 0.8, "obstacle": {"kind": "step", "height_m": 0.1}}, r"ground.obstacle.kind: found 'step'"),
        ({"mu_static": "high"}, r"mu_static"),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(climb, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        old("climb", **climb)
