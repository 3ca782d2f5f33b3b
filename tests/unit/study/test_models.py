"""Full simulations as models of studies: rovers and tracked robots, with verdicts that mean what they say."""

import numpy as np
import pytest
import yaml

from slipfit.errors import ParameterError
from slipfit.library import find_tracked_robot
from slipfit.report.study_report import study_page
from slipfit.simulate.climb import climb_many
from slipfit.study import prepare, run_study
from slipfit.study.file import StudyFile
from slipfit.study.sample import Span

CLIMB = {
    "schema": "slipfit/climb/1",
    "obstacle": {"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.1},
    "mu_static": 0.7,
    "speed_mps": 0.3,
    "duration_s": 6.0,
}


@pytest.fixture
def curb(tmp_path):
    """A small study of the tracked robot, its climb in a file beside it."""

    def build(**changes):
        (tmp_path / "curb.climb.yaml").write_text(yaml.safe_dump(CLIMB), encoding="utf-8")
        data = {
            "schema": "slipfit/study/1",
            "robot": "packbot",
            "scenario": str(tmp_path / "curb.climb.yaml"),
            "success": "climbed",
            "design": {"curb.height_m": {"values": [0.05, 0.12, 0.19]}},
            "uncertain": {"curb.friction": {"normal": [0.6, 0.1], "above": 0.05}},
            "stop": {"runs": 24},
        }
        return StudyFile.from_mapping(data | changes, where="curb")

    return build


class TestTrackedRobot:
    def test_low_curbs_are_climbed_and_high_ones_are_not(self, curb, tmp_path):
        """SPEC 5: 50 mm needs a friction of .21, and no friction helps at 190 mm (geometric limit 169.2 mm, edge of 25.4 mm)."""
        file = curb()
        prepared = prepare(file)
        answer = run_study(prepared, tmp_path / "s")
        low, _, high = answer.points
        assert low.probability == 1.0
        assert high.probability == 0.0
        page = study_page(answer, prepared)
        assert 'id="example-0"' in page

    def test_names_are_those_of_the_quasi_static_step(self, curb):
        prepared = prepare(curb())
        assert prepared.sampler.names == ("height_m", "mu_static")

    def test_a_run_alone_has_the_bits_of_a_run_among_many(self, curb):
        prepared = prepare(curb())
        many = prepared.model.evaluate(prepared.sampler.inputs([Span(1, 0, 12)]), 2)
        alone = prepared.model.evaluate(prepared.sampler.inputs([Span(1, 7, 8)]), 1)
        for name in prepared.model.measures:
            assert np.array_equal(alone.measures[name], many.measures[name][7:8])
        assert alone.outcome[0] == many.outcome[7]

    def test_verdicts_are_those_of_the_simulation(self, curb):
        prepared = prepare(curb())
        inputs = prepared.sampler.inputs([Span(1, 0, 8)])
        found = prepared.model.evaluate(inputs, 1)
        batch = climb_many(find_tracked_robot("packbot"), CLIMB, inputs, ends_only=True)
        assert np.array_equal(found.outcome == 0, batch.has_climbed)
        assert [prepared.model.outcomes[k] for k in found.outcome] == [verdict.name.lower() for verdict in batch.verdicts]

    def test_soil_of_the_table_with_its_spreads(self, curb):
        """dry_sand has spreads for its six constants [Wong2008]; the climb is driven on it."""
        prepared = prepare(curb(uncertain={"soil": {"from": "dry_sand", "spread": "table"}}))
        assert {"k_c", "k_phi", "n", "cohesion_pa", "friction_angle_rad", "shear_modulus_m"} <= set(prepared.sampler.names)
        assert prepared.model.climb.soil == "dry_sand"
        inputs = prepared.sampler.inputs([Span(0, 0, 4)])
        assert np.all(inputs["k_c"] >= 0.0)

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"success": "climed"}, "did you mean 'climbed'"),
            ({"success": {"end_x_m": {"at_least": 1.0}}}, "verdict"),
            ({"uncertain": {"curb.frction": {"uniform": [0.1, 0.2]}}}, "curb.friction"),
            ({"uncertain": {"curb.friction": {"normal": [0.2, 0.1]}}}, "above"),
            ({"ground": "gravel"}, "leave `ground` out"),
            ({"scenario": "no_such_climb"}, "no climb"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, curb, changes, sentence):
        with pytest.raises(ParameterError, match=sentence):
            prepare(curb(**changes))


class TestRobotsOnWheels:
    def rover(self, **changes):
        data = {
            "schema": "slipfit/study/1",
            "robot": "p3at",
            "scenario": "step_and_spin",
            "success": {"end_heading_rad": {"at_least": 11.0}},
            "uncertain": {"c_lat": {"log_normal": [0.05, 0.5]}},
            "stop": {"runs": 16},
        }
        return StudyFile.from_mapping(data | changes, where="rover")

    def test_limits_of_the_end_are_the_verdict(self):
        """The spin turns less the less the wheels give way sideways (SPEC 1: w = w_t / (1 + l²/b² c_long/c_lat))."""
        prepared = prepare(self.rover())
        inputs = prepared.sampler.inputs([Span(0, 0, 16)])
        assert set(inputs) == {"c_lat_per_n"}
        found = prepared.model.evaluate(inputs, 1)
        heading = found.measures["end_heading_rad"]
        assert np.array_equal(found.outcome == 0, heading >= 11.0)
        assert np.array_equal(np.argsort(heading), np.argsort(inputs["c_lat_per_n"]))

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"success": "arrived"}, "needs a route"),
            ({"success": "arived"}, "did you mean 'arrived'"),
            ({"success": {"end_z_m": {"at_least": 1.0}}}, "no such outcome"),
            ({"uncertain": {"c_latt": {"uniform": [0.1, 0.2]}}}, "c_lat"),
            ({"uncertain": {"c_lat": {"normal": [0.05, 0.05]}}}, "above"),
            ({"robot": None, "twin": "p3at"}, "is no twin"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, changes, sentence):
        with pytest.raises(ParameterError, match=sentence):
            prepare(self.rover(**changes))
