"""Soil at the ends of tracks, and how long belts carry what they have sheared: the compiled functions as plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from slipfit.kernels.space import Vec3
from slipfit.vehicles import track_soil

DISCS = SimpleNamespace(  # rear and front of the left side, of the right side
    x=[-0.25, 0.25, -0.25, 0.25], y=[0.17, 0.17, -0.17, -0.17], z=[0.0] * 4, radius=[0.09] * 4
)
STATIONS = SimpleNamespace(x=[0.0, 0.0], width=[0.07, 0.07])


def leading(monkeypatch, speed_mps, yaw_rate_radps, side):
    """Where soil resists a side, and N s/m, in soil that resists with 100 N per metre of wall."""
    monkeypatch.setattr(track_soil, "place_of", lambda place, now, x, y, z: Vec3(x, y, z))
    monkeypatch.setattr(track_soil, "soil_depth", lambda ground, memory, x, y, z: 0.01)
    monkeypatch.setattr(track_soil, "_pushed_aside", lambda soil, depth: 100.0)
    robot = SimpleNamespace(tables=SimpleNamespace(discs=DISCS, stations=STATIONS), ground=None, soil=None)
    state = SimpleNamespace(velocity=Vec3(speed_mps, 0.0, 0.0), rate=Vec3(0.0, 0.0, yaw_rate_radps), place=None)
    drag, low = track_soil.end_resistance(robot, None, state, None, side)
    return low.x, drag


@pytest.mark.parametrize(("side", "leads"), [(0, -0.25), (1, 0.25)], ids=["left", "right"])
def test_in_a_turn_to_the_left_soil_resists_the_rear_of_the_left_track_and_the_front_of_the_right_one(monkeypatch, side, leads):
    """Rigid body: a point at (x, y) goes ahead with v - w y. Turning on the spot at 1 rad/s the left side, y = 0.17 m, goes back
    with 0.17 m/s and the right side goes ahead."""
    assert leading(monkeypatch, 0.0, 1.0, side)[0] == leads


def test_the_outer_track_of_a_curve_meets_its_soil_faster(monkeypatch):
    """The same: at 0.3 m/s and 1 rad/s the left side goes 0.13 m/s and the right one 0.47 m/s; 7 N over these speeds."""
    for side, speed in ((0, 0.13), (1, 0.47)):
        where, drag = leading(monkeypatch, 0.3, 1.0, side)
        assert where == 0.25
        assert drag == pytest.approx(np.divide(7.0, speed), rel=1e-12)
