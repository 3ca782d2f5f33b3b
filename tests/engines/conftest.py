"""Engines that are not installed skip their tests, with the sentence that a user would read."""

import pytest
from p3at_files import world_sdf

from slipfit.engines import available


@pytest.fixture(scope="session")
def need():
    """Skip unless an engine can run here."""
    problems = {engine.name: engine.problem for engine in available()}

    def check(name):
        if problems[name]:
            pytest.skip(problems[name])

    return check


@pytest.fixture
def write_world(tmp_path):
    """Write the P3AT's world with some things changed, and tell where."""

    def write(**changes):
        path = tmp_path / "p3at.sdf"
        path.write_text(world_sdf(**changes), encoding="utf-8")
        return path

    return write
