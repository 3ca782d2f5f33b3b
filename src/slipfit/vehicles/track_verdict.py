"""How a climb ends, and how nearly it ended otherwise.

A run is watched once per control period. It has climbed when its rear axle has passed the goal; it has tipped over when it leans
more than 75 degrees, backwards if its nose points up. A robot that is told to go and gains less than `gain` (ahead and up taken
together) for `patience` seconds is held by something: by its belly if that carries most of its weight, by the soil if that does,
else its tracks slip. One whose centre of mass is below the soil's surface is stuck at once. Whoever is not done at the end of
the time has timed out.

The margin goes on where the verdict has only names. Of a climb it is the least of four shares: the slowest progress over any
window of half a second over what was told; the patience that was left when the robot gained most slowly; the lean that was left
to tipping over; the time that was left, over the patience. Of a failure it is minus the share of the way that was missing, times
how much of the last gain was missing if the robot was held. So it lies in (0, 1] for climbs and in [-1, 0) for failures. From
above it falls to zero without a jump where a robot is just held or just late; from below it comes to zero where a robot is late,
and jumps where it slides back or falls over: there the motion itself does.
"""

from math import isfinite
from typing import NamedTuple

from slipfit.kernels import alike, part, where

RUNNING, CLIMBED, SLIPPED, TIPPED_BACKWARDS, TIPPED_OVER, HIGH_CENTRED, STUCK_IN_SOIL, TIMED_OUT, NOT_FINITE = (
    0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0,
)  # fmt: skip

#: A body that leans further than this (cosine of 75 degrees) has tipped over.
_TIPPED_COSINE = 0.2588

#: Progress is measured over windows of this length, s.
_WINDOW_S = 0.5

#: Smallest margin of a climb, and largest of a failure: the sign tells which.
_LEAST = 1e-6


class Rules(NamedTuple):
    goal: float  # m along the profile, for the rear axle; infinite where there is none
    patience: float  # s
    gain: float  # m
    settled: float  # s, from when on progress counts: the command's ramp is over
    end: float  # s


class Look(NamedTuple):
    """What is seen of a run."""

    time: float
    rear: float  # m, rear axle along the profile
    progress: float  # m, centre of mass: along the profile (back, where it is told to go back) and up
    nose_up: float  # sine of the nose's elevation
    upright: float  # cosine of the lean
    told: float  # m/s, mean of both belts
    weight: float  # N
    soil_load: float
    belly_load: float
    buried: float  # m, depth of the centre of mass below the soil's surface; negative above it


class Story(NamedTuple):
    code: float
    stopped_at: float  # s
    start: float  # m, rear axle at the start
    furthest: float  # m, rear axle
    best: float  # m, progress
    best_at: float  # s
    window_from: float  # m, progress at the window's start
    window_at: float  # s
    slowest: float
    upright: float  # least so far
    longest: float  # s, longest time without a gain
    gained: float  # m, since the last gain that counted


@part
def begin_story(look):
    one, zero = alike(1.0, look.rear), alike(0.0, look.rear)
    return Story(zero, zero, look.rear, look.rear, look.progress, zero, look.progress, zero, one, one, zero, zero)


@part
def judge(rules, story, look):
    """The story one control period later."""
    going = story.code == RUNNING
    gains = look.progress > story.best + rules.gain
    best, best_at = where(gains, look.progress, story.best), where(gains, look.time, story.best_at)
    # Whoever is not told to go is not held.
    best_at = where(abs(look.told) > 0.0, best_at, look.time)
    full = look.time >= story.window_at + _WINDOW_S
    counts = full & (look.time > rules.settled + _WINDOW_S)
    share = (look.progress - story.window_from) / max(_WINDOW_S * abs(look.told), 1e-9)
    slowest = where(counts, min(story.slowest, share), story.slowest)
    window_from, window_at = where(full, look.progress, story.window_from), where(full, look.time, story.window_at)
    upright = min(story.upright, look.upright)
    furthest = max(story.furthest, look.rear)
    code = alike(RUNNING, look.rear)
    by_soil = where(look.soil_load > 0.5 * look.weight, alike(STUCK_IN_SOIL, code), SLIPPED)
    held = where(look.belly_load > 0.5 * look.weight, alike(HIGH_CENTRED, code), by_soil)
    code = where(look.time - best_at > rules.patience, held, code)
    code = where(look.buried > 0.0, alike(STUCK_IN_SOIL, code), code)
    code = where(look.rear > rules.goal, alike(CLIMBED, code), code)
    tipped = where(look.nose_up > 0.7, alike(TIPPED_BACKWARDS, code), TIPPED_OVER)
    code = where(look.upright < _TIPPED_COSINE, tipped, code)
    code = where(isfinite(look.progress + look.upright), code, NOT_FINITE)
    new = Story(
        code, where(code != RUNNING, look.time, story.stopped_at), story.start, furthest, best, best_at, window_from, window_at,
        slowest, upright, max(story.longest, look.time - best_at), max(0.0, look.progress - best),
    )  # fmt: skip
    return Story(*_kept(going, new, story))


@part
def _kept(going, new, old):
    return (
        where(going, new.code, old.code), where(going, new.stopped_at, old.stopped_at), where(going, new.start, old.start),
        where(going, new.furthest, old.furthest), where(going, new.best, old.best), where(going, new.best_at, old.best_at),
        where(going, new.window_from, old.window_from), where(going, new.window_at, old.window_at),
        where(going, new.slowest, old.slowest), where(going, new.upright, old.upright),
        where(going, new.longest, old.longest), where(going, new.gained, old.gained),
    )  # fmt: skip


@part
def timed_out(story, time):
    """The story of a run whose time is over."""
    late = story.code == RUNNING
    new = Story(
        where(late, alike(TIMED_OUT, story.code), story.code), time, story.start, story.furthest, story.best, story.best_at,
        story.window_from, story.window_at, story.slowest, story.upright, story.longest, story.gained,
    )  # fmt: skip
    return Story(*_kept(late, new, story))


@part
def margin(rules, story):
    """How far from the other verdict; see above."""
    leaning = (story.upright - _TIPPED_COSINE) / (1.0 - _TIPPED_COSINE)
    patient = 1.0 - story.longest / rules.patience
    in_time = (rules.end - story.stopped_at) / rules.patience
    climbed = max(_LEAST, min(1.0, min(min(story.slowest, leaning), min(patient, in_time))))
    missing = (rules.goal - story.furthest) / max(rules.goal - story.start, _LEAST)
    is_held = (story.code == SLIPPED) | (story.code == STUCK_IN_SOIL) | (story.code == HIGH_CENTRED)
    short = where(is_held, 1.0 - story.gained / rules.gain, alike(1.0, missing))
    return where(story.code == CLIMBED, climbed, -max(_LEAST, min(1.0, missing * short)))
