"""Poses of ordinary bags are what they were made as: the confusion matrix of docs/theory/provenance.md."""

import pytest

from ordinary_bags import confusion_cases
from ordinary_bags.verdicts import called_independent, confusion

CASES = confusion_cases()


def test_wheel_and_fused_odometry_is_never_called_independent_and_measured_poses_are():
    """Every ninth bag; all of them are the slow test's."""
    found, mistakes = confusion(CASES[4::9])
    wrong, share = called_independent(found)
    assert not wrong, mistakes
    assert share >= 0.9, mistakes
    assert sum(count for (truth, _), count in found.items() if truth == "wheel odometry") >= 8


@pytest.mark.parametrize("name", ["096_mocap_and_wheel_odometry", "133_nav2"])
def test_a_gyro_that_swings_too_little_tells_no_scale(name):
    """Turns of 0.46 rad about an even trend; at delays of 1 s and more they look larger, and the scale is wrong by 10 to 20 %."""
    case = next(case for case in CASES if case.name == name)
    found, mistakes = confusion([case])
    assert found["independent", "independent"] >= 1
    assert not mistakes


@pytest.mark.slow
def test_the_confusion_matrix_of_all_bags():
    found, mistakes = confusion(CASES)
    wrong, share = called_independent(found)
    assert not wrong, mistakes
    assert share >= 0.95, mistakes
