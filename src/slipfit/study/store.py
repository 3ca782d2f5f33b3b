"""The folder of a study: its file, what was run so far, and in the end one table. It survives whatever kills the program.

    study.yaml       the study as it was asked for; it can be run again from here
    begun.json       version and digest of what was asked for: files that changed since are noticed
    lock             held by the process that is at work here
    journal.jsonl    a line for every chunk that was begun
    parts/           a Parquet file for every chunk that was finished
    runs.parquet     all runs in order, when the study is done (sensitivity.parquet: those behind the Sobol indices)
    finished.json    digests of these tables: one that was changed since is noticed
    result.json      the answer

Only the main process writes here. A part is written under another name, sent to the disk and renamed, so it is whole or not
there; what a part holds is done, everything else is not. Its name ends with a digest of study, phase, serial and bytes: a part
that a disk spoilt, or that was copied from elsewhere, is noticed on `resume`. A run stands in one part only, because it is handed
out again only if it stands in none, and because one process at a time works in a folder: the operating system frees its lock
however it ends (where a network's disk has no locks, runs that stand in two parts are found). Ctrl-C waits until what is being
written or read stands (`undisturbed`).
"""

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import duckdb
import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

import slipfit
from slipfit.errors import ParameterError
from slipfit.library.files import check_folder, make_folder, write_json
from slipfit.library.interrupts import undisturbed
from slipfit.study.chunk import Chunk, Table
from slipfit.study.file import StudyFile

#: Of the free disk a study may plan to fill this share.
DISK_SHARE = 0.9

#: Bytes of a row in Parquet beside its inputs and measures: numbers of run, cell and place (which compress), outcome.
_ROW_BYTES = 8

#: Bytes of a part that are read at a time.
_PIECE = 1 << 20

#: What a study that was killed at its very beginning leaves in its folder.
_LEFT_OVER = ("lock", ".begun.part.json")

#: A part by its name: phase, serial, and the digest of what it holds.
_PART = re.compile(r"([a-z]+)-(\d{8,})-([0-9a-f]{16})")


class Store:
    """A study's folder, opened by one process for one phase after the other."""

    def __init__(self, folder: Path, begun: str = "") -> None:
        self.folder = folder
        self.parts = folder / "parts"
        self.dropped: list[str] = []  # parts that were taken away, and why
        self._begun = begun  # digest of what was asked for
        self._serial = 0
        self._lock = _locked(folder)
        self._connection = duckdb.connect(config={"temp_directory": os.fspath(self.parts / ".sorting")})

    @classmethod
    def create(cls, folder: Path, study: StudyFile, made_of: dict[str, Any], *, force: bool) -> "Store":
        """A new folder; what an older study left there only goes with `force`. `made_of`: robot, ground, ... of the study."""
        check_folder(folder, (), force=force)
        if (folder / "begun.json").exists():
            if not force:
                raise ParameterError(
                    f"{folder}: holds a study already; go on with --resume, start anew with --force, or choose another --out"
                )
            _locked(folder).close()
            shutil.rmtree(folder)
        elif folder.exists() and any(path.is_file() for path in folder.rglob("*") if path.name not in _LEFT_OVER):
            raise ParameterError(f"{folder}: holds other files; choose an empty or a new folder")
        make_folder(folder / "parts")
        asked = digest(study, made_of)
        store = cls(folder, asked)
        with _told(folder):
            write_json(folder / "begun.json", {"made_with": slipfit.__version__, "digest": asked})
            study.with_whole_paths().save(folder / "study.yaml", force=True)
        return store

    @classmethod
    def resume(cls, folder: Path, study: StudyFile, made_of: dict[str, Any]) -> "Store":
        """A folder with a part of the runs. Numbers of another study or another version would not fit together."""
        if not (folder / "begun.json").is_file():
            raise ParameterError(f"{folder}: holds no study to resume; leave --resume out")
        try:
            kept = json.loads((folder / "begun.json").read_text(encoding="utf-8"))
            made_with, begun = kept["made_with"], kept["digest"]
        except (OSError, ValueError, TypeError, KeyError):
            raise ParameterError(f"{folder / 'begun.json'}: cannot be read; start anew with --force") from None
        if made_with != slipfit.__version__:
            raise ParameterError(
                f"{folder}: was begun with slipfit {made_with}, this is {slipfit.__version__}; finish it with that version, or "
                f"start anew with --force"
            )
        if begun != digest(study, made_of):
            raise ParameterError(
                f"{folder}: was begun from another study file, or its robot, ground, scenario or twin has changed since; resume "
                f"with what it was begun from, or start anew with --force"
            )
        make_folder(folder / "parts")
        store = cls(folder, begun)
        try:
            with _told(folder):
                for unfinished in store.parts.glob(".*.part.parquet"):
                    unfinished.unlink()
                store._check_tables()
                store._check_parts()
        except BaseException:
            store.close()
            raise
        return store

    def _check_tables(self) -> None:
        """Stop where a finished table is not as it was written: the parts that it was made of are gone, and what of it is right
        cannot be told."""
        for phase, known in self._finished().items():
            table = self._table(phase)
            if table.exists() and self._digest_of(table, phase, 0) != known:
                raise ParameterError(
                    f"{table}: was changed since the study wrote it, or its disk spoilt it; bring back the file as it was, or "
                    f"start anew with --force"
                )

    def _finished(self) -> dict[str, str]:
        """Digests of finished tables, by phase."""
        path = self.folder / "finished.json"
        if not path.exists():
            return {}
        try:
            return {str(phase): str(known) for phase, known in json.loads(path.read_text(encoding="utf-8")).items()}
        except (ValueError, AttributeError):
            raise ParameterError(f"{path}: cannot be read; bring it back as it was, or start anew with --force") from None

    @undisturbed()
    def _check_parts(self) -> None:
        """Take parts away that are not as they were written, and all but the first of those that hold the same runs. What only
        they held is run again."""
        phases: set[str] = set()
        for part in sorted(self.parts.glob("*-*.parquet")):
            name = _PART.fullmatch(part.stem)
            if name is None or name[3] != self._digest_of(part, name[1], int(name[2])):
                self._drop(part, "is not as it was written")
            else:
                phases.add(name[1])
                self._serial = max(self._serial, int(name[2]))
        for phase in sorted(phases):
            rows = f"read_parquet({_literal(self._pattern(phase), is_pattern=False)}, filename = true)"
            counted = self._query(f"SELECT count(*) - count(DISTINCT run) AS twice FROM {rows}")
            if counted["twice"][0]:
                firsts = f"SELECT filename, min(filename) OVER (PARTITION BY run) AS first FROM {rows}"
                for again in self._query(f"SELECT DISTINCT filename FROM ({firsts}) WHERE filename <> first ORDER BY 1")[
                    "filename"
                ]:
                    self._drop(Path(again), "holds runs that another part holds too")

    def _drop(self, part: Path, why: str) -> None:
        part.unlink(missing_ok=True)
        self.dropped.append(f"{part.name} {why}")

    def _digest_of(self, file: Path, phase: str, serial: int) -> str:
        """What the name of a part ends with: a digest of what it belongs to and of its bytes."""
        digest = hashlib.sha256(f"{self._begun}/{phase}/{serial}/".encode())
        with file.open("rb") as written:
            while piece := written.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest()[:16]

    @undisturbed()
    def close(self) -> None:
        self._connection.close()
        shutil.rmtree(self.parts / ".sorting", ignore_errors=True)
        self._lock.close()

    # --- while running ------------------------------------------------------------------------------------------------

    def begin(self, phase: str, chunk: Chunk, worker: str) -> None:
        """Note that a chunk is being evaluated."""
        entry = {"phase": phase, "worker": worker, "runs": chunk.runs, "spans": [list(span) for span in chunk.spans]}
        with _told(self.folder), (self.folder / "journal.jsonl").open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(entry) + "\n")

    @undisturbed()
    def keep(self, phase: str, table: Table) -> None:
        """Keep the rows of a finished chunk."""
        self._serial += 1
        serial = self._serial
        self._connection.register("rows", table)
        with self._written("SELECT * FROM rows", self.parts / f"{phase}-{serial:08d}") as temporary:
            temporary.replace(self.parts / f"{phase}-{serial:08d}-{self._digest_of(temporary, phase, serial)}.parquet")
        self._connection.unregister("rows")

    @contextlib.contextmanager
    def _written(self, query: str, path: Path) -> Iterator[Path]:
        """The rows of a query in a file that is on the disk and waits for its name: whole, or not there."""
        temporary = path.with_name(f".{path.stem}.part.parquet")
        try:
            with _told(path):
                self._connection.execute(f"COPY ({query}) TO {_literal(temporary, is_pattern=False)} (FORMAT parquet)")
                with temporary.open("rb+") as written:
                    os.fsync(written.fileno())
                yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def has(self, phase: str) -> bool:
        return self._table(phase).exists() or any(self.parts.glob(f"{phase}-*.parquet"))

    @undisturbed()
    def places(self, phase: str, cells: int) -> list[np.ndarray]:
        """Which runs of each cell are done."""
        if not self.has(phase):
            return [np.zeros(0, dtype=np.int64)] * cells
        rows = self._query(f"SELECT cell, place FROM {self._source(phase)} ORDER BY cell, place")
        edges = np.searchsorted(rows["cell"], np.arange(cells + 1))
        return [rows["place"][a:b] for a, b in pairwise(edges)]

    @undisturbed()
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

    @undisturbed()
    def columns(self, phase: str, names: Sequence[str], at_most: int | None = None) -> Table:
        """Columns of all runs, in order; of the first so many where there are more."""
        chosen = ", ".join(f'"{name}"' for name in names)
        limit = f" LIMIT {at_most}" if at_most else ""
        return self._query(f"SELECT {chosen} FROM {self._source(phase)} ORDER BY run{limit}")

    @undisturbed()
    def outcomes(self, phase: str) -> Table:
        """How often each outcome came in each cell."""
        return self._query(f"SELECT cell, outcome, count(*) AS runs FROM {self._source(phase)} GROUP BY 1, 2 ORDER BY 1, 2")

    @undisturbed()
    def quantiles(self, phase: str, name: str, shares: Sequence[float]) -> Table:
        """Quantiles of a column in each cell, of its runs that are numbers; cells without any are left out."""
        chosen = ", ".join(f'quantile_cont("{name}", {share}) AS q{k}' for k, share in enumerate(shares))
        source = f'{self._source(phase)} WHERE isfinite("{name}")'
        return self._query(f"SELECT cell, {chosen} FROM {source} GROUP BY 1 ORDER BY 1")

    @undisturbed()
    def finish(self, phase: str) -> None:
        """One table in the order of the runs, in place of the parts."""
        if self._table(phase).exists():
            return
        with self._written(f"SELECT * FROM {self._source(phase)} ORDER BY run", self._table(phase)) as temporary:
            # The digest is kept first: a kill between the two leaves the parts, and both are made again.
            digests = self._finished() | {phase: self._digest_of(temporary, phase, 0)}
            record = self.folder / ".finished.part.json"
            record.write_text(json.dumps(digests) + "\n", encoding="utf-8")
            record.replace(self.folder / "finished.json")
            temporary.replace(self._table(phase))
        for part in self.parts.glob(f"{phase}-*.parquet"):
            part.unlink()

    def _table(self, phase: str) -> Path:
        return self.folder / f"{phase}.parquet"

    def _source(self, phase: str) -> str:
        """The whole table, or the parts. A kill between the two leaves both: the table counts."""
        table = self._table(phase)
        if table.exists():
            return f"read_parquet({_literal(table)})"
        return f"read_parquet({_literal(self._pattern(phase), is_pattern=False)})"

    def _pattern(self, phase: str) -> Path:
        return Path(f"{glob.escape(os.fspath(self.parts))}/{phase}-*.parquet")

    def _query(self, text: str) -> Table:
        try:
            found = self._connection.execute(text).fetchnumpy()
        except duckdb.Error as error:
            raise ParameterError(
                f"{self.folder}: its runs cannot be read ({_first_line(error)}); start anew with --force"
            ) from None
        return {name: np.ma.getdata(column) for name, column in found.items()}


def digest(study: StudyFile, made_of: dict[str, Any]) -> str:
    """What two studies have in common that ask for the same runs: the file without title and places, and what it names."""
    data = study.to_mapping()
    for name in ("about", "chunk_runs", "twin", "robot", "scenario", "ground"):
        data.pop(name, None)
    return hashlib.sha256(json.dumps([data, made_of], sort_keys=True, default=str).encode()).hexdigest()


def _locked(folder: Path) -> IO[str]:
    """A file that this process holds until it is closed, or the process ends."""
    with _told(folder):
        lock = (folder / "lock").open("a", encoding="utf-8")
    if fcntl is not None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise ParameterError(
                f"{folder}: another process is at work on this study; wait for it, end it, or choose another --out"
            ) from None
    return lock


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """What goes wrong with the disk, as a sentence."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or _first_line(error)
        raise ParameterError(f"{place}: cannot be written ({reason}); what was finished stays, make room and --resume") from None


def check_disk(folder: Path, runs: int, columns: int) -> None:
    """Stop before any work where the runs would not fit on the disk."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free, needed = shutil.disk_usage(there).free, runs * (_ROW_BYTES + 8 * columns) * 2  # parts, and the table made of them
    needed -= sum(path.stat().st_size for path in folder.rglob("*.parquet"))  # of a study that is resumed
    if needed > DISK_SHARE * free:
        raise ParameterError(
            f"{folder}: {runs:,} runs with {columns} columns need {needed / 1e9:.3g} GB while they are sorted, the disk has "
            f"{free / 1e9:.3g} GB free; take fewer runs (stop.at_most_runs) or another --out"
        )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _literal(path: Path, *, is_pattern: bool = True) -> str:
    """A path as SQL has it; where SQL reads patterns, letters of the path that look like one are escaped."""
    text = os.fspath(path)
    return "'" + (glob.escape(text) if is_pattern else text).replace("'", "''") + "'"


def read_table(path: Path) -> dict[str, Any]:
    """A table of runs as arrays by name."""
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM read_parquet({_literal(path)})").fetchnumpy()
    return {name: np.ma.getdata(column) for name, column in found.items()}
