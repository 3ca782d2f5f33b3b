"""Which numbers each run gets. A run is known by its cell (a combination of design values) and its place k in it; its inputs
follow from seed, cell and k alone, so that run 317 is the same alone or among a million, in any chunk, on any like machine.

    independent      u = Philox(key = (seed, digest of cell and input), counter = k), one stream per input
    sobol            k = p R + r: point p of scrambling r, of R scramblings
    latin_hypercube  row k of a hypercube of the fixed size

Philox is a generator that is a function of key and counter [Salmon2011]. An input's stream does not know the other inputs: a
study with one input more keeps the numbers of the old ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from slipfit.errors import ParameterError
from slipfit.library import find_ground
from slipfit.study.file import FromTable, Sampling, StudyFile
from slipfit.study.model import Model
from slipfit.study.spread import NEGLIGIBLE, Spread
from slipfit.twin.posterior import EvenBetween, NormalTogether

#: What tables and posteriors lose beyond bounds is told from this share of the runs on.
TOLD = 1e-3

#: A distribution of which more than this lies beyond what is possible is a mistake, and no tail to be cut off.
MOST_CUT_OFF = 0.5

#: Numbers that one turn of Philox gives.
_PER_TURN = 4


class Span(NamedTuple):
    """Runs k = first ... last - 1 of one cell."""

    cell: int
    first: int
    last: int

    def __len__(self) -> int:  # as many runs, not three entries
        return self.last - self.first


@dataclass(frozen=True, eq=False)
class Part:
    """Inputs that belong together: they take `len(names)` uniform numbers and make as many values."""

    label: str  # as in the file
    names: tuple[str, ...]  # as the model knows them
    entries: tuple[Spread, ...] = ()  # one for each name, or
    together: NormalTogether | None = None  # all at once
    bounds: tuple[tuple[float, float], ...] = ()
    root: np.ndarray | None = None  # of the correlation of normal scores

    def values(self, u: np.ndarray) -> dict[str, np.ndarray]:
        """From uniform numbers (runs, names) to values by name. Sums run in a fixed order: a run does not feel its neighbours."""
        if self.together is not None:
            scores = _mixed(self.together.root, ndtri(u))
            return {name: self._within(k, score) for k, (name, score) in enumerate(zip(self.names, scores, strict=True))}
        columns = list(u.T) if self.root is None else [ndtr(score) for score in _mixed(self.root, ndtri(u))]
        quantiles = (entry.quantile(*limits) for entry, limits in zip(self.entries, self.bounds, strict=True))
        return {name: of(column) for name, of, column in zip(self.names, quantiles, columns, strict=True)}

    def _within(self, k: int, score: np.ndarray) -> np.ndarray:
        """The k-th of constants that vary together, from its normal score times its standard deviation; tails beyond its bounds
        are cut off as those of single numbers are. (Clipped, they would pile up on the bound.)"""
        assert self.together is not None
        mean, low, high = (float(entry[k]) for entry in (self.together.mean, self.together.low, self.together.high))
        if self.beyond(k) > NEGLIGIBLE:
            std = float(np.sqrt(np.sum(self.together.root[k] ** 2)))
            cut = Spread(normal=(mean, std)).quantile(low, high)
            return cut(np.clip(ndtr(score / std), 2.0**-54, 1.0 - 2.0**-53))
        return np.clip(mean + score, low, high)

    def beyond(self, k: int) -> float:
        """Share of the k-th input that lies beyond its bounds; 0 where the file itself cuts it off."""
        if self.together is None:
            return self.entries[k].beyond(*self.bounds[k])
        t, std = self.together, float(np.sqrt(np.sum(self.together.root[k] ** 2)))
        if std == 0.0:
            return 0.0
        return float(ndtr((t.low[k] - t.mean[k]) / std) + ndtr((t.mean[k] - t.high[k]) / std))


def _mixed(root: np.ndarray, scores: np.ndarray) -> list[np.ndarray]:
    """root z for every run; a matrix product would sum in an order that depends on the number of runs."""
    columns = []
    for row in root:
        column = np.zeros(len(scores))
        for k in range(len(row)):
            column = column + row[k] * scores[:, k]
        columns.append(column)
    return columns


@dataclass(frozen=True, eq=False)
class Sampler:
    """Inputs of every run of a study."""

    seed: int
    sampling: Sampling
    parts: tuple[Part, ...]
    design_names: tuple[str, ...]
    cells: np.ndarray  # (cells, design variables)
    size: int = 0  # runs per cell of a Latin hypercube
    written: Mapping[str, str] = field(default_factory=dict)  # names as the study's file has them, where they differ

    @property
    def names(self) -> tuple[str, ...]:
        """All inputs that vary, design variables first."""
        return (*self.design_names, *(name for part in self.parts for name in part.names))

    def shown(self, name: str) -> str:
        """An input as the study's file calls it; tables and answers do too."""
        return self.written.get(name, name)

    @property
    def shown_names(self) -> tuple[str, ...]:
        return tuple(self.shown(name) for name in self.names)

    def run_numbers(self, span: Span) -> np.ndarray:
        """One number per run of the whole study: k x cells + cell."""
        return np.arange(span.first, span.last, dtype=np.int64) * len(self.cells) + span.cell

    def inputs(self, spans: Sequence[Span]) -> dict[str, np.ndarray]:
        """Values by name for the runs of some spans, one after the other."""
        pieces = [self._of_span(span) for span in spans]
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in self.names}

    def _of_span(self, span: Span) -> dict[str, np.ndarray]:
        columns = {name: np.full(len(span), self.cells[span.cell, d]) for d, name in enumerate(self.design_names)}
        u = self.uniforms(span)
        start = 0
        for part in self.parts:
            columns |= part.values(u[:, start : start + len(part.names)])
            start += len(part.names)
        return columns

    def cut_off(self) -> list[tuple[str, str, float]]:
        """Inputs of tables and posteriors that reach beyond what is possible: name, label and share of the runs beyond."""
        found = []
        for part in self.parts:
            for k, name in enumerate(part.names):
                share = part.beyond(k)
                if share > TOLD:
                    found.append((name, part.label, share))
        return found

    def uniforms(self, span: Span) -> np.ndarray:
        """Numbers between 0 and 1, both excluded, shape (runs, inputs)."""
        labels = [f"{part.label}/{name}" for part in self.parts for name in part.names]
        method = self.sampling.method
        if method == "independent":
            return np.column_stack([_stream(self.seed, f"{span.cell}:{label}", span.first, span.last) for label in labels])
        if method == "sobol":
            return _sobol(self.seed, span, len(labels), self.sampling.scramblings)
        return _hypercube(self.seed, span.cell, len(labels), self.size)[span.first : span.last]


def _stream(seed: int, label: str, first: int, last: int) -> np.ndarray:
    """Uniform numbers first ... last - 1 of the stream of that name."""
    key = int.from_bytes(blake2b(label.encode(), digest_size=8).digest(), "little")
    bits = np.random.Philox(key=np.array([seed, key], dtype=np.uint64))
    bits.advance(first // _PER_TURN)
    skip = first % _PER_TURN
    raw = np.asarray(bits.random_raw(skip + last - first))[skip:]
    return _between_0_and_1(raw)


def _between_0_and_1(raw: np.ndarray) -> np.ndarray:
    """From 64 random bits to a number between 0 and 1, both excluded: the largest sum would round to 1."""
    tops: np.ndarray = (raw >> np.uint64(11)).astype(np.float64)
    return np.minimum((tops + 0.5) * 2.0**-53, 1.0 - 2.0**-53)


def _sobol(seed: int, span: Span, inputs: int, scramblings: int) -> np.ndarray:
    first, last = span.first // scramblings, -(-span.last // scramblings)
    points = np.empty((last - first, scramblings, inputs))
    for r in range(scramblings):
        engine = qmc.Sobol(inputs, scramble=True, rng=np.random.default_rng([seed, span.cell, r]))
        if first:
            engine.fast_forward(first)
        points[:1, r] = engine.random(1)  # one is a power of two: SciPy warns of other first sizes
        if last - first > 1:
            points[1:, r] = engine.random(last - first - 1)
    offset = first * scramblings
    flat = points.reshape(-1, inputs)[span.first - offset : span.last - offset]
    return np.asarray(np.clip(flat, 2.0**-54, 1.0 - 2.0**-53))


@lru_cache(maxsize=4)
def _hypercube(seed: int, cell: int, inputs: int, size: int) -> np.ndarray:
    rows = qmc.LatinHypercube(inputs, rng=np.random.default_rng([seed, cell])).random(size)
    return np.asarray(np.clip(rows, 2.0**-54, 1.0 - 2.0**-53))


# --- from the file ------------------------------------------------------------------------------------------------------------


def sampler_of(study: StudyFile, model: Model) -> Sampler:
    """The sampler of a study; every name and every range is checked against the model here."""
    for name, number in study.fixed.items():
        low, high = model.bounds(model.full_name(name))
        if not low <= number <= high:
            raise ParameterError(f"fixed.{name} = {number:g} lies outside [{low:g}, {high:g}]")
    levels = []
    for name, entry in study.design.items():
        low, high = model.bounds(model.full_name(name))
        for level in entry.levels():
            if not low <= level <= high:
                raise ParameterError(f"design.{name} reaches {level:g}; expected between {low:g} and {high:g}")
        levels.append(entry.levels())
    cells = np.array(np.meshgrid(*levels, indexing="ij")).reshape(len(levels), -1).T if levels else np.zeros((1, 0))
    parts = tuple(_parts(study, model))
    names = [model.full_name(name) for name in (*study.fixed, *study.design)]
    names += [name for part in parts for name in part.names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(
            f"{twice[0]} is given twice (fixed, design, distribution, table or posterior, perhaps by a short name); keep one"
        )
    runs = study.stop.runs or 0
    return Sampler(
        seed=study.seed,
        sampling=study.sampling,
        parts=parts,
        design_names=tuple(model.full_name(name) for name in study.design),
        cells=cells,
        size=-(-runs // len(cells)),
        written={
            full: name
            for name in (*study.design, *(name for name, entry in study.uncertain.items() if isinstance(entry, Spread)))
            if (full := model.full_name(name)) != name
        },
    )


def _parts(study: StudyFile, model: Model) -> list[Part]:
    parts, linked = [], {name for entry in study.correlated for name in entry.between}
    for name, entry in study.uncertain.items():
        if isinstance(entry, Spread):
            if name not in linked:
                parts.append(_checked(name, (name,), (entry,), model))
        elif isinstance(entry, FromTable):
            parts.append(_table_part(name, entry, model))
        else:
            parts += _posterior_parts(study, model)
    for names in _linked(study):
        entries = tuple(entry for name in names if isinstance(entry := study.uncertain[name], Spread))
        parts.append(_checked(" and ".join(names), names, entries, model, _correlation_root(study, names)))
    return parts


def _linked(study: StudyFile) -> list[tuple[str, ...]]:
    """Names that correlations link, in one group if they are linked through others; in the order of the file."""
    groups: list[set[str]] = []
    for entry in study.correlated:
        touched = [group for group in groups if group & set(entry.between)]
        groups = [group for group in groups if group not in touched] + [set(entry.between).union(*touched)]
    found = [tuple(name for name in study.uncertain if name in group) for group in groups]
    return sorted(found, key=lambda names: list(study.uncertain).index(names[0]))


def _checked(
    label: str, names: tuple[str, ...], entries: tuple[Spread, ...], model: Model, root: np.ndarray | None = None
) -> Part:
    bounds = tuple(model.bounds(model.full_name(name)) for name in names)
    for name, entry, (low, high) in zip(names, entries, bounds, strict=True):
        beyond = entry.beyond(low, high)
        if beyond > NEGLIGIBLE:
            limit = f"`above: {low:g}`" if entry.beyond(low, np.inf) > NEGLIGIBLE else f"`below: {high:g}`"
            remedy = f"cut it off with {limit}, or correct it" if beyond < MOST_CUT_OFF else "correct it"
            raise ParameterError(
                f"uncertain.{name}: {entry.text()} lies outside [{low:g}, {high:g}] in {100 * beyond:.3g} % of all runs; {remedy}"
            )
    return Part(label, tuple(model.full_name(name) for name in names), entries=entries, bounds=bounds, root=root)


def _correlation_root(study: StudyFile, names: tuple[str, ...]) -> np.ndarray:
    matrix = np.eye(len(names))
    for entry in study.correlated:
        if entry.between[0] not in names:
            continue
        i, j = (names.index(name) for name in entry.between)
        matrix[i, j] = matrix[j, i] = entry.value
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        raise ParameterError(
            f"correlated: the correlations of {', '.join(names)} contradict each other (no such matrix); make them smaller"
        ) from None


def _table_part(label: str, entry: FromTable, model: Model) -> Part:
    """Constants of a ground's file as normal, within the law's bounds; how much of them lies beyond is told (`cut_off`)."""
    ground = find_ground(entry.from_)
    if model.no_soil:
        raise ParameterError(f"uncertain.{label}: {model.no_soil}")
    spread = {
        name: p.std if entry.spread == "table" else float(entry.spread) * abs(p.value) for name, p in ground.parameters.items()
    }
    names = tuple(name for name, std in spread.items() if std)
    if not names:
        raise ParameterError(
            f"uncertain.{label}: no constant of {entry.from_} has a std in its file; give `spread` a number such as 0.2"
        )
    entries = tuple(Spread(normal=(ground.parameters[name].value, float(spread[name] or 0.0))) for name in names)
    return Part(label, names, entries=entries, bounds=tuple(model.bounds(model.full_name(name)) for name in names))


def _posterior_parts(study: StudyFile, model: Model) -> list[Part]:
    """The twin's constants, as sure or unsure as its calibration left them."""
    found = model.posterior(study)
    if not found:
        raise ParameterError(f"uncertain.twin: no constant of {study.twin} has a spread; calibrate it, or leave `twin` out")
    parts = []
    for entry in found:
        if isinstance(entry, EvenBetween):
            even = Spread(uniform=(entry.low, entry.high))
            parts.append(Part("twin", (entry.name,), entries=(even,), bounds=((entry.low, entry.high),)))
        else:
            parts.append(Part("twin", entry.names, together=entry))
    return parts
