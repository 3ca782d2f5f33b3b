"""Twins with guessed constants against recordings of a Warthog and a Husky: errors have the size that others found."""

from pathlib import Path

import numpy as np
import pytest

from known_twins import known_twin
from slipfit.calibration.validation import validate
from slipfit.library import find_robot
from slipfit.logs import read_log

COLUMNS = Path(__file__).parents[2] / "examples" / "columns" / "drive.yaml"


def guessed(robot):
    """A skid-steer robot on loose ground, roughly: slip of 0.25 along and 0.5 across at a force equal to the load."""
    load_n = find_robot(robot).mass_kg.value * 9.81 / 4
    return known_twin(robot, 0.25 / load_n, 0.5 / load_n)


def compared(recordings, name, robot):
    return validate(guessed(robot), read_log(recordings / "drive_warthog_husky" / f"{name}.csv.gz", columns=COLUMNS))


def two_seconds(validation):
    return next(h for h in validation.horizons if (h.length, h.unit) == (2.0, "s"))


def test_warthog_on_gravel(recordings):
    """The data's own scoring of the ideal differential drive over horizons of 2 s (every second step): median error of place
    1.38 m, of heading 0.94 rad against the gyro. The pose is lidar's, so headings agree less."""
    validation = compared(recordings, "warthog_wheels_gravel_2024_8_6_11h37s32", "warthog")
    horizon = two_seconds(validation)
    assert horizon.windows > 150
    assert np.median(horizon.errors["ideal"].translation_m) == pytest.approx(1.38, rel=0.15)
    assert np.median(horizon.errors["ideal"].heading_rad) == pytest.approx(0.94, rel=0.3)
    assert "yaw sign of imu" in validation.corrected
    # SOURCE: horizons of 40 samples at 20 Hz, the pose starts anew with each: nothing longer than 2 s can be told.
    assert [h.length for h in validation.horizons if h.unit == "s"] == [1.0, 2.0]
    assert set(validation.scores) == {"twin", "ideal", "equal_slip"}


def test_warthog_on_grass(recordings):
    """The same scoring on the slow drive on grass: 0.02 m and 0.031 rad, in 8 horizons only; its lidar is 0.25 s late."""
    horizon = two_seconds(compared(recordings, "warthog_wheels_grass", "warthog"))
    assert np.median(horizon.errors["ideal"].translation_m) < 0.1
    assert np.median(horizon.errors["ideal"].heading_rad) == pytest.approx(0.031, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "robot", "place_m"),
    [
        ("test_husky", "husky", 0.4475),
        ("test_warthog", "warthog", 1.2283),
        ("warthog_wheels_sand_2024_9_25_14h32s32", "warthog", None),
    ],
)
def test_longer_recordings_go_through(recordings, name, robot, place_m):
    """Median error of place of the ideal drive by the data's own scoring, where it is at hand; nothing breaks."""
    horizon = two_seconds(compared(recordings, name, robot))
    if place_m:
        assert np.median(horizon.errors["ideal"].translation_m) == pytest.approx(place_m, rel=0.2)
