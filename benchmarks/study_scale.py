"""What a billion runs would cost on paper, from what a million costs: time of the quasi-static step, of keeping rows, and disk.

`python benchmarks/study_scale.py [coverage]`: `coverage` adds how often 90 % intervals cover over 200 repeated studies.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from slipfit.study import StudyFile, Threads, prepare
from slipfit.study.chunk import Chunk, Job, evaluate_chunk
from slipfit.study.sample import Span
from slipfit.study.store import Store

RUNS = 200_000
STUDY = {
    "schema": "slipfit/study/1",
    "step_climb": {"sprocket_radius_m": 0.089, "underside_m": 0.508, "mass_ahead_m": 0.254, "mass_above_m": 0.075},
    "success": "climbed",
    "uncertain": {
        "curb.friction": {"normal": [0.6, 0.1], "above": 0.0},
        "curb.height_m": {"uniform": [0.05, 0.2]},
        "mass_ahead_m": {"normal": [0.254, 0.005]},
        "mass_above_m": {"normal": [0.075, 0.004]},
        "curb.edge_radius_m": {"uniform": [0.0, 0.01]},
    },
    "stop": {"runs": RUNS},
    "seed": 1,
}


def scale() -> None:
    file = StudyFile.from_mapping(STUDY, where="study")
    prepared = prepare(file)
    job, span = Job(prepared.model, prepared.sampler), Span(0, 0, RUNS)
    began = time.process_time()
    table, _ = evaluate_chunk(job, [span], Threads(1).workers)
    per_run = (time.process_time() - began) / RUNS
    with tempfile.TemporaryDirectory() as place:
        store = Store.create(Path(place) / "s", file, prepared.model.made_of(), force=False)
        began = time.process_time()
        store.keep("runs", table)
        per_row = (time.process_time() - began) / RUNS
        size = sum(part.stat().st_size for part in store.parts.iterdir()) / RUNS
        few = {name: column[:64] for name, column in table.items()}
        began = time.perf_counter()
        for k in range(100):
            store.begin("runs", Chunk(k, (Span(0, 0, 64),)), "here")
            store.keep("few", few)
        per_table = (time.perf_counter() - began) / 100
        store.close()
    print(f"quasi-static step: {1e6 * per_run:.2f} us per run, {1e9 * per_run / 3600:.1f} core hours for 1e9")
    print(f"keeping a row: {1e6 * per_row:.2f} us, {1e9 * per_row / 3600:.2f} hours for 1e9")
    print(f"a table of 64 rows: {1e3 * per_table:.1f} ms")
    print(f"Parquet with {len(table)} columns: {size:.1f} bytes per run, {size:.0f} GB for 1e9")


def coverage() -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from studies import run_to_the_end, study

    p = 0.4596
    for name, changes in {
        "wilson": {},
        "exact": {"sampling": {"interval": "exact"}},
        "sobol": {"sampling": {"method": "sobol"}},
        "stopped when narrow": {"stop": {"half_width": 0.05, "at_most_runs": 5000}},
    }.items():
        hits = []
        for seed in range(200):
            file = study(seed=1000 + seed, **changes)
            low, high = run_to_the_end(file).interval(file.sampling, 0.9)
            hits.append(low[0] <= p <= high[0])
        print(f"{name}: 90 % intervals cover {100 * np.mean(hits):.1f} % of 200 studies")


if __name__ == "__main__":
    scale()
    if "coverage" in sys.argv:
        coverage()
