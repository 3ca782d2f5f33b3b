"""Slip and friction of real robots from their own sensors."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


def test_turning_on_ice_takes_less_than_half_of_the_current(recordings):
    """BorealTC: below half of that on asphalt and on flooring; lateral friction of ice below a third of asphalt's, surely."""
    from estimate_floors import ASPHALT, ASPHALT_STD, currents
    from slipfit.estimation.friction import friction_beside

    found = currents(recordings)
    assert found["ICE"].turning_a < 0.5 * found["ASPHALT"].turning_a
    assert found["ICE"].turning_a < 0.5 * found["FLOORING"].turning_a
    mu, std = friction_beside(found["ASPHALT"], found["ICE"], ASPHALT, ASPHALT_STD)
    assert mu + 1.645 * std < ASPHALT / 3.0


@pytest.mark.parametrize("surface", ["husky", "gravel"])
def test_the_filter_drifts_less_than_odometry_and_twin_without_pose(recordings, surface):
    """DRIVE: 2 s without pose; median error of place at their end."""
    from estimate_drive import SETTINGS, Withheld, measure

    drift = measure(Withheld.of(surface), SETTINGS)
    assert drift.place_m["filter"] < drift.place_m["twin, no filter"] < drift.place_m["ideal odometry"]


def test_an_imu_alone_raises_no_alarm_on_asphalt(recordings):
    """BorealTC: a Husky that drives about, without a pose; its accelerometer's drift looks like slip."""
    from estimate_floors import husky_runs
    from slipfit.estimation import FilterSettings, estimate
    from slipfit.library import find_robot

    for log in husky_runs(recordings / "borealtc_husky" / "ASPHALT")[2:5]:
        assert estimate(find_robot("husky"), log, settings=FilterSettings(accel_mps2=2.0), smooth=False).alarms_s == ()


def test_a_warthog_that_digs_into_sand_raises_an_alarm_that_readings_confirm(recordings):
    """DRIVE: at 238 s of this recording one side runs at 2 m/s, and neither lidar nor gyro sees the robot move."""
    from estimate_alarms import is_confirmed
    from estimate_floors import of_drive, recording
    from slipfit.library import find_robot
    from slipfit.logs.rims import rims_of

    log, warthog = recording("sand 1"), find_robot("warthog")
    found = of_drive(log, "sand 1")
    assert any(237.0 < t < 240.0 for t in found.alarms_s)
    assert all(is_confirmed(log, warthog, rims_of(log, warthog), found, t) for t in found.alarms_s)


@pytest.fixture(scope="module")
def husky_answers(recordings):
    from estimate_surfaces import HUSKY, of_husky

    return {floor: of_husky(recordings, HUSKY[f"husky {floor}"]) for floor in ("flooring", "ice")}


@pytest.mark.parametrize("order", [("flooring", "ice"), ("ice", "flooring")])
def test_currents_tell_flooring_from_ice_where_recordings_are_joined(husky_answers, order):
    """BorealTC: one change, within a minute of where the recordings meet."""
    from estimate_surfaces import NEAR_S, changes_s, joined, length
    from slipfit.estimation.surfaces import BLOCK_S

    one, other = (husky_answers[floor] for floor in order)
    (found,) = changes_s(joined(one, other), 0.1)
    assert found == pytest.approx(length(one) * BLOCK_S, abs=NEAR_S)


@pytest.mark.parametrize("floor", ["flooring", "ice"])
def test_a_recording_of_one_floor_shows_no_change(husky_answers, floor):
    """BorealTC: four minutes each, at 0.1 false changes per hour."""
    from estimate_surfaces import changes_s

    assert changes_s(husky_answers[floor], 0.1) == []


def test_asphalt_before_sand_is_told_where_they_meet(recordings):
    """DRIVE: one change and no other, within a minute."""
    from estimate_surfaces import NEAR_S, changes_s, joined, length, of_warthog
    from slipfit.estimation.surfaces import BLOCK_S

    one, other = of_warthog("asphalt"), of_warthog("sand 1")
    (found,) = changes_s(joined(one, other), 0.1)
    assert found == pytest.approx(length(one) * BLOCK_S, abs=NEAR_S)
