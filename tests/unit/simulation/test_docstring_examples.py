"""Examples in docstrings run as they stand."""

import doctest
import importlib
import pkgutil

import pytest

import slipfit

#: Written beside a model for those who have MuJoCo; it imports nothing of ours, and has no examples.
SCRIPTS = {"slipfit.exporters.mjcf_updater"}

MODULES = {"slipfit", *(module.name for module in pkgutil.walk_packages(slipfit.__path__, "slipfit."))} - SCRIPTS


class RunsAtLeast(doctest.OutputChecker):
    """An example that shows no result promises none."""

    def check_output(self, want, got, optionflags):
        return not want or super().check_output(want, got, optionflags)


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = map(importlib.import_module, sorted(MODULES))
    return [test for module in modules for test in finder.find(module, module.__name__) if test.examples]


EXAMPLES = examples()


def test_there_are_examples():
    assert {"slipfit", "slipfit.simulation.run.simulate"} <= {test.name for test in EXAMPLES}


@pytest.mark.parametrize("test", EXAMPLES, ids=lambda test: test.name)
def test_it_runs(test):
    lines = []
    result = doctest.DocTestRunner(RunsAtLeast(), optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=lines.append)
    assert result.failed == 0, "".join(lines)
