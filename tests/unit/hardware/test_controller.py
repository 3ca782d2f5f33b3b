"""Order, loss, garbage, refusals, a second process, a port that vanishes. What is about time runs in virtual time."""

import os
import subprocess
import sys
import termios
from types import SimpleNamespace

import pytest

from controllers import simulated_controller
from patience import HANG_S
from slipfit.errors import DriveError
from slipfit.hardware import Controller, SimulatedPort, open_port
from virtual_link import HandClock, PatientClock, VirtualPort

BAUD = 115200


def on_a_terminal(port, **options):
    """A controller behind the operating system's serial stack; however busy the machine is, nothing is late."""
    return Controller(open_port(port.path, baud=BAUD), clock=PatientClock(), **options)


def virtual(answer):
    """A port in virtual time whose far end answers with `answer(line)`."""
    return VirtualPort(SimpleNamespace(receive=lambda line, now_s: answer(line), wait=lambda now_s: b""))


def talking_to(port):
    return Controller(port, clock=port.clock)


@pytest.mark.parametrize("count", [3_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_commands_arrive_in_order_and_none_is_lost(count):
    """Issue 5. The million is benchmarks/serial_link.py."""
    far = simulated_controller()
    wanted = [(1 + k % 2, (37 * k) % 255 - 127) for k in range(count)]
    with SimulatedPort(far, clock=PatientClock()) as port, on_a_terminal(port) as controller:
        before = len(far.told_values)
        for channel, value in wanted:
            controller.command(channel, value)
        arrived = list(zip(far.told_channels[before:], far.told_values[before:], strict=True))
        assert controller.link.repeated == 0
    assert arrived == wanted


@pytest.mark.parametrize("framing", ["7E1", "8N1"])
def test_both_framings_open(framing):
    with (
        SimulatedPort(simulated_controller(), clock=PatientClock()) as port,
        Controller(open_port(port.path, baud=9600, framing=framing), clock=PatientClock()) as controller,
    ):
        assert controller.counters() == (0, 0)


def test_leaving_sets_zero_even_after_an_error():
    far = simulated_controller()

    def fail(port):
        with on_a_terminal(port) as controller:
            controller.command(1, 100)
            raise ZeroDivisionError

    with SimulatedPort(far, clock=PatientClock()) as port:
        with pytest.raises(ZeroDivisionError):
            fail(port)
        assert far.channels == [0, 0]
        assert far.watchdog_times_s == []


def test_a_port_that_does_not_answer():
    port = virtual(lambda line: b"")
    with pytest.raises(DriveError, match=r"no answer to '!A00' within 1 s, sent 3 times"):
        talking_to(port).__enter__()


def test_a_port_that_answers_garbage():
    """And it gets zeros all the same, for the case that only the answers are broken."""
    port = virtual(lambda line: b"\xfe\x81#")
    with pytest.raises(DriveError, match=r"answers b'.*' to '!A00'; expected its echo and an answer"):
        talking_to(port).__enter__()
    assert port.sent[-1][1] == b"!A00\r!B00\r" * 3


def test_a_device_that_refuses():
    port = virtual(lambda line: line + b"-\r")
    with pytest.raises(DriveError, match=r"does not understand '!A00' \(answer '-', 3 times\)"):
        talking_to(port).__enter__()


def test_a_lost_acknowledgement_is_asked_for_again():
    """AX manual: an error means that the command was lost and is to be repeated. Every 5th answer to channel 1 is lost here."""
    far = simulated_controller()
    asked = 0

    def forgetful(line):
        nonlocal asked
        asked += line.startswith(b"!A")
        return far.receive(line, 0.0) if asked % 5 or not line.startswith(b"!A") else line

    with talking_to(virtual(forgetful)) as controller:
        for value in range(20):
            controller.command(1, value)
        assert controller.link.repeated == asked // 5
        assert controller.link.repeated >= 4
        assert far.channels[0] == 19


def test_a_lost_end_of_a_line_does_not_garble_the_next_one():
    """The echo stops in the middle of a line; its rest stands before the next echo without an end of its own."""
    pieces = iter([b"!A0", b"?Q0"])
    far = simulated_controller()
    with talking_to(virtual(lambda line: far.receive(line, 0.0))) as controller:
        whole = controller.link.port.controller.receive
        controller.link.port.controller.receive = lambda line, now_s: next(pieces, None) or whole(line, now_s)
        controller.command(1, 5)
        assert controller.counters() == (0, 0)
        assert controller.link.repeated == 2  # two pieces came to the command


def test_answers_of_older_questions_do_not_count():
    """A stale + before the echo is not this command's; after the echo of a copy it is that copy's, if late."""
    calls = 0

    def stale(line):
        nonlocal calls
        calls += line.startswith(b"!")
        return b"+\r" + line if calls <= 2 else b"+\r" + line + b"+\r"

    with talking_to(virtual(stale)) as controller:
        assert controller.link.repeated == 1


def test_an_answer_that_came_in_time_is_not_asked_for_again(monkeypatch):
    """A machine too busy to look before the time is over: found by a million commands under load, one of which came twice."""
    far = simulated_controller()
    port = VirtualPort(far)
    with talking_to(port) as controller:
        write = port.write
        monkeypatch.setattr(port, "write", lambda line: (write(line), port.clock.sleep(0.5)))
        controller.command(1, 5)
        assert controller.link.repeated == 0
        assert list(far.told_values) == [0, 0, 5]
        monkeypatch.undo()


def test_answers_without_ends_and_barks_between():
    """The manual does not say whether + is followed by a carriage return; a W may come at any time."""
    far = simulated_controller()
    with talking_to(virtual(lambda line: b"W\r" + far.receive(line, 0.0).replace(b"+\r", b"+"))) as controller:
        controller.command(1, 5)
        controller.command(2, -5)
        assert controller.counters() == (0, 0)
        assert controller.link.repeated == 0
        assert controller.link.watchdog_stops > 0
    assert list(far.told_values) == [0, 0, 5, -5, 0, 0]


def test_a_second_process_finds_the_port_taken():
    script = """
import sys
from slipfit.hardware import open_port
from slipfit.errors import DriveError
try:
    open_port(sys.argv[1], baud=115200)
except DriveError as error:
    print(error)
"""
    with SimulatedPort(simulated_controller(), clock=PatientClock()) as port, on_a_terminal(port):
        done = subprocess.run(
            [sys.executable, "-c", script, port.path],
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG_S,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert "is used by another process" in done.stdout


@pytest.mark.parametrize("path", ["/dev/there_is_none", "/dev/null"])
def test_what_is_no_port(path):
    with pytest.raises(DriveError, match=r"there is no such port|cannot be opened"):
        open_port(path, baud=BAUD)


def test_a_port_that_vanishes():
    with SimulatedPort(simulated_controller(), clock=PatientClock()) as port, on_a_terminal(port) as controller:
        controller.command(1, 20)
        port.unplug()
        with pytest.raises(DriveError, match="the port vanished"):
            controller.command(1, 20)


def test_errors_of_termios_are_those_of_a_port(monkeypatch):
    """pyserial's flush raises termios.error, which is no OSError."""

    def fail(*_):
        raise termios.error(5, "Input/output error")

    answers = True
    far = simulated_controller()
    port = virtual(lambda line: far.receive(line, 0.0) if answers else b"")
    with talking_to(port) as controller:
        monkeypatch.setattr(port, "flush", fail)
        answers = False  # so that zeros are sent once more, and flushed
        assert not controller.stop()
        monkeypatch.setattr(port, "write", fail)
        with pytest.raises(DriveError, match=r"the port vanished \(Input/output error\)"):
            controller.command(1, 5)


def test_what_goes_out_is_noted():
    """Zeros on entering and leaving as well; half a pair keeps the other channel's last value."""
    noted = []
    port = VirtualPort(simulated_controller(), late_s=lambda line, now_s: None if line == "!B07" else 0.0)
    with Controller(port, clock=port.clock, note=lambda at_s, channels: noted.append(channels)) as controller:
        controller.tell(20, -5)
        with pytest.raises(DriveError, match="to '!B07'"):
            controller.tell(30, 7)
        port.unplug()
        with pytest.raises(DriveError):
            controller.tell(40, 40)  # never went out
    assert noted == [(0, 0), (20, -5), (30, 7)]


def test_closing_the_port_stops_the_robot_within_the_watchdogs_time():
    """Issue 5: a driver that dies without a word; the watchdog has a second, by the controller's clock."""
    far, clock = simulated_controller(), HandClock()
    with SimulatedPort(far, clock=clock) as port:
        controller = on_a_terminal(port).__enter__()
        controller.command(1, 100)
        clock.advance(0.5)
        controller.link.port.close()
        assert far.motors.speeds_radps[-1, 0] > 0.0
        assert far.watchdog_times_s == []
        clock.advance(0.6)
    speeds = far.motors.speeds_radps[:, 0]
    assert far.watchdog_times_s == [1.0]  # the last command came at zero
    assert speeds[:999].all()
    assert not speeds[1002:].any()
