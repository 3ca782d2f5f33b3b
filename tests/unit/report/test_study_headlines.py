"""What a study's page says first."""

from types import SimpleNamespace

from slipfit.report.study_report import _passing_half


def test_points_too_far_apart_for_a_curve_still_tell_where_p_passes_one_half():
    """By hand: 0.9 and 0.1 lie on both sides of 0.5, the others do not."""
    points = [SimpleNamespace(at={"h": h}, probability=p) for h, p in ((0.10, 1.0), (0.12, 0.9), (0.14, 0.1), (0.16, 0.0))]
    assert _passing_half("h", points) == ["between 0.12 and 0.14"]
