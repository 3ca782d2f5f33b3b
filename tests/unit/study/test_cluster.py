"""The same study on worker processes that die and hang; and clusters that cannot be used."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from slipfit.errors import SimulationError
from slipfit.study import run_study
from slipfit.study.cluster import Cluster
from slipfit.study.store import read_table
from studies import CURVE, PACKBOT, study

pytest.importorskip("distributed")

#: Without flippers the way up is searched: some thousand runs take a second.
FILE = study(
    CURVE,
    step_climb=PACKBOT | {"has_flippers": False},
    design={"curb.height_m": {"from": 0.02, "to": 0.18, "points": 9}},
    stop={"half_width": 0.03, "at_most_runs": 40000},
    chunk_runs=128,
)

#: Workers of tests are silent soon.
SILENT_S = 3.0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "s"
    return folder / "runs.parquet", run_study(FILE, folder)


def same(one, other):
    a, b = read_table(one), read_table(other)
    return all(np.array_equal(a[name], b[name], equal_nan=name == "friction_margin") for name in a)


@pytest.mark.slow
def test_one_worker_killed_and_one_stopped(undisturbed, tmp_path):
    """Three processes: one is killed, one is stopped, each by its id, in mid-study. Every run counts once, all bits are equal."""
    table, answer = undisturbed
    cluster = Cluster(processes=3, silent_s=SILENT_S)
    victims = list(cluster.processes.values())
    reports = 0

    def disturb(text):
        nonlocal reports
        reports += 1
        if reports == 8:
            os.kill(victims[0], signal.SIGKILL)
        if reports == 12:
            os.kill(victims[1], signal.SIGSTOP)

    try:
        found = run_study(FILE, tmp_path / "s", backend=cluster, progress=disturb)
    finally:
        os.kill(victims[1], signal.SIGCONT)
        cluster.close()
    assert reports > 12
    assert found.points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")


MAIN = """
import sys
from slipfit.study import StudyFile, run_study
from slipfit.study.cluster import Cluster

if __name__ == "__main__":
    run_study(StudyFile.load(sys.argv[1]), sys.argv[2], backend=Cluster(processes=2))
"""


@pytest.mark.slow
def test_main_process_killed_with_two_workers_under_way(undisturbed, tmp_path):
    """`kill -9`, then the rest on threads: at most one chunk of each worker is computed again, and all bits are equal."""
    table, answer = undisturbed
    FILE.save(tmp_path / "study.yaml")
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    journal = tmp_path / "s" / "journal.jsonl"
    main = subprocess.Popen([sys.executable, tmp_path / "main.py", tmp_path / "study.yaml", tmp_path / "s"])
    try:
        while main.poll() is None and not (journal.exists() and len(journal.read_text(encoding="utf-8").splitlines()) >= 9):
            time.sleep(0.01)
        assert main.poll() is None, "the study ended before it was killed"
    finally:
        main.kill()
        main.wait()
    found = run_study(FILE, tmp_path / "s", resume=True)
    assert found.points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")
    begun = sum(json.loads(line)["runs"] for line in journal.read_text(encoding="utf-8").splitlines())
    assert 0 <= begun - found.runs <= 2 * FILE.chunk_runs


def test_an_address_where_nothing_answers(monkeypatch):
    monkeypatch.setattr("slipfit.study.cluster.REACH_S", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SimulationError, match="does not answer"):
        Cluster(f"tcp://127.0.0.1:{port}")


@pytest.mark.slow
def test_workers_of_another_version_are_refused(tmp_path):
    """A worker whose slipfit says 9.9, at a real scheduler."""
    from distributed import LocalCluster

    (tmp_path / "slipfit").mkdir()
    (tmp_path / "slipfit" / "__init__.py").write_text('__version__ = "9.9"\n')
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as scheduler:
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            scheduler.scheduler_address,
            "--no-nanny",
            "--nthreads",
            "1",
        ]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with pytest.raises(SimulationError, match=r"has slipfit 9\.9"):
                Cluster(scheduler.scheduler_address)
        finally:
            worker.kill()
            worker.wait()
