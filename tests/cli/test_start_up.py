"""What a command loads before it can start: imports are most of the time of a short command. Clocks are read by
benchmarks/start_up.py, not here."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
import typer.main

from slipfit.cli import app
from slipfit.cli.commands import ENTRIES

#: What draws, reads other people's files, fits, or needs a tenth of a second to be imported.
HEAVY = {
    *("scipy.signal", "scipy.stats", "scipy.interpolate", "scipy.optimize", "scipy.ndimage", "scipy.integrate", "scipy.spatial"),
    *("matplotlib", "plotly", "jinja2", "PIL", "duckdb", "pandas", "pyarrow", "rosbags", "pint", "SALib", "emcee", "rasterio"),
    *("distributed", "serial", "rerun", "mujoco"),
    *("slipfit.calibration", "slipfit.study", "slipfit.estimation", "slipfit.report", "slipfit.exporters", "slipfit.engines"),
    *("slipfit.hardware", "slipfit.verification", "slipfit.database"),
}

LISTED = """\
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["slipfit", *sys.argv[1:]]
"""


def loaded(code, *arguments):
    """Modules of a fresh process when it ends."""
    command = [sys.executable, "-c", LISTED + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def commands_of_the_line(modules):
    """Modules of single commands among them."""
    return {entry.module for entry in ENTRIES} & modules


RUN = "from slipfit.__main__ import main\nmain()"


def test_a_plain_drive_loads_what_it_needs():
    loaded(RUN, "simulate", "p3at")  # compiles the kernel where that was not done before
    modules = loaded(RUN, "simulate", "p3at")
    assert not modules & HEAVY
    assert not modules & {"scipy.linalg", "numba.np.arraymath"}  # Numba loads them in order to compile
    assert not modules & {"rich.console", "slipfit.logs.read", "slipfit.logs.inspection", "slipfit.logs.bag_writer"}
    assert commands_of_the_line(modules) == {"slipfit.cli.simulate"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["simulate", "--help"]], ids=" ".join)
def test_help_loads_nothing_that_computes(arguments):
    modules = loaded(RUN, *arguments)
    assert not modules & (HEAVY | {"numpy", "numba", "scipy", "yaml", "slipfit.library", "slipfit.simulation"})
    assert commands_of_the_line(modules) <= {"slipfit.cli.simulate"}


def test_the_list_of_commands_loads_none_of_them():
    assert not commands_of_the_line(loaded(RUN, "--help"))


def test_the_front_door_loads_nothing():
    modules = loaded("import slipfit")
    assert not modules & (HEAVY | {"numpy", "numba", "scipy", "pydantic", "typer", "rich"})
    assert {name for name in modules if name.startswith("slipfit")} == {"slipfit"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_command_is_listed_with_its_own_help(entry):
    """The list reads docstrings without running the modules; what Typer makes of the command itself is the reference."""
    line = typer.main.get_command(app)
    command = line.load(entry.name)
    shown = line.get_command(None, entry.name)
    assert shown.help == command.help
    assert shown.help
    assert shown.rich_help_panel == command.rich_help_panel == entry.panel
    assert shown.name == command.name == entry.name


@pytest.mark.parametrize("package", ["slipfit", "slipfit.logs", "slipfit.logs.inspection"])
def test_names_on_demand_are_those_of_the_package(package):
    front = import_module(package)
    assert len(set(front.__all__)) == len(front.__all__)
    for name in front.__all__:
        assert getattr(front, name) is not None
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = front.nothing


FIRST = """\
import pkgutil, sys
import slipfit.logs
names = [module.name for module in pkgutil.walk_packages(slipfit.logs.__path__, "slipfit.logs.")]
for first in names:
    for name in [name for name in sys.modules if name.startswith("slipfit.logs")]:
        del sys.modules[name]
    __import__(first)
print(len(names))
"""


def test_any_module_of_logs_may_be_imported_first():
    """Names on demand leave the order of imports to those who ask: a circle among the modules would fail for some of them."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40


@pytest.mark.parametrize(
    ("words", "expected"), [("slipfit stu", "study"), ("slipfit omni mo", "move"), ("slipfit twin --js", "--json")]
)
def test_a_shell_completes_commands_and_their_options(monkeypatch, capsys, words, expected):
    monkeypatch.setenv("_SLIPFIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    monkeypatch.setattr(sys, "argv", ["slipfit"])
    with pytest.raises(SystemExit) as ended:
        app(prog_name="slipfit")
    assert ended.value.code == 0
    assert expected in capsys.readouterr().out.split()
