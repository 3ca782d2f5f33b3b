"""How kernels are compiled: one set of options, one cache folder that no edit can make stale."""

import functools
import hashlib
import os
import pickle
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
from numba.core.runtime.nrt import rtsys
from numba.extending import overload as numba_overload
from numba.extending import register_jitable

#: Packages whose sources end up in compiled code. Numba looks only at the file of the outermost function, so an edit of a
#: law would go on running from the cache: the folder carries the hash of all of them.
COMPILED_PACKAGES = ("kernels", "contact", "ground", "vehicles", "control")

#: `reassoc` is left out (it makes guarded branches slow), `nnan` and `ninf` because `isfinite` must work.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "arcp", "nsz", "afn"}}

#: Of functions that only compiled code calls: an entry for callers in C would be a second function to compile for each.
_INNER: Any = {"no_cfunc_wrapper": True}

#: `numba.extending.overload` for our functions: a kernel compiles in a tenth less time, to the same code.
overload = functools.partial(numba_overload, jit_options=_INNER)

_UNUSED_FOR_S = 30 * 24 * 3600.0


def source_hash() -> str:
    """Digest of every source file that compiled code can contain, and of the compiler's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    root = Path(__file__).parent.parent
    for package in COMPILED_PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _forget_old(root: Path, keep: Path) -> None:
    """Remove compiled code of sources that nobody has run for a month: our own folders only, known by their names."""
    for folder in root.iterdir():
        ours = re.fullmatch(r"[0-9a-f]{16}", folder.name) and folder.is_dir() and not folder.is_symlink()
        if ours and folder != keep and time.time() - folder.stat().st_mtime > _UNUSED_FOR_S:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: `SLIPFIT_CACHE`, else the user's cache folder, else a temporary one."""
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for root in (os.environ.get("SLIPFIT_CACHE"), user_cache / "slipfit"):
        if root and _writable(folder := Path(root) / source_hash()):
            os.utime(folder)
            try:
                _forget_old(folder.parent, keep=folder)
            except OSError:
                pass  # another process is tidying up as well
            return folder
    return Path(tempfile.mkdtemp(prefix="slipfit-"))


def part(function):
    """Decorate a function that kernels call: it stays plain Python outside, and is compiled into each kernel inside.

    Inlining is forced: models are large tuples, and handing one on costs more than a wheel's arithmetic (a robot in lanes took
    1.6 times as long without).
    """
    return register_jitable(forceinline=True, **_INNER, **OPTIONS)(function)


def compiled(function=None, *, nogil=False):
    """Decorate a kernel that Python calls: `numba.njit` with our options, cached in our folder.

    Numba fixes the cache path when a function is decorated and takes it from a process-wide setting: that setting is ours
    only for the moment of decoration.
    """
    if function is None:
        return functools.partial(compiled, nogil=nogil)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        dispatcher = numba.njit(cache=True, nogil=nogil, **OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before
    index = dispatcher._cache._cache_file
    index._load_index = functools.partial(_load_what_can_be_imported, index._load_index)
    dispatcher._cache.load_overload = functools.partial(_load_before_registering, dispatcher._cache)
    return dispatcher


def _load_before_registering(cache, signature, target_context):
    """A kernel of the cache, or None; `Cache.load_overload` of Numba, which first registers everything that can be compiled.

    That is needed to compile and not to load, and takes a third of a plain drive's time: a kernel that is not in the cache is
    looked for again in Numba's way, and compiled.
    """
    rtsys.initialize(target_context)  # what compiled code calls for memory; Numba does this while it registers
    with cache._guard_against_spurious_io_errors():
        found = cache._load_overload(signature, target_context)
        if found is not None:
            return found
    return type(cache).load_overload(cache, signature, target_context)


def _load_what_can_be_imported(load_index):
    """Numba's index of a kernel names the types it was compiled for. A law from a user's own module would make it unreadable
    for every process that cannot import that module: such an index counts as empty, and the kernel is compiled anew."""
    try:
        return load_index()
    except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
        return {}
