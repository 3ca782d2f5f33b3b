"""Requests to end from outside: Ctrl-C, SIGTERM and a closed terminal (SIGHUP), noted instead of tearing work apart.

Imports next to nothing, so that a command can note them before its heavy imports.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: Signals that ask to end; Windows has no SIGHUP.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

#: Exit code after Ctrl-C, as shells have it.
STOPPED = 130


class Asked:
    """What was asked for: the name of the first signal, empty while there was none. Later ones change nothing."""

    __slots__ = ("first",)

    def __init__(self, first: str = "") -> None:
        self.first = first


@contextlib.contextmanager
def noted() -> Iterator[Asked]:
    """Within this block signals are noted, nothing else. In another thread than the main one none arrive."""
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def note(number: int, frame: FrameType | None) -> None:
        asked.first = asked.first or signal.Signals(number).name

    before = {number: signal.signal(number, note) for name in NAMES if (number := getattr(signal, name, None)) is not None}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
