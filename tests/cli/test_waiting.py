"""What a command says while it works, when it is stopped, and when its result could not be written."""

import sys
import time
from pathlib import Path

import pytest

from slipfit.calibrate import run
from slipfit.cli import output
from slipfit.cli.output import Stopped, working
from slipfit.simulate import simulate
from slipfit.simulate.scenario import standard_drive


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(output, "PATIENCE_S", 0.05)
    monkeypatch.setattr(output, "TELL_EVERY_S", 0.01)


@pytest.fixture
def recorded(tmp_path):
    simulate("p3at", standard_drive()).readings.save(tmp_path / "run.mcap")


def test_each_stage_that_lasts_is_told_on_standard_error(hasty, capsys):
    with working("calibrating") as work:
        work("reading a.csv")
        time.sleep(0.2)
        work("too short to tell")
        work("fitting a.csv")
        time.sleep(0.2)
    told = capsys.readouterr()
    assert told.out == ""
    assert [line.split(" (")[0] for line in told.err.splitlines()] == [
        "slipfit: calibrating: reading a.csv",
        "slipfit: calibrating: fitting a.csv",
    ]


def test_long_work_gives_signs_of_life(hasty, monkeypatch, capsys):
    monkeypatch.setattr(output, "REMIND_S", 0.1)
    with working("calibrating"):
        time.sleep(0.5)
    assert len(capsys.readouterr().err.splitlines()) >= 3


def test_quick_work_says_nothing(capsys):
    with working("calibrating") as work:
        work("reading a.csv")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_line_that_turns(monkeypatch, capsys):
    monkeypatch.setattr(output, "TELL_EVERY_S", 0.01)
    monkeypatch.setattr(output, "BRIEF_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("calibrating") as work:
        work("fitting [a].csv")
        time.sleep(0.3)
    assert "calibrating: fitting [a].csv, 0 s" in capsys.readouterr().err


def test_what_was_written_before_a_stop_is_told(tmp_path):
    def interrupted():
        with working("calibrating") as work:
            work.wrote(tmp_path / "report.html")
            raise KeyboardInterrupt

    with pytest.raises(Stopped, match=r"while calibrating; written before: .*report\.html"):
        interrupted()


def test_ctrl_c_says_what_was_being_done(slipfit, recorded, monkeypatch, tmp_path):
    def interrupted(*_, progress, **__):
        progress("fitting run.mcap")
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "calibrate", interrupted)
    result = slipfit("calibrate", "run.mcap", "--robot", "p3at", "-o", "x.twin.yaml")
    assert result.code == 130
    assert result.out == ""
    assert result.err.startswith("slipfit: stopped after 0 s while calibrating p3at from run.mcap: fitting run.mcap; nothing was")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.mcap"]


def test_ctrl_c_outside_of_the_work_is_told_too(slipfit, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("slipfit.library.find_robot", interrupted)
    result = slipfit("calibrate", "run.mcap", "--robot", "p3at")
    assert (result.code, result.err) == (130, "slipfit: stopped; no file is half written\n")


@pytest.mark.parametrize("place", ["/proc/x.twin.yaml", "a" * 300 + ".yaml", "nowhere/x.twin.yaml"])
def test_a_place_that_cannot_be_written_is_told_before_the_fit(refused, recorded, monkeypatch, place):
    """/proc makes no files, even for root; file systems allow 255 bytes for a name."""
    if place.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("there is no /proc here")
    monkeypatch.setattr(run, "calibrate", None)  # would be a traceback
    refused("calibrate", "run.mcap", "--robot", "p3at", "-o", place)
