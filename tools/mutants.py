"""Mutation check: do the tests notice realistic mistakes in src/slipfit?

`mutants.yaml` lists hand-written mistakes. Each is applied to a copy of the working tree, and the tests that cover the line run
there, closest first, until one fails. A mutant is

    killed      a test failed, and the same test passes without the mistake
    timed out   the tests did not end in time: counted as killed
    survived    all tests passed: a claim is missing
    broken      nothing can be said: the test fails without the mistake too, or pytest could not run

Copies lie in build/mutants at the same paths in every run, because Numba finds compiled kernels by the path and the age of their
sources: mutants outside the compiled packages share one kernel cache, which is kept. A mutant of a compiled package compiles what
it needs into a cache of its own, which is deleted afterwards. Ctrl-C ends the tests and removes the copies; `--resume` goes on.

Exit code: 0 all killed, 1 a mutant survived or is broken, 2 nothing was run, 130 interrupted.
"""

import argparse
import ast
import contextlib
import fcntl
import hashlib
import io
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutants.yaml"
WORK = ROOT / "build" / "mutants"
PACKAGE = Path("src", "slipfit")

KILLED, TIMED_OUT, SURVIVED, BROKEN = OUTCOMES = ("killed", "timed out", "survived", "broken")

#: The tests of `make test`.
USUAL_TESTS = "not slow and not engine and not browser"

#: It compares the list with the sources, and so would fail with every mutant.
TEST_OF_THE_LIST = "tests/test_mutants.py"

#: Return codes of pytest: all passed, some failed, stopped while collecting, no test of that name.
PASSED, FAILED, INTERRUPTED, NOT_FOUND = 0, 1, 2, 4


class MutantError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: the text `old` of a file below src/slipfit becomes `new`."""

    id: str
    group: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        return PACKAGE / self.file


@dataclass(frozen=True)
class Result:
    """What became of a mutant. `key` is the same while mutant, sources, tests and options are."""

    id: str
    group: str
    outcome: str
    by: str
    seconds: float
    key: str


# --- the list --------------------------------------------------------------------------------------------------------


def load(path: Path = LIST) -> list[Mutant]:
    """All mutants, in the order of the file."""
    names = {"id", "group", "file", "old", "new", "why", "tests"}
    found = []
    for number, entry in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), 1):
        if not isinstance(entry, dict) or set(entry) != names:
            raise MutantError(f"{path.name}: entry {number} has {sorted(entry)}; expected exactly {sorted(names)}")
        found.append(Mutant(**{**entry, "tests": tuple(entry["tests"])}))
    return found


def problems(mutants: Sequence[Mutant], root: Path = ROOT) -> list[str]:
    """What is wrong with a list, as sentences: every mutant can be applied, differs, compiles, and names tests that exist."""
    said, ids = [], [mutant.id for mutant in mutants]
    said += [
        f"{name}: {ids.count(name)} mutants have this id; expected one" for name in dict.fromkeys(ids) if ids.count(name) > 1
    ]
    for mutant in mutants:
        if not (root / mutant.path).is_file():
            said.append(f"{mutant.id}: there is no file {mutant.path}; correct `file`")
            continue
        text = (root / mutant.path).read_text(encoding="utf-8")
        count = text.count(mutant.old)
        if count != 1:
            said.append(f"{mutant.id}: `old` occurs {count} times in {mutant.path}; expected once, adapt it to the source")
        elif mutant.new == mutant.old:
            said.append(f"{mutant.id}: `new` equals `old`; expected a mistake")
        else:
            said += _same_or_wrong(mutant, text)
        if not mutant.tests:
            said.append(f"{mutant.id}: no tests; list those that cover the line, closest first")
        said += [f"{mutant.id}: there is no test {test}; correct `tests`" for test in mutant.tests if not (root / test).exists()]
    return said


def _same_or_wrong(mutant: Mutant, text: str) -> list[str]:
    """A mutant that does not compile shows nothing; neither does one that only changes comments or layout."""
    try:
        changed = ast.parse(text.replace(mutant.old, mutant.new))
    except SyntaxError as error:
        return [f"{mutant.id}: {mutant.path} does not compile with it ({error.msg}, line {error.lineno}); correct `new`"]
    is_same = ast.dump(changed) == ast.dump(ast.parse(text))
    return [f"{mutant.id}: the program stays the same with it; expected a mistake"] if is_same else []


def compiled_packages(root: Path = ROOT) -> tuple[str, ...]:
    """Packages whose sources are part of the kernel cache's key, as kernels/compile.py has them."""
    for node in ast.parse((root / PACKAGE / "kernels" / "compile.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMPILED_PACKAGES":
            return tuple(ast.literal_eval(node.value))
    raise MutantError("kernels/compile.py: no COMPILED_PACKAGES; adapt tools/mutants.py")


# --- processes -------------------------------------------------------------------------------------------------------


class Children:
    """Test processes, each with its own process group, so that all of them can be ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self.is_stopped = False

    def run(self, command: Sequence[str], folder: Path, env: dict[str, str], log: Path, timeout_s: float) -> int | None:
        """Return code, None where the time was not enough. Output goes to a file: a pipe may be held by grandchildren."""
        with log.open("wb") as output:
            with self._lock:
                if self.is_stopped:
                    raise KeyboardInterrupt
                child = subprocess.Popen(
                    command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True,
                )  # fmt: skip
                self._running.add(child)
            try:
                code = child.wait(timeout_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(child)
                with self._lock:
                    self._running.discard(child)
        if self.is_stopped:
            raise KeyboardInterrupt
        return code

    def stop(self) -> None:
        with self._lock:
            self.is_stopped = True
            for child in self._running:
                _end(child, is_waiting=False)


def _end(child: subprocess.Popen[bytes], *, is_waiting: bool = True) -> None:
    """End a process and what it has started; also what a test process that ended has left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    if is_waiting:
        child.wait()


# --- trees -----------------------------------------------------------------------------------------------------------


def files_of(root: Path) -> list[str]:
    """Files of the working tree that belong to the project, committed or not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted(name for name in set(listed) if name and (root / name).is_file())


def digest_of(root: Path, names: Sequence[str]) -> str:
    """Of sources, tests and their settings."""
    digest = hashlib.sha256()
    for name in names:
        if name.startswith(("src/", "tests/")) or name == "pyproject.toml":
            digest.update(name.encode() + b"\0" + (root / name).read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Suite:
    """The working tree that is copied, and which tests run in the copies."""

    root: Path
    work: Path
    names: tuple[str, ...]
    digest: str
    compiled: tuple[str, ...]
    timeout_s: float
    older_tests: bytes | None = None  # a tar archive of the tests folder of another revision
    is_whole: bool = False  # all tests, not those that a mutant lists

    def key(self, mutant: Mutant) -> str:
        older = hashlib.sha256(self.older_tests).hexdigest() if self.older_tests else ""
        whole = [asdict(mutant), self.digest, older, self.is_whole]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:16]

    def copy_to(self, tree: Path) -> None:
        """A fresh copy; files keep their age, by which Numba knows them."""
        shutil.rmtree(tree, ignore_errors=True)
        for name in self.names:
            if self.older_tests is None or not name.startswith("tests/"):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / name, tree / name)
        if self.older_tests is not None:
            with tarfile.open(fileobj=io.BytesIO(self.older_tests)) as archive:
                archive.extractall(tree, filter="data")
        if self.is_whole:  # a test asks git which files there are
            subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
            subprocess.run(["git", "add", "-A"], cwd=tree, check=True, stderr=subprocess.DEVNULL)

    def tests_in(self, tree: Path, mutant: Mutant) -> list[str]:
        return ["tests"] if self.is_whole else [test for test in mutant.tests if (tree / test).exists()]

    def env(self, tree: Path, cache: Path) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NUMBA_"))}
        env.setdefault("SLIPFIT_DATA", str(self.root.parent / "shared" / "data"))  # as tests/real has it
        own = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1", "SLIPFIT_CACHE": str(cache)}
        return {**env, **own}


def archive_of_tests(root: Path, revision: str) -> bytes:
    found = subprocess.run(["git", "archive", revision, "tests"], cwd=root, capture_output=True)
    if found.returncode:
        raise MutantError(f"--tests-from {revision}: {found.stderr.decode(errors='replace').strip()}")
    return found.stdout


# --- one mutant ------------------------------------------------------------------------------------------------------


def killer(output: str) -> str:
    """The first test that pytest names as failed, or file that it could not collect; empty where it names none."""
    found = re.search(r"^(?:FAILED|ERROR) (tests/[^\[\n]+?(?:\[.*?\])?)(?: - .*)?$", output, re.MULTILINE)
    return found[1] if found else ""


class Checker:
    """Runs mutants in numbered trees."""

    def __init__(self, suite: Suite, children: Children) -> None:
        self.suite, self.children = suite, children
        self._sound: dict[str, bool] = {}  # tests that were run without a mutant

    def check(self, mutant: Mutant, slot: int) -> Result:
        """Apply, test, and make sure that it was the mutant that made the test fail."""
        suite, tree = self.suite, self.suite.work / f"tree-{slot}"
        shared, own = suite.work / "kernels", suite.work / f"kernels-of-mutant-{slot}"
        is_compiled = mutant.file.split("/")[0] in suite.compiled
        start = time.monotonic()
        try:
            suite.copy_to(tree)
            changed = tree / mutant.path
            changed.write_text(changed.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
            outcome, by = self._tested(tree, suite.tests_in(tree, mutant), own if is_compiled else shared)
            seconds = time.monotonic() - start
            if outcome == KILLED and by.startswith("tests/"):
                shutil.copy2(suite.root / mutant.path, changed)
                if not self._is_sound(tree, by, shared):
                    outcome, by = BROKEN, f"{by} fails without the mutant too"
        finally:
            shutil.rmtree(own, ignore_errors=True)
            shutil.rmtree(tree, ignore_errors=True)
        return Result(mutant.id, mutant.group, outcome, by, round(seconds, 1), suite.key(mutant))

    def _tested(self, tree: Path, tests: Sequence[str], cache: Path) -> tuple[str, str]:
        """Outcome, and by which test."""
        if not tests:
            return BROKEN, "none of its tests is in that revision; use --all-tests"
        code, output = self._pytest(tree, tests, cache)
        if code is None:
            return TIMED_OUT, f"after {self.suite.timeout_s:g} s"
        if code == PASSED:
            return SURVIVED, ""
        if code < 0:
            return KILLED, f"the test process ended by signal {-code}"
        by = killer(output)
        if code in (FAILED, INTERRUPTED) and by:
            return KILLED, by
        lines = output.strip().splitlines() or ["no output"]
        return BROKEN, f"pytest ended with code {code}: {lines[-1]}"

    def _is_sound(self, tree: Path, test: str, cache: Path) -> bool:
        if test not in self._sound:
            code, _ = self._pytest(tree, [test], cache)
            if code == NOT_FOUND:  # an id that could not be read back from the summary
                code, _ = self._pytest(tree, [test.split("::")[0]], cache)
            self._sound[test] = code == PASSED
        return self._sound[test]

    def _pytest(self, tree: Path, tests: Sequence[str], cache: Path) -> tuple[int | None, str]:
        log, env = tree.with_suffix(".log"), self.suite.env(tree, cache)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", USUAL_TESTS, *tests, f"--ignore={TEST_OF_THE_LIST}"]
        command += ["-p", "no:cacheprovider", "--color=no"]
        code = self.children.run(command, tree, env, log, self.suite.timeout_s)
        return code, log.read_text(encoding="utf-8", errors="replace")

    def require_copies_are_imported(self) -> None:
        """Stop where Python would import slipfit from elsewhere: every mutant would survive."""
        tree, log = self.suite.work / "tree-0", self.suite.work / "tree-0.log"
        self.suite.copy_to(tree)
        ask = [sys.executable, "-c", "import slipfit; print(slipfit.__file__)"]
        self.children.run(ask, tree, self.suite.env(tree, self.suite.work / "kernels"), log, 60.0)
        found = log.read_text(encoding="utf-8", errors="replace").strip()
        if not found.startswith(str(tree)):
            raise MutantError(f"slipfit is imported from {found or 'nowhere'}; expected {tree}: use the Python of `make test`")


def check_all(mutants: Sequence[Mutant], checker: Checker, jobs: int) -> Iterator[Result]:
    """Results as they come."""
    slots: queue.SimpleQueue[int] = queue.SimpleQueue()
    for slot in range(jobs):
        slots.put(slot)

    def one(mutant: Mutant) -> Result:
        slot = slots.get()
        try:
            return checker.check(mutant, slot)
        finally:
            slots.put(slot)

    pool = ThreadPoolExecutor(jobs)
    try:
        for done in as_completed([pool.submit(one, mutant) for mutant in mutants]):
            yield done.result()
    finally:
        if sys.exc_info()[0] is not None:
            checker.children.stop()
        pool.shutdown(wait=True, cancel_futures=True)


# --- results ---------------------------------------------------------------------------------------------------------


def known_results(path: Path) -> dict[str, Result]:
    """Results of an interrupted run, by their keys; a line that was cut off is left out."""
    known = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError, TypeError):
            result = Result(**json.loads(line))
            known[result.key] = result
    return {key: result for key, result in known.items() if result.outcome != BROKEN}


def summary(results: Sequence[Result]) -> str:
    """A table by group, and the mutants that need work."""
    rows = [f"{'group':<12}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES) + f"{'seconds':>10}"]
    groups = [*dict.fromkeys(result.group for result in results), "all"]
    for group in groups:
        some = [result for result in results if group in (result.group, "all")]
        counts = [sum(result.outcome == outcome for result in some) for outcome in OUTCOMES]
        rows.append(f"{group:<12}" + "".join(f"{n:>11}" for n in counts) + f"{sum(result.seconds for result in some):>10.0f}")
    for outcome in (TIMED_OUT, SURVIVED, BROKEN):
        if found := [result.id for result in results if result.outcome == outcome]:
            rows.append(f"{outcome}: --only {' '.join(found)}")
    return "\n".join(rows)


# --- command line ----------------------------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check that the tests notice realistic mistakes (mutants.yaml).")
    parser.add_argument("--check", action="store_true", help="check the list against sources and tests, run nothing")
    parser.add_argument("--only", nargs="+", metavar="ID", help="run these mutants")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="mutants at the same time (default 2)")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="seconds per mutant (default 900)")
    parser.add_argument("--tests-from", metavar="REV", help="use the tests folder of another git revision")
    parser.add_argument("--all-tests", action="store_true", help="run all tests, not those that a mutant lists")
    parser.add_argument("--json", type=Path, metavar="FILE", help="results as JSON lines (default build/mutants/results.jsonl)")
    parser.add_argument("--resume", action="store_true", help="skip mutants that FILE has a valid result for")
    return parser.parse_args()


def chosen(mutants: list[Mutant], only: Sequence[str] | None) -> list[Mutant]:
    unknown = set(only or ()) - {mutant.id for mutant in mutants}
    if unknown:
        raise MutantError(f"--only {sorted(unknown)[0]}: there is no such mutant in {LIST.name}")
    return [mutant for mutant in mutants if only is None or mutant.id in only]


@contextlib.contextmanager
def alone(work: Path) -> Iterator[None]:
    """One run at a time: trees have fixed paths."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise MutantError(f"{work}: another run is at work there; wait for it or end it") from None
        yield


def run(args: argparse.Namespace) -> int:
    mutants = load()
    if said := problems(mutants):
        raise MutantError("\n".join(said))
    if args.check:
        print(f"{len(mutants)} mutants, each can be applied; their tests exist")
        return 0
    wanted, names = chosen(mutants, args.only), tuple(files_of(ROOT))
    older = archive_of_tests(ROOT, args.tests_from) if args.tests_from else None
    suite = Suite(ROOT, WORK, names, digest_of(ROOT, names), compiled_packages(), args.timeout, older, args.all_tests)
    file = args.json or WORK / "results.jsonl"
    with alone(WORK):
        known = known_results(file) if args.resume else {}
        if not args.resume and file.exists():
            file.replace(file.with_name(file.name + ".before"))
        results = [known[suite.key(mutant)] for mutant in wanted if suite.key(mutant) in known]
        left = [mutant for mutant in wanted if suite.key(mutant) not in known]
        print(f"{len(wanted)} mutants, {len(results)} of them known from before", flush=True)
        checker = Checker(suite, Children())
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            checker.require_copies_are_imported()
            with file.open("a", encoding="utf-8") as lines, contextlib.closing(check_all(left, checker, args.jobs)) as found:
                for result in found:
                    results.append(result)
                    lines.write(json.dumps(asdict(result)) + "\n")
                    lines.flush()
                    print(f"{len(results):>3} {result.outcome:<10}{result.id}  {result.by}  {result.seconds:.0f} s", flush=True)
        finally:
            checker.children.stop()
            for tree in WORK.glob("tree-*"):
                shutil.rmtree(tree, ignore_errors=True) if tree.is_dir() else tree.unlink()
    print(summary(results))
    return int(any(result.outcome in (SURVIVED, BROKEN) for result in results))


def main() -> int:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(arguments())
    except MutantError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; --resume goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
