"""Builds the runner on demand, once for each state of its source, in the user's cache folder."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from slipfit.errors import SimulationError

SOURCE = Path(__file__).parent / "runner"
NAME = "slipfit_gz_runner"

#: What has to be there, as Debian 12 and Ubuntu call it.
PACKAGES = (
    "libignition-physics-dev",
    "libignition-physics5-dartsim-plugin5",
    "libignition-plugin-dev",
    "libsdformat-dev",
    "cmake",
    "g++",
)
INSTALL = f"sudo apt-get install --no-install-recommends {' '.join(PACKAGES)}"

_BUILD_LIMIT_S = 900.0


def missing() -> str:
    """What the build would lack, in a sentence; empty when all is there."""
    tools = [name for name, found in (("cmake", shutil.which("cmake")), ("a C++ compiler", _compiler())) if not found]
    wanted = ("ignition-physics5", "ignition-plugin1", "sdformat12")
    lacking = tools + [name for name in wanted if not _has_package(name)]
    return f"gz-physics: {', '.join(lacking)} not found; install with: {INSTALL}" if lacking else ""


def _compiler() -> str | None:
    return os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def _has_package(name: str) -> bool:
    """Whether cmake would find a package, looked up where Debian and own prefixes keep them."""
    prefixes = [
        *filter(None, os.environ.get("CMAKE_PREFIX_PATH", "").replace(";", os.pathsep).split(os.pathsep)),
        "/usr",
        "/usr/local",
    ]
    return any(
        any(Path(prefix).glob(pattern))
        for prefix in prefixes
        for pattern in (f"lib/cmake/{name}", f"lib/*/cmake/{name}", f"share/{name}")
    )


def source_hash() -> str:
    """Digest of the runner's files."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _home() -> Path:
    """Where runners are kept: below `SLIPFIT_CACHE`, else the user's cache folder."""
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slipfit"
    return Path(os.environ.get("SLIPFIT_CACHE") or user_cache) / "gz_runner" / source_hash()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time; the others wait."""
    import fcntl  # where gz-physics is, so is this

    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _answer(runner: Path) -> str:
    """What the runner says about itself; empty if it does not run, as after an upgrade of its libraries."""
    try:
        done = subprocess.run([runner, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def runner() -> tuple[Path, str]:
    """The program, built if need be, and its version."""
    home = _home()
    program = home / NAME
    if said := _answer(program):
        return program, said
    if sentence := missing():
        raise SimulationError(sentence)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _alone(home):
            if not _answer(program):
                _build(home, program)
    except OSError as error:
        raise SimulationError(f"gz-physics: {home} cannot be written ({error}); set SLIPFIT_CACHE to a folder of yours") from None
    return program, _answer(program)


def _build(home: Path, program: Path) -> None:
    work, log = home / "build", home / "build.log"
    shutil.rmtree(work, ignore_errors=True)
    said = ""
    configure = ["cmake", "-S", str(SOURCE), "-B", str(work), "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, ["cmake", "--build", str(work)]):
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_BUILD_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise SimulationError(f"gz-physics: building the runner took more than {_BUILD_LIMIT_S:g} s; see {log}") from None
        said += done.stdout
        log.write_text(said, encoding="utf-8")
        if done.returncode:
            telling = [line.strip() for line in said.splitlines() if "rror" in line] or said.strip().splitlines()
            raise SimulationError(
                f"gz-physics: the runner could not be built: {' | '.join(telling[:3])}; all of it is in {log}; "
                f"what it needs: {INSTALL}"
            )
    built = work / NAME
    if not _answer(built):
        raise SimulationError(f"gz-physics: the runner was built but does not start; see {log} and run {built} --version")
    built.replace(program)
    shutil.rmtree(work, ignore_errors=True)
