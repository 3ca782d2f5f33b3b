"""Studies that tests share: PackBot at a curb, quasi-statically, as SPEC 5 assumes it; small enough for a second."""

import numpy as np

from slipfit.study import StudyFile, prepare
from slipfit.study.plan import Tally, first_counts, next_counts
from slipfit.study.sample import Span

PACKBOT = {"sprocket_radius_m": 0.089, "underside_m": 0.508, "mass_ahead_m": 0.254, "mass_above_m": 0.075}

#: SPEC 5: mu ~ N(.6, .1), h ~ U(50, 200 mm), flippers, sharp edge.
DOCUMENT = {
    "schema": "slipfit/study/1",
    "step_climb": PACKBOT,
    "success": "climbed",
    "uncertain": {"curb.friction": {"normal": [0.6, 0.1], "above": 0.0}, "curb.height_m": {"uniform": [0.05, 0.2]}},
    "stop": {"runs": 1000},
    "seed": 1,
}

#: A curve over heights, adaptive.
CURVE = DOCUMENT | {
    "design": {"curb.height_m": {"from": 0.05, "to": 0.22, "points": 18}},
    "uncertain": {"curb.friction": {"normal": [0.6, 0.1], "above": 0.0}, "mass_ahead_m": {"normal": [0.254, 0.005]}},
    "stop": {"half_width": 0.03, "confidence": 0.9, "at_most_runs": 40000},
}


def study(base=DOCUMENT, **changes):
    return StudyFile.from_mapping(base | changes, where="study")


def tally_of(prepared, counts):
    """Runs and successes of the first so many runs of each cell, evaluated at once and kept nowhere."""
    runs, successes = np.zeros((2, len(counts), prepared.replicates), dtype=np.int64)
    for cell, count in enumerate(counts):
        verdicts = prepared.model.evaluate(prepared.sampler.inputs([Span(cell, 0, int(count))]), 1)
        replicate = np.arange(int(count)) % prepared.replicates
        runs[cell] = np.bincount(replicate, minlength=prepared.replicates)
        successes[cell] = np.bincount(replicate, verdicts.outcome == 0, prepared.replicates).astype(int)
    return Tally(runs, successes)


def run_to_the_end(file):
    """Tally of a study when its stopping rule is satisfied."""
    prepared = prepare(file)
    counts = first_counts(len(prepared.sampler.cells), file.sampling, file.stop)
    while counts is not None:
        tally = tally_of(prepared, counts)
        counts = next_counts(tally, file.sampling, file.stop)
    return tally
