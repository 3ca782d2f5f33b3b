"""An answer before the controller's watchdog time is late, not lost; after it the drive stops and does not resume.

All in virtual time. The watchdog's second is that of the AX3500 manual, p. 142.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import controlled_twin, simulated_controller
from slipfit.errors import DriveError
from slipfit.hardware import Controller, DrivePlan, Ending, Settings, drive, roboteq, timeouts
from slipfit.hardware.timeouts import ANSWER_S, READ_S
from slipfit.signals import Asked
from virtual_link import VirtualPort

BAUD = 115200

#: From this moment on (s) a controller is late or silent.
TROUBLE_S = 1.0

ZEROS = {"!A00", "!B00"}


def plan(duration_s=4.0):
    return DrivePlan("p.csv", np.array([0.0, duration_s]), np.array([0.3, 0.3]), np.zeros(2))


def once(late_s, kind="!A"):
    """Late with the answer to the first line of a kind that is sent after `TROUBLE_S`, copies of it included."""
    begun = []

    def late(line, now_s):
        if line.startswith(kind) and now_s >= TROUBLE_S:
            begun.append(now_s)
        return late_s - (now_s - begun[0]) if begun and line.startswith(kind) and now_s < begun[0] + late_s else 0.0

    return late


def driven(late_s, asked=None, far=None, **settings):
    far = far or simulated_controller()
    port = VirtualPort(far, late_s=late_s)
    with port:
        return far, port, drive(plan(), controlled_twin(), port, Settings(baud=BAUD, **settings), asked)


def lines(port, since_s=0.0):
    return [(at_s, line) for at_s, text in port.sent if at_s >= since_s for line in text.decode().split()]


@pytest.mark.parametrize("late_s", [0.15, 0.5, 0.95])
def test_an_answer_before_the_watchdogs_time_is_late(late_s):
    """The drive goes on to the end of the plan, no watchdog stops it, and the record has count and longest delay."""
    far, port, done = driven(once(late_s))
    assert done.ending is Ending.FINISHED
    assert done.problem == ""
    assert (done.late_answers, done.longest_answer_s) == (1, pytest.approx(late_s, abs=1e-6))
    assert far.watchdog_times_s == []
    assert any(line == "!A18" for at_s, line in lines(port, TROUBLE_S + late_s))  # it drives on
    assert done.to_document()["late_answers"] == 1
    assert done.to_document()["longest_answer_s"] == pytest.approx(late_s, abs=1e-6)
    assert f"1 late (more than 0.1 s), the longest after {late_s:.3f} s" in done.summary()
    assert f"late answers (more than 0.1 s): 1, the longest {late_s:.3f} s" in done.log.notes


def test_without_trouble_nothing_is_late():
    _, _, done = driven(lambda line, now_s: 0.0)
    assert (done.late_answers, done.repeated, done.left_out) == (0, 0, 0)
    assert "none late (more than 0.1 s)" in done.summary()


def test_many_late_answers_are_counted():
    """Every answer 0.3 s late: a drive all the same, if a slow one."""
    _, _, done = driven(lambda line, now_s: 0.3 if now_s >= TROUBLE_S else 0.0)
    assert done.ending is Ending.FINISHED
    assert done.late_answers >= 5
    assert done.longest_answer_s >= 0.3


def test_silence_beyond_the_watchdogs_time_stops_the_drive():
    """Answers are lost, commands arrive: zeros go out when the second is over, and reach the motors."""
    far, port, done = driven(lambda line, now_s: None if now_s >= TROUBLE_S else 0.0)
    assert done.ending is Ending.FAILED
    assert "no answer to '!A18' within 1 s, sent 3 times" in done.problem
    assert not done.is_stop_acknowledged
    unanswered_s = next(at_s for at_s, line in lines(port, TROUBLE_S))
    after = [(at_s, line) for at_s, line in lines(port, unanswered_s) if at_s > unanswered_s + 2 * ANSWER_S + 1e-6]
    assert after[0][0] == pytest.approx(unanswered_s + roboteq.WATCHDOG_S, abs=READ_S)
    assert {line for _, line in after} == ZEROS
    assert far.channels == [0, 0]
    assert not far.motors.speeds_radps[-1].any()
    assert "the last setpoints were not acknowledged" in done.log.notes


def test_a_controller_that_hears_nothing_either_stops_itself():
    """Cut in both directions: after the last character that arrived its own watchdog has a second."""
    far = simulated_controller()
    hear = far.receive
    far.receive = lambda characters, now_s: hear(characters, now_s) if now_s < TROUBLE_S else b""
    far, _, done = driven(lambda line, now_s: 0.0, far=far)
    assert done.ending is Ending.FAILED
    assert done.problem
    assert not done.is_stop_acknowledged
    assert len(far.watchdog_times_s) == 1
    assert TROUBLE_S < far.watchdog_times_s[0] <= TROUBLE_S + roboteq.WATCHDOG_S
    assert not far.motors.speeds_radps[-1].any()


@pytest.mark.parametrize("late_s", [1.05, 1.5])
def test_answers_after_the_watchdogs_time_do_not_resume_the_drive(late_s):
    far, port, done = driven(once(late_s))
    assert done.ending is Ending.FAILED
    assert "no answer to '!A18' within 1 s" in done.problem
    stopped_s = next(at_s for at_s, line in lines(port, TROUBLE_S) if line in ZEROS)
    assert {line for _, line in lines(port, stopped_s)} <= {*ZEROS, "?Q0", "?Q1"}
    assert far.channels == [0, 0]
    assert done.is_stop_acknowledged  # by the late controller


def test_a_controller_that_was_lost_takes_no_more_setpoints():
    """Neither from `drive` nor from a caller of `Controller`: late answers do not bring it back."""
    port = VirtualPort(simulated_controller(), late_s=once(1.2))
    with Controller(port, clock=port.clock) as controller:
        port.clock.sleep(TROUBLE_S - port.clock.now_s())
        controller.command(2, 0)
        with pytest.raises(DriveError, match="no answer to '!A14'"):
            controller.tell(20, 0)
        port.clock.sleep(0.5)
        assert controller.stop()
        sent = len(port.sent)
        with pytest.raises(DriveError, match="no answer to '!A14'"):
            controller.tell(20, 0)
        assert len(port.sent) == sent


def test_a_host_that_stood_still_does_not_drive_on():
    """The clock jumps by 1.4 s between two commands: the watchdog has stopped the robot, zero is all that is sent."""
    far = simulated_controller()
    port = VirtualPort(far)
    sleep, stalls = port.clock.sleep, iter([1.4])
    port.clock.sleep = lambda s: sleep(next(stalls, s) if port.now_s > TROUBLE_S else s)
    done = drive(plan(), controlled_twin(), port, Settings(baud=BAUD))
    assert done.ending is Ending.FAILED
    assert "nothing was sent for 1.4 s, the computer stood still" in done.problem
    assert {line for _, line in lines(port, TROUBLE_S + 1.3)} == {*ZEROS, "?Q0", "?Q1"}
    assert far.channels == [0, 0]


def test_a_bark_in_mid_drive_ends_it():
    """W between two commands: the watchdog stopped the motors, whatever our own clock says."""
    far = simulated_controller()
    hear, barks = far.receive, iter([b"W\r"])
    far.receive = lambda text, now_s: (next(barks, b"") if len(far.told_values) > 20 else b"") + hear(text, now_s)
    far, _, done = driven(lambda line, now_s: 0.0, far=far)
    assert done.ending is Ending.FAILED
    assert "the controller says W" in done.problem
    assert done.is_stop_acknowledged
    assert far.channels == [0, 0]
    assert len(far.told_values) < 30


class TestWhoseAnswerItIs:
    """The n-th line that arrives is answered with the number n, so that every answer says which line it belongs to."""

    def numbered(self, late_s):
        arrived = 0

        def receive(line, now_s):
            nonlocal arrived
            if not line.startswith(b"?"):
                return line + b"+\r"
            arrived += 1
            return line + roboteq.counter_text(arrived).encode() + b"\r"

        return VirtualPort(SimpleNamespace(receive=receive, wait=lambda now_s: b""), late_s=late_s)

    def test_a_late_counter_is_not_the_next_ones(self):
        """?Q0 is sent three times and answered late with 1, 2, 3; ?Q1 gets its own 4, and the next reading 5 and 6."""
        port = self.numbered(lambda line, now_s: max(0.0, 0.5 - now_s) if line == "?Q0" else 0.0)
        with Controller(port, clock=port.clock) as controller:
            assert controller.counters() == (1, 4)
            assert controller.link.repeated == 2
            assert controller.counters() == (5, 6)

    def test_an_older_copy_of_the_same_line_does_not_acknowledge_a_new_one(self):
        """The same command twice; the first came three times, with three late answers. The second waits for its own."""
        port = self.numbered(lambda line, now_s: (0.25 if now_s < 2.3 else 0.08) if line == "!A05" else 0.0)
        with Controller(port, clock=port.clock) as controller:
            port.clock.sleep(2.0 - port.clock.now_s())
            controller.command(1, 5)
            assert port.clock.now_s() == pytest.approx(2.25)
            controller.command(1, 5)
            second_s = [at_s for at_s, text in port.sent if text == b"!A05\r"][3]
            assert port.clock.now_s() >= second_s + 0.08

    def test_a_late_reading_is_not_logged(self):
        """It may be of any moment between question and answer."""
        _, _, usual = driven(lambda line, now_s: 0.0)
        _, _, done = driven(once(0.5, kind="?Q0"))
        assert (usual.late_readings, done.late_readings) == (0, 1)
        stamps_s = (done.log["counters"].stamps_ns - done.log["counters"].stamps_ns[0]) * 1e-9
        assert np.diff(stamps_s).max() == pytest.approx(0.5, abs=0.05)
        rolled = done.log["counters"].values[-1] - done.log["counters"].values[0]
        assert rolled == pytest.approx(usual.log["counters"].values[-1] - usual.log["counters"].values[0], rel=0.01)


@pytest.mark.parametrize("how", ["signal", "file"])
def test_who_asks_to_end_does_not_wait_for_a_late_answer(how, tmp_path):
    asked, file = Asked(), tmp_path / "stop"
    port = VirtualPort(simulated_controller(), late_s=once(0.9))
    port.clock.at(1.4, (lambda: setattr(asked, "first", "SIGINT")) if how == "signal" else file.touch)
    done = drive(plan(), controlled_twin(), port, Settings(baud=BAUD, stop_file=file), asked)
    assert done.ending is (Ending.INTERRUPTED if how == "signal" else Ending.STOP_FILE)
    stopped_s = next(at_s for at_s, line in lines(port, TROUBLE_S) if line in ZEROS)
    assert 1.4 <= stopped_s <= 1.4 + READ_S
    assert done.is_stop_acknowledged
    assert done.problem == ""


def test_the_table_of_timeouts_is_current():
    """docs/reference/roboteq.md names every constant of `timeouts` and the watchdog, with its value."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "roboteq.md").read_text(encoding="utf-8")
    shown = {name: float(value) for name, value in re.findall(r"(?m)^\| `(\w+)` \| ([\d.]+)", page)}
    constants = {name: value for name, value in vars(timeouts).items() if name.isupper()}
    assert shown == {**constants, "WATCHDOG_S": roboteq.WATCHDOG_S}
