"""Whole studies: the same tables whatever the threads, chunks and interruptions; partial results that can be read."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from slipfit.errors import ParameterError
from slipfit.library import find_robot
from slipfit.study import Study, Threads, prepare, run_study
from slipfit.study.step_model import StepModel
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


def test_a_round_is_counted_as_it_was_announced(tmp_path):
    """So many runs are announced, and so many are counted, in each round; after a stop those that are left."""
    told = []
    file = SMALL.model_copy(update={"chunk_runs": 100})
    with pytest.raises(Stopped):
        run_study(file, tmp_path / "s", progress=stop_after(4))
    run_study(file, tmp_path / "s", resume=True, progress=told.append)
    announced, counted = 0, 0
    rounds = 0
    for text in told:
        if found := re.match(r"(\d+) runs on ", text):
            assert counted == announced
            announced, counted, rounds = int(found[1]), 0, rounds + 1
        elif found := re.match(r"(\d+) of (\d+) runs of this round", text):
            counted = int(found[1])
            assert int(found[2]) == announced
    assert counted == announced
    assert rounds > 2


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
        text = (folder / "begun.json").read_text().replace('"made_with": "', '"made_with": "9.')
        (tmp_path / "begun.json").write_text(text)
        with pytest.raises(ParameterError, match=r"was begun with slipfit 9\."):
            Store.resume(tmp_path, SMALL, {})

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
        ({"stop": {"runs": 3}, "design": {"x": {"from": 0.1, "to": 0.2}}}, "stop.runs = 3 is too few for 12 points"),
        ({"sampling": {"method": "sobol"}, "stop": {"half_width": 0.1, "at_most_runs": 15}}, "16 scramblings"),
        ({"sampling": {"method": "latin_hypercube"}, "stop": {"runs": 10**9}}, "held in memory"),
        ({"sensitivity": {"base_runs": 100}}, "128"),
        ({"correlated": [{"between": ["curb.friction", "x"], "value": 0.5}]}, "'x' is no distribution"),
        ({"design": {"a": {"from": 0, "to": 1, "points": 200}, "b": {"from": 0, "to": 1, "points": 200}}}, "40000 combinations"),
        ({"sucess": "climbed"}, "did you mean 'success'"),
        ({"design": {"x": {"from": 0.1, "to": 0.2, "steps": 7}}}, "'design.x.steps'; known are from, points, to, values$"),
        ({"schema": "slipfit/study/2"}, "expected 'slipfit/study/1'"),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        study(**changes)


class TestWhatGoesWrongOnTheWay:
    QUICK = study(stop={"runs": 64}, chunk_runs=16)

    def stopped(self, folder, file=QUICK):
        with pytest.raises(Stopped):
            run_study(file, folder, progress=stop_after(3))

    def test_two_processes_do_not_work_in_one_folder(self, tmp_path):
        """A lock that the operating system frees with its process; another handle in this one stands for the other process."""
        self.stopped(tmp_path / "s")
        other = Store(tmp_path / "s")
        for way in ({"resume": True}, {"force": True}):
            with pytest.raises(ParameterError, match="another process"):
                run_study(self.QUICK, tmp_path / "s", **way)
        other.close()
        assert run_study(self.QUICK, tmp_path / "s", resume=True).runs == 64

    def test_a_spoilt_part_is_run_again(self, tmp_path):
        whole = run_study(self.QUICK, tmp_path / "whole")
        self.stopped(tmp_path / "s")
        part = next((tmp_path / "s" / "parts").glob("*.parquet"))
        part.write_bytes(bytes(part.stat().st_size))
        told = []
        again = run_study(self.QUICK, tmp_path / "s", resume=True, progress=told.append)
        assert again.points == whole.points
        assert same(tmp_path / "whole" / "runs.parquet", tmp_path / "s" / "runs.parquet")
        assert "is not as it was written; what only it held is run again" in told[0]
        assert f"parts/{part.name} is not as it was written" in again.findings[-1]

    @pytest.mark.parametrize("name", ["runs", "sensitivity"])
    def test_a_finished_table_that_was_changed_is_told(self, tmp_path, name):
        """One byte, and the whole table of another seed, which reads well."""
        file = study(stop={"runs": 64}, sensitivity={"base_runs": 64})
        run_study(file, tmp_path / "s")
        run_study(file.model_copy(update={"seed": 77}), tmp_path / "other")
        table = tmp_path / "s" / f"{name}.parquet"
        whole = table.read_bytes()
        for changed in (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], (tmp_path / "other" / table.name).read_bytes()):
            table.write_bytes(changed)
            with pytest.raises(ParameterError, match=rf"{name}\.parquet: was changed since"):
                run_study(file, tmp_path / "s", resume=True)
            assert table.read_bytes() == changed
        table.write_bytes(whole)
        assert run_study(file, tmp_path / "s", resume=True).runs == 64

    def test_a_kill_between_digest_and_table_loses_nothing(self, tmp_path, monkeypatch):
        replace = Path.replace

        def killed(path, target):
            if Path(target).name == "runs.parquet":
                raise KeyboardInterrupt
            return replace(path, target)

        with monkeypatch.context() as patch:
            patch.setattr("slipfit.study.store.Path.replace", killed)
            with pytest.raises(KeyboardInterrupt):
                run_study(self.QUICK, tmp_path / "s")
        assert (tmp_path / "s" / "finished.json").exists()
        assert run_study(self.QUICK, tmp_path / "s", resume=True).runs == 64
        assert run_study(self.QUICK, tmp_path / "s", resume=True).runs == 64

    @pytest.mark.parametrize("where", [0.2, 0.4, 0.6, 0.75])
    def test_a_few_bytes_that_a_disk_lost_are_noticed(self, tmp_path, where):
        """64 zeros in a column, between columns or in the table of contents: some of that can be read, and is wrong."""
        whole = run_study(self.QUICK, tmp_path / "whole")
        self.stopped(tmp_path / "s")
        part = next((tmp_path / "s" / "parts").glob("*.parquet"))
        content = bytearray(part.read_bytes())
        at = int(where * len(content))
        content[at : at + 64] = bytes(64)
        part.write_bytes(content)
        assert run_study(self.QUICK, tmp_path / "s", resume=True).points == whole.points
        assert same(tmp_path / "whole" / "runs.parquet", tmp_path / "s" / "runs.parquet")

    def test_a_part_under_another_serial_or_of_another_study_is_not_counted(self, tmp_path):
        whole = run_study(self.QUICK, tmp_path / "whole")
        self.stopped(tmp_path / "s")
        self.stopped(tmp_path / "other", study(stop={"runs": 64}, chunk_runs=16, seed=77))
        first, *_, last = sorted((tmp_path / "s" / "parts").glob("*.parquet"))
        foreign = sorted((tmp_path / "other" / "parts").glob("*.parquet"))[-1]
        last.unlink()
        shutil.copy(foreign, first.parent)
        shutil.copy(first, first.with_name(first.name.replace("00000001", "00000099")))
        shutil.copy(first, first.with_name("runs-notes.parquet"))
        again = run_study(self.QUICK, tmp_path / "s", resume=True)
        assert again.points == whole.points
        assert same(tmp_path / "whole" / "runs.parquet", tmp_path / "s" / "runs.parquet")
        assert sum("is not as it was written" in note for note in again.findings) == 3

    def test_runs_that_stand_in_two_parts_count_once(self, tmp_path):
        """As two processes may leave them where a network's disk has no locks; the first part stays."""
        whole = run_study(self.QUICK, tmp_path / "whole")
        self.stopped(tmp_path / "s")
        store = Store.resume(tmp_path / "s", self.QUICK, prepare(self.QUICK).model.made_of())
        parts = sorted(store.parts.glob("*.parquet"))
        store.keep("runs", read_table(parts[0]))
        store.close()
        again = run_study(self.QUICK, tmp_path / "s", resume=True)
        assert again.points == whole.points
        assert same(tmp_path / "whole" / "runs.parquet", tmp_path / "s" / "runs.parquet")
        assert "runs-00000004" in again.findings[-1]
        assert "holds runs that another part holds too" in again.findings[-1]

    @pytest.mark.parametrize("when", ["keep", "finish", "begin"])
    def test_a_full_disk_is_told_and_loses_nothing(self, tmp_path, monkeypatch, when):
        replace = Path.replace

        def full(path, target):
            if ("parts" in Path(target).parts) == (when == "keep"):
                raise OSError(28, "No space left on device")
            return replace(path, target)

        with monkeypatch.context() as patch:
            if when != "begin":
                Store.create(tmp_path / "s", self.QUICK, {}, force=False).close()
                patch.setattr("slipfit.study.store.Path.replace", full)
            else:
                self.stopped(tmp_path / "s")
                (tmp_path / "s" / "journal.jsonl").unlink()
                (tmp_path / "s" / "journal.jsonl").mkdir()  # nothing can be added to it
            with pytest.raises(ParameterError, match=r"cannot be written \(.*what was finished stays"):
                run_study(self.QUICK, tmp_path / "s", resume=True)
        if when == "begin":
            (tmp_path / "s" / "journal.jsonl").rmdir()
        assert run_study(self.QUICK, tmp_path / "s", resume=True).runs == 64

    def test_a_study_can_be_run_again_from_its_folder(self, tmp_path):
        first = run_study(self.QUICK, tmp_path / "s")
        assert run_study(tmp_path / "s" / "study.yaml", tmp_path / "again").points == first.points

    def test_what_a_kill_at_the_beginning_left_is_no_hindrance(self, tmp_path):
        (tmp_path / "s" / "parts").mkdir(parents=True)
        (tmp_path / "s" / "lock").touch()
        assert run_study(self.QUICK, tmp_path / "s").runs == 64


class TestFilesBesideTheStudy:
    @pytest.fixture
    def place(self, tmp_path):
        """A study of one's own robot, with measured frictions; nothing is run."""
        find_robot("p3at").save(tmp_path / "mine.yaml")
        (tmp_path / "slip.csv").write_text("c\n0.01\n0.02\n0.03\n", encoding="utf-8")
        data = {
            "schema": "slipfit/study/1",
            "robot": "mine.yaml",
            "scenario": "step_and_spin",
            "success": "finished",
            "uncertain": {"c_lat": {"empirical": {"file": "slip.csv", "column": "c"}}},
            "stop": {"runs": 16},
        }
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
        return tmp_path

    def begun(self, place):
        prepared = prepare(place / "study.yaml")
        return prepared.file, prepared.model.made_of()

    def test_they_are_found_from_anywhere(self, place, monkeypatch):
        monkeypatch.chdir(place.parent)
        file, _ = self.begun(place)
        assert file.uncertain["c_lat"].empirical == [0.01, 0.02, 0.03]
        assert file.with_whole_paths().robot == str(place / "mine.yaml")

    def test_the_same_study_from_elsewhere_is_resumed(self, place, monkeypatch):
        Store.create(place / "s", *self.begun(place), force=False).close()
        monkeypatch.chdir(place)
        prepared = prepare("study.yaml")
        Store.resume(place / "s", prepared.file, prepared.model.made_of()).close()

    @pytest.mark.parametrize(("name", "old", "new"), [("mine.yaml", "value: 20.0", "value: 21.0"), ("slip.csv", "0.03", "0.04")])
    def test_one_that_changed_since_is_noticed(self, place, name, old, new):
        Store.create(place / "s", *self.begun(place), force=False).close()
        text = (place / name).read_text()
        assert old in text
        (place / name).write_text(text.replace(old, new, 1))
        with pytest.raises(ParameterError, match="changed since"):
            Store.resume(place / "s", *self.begun(place))


def test_a_design_that_memory_cannot_hold_is_refused_before_anything_runs():
    with pytest.raises(ParameterError, match="makes a design of"):
        prepare(study(sensitivity={"base_runs": 2**24}, uncertain=DOCUMENT["uncertain"] | CURVE["uncertain"]))


class TestRunsThatCannotBe:
    """A step model that refuses steps above 150 mm stands for soils that carry nothing and steps out of reach."""

    @pytest.fixture(autouse=True)
    def fussy(self, monkeypatch):
        evaluate = StepModel.evaluate

        def fussy(model, inputs, workers=1):
            if np.any(inputs["curb.height_m"] > 0.15):
                raise ParameterError("curb.height_m is out of reach")
            return evaluate(model, inputs, workers)

        monkeypatch.setattr(StepModel, "evaluate", fussy)

    def test_they_fail_and_are_told(self, tmp_path):
        answer = run_study(study(stop={"runs": 300}), tmp_path / "s")
        heights = read_table(tmp_path / "s" / "runs.parquet")["curb.height_m"]
        mode = next(mode for mode in answer.modes if mode.name == "not possible")
        assert mode.runs == np.sum(heights > 0.15)
        assert any("not possible" in finding and "out of reach" in finding for finding in answer.findings)

    def test_a_study_in_which_none_can_be_stops(self, tmp_path):
        high = DOCUMENT["uncertain"] | {"curb.height_m": {"uniform": [0.2, 0.3]}}
        with pytest.raises(ParameterError, match=r"no run of this study is possible: .* is out of reach"):
            run_study(study(uncertain=high, stop={"runs": 20}), tmp_path / "s")
