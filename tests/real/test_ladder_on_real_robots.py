"""The DRIVE recordings, fitted on odd calibration steps and scored on even ones by the data set's own script."""

import sys
from pathlib import Path

import pytest

from slipfit.calibration.ladder import fit_rung
from slipfit.calibration.ladder.contact_rungs import ContactRung
from slipfit.calibration.ladder.rungs import RegressedRung, icr, track_and_gain
from slipfit.library import find_robot

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

#: Recording, the better of the two bases of a regression, and the errors of a good empirical fit of others: T (m) and I (rad).
ROWS = [
    ("test_warthog", lambda robot: ContactRung(robot, "wheel_slip"), 0.28, 0.08),
    ("warthog_wheels_asphalt", icr, 0.36, 0.033),
    ("warthog_wheels_gravel_2024_8_6_11h37s32", lambda robot: ContactRung(robot, "wheel_slip"), 0.32, 0.04),
    ("warthog_wheels_sand_2024_9_25_14h13s47", icr, 0.37, 0.10),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "base", "place_m", "turn_rad"), ROWS, ids=[row[0] for row in ROWS])
def test_a_rung_with_regression_predicts_as_well_as_a_good_empirical_fit(recordings, name, base, place_m, turn_rad):
    from real import Recording, robot_of

    recording = Recording.read(name)
    robot = find_robot(robot_of(name))
    drive, odd = recording.drive, recording.is_odd
    begin = fit_rung(base(robot), drive.rims, drive.windows, odd).as_values()
    found = recording.score(fit_rung(RegressedRung(base(robot)), drive.rims, drive.windows, odd, begin=begin))
    assert found["T_m"] <= place_m
    assert found["I_steady_rad"] <= turn_rad


def test_the_track_of_a_floor_is_told_with_an_interval(recordings):
    """An ideal drive turns about 1 rad too far in 2 s on gravel: a multiplier clearly above one, below two."""
    from real import Recording

    recording = Recording.read("warthog_wheels_gravel_2024_8_6_11h37s32")
    robot = find_robot("warthog")
    found = fit_rung(track_and_gain(robot), recording.drive.rims, recording.drive.windows)
    low, high = (track / robot.track_m for track in found.interval_90("effective_track_m"))
    assert 1.2 < low < high < 1.7
    assert high - low < 0.2
