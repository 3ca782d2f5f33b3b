"""The C++ runner is built once for each state of its source, and says what is wrong."""

import shutil

import pytest

from slipfit.engines import WheelCommands, find_engine
from slipfit.engines.gz_physics import build
from slipfit.errors import SimulationError

pytestmark = pytest.mark.engine


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """An empty cache of its own."""
    monkeypatch.setenv("SLIPFIT_CACHE", str(tmp_path / "cache"))
    build.runner.cache_clear()
    yield tmp_path
    build.runner.cache_clear()


def test_the_runner_is_built_once(need):
    need("gz-physics")
    program, version = build.runner()
    made = program.stat().st_mtime_ns
    build.runner.cache_clear()
    assert build.runner() == (program, version)
    assert program.stat().st_mtime_ns == made
    assert version.startswith("gz-physics 5.")


def test_a_failed_build_shows_its_log(need, fresh, monkeypatch):
    need("gz-physics")
    source = fresh / "runner"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        'cmake_minimum_required(VERSION 3.16)\nproject(x NONE)\nmessage(FATAL_ERROR "no luck")\n'
    )
    monkeypatch.setattr(build, "SOURCE", source)
    with pytest.raises(SimulationError, match=r"could not be built: CMake Error.*build\.log.*apt-get install"):
        build.runner()


def test_another_source_has_another_home(fresh, monkeypatch):
    source = fresh / "runner"
    shutil.copytree(build.SOURCE, source)
    before = build.source_hash()
    monkeypatch.setattr(build, "SOURCE", source)
    assert build.source_hash() == before
    (source / "main.cc").write_text("// other\n")
    assert build.source_hash() != before


def test_what_sdformat_refuses_is_told(need, write_world):
    """sdformat rejects names that our reader does not look at."""
    need("gz-physics")
    path = write_world()
    path.write_text(
        path.read_text().replace('<model name="p3at">', '<model name="p3at"><frame name="base" attached_to="nowhere"/>')
    )
    with pytest.raises(SimulationError, match=r"p3at\.sdf: "):
        find_engine("gz-physics").run(path, WheelCommands.held([0.0] * 4, 0.01))
