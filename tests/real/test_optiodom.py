"""OptiOdom, differential robot: one calibration of the odd runs, judged on the even ones, whose truth it never saw."""

import numpy as np
import pytest

from slipfit.calibration.odometry import OdometryModel, error_percent, fit_runs, umbmark_of_runs
from slipfit.calibration.odometry.optiodom import read_session, read_sessions
from slipfit.errors import LogError
from slipfit.twin import Status

NUMBERS = {"radius_m": 0.042, "track_m": 0.2}
#: Lines and half turns on the spot (ivanjko) calibrate, but an end error as % of a spin's path says nothing.
JUDGED = ("circular", "free", "square")


@pytest.fixture(scope="module")
def sessions(recordings):
    return read_sessions(recordings / "optiodom_umbmark" / "diff")


@pytest.fixture(scope="module")
def odd(sessions):
    return [run for session in sessions for run in session.odd()]


@pytest.fixture(scope="module")
def even(sessions):
    return [run for session in sessions if session.kind in JUDGED for run in session.even()]


@pytest.fixture(scope="module")
def fit(odd):
    return fit_runs(odd, **NUMBERS)


def medians(model, runs):
    """Median end error, % of the way: by kind of path and over all."""
    errors = error_percent(model, runs)
    by_kind = {kind: float(np.median([e for e, run in zip(errors, runs, strict=True) if run.kind == kind])) for kind in JUDGED}
    return {**by_kind, "all": float(np.median(errors))}


def test_the_recordings_are_what_their_metadata_say(sessions):
    assert {s.kind for s in sessions} == {*JUDGED, "ivanjko"}
    assert sum(len(s.runs) for s in sessions) == 69
    assert {(s.track_m, s.radius_m) for s in sessions} == {(0.2, 0.042)}
    assert {s.side_m for s in sessions if s.kind == "square"} == {1.7}


def test_ideal_odometry(even):
    """The issue's reference: 1.48 % (circular 1.56, free .51, square 1.48)."""
    found = medians(OdometryModel.ideal(0.2), even)
    assert found == {
        "circular": pytest.approx(1.56, abs=0.01),
        "free": pytest.approx(0.51, abs=0.01),
        "square": pytest.approx(1.48, abs=0.01),
        "all": pytest.approx(1.48, abs=0.01),
    }


def test_one_calibration_of_the_odd_runs(fit, even):
    """Goal: .20 % over all; a plain least-squares map has .30 (.27 circular, .13 free, .44 square). The three even free runs
    drift farther than the four odd ones tell, so that .13 is not reached there; .17 is."""
    found = medians(fit.model, even)
    assert found["all"] <= 0.20
    assert found["circular"] <= 0.27
    assert found["square"] <= 0.44
    assert found["free"] <= 0.18


def test_a_plain_map_is_worse(odd, even, fit):
    """Radii and one track by least squares of how far each odd run turned, as a reader would do first: .29 %."""
    rolled = np.array([(run.right_m[-1], run.left_m[-1]) for run in odd])
    right, left = np.linalg.lstsq(rolled, np.array([run.turned_rad for run in odd]), rcond=None)[0]
    track = 2.0 / (right - left)
    plain = medians(OdometryModel(-left * track, right * track, track, track), even)
    ours = medians(fit.model, even)
    assert plain["all"] == pytest.approx(0.29, abs=0.02)
    assert all(ours[kind] <= plain[kind] for kind in ours)


def test_spins_and_arcs_have_different_tracks(fit):
    """What makes the difference: on arcs the robot turns by half a percent less than on the spot, far beyond the spreads."""
    found = fit.parameters()
    apart = found["track_m"].value - found["spin_track_m"].value
    assert apart > 5.0 * np.sqrt(np.array([0, 0, 0, 1, 0]) @ fit.covariance @ np.array([0, 0, 0, 1, 0])) * 0.2
    assert 0.0 < found["heading_offset_rad"].interval_90[0] < found["heading_offset_rad"].interval_90[1] < 0.015


def test_ends_of_unseen_runs_lie_in_their_intervals(fit, even):
    """90 % radii: of 22 unseen runs 17 or more (a binomial has fewer than 17 in 1 %)."""
    inside = [np.hypot(*(p.pose[:2] - run.poses[-1, :2])) < p.radius_90_m for run in even for p in (fit.predict(run),)]
    assert sum(inside) >= 17


def test_circles_alone_say_what_they_do_not_know_of_squares(odd, even):
    fit = fit_runs([run for run in odd if run.kind == "circular"], **NUMBERS)
    assert fit.parameters()["spin_track_m"].status is Status.NOT_EXCITED
    assert any("turns on the spot" in line for line in fit.identifiability)
    for run in even:
        if run.kind == "square":
            prediction = fit.predict(run)
            assert fit.model.end_error_m(run) < prediction.radius_90_m
            assert prediction.radius_90_m > 0.02 * run.way_m


def test_umbmark_of_the_odd_squares_mends_the_even_ones(odd, even):
    """1.48 % of the way before, .2 % after; E_b is the track on the spot, within its spread that of the general fit."""
    found = umbmark_of_runs([run for run in odd if run.kind == "square"], side_m=1.7, **NUMBERS)
    assert (found.runs_cw, found.runs_ccw) == (6, 2)
    assert found.e_max_syst_m == pytest.approx(0.10, abs=0.01)
    squares = [run for run in even if run.kind == "square"]
    assert np.median(error_percent(found.model(0.042), squares)) < 0.25
    assert found.track_m.value == pytest.approx(0.2017, abs=0.0005)


def test_a_folder_of_something_else_is_refused(recordings, tmp_path):
    with pytest.raises(LogError, match="metadata"):
        read_sessions(tmp_path)
    with pytest.raises(LogError, match="expected diff"):
        read_session(next((recordings / "optiodom_umbmark" / "omni3").rglob("*_metadata.csv")).parent)
