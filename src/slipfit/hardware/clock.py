"""The time that a drive goes by: the machine's own, or one that is passed in, so that a drive can run in virtual time."""

import time
from typing import Protocol


class Clock(Protocol):
    """What a drive needs to know of time."""

    def now_s(self) -> float:
        """Seconds since some moment; never set back."""

    def sleep(self, duration_s: float) -> None:
        """Return this much later."""

    def wall_ns(self) -> int:
        """Time of day, for stamps (ns since 1970)."""


class SystemClock:
    """The machine's clocks."""

    def now_s(self) -> float:
        return time.monotonic()

    def sleep(self, duration_s: float) -> None:
        time.sleep(duration_s)

    def wall_ns(self) -> int:
        return time.time_ns()


SYSTEM_CLOCK = SystemClock()
