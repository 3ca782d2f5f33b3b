"""`kill -9` of the main process at random moments, then --resume: no run lost, none twice, one chunk recomputed at most."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from patience import HANG_S
from slipfit.study import run_study
from slipfit.study.store import read_table
from studies import CURVE, study

CHUNK = 32
FILE = study(CURVE, stop={"half_width": 0.03, "at_most_runs": 6000}, chunk_runs=CHUNK)


@pytest.mark.parametrize("seed", [1, 2])
def test_ten_kills_lose_nothing(tmp_path, seed):
    FILE.save(tmp_path / "study.yaml")
    script = Path(__file__).with_name("kill_main.py")
    command = [sys.executable, script, tmp_path / "study.yaml", tmp_path / "killed", "10", str(seed)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    whole = run_study(FILE, tmp_path / "whole")
    killed, undisturbed = (read_table(tmp_path / name / "runs.parquet") for name in ("killed", "whole"))
    for name, column in undisturbed.items():
        assert np.array_equal(killed[name], column, equal_nan=name == "friction_margin"), name
    assert len(np.unique(killed["run"])) == len(killed["run"]) == whole.runs
    recomputed = json.loads(done.stdout)["runs_begun"] - whole.runs
    assert 0 <= recomputed <= 10 * CHUNK  # one worker, ten kills
