"""slipfit study: what a user types, reads and gets wrong."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml
from jsonschema import Draft202012Validator

from patience import HANG_S, until
from slipfit.cli.output import Work
from slipfit.library.schemas import schema_path, schema_text
from slipfit.study import StudyFile
from slipfit.study.store import read_table
from studies import CURVE, DOCUMENT


def write(folder, name="curb.yaml", base=CURVE, **changes):
    path = folder / name
    path.write_text(yaml.safe_dump(base | changes), encoding="utf-8")
    return path


SMALL = {"stop": {"half_width": 0.08, "at_most_runs": 3000}}


def test_answer_folder_report_and_picture(slipfit, tmp_path):
    write(tmp_path, about="a curb", sensitivity={"base_runs": 64}, **SMALL)
    result = slipfit("study", "curb.yaml", "--report", "curb.html", "--plot", "curb.png")
    assert result.code == 0
    assert "P(climbed)" in result.out
    assert "Sobol indices of curb.height_m" in result.out
    page = (tmp_path / "curb.html").read_text()
    assert all(f'id="{name}"' in page for name in ("curves", "outcomes", "sobol", "tornado", "example-0", "example-1"))
    assert (tmp_path / "curb.png").stat().st_size > 10_000
    rows = read_table(tmp_path / "curb" / "runs.parquet")
    assert {"run", "outcome", "curb.height_m", "curb.friction", "friction_margin"} <= set(rows)


def test_json_says_what_the_file_says(slipfit, tmp_path):
    write(tmp_path, base=DOCUMENT)
    document = json.loads(slipfit("study", "curb.yaml", "--json").out)
    kept = json.loads((tmp_path / "curb" / "result.json").read_text())
    assert document["points"] == kept["points"]
    assert document["runs"] == 1000
    assert document["probability"] == pytest.approx(0.4596, abs=3 * 0.0158)


def test_check_runs_nothing(slipfit, tmp_path):
    write(tmp_path)
    assert "at most 40000 runs" in slipfit("study", "curb.yaml", "--check").out
    assert not (tmp_path / "curb").exists()


def test_resume_after_the_end_and_refusal_to_overwrite(slipfit, refused, tmp_path):
    write(tmp_path, base=DOCUMENT)
    slipfit("study", "curb.yaml")
    before = read_table(tmp_path / "curb" / "runs.parquet")
    assert "--resume" in refused("study", "curb.yaml")
    assert slipfit("study", "curb.yaml", "--resume").code == 0
    assert slipfit("study", "curb.yaml", "--force", "--threads", "1").code == 0
    after = read_table(tmp_path / "curb" / "runs.parquet")
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_ctrl_c_says_how_to_go_on(tmp_path):
    """SIGINT to the program itself, as a terminal sends it, once the first chunk is under way. A shell's background jobs ignore
    it, and so would tests that run in one: the program is told to listen."""
    write(tmp_path, base=DOCUMENT, stop={"runs": 2_000_000}, chunk_runs=200)
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from slipfit.cli import main; main()"
    command = [sys.executable, "-c", listening, "study", "curb.yaml"]
    program = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "curb" / "journal.jsonl"
    until(lambda: program.poll() is not None or (journal.exists() and len(journal.read_text().splitlines()) > 3))
    program.send_signal(signal.SIGINT)
    said = last_words(program)
    assert program.returncode == 130, said
    assert "--resume goes on" in said
    assert list((tmp_path / "curb" / "parts").glob("runs-*.parquet"))


def last_words(program):
    """Standard error of a program that was asked to end; one that does not is killed, and fails the test."""
    try:
        return program.communicate(timeout=HANG_S)[1]
    finally:
        program.kill()


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_worker_processes_without_a_word_of_theirs(tmp_path):
    """A terminal sends SIGINT to all processes of the group, here twice; those of the cluster leave no traceback and no
    semaphore behind, of which Python would warn."""
    pytest.importorskip("distributed")
    write(tmp_path, base=DOCUMENT, stop={"runs": 20_000_000}, chunk_runs=200)
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from slipfit.cli import main; main()"
    command = [sys.executable, "-c", listening, "study", "curb.yaml", "--cluster", "local", "--processes", "2"]
    program = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    journal = tmp_path / "curb" / "journal.jsonl"
    until(lambda: program.poll() is not None or (journal.exists() and len(journal.read_text().splitlines()) > 3))
    for _ in range(2):
        os.killpg(program.pid, signal.SIGINT)
        time.sleep(0.2)
    said = last_words(program)
    assert program.returncode == 130, said
    told = [line for line in said.splitlines() if not line.startswith("slipfit: studying")]
    assert len(told) == 1, said
    assert "--resume goes on" in told[0]


def test_what_takes_long_is_announced(slipfit, tmp_path, monkeypatch):
    """Connecting, runs, sorting, and drawing, which takes seconds after the last run."""
    stages = []
    announce = Work.__call__
    monkeypatch.setattr(Work, "__call__", lambda work, stage: (stages.append(stage), announce(work, stage))[1])
    write(tmp_path, base=DOCUMENT, stop={"runs": 64})
    assert slipfit("study", "curb.yaml", "--report", "curb.html", "--plot", "curb.png").code == 0
    assert stages[0].startswith("64 runs on")
    assert stages[-4:-2] == ["analysing", "sorting the table of runs"]
    assert stages[-2].startswith("drawing the report curb.html")
    assert stages[-1] == "drawing curb.png"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"uncertain": {"curb.friction": {"normal": [0.6, 0.0]}}}, "has no spread"),
        ({"uncertain": {"curb.friction": {"normal": [0.1, 0.1]}}}, "`above: 0`"),
        ({"stop": {"runs": 10**12}}, "GB free"),
        (
            {"uncertain": {"curb.friction": {"normal": [0.6]}}},
            "uncertain.curb.friction.normal: found [0.6]; give mean and standard deviation",
        ),
        ({"step_climb": None, "robot": "p3at", "scenario": "no_such"}, "there is no scenario"),
        ({"step_climb": None, "robot": "p3at", "scenario": "curb_117mm"}, "obstacles are not simulated for wheels yet"),
        ({"twin": "no.yaml", "step_climb": None, "scenario": "step_and_spin"}, "no such file"),
        ({"uncertain": {"curb.friction": 0.6}}, "uncertain.curb.friction"),
    ],
)
def test_bad_studies(refused, tmp_path, changes, sentence):
    write(tmp_path, **changes)
    said = refused("study", "curb.yaml")
    assert "curb" in said
    assert sentence in said


def test_bad_flags(refused, tmp_path):
    write(tmp_path)
    assert "--cluster local" in refused("study", "curb.yaml", "--processes", "2")
    assert "keep one" in refused("study", "curb.yaml", "--threads", "2", "--cluster", "local")
    assert "tcp://host:8786" in refused("study", "curb.yaml", "--cluster", "here")
    assert "no such file" in refused("study", "no.yaml")
    assert ".html" in refused("study", "curb.yaml", "--report", "page.pdf")
    assert "holds no study" in refused("study", "curb.yaml", "--resume")


def test_a_finished_table_that_was_changed_is_refused(slipfit, refused, tmp_path):
    write(tmp_path, base=DOCUMENT)
    slipfit("study", "curb.yaml")
    with (tmp_path / "curb" / "runs.parquet").open("ab") as table:
        table.write(b"x")
    assert "runs.parquet: was changed since" in refused("study", "curb.yaml", "--resume")


def test_unreachable_cluster(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("slipfit.study.cluster.REACH_S", 1.0)
    write(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "does not answer" in refused("study", "curb.yaml", "--cluster", f"tcp://127.0.0.1:{port}")


class TestSchema:
    def checker(self):
        return Draft202012Validator(json.loads(schema_path(StudyFile).read_text(encoding="utf-8")))

    def test_it_is_current(self):
        """`make schemas` writes it anew."""
        assert schema_path(StudyFile).read_text(encoding="utf-8") == schema_text(StudyFile)

    @pytest.mark.parametrize("base", [DOCUMENT, CURVE])
    def test_studies_fit_and_misspelt_keys_do_not(self, base):
        check = self.checker()
        assert list(check.iter_errors(base)) == []
        for key in base:
            assert not check.is_valid({name + "x" * (name == key): entry for name, entry in base.items()}), key
