"""Slip and friction of real robots from their own sensors."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


def test_turning_on_ice_takes_less_than_half_of_the_current(recordings):
    """BorealTC: below half of that on asphalt and on flooring; lateral friction of ice below a third of asphalt's, surely."""
    from estimate_floors import ASPHALT, ASPHALT_STD, currents
    from slipfit.estimate.friction import friction_beside

    found = currents(recordings)
    assert found["ICE"].turning_a < 0.5 * found["ASPHALT"].turning_a
    assert found["ICE"].turning_a < 0.5 * found["FLOORING"].turning_a
    mu, std = friction_beside(found["ASPHALT"], found["ICE"], ASPHALT, ASPHALT_STD)
    assert mu + 1.645 * std < ASPHALT / 3.0


@pytest.mark.parametrize("surface", ["husky", "gravel"])
def test_the_filter_drifts_less_than_odometry_and_twin_without_pose(recordings, surface):
    """DRIVE: 2 s without pose; median error of place at their end."""
    from estimate_drive import measure

    drift = measure(surface)
    assert drift.place_m["filter"] < drift.place_m["twin, no filter"] < drift.place_m["ideal odometry"]
