"""Ctrl-C at moments that no command can catch by itself: while it is being loaded, and after it is done."""

import os
import subprocess
import sys

import pytest

from patience import HANG_S

SENTENCE = "slipfit: stopped; no file is half written\n"

STRIKE = "os.kill(os.getpid(), signal.SIGINT)"
#: As dataclasses do. Python takes Ctrl-C in such a string for one that nobody caught, and kills itself at the end.
IN_A_STRING = f"exec('{STRIKE}; [k for k in range(1000)]')"

#: Ctrl-C as soon as a module is asked for, in the middle of somebody's import statement.
ON_IMPORT = """
class Hit:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            {strike}
sys.meta_path.insert(0, Hit())
"""


@pytest.fixture
def laws(tmp_path):
    """`python -m slipfit laws` in a Python that does something first."""

    def run(first):
        # As a shell's foreground has it, also where the tests themselves run in the background.
        ready = "import atexit, os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        (tmp_path / "sitecustomize.py").write_text(ready + first, encoding="utf-8")
        paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        command, env = [sys.executable, "-m", "slipfit", "laws"], {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=HANG_S)

    return run


@pytest.mark.parametrize("strike", [STRIKE, IN_A_STRING], ids=["statement", "string"])
@pytest.mark.parametrize("module", ["slipfit.cli", "typer", "slipfit.cli.catalogue", "slipfit.contact"])
def test_while_the_commands_are_loaded(laws, module, strike):
    """The third one is imported when the command is called, the last one by the command itself."""
    done = laws(ON_IMPORT.format(module=module, strike=strike))
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", SENTENCE.strip())


def test_while_the_interpreter_winds_up(laws):
    done = laws("atexit.register(os.kill, os.getpid(), signal.SIGINT)\n")
    assert (done.returncode, done.stderr) == (130, SENTENCE)
    assert "wheel_slip" in done.stdout


def test_a_shell_that_ignores_it_is_obeyed(laws):
    """As nohup and background jobs have it: the signal that hits while loading changes nothing."""
    ignored = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = laws(ignored + ON_IMPORT.format(module="slipfit.cli", strike=STRIKE))
    assert (done.returncode, done.stderr) == (0, "")
