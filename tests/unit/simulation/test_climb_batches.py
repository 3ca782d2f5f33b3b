"""Climbs side by side: what a run is commanded, and how its tracks are divided, are its own."""

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.simulation import simulate, simulate_many
from tracks import climb
from varied import robot_with

PACKBOT = find_robot("packbot")


def on_concrete(**changes):
    return climb(**{"mu_static": 0.9, "duration_s": 1.0, "flipper_angle_rad": 1.2, "starts_rolling": True, **changes})


def belts(batch):
    """Speeds of both belts at the end, (runs, 2)."""
    return np.array([[batch.run(i)[f"belt_{side}_mps"][-1] for side in ("left", "right")] for i in range(len(batch))])


def test_a_faster_robot_turns_as_it_is_commanded():
    """Belts at v - r b/2 and v + r b/2, b the tread: another speed leaves their difference as it is."""
    half = 0.5 * 0.5 * PACKBOT.track_m
    found = belts(simulate_many(PACKBOT, on_concrete(speed_mps=0.2, yaw_rate_radps=0.5), {"speed_mps": [0.2, 0.4]}))
    assert found == pytest.approx(np.array([[0.2 - half, 0.2 + half], [0.4 - half, 0.4 + half]]), abs=0.01)


def test_a_speed_is_varied_from_standstill_too():
    assert belts(simulate_many(PACKBOT, on_concrete(speed_mps=0.0), {"speed_mps": [0.0, 0.3]})) == pytest.approx(
        np.array([[0.0, 0.0], [0.3, 0.3]]), abs=0.01
    )


def test_wider_tracks_turn_by_faster_belts():
    tread = PACKBOT.track_m
    found = belts(simulate_many(PACKBOT, on_concrete(speed_mps=0.0, yaw_rate_radps=0.5), {"tread_m": [tread, 1.5 * tread]}))
    assert found[:, 1] == pytest.approx([0.25 * tread, 0.375 * tread], abs=0.01)


def test_tracks_are_divided_as_those_of_the_robot_alone():
    """A straight run's share of a belt's segments follows from the axles' distance and the sprockets' radius."""
    distance = PACKBOT.wheelbase_m
    batch = simulate_many(PACKBOT, on_concrete(), {"axle_distance_m": [distance, 1.2 * distance, np.nan]})
    for i, axle_distance_m in enumerate([distance, 1.2 * distance]):
        alone = simulate(robot_with(PACKBOT, "axle_distance_m", axle_distance_m), on_concrete())
        assert batch.run(i)["x_m"].tobytes() == alone["x_m"].tobytes()
    assert batch.outcomes[2].name == "DIVERGED"


def test_one_climb_has_the_bits_of_many():
    alone = simulate(PACKBOT, "curb_117mm")
    batch = simulate_many(PACKBOT, "curb_117mm", {"mass_kg": [PACKBOT.mass_kg.value, 30.0]})
    for name, column in alone.columns.items():
        assert batch.run(0)[name].tobytes() == column.tobytes(), name
