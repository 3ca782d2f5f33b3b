"""The list of mutants fits the sources, and the tool that runs it reads pytest aright. No mutant is run here."""

import importlib.util
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    """tools/mutants.py, which is no package."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["mutants"]


def test_every_mutant_can_be_applied_and_names_its_tests(tool):
    """`old` occurs once, `new` is another program, listed tests exist: else a change of the source has outrun the list."""
    assert tool.problems(tool.load()) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"old": "text that is nowhere"}, "occurs 0 times"),
        ({"old": "return"}, "occurs"),
        ({"new": "SPEED_FLOOR_MPS = 0.02"}, "equals"),
        ({"new": "SPEED_FLOOR_MPS =  0.02"}, "stays the same"),
        ({"new": "SPEED_FLOOR_MPS = ("}, "does not compile"),
        ({"file": "contact/nowhere.py"}, "there is no file"),
        ({"tests": ("tests/nowhere.py",)}, "there is no test"),
        ({"tests": ()}, "no tests"),
    ],
)
def test_a_mutant_that_shows_nothing_is_refused(tool, change, sentence):
    sound = tool.Mutant(
        "one", "contact", "contact/slip.py", "SPEED_FLOOR_MPS = 0.02", "SPEED_FLOOR_MPS = 0.2", "", ("tests/test_mutants.py",)
    )
    assert tool.problems([sound]) == []
    (said,) = tool.problems([replace(sound, **change)])
    assert sentence in said


def test_compiled_packages_are_those_of_the_kernels(tool):
    from slipfit.kernels.compile import COMPILED_PACKAGES

    assert tool.compiled_packages() == COMPILED_PACKAGES


@pytest.mark.parametrize(
    ("line", "test"),
    [
        ("FAILED tests/unit/test_a.py::test_b[x - y z] - assert 1 == 2", "tests/unit/test_a.py::test_b[x - y z]"),
        ("FAILED tests/unit/test_a.py::test_b[x] - assert [1] == [2]", "tests/unit/test_a.py::test_b[x]"),
        ("FAILED tests/unit/test_a.py::test_b", "tests/unit/test_a.py::test_b"),
        ("ERROR tests/unit/test_a.py - ImportError: no", "tests/unit/test_a.py"),
        ("1 passed in 0.1s", ""),
    ],
)
def test_the_failing_test_is_read_from_the_summary(tool, line, test):
    """Lines as pytest's documentation of -r has them."""
    assert tool.killer(f"....F\n{line}\n1 failed\n") == test


def test_an_interrupted_run_goes_on_with_what_is_known(tool, tmp_path):
    """Whole lines count; a line that was cut off and results that say nothing are run again."""
    killed = tool.Result("a", "contact", tool.KILLED, "tests/test_a.py::test_b", 1.0, "key of a")
    broken = tool.Result("b", "contact", tool.BROKEN, "", 1.0, "key of b")
    lines = "\n".join(json.dumps(asdict(result)) for result in (killed, broken))
    (tmp_path / "results.jsonl").write_text(lines + '\n{"id": "c", "gro', encoding="utf-8")
    assert tool.known_results(tmp_path / "results.jsonl") == {"key of a": killed}
