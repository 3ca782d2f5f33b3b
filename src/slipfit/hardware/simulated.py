"""A simulated controller behind a real pseudo-terminal: the driver talks to it through the operating system's serial stack."""

import contextlib
import os
import select
import threading
from array import array
from types import TracebackType
from typing import TYPE_CHECKING, Self

from slipfit.control import Mode
from slipfit.errors import DriveError
from slipfit.hardware import roboteq
from slipfit.hardware.clock import SYSTEM_CLOCK, Clock
from slipfit.hardware.port import open_port
from slipfit.hardware.simulated_motors import Motors

if TYPE_CHECKING:
    import serial

#: The controller looks at its watchdog this often while nothing arrives (s), and for a new listener after one has left.
GLANCE_S = 0.01

#: Bits that one character takes on the wire: start, seven, parity, stop; or start, eight, stop.
BITS_PER_CHARACTER = 10


class SimulatedController:
    """What a Roboteq AX does with the characters it receives. Knows no port; time is given."""

    def __init__(self, motors: Motors, *, mode: Mode = Mode.MIXED, limits: tuple[float, float], watchdog_s: float) -> None:
        self.motors, self.mode, self.limits, self.watchdog_s = motors, mode, limits, watchdog_s
        self.channels = [0, 0]
        self.times_s, self.told_channels, self.told_values = (
            array("d"),
            array("b"),
            array("h"),
        )  # every command that was understood
        self.watchdog_times_s: list[float] = []
        self._line = bytearray()
        self._heard_s = 0.0
        self._barks = 0

    def receive(self, characters: bytes, now_s: float) -> bytes:
        """Characters arrive; what the controller sends back."""
        reply = bytearray(self.wait(now_s))
        self._heard_s, self._barks = now_s, 0
        for character in characters:
            reply.append(character)
            if character == roboteq.END[0]:
                reply += self._obey(self._line.decode("ascii", "replace"), now_s)
                self._line.clear()
            else:
                self._line.append(character)
        return bytes(reply)

    def wait(self, now_s: float) -> bytes:
        """Nothing arrives until now; the watchdog may bark."""
        reply = b""
        while now_s >= (due_s := self._heard_s + (self._barks + 1) * self.watchdog_s):
            if not self._barks:
                self.motors.advance(due_s)
                self.watchdog_times_s.append(due_s)
                self.channels = [0, 0]
                self.motors.tell(0.0, 0.0, due_s)
            self._barks += 1
            reply += roboteq.STOPPED_BY_WATCHDOG.encode("ascii") + roboteq.END
        self.motors.advance(now_s)
        return reply

    def _obey(self, line: str, now_s: float) -> bytes:
        if not line:
            return b""
        told = roboteq.read_command(line)
        if told:
            channel, value = told
            self.channels[channel - 1] = value
            self.times_s.append(now_s)
            self.told_channels.append(channel)
            self.told_values.append(value)
            self.motors.tell(*self.mode.sides(self.channels[0], self.channels[1], self.limits), now_s)
            answer = roboteq.DONE
        elif line.upper() in ("?Q0", "?Q1"):
            answer = roboteq.counter_text((self.motors.left if line[-1] == "0" else self.motors.right).count)
        else:
            answer = roboteq.NOT_UNDERSTOOD
        return answer.encode("ascii") + roboteq.END


class SimulatedPort:
    """A pseudo-terminal with a controller at its far end, alive within a `with` block: `path` is the port to open.

    `baud` makes the line as slow as a real one; without it characters take no time. `clock` is the controller's, and the
    driver's.
    """

    def __init__(self, controller: SimulatedController, *, baud: int | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self.controller, self.baud, self.clock = controller, baud, clock
        self.path = ""
        self._began_s = 0.0
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._near = -1

    def __enter__(self) -> Self:
        try:
            import pty
            import tty
        except ImportError:
            raise DriveError("the simulated port needs a pseudo-terminal, which Linux and macOS have") from None
        self._near, far = pty.openpty()
        tty.setraw(far)
        self.path = os.ttyname(far)
        os.close(far)  # so that the end of the driver shows as a hang-up
        os.set_blocking(self._near, False)
        self._began_s = self.clock.now_s()
        self._thread = threading.Thread(target=self._serve, name="simulated controller", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.unplug()

    def unplug(self) -> None:
        """The terminal closes: whoever drives finds the port gone."""
        if self._thread is None:
            return
        self._ends.set()
        self._thread.join()
        self._thread = None
        os.close(self._near)

    @property
    def now_s(self) -> float:
        """Seconds since the controller was switched on."""
        return self.clock.now_s() - self._began_s

    @property
    def name(self) -> str:
        """For messages."""
        return self.path

    def open(self, *, baud: int, framing: str) -> "serial.Serial":
        """The driver's end."""
        return open_port(self.path, baud=baud, framing=framing)

    def _serve(self) -> None:
        line_free_s = 0.0
        while not self._ends.is_set():
            characters = self._read()
            if characters is None:  # nobody has the port open
                self._ends.wait(GLANCE_S)
            if characters and self.baud:
                line_free_s = max(line_free_s, self.now_s) + len(characters) * BITS_PER_CHARACTER / self.baud
                self.clock.sleep(max(0.0, line_free_s - self.now_s))
            now_s = self.now_s
            reply = self.controller.receive(characters, now_s) if characters else self.controller.wait(now_s)
            if reply and characters is not None:
                if self.baud:  # the echo came while characters did; the answer takes its time
                    self.clock.sleep(max(0, len(reply) - len(characters or b"")) * BITS_PER_CHARACTER / self.baud)
                with contextlib.suppress(OSError):  # nobody listens, or does not read
                    os.write(self._near, reply)

    def _read(self) -> bytes | None:
        """What arrived; empty after a glance without anything, None while the far end is closed."""
        ready, _, _ = select.select([self._near], [], [], GLANCE_S)
        if not ready:
            return b""
        try:
            return os.read(self._near, 4096)
        except BlockingIOError:
            return b""
        except OSError:
            return None
