"""Whole studies: the same tables whatever the threads, chunks and interruptions; partial results that can be read."""

import json

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.study import Study, Threads, run_study
from slipfit.study.store import Store, read_table
from studies import CURVE, DOCUMENT, study

SMALL = study(CURVE, stop={"half_width": 0.06, "at_most_runs": 4000}, sensitivity={"base_runs": 64})


class Stopped(Exception):
    pass


def stop_after(chunks):
    """A progress that ends the study after so many reports."""
    count = 0

    def report(text):
        nonlocal count
        count += 1
        if count > chunks:
            raise Stopped

    return report


def same(one, other):
    a, b = read_table(one), read_table(other)
    return set(a) == set(b) and all(np.array_equal(a[name], b[name], equal_nan=name == "friction_margin") for name in a)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "s"
    return folder, run_study(SMALL, folder)


@pytest.mark.parametrize(("threads", "chunk_runs"), [(1, 7), (1, 100_000), (2, 64)])
def test_threads_and_chunks_do_not_change_a_bit(undisturbed, tmp_path, threads, chunk_runs):
    folder, answer = undisturbed
    again = run_study(SMALL.model_copy(update={"chunk_runs": chunk_runs}), tmp_path / "s", backend=Threads(threads))
    assert again.points == answer.points
    assert again.indices == answer.indices
    for name in ("runs.parquet", "sensitivity.parquet"):
        assert same(folder / name, tmp_path / "s" / name)


def test_every_run_stands_in_the_table_once(undisturbed):
    folder, answer = undisturbed
    runs = read_table(folder / "runs.parquet")["run"]
    assert len(runs) == answer.runs
    assert np.all(np.diff(runs) > 0)
    assert not list((folder / "parts").iterdir())


@pytest.mark.parametrize("chunks", [1, 40, 50])
def test_a_study_that_was_stopped_goes_on(undisturbed, tmp_path, chunks):
    """Stopped in the first round, in later ones, or among the runs behind the Sobol indices; twice."""
    folder, answer = undisturbed
    file, out = SMALL.model_copy(update={"chunk_runs": 32}), tmp_path / "s"
    with pytest.raises(Stopped):
        run_study(file, out, progress=stop_after(chunks))
    before = sum(len(read_table(part)["run"]) for part in out.glob("*/*.parquet"))
    with pytest.raises(Stopped):
        run_study(file, out, resume=True, progress=stop_after(3))
    again = run_study(file, out, resume=True)
    assert again.points == answer.points
    for name in ("runs.parquet", "sensitivity.parquet"):
        assert same(folder / name, out / name)
    begun = sum(json.loads(line)["runs"] for line in (out / "journal.jsonl").read_text().splitlines())
    assert before > 0
    # A report follows every chunk that was kept, so nothing was lost here: each run was begun once.
    assert begun == answer.runs + len(read_table(out / "sensitivity.parquet")["run"])


def test_a_half_written_part_is_thrown_away(undisturbed, tmp_path):
    folder, _ = undisturbed
    out = tmp_path / "s"
    with pytest.raises(Stopped):
        run_study(SMALL, out, progress=stop_after(2))
    (out / "parts" / ".runs-00000009.part.parquet").write_bytes(b"PAR1 half")
    run_study(SMALL, out, resume=True)
    assert same(folder / "runs.parquet", out / "runs.parquet")


def test_a_finished_study_that_is_resumed_runs_nothing(undisturbed, tmp_path):
    folder, answer = undisturbed
    lines = (folder / "journal.jsonl").read_text()
    assert run_study(SMALL, folder, resume=True).points == answer.points
    assert (folder / "journal.jsonl").read_text() == lines


def test_the_answer_saves_and_loads_itself(undisturbed):
    folder, answer = undisturbed
    loaded = Study.load(folder / "result.json")
    assert loaded.summary() == answer.summary()
    assert loaded.points == answer.points
    assert loaded.modes == answer.modes
    assert loaded.tornado == answer.tornado


def test_adaptive_shares_of_failures_count_every_height_alike(undisturbed):
    """1 - mean of P over heights, however the runs were spread."""
    _, answer = undisturbed
    assert sum(mode.share for mode in answer.modes) == pytest.approx(1.0 - answer.probability, abs=1e-12)


def test_failure_modes_lie_where_they_belong(undisturbed):
    """SPEC 5: above 158.8 mm no friction helps (the mass varies by 5 mm: from 150 mm on)."""
    _, answer = undisturbed
    region = {mode.name: mode.region["curb.height_m"] for mode in answer.modes}
    assert region["step too high"][0] > 0.15
    assert region["slipped"][2] < 0.17


def test_the_tornado_names_the_height_first(undisturbed):
    _, answer = undisturbed
    assert [swing.name for swing in answer.tornado][:2] == ["curb.height_m", "curb.friction"]
    height = answer.tornado[0]
    assert height.at_low[0] == 1.0
    assert height.at_high[0] == 0.0


def test_a_limit_of_runs_is_told(tmp_path):
    answer = run_study(study(CURVE, stop={"half_width": 0.01, "at_most_runs": 2000}), tmp_path / "s")
    assert answer.runs <= 2000
    assert "at_most_runs = 2000" in answer.findings[0]


def test_indices_of_what_never_varies(tmp_path):
    file = study(
        fixed={"curb.height_m": 0.02}, uncertain={"curb.friction": {"uniform": [0.5, 0.9]}}, sensitivity={"base_runs": 64}
    )
    answer = run_study(file, tmp_path / "s")
    assert answer.probability == 1.0
    assert not answer.indices
    assert "all runs ended alike" in answer.findings[-1]


class TestFolders:
    def test_another_study_is_not_resumed(self, undisturbed):
        folder, _ = undisturbed
        with pytest.raises(ParameterError, match="another study file"):
            run_study(SMALL.model_copy(update={"seed": 7}), folder, resume=True)

    def test_an_older_version_is_not_resumed(self, undisturbed, tmp_path):
        folder, _ = undisturbed
        text = (folder / "study.yaml").read_text().replace("made_with: ", "made_with: 9.")
        (tmp_path / "study.yaml").write_text(text)
        with pytest.raises(ParameterError, match=r"was begun with slipfit 9\."):
            Store.resume(tmp_path, SMALL)

    def test_a_study_is_not_overwritten(self, undisturbed):
        with pytest.raises(ParameterError, match="--resume"):
            run_study(SMALL, undisturbed[0])

    def test_a_folder_of_other_things_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("x")
        with pytest.raises(ParameterError, match="holds other files"):
            run_study(SMALL, tmp_path, force=True)

    def test_nothing_to_resume(self, tmp_path):
        with pytest.raises(ParameterError, match="holds no study"):
            run_study(SMALL, tmp_path / "no", resume=True)

    def test_larger_than_the_disk(self, tmp_path):
        with pytest.raises(ParameterError, match="GB free; take fewer runs"):
            run_study(study(stop={"runs": 10**12}), tmp_path / "s")
        assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"uncertain": {}}, "at least 1"),
        ({"stop": {}}, "half_width"),
        ({"stop": {"runs": 10, "half_width": 0.1}}, "one of the two"),
        ({"robot": "p3at"}, "robot and step_climb"),
        ({"scenario": "step_and_spin"}, "step_climb needs no scenario"),
        ({"step_climb": None}, "nothing to study"),
        ({"design": {"curb.height_m": {"from": 0.1, "to": 0.2}}}, "design and uncertain"),
        ({"design": {"x": {"from": 0.2, "to": 0.1}}}, "not below"),
        ({"design": {"x": {"from": 0.2}}}, "from and to"),
        ({"design": {"x": {"values": [1, 1]}}}, "twice"),
        ({"uncertain": DOCUMENT["uncertain"] | {"twin": "posterior"}}, "no twin in this study"),
        ({"uncertain": DOCUMENT["uncertain"] | {"x": "posterior"}}, "only `twin`"),
        ({"sampling": {"method": "sobol", "scramblings": 8}}, "expected at least 16"),
        ({"sampling": {"method": "latin_hypercube"}, "stop": {"half_width": 0.1}}, "stop.runs"),
        ({"sensitivity": {"base_runs": 100}}, "128"),
        ({"correlated": [{"between": ["curb.friction", "x"], "value": 0.5}]}, "'x' is no distribution"),
        ({"design": {"a": {"from": 0, "to": 1, "points": 200}, "b": {"from": 0, "to": 1, "points": 200}}}, "40000 combinations"),
        ({"sucess": "climbed"}, "did you mean 'success'"),
        ({"schema": "slipfit/study/2"}, "expected 'slipfit/study/1'"),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        study(**changes)
