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


@pytest.mark.slow
def test_the_confusion_matrix_of_all_bags():
    found, mistakes = confusion(CASES)
    wrong, share = called_independent(found)
    assert not wrong, mistakes
    assert share >= 0.95, mistakes
