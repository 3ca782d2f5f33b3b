"""A powertrain, a track and faults of sensors that are known: the fit finds them, and each part shows where it was put."""

import json
from dataclasses import replace

import numpy as np
import pytest
from commanded_drives import ROBOT, commanded_drive

from slipfit.calibration.ladder import drive_of, fit_rung
from slipfit.calibration.ladder.attribution import POWERTRAIN, REST, SENSORS, SLIP, attribution_of
from slipfit.calibration.ladder.command_loop import fit_command_loop, pieces_of, predicted_rims
from slipfit.calibration.ladder.rungs import track_and_gain
from slipfit.logs.channels import COMMANDS, POSE
from slipfit.report.attribution_figure import draw_attribution


def attributed(log):
    drive = drive_of(log, ROBOT)
    fit = fit_rung(track_and_gain(ROBOT), drive.rims, drive.windows)
    return attribution_of(drive, fit, log, ROBOT, 2.0)


def medians(attribution):
    return {part: float(np.median(attribution.heading_rad(part))) for part in attribution.parts}


def test_gains_limits_lag_and_delay_are_found_again():
    """Truths are the arguments."""
    log = commanded_drive(steps=30, gain=1.4, lag_s=0.4, delay_s=0.2, turn_limit_mps=0.15)
    drive = drive_of(log, ROBOT)
    pieces = pieces_of(drive.inspection.corrected, ROBOT, drive.rims, drive.windows)
    loop = fit_command_loop(pieces)
    assert (loop.gain_mean, loop.gain_turn) == pytest.approx((1.4, 1.4), rel=0.02)
    assert loop.turn_limit_mps == pytest.approx(0.15, rel=0.03)
    assert loop.lag_s == pytest.approx(0.4, abs=0.03)
    assert loop.delay_s == pytest.approx(0.2, abs=0.03)
    rims = predicted_rims(loop, pieces, drive.rims)
    assert np.median(np.abs(rims.left_mps - drive.rims.left_mps)) < 0.005


def test_parts_add_up_to_what_the_ideal_drive_misses():
    """Heading of the ideal drive on commands by hand: 2 s of a standing command turn by 2 (right - left) / track."""
    log = commanded_drive(steps=25, lag_s=0.05, delay_s=0.0)
    attribution = attributed(log)
    late = (attribution.time_s % 6.0 > 1.0) & (attribution.time_s % 6.0 < 3.9)  # windows within one command
    told = log[COMMANDS]
    at = np.searchsorted(told.time_s, attribution.time_s[late] + 1.0)
    turned = 2.0 * (told.values[at, 1] - told.values[at, 0]) * ROBOT.wheels.radius_m.value / ROBOT.track_m
    # The true track is 0.9 m: the body turned by that much less.
    assert attribution.total[late, 2] == pytest.approx(turned * (1.0 - ROBOT.track_m / 0.9), abs=0.02)


def test_slip_is_told_from_the_powertrain():
    slipping = medians(attributed(commanded_drive(steps=20, lag_s=0.02, delay_s=0.0, track_m=0.9)))
    assert max(slipping, key=slipping.get) == SLIP
    assert slipping[REST] < 0.1 * slipping[SLIP]
    weak = medians(attributed(commanded_drive(steps=20, gain=0.5, track_m=1.02 * ROBOT.track_m)))
    assert max(weak, key=weak.get) == POWERTRAIN
    assert weak[REST] < 0.1 * weak[POWERTRAIN]


def test_a_flipped_gyro_and_a_late_pose_are_the_sensors():
    attribution = attributed(commanded_drive(steps=30, lag_s=0.05, delay_s=0.0, gyro_sign=-1.0, pose_late_s=0.4))
    heading = medians(attribution)
    assert max(heading, key=heading.get) == SENSORS
    assert np.median(attribution.place_m(SENSORS)) > np.median(attribution.place_m(REST))
    assert any("opposite" in line for line in attribution.corrected)
    # The clock is corrected before the fit, which has to find nothing more.
    assert any(line.startswith("pose") and "behind" in line for line in attribution.corrected)
    assert attribution.clocks_s["pose_late_s"] == pytest.approx(0.0, abs=0.03)


def test_a_log_without_commands_begins_at_the_wheels():
    log = commanded_drive(steps=15)
    bare = replace(log, channels={name: channel for name, channel in log.channels.items() if name != COMMANDS})
    attribution = attributed(bare)
    assert POWERTRAIN not in attribution.parts
    assert attribution.loop is None
    assert "measured wheels" in attribution.summary()


def test_it_prints_saves_and_draws(tmp_path):
    attribution = attributed(commanded_drive(steps=15))
    assert all(part in attribution.summary() for part in (POWERTRAIN, SLIP, SENSORS, REST))
    attribution.save(tmp_path / "parts.json")
    document = json.loads((tmp_path / "parts.json").read_text())
    assert document["parts"][SLIP]["heading_median_rad"] == pytest.approx(np.median(attribution.heading_rad(SLIP)))
    figure = draw_attribution(attribution)
    bars = [patch.get_width() for patch in figure.axes[0].patches]
    assert bars == pytest.approx([float(np.median(attribution.place_m(part))) for part in attribution.parts])
    assert [axes.get_xlabel() for axes in figure.axes[:2]] == ["error of place [m]", "error of heading [°]"]


def test_a_gyro_alone_tells_the_heading_only():
    log = commanded_drive(steps=15)
    attribution = attributed(replace(log, channels={name: c for name, c in log.channels.items() if name != POSE}))
    assert list(attribution.largest) == ["heading"]
    assert attribution.to_document()["parts"][SLIP]["place_median_m"] is None
    assert len(draw_attribution(attribution).axes) == 2
