"""Clocks, powertrain and floors on recordings of a Husky and a Warthog. Goals and sources stand beside each test."""

import re
from pathlib import Path

import numpy as np
import pytest

from slipfit.calibration.ladder import drive_of, fit_rung
from slipfit.calibration.ladder.attribution import POWERTRAIN, REST, SENSORS, SLIP, attribution_of
from slipfit.calibration.ladder.pooled import fit_pooled, run_of, yaw_track
from slipfit.calibration.ladder.rungs import drifting_icr, track_and_gain
from slipfit.calibration.ladder.surfaces import same_floor_of_drives
from slipfit.library import find_robot
from slipfit.logs import join_logs, read_log

COLUMNS = Path(__file__).parents[2] / "examples" / "columns"
WARTHOG, HUSKY = find_robot("warthog"), find_robot("husky")


def borealtc(recordings, floor):
    folder = recordings / "borealtc_husky" / floor
    found = {}
    for imu in sorted(folder.glob("imu_*.csv.gz")):
        number = re.findall(r"\d+", imu.name)[0]
        wheels = read_log(folder / f"pro_{number}.csv", columns=COLUMNS / "borealtc_pro.yaml")
        found[int(number)] = run_of(join_logs(wheels, read_log(imu, columns=COLUMNS / "borealtc_imu.yaml")), HUSKY)
    return found


def drive(recordings, name):
    log = read_log(recordings / "drive_warthog_husky" / f"{name}.csv.gz", columns=COLUMNS / "drive.yaml")
    return log, drive_of(log, WARTHOG)


def test_husky_on_asphalt_with_a_gyro_only(recordings):
    """At most 0.06 rad/s over 0.6 s on runs of even numbers, fitted to odd ones; an ideal drive leaves 0.115 (all runs). In run 5
    the wheels turn from 50 s to the end while the gyro says nothing: the robot has dug itself in."""
    runs = borealtc(recordings, "ASPHALT")
    fit = fit_pooled(yaw_track(HUSKY), [run for number, run in runs.items() if number % 2])
    held_out = fit.score([run for number, run in runs.items() if number % 2 == 0])
    assert np.sqrt(np.mean(np.concatenate([run.error_radps for run in held_out]) ** 2)) < 0.06
    assert fit.runs[-1].stuck_s == pytest.approx(23.0, abs=3.0)
    assert fit.wanders


def test_warthog_on_gravel_powertrain_slip_and_a_flipped_gyro(recordings):
    """The gyro of this recording counts clockwise (its pose turns the other way), and the lidar is about half a second late."""
    log, ready = drive(recordings, "warthog_wheels_gravel_2024_8_6_11h37s32")
    fit = fit_rung(drifting_icr(WARTHOG), ready.rims, ready.windows)
    parts = attribution_of(ready, fit, log, WARTHOG, 2.0)
    heading = {part: np.median(parts.heading_rad(part)) for part in parts.parts}
    assert max(heading, key=heading.get) == SENSORS
    assert heading[REST] < 0.15 * heading[SLIP]
    assert parts.clocks_s["pose_late_s"] == pytest.approx(0.45, abs=0.1)
    # The loop from commands to wheels explains most of what the powertrain adds.
    assert np.median(np.abs(parts.unpredicted[:, 2])) < 0.3 * heading[POWERTRAIN]


def test_two_drives_on_sand_are_one_floor_and_asphalt_is_another(recordings):
    """Numbers of one sand recording predict the other within 10 % of its own."""
    first, second = (drive(recordings, f"warthog_wheels_sand_2024_9_25_{at}")[1] for at in ("14h13s47", "14h32s32"))
    test = same_floor_of_drives(first, second, track_and_gain(WARTHOG))
    assert test.is_same
    assert test.worse < 0.1
    assert not same_floor_of_drives(first, drive(recordings, "warthog_wheels_asphalt")[1], track_and_gain(WARTHOG)).is_same
