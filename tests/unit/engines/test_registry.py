"""An engine that is missing is a sentence with the command that installs it."""

import ctypes
import sys

import pytest

from slipfit.engines import available, engine_names, find_engine, ode_library
from slipfit.engines.gz_physics import build
from slipfit.engines.mujoco_engine import MuJoCo, updater_beside
from slipfit.engines.ode import Ode
from slipfit.errors import SimulationError


@pytest.fixture
def no_ode(monkeypatch):
    monkeypatch.setattr(ode_library, "NAMES", ("libode-that-is-not-there.so",))
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    ode_library.load.cache_clear()
    yield
    ode_library.load.cache_clear()


def test_names():
    assert engine_names() == ["ode", "mujoco", "gz-physics"]
    assert [engine.name for engine in available()] == engine_names()


def test_without_the_library(no_ode):
    assert "apt-get install libode8" in Ode().problem()
    with pytest.raises(SimulationError, match="libode8"):
        find_engine("ode")
    assert not next(engine for engine in available() if engine.name == "ode").is_installed


def test_without_the_packages(monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    monkeypatch.delenv("CXX", raising=False)
    sentence = build.missing()
    assert sentence.startswith("gz-physics: cmake, a C++ compiler")
    assert "apt-get install --no-install-recommends libignition-physics-dev" in sentence


def test_without_mujoco(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    monkeypatch.setattr("slipfit.engines.mujoco_engine.find_spec", lambda name: None)
    assert "pip install mujoco" in MuJoCo().problem()
    with pytest.raises(SimulationError, match="pip install"):
        MuJoCo().version()


def test_an_engine_that_does_not_exist():
    with pytest.raises(SimulationError, match="no engine 'bullet'; known are gz-physics, mujoco, ode"):
        find_engine("bullet")
    with pytest.raises(SimulationError, match="did you mean 'mujoco'"):
        find_engine("mujocco")


def test_layouts_are_those_of_ode_0_16():
    """ENGINES: dContact is 248 bytes; ode/contact.h: int and 14 doubles; two vectors, a double, two pointers, two ints."""
    assert ctypes.sizeof(ode_library.SurfaceParameters) == 8 + 14 * 8
    assert ctypes.sizeof(ode_library.ContactGeom) == 2 * 32 + 8 + 2 * 8 + 2 * 4
    assert ctypes.sizeof(ode_library.Contact) == 248


def test_where_an_updater_lies(tmp_path):
    assert updater_beside(tmp_path / "p3at.mjcf.xml").name == "p3at_mjcf_updater.py"


def test_the_runners_source_is_packaged():
    assert {path.name for path in build.SOURCE.iterdir()} == {"CMakeLists.txt", "main.cc"}
