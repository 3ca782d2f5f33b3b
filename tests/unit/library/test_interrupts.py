"""Ctrl-C never cuts a table in two, and is Ctrl-C to those above, whatever the database was doing when it came."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from patience import HANG_S
from slipfit.library.interrupts import undisturbed


@pytest.fixture(autouse=True)
def listening():
    """A shell's background jobs ignore Ctrl-C; these tests need it."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


def test_work_inside_ends_before_ctrl_c_takes_effect():
    ended = []

    @undisturbed()
    def work():
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(sum(range(1000)))

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_work_as_ever():
    seen = []

    def work():
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


PRESSED_WHILE_KEEPING = '''
import os, random, signal, sys, threading
from pathlib import Path
import numpy as np
from slipfit.study.store import Store, read_table

folder = Path(sys.argv[1])
(folder / "parts").mkdir(parents=True)
signal.signal(signal.SIGINT, signal.default_int_handler)

def press_until(caught, after_s):
    """Again after five seconds: Python itself loses a Ctrl-C that hits while an object is deleted."""
    while not caught.wait(after_s):
        os.kill(os.getpid(), signal.SIGINT)
        after_s = 5.0

store, rows, stops = Store(folder), {"run": np.arange(2000)}, 0
for press in range(40):
    caught = threading.Event()
    try:
        threading.Thread(target=press_until, args=(caught, random.Random(press).uniform(0, 0.01)), daemon=True).start()
        while True:
            store.keep("runs", rows)
    except KeyboardInterrupt:
        stops += 1
    finally:
        caught.set()
whole = [len(read_table(part)["run"]) == 2000 for part in (folder / "parts").glob("*.parquet")]
print(stops, all(whole), len(whole) > 0)
'''


def test_a_table_is_kept_whole_whenever_ctrl_c_comes(tmp_path):
    """DuckDB alone answers this with `RuntimeError: Query interrupted` or an error of its own that names KeyboardInterrupt."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSED_WHILE_KEEPING, str(tmp_path / "study")],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S,
    )
    assert done.stdout.split() == ["40", "True", "True"], done.stderr
