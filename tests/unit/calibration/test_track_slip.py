"""Three models of tracks on made-up steady states whose slip is known, and tables that cannot be read."""

import numpy as np
import pytest

from slipfit.calibration.track_slip import TrackComparison, compare_track_models, predict_tracks, read_track_states
from slipfit.errors import SlipfitError
from slipfit.report.track_slip_figure import draw_tracks

TREAD_M = 0.5


def states(share=0.8, lost=0.0):
    """Belts at all pairs of speeds; the robot turns by a share of what they say, and loses a share of its speed ahead."""
    left, right = (grid.ravel() for grid in np.meshgrid(np.linspace(-0.4, 0.4, 9), np.linspace(-0.4, 0.4, 9)))
    ahead, turn = (1.0 - lost) * 0.5 * (left + right), share * (right - left) / TREAD_M
    return np.column_stack([left, right, left - ahead + 0.5 * TREAD_M * turn, right - ahead - 0.5 * TREAD_M * turn])


def test_a_robot_with_a_constant_track_is_predicted_by_it():
    """Turning by 0.8 of the ideal is an effective track of 0.5 / 0.8 = 0.625 m; ideal tracks err by 0.2 of the yaw rate."""
    found = compare_track_models(states(), tread_m=TREAD_M)
    left, right = states()[:, 0], states()[:, 1]
    assert found.effective_track_m == pytest.approx(0.625, rel=1e-9)
    assert found["constant track"].yaw_rate_radps < 1e-12
    assert found["ideal"].yaw_rate_radps == pytest.approx(0.2 * np.sqrt(np.mean(((right - left) / TREAD_M) ** 2)))


def test_predictions_are_of_states_that_were_not_fitted_and_are_drawn():
    """A constant track of 0.625 m predicts every state; ideal tracks turn 1 / 0.8 as fast as the robot."""
    predicted = predict_tracks(states(), tread_m=TREAD_M)
    turn = predicted.measured[:, 1]
    assert predicted.by_model["constant track"][:, 1] == pytest.approx(turn)
    assert predicted.by_model["ideal"][:, 1] == pytest.approx(turn / 0.8)
    figure = draw_tracks(compare_track_models(states(), tread_m=TREAD_M), predicted)
    assert next(axes.get_title(loc="left") or axes.get_title() for axes in figure.axes).startswith("ideal: RMS error")


def test_what_is_lost_ahead_only_slip_of_each_track_knows():
    found = compare_track_models(states(lost=0.1), tread_m=TREAD_M)
    assert found["per-track slip"].speed_mps < 1e-12 < 1e-3 < found["constant track"].speed_mps


def test_a_comparison_comes_back_as_it_was_saved(tmp_path):
    found = compare_track_models(states(), tread_m=TREAD_M)
    found.save(tmp_path / "tracks.json")
    assert TrackComparison.load(tmp_path / "tracks.json") == found


def test_columns_are_found_by_name_and_gears_are_taken_out(tmp_path):
    """20 rad/s of a motor geared by 10 on a radius of 0.1 m are 0.2 m/s."""
    rows = "\n".join("0.5,20,10,0.02" for _ in range(8))
    (tmp_path / "s.csv").write_text("slip_right_mps,left_radps,right_radps,slip_left_mps\n" + rows)
    found = read_track_states(tmp_path / "s.csv", radius_m=0.1, gear_ratio=10.0)
    assert found[0] == pytest.approx([0.2, 0.1, 0.02, 0.5])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("left_radps,right_radps,slip_left_mps\n1,2,3", "there is no column 'slip_right_mps'"),
        ("1,2,3,4\n1,2,x,4", "a row is no row of numbers"),
        ("1,2,3,4", "1 steady states; expected 8 or more"),
        ("", "0 steady states"),
        ("\n".join(["1,1,0.1,0.1"] * 9), "both tracks run alike"),
    ],
)
def test_tables_that_tell_nothing_are_refused(tmp_path, text, sentence):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(SlipfitError, match=sentence):
        compare_track_models(read_track_states(tmp_path / "s.csv", radius_m=0.1), tread_m=TREAD_M)
