"""Studies of climbs with a tracked robot's twin: its posterior is what varies, run by run as the run's number says."""

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.library import find_ground, find_robot
from slipfit.study.run import prepare
from slipfit.study.sample import Span
from slipfit.twin import FittedParameter, Status, TrackedTwin, TrackGround
from slipfit.twin.uncalibrated import uncalibrated_twin
from studies import study, tally_of

PACKBOT = find_robot("packbot")
BASE = {
    "schema": "slipfit/study/1",
    "scenario": "curb_117mm_dry_concrete",
    "success": "climbed",
    "uncertain": {"twin": "posterior"},
    "stop": {"runs": 48},
    "seed": 7,
}


def friction_twin(path, mu, std=0.05):
    told = FittedParameter(value=mu, std=std, status=Status.CONVERGED, source="log 1")
    found = {"yard": TrackGround(law="stiction", parameters={"mu_static": told})}
    TrackedTwin.new_or_extended(None, PACKBOT, found, []).save(path)
    return str(path)


def sand_twin(path):
    twin = uncalibrated_twin(PACKBOT, find_ground("dry_sand"))
    told = FittedParameter(value=0.6, std=0.05, status=Status.CONVERGED, source="log 1")
    TrackedTwin.new_or_extended(twin, PACKBOT, {"yard": TrackGround(law="stiction", parameters={"mu_static": told})}, []).save(
        path
    )
    return str(path)


def prepared(base=BASE, **changes):
    return prepare(study(base, **changes))


def test_inputs_have_the_distribution_of_the_twins_draws(tmp_path):
    """20 000 runs beside 20 000 draws: quantiles of both are those of N(0.6, 0.05), each off by at most 0.05 x 0.015 at 5 %."""
    path = friction_twin(tmp_path / "t.yaml", 0.6)
    given = prepared(twin=path).sampler.inputs([Span(0, 0, 20000)])
    drawn = TrackedTwin.load(path).draws(20000, seed=1)
    assert set(given) == set(drawn) == {"mu_static"}
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    expected = 0.6 + 0.05 * np.array([-1.6449, -0.6745, 0.0, 0.6745, 1.6449])
    for columns in (given, drawn):
        assert np.quantile(columns["mu_static"], shares) == pytest.approx(expected, abs=4 * 0.05 * 0.015)


def test_a_run_is_the_same_alone_and_among_many(tmp_path):
    sampler = prepared(twin=friction_twin(tmp_path / "t.yaml", 0.6)).sampler
    assert (sampler.inputs([Span(0, 5, 9)])["mu_static"] == sampler.inputs([Span(0, 0, 40)])["mu_static"][5:9]).all()


def test_success_moves_with_the_twins_friction(tmp_path):
    """A packbot with flippers climbs 117 mm of a sharp curb from a friction of about 0.6 on (the quasi-static step): surely with
    0.9, never with 0.25. Verdicts of a run alone and among others are the same."""
    share = {}
    for mu in (0.25, 0.9):
        ready = prepared(twin=friction_twin(tmp_path / f"{mu}.yaml", mu))
        tally = tally_of(ready, [32])
        share[mu] = float(tally.successes.sum() / tally.runs.sum())
        some, all_ = (ready.model.evaluate(ready.sampler.inputs([span]), 1) for span in (Span(0, 3, 5), Span(0, 0, 8)))
        assert (some.outcome == all_.outcome[3:5]).all()
        assert (some.measures["margin"] == all_.measures["margin"][3:5]).all()
    assert share[0.25] < 0.1
    assert share[0.9] > 0.9


def test_surface_and_soil_of_the_twin_are_both_unsure(tmp_path):
    ready = prepared(twin=sand_twin(tmp_path / "t.yaml"), scenario="curb_117mm")
    assert {"mu_static", "k_phi", "cohesion_pa", "shear_modulus_m"} <= set(ready.sampler.names)
    given = ready.sampler.inputs([Span(0, 0, 4000)])
    assert given["k_phi"].std() == pytest.approx(240000.0, rel=4.0 / np.sqrt(8000))
    assert ready.model.made_of()["driver"]["schema"] == "slipfit/twin/1"


def test_what_the_study_gives_itself_stands_for_the_twins(tmp_path):
    """As in FILES: a curb's friction, a soil from a table, and the twin for the rest."""
    path = sand_twin(tmp_path / "t.yaml")
    friction = {"curb.friction": {"normal": [0.6, 0.1], "above": 0.05}, "twin": "posterior"}
    ready = prepared(twin=path, scenario="curb_117mm", uncertain=friction, design={"curb.height_m": {"from": 0.05, "to": 0.2}})
    assert ready.sampler.names.count("mu_static") == 1
    assert ready.sampler.inputs([Span(0, 0, 4000)])["mu_static"].std() == pytest.approx(0.1, rel=0.05)
    assert "k_phi" in ready.sampler.names
    table = {"soil": {"from": "grenville_loam", "spread": 0.1}, "twin": "posterior"}
    ready = prepared(twin=path, scenario="curb_117mm", uncertain=table)
    loam = find_ground("grenville_loam").values()["k_phi"]
    assert ready.sampler.inputs([Span(0, 0, 4000)])["k_phi"].mean() == pytest.approx(loam, rel=0.01)
    assert ready.model.found.twin_grounds == ("yard",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"uncertain": {"curb.friction": {"uniform": [0.4, 0.6]}, "twin": "posterior"}}, "the study itself gives all"),
        ({"ground": "ice"}, "has no ground 'ice'"),
        (
            {"twin": None, "robot": "packbot", "ground": "yard", "uncertain": {"mass_kg": {"normal": [31, 1]}}},
            "leave `ground` out",
        ),
    ],
)
def test_what_cannot_be_is_told(tmp_path, changes, said):
    path = friction_twin(tmp_path / "t.yaml", 0.6)
    with pytest.raises(ParameterError, match=said):
        prepared(**{"twin": path} | changes)


def test_a_twin_that_is_sure_of_everything_has_no_posterior(tmp_path):
    with pytest.raises(ParameterError, match=r"no constant of .* has a spread"):
        prepared(twin=friction_twin(tmp_path / "t.yaml", 0.6, std=0.0))
