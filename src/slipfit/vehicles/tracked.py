"""A tracked robot: a rigid body in space on two belts, over blocks, heights and soil.

A run from its start to its verdict. The step is in `track_step`, belts with their motors in `track_belts`, contacts with hard
ground in `track_contact` and `track_hard`, with soil in `track_soil`, the outline in `track_shape`.

Reference  [Hackett2011] for tracks and drive; solution derived in docs/theory/tracked
"""

from typing import Any, NamedTuple

from slipfit.ground.shape import Memory, cell_count
from slipfit.kernels import (
    WIDTH,
    Eight,
    abreast,
    alike,
    any_of,
    at,
    choose,
    compiled,
    cos_and_sin,
    keep_alive,
    part,
    put,
    raw,
    tables,
    zeros,
)
from slipfit.kernels.space import Quat, Vec3, rotation
from slipfit.vehicles.rigid_body import Body6, State6
from slipfit.vehicles.track_belts import Belt, BeltWork
from slipfit.vehicles.track_contact import HardWork, find_hard, hard_count
from slipfit.vehicles.track_hard import HardContact
from slipfit.vehicles.track_record import TRACK_COLUMNS, look_at, note_sinkage, write_record
from slipfit.vehicles.track_shape import TrackTables
from slipfit.vehicles.track_soil import SoilWork, carry_along
from slipfit.vehicles.track_step import Packs, Wide, step
from slipfit.vehicles.track_verdict import RUNNING, Rules, begin_story, judge, timed_out

__all__ = ["TRACK_COLUMNS", "Begin", "Belt", "HardContact", "Told", "TrackedRuns", "in_lanes", "one_by_one"]

#: Belts carry what they remember every so many steps.
_CARRY_EVERY = 4


class Begin(NamedTuple):
    """Where a run starts: place of the centre of mass, nose-up pitch, heading, speed ahead, left side up."""

    x: float
    y: float
    z: float
    pitch_up: float
    heading: float
    speed: float
    roll: float = 0.0


class Told(NamedTuple):
    """What the belts are commanded: speeds of the left and the right one, times a share of them in each control period."""

    left: float  # m/s
    right: float
    share: Any  # Shared, one per period


class TrackedRuns(NamedTuple):
    """A batch of runs: everything that a run needs, arrays at the leaves."""

    body: Body6
    tables: TrackTables
    hard: HardContact
    law: Any
    soil: Any
    belt: Belt
    ground: Any
    begin: Begin
    told: Told
    rules: Rules


@part
def _start(robot, belts):
    begin, zero = robot.begin, alike(0.0, robot.body.mass)
    c, s = cos_and_sin(0.5 * begin.heading)
    d, e = cos_and_sin(-0.5 * begin.pitch_up)
    f, g = cos_and_sin(0.5 * begin.roll)
    # First the heading, then the pitch about the body's own y axis (nose up is a negative turn about it), then the roll.
    w, x, y, z = c * d, -s * e, c * e, s * d
    attitude = Quat(w * f - x * g + zero, w * g + x * f + zero, y * f + z * g + zero, z * f - y * g + zero)
    for side in range(2):
        belts.speed[side] = begin.speed + zero
    nothing = Vec3(zero, zero, zero)
    return State6(
        Vec3(begin.x + zero, begin.y + zero, begin.z + zero), attitude, Vec3(begin.speed + zero, zero, zero), nothing, nothing
    )


@part
def _drive(runs, i, hold, every, dt, out, status):
    """Run i of the batch, or a group of runs: told anew every `hold` steps, recorded every `every` (a multiple of it), until all
    have their verdict. Records after a run's verdict have no meaning but for verdict, margin and what was deepest."""
    arrays = at(runs, i)
    like = alike(0.0, arrays.body.mass)
    robot = raw(arrays)
    stations, places = len(robot.tables.stations.x), 2 * hard_count(robot.ground, robot.tables)
    hard_arrays, soil_arrays = tables(HardWork, places, like), tables(SoilWork, stations, like)
    belt_arrays, share_arrays = tables(BeltWork, 2, like), zeros(2 * stations, like)
    cell_arrays = zeros(cell_count(robot.ground), like)
    alone, belts = Packs(raw(hard_arrays), raw(soil_arrays), raw(share_arrays)), raw(belt_arrays)
    packs = abreast(alone)
    wide = Wide(abreast(robot.tables), abreast(robot.hard), abreast(robot.law), abreast(robot.soil))
    memory = Memory(alone.shares, raw(cell_arrays))
    s = _start(robot, belts)
    for c in range(places):
        alone.hard.depth[c] = alike(-1.0, like)
    story = begin_story(look_at(robot, memory, alone, belts, s, like))
    for k in range(out.shape[1]):
        if k > 0 and any_of(story.code == RUNNING):
            for j in range((k - 1) * every, k * every):
                if j % hold == 0:
                    share = robot.told.share.array[j // hold]
                    belts.told[0], belts.told[1] = share * robot.told.left, share * robot.told.right
                going = story.code == RUNNING
                new = step(robot, wide, memory, packs, belts, s, dt)
                s = choose(going, new, s)
                if (j + 1) % _CARRY_EVERY == 0:
                    carry_along(robot.soil, robot.tables.stations, alone.soil, alone.shares, belts.speed, _CARRY_EVERY * dt)
                if (j + 1) % hold == 0:
                    note_sinkage(robot, alone.soil, belts, going)
                    story = judge(robot.rules, story, look_at(robot, memory, alone, belts, s, alike((j + 1) * dt, like)))
                    if not any_of(story.code == RUNNING):
                        break
        if k == out.shape[1] - 1:
            story = timed_out(story, alike(k * every * dt, like))
        # Depths as they are now, not as the last step found them: for the energy in the record.
        find_hard(robot.ground, memory, wide.tables, packs.hard, abreast(s.place), abreast(rotation(s.attitude)))
        write_record(robot, alone, belts, story, s, i, out[:, k])
    put(status, i, story.code)
    keep_alive((arrays, hard_arrays, soil_arrays, belt_arrays, share_arrays, cell_arrays))


@compiled(nogil=True)
def one_by_one(runs, lo, hi, hold, every, dt, out, status):
    """Runs lo to hi, each by itself; out has shape (n, records, columns), status (n,)."""
    for i in range(lo, hi):
        _drive(runs, i, hold, every, dt, out, status)


@compiled(nogil=True)
def in_lanes(runs, lo, hi, hold, every, dt, out, status):
    """The same, eight at a time."""
    for i in range(lo, hi, WIDTH):
        _drive(runs, Eight(i), hold, every, dt, out, status)
