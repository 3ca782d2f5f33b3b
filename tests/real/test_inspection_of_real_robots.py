"""What inspection says about recordings of real robots: what is right stays, what their SOURCE.md warns of is found."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from slipfit.library import find_robot
from slipfit.logs import inspect_log, read_log
from slipfit.logs.inspection.swapped import exchanged

COLUMNS = Path(__file__).parents[2] / "examples" / "columns"

#: Findings that would change what the recording says: SOURCE gives the units, and nobody turned anything.
SIGNS = (
    "swapped sides",
    "reversed direction",
    "one side reversed",
    "flipped accel_x",
    "flipped accel_y",
    "axes",
    "swapped axes",
    "yaw turned by a quarter",
    "mirrored",
)


def drives(recordings):
    """DRIVE's recordings: path, log, inspection."""
    without = (".authors_body_vel.", ".horizons.")
    paths = [p for p in sorted(recordings.glob("drive_warthog_husky/*.csv.gz")) if not any(w in p.name for w in without)]
    assert len(paths) >= 9
    return [(path, *inspected_drive(path)) for path in paths]


@cache
def inspected_drive(path):
    log = read_log(path, columns=COLUMNS / ("drive_raw.yaml" if ".raw." in path.name else "drive.yaml"))
    return log, inspect_log(log, find_robot("husky" if "husky" in path.name else "warthog"))


@cache
def boreal(folder):
    """BorealTC's runs of which both files are there: inspection by name. Wheels at 6.5 Hz, IMU at 100 Hz, no pose."""
    told = {}
    for wheels in sorted(folder.glob("*/pro_*.csv")):
        imu = wheels.parent / wheels.name.replace("pro_", "imu_").replace(".csv", ".csv.gz")
        if imu.exists():
            log = read_log(wheels, columns=COLUMNS / "borealtc_pro.yaml")
            log = log.having(read_log(imu, columns=COLUMNS / "borealtc_imu.yaml")["imu"])
            told[f"{wheels.parent.name}/{wheels.stem}"] = inspect_log(log, find_robot("husky"))
    assert len(told) > 20
    return told


def test_no_drive_of_borealtc_is_refused_or_turned_around(recordings):
    """SOURCE: rad/s, m/s² and m/s, which the column maps say; a Husky drives them, whose sides are where they are."""
    for name, inspection in boreal(recordings / "borealtc_husky").items():
        assert inspection.fatal is None, (name, inspection.summary())
        wrong = [f for f in inspection.findings if f.kind in (*SIGNS, "unit", "yaw sign", "wheel lift")]
        assert not wrong, (name, wrong)


def test_rates_of_borealtc_are_those_of_its_source(recordings):
    """SOURCE: imu 100 Hz, pro 6.5 Hz."""
    for name, inspection in boreal(recordings / "borealtc_husky").items():
        rates = {f.channel: f.value for f in inspection.of_kind("rate")}
        assert rates == pytest.approx({"imu": 100.0, "encoders": 6.5}, rel=1e-3), name


def test_a_drive_that_hardly_turns_gets_no_clock_from_chance(recordings):
    """ICE 05 turns by 1.2°, and its speed changes by noise: whatever correlates there is none of the clock's business."""
    told = boreal(recordings / "borealtc_husky")
    assert told["ICE/pro_05"].of_kind("no spin")
    assert told["ICE/pro_05"].corrections == ()
    for inspection in told.values():
        if inspection.of_kind("no spin") and inspection.of_kind("no spin")[0].value < np.radians(10.0):
            assert not any("clock" in correction for correction in inspection.corrections)


def test_drives_of_warthog_and_husky_are_usable(recordings):
    """SOURCE: wheels in rad/s, gyro in rad/s, pose in m and rad, 20 Hz, calibration drives with turns. Its warning that signs
    are not the same from one recording to the next is about the yaw rate."""
    for path, _, inspection in drives(recordings):
        assert inspection.fatal is None, path.name
        assert not inspection.of_kind("unit"), path.name
        assert not [f for f in inspection.findings if f.kind in SIGNS], path.name
        for finding in inspection.of_kind("rate"):
            assert finding.value == pytest.approx(20.0, rel=0.02), path.name


@pytest.mark.parametrize(("channel", "columns"), [("imu", ("accel_x_mps2", "accel_y_mps2")), ("pose", ("x_m", "y_m"))])
def test_axes_of_a_warthog_that_are_exchanged_are_found(recordings, channel, columns):
    """What the recording says, with two columns the other way round; on asphalt and gravel the sensors tell enough."""
    for ground in ("asphalt", "gravel"):
        path = next(path for path, *_ in drives(recordings) if ground in path.name)
        log, _ = inspected_drive(path)
        wrong = log.having(exchanged(log[channel], *columns))
        inspection = inspect_log(wrong, find_robot("warthog"))
        assert inspection.of_kind("swapped axes", channel), inspection.summary()
        assert "swapped axes" not in {f.kind for f in inspection.findings if f.channel != channel}


def test_held_encoders_are_found_where_they_are_held(recordings):
    """Counted here: rows that repeat both wheels' speeds though these are neither zero nor steady."""
    for path, log, inspection in drives(recordings):
        speeds = log["encoders"].values[1:]
        repeated = (np.diff(log["encoders"].values, axis=0) == 0.0).all(axis=1)
        share = repeated[(np.abs(speeds) > 0.5).any(axis=1)].mean()
        assert bool(inspection.of_kind("held", "encoders")) == (share > 0.3), (path.name, share)
        if share > 0.3:
            (finding,) = inspection.of_kind("held", "encoders")
            assert finding.value == pytest.approx(20.0 * (1.0 - share), rel=0.1), path.name


def test_of_two_copies_the_one_with_the_flipped_gyro_is_put_right(recordings):
    """SOURCE: one recording may repeat another. test_warthog_reassemble is test_warthog with the sign of the yaw rate turned."""
    folder = recordings / "drive_warthog_husky"
    (one, fine), (other, flipped) = (inspected_drive(folder / f"test_warthog{end}.csv.gz") for end in ("", "_reassemble"))
    turned = other["imu"].column("gyro_z_radps")
    np.testing.assert_allclose(turned, -one["imu"].column("gyro_z_radps"), atol=1e-12)
    assert not fine.of_kind("yaw sign")
    assert [f.channel for f in flipped.of_kind("yaw sign")] == ["imu"]
    np.testing.assert_allclose(
        flipped.corrected["imu"].column("gyro_z_radps"), fine.corrected["imu"].column("gyro_z_radps"), atol=1e-12
    )


def test_clocks_of_imu_and_wheels_are_close_in_one_logger(recordings):
    """SOURCE: wheels and IMU of DRIVE come from one data frame at 20 Hz; its wheels are held at 8 Hz, and late by a period or
    two at most."""
    for path, _, inspection in drives(recordings):
        for finding in inspection.of_kind("clock offset", "imu"):
            if finding.is_corrected:
                assert abs(finding.value) < 2.0 / 8.0, path.name
