"""Who tells the wheels what to do: a table of commands, or somebody who sees where the robot is and answers.

A vehicle asks its driver every `hold` steps. What a driver keeps in mind is a few numbers per run, its notes; the first three
mean the same for every driver and are recorded (`NOTE_COLUMNS`).
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels import Shared, alike, chosen_by_type

#: Number of the waypoint that is steered for, distance from the leg to it (m, positive to its left), and when the last one was
#: reached (s; NEVER until then).
NOTE_COLUMNS = ("waypoint", "cross_track_m", "arrived_at_s")
WAYPOINT, CROSS_TRACK, ARRIVED_AT = 0, 1, 2
NEVER = -1.0


class Seen(NamedTuple):
    """What a driver sees of the robot's origin (docs/conventions), exactly and at once."""

    time: float  # s
    x: float  # m
    y: float
    heading: float  # rad
    u: float  # m/s ahead
    v: float  # m/s to the left
    yaw_rate: float  # rad/s


class Table(NamedTuple):
    """Commands that were written down beforehand; where runs start differently, the first rows for each run by itself.

    One type for both, so that a batch with starts of its own runs in the kernel that drives all others."""

    own: Any  # a table per run (rows x wheels): the first rows, which may be none
    commands: Any  # Shared (all rows x wheels): the rows after them


def table_for_all(commands: np.ndarray, n: int) -> Table:
    """Commands (rows, wheels) that all n runs are told alike."""
    return Table(np.empty((n, 0)), Shared(commands.ravel()))


@chosen_by_type
def note_count(driver):
    """How many numbers a driver keeps for each run, at least those of NOTE_COLUMNS."""
    return len(NOTE_COLUMNS)


@chosen_by_type
def get_ready(driver, notes, seen):
    """Fill the notes at the start of a run."""
    notes[ARRIVED_AT] = alike(NEVER, seen.x)


@chosen_by_type
def tell(driver, notes, seen, turn, period_s, side_m, command):
    """Fill `command` with what each wheel is told from now on.

    turn      how often the driver has been asked before, an integer
    period_s  time until it is asked again
    side_m    where each wheel is, m to the left: left wheels have y > 0
    """
    raise NotImplementedError("a driver registers how it tells")


@tell.of(Table)
def _(driver, notes, seen, turn, period_s, side_m, command):
    count = len(side_m)
    for n in range(count):
        if turn * count + n < len(driver.own):
            command[n] = driver.own[turn * count + n]
        else:
            command[n] = alike(driver.commands.array[turn * count + n], seen.x)
