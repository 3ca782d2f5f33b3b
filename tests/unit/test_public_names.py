"""Names of `import slipfit`: functions and records, never packages; earlier ones go on working for one version."""

import importlib
import inspect

import pytest

import slipfit


@pytest.mark.parametrize("package", ["simulation", "calibration", "estimation", "exporters", "verification", "hardware", "study"])
def test_importing_a_package_hides_no_public_name(package):
    importlib.import_module(f"slipfit.{package}")
    for name in slipfit.__all__:
        assert not inspect.ismodule(getattr(slipfit, name)), name


def test_there_are_at_most_thirty():
    assert len([name for name in slipfit.__all__ if not name.startswith("_")]) <= 30


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = slipfit.simulat
