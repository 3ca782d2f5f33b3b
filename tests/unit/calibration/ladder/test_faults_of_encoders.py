"""Encoders that lie: what inspection corrects of them counts among the sensors, and the parts add up to what the log shows."""

from dataclasses import replace

import numpy as np
import pytest
from commanded_drives import ROBOT, commanded_drive

from slipfit.calibration.ladder import drive_of, fit_rung
from slipfit.calibration.ladder.attribution import POWERTRAIN, SENSORS, attribution_of
from slipfit.calibration.ladder.rungs import track_and_gain
from slipfit.logs import Channel
from slipfit.logs.channels import COMMANDS, ENCODERS

TRACK_M = 0.9


def attributed(log):
    drive = drive_of(log, ROBOT)
    fit = fit_rung(track_and_gain(ROBOT), drive.rims, drive.windows)
    return attribution_of(drive, fit, log, ROBOT, 2.0)


@pytest.fixture(scope="module")
def log():
    return commanded_drive(steps=20, lag_s=0.05, delay_s=0.0, track_m=TRACK_M)


def with_wheels(log, values, *, has_commands):
    wheels = log[ENCODERS]
    changed = log.having(Channel(ENCODERS, wheels.stamps_ns, values, wheels.columns))
    return changed if has_commands else replace(changed, channels={n: c for n, c in changed.channels.items() if n != COMMANDS})


def test_swapped_sides_are_the_sensors(log):
    """An ideal drive on swapped sides turns the other way: by -2 r W / T in 2 s, where the body turned by 2 r."""
    swapped = attributed(with_wheels(log, log[ENCODERS].values[:, ::-1], has_commands=False))
    assert swapped.corrected
    assert swapped.encoders is not None
    right = attributed(with_wheels(log, log[ENCODERS].values, has_commands=False))
    assert right.encoders is None
    heading = {part: float(np.median(swapped.heading_rad(part))) for part in swapped.parts}
    assert max(heading, key=heading.get) == SENSORS
    wheels = log[ENCODERS]
    radius, late = ROBOT.wheels.radius_m.value, (swapped.time_s % 6.0 > 0.9) & (swapped.time_s % 6.0 < 3.9)
    at = np.searchsorted(wheels.time_s, swapped.time_s[late] + 1.0)
    difference = 2.0 * radius * (wheels.values[at, 1] - wheels.values[at, 0])
    # As logged minus what the body did; the body turned by the true difference over the true track.
    assert swapped.total[late, 2] == pytest.approx(-difference / ROBOT.track_m - difference / TRACK_M, abs=0.02)


def test_a_wrong_unit_is_the_sensors(log):
    """Degrees a second where radians were meant: 57 times too fast."""
    wrong = attributed(with_wheels(log, np.degrees(log[ENCODERS].values), has_commands=False))
    right = attributed(with_wheels(log, log[ENCODERS].values, has_commands=False))
    assert np.median(wrong.place_m(SENSORS)) > 20.0 * np.median(np.hypot(*right.total[:, :2].T))
    assert "of the sensors' part" in wrong.summary()


def test_an_ideal_drive_on_commands_does_not_read_them(log):
    """The same sum as with good encoders; their faults stand beside it."""
    wrong = attributed(with_wheels(log, np.degrees(log[ENCODERS].values), has_commands=True))
    right = attributed(log)
    assert POWERTRAIN in wrong.parts
    np.testing.assert_allclose(wrong.total, right.total, atol=1e-6)
    assert wrong.encoders is not None
    assert "not in the sum" in wrong.summary()
    assert wrong.to_document()["encoders"]["place_median_m"] > 1.0
    assert wrong.to_document()["command_loop"]["gain_mean"]["is_told"]
