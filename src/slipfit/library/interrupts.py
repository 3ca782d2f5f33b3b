"""Ctrl-C in the middle of what must not be cut in two."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let the work inside end before Ctrl-C takes effect; also a decorator, `@undisturbed()`.

    DuckDB asks for signals of its own while it works and tells of Ctrl-C as one of three errors of its own, which nobody could
    tell from a full disk. Only the main thread hears signals; elsewhere, and where Ctrl-C is ignored, nothing changes.
    """
    usual = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(usual):
        yield
        return
    pressed: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if pressed:
            usual(*pressed[0])
