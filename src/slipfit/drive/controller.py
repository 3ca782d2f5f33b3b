"""A motor controller on a serial port: one question at a time, each answered before the next; zero on every way out."""

import contextlib
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from slipfit.drive import roboteq
from slipfit.errors import DriveError

if TYPE_CHECKING:
    import serial

try:
    from termios import error as _TerminalError
except ImportError:  # Windows
    _TerminalError = OSError  # type: ignore[assignment, misc]

#: What the serial stack raises for a port in trouble. pyserial lets errors of termios through, which are no OSErrors.
_PORT_ERRORS = (OSError, _TerminalError)

#: An answer takes this long at most (s), and a line is sent so many times; together well below the watchdog's second.
ANSWER_S, ATTEMPTS = 0.1, 3

#: After waking a controller up, what it says is let go by until it is silent for this long (s), or for this long in all.
QUIET_S, SETTLE_S = 0.05, 0.5

#: Errors of the operating system on opening a port, by number.
_BUSY, _MISSING, _FORBIDDEN = (11, 16), (2, 6), (1, 13)


def open_port(port: str, *, baud: int, framing: str = "7E1", answer_s: float = ANSWER_S) -> "serial.Serial":
    """A serial port for us alone; a second process finds it taken."""
    try:
        import serial
    except ImportError:
        raise DriveError("pyserial is not installed; install it with: pip install 'slipfit[drive]'") from None
    check_framing(framing)
    try:
        return serial.Serial(
            port,
            baudrate=baud,
            bytesize=int(framing[0]),
            parity=framing[1],
            stopbits=int(framing[2]),
            timeout=answer_s,
            write_timeout=answer_s,
            exclusive=True,
        )
    except (*_PORT_ERRORS, ValueError) as error:  # SerialException is an OSError
        raise DriveError(f"{port}: {_why_not_open(error)}") from None


def check_framing(framing: str) -> None:
    """Refuse what a Roboteq does not speak."""
    if framing not in ("7E1", "8N1"):
        raise DriveError(f"framing is '{framing}'; expected 7E1 (Roboteq AX) or 8N1")


def _why_not_open(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number in _BUSY:
        return "is used by another process; end that one first"
    if number in _MISSING:
        return "there is no such port; plug the controller in, or give another (sim for a simulated one)"
    if number in _FORBIDDEN:
        return "may not be opened by this user; on Linux add them to the group dialout"
    return f"cannot be opened ({_reason(error)}); expected a serial port"


def _reason(error: Exception) -> str:
    """What the operating system says; an error of termios is a number and its text."""
    text = str(error.args[-1] if error.args and not isinstance(error, OSError) else error)
    return (text.splitlines() or [type(error).__name__])[0]


class Controller:
    """A Roboteq AX on an open port. Use it in a `with` block: leaving it sets both channels to zero and closes the port.

    `note` hears of every pair of channel values that went out, zeros included, acknowledged or not: when (monotonic, s) and what.
    """

    def __init__(
        self,
        port: "serial.Serial",
        *,
        answer_s: float = ANSWER_S,
        attempts: int = ATTEMPTS,
        note: Callable[[float, tuple[int, int]], None] | None = None,
    ) -> None:
        self.port, self.name, self.note = port, str(port.port), note
        self.answer_s, self.attempts = answer_s, attempts
        self.acknowledged = self.repeated = self.watchdog_stops = 0
        self._buffer = bytearray()
        self._heard = bytearray()
        self._counters = [0, 0]
        self._channels = [0, 0]
        self._commands_out = self._stops_before = 0
        self._spoke_s = time.monotonic()
        self._is_gone = self._is_lost = self._was_stopped = False

    def __enter__(self) -> Self:
        try:
            self._wake_up()
            with self._noting():
                self.command(1, 0)
                self.command(2, 0)
            self._stops_before = self.watchdog_stops  # a controller that nobody talked to barks, and rightly so
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def tell(self, first: int, second: int) -> None:
        """Set both channels in mid-drive; returns when the controller has acknowledged them and its watchdog kept quiet."""
        with self._noting():
            for channel, value in ((1, first), (2, second)):
                self.check_watchdog()
                self.command(channel, value)
        self.check_watchdog()

    def command(self, channel: int, value: int) -> None:
        """Set a channel; returns when the controller has acknowledged it."""
        self._was_stopped = False
        line, asked_before = roboteq.command(channel, value), self._commands_out
        try:
            self._ask(line)
            self.acknowledged += 1
        finally:
            if self._commands_out > asked_before:
                self._channels[channel - 1] = value

    def check_watchdog(self) -> None:
        """Refuse to go on after the watchdog stopped the motors, or must have: a robot that stands does not start by itself."""
        silent_s = time.monotonic() - self._spoke_s
        if silent_s >= roboteq.WATCHDOG_S:
            raise DriveError(
                f"{self.name}: nothing was sent for {silent_s:.1f} s, the computer stood still; after {roboteq.WATCHDOG_S:g} s "
                f"the controller's watchdog stops the motors, and a robot that stands is not set moving again"
            )
        if self.watchdog_stops > self._stops_before:
            raise DriveError(
                f"{self.name}: the controller says W, its watchdog stopped the motors in mid-drive; expected no gap of "
                f"{roboteq.WATCHDOG_S:g} s between commands: check the link and the load of the computer"
            )

    def counters(self) -> tuple[int, int]:
        """Counters of encoders 1 and 2, which go on beyond 32 bits."""
        for k in (0, 1):
            reading = roboteq.counter_value(self._ask(roboteq.counter_query(k + 1)))
            assert reading is not None
            self._counters[k] = roboteq.unwrapped(self._counters[k], reading)
        return self._counters[0], self._counters[1]

    def stop(self) -> bool:
        """Both channels to zero, whatever happened before; whether the controller said that it heard."""
        heard = True
        with self._noting():
            for channel in (1, 2):
                try:
                    self.command(channel, 0)
                except DriveError:
                    heard = False
        if not heard and not self._is_gone:  # acknowledgements are lost, commands may still arrive
            with contextlib.suppress(*_PORT_ERRORS):
                self.port.write((roboteq.command(1, 0) + roboteq.command(2, 0)) * 3)
                self.port.flush()
        self._was_stopped = True
        return heard

    # --- below the questions ------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        if not self._was_stopped:
            self.stop()
        with contextlib.suppress(*_PORT_ERRORS):
            self.port.close()

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        """What goes out within this block is noted, with the time of its beginning."""
        begin_s, out_before = time.monotonic(), self._commands_out
        try:
            yield
        finally:
            if self.note and self._commands_out > out_before:
                self.note(begin_s, (self._channels[0], self._channels[1]))

    def _wake_up(self) -> None:
        """Into RS232 mode, and past whatever a controller says on that occasion."""
        with self._vanishing():
            self.port.write(roboteq.WAKE_UP)
            self._spoke_s = time.monotonic()
            begin = heard = time.monotonic()
            while time.monotonic() - heard < QUIET_S and time.monotonic() - begin < SETTLE_S:
                if self.port.in_waiting:
                    self._heard += self.port.read(self.port.in_waiting)
                    heard = time.monotonic()
                time.sleep(0.005)
            self.port.reset_input_buffer()

    def _ask(self, line: bytes) -> str:
        """Send a line until it is answered: what the controller said after its echo. On a link that was lost once only: each
        character that arrives keeps the watchdog from stopping the motors."""
        self._heard.clear()
        refused = False
        for attempt in range(1 if self._is_lost else self.attempts):
            with self._vanishing():
                if attempt:
                    self.repeated += 1
                    self._buffer.clear()
                    self.port.reset_input_buffer()
                self.port.write(line)
                self._spoke_s = time.monotonic()
                self._commands_out += line.startswith(b"!")
                answer = self._answer(line)
            if answer is not None and answer != roboteq.NOT_UNDERSTOOD:
                return answer
            refused = answer == roboteq.NOT_UNDERSTOOD
        self._is_lost = True
        raise DriveError(f"{self.name}: {self._complaint(line, refused)}")

    def _complaint(self, line: bytes, refused: bool) -> str:
        asked = line.decode("ascii").strip()
        if refused:
            return f"the controller does not understand '{asked}' (answer '-', {self.attempts} times); expected a Roboteq AX"
        settings = f"{self.port.baudrate} baud {self.port.bytesize}{self.port.parity}{self.port.stopbits:g}"
        if self._heard:
            return (
                f"answers {bytes(self._heard[:24])!r} to '{asked}'; expected its echo and an answer: check baud rate and framing "
                f"({settings}), and that a Roboteq AX is connected"
            )
        return (
            f"no answer to '{asked}' within {self.answer_s:g} s, {self.attempts} times; expected its echo and an answer: is the "
            f"controller on, in RS232 mode, and at {settings}?"
        )

    def _answer(self, line: bytes) -> str | None:
        """The first word after the echo of this line that answers it. What comes before belongs to older questions."""
        echo = line.decode("ascii").strip()
        is_query = echo.startswith("?")
        echoed, deadline = False, time.monotonic() + self.answer_s
        while (word := self._word(deadline)) is not None:
            if word == roboteq.STOPPED_BY_WATCHDOG:
                self.watchdog_stops += 1
            elif word == echo:
                echoed = True
            elif echoed and (word == roboteq.NOT_UNDERSTOOD or self._fits(word, is_query)):
                return word
        return None

    @staticmethod
    def _fits(word: str, is_query: bool) -> bool:
        """Whether a word is the answer to a query, or to a command."""
        return roboteq.counter_value(word) is not None if is_query else word == roboteq.DONE

    def _word(self, deadline: float) -> str | None:
        """The next word. +, - and W are whole by themselves; others end with a carriage return. None after the deadline."""
        while True:
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip(b"\r\n"))]
            if bytes(self._buffer[:1]) in (b"+", b"-", b"W"):
                return chr(self._buffer.pop(0))
            end = self._buffer.find(roboteq.END)
            if end >= 0:
                word = self._buffer[:end].decode("ascii", "replace")
                del self._buffer[: end + 1]
                return word
            if time.monotonic() > deadline and not self.port.in_waiting:  # a busy machine may look late at what came in time
                return None
            got = self.port.read(1)
            got += self.port.read(self.port.in_waiting) if got else b""
            self._buffer += got
            self._heard += got[: max(0, 64 - len(self._heard))]

    @contextlib.contextmanager
    def _vanishing(self) -> Iterator[None]:
        """What the operating system says of a port that went away, as a sentence."""
        if self._is_gone:
            raise DriveError(f"{self.name}: the port is gone")
        try:
            yield
        except _PORT_ERRORS as error:
            is_full = "timeout" in str(error).lower()
            self._is_gone = not is_full
            what = "takes no more characters" if is_full else f"the port vanished ({_reason(error)})"
            raise DriveError(f"{self.name}: {what}; check cable and supply") from None
