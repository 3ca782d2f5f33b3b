"""A study from its file to its answer: plan, evaluate, keep, until enough is known; then analyse."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import slipfit
from slipfit.errors import ParameterError, SlipfitError
from slipfit.study.chunk import NOT_POSSIBLE, Inputs, Job, Queue, missing, outcomes_of
from slipfit.study.file import StudyFile
from slipfit.study.model import Model, model_of
from slipfit.study.modes import failure_modes, tornado
from slipfit.study.plan import Tally, first_counts, next_counts
from slipfit.study.result import Point, Study
from slipfit.study.sample import Sampler, sampler_of
from slipfit.study.sensitivity import Index, SaltelliSampler, sobol_indices
from slipfit.study.store import Store, check_disk
from slipfit.study.threads import Backend, Threads

#: Phases of a study, and the names of their tables.
RUNS, SENSITIVITY = "runs", "sensitivity"

#: Failure modes and swings are told from at most so many runs, the first in order.
MOST_LOOKED_AT = 2_000_000

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A study that was checked: it can be run."""

    file: StudyFile
    model: Model
    sampler: Sampler

    @property
    def most_runs(self) -> int:
        """Runs at most, those behind the Sobol indices included."""
        if self.file.stop.runs is None:
            return self.file.stop.at_most_runs + self.sensitivity_runs
        first = first_counts(len(self.sampler.cells), self.file.sampling, self.file.stop)
        return int(first.sum()) + self.sensitivity_runs  # shared alike, Sobol points in powers of two

    @property
    def sensitivity_runs(self) -> int:
        wanted = self.file.sensitivity
        return SaltelliSampler.of(self.sampler, wanted.base_runs).runs if wanted else 0

    @property
    def replicates(self) -> int:
        return self.file.sampling.scramblings if self.file.sampling.method == "sobol" else 1


def prepare(study: StudyFile | str | Path) -> Prepared:
    """Check a study against its robot, ground and scenario; nothing is run."""
    if isinstance(study, str | Path):
        path, study = str(study), StudyFile.load(study)
        try:
            return prepare(study)
        except SlipfitError as error:
            raise type(error)(f"{path}: {error}") from None
    model = model_of(study)
    sampler = sampler_of(study, model)
    if study.sensitivity:
        SaltelliSampler.of(sampler, study.sensitivity.base_runs)  # refuses what is too large
    return Prepared(study, model, sampler)


def run_study(
    study: StudyFile | str | Path | Prepared,
    folder: Path | str,
    *,
    backend: Backend | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Progress = lambda _: None,
) -> Study:
    """Run a study, or what is left of it, and answer it.

    Parameters
    ----------
    folder : where everything is kept, finished or not
    backend : `Threads()` by default, or a `Cluster`
    resume : go on with what the folder holds
    progress : told of runs, rate and remaining time

    The same seed gives the same bits on the same CPU type, whatever the backend and however often it was stopped.
    """
    prepared = study if isinstance(study, Prepared) else prepare(study)
    folder, backend = Path(folder), backend or Threads()
    columns = len(prepared.sampler.names) + len(prepared.model.measures)
    check_disk(folder, prepared.most_runs, columns)
    began = time.monotonic()
    asked = prepared.file, prepared.model.made_of()
    store = Store.resume(folder, *asked) if resume else Store.create(folder, *asked, force=force)
    for part in store.dropped:
        progress(f"{part}; what only it held is run again")
    try:
        tally, rounds = _sample(prepared, store, backend, progress)
        indices = _indices(prepared, store, backend, progress)
        progress("analysing")
        answer = _analyse(prepared, store, tally, rounds, indices, time.monotonic() - began)
        progress("sorting the table of runs")
        store.finish(RUNS)
        answer.save(folder / "result.json", force=True)
        return answer
    finally:
        store.close()


def _sample(prepared: Prepared, store: Store, backend: Backend, progress: Progress) -> tuple[Tally, int]:
    """Rounds of runs until enough is known."""
    file, cells = prepared.file, len(prepared.sampler.cells)
    job = Job(prepared.model, prepared.sampler)
    counts: np.ndarray | None = first_counts(cells, file.sampling, file.stop)
    rounds = 0
    queue = Queue(deque(), file.chunk_runs)
    while counts is not None:
        _evaluate(RUNS, job, counts, store, backend, queue, progress)
        tally = Tally(*store.tally(RUNS, [int(n) for n in counts], prepared.replicates))
        rounds += 1
        if rounds == 1:
            _check_possible(prepared, store)
        counts = next_counts(tally, file.sampling, file.stop)
    return tally, rounds


def _check_possible(prepared: Prepared, store: Store) -> None:
    """Stop a study in which no run can be."""
    if set(store.outcomes(RUNS)["outcome"]) == {len(prepared.model.outcomes)}:
        first = store.columns(RUNS, prepared.sampler.shown_names, at_most=1)
        raise ParameterError(f"no run of this study is possible: {_refusal(prepared.model, first)}")


def _refusal(model: Model, one: Mapping[str, np.ndarray]) -> str:
    """Why a model refuses a run."""
    try:
        model.evaluate({model.full_name(name): column[:1] for name, column in one.items()}, 1)
    except SlipfitError as error:
        return str(error).removeprefix("vary: ")
    return "it was refused among others only"


def _evaluate(
    phase: str,
    job: Job,
    counts: np.ndarray,
    store: Store,
    backend: Backend,
    queue: Queue,
    progress: Progress,
) -> None:
    """Evaluate what is missing of the first `counts` runs of every cell, keeping each chunk as it comes."""
    queue.spans.extend(missing(counts, store.places(phase, len(counts))))
    left = sum(len(span) for span in queue.spans)
    told = _Meter(left)
    if left:
        progress(f"{left} runs on {backend.about}")
    for chunk, table in backend.evaluate(job, queue, lambda chunk, worker: store.begin(phase, chunk, worker)):
        store.keep(phase, table)
        progress(told.after(chunk.runs))


class _Meter:
    """Runs of one round that are done since it was announced, rate, and what is left, in words."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._began_s = total, 0, time.monotonic()

    def after(self, runs: int) -> str:
        self._done += runs
        rate = self._done / max(time.monotonic() - self._began_s, 1e-6)
        left_s = (self._total - self._done) / rate
        left = f"{left_s:.0f} s" if left_s < 120 else f"{left_s / 60:.0f} min" if left_s < 7200 else f"{left_s / 3600:.1f} h"
        return f"{self._done} of {self._total} runs of this round, {rate:.3g} runs/s, {left} left"


def _indices(prepared: Prepared, store: Store, backend: Backend, progress: Progress) -> tuple[Index, ...]:
    wanted = prepared.file.sensitivity
    if wanted is None:
        return ()
    sampler = SaltelliSampler.of(prepared.sampler, wanted.base_runs)
    source: Inputs = sampler
    queue = Queue(deque(), prepared.file.chunk_runs)
    _evaluate(SENSITIVITY, Job(prepared.model.verdicts_only(), source), np.array([sampler.runs]), store, backend, queue, progress)
    verdict = store.columns(SENSITIVITY, ["success"])["success"]
    store.finish(SENSITIVITY)
    return sobol_indices(sampler, verdict, prepared.file.stop.confidence)


def _analyse(prepared: Prepared, store: Store, tally: Tally, rounds: int, indices: tuple[Index, ...], seconds: float) -> Study:
    file, model, sampler = prepared.file, prepared.model, prepared.sampler
    confidence = file.stop.confidence
    low, high = tally.interval(file.sampling, confidence)
    runs, successes = tally.runs.sum(axis=1), tally.successes.sum(axis=1)
    outcomes = outcomes_of(model)
    counted = _outcome_counts(store, outcomes, len(sampler.cells))
    reserves = _reserves_of_cells(store) if file.reserve else {}
    points = tuple(
        Point(
            dict(zip(map(sampler.shown, sampler.design_names), map(float, values), strict=True)),
            int(runs[c]), int(successes[c]), float(tally.probability()[c]), float(low[c]), float(high[c]),
            counted[c], reserves.get(c),
        )
        for c, values in enumerate(sampler.cells)
    )  # fmt: skip
    table = store.columns(RUNS, ["run", "cell", "outcome", "success", *sampler.shown_names], at_most=MOST_LOOKED_AT)
    answer = Study(
        about=file.about,
        success=model.outcomes[0],
        model=model.title(file),
        points=points,
        confidence=confidence,
        method=file.sampling.method,
        interval="scramblings" if file.sampling.method == "sobol" else file.sampling.interval,
        half_width=file.stop.half_width,
        modes=failure_modes(table, sampler.shown_names, outcomes, confidence),
        tornado=tornado(table, sampler.shown_names, confidence),
        indices=indices,
        findings=(),
        rounds=rounds,
        seconds=seconds,
        seed=file.seed,
        version=slipfit.__version__,
        folder=str(store.folder),
    )
    notes = [*_findings(answer, file), *_cut_off(sampler), *_not_possible(answer, model), *_reserves(store, file)]
    notes += [f"parts/{part}: it was taken away, and what only it held was run again" for part in store.dropped]
    return replace(answer, findings=tuple(notes))


def _outcome_counts(store: Store, outcomes: tuple[str, ...], cells: int) -> list[dict[str, int]]:
    """How often each outcome came, in each cell."""
    counts: list[dict[str, int]] = [{} for _ in range(cells)]
    found = store.outcomes(RUNS)
    for cell, code, runs in zip(found["cell"], found["outcome"], found["runs"], strict=True):
        counts[int(cell)][outcomes[int(code)]] = int(runs)
    return counts


def _reserves_of_cells(store: Store) -> dict[int, tuple[float, float, float]]:
    """5, 50 and 95 % of the grip reserves in each cell."""
    found = store.quantiles(RUNS, "grip_reserve", (0.05, 0.5, 0.95))
    rows = zip(found["cell"], found["q0"], found["q1"], found["q2"], strict=True)
    return {int(cell): (float(low), float(middle), float(high)) for cell, low, middle, high in rows}


def _findings(answer: Study, file: StudyFile) -> list[str]:
    found = []
    wide = [p for p in answer.points if file.stop.half_width is not None and p.half_width > file.stop.half_width]
    if wide:
        found.append(
            f"{len(wide)} of {len(answer.points)} intervals are wider than ±{file.stop.half_width:g} (the widest ±"
            f"{max(p.half_width for p in wide):.3g}): stop.at_most_runs = {file.stop.at_most_runs} was reached first"
        )
    if answer.method == "latin_hypercube":
        found.append("intervals are those of independent runs, which for a Latin hypercube are too wide rather than too narrow")
    if file.sensitivity and not answer.indices:
        found.append("no Sobol indices: all runs ended alike, so no input moves the verdict")
    for _, points in answer.slices() if answer.design_names else ():
        fit = answer.probit(points) if len(points) > 2 else None
        if fit is not None and fit.is_poor:
            found.append("the probit does not fit these points (its band was widened); go by the points or the monotone curve")
            break
    return found


def _not_possible(answer: Study, model: Model) -> list[str]:
    """Runs whose numbers were refused, with the reason of one."""
    found = next((mode for mode in answer.modes if mode.name == NOT_POSSIBLE), None)
    if found is None:
        return []
    reason = _refusal(model, {name: np.array([value]) for name, value in found.example.items()})
    return [f"{found.runs} runs count as failed because they are not possible, as run {found.example_run}: {reason}"]


def _reserves(store: Store, file: StudyFile) -> list[str]:
    """How far the runs were from the other verdict, where that was asked for."""
    if not file.reserve:
        return []
    known = store.columns(RUNS, ["grip_reserve"], at_most=MOST_LOOKED_AT)["grip_reserve"]
    known = known[np.isfinite(known)]
    if not len(known):
        return []
    low, middle, high = np.quantile(known, (0.05, 0.5, 0.95))
    return [
        f"grip reserve of all runs: median {middle:+.2f}, 90 % between {low:+.2f} and {high:+.2f} (above 0 climbed; -0.2 lacks "
        f"a fifth of the grip that it takes); of each run in runs.parquet"
    ]


def _cut_off(sampler: Sampler) -> list[str]:
    """Numbers of tables and posteriors whose tails were cut off."""
    return [
        f"{sampler.shown(name)} ({label}) would lie beyond what is possible in {100 * share:.2g} % of all runs; "
        f"its tail was cut off"
        for name, label, share in sampler.cut_off()
    ]
