"""Over the real serial stack: order, loss, silence, garbage, a second process, a port that vanishes."""

import os
import pty
import termios
import threading
import time
import tty
from contextlib import contextmanager

import pytest

from controllers import simulated_controller
from slipfit.drive import Controller, SimulatedPort, open_port
from slipfit.errors import DriveError

BAUD = 115200


@contextmanager
def other_end(answer):
    """A pseudo-terminal whose far end answers with `answer(received)`."""
    near, far = pty.openpty()
    tty.setraw(far)
    ends = threading.Event()
    os.set_blocking(near, False)

    def serve():
        while not ends.is_set():
            try:
                received = os.read(near, 1024)
                reply = answer(received)
                if reply:
                    os.write(near, reply)
            except OSError:
                time.sleep(0.002)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(far)
    finally:
        ends.set()
        thread.join()
        os.close(near)
        os.close(far)


@pytest.mark.parametrize("count", [3_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_commands_arrive_in_order_and_none_is_lost(count):
    """Issue 5. The million is benchmarks/serial_link.py."""
    far = simulated_controller()
    wanted = [(1 + k % 2, (37 * k) % 255 - 127) for k in range(count)]
    with SimulatedPort(far) as port, Controller(open_port(port.path, baud=BAUD)) as controller:
        before = len(far.told_values)
        for channel, value in wanted:
            controller.command(channel, value)
        arrived = list(zip(far.told_channels[before:], far.told_values[before:], strict=True))
        assert controller.repeated == 0
    assert arrived == wanted


@pytest.mark.parametrize("framing", ["7E1", "8N1"])
def test_both_framings_open(framing):
    with (
        SimulatedPort(simulated_controller()) as port,
        Controller(open_port(port.path, baud=9600, framing=framing)) as controller,
    ):
        assert controller.counters() == (0, 0)


def test_leaving_sets_zero_even_after_an_error():
    far = simulated_controller()

    def fail(path):
        with Controller(open_port(path, baud=BAUD)) as controller:
            controller.command(1, 100)
            raise ZeroDivisionError

    with SimulatedPort(far) as port:
        with pytest.raises(ZeroDivisionError):
            fail(port.path)
        assert far.channels == [0, 0]
        assert far.watchdog_times_s == []


def test_a_port_that_does_not_answer():
    with other_end(lambda received: b"") as path, pytest.raises(DriveError, match=r"no answer to '!A00' within 0\.1 s, 3 times"):
        Controller(open_port(path, baud=BAUD)).__enter__()


def test_a_port_that_answers_garbage():
    """And it gets zeros all the same, for the case that only the answers are broken."""
    heard = bytearray()

    def garble(received):
        heard.extend(received)
        return b"\xfe\x81#"

    with other_end(garble) as path:
        with pytest.raises(DriveError, match=r"answers b'.*' to '!A00'; expected its echo and an answer"):
            Controller(open_port(path, baud=BAUD)).__enter__()
        time.sleep(0.05)  # the last characters are on their way
    assert heard.endswith(b"!A00\r!B00\r" * 3)


def test_a_device_that_refuses():
    with (
        other_end(lambda received: received + b"-\r") as path,
        pytest.raises(DriveError, match="does not understand '!A00'"),
    ):
        Controller(open_port(path, baud=BAUD)).__enter__()


def test_a_lost_acknowledgement_is_asked_for_again():
    """AX manual: an error means that the command was lost and is to be repeated. Every 5th answer is lost here."""
    far = simulated_controller()
    asked = 0

    def forgetful(received):
        nonlocal asked
        reply = far.receive(received, 0.0)
        asked += received.count(b"!A")
        return reply if asked % 5 or b"!A" not in received else received

    with other_end(forgetful) as path, Controller(open_port(path, baud=BAUD)) as controller:
        for value in range(20):
            controller.command(1, value)
        assert controller.repeated >= 3
        assert far.channels[0] == 19


def test_answers_of_older_questions_do_not_count():
    """A stale + before the echo is not this command's."""
    calls = 0

    def stale(received):
        nonlocal calls
        calls += received.count(b"!")
        return b"+\r" + received if calls <= 2 else b"+\r" + received + b"+\r"

    with other_end(stale) as path, Controller(open_port(path, baud=BAUD)) as controller:
        assert controller.repeated >= 1


def test_an_answer_that_came_in_time_is_not_asked_for_again(monkeypatch):
    """A machine too busy to look before the time is over: found by a million commands under load, one of which came twice."""
    far = simulated_controller()
    with SimulatedPort(far) as port, Controller(open_port(port.path, baud=BAUD)) as controller:
        write = controller.port.write
        monkeypatch.setattr(controller.port, "write", lambda line: (write(line), time.sleep(0.05)))
        monkeypatch.setattr(controller, "answer_s", -1.0)
        controller.command(1, 5)
        assert controller.repeated == 0
        assert far.told_values[-1] == 5


def test_answers_without_ends_and_barks_between():
    """The manual does not say whether + is followed by a carriage return; a W may come at any time."""
    far = simulated_controller()

    def terse(received):
        return b"W\r" + far.receive(received, 0.0).replace(b"+\r", b"+")

    with other_end(terse) as path, Controller(open_port(path, baud=BAUD)) as controller:
        controller.command(1, 5)
        controller.command(2, -5)
        assert controller.counters() == (0, 0)
        assert controller.repeated == 0
        assert controller.watchdog_stops > 0
    assert list(far.told_values) == [0, 0, 5, -5, 0, 0]


def test_a_second_process_finds_the_port_taken():
    with (
        SimulatedPort(simulated_controller()) as port,
        Controller(open_port(port.path, baud=BAUD)),
        pytest.raises(DriveError, match="is used by another process"),
    ):
        open_port(port.path, baud=BAUD)


@pytest.mark.parametrize("path", ["/dev/there_is_none", "/dev/null"])
def test_what_is_no_port(path):
    with pytest.raises(DriveError, match=r"there is no such port|cannot be opened"):
        open_port(path, baud=BAUD)


def test_a_port_that_vanishes():
    with SimulatedPort(simulated_controller()) as port, Controller(open_port(port.path, baud=BAUD)) as controller:
        controller.command(1, 20)
        port.unplug()
        with pytest.raises(DriveError, match="the port vanished"):
            controller.command(1, 20)


def test_errors_of_termios_are_those_of_a_port(monkeypatch):
    """pyserial's flush and reset_input_buffer raise termios.error, which is no OSError."""

    def fail(*_):
        raise termios.error(5, "Input/output error")

    with SimulatedPort(simulated_controller()) as port, Controller(open_port(port.path, baud=BAUD)) as controller:
        monkeypatch.setattr(controller, "_answer", lambda line: None)  # so that lines are repeated, and zeros flushed
        monkeypatch.setattr(controller.port, "flush", fail)
        assert not controller.stop()
        monkeypatch.setattr(controller, "_is_lost", False)
        monkeypatch.setattr(controller.port, "reset_input_buffer", fail)
        with pytest.raises(DriveError, match=r"the port vanished \(Input/output error\)"):
            controller.command(1, 5)


def test_what_goes_out_is_noted():
    """Zeros on entering and leaving as well; half a pair keeps the other channel's last value."""
    noted = []
    with (
        SimulatedPort(simulated_controller()) as port,
        Controller(open_port(port.path, baud=BAUD), note=lambda at_s, channels: noted.append(channels)) as controller,
    ):
        controller.tell(20, -5)
        answer = controller._answer
        controller._answer = lambda line: answer(line) if line.startswith(b"!A") else None
        with pytest.raises(DriveError, match="to '!B07'"):
            controller.tell(30, 7)
        controller.port.close()
        with pytest.raises(DriveError):
            controller.tell(40, 40)  # never went out
    assert noted == [(0, 0), (20, -5), (30, 7)]


def test_closing_the_port_stops_the_robot_within_the_watchdogs_time():
    """Issue 5: a driver that dies without a word; the watchdog has a second."""
    far = simulated_controller()
    with SimulatedPort(far) as port:
        controller = Controller(open_port(port.path, baud=BAUD)).__enter__()
        controller.command(1, 100)
        time.sleep(0.05)
        closed_s = port.now_s
        controller.port.close()
        time.sleep(1.15)
    speeds = far.motors.speeds_radps[:, 0]
    assert speeds[int(1000 * closed_s) - 5] > 0.0
    assert len(far.watchdog_times_s) == 1
    assert far.watchdog_times_s[0] - closed_s <= 1.0
    assert not speeds[int(1000 * (closed_s + 1.0)) + 2 :].any()
