"""Slip maps of made-up robots whose slip by direction is known."""

import json

import numpy as np
import pytest

from slipfit.calibration.omni import SlipMap, calibrate_omni, end_percent, fit_slip_map
from slipfit.calibration.omni.directions import Shapes, over_directions
from slipfit.errors import LogError, ParameterError
from unit.calibration.omni.made_up_runs import ROBOT, line, run

OFFSET_M = (0.006, -0.01)


def truth(travel):
    """Along, across and turn: constant slip, and what a robot with three wheels repeats after a third of a turn.

    Lines do not tell drift that goes with the turn from an offset of the tracked point: 0.4 rad/m times 10 mm are 0.004.
    """
    return 0.8 + 0.06 * np.cos(3.0 * travel), 0.03 * np.cos(3.0 * travel), 0.3 * np.sin(3.0 * travel) - 0.1


def lines(degrees, **others):
    noise = np.random.default_rng(5)
    return [line(a, *truth(a), offset_m=OFFSET_M, noise=noise, **others) for a in np.radians(degrees)]


@pytest.fixture(scope="module")
def found():
    return fit_slip_map(lines(np.arange(5.0, 360.0, 10.0)), ROBOT, surface="felt")


def test_shapes_are_a_fourier_series_where_nothing_turns():
    """Closed form: of a motion n e^(i a) the shape c^m is n e^(i m a); shapes with Z vanish or are constant."""
    angle, size = 0.7, 2.5
    shapes = over_directions(np.array([[size * np.cos(angle), size * np.sin(angle), 0.0]]))[0]
    assert shapes[1] == pytest.approx(size * np.exp(1j * angle))
    assert shapes[2] == shapes[3] == shapes[5] == shapes[7] == 0.0
    assert shapes[8:] == pytest.approx(size * np.exp(1j * angle * np.arange(2, 16)))


def test_shapes_grow_with_the_motion_and_nothing_moves_at_rest():
    motions = np.random.default_rng(1).normal(size=(20, 3))
    assert over_directions(3.0 * motions) == pytest.approx(3.0 * over_directions(motions))
    assert np.all(over_directions(np.zeros((2, 3))) == 0.0)


def test_slip_comes_back_in_directions_that_were_not_driven(found):
    travel = np.radians(np.arange(0.0, 360.0, 10.0))
    for heading, along, across, turn in zip(found.by_travel(travel), *truth(travel), strict=True):
        assert heading.along == pytest.approx(along, abs=0.006)  # 1 mm at both ends of a metre, and what is smoothed
        assert heading.across == pytest.approx(across, abs=0.006)
        assert heading.turn_radpm == pytest.approx(turn, abs=0.004)
        assert heading.slip == 1.0 - heading.along


def test_velocities_are_those_of_the_map(found):
    """Wheels that turn for 0.3 m/s in a direction move the body by the map's share of it; at rest nothing moves."""
    travel = np.radians(np.arange(0.0, 360.0, 30.0))
    ideal = 0.3 * np.column_stack([np.cos(travel), np.sin(travel), np.zeros_like(travel)])
    moved = found.velocity(ideal)
    way = (moved[:, 0] + 1j * moved[:, 1]) * np.exp(-1j * travel)
    along, across, turn = truth(travel)
    assert way.real == pytest.approx(0.3 * along, abs=0.003)
    assert way.imag == pytest.approx(0.3 * across, abs=0.003)
    assert moved[:, 2] == pytest.approx(0.3 * turn, abs=0.002)
    assert np.all(found.velocity(np.zeros((1, 3))) == 0.0)


def test_spreads_hold_the_truth(found):
    travel = np.radians(np.arange(0.0, 360.0, 5.0))
    along = np.array([(h.along - a) / h.along_std for h, a in zip(found.by_travel(travel), truth(travel)[0], strict=True)])
    assert np.mean(np.abs(along) < 1.645) > 0.8


def test_unseen_runs_end_where_they_should(found):
    """Noise of 1 mm at both ends of a metre is 0.15 %, the map's own error as much again; three deviations."""
    for made in lines(np.arange(0.0, 360.0, 30.0)):
        assert end_percent(found.path(made, ROBOT), made) < 0.7
        assert end_percent(found.path(made, ROBOT, measured_heading=True), made) < 0.7
    assert found.left_out_percent < 0.3


def test_slip_that_grows_with_speed_is_told_from_several_speeds():
    """Slip 10 % at 0.1 m/s and 20 % at 0.2: 15 % half way, which no run drove."""
    made = [line(a, 1.0 - v, 0.0, 0.0, speed_mps=v) for a in np.radians(np.arange(0.0, 360.0, 20.0)) for v in (0.1, 0.15, 0.2)]
    found = fit_slip_map(made, ROBOT)
    assert found.shapes.speed_terms == 3
    assert found.by_travel([0.4], 0.125)[0].along == pytest.approx(0.875, abs=0.003)
    assert fit_slip_map(made[::3], ROBOT).shapes == Shapes(found.shapes.length_m)


def test_turning_and_going_may_slip_differently():
    """Arcs lose a tenth of their way to the left and gain a tenth of turn, lines and spins roll: no linear map has that."""
    made = []
    for a in np.radians(np.arange(0.0, 360.0, 30.0)):
        u, v = 0.1 * np.cos(a), 0.1 * np.sin(a)
        made.append(run((u, v, 0.0), (u, v, 0.0)))
        for w in (0.4, -0.4):
            made.append(run((u, v, w), (0.95 * u, 0.95 * v, 1.1 * w)))
    made += [run((0.0, 0.0, w), (0.0, 0.0, w)) for w in (0.8, -0.8)]
    found = calibrate_omni(made, ROBOT)
    assert found.friction is None  # arcs are no steady lines
    assert found.score("slip map").percent < 0.5 < 2.0 < found.score("constants").percent


def test_a_map_survives_its_file(found, tmp_path):
    found.save(tmp_path / "map.json")
    back = SlipMap.load(tmp_path / "map.json")
    assert back.way_weights == pytest.approx(found.way_weights, abs=0.0)
    assert back.by_travel([0.3]) == found.by_travel([0.3])
    assert back.summary() == found.summary()
    with pytest.raises(ParameterError, match="exists"):
        found.save(tmp_path / "map.json")


def test_what_is_no_map_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "b.json").write_text(json.dumps({"schema": "slipfit/omni_slip_map/1", "robot": "x"}))
    for name, words in (
        ("a.json", "expected 'slipfit/omni_slip_map/1'"),
        ("b.json", "not a whole"),
        ("c.json", "cannot be read"),
    ):
        with pytest.raises(ParameterError, match=words):
            SlipMap.load(tmp_path / name)


def test_too_few_runs_are_refused():
    with pytest.raises(LogError, match="expected 4 or more"):
        fit_slip_map(lines([0.0, 10.0]), ROBOT)
