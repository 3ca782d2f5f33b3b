"""Run a study in a process that is killed (-9) at random moments, then to its end: `kill_main.py STUDY FOLDER KILLS SEED`.

Imports are paid once: every try is a fork. Prints how many runs were begun, in JSON.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from slipfit.study import StudyFile, Threads, run_study

file, folder, kills, seed = StudyFile.load(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
journal, chance = folder / "journal.jsonl", random.Random(seed)


def begun():
    return len(journal.read_text(encoding="utf-8").splitlines()) if journal.exists() else 0


for attempt in range(kills + 1):
    before = begun()
    child = os.fork()
    if child == 0:
        run_study(file, folder, backend=Threads(1), resume=attempt > 0)
        os._exit(0)
    if attempt < kills:
        wanted = before + chance.randint(1, 6)
        while begun() < wanted and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.002)
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) if attempt < kills else status == 0, f"try {attempt} ended with {status}"
print(json.dumps({"runs_begun": sum(json.loads(line)["runs"] for line in journal.read_text(encoding="utf-8").splitlines())}))
