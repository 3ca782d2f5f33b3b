"""`slipfit("robots", "--json")` runs a command as a user would, in an empty folder; a traceback fails the test."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from slipfit.cli import main


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """Lines on standard error without those of progress, which come when the machine is busy."""
        return [line for line in self.err.splitlines() if not line.endswith("s so far)")]


@pytest.fixture
def slipfit(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["slipfit", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(slipfit):
    """Run a command that must refuse: exit 2, one line on standard error, nothing printed and nothing written. Gives the line."""

    def run(*arguments):
        before = sorted(os.walk(Path.cwd()))
        result = slipfit(*arguments)
        assert result.code == 2
        assert result.out == ""
        assert result.err.startswith("slipfit: ")
        assert len(result.said) == 1
        assert result.err.endswith("\n")
        assert sorted(os.walk(Path.cwd())) == before
        return result.err

    return run
