"""The same study on worker processes that die and hang; and clusters that cannot be used."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from patience import HANG_S, until
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


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine workers start and answer late, which is no part of what is claimed here."""
    for name in ("REACH_S", "VERSIONS_S", "FIRST_WORKER_S"):
        monkeypatch.setattr(f"slipfit.study.cluster.{name}", HANG_S)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "s"
    return folder / "runs.parquet", run_study(FILE, folder)


def same(one, other):
    a, b = read_table(one), read_table(other)
    return all(np.array_equal(a[name], b[name], equal_nan=name == "friction_margin") for name in a)


@pytest.mark.slow
def test_one_worker_killed_and_one_stopped(undisturbed, tmp_path, monkeypatch):
    """Three processes: one is killed, one is stopped, each by its id, in mid-study. Every run counts once, all bits are equal."""
    table, answer = undisturbed
    cluster = Cluster(processes=3)
    addresses, victims = zip(*cluster.processes.items(), strict=True)
    reports, stopped = 0, set()
    # Whoever is stopped is silent at once, nobody else ever is: how busy the machine is does not show.
    monkeypatch.setattr(cluster, "_patience_s", lambda worker, state: 0.0 if worker in stopped else HANG_S)

    def disturb(text):
        nonlocal reports
        reports += 1
        if reports == 8:
            os.kill(victims[0], signal.SIGKILL)
        if reports == 12:
            os.kill(victims[1], signal.SIGSTOP)
            stopped.add(addresses[1])

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


def _lines_of(journal):
    return len(journal.read_text(encoding="utf-8").splitlines()) if journal.exists() else 0


def _entry(line):
    entry = json.loads(line)
    return entry | {"spans": str(entry["spans"])}


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [3, 9, 20])
def test_main_process_killed_with_two_workers_under_way(undisturbed, tmp_path, chunks):
    """`kill -9`, then the rest on threads: at most one chunk of each worker is computed again, and all bits are equal."""
    table, answer = undisturbed
    FILE.save(tmp_path / "study.yaml")
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    journal = tmp_path / "s" / "journal.jsonl"
    main = subprocess.Popen([sys.executable, tmp_path / "main.py", tmp_path / "study.yaml", tmp_path / "s"])
    try:
        until(lambda: main.poll() is not None or _lines_of(journal) >= chunks)
        assert main.poll() is None, "the study ended before it was killed"
    finally:
        main.kill()
        main.wait()
    # A chunk whose worker was lost (a busy machine does that) is begun twice; once is what the kill can cost.
    begun = {line["spans"]: line["runs"] for line in map(_entry, journal.read_text(encoding="utf-8").splitlines())}
    kept = sum(len(read_table(part)["run"]) for part in (tmp_path / "s" / "parts").glob("runs-*.parquet"))
    assert 0 <= sum(begun.values()) - kept <= 2 * FILE.chunk_runs
    found = run_study(FILE, tmp_path / "s", resume=True)
    assert found.points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")


@pytest.mark.slow
def test_a_scheduler_that_is_silent_for_a_moment_is_waited_for(undisturbed, tmp_path, monkeypatch):
    """A busy machine lets it answer late: not the end of a study."""
    table, answer = undisturbed
    cluster = Cluster(processes=1)
    asked, really = iter(range(10**6)), cluster._client.scheduler_info

    def now_and_then(**how):
        if next(asked) % 3:
            raise TimeoutError("busy")
        return really(**how)

    monkeypatch.setattr(cluster._client, "scheduler_info", now_and_then)
    try:
        found = run_study(FILE, tmp_path / "s", backend=cluster)
    finally:
        cluster.close()
    assert found.points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["workers", "scheduler"])
def test_a_cluster_that_is_lost_is_told_and_what_was_finished_stays(undisturbed, tmp_path, lost):
    """Scheduler and worker are processes of their own; the study goes on with threads afterwards, to the same bits."""
    table, answer = undisturbed
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    start = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m"]
    port = ["--host", "127.0.0.1", "--port", address.rsplit(":", 1)[1], "--dashboard-address", "127.0.0.1:0"]
    scheduler = subprocess.Popen([*dask, "distributed.cli.dask_scheduler", *port], **start)
    worker = subprocess.Popen([*dask, "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"], **start)
    reports = 0

    def lose(text):
        nonlocal reports
        reports += 1
        if reports == 5:
            (worker if lost == "workers" else scheduler).kill()

    try:
        cluster = Cluster(address, alone_s=30.0)
        with pytest.raises(SimulationError, match="what was finished stays"):
            run_study(FILE, tmp_path / "s", backend=cluster, progress=lose)
        cluster.close()
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    assert list((tmp_path / "s" / "parts").glob("runs-*.parquet"))
    assert run_study(FILE, tmp_path / "s", resume=True).points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")


def test_an_address_where_nothing_answers(monkeypatch):
    monkeypatch.setattr("slipfit.study.cluster.REACH_S", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SimulationError, match="does not answer"):
        Cluster(f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "greeting",
    [
        pytest.param(
            b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4, id="whose first eight bytes are the length of a message of 3e18 bytes"
        ),
        pytest.param(b"", id="that says nothing"),
        pytest.param((100).to_bytes(8, "little") + b"half", id="that stops in the middle of a message"),
    ],
)
def test_an_address_where_something_else_answers(monkeypatch, greeting):
    """A server that is not Dask's and keeps its connections open: a client of Dask alone would wait for ever."""
    monkeypatch.setattr("slipfit.study.cluster.REACH_S", 2.0)
    monkeypatch.setattr("slipfit.study.cluster.GREETING_S", 0.5)
    kept = []

    def greet(server):
        with contextlib.suppress(OSError):
            while True:
                caller, _ = server.accept()
                kept.append(caller)
                caller.sendall(greeting)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        with pytest.raises(SimulationError, match="does not answer"):
            Cluster(f"tcp://127.0.0.1:{server.getsockname()[1]}")
    for caller in kept:
        caller.close()


@contextlib.contextmanager
def worker_of_another_version(folder, scheduler):
    """A worker process whose slipfit says 9.9."""
    (folder / "slipfit").mkdir()
    (folder / "slipfit" / "__init__.py").write_text('__version__ = "9.9"\n')
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--nthreads", "1"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.slow
def test_workers_of_another_version_are_refused(tmp_path):
    """A worker whose slipfit says 9.9, at a real scheduler."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50) as scheduler,
        worker_of_another_version(tmp_path, scheduler.scheduler_address),
        pytest.raises(SimulationError, match=r"has slipfit 9\.9"),
    ):
        Cluster(scheduler.scheduler_address)


@pytest.mark.slow
def test_a_worker_of_another_version_that_joins_late_gets_no_work(undisturbed, tmp_path):
    """The study that one fit worker has begun goes on, to the same bits, and says whom it passed over."""
    from distributed import LocalCluster

    table, answer = undisturbed
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as scheduler:
        cluster, late = Cluster(scheduler.scheduler_address), contextlib.ExitStack()

        def join(text):
            if not late_ones:
                late_ones.append(late.enter_context(worker_of_another_version(tmp_path, scheduler.scheduler_address)))
                until(lambda: len(cluster._there()) >= 2)

        late_ones = []
        with late:
            found = run_study(FILE, tmp_path / "s", backend=cluster, progress=join)
            until(lambda: cluster._workers() and "1 more have another slipfit" in cluster.about)
        cluster.close()
    assert found.points == answer.points
    assert same(table, tmp_path / "s" / "runs.parquet")
