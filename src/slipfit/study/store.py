"""The folder of a study: its file, what was run so far, and in the end one table. It survives whatever kills the program.

    study.yaml       the study as it was asked for, with all names resolved
    journal.jsonl    a line for every chunk that was begun
    parts/           a Parquet file for every chunk that was finished
    runs.parquet     all runs in order, when the study is done (sensitivity.parquet: those behind the Sobol indices)
    result.json      the answer

Only the main process writes here. A part is written under another name and renamed, so it is whole or not there; what a part
holds is done, everything else is not. A run stands in one part only, because it is handed out again only if it stands in none.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import slipfit
from slipfit.errors import ParameterError
from slipfit.library.files import check_folder, make_folder, read_yaml, write_text
from slipfit.study.chunk import Chunk, Table
from slipfit.study.file import StudyFile

#: Of the free disk a study may plan to fill this share.
DISK_SHARE = 0.9

#: Bytes of a row in Parquet beside its inputs and measures: numbers of run, cell and place (which compress), outcome.
_ROW_BYTES = 8

_QUOTE = "'"


class Store:
    """A study's folder, opened for one phase after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts = folder / "parts"
        self._serial = 0
        self._connection = duckdb.connect()

    @classmethod
    def create(cls, folder: Path, study: StudyFile, *, force: bool) -> "Store":
        """A new folder; what an older study left there only goes with `force`."""
        check_folder(folder, (), force=force)
        if (folder / "study.yaml").exists():
            if not force:
                raise ParameterError(
                    f"{folder}: holds a study already; go on with --resume, start anew with --force, or choose another --out"
                )
            shutil.rmtree(folder)
        elif folder.exists() and any(folder.iterdir()):
            raise ParameterError(f"{folder}: holds other files; choose an empty or a new folder")
        make_folder(folder / "parts")
        write_text(folder / "study.yaml", _text(study))
        return cls(folder)

    @classmethod
    def resume(cls, folder: Path, study: StudyFile) -> "Store":
        """A folder with a part of the runs. Numbers of another study or another version would not fit together."""
        if not (folder / "study.yaml").is_file():
            raise ParameterError(f"{folder}: holds no study to resume; leave --resume out")
        kept = read_yaml(folder / "study.yaml")
        if kept.get("made_with") != slipfit.__version__:
            raise ParameterError(
                f"{folder}: was begun with slipfit {kept.get('made_with')}, this is {slipfit.__version__}; finish it with that "
                f"version, or start anew with --force"
            )
        if kept.get("digest") != digest(study):
            raise ParameterError(f"{folder}: was begun from another study file; resume with that one, or start anew with --force")
        store = cls(folder)
        make_folder(store.parts)
        for unfinished in store.parts.glob(".*.part.parquet"):
            unfinished.unlink()
        found = [int(path.stem.rsplit("-", 1)[1]) for path in store.parts.glob("*-*.parquet")]
        store._serial = max(found, default=0)
        return store

    def close(self) -> None:
        self._connection.close()

    # --- while running ------------------------------------------------------------------------------------------------

    def begin(self, phase: str, chunk: Chunk, worker: str) -> None:
        """Note that a chunk is being evaluated."""
        entry = {"phase": phase, "worker": worker, "runs": chunk.runs, "spans": [list(span) for span in chunk.spans]}
        with (self.folder / "journal.jsonl").open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(entry) + "\n")

    def keep(self, phase: str, table: Table) -> None:
        """Keep the rows of a finished chunk."""
        self._serial += 1
        path = self.parts / f"{phase}-{self._serial:08d}.parquet"
        temporary = path.with_name(f".{path.stem}.part.parquet")
        try:
            self._connection.register("rows", table)
            self._connection.execute(f"COPY rows TO '{_quoted(temporary)}' (FORMAT parquet)")
            self._connection.unregister("rows")
            temporary.replace(path)
        except (OSError, duckdb.Error) as error:
            temporary.unlink(missing_ok=True)
            raise ParameterError(
                f"{path}: cannot be written ({str(error).splitlines()[0]}); what was finished stays, make room and --resume"
            ) from None

    def has(self, phase: str) -> bool:
        return self._table(phase).exists() or any(self.parts.glob(f"{phase}-*.parquet"))

    def places(self, phase: str, cells: int) -> list[np.ndarray]:
        """Which runs of each cell are done."""
        if not self.has(phase):
            return [np.zeros(0, dtype=np.int64)] * cells
        rows = self._query(f"SELECT cell, place FROM {self._source(phase)} ORDER BY cell, place")
        edges = np.searchsorted(rows["cell"], np.arange(cells + 1))
        return [rows["place"][a:b] for a, b in pairwise(edges)]

    def tally(self, phase: str, counts: Sequence[int], replicates: int) -> tuple[np.ndarray, np.ndarray]:
        """Runs and successes of each cell and scrambling, shape (cells, replicates), of the first `counts` runs of each cell."""
        runs, successes = np.zeros((2, len(counts), replicates), dtype=np.int64)
        if not self.has(phase):
            return runs, successes
        self._connection.register("wanted", {"cell": np.arange(len(counts)), "count": np.asarray(counts, dtype=np.int64)})
        rows = self._query(
            f"SELECT r.cell AS cell, r.place % {replicates} AS replicate, count(*) AS runs, "
            f"sum(r.success::INT)::BIGINT AS successes "
            f"FROM {self._source(phase)} r JOIN wanted w ON r.cell = w.cell AND r.place < w.count GROUP BY 1, 2"
        )
        self._connection.unregister("wanted")
        runs[rows["cell"], rows["replicate"]] = rows["runs"]
        successes[rows["cell"], rows["replicate"]] = rows["successes"]
        return runs, successes

    def columns(self, phase: str, names: Sequence[str], at_most: int | None = None) -> Table:
        """Columns of all runs, in order; of the first so many where there are more."""
        chosen = ", ".join(f'"{name}"' for name in names)
        limit = f" LIMIT {at_most}" if at_most else ""
        return self._query(f"SELECT {chosen} FROM {self._source(phase)} ORDER BY run{limit}")

    def outcomes(self, phase: str) -> Table:
        """How often each outcome came in each cell."""
        return self._query(f"SELECT cell, outcome, count(*) AS runs FROM {self._source(phase)} GROUP BY 1, 2 ORDER BY 1, 2")

    def finish(self, phase: str) -> None:
        """One table in the order of the runs, in place of the parts."""
        if self._table(phase).exists():
            return
        temporary = self.folder / f".{phase}.part.parquet"
        self._connection.execute(
            f"COPY (SELECT * FROM {self._source(phase)} ORDER BY run) TO '{_quoted(temporary)}' (FORMAT parquet)"
        )
        temporary.replace(self._table(phase))
        for part in self.parts.glob(f"{phase}-*.parquet"):
            part.unlink()

    def _table(self, phase: str) -> Path:
        return self.folder / f"{phase}.parquet"

    def _source(self, phase: str) -> str:
        """The whole table, or the parts. A kill between the two leaves both: the table counts."""
        table = self._table(phase)
        pattern = glob.escape(os.fspath(table)) if table.exists() else f"{glob.escape(os.fspath(self.parts))}/{phase}-*.parquet"
        return f"read_parquet('{pattern.replace(_QUOTE, 2 * _QUOTE)}')"

    def _query(self, text: str) -> Table:
        found = self._connection.execute(text).fetchnumpy()
        return {name: np.ma.getdata(column) for name, column in found.items()}


def digest(study: StudyFile) -> str:
    """What two files have in common that ask for the same runs."""
    data = study.to_mapping()
    for name in ("about", "chunk_runs"):
        data.pop(name, None)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _text(study: StudyFile) -> str:
    return f"{study.to_yaml()}made_with: {slipfit.__version__}\ndigest: {digest(study)}\n"


def check_disk(folder: Path, runs: int, columns: int) -> None:
    """Stop before any work where the runs would not fit on the disk."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free, needed = shutil.disk_usage(there).free, runs * (_ROW_BYTES + 8 * columns) * 2  # parts, and the table made of them
    if needed > DISK_SHARE * free:
        raise ParameterError(
            f"{folder}: {runs:,} runs with {columns} columns need {needed / 1e9:.3g} GB while they are sorted, the disk has "
            f"{free / 1e9:.3g} GB free; take fewer runs (stop.at_most_runs) or another --out"
        )


def _quoted(path: Path) -> str:
    return os.fspath(path).replace(_QUOTE, 2 * _QUOTE)


def read_table(path: Path) -> dict[str, Any]:
    """A table of runs as arrays by name."""
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM read_parquet('{_quoted(Path(glob.escape(os.fspath(path))))}')").fetchnumpy()
    return {name: np.ma.getdata(column) for name, column in found.items()}
