"""Clocks and ports that no load of the machine reaches: virtual time, and real pseudo-terminals whose time is moved by hand.

Nothing in tests of the serial driver may depend on how fast the machine is:

- `VirtualPort` has no operating system in it. Time passes only where driver or controller wait, and a test says how late each
  answer comes.
- `PatientClock` is for drives through a real pseudo-terminal. Sleeping takes no time, and whatever the machine needs counts
  1/1000: the watchdog's second is a quarter of an hour, no part of any claim.
- `HandClock` stands still until a test moves it.
"""

import contextlib
import heapq
import itertools
import threading
import time
from types import SimpleNamespace

from patience import HANG_S
from slipfit.hardware.roboteq import END
from slipfit.hardware.simulated import BITS_PER_CHARACTER
from slipfit.hardware.timeouts import READ_S

#: Time of day at which virtual clocks begin (ns since 1970).
BEGIN_NS = 1_600_000_000_000_000_000

#: No real sleep is shorter; without it a rest of 1e-17 s would never be over.
SHORTEST_S = 1e-6


class VirtualClock:
    """Time that passes where somebody waits, and what happens at given moments of it."""

    def __init__(self):
        self._now_s = 0.0
        self._due = []
        self._order = itertools.count()

    def now_s(self):
        return self._now_s

    def wall_ns(self):
        return BEGIN_NS + round(self._now_s * 1e9)

    def sleep(self, duration_s):
        self.advance(self._now_s + max(duration_s, SHORTEST_S))

    def at(self, when_s, happens):
        """Have something happen."""
        heapq.heappush(self._due, (when_s, next(self._order), happens))

    @property
    def next_s(self):
        return self._due[0][0] if self._due else float("inf")

    def advance(self, to_s):
        while self._due and self._due[0][0] <= to_s:
            when_s, _, happens = heapq.heappop(self._due)
            self._now_s = max(self._now_s, when_s)
            happens()
        self._now_s = max(self._now_s, to_s)


class VirtualPort:
    """A simulated controller at the end of a line in virtual time; stands where a `SimulatedPort` or a serial port does.

    `late_s(line, now_s)` is how much later than at once the controller answers a line; None for never.
    """

    baudrate, bytesize, parity, stopbits = 115200, 7, "E", 1

    def __init__(self, controller, *, baud=None, clock=None, late_s=lambda line, now_s: 0.0):
        self.controller, self.baud, self.late_s = controller, baud, late_s
        self.clock = clock or VirtualClock()
        self.name = self.path = self.port = "virtual"
        self.sent = []  # when and what the driver wrote
        self.is_plugged = True
        self._arrived = bytearray()
        self._replied_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.controller.wait(self.now_s)

    @property
    def now_s(self):
        return self.clock.now_s()

    def unplug(self):
        self.is_plugged = False

    # --- what a Port does ---------------------------------------------------------------------------------------------

    def open(self, *, baud=115200, framing="7E1"):
        return self

    # --- what pyserial does -------------------------------------------------------------------------------------------

    @property
    def in_waiting(self):
        self._look()
        return len(self._arrived)

    def write(self, characters):
        self._look()
        self.sent.append((self.now_s, bytes(characters)))
        self.clock.at(self.now_s + self._wire_s(characters), lambda: self._receive(bytes(characters)))
        self.clock.advance(self.now_s)

    def read(self, size=1):
        until_s = self.now_s + READ_S
        while not self.in_waiting and self.now_s < until_s:
            self.clock.advance(min(self.clock.next_s, until_s))
        got = bytes(self._arrived[:size])
        del self._arrived[:size]
        return got

    def reset_input_buffer(self):
        self._arrived.clear()

    def flush(self):
        pass

    def close(self):
        pass

    def _wire_s(self, characters):
        return len(characters) * BITS_PER_CHARACTER / self.baud if self.baud else 0.0

    def _look(self):
        if not self.is_plugged:
            raise OSError(5, "Input/output error")
        self._arrived += self.controller.wait(self.now_s)

    def _receive(self, characters):
        """Line by line, and answers stay in order: a late one holds up those after it, as on a wire."""
        for line in characters.splitlines(keepends=True) if characters.strip(END) else [characters]:
            reply = self.controller.receive(line, self.now_s)
            late_s = self.late_s(line.strip().decode(), self.now_s)
            if late_s is not None:
                self._replied_s = max(self._replied_s, self.now_s + late_s) + self._wire_s(reply[len(line) :])
                self.clock.at(self._replied_s, lambda reply=reply: self._arrived.extend(reply))


class PatientClock:
    """Sleeping takes no time, unless `is_real`; what the machine needs for the rest counts 1/1000."""

    SLOWNESS = 1000.0

    def __init__(self, *, is_real=False):
        self.is_real = is_real
        self._slept_s = self._really_slept_s = 0.0
        self._began_s = time.monotonic()
        self._lock = threading.Lock()

    def now_s(self):
        with self._lock:
            return self._slept_s + (time.monotonic() - self._began_s - self._really_slept_s) / self.SLOWNESS

    def wall_ns(self):
        return BEGIN_NS + round(self.now_s() * 1e9)

    def sleep(self, duration_s):
        began_s = time.monotonic()
        time.sleep(duration_s if self.is_real else 0.0)
        with self._lock:
            self._slept_s += duration_s
            self._really_slept_s += time.monotonic() - began_s


class HandClock:
    """Stands still until it is moved; knows how often it was looked at."""

    def __init__(self):
        self._now_s, self._looks = 0.0, 0
        self._changed = threading.Condition()

    def now_s(self):
        with self._changed:
            self._looks += 1
            self._changed.notify_all()
            return self._now_s

    def wall_ns(self):
        return BEGIN_NS + round(self.now_s() * 1e9)

    def sleep(self, duration_s):
        pass

    def advance(self, by_s):
        """Later, and whoever looks at the clock in rounds has been round with it."""
        with self._changed:
            self._now_s += by_s
        self.settle()

    def settle(self):
        """Until a thread that reads its port and then looks at the clock has done so from the beginning to the end."""
        with self._changed:
            enough = self._looks + 3
            assert self._changed.wait_for(lambda: self._looks >= enough, HANG_S), "nobody looks at the clock"


@contextlib.contextmanager
def counted(controller, happens, at):
    """Something happens when the controller understands its so many-th command."""
    obey = controller._obey

    def obeying(line, now_s):
        answer = obey(line, now_s)
        if len(controller.told_values) == at and line.startswith("!"):
            happens()
        return answer

    controller._obey = obeying
    yield SimpleNamespace(controller=controller)
    controller._obey = obey
