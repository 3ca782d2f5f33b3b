"""What a command says while it works, when it is stopped, and when its result could not be written."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from patience import until
from slipfit.calibration import run
from slipfit.cli import output
from slipfit.cli.output import Stopped, working
from slipfit.simulation import simulate
from slipfit.simulation.scenario import standard_drive


class Clock:
    """Stands still until it is moved: how busy the machine is does not show."""

    now_s = 1000.0

    def wait(self, duration_s):
        self.now_s += duration_s


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: clock.now_s))
    monkeypatch.setattr(output, "TELL_EVERY_S", 0.01)
    return clock


@pytest.fixture
def told(capsys):
    """All of standard error so far."""
    said = []

    def text():
        captured = capsys.readouterr()
        assert captured.out == ""
        said.append(captured.err)
        return "".join(said)

    return text


@pytest.fixture
def recorded(tmp_path):
    simulate("p3at", standard_drive()).readings.save(tmp_path / "run.mcap")


def test_each_stage_that_lasts_is_told_on_standard_error(clock, told):
    """More than a second."""
    with working("calibrating") as work:
        work("reading a.csv")
        clock.wait(1.1)
        until(lambda: "reading a.csv" in told())
        work("too short to tell")
        clock.wait(0.9)
        work("fitting a.csv")
        clock.wait(1.1)
        until(lambda: "fitting a.csv" in told())
    assert told().splitlines() == [
        "slipfit: calibrating: reading a.csv (1 s so far)",
        "slipfit: calibrating: fitting a.csv (3 s so far)",
    ]


def test_long_work_gives_signs_of_life(clock, told):
    with working("calibrating"):
        for k in range(1, 4):
            clock.wait(output.REMIND_S + 0.1)
            until(lambda k=k: len(told().splitlines()) == k)


def test_quick_work_says_nothing(clock, told):
    with working("calibrating") as work:
        work("reading a.csv")
    assert told() == ""


def test_a_terminal_gets_a_line_that_turns(clock, told, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("calibrating") as work:
        work("fitting [a].csv")
        until(lambda: "calibrating: fitting [a].csv, 0 s" in told())


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
    assert re.match(
        r"slipfit: stopped after \d+ s while calibrating p3at from run.mcap: fitting run.mcap; nothing was", *result.said
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.mcap"]


def test_ctrl_c_outside_of_the_work_is_told_too(slipfit, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("slipfit.library.skid_steer_robot", interrupted)
    result = slipfit("calibrate", "run.mcap", "--robot", "p3at")
    assert (result.code, result.said) == (130, ["slipfit: stopped; no file is half written"])


@pytest.mark.parametrize("place", ["/proc/x.twin.yaml", "a" * 300 + ".yaml", "nowhere/x.twin.yaml"])
def test_a_place_that_cannot_be_written_is_told_before_the_fit(refused, recorded, monkeypatch, place):
    """/proc makes no files, even for root; file systems allow 255 bytes for a name."""
    if place.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("there is no /proc here")
    monkeypatch.setattr(run, "calibrate", None)  # would be a traceback
    refused("calibrate", "run.mcap", "--robot", "p3at", "-o", place)
