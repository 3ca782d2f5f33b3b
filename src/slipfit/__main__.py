"""The way in from a shell, `slipfit` and `python -m slipfit`: Ctrl-C ends it with 130 and a sentence, from the first import on.

Imports next to nothing: while the commands are being loaded nothing is open and nothing is written, so that a signal may end the
process at once. As an exception it would surface in the middle of somebody's import, or be swallowed there.
"""

import contextlib
import gc
import os
import signal
import sys
from types import FrameType

from slipfit.signals import STOPPED


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    os.write(2, b"slipfit: stopped; no file is half written\n")
    os._exit(STOPPED)


#: Objects made between two searches for cycles, instead of Python's 700: imports make hundreds of thousands of objects that
#: stay, and looking them through again and again takes a tenth of a plain drive.
COLLECT_AFTER = 50_000


def main() -> None:
    """Load the commands and run one."""
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not where a shell has it ignored
    if is_ours:
        signal.signal(signal.SIGINT, _leave)
    from slipfit.cli import main as run

    try:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _leave()
    except SystemExit as stop:
        if stop.code != STOPPED:
            raise
        # Not by way of Python's own end: it kills itself with SIGINT if Ctrl-C hit a string that was being executed.
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(STOPPED)
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, _leave)  # while the interpreter winds up


if __name__ == "__main__":
    main()
