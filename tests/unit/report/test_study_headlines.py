"""What a study's page says first."""

from dataclasses import replace

from slipfit.report.study_report import headlines
from slipfit.study import prepare, run_study
from slipfit.study.result import Point
from studies import CURVE, study


def test_points_that_no_probit_fits_still_tell_where_p_passes_one_half(tmp_path):
    """By hand: 0.9 and 0.1 lie on both sides of 0.5, the others do not; a probit through the first three would have P = 0.05 at
    0.16, where 400 of 1000 succeed."""
    answer = run_study(prepare(study(CURVE, stop={"half_width": 0.1, "at_most_runs": 200})), tmp_path / "s")
    name = answer.design_names[0]
    counts = ((0.10, 1000), (0.12, 900), (0.14, 410), (0.16, 400))
    points = tuple(Point({name: h}, 1000, hits, hits / 1000, hits / 1000 - 0.02, hits / 1000 + 0.02, {}) for h, hits in counts)
    poor = replace(answer, points=points)
    assert poor.passings(list(points)) == [(0.12, 0.14)]
    assert "passes 0.5 between 0.12 and 0.14" in headlines(poor)[0]
    assert f"P passes 0.5 between {name} = 0.12 and 0.14, by the points" in poor.summary()
