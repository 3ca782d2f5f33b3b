"""MAXXII, a tracked robot of 61 kg indoors: per-track slip beside the ideal and the constant-track model, on other states."""

import numpy as np
import pytest

from slipfit.calibrate.track_slip import fit_track_slip

#: SOURCE.md of the recording: sprocket 0.0856 m, gearbox 34.45 (inferred), track width 0.606 m.
RADIUS_M, GEAR, TREAD_M = 0.0856, 34.45, 0.606


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def errors(states, fitted):
    """RMS errors of speed and yaw rate on the states that are not fitted, of three models."""
    left, right = (states[:, k] / GEAR * RADIUS_M for k in (0, 1))
    slip_left, slip_right = states[:, 2], states[:, 3]
    held = ~fitted
    ahead, turn = 0.5 * (left - slip_left + right - slip_right), (right - slip_right - left + slip_left) / TREAD_M
    ideal_ahead, ideal_turn = 0.5 * (left + right), (right - left) / TREAD_M
    factor = (ideal_turn[fitted] @ turn[fitted]) / (ideal_turn[fitted] @ ideal_turn[fitted])
    fit = fit_track_slip(left[fitted], right[fitted], slip_left[fitted], slip_right[fitted])
    ground_left, ground_right = fit.ground_speeds_mps(left, right)
    return {
        "ideal": (rms((ideal_ahead - ahead)[held]), rms((ideal_turn - turn)[held])),
        "constant": (rms((ideal_ahead - ahead)[held]), rms((factor * ideal_turn - turn)[held])),
        "per_track": (
            rms((0.5 * (ground_left + ground_right) - ahead)[held]),
            rms(((ground_right - ground_left) / TREAD_M - turn)[held]),
        ),
    }


@pytest.mark.parametrize("first", [0, 1])
def test_per_track_slip_beats_ideal_and_constant_track_on_the_other_half(recordings, first):
    """Half of the 270 states is fitted, the other tested, both ways. Measured: yaw rate 0.106 (ideal), 0.047 (constant track) and
    0.035 rad/s (per track); speed 7.7, 7.7 and 5.4 mm/s. The bounds leave a fifth for the choice of the half."""
    states = np.loadtxt(recordings / "tracked_maxxii" / "ident_wheels_real_indoor.csv", delimiter=",")
    found = errors(states, np.arange(len(states)) % 2 == first)
    assert found["per_track"][1] < 0.85 * found["constant"][1] < 0.5 * found["ideal"][1]
    assert found["per_track"][0] < 0.9 * found["ideal"][0]
