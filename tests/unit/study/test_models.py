"""Full simulations as models of studies: rovers and tracked robots, with verdicts that mean what they say."""

import numpy as np
import pytest
import yaml

from slipfit.errors import ParameterError
from slipfit.library import Terrain, find_robot
from slipfit.report.study_example import example_panel
from slipfit.report.study_report import study_page
from slipfit.simulation import simulate_many
from slipfit.study import Study, prepare, run_study
from slipfit.study.file import StudyFile
from slipfit.study.sample import Span
from slipfit.study.store import read_table

CLIMB = {
    "schema": "slipfit/climb/1",
    "obstacle": {"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.3},
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
    def test_a_field_whose_heights_change_is_another_study(self, curb, tmp_path):
        """Only the terrain's file changes; neither study nor climb does."""
        heights, terrain = np.zeros((61, 61)), tmp_path / "yard.yaml"
        field = {"kind": "field", "terrain": str(terrain), "start_m": [1.0, 1.5], "run_m": 0.5}
        climb = tmp_path / "yard.climb.yaml"
        climb.write_text(yaml.safe_dump(CLIMB | {"obstacle": field}), encoding="utf-8")
        study = curb(scenario=str(climb), design={"heading_rad": {"values": [0.0, 0.5]}})

        def made_of(heights_m, origin_m):
            Terrain("yard", heights_m, 0.05, origin_m).save(terrain, force=True)
            return prepare(study).model.made_of()

        level = made_of(heights, (0.0, 0.0))
        assert made_of(heights, (0.0, 0.0)) == level
        assert made_of(heights, (0.1, 0.0)) != level
        heights[30, 30] = 0.05
        assert made_of(heights, (0.0, 0.0)) != level

    def test_low_curbs_are_climbed_and_high_ones_are_not(self, curb, tmp_path):
        """SPEC 5: 50 mm needs a friction of .21, and no friction helps at 190 mm (geometric limit 169.2 mm, edge of 25.4 mm)."""
        file = curb()
        prepared = prepare(file)
        answer = run_study(prepared, tmp_path / "s")
        low, _, high = answer.points
        assert low.probability == 1.0
        assert high.probability == 0.0
        assert set(high.at) == {"curb.height_m"}
        page = study_page(answer, prepared)
        assert 'id="example-0"' in page
        figure = example_panel(prepared.model, answer.modes[0], 0).figure
        assert len(figure["frames"]) > 20
        assert [button["label"] for button in figure["layout"]["updatemenus"][0]["buttons"]] == ["▶ play", "❚❚ pause"]

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

    @pytest.mark.slow
    def test_grip_reserves_stand_beside_the_verdicts_if_asked_for(self, curb, tmp_path):
        """Above zero where a run climbed; the same bits alone and among many; not found for Sobol indices, which need none."""
        prepared = prepare(curb(reserve=True, sensitivity={"base_runs": 64}))
        answer = run_study(prepared, tmp_path / "s")
        runs = read_table(tmp_path / "s" / "runs.parquet")
        reserve = np.array(runs["grip_reserve"])
        assert f"grip reserve of all runs: median {np.median(reserve):+.2f}" in answer.summary()
        assert np.array_equal(reserve > 0.0, runs["success"])
        assert (np.abs(reserve) <= 0.75).all()
        assert len(set(reserve.tolist())) > 8
        alone = prepared.model.evaluate(prepared.sampler.inputs([Span(1, 3, 4)]), 1)
        at = [k for k in range(len(reserve)) if (runs["cell"][k], runs["place"][k]) == (1, 3)]
        assert alone.measures["grip_reserve"].tolist() == reserve[at].tolist()
        assert "grip_reserve" not in read_table(tmp_path / "s" / "sensitivity.parquet")

        for cell, point in enumerate(answer.points):
            wanted = np.quantile(reserve[np.array(runs["cell"]) == cell], (0.05, 0.5, 0.95))
            assert point.grip_reserve == pytest.approx(tuple(wanted), abs=1e-12)
        answer.save(tmp_path / "answer.json")
        assert Study.load(tmp_path / "answer.json").points == answer.points
        assert 'id="reserves"' in study_page(answer, prepared)

    def test_verdicts_are_those_of_the_simulation(self, curb):
        prepared = prepare(curb())
        inputs = prepared.sampler.inputs([Span(1, 0, 8)])
        found = prepared.model.evaluate(inputs, 1)
        batch = simulate_many(find_robot("packbot"), CLIMB, inputs, ends_only=True)
        assert np.array_equal(found.outcome == 0, batch.has_climbed)
        assert [prepared.model.outcomes[k] for k in found.outcome] == [outcome.name.lower() for outcome in batch.outcomes]

    def test_soil_of_the_table_with_its_spreads(self, curb):
        """dry_sand has spreads for its six constants [Wong2008]; the climb is driven on it."""
        prepared = prepare(curb(uncertain={"soil": {"from": "dry_sand", "spread": "table"}}))
        assert {"k_c", "k_phi", "n", "cohesion_pa", "friction_angle_rad", "shear_modulus_m"} <= set(prepared.sampler.names)
        assert prepared.model.found.scenario.ground.soil == "dry_sand"
        inputs = prepared.sampler.inputs([Span(0, 0, 4)])
        assert np.all(inputs["k_c"] >= 0.0)

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"success": "climed"}, "did you mean 'climbed'"),
            ({"success": {"end_x_m": {"at_least": 1.0}}}, "no such outcome"),
            ({"uncertain": {"curb.frction": {"uniform": [0.1, 0.2]}}}, "curb.friction"),
            ({"uncertain": {"curb.friction": {"normal": [0.2, 0.1]}}}, "above"),
            ({"ground": "gravel"}, "leave `ground` out"),
            ({"success": "slipped", "reserve": True}, "reserve: grip reserves are distances from `climbed`"),
            ({"scenario": "turn_in_sand", "reserve": True}, "the scenario has no goal"),
            (
                {
                    "robot": "p3at",
                    "scenario": "step_and_spin",
                    "success": "finished",
                    "design": {},
                    "reserve": True,
                    "uncertain": {"mass_kg": {"normal": [12.0, 0.1]}},
                },
                "reserve: grip reserves are of tracked robots' climbs",
            ),
            ({"scenario": "no_such_climb"}, "there is no scenario 'no_such_climb'"),
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


class TestRover:
    """A whole study of a rover on a route, on slopes."""

    FILE = StudyFile.from_mapping(
        {
            "schema": "slipfit/study/1",
            "robot": "lynxmotion_4wd3",
            "scenario": "serpentine_20deg",
            "success": "arrived",
            "design": {"slope_rad": {"values": [0.17, 0.62]}},
            "uncertain": {"mu_max": {"uniform": [0.55, 0.65]}},
            "stop": {"runs": 8},
        },
        where="rover",
    )

    def test_it_arrives_where_friction_holds_it_and_slides_where_it_cannot(self, tmp_path):
        """tan 0.62 = 0.71: no friction below that holds anything there. SPEC 4: the rover arrives on 10 degrees."""
        prepared = prepare(self.FILE)
        answer = run_study(prepared, tmp_path / "s")
        gentle, steep = answer.points
        assert gentle.probability == 1.0
        assert steep.probability == 0.0
        assert [mode.name for mode in answer.modes] == ["slid_away"]
        assert set(answer.modes[0].example) == {"slope_rad", "mu_max"}
        panel = example_panel(prepared.model, answer.modes[0], 0)
        places = np.array([frame["data"][0]["x"] is not None for frame in panel.figure["frames"]])
        assert len(places) > 20
        assert [trace["name"] for trace in panel.figure["data"]][-1] == "waypoints"
