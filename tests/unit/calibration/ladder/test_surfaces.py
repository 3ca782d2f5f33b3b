"""Drives with known tracks: equal ones are one floor, others are not, and what is shared is told number by number."""

import json

import numpy as np
import pytest
from known_drives import known_drive

from slipfit.calibration.ladder.rungs import drifting_icr, track_and_gain
from slipfit.calibration.ladder.surfaces import FAR_WORSE, SURE, _compared, same_floor_of_drives
from slipfit.library import find_robot

HUSKY = find_robot("husky")


def compared(track_m, gain=0.95, *, seed=2, rung=None):
    errors = {"turn_error": 0.05, "way_error": 0.05}
    first, second = known_drive(0.85, 0.95, seed=1, **errors), known_drive(track_m, gain, seed=seed, **errors)
    return same_floor_of_drives(first, second, rung or track_and_gain(HUSKY))


def test_two_drives_on_one_floor():
    test = compared(0.85)
    assert test.is_same
    assert test.probability > SURE
    assert test.per_ground == ()
    # A third of 150 windows turn on the spot, a third go straight without any error of heading: medians scatter by this.
    assert test.worse < FAR_WORSE


def test_another_track_is_another_floor_but_the_gain_is_shared():
    test = compared(1.0)
    assert not test.is_same
    assert test.per_ground == ("effective_track_m",)
    track = test.numbers[0]
    # Errors of 5 % in turns and ways, about 50 pieces' worth of each: 1 % of the track; three of those.
    assert (track.first, track.second) == pytest.approx((0.85, 1.0), rel=0.03)
    # 15 % too little turning beside errors of 5 %.
    assert min(c.worse for c in test.carried) > 0.5


def test_richer_rungs_agree():
    assert compared(0.85, rung=drifting_icr(HUSKY)).is_same
    assert not compared(1.0, rung=drifting_icr(HUSKY)).is_same


@pytest.mark.slow
def test_one_floor_is_rarely_called_two():
    """24 pairs on one floor: at a level of 5 %, 0 to 4 of them (binomial, 99 %)."""
    told = [compared(0.85, seed=seed).probability for seed in range(10, 34)]
    assert np.sum(np.array(told) < 0.05) <= 4


def test_it_prints_and_saves(tmp_path):
    test = compared(1.0)
    assert "another floor" in test.summary()
    assert "per ground" in test.summary()
    test.save(tmp_path / "floors.json")
    document = json.loads((tmp_path / "floors.json").read_text())
    assert document["is_same"] is False
    assert [n["is_shared"] for n in document["numbers"]] == [False, True]


def test_without_poses_the_gyro_tells():
    """Without places there are headings only, and nothing that is not a number is printed."""
    first, second = (
        known_drive(track_m, 1.0, seed=seed, turn_error=0.05, has_pose=False) for seed, track_m in ((1, 0.85), (2, 1.0))
    )
    test = same_floor_of_drives(first, second, track_and_gain(HUSKY))
    assert "nan" not in test.summary()
    assert " rad with its own numbers" in test.summary()
    assert test.to_document()["carried"][0]["own_m"] is None
    assert not test.is_same


def test_shared_numbers_are_told_by_both_drives():
    """Two drives with spreads 1 and 2 of a number that nothing else touches: the mean weighted 4 to 1, spread 2 / sqrt 5. A
    number of its own that is correlated in one drive leaves it so."""
    first, second = np.array([10.0, 0.0]), np.array([11.0, 50.0])
    numbers, *_ = _compared(("gain", "track"), (first, second), (np.diag([1.0, 1.0]), np.diag([4.0, 1.0])), 20.0, 40)
    assert [n.is_shared for n in numbers] == [True, False]
    assert numbers[0].together == pytest.approx((4.0 * 10.0 + 11.0) / 5.0)
    assert numbers[0].together_std == pytest.approx(2.0 / np.sqrt(5.0))
    assert numbers[1].together is None
