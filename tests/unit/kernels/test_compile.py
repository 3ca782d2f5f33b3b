"""The cache of compiled kernels: where it lies, and that no edit ever runs from a stale one."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

import slipfit.kernels
from patience import HANG_S
from slipfit.kernels.compile import COMPILED_PACKAGES, cache_folder, compiled, part, source_hash

SOURCE = Path(slipfit.kernels.__file__).parent.parent
MONTH_S = 30 * 24 * 3600.0

#: A kernel outside the hashed packages, as a caller would write it. It reaches the law only through `traction`.
PROBE = """
import json

from slipfit.contact.limits import Pyramid
from slipfit.contact.touch import Touch, force, traction
from slipfit.contact.viscous_slip import ViscousSlip
from slipfit.kernels import cache_folder, compiled

@compiled
def push(law, touch):
    return force(traction(law, touch, None, 0, 0.01), touch.slip_x, touch.slip_y)[0]

def report():
    newton = push(ViscousSlip(0.005, 0.01, Pyramid(10.0, 10.0)), Touch(0.02, 0.0, 1.0, 100.0))
    print(json.dumps([newton, sum(push.stats.cache_hits.values()), cache_folder().name]))
"""


@pytest.fixture
def copied_package(tmp_path):
    """slipfit's sources in a folder of their own, with the probe beside them."""
    package = tmp_path / "src" / "slipfit"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "probe.py").write_text(PROBE)
    return package


def run_probe(package, cache, code="from slipfit.probe import report; report()"):
    """Force along the wheel (N), how often it came from the cache, and the cache folder's name, from a new process; or what
    other code prints."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "SLIPFIT_CACHE": str(cache)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=package.parent, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_edited_law_never_runs_from_a_stale_cache(copied_package, tmp_path):
    """Viscous slip is F = s / k: 0.02 / 0.005 = 4 N, far below mu N = 1000 N. Doubled in the law's file it is 8 N."""
    law, cache = copied_package / "contact" / "viscous_slip.py", tmp_path / "cache"
    newton, hits, folder = run_probe(copied_package, cache)
    assert (newton, hits) == (pytest.approx(4.0), 0)

    before = law.read_text()
    law.write_text(before.replace("law.k_long, law.k_lat, touch", "0.5 * law.k_long, law.k_lat, touch"))
    assert law.read_text() != before
    newton, hits, edited_folder = run_probe(copied_package, cache)
    assert (newton, hits) == (pytest.approx(8.0), 0)
    assert edited_folder != folder

    assert run_probe(copied_package, cache) == [pytest.approx(8.0), 1, edited_folder]  # unedited: loaded, not compiled
    assert sorted(path.name for path in cache.iterdir()) == sorted([folder, edited_folder])


def test_every_file_with_compiled_code_is_in_the_hash():
    """A kernel in another package could be edited without a new folder. Decorators tell where compiled code is."""
    decorator = re.compile(r"^\s*@(compiled|part|(numba\.)?njit|overload|intrinsic|register_jitable|\w+\.of)\b", re.M)
    sources = {path.relative_to(SOURCE): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    with_kernels = {path.parts[0] for path, text in sources.items() if decorator.search(text)}
    assert with_kernels
    assert with_kernels <= set(COMPILED_PACKAGES)


def test_the_folder_is_named_by_the_sources_and_lies_where_the_user_says(tmp_path, monkeypatch):
    """`SLIPFIT_CACHE`, created if missing, then the hash."""
    monkeypatch.setenv("SLIPFIT_CACHE", str(tmp_path / "not" / "yet"))
    folder = cache_folder.__wrapped__()  # past the memory of this process
    assert folder == tmp_path / "not" / "yet" / source_hash()
    assert folder.is_dir()


@pytest.mark.parametrize("unusable", [None, "", "a_file"])
def test_without_a_usable_setting_the_users_cache_serves(unusable, tmp_path, monkeypatch):
    """XDG base directories: $XDG_CACHE_HOME/slipfit."""
    (tmp_path / "a_file").write_text("no folder")
    if unusable is None:
        monkeypatch.delenv("SLIPFIT_CACHE", raising=False)
    else:
        monkeypatch.setenv("SLIPFIT_CACHE", unusable and str(tmp_path / unusable))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder.__wrapped__() == tmp_path / "xdg" / "slipfit" / source_hash()


def folder_of_age(path, seconds):
    (path / "inner").mkdir(parents=True)
    (path / "inner" / "file").write_text("content")
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_compiled_code_that_nobody_ran_for_a_month_is_removed(tmp_path, monkeypatch):
    """Two folders named like hashes, one used 31 days ago and one 29: the older goes."""
    old = folder_of_age(tmp_path / "0123456789abcdef", MONTH_S + 86400.0)
    recent = folder_of_age(tmp_path / "fedcba9876543210", MONTH_S - 86400.0)
    monkeypatch.setenv("SLIPFIT_CACHE", str(tmp_path))
    cache_folder.__wrapped__()
    assert not old.exists()
    assert (recent / "inner" / "file").exists()


def test_what_is_not_compiled_code_is_never_removed(tmp_path, monkeypatch):
    """A user may point SLIPFIT_CACHE at a folder that holds other things, such as the home folder."""
    thesis = folder_of_age(tmp_path / "thesis", 2 * MONTH_S)
    monkeypatch.setenv("SLIPFIT_CACHE", str(tmp_path))
    cache_folder.__wrapped__()
    assert (thesis / "inner" / "file").exists()


@part
def quotient(a, b):
    return a / b


def test_a_part_is_plain_python_outside_and_has_the_kernels_options_inside():
    """Python refuses 1 / 0, IEEE 754 says infinity: kernels follow the second (`error_model="numpy"`), so that no run raises."""
    with pytest.raises(ZeroDivisionError):
        quotient(1.0, 0.0)
    assert numba.njit(lambda a, b: quotient(a, b))(1.0, 0.0) == math.inf


def test_decorating_leaves_numbas_own_setting_alone(monkeypatch):
    """The cache path is a process-wide setting of Numba: other packages must find it as they left it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "elsewhere")
    kernel = compiled(nogil=True)(lambda x: 2.0 * x)
    assert numba.config.CACHE_DIR == "elsewhere"
    assert Path(kernel.stats.cache_path).is_relative_to(cache_folder())


#: Loads a kernel, then needs one for another law.
ONE_AFTER_THE_OTHER = """
import json, sys
from slipfit.contact.limits import Cone, Pyramid
from slipfit.probe import Touch, ViscousSlip, push
found = []
for limits in (Pyramid(10.0, 10.0), Cone(10.0, 10.0)):
    newton = push(ViscousSlip(0.005, 0.01, limits), Touch(0.02, 0.0, 1.0, 100.0))
    found.append([newton, sum(push.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules])
print(json.dumps(found))
"""


def test_loading_a_kernel_registers_nothing_and_compiling_another_one_does(copied_package, tmp_path):
    """The force is that of F = s / k above, from the cache and compiled after that. Numba imports `numba.np.arraymath` when it
    registers what can be compiled."""
    cache = tmp_path / "cache"
    run_probe(copied_package, cache)
    loaded, compiled_then = run_probe(copied_package, cache, ONE_AFTER_THE_OTHER)
    assert loaded == [pytest.approx(4.0), 1, False]
    assert compiled_then == [pytest.approx(4.0), 1, True]


@compiled
def _twice(x):
    return 2.0 * x


def test_an_index_that_names_an_unknown_module_counts_as_empty(monkeypatch):
    """A law of somebody's own module in the shared cache: `import` fails elsewhere, and the kernel is compiled anew."""
    index = _twice._cache._cache_file

    def names_a_module_that_is_not_there():
        raise ModuleNotFoundError("No module named 'somebodys_laws'")

    forgiving = type(index._load_index)(index._load_index.func, names_a_module_that_is_not_there)
    monkeypatch.setattr(index, "_load_index", forgiving)
    assert index._load_index() == {}
    assert _twice(2.0) == 4.0
