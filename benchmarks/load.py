"""How busy the machine is with the work of others, measured from the kernel's CPU time accounting (Linux).

The load average is no measure of that: it counts our own processes and lags by a minute. It is printed and not judged.
"""

import math
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

#: Others may use this share of the machine's CPU time: a choice, a fifth of one core of two.
BUSY = 0.10

#: How long the machine is watched before and after a script (s).
WATCH_S = 1.0

_STAT = Path("/proc/stat")


class Reading(NamedTuple):
    """Counters at one moment."""

    clock_s: float
    used_s: float  # CPU time of all cores since the machine started, time taken by the hypervisor included
    own_s: float  # CPU time of this process and of its children that have ended


def read_now() -> Reading:
    """The machine's counters; NaN where the operating system has no /proc/stat."""
    used_s = math.nan
    if _STAT.exists():
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, _STAT.read_text(encoding="utf-8").split()[1:9])
        used_s = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Reading(time.monotonic(), used_s, sum(usage.ru_utime + usage.ru_stime for usage in usages))


def share_of_others(before: Reading, after: Reading, cores: int) -> float:
    """Share of the machine's CPU time that others used between two readings. Ticks of the counters are 10 ms long, so that an
    idle or a full second may come out a little below 0 or above 1."""
    theirs_s = (after.used_s - before.used_s) - (after.own_s - before.own_s)
    share = theirs_s / (cores * (after.clock_s - before.clock_s))
    return share if math.isnan(share) else min(1.0, max(0.0, share))


class Load(NamedTuple):
    """Shares of CPU time that others used around and during a script, and the load average at its start."""

    before: float
    during: float
    after: float
    average: float

    @property
    def is_busy(self) -> bool:
        """A share that is not known does not count as quiet."""
        return not all(share <= BUSY for share in self[:3])

    def __str__(self) -> str:
        if any(map(math.isnan, self[:3])):
            return f"load average {self.average:.2f}; CPU time of others is not known on this system"
        shares = ", ".join(f"{100.0 * share:.0f} % {when}" for when, share in zip(self._fields[:3], self[:3], strict=True))
        return f"load average {self.average:.2f}; others used {shares}"


class Watch:
    """Measures the load around a piece of work. Tests pass their own counters and cores."""

    def __init__(
        self, read: Callable[[], Reading] = read_now, *, cores: int | None = None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._read, self._pause, self._cores = read, pause, cores or os.cpu_count() or 1

    def share_now(self) -> float:
        """Share of others over the next second, in which we do nothing."""
        before = self._read()
        self._pause(WATCH_S)
        return share_of_others(before, self._read(), self._cores)

    def wait_for_quiet(self, at_most_s: float) -> None:
        """Until others leave the machine alone for a second, or the time is up."""
        until_s = self._read().clock_s + at_most_s
        while self._read().clock_s < until_s and self.share_now() > BUSY:
            pass

    def around(self, work: Callable[[], int]) -> tuple[int, Load]:
        """What the work returns, and the load."""
        average = os.getloadavg()[0]
        before = self.share_now()
        begin = self._read()
        code = work()
        during = share_of_others(begin, self._read(), self._cores)
        return code, Load(before, during, self.share_now(), average)
