"""Waiting for what other threads and processes do, on machines of any load.

A test waits for a thing to happen, never for a time in which it should have. `HANG_S` only turns a hang into a failure: it is far
longer than anything takes next to eight busy programs on two cores, and no claim rests on it.
"""

import time

#: After so long something hangs (s).
HANG_S = 600.0


def until(condition):
    """What a condition gives as soon as it is true."""
    give_up_s = time.monotonic() + HANG_S
    while not (found := condition()):
        assert time.monotonic() < give_up_s, f"nothing happened in {HANG_S:g} s"
        time.sleep(0.005)
    return found
