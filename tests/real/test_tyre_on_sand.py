"""A wheel in sand (CMU's single-wheel testbed, smooth wheel): forces fitted on two repeats, tested on the third.

`trial_num` of the file counts attempts within a session (154, 31 and 4 of them), so the repeats are the first, second and third
row of each setting: 7 slip angles x 9 rim speeds x 3. Target: a flexible curve within 1.5 times the pooled spread within cells.
Tyre laws have no target here: sand that is pushed aside and rolled down is no friction over slip.
"""

from pathlib import Path

import numpy as np
import pytest

from slipfit.calibration.tyre import fit_flexible, fit_law, read_tyre_data

COLUMNS = Path(__file__).parents[2] / "examples" / "columns" / "single_wheel_forces.yaml"


@pytest.fixture(scope="module")
def sand(recordings):
    return read_tyre_data(recordings / "cmu_single_wheel" / "single_wheel_smooth.csv", COLUMNS)


def errors_in_spreads(predicted, test, spread):
    return {axis: np.sqrt(np.mean((predicted[axis] - force) ** 2)) / spread[axis] for axis, force in test.forces().items()}


def test_the_table_is_63_settings_with_three_repeats(sand):
    """SOURCE.md: 189 trials, 7 x 9 x 3. Pooled spreads .799 N along and .762 N across, computed from the file apart from ours."""
    assert (len(sand), sand.repeats, len(np.unique(sand.cell))) == (189, 3, 63)
    assert np.bincount(sand.repeat).tolist() == [63, 63, 63]
    assert sand.spread_within_cells() == {"along": pytest.approx(0.7992, abs=1e-4), "across": pytest.approx(0.7618, abs=1e-4)}


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_a_flexible_curve_predicts_the_repeat_that_was_left_out(sand, left_out):
    test = sand.rows(sand.repeat == left_out)
    found = fit_flexible(sand.rows(sand.repeat != left_out))
    ratios = errors_in_spreads(found.predict(test), test, sand.spread_within_cells())
    assert max(ratios.values()) <= 1.5


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_the_magic_formula_does_not_have_the_shape_of_sand(sand, left_out):
    """No target, only order: braked, the wheel ploughs (39 N of 20 N load), driven, it pulls 1 N. A curve in |slip| is even."""
    test = sand.rows(sand.repeat == left_out)
    found = fit_law("magic_formula", sand.rows(sand.repeat != left_out))
    ratios = errors_in_spreads(found.predict(test), test, sand.spread_within_cells())
    assert min(ratios.values()) > 5.0
