"""A tracked robot's outline as tables of contact elements: segments of the belts, sprockets, straight undersides.

Side view, from the centre of mass, x ahead and z up. A belt is a closed loop of N segments of equal length: straight runs and two
half circles. Segments are told apart by where they are, not by which link is there: the belt runs through them and carries along
what it remembers. Flippers turn about the front axle and have belts of their own, on the same sprocket; the belly is a plate
between the tracks that does not move.

    stations   segments near the ground, around sprockets parts of segments: place of the middle, unit vector along the belt
               towards the front, areas
    discs      sprockets and idlers as true circles, and the rounded ends of the belly: each end of each run has its disc
    runs       straight undersides as whole lines, so that an edge between two stations is felt where it is

Each table has the left track's entries first, then the right one's, both filled up to whole packs by entries that are not there:
stations without area that do not feel hard ground, discs without radius, runs shorter than nothing.
Reference  derived in docs/theory/tracked, eq. (outline)
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels.packs import ALONE

#: How far around a sprocket segments can meet the ground, rad: a robot that leans further has tipped over.
_REACH_RAD = np.radians(120.0)

#: Around sprockets the soil feels each segment in so many parts: a segment of 42 mm on a radius of 89 mm turns by 27 degrees,
#: as much as a sprocket that has sunk 10 mm touches (docs/theory/tracked, How many segments).
_PARTS_OF_ARC = 2

#: A flipper's own sprocket over the track's beside it: smaller by more than the dents of standing, so that on level ground the
#: track bears and not both.
_DRUM_SHARE = 0.998

#: Stations of a belly plate on each side.
_BELLY = 4

#: A belly's ends are bent up about the axles; where it lies near or above them, with this share of the sprockets' radius.
_LEAST_BEND = 0.5


class Stations(NamedTuple):
    x: Any  # m
    y: Any
    z: Any
    tx: Any  # unit vector along the belt
    tz: Any
    driven: Any  # 1 where the belt moves, 0 on the belly
    hard: Any  # 1 where hard ground is felt here; 0 on sprockets, felt as circles, and beside them
    reach: Any  # m, height of a cleat
    length: Any  # m
    area: Any  # m^2, of the plate between cleats
    width: Any  # m
    cleat_area: Any  # m^2
    cleat_height: Any  # m, as the soil feels it
    upstream: Any  # m, from the middle of the station ahead along the belt; 0 where that is not of the same belt
    downstream: Any  # m, from the one behind


class Discs(NamedTuple):
    x: Any
    y: Any
    z: Any
    radius: Any  # m, with cleats; 0 where there is none
    driven: Any


class Runs(NamedTuple):
    x: Any  # m, rear end
    y: Any
    z: Any
    tx: Any
    tz: Any
    length: Any  # m; negative where there is none
    driven: Any


class Outline(NamedTuple):
    """What a robot's file tells of its tracks; numbers, or arrays with one entry per run."""

    radius_m: Any  # of sprockets with belt, without cleats
    axle_distance_m: Any
    tread_m: Any  # between the middles of the belts
    belt_width_m: Any
    mass_ahead_m: Any  # of the rear axle
    mass_above_m: Any  # the underside, cleats not counted
    cleat_height_m: Any = 0.0
    cleat_share: Any = 0.0  # of a belt's area, at the cleats' root
    cleat_taper: Any = 0.0  # 1 - area of the tip over area of the root
    flipper_length_m: Any = 0.0  # between its axles
    flipper_tip_radius_m: Any = 0.05
    flipper_angle_rad: Any = 0.0  # up from straight ahead
    flipper_tread_m: Any = 0.0
    flipper_width_m: Any = 0.05
    belly_clearance_m: Any = 0.0  # above the underside
    belly_width_m: Any = 0.0


class TrackTables(NamedTuple):
    stations: Stations
    discs: Discs
    runs: Runs


def counts(outline: Outline, segments: int) -> tuple[int, int]:
    """Segments of a straight run, and of half a sprocket's circle, of a belt with so many in all."""
    along, _ = _divided(outline, segments)
    return _of_all(along), segments // 2 - _of_all(along)


def _divided(o: Outline, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """How many segments a straight run and a flipper's underside have, of one robot or of each run; NaN where nothing tells."""
    around = 2.0 * (np.asarray(o.axle_distance_m, dtype=float) + np.pi * np.asarray(o.radius_m, dtype=float))
    along, flipper = np.round(segments * o.axle_distance_m / around), np.round(segments * o.flipper_length_m / around)
    return np.asarray(along), np.maximum(2.0, flipper)


def _of_all(count: np.ndarray) -> int:
    """A count of runs that are divided alike; runs in which it is no number take what the others have."""
    numbers = count[np.isfinite(count)]
    return int(numbers.flat[0]) if numbers.size else 2


def divided_alike(outline: Outline, segments: int, n: int) -> list[np.ndarray]:
    """Numbers of the runs whose tracks have equally many segments everywhere, group by group: only those fit into one table."""
    along, flipper = (np.broadcast_to(count, n) for count in _divided(outline, segments))
    both = np.column_stack([np.where(np.isfinite(count), count, _of_all(count)) for count in (along, flipper)])
    _, group = np.unique(both, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == k) for k in range(group.max() + 1)]


def track_tables(outline: Outline, segments: int, n: int, *, has_flippers: bool, has_belly: bool) -> TrackTables:
    """Tables of n runs that are `divided_alike`, (n, entries)."""
    o = Outline(*(np.broadcast_to(np.asarray(value, dtype=float), n) for value in outline))
    stations = [_belt_stations(o, segments)]
    radius = o.radius_m + o.cleat_height_m
    discs = [_disc(o, 0.0, 0.0, radius, o.tread_m), _disc(o, o.axle_distance_m, 0.0, radius, o.tread_m)]
    runs = [_run(o, 0.0, -o.radius_m - o.cleat_height_m, 1.0, 0.0, o.axle_distance_m, o.tread_m, 1.0)]
    if has_flippers:
        more, ends, run = _flipper(o, segments)
        stations.append(more)
        discs += ends
        runs.append(run)
    if has_belly:
        more, ends, run = _belly(o)
        stations.append(more)
        discs += ends
        runs.append(run)
    return TrackTables(
        _both_sides(Stations, [station for group in stations for station in _filled(group)]),
        _both_sides(Discs, _filled(discs)),
        _both_sides(Runs, _filled(runs)),
    )


def _both_sides(kind: type, entries: list[Any]) -> Any:
    """Left entries, then right ones."""
    columns = {name: np.column_stack([getattr(e, name) for e in entries] * 2) for name in kind._fields}  # type: ignore[attr-defined]
    columns["y"][:, len(entries) :] *= -1.0
    return kind(**columns)


def _filled(entries: list[Any]) -> list[Any]:
    """Filled up to whole packs with entries that are not there. They lie at the centre of mass, so that what is computed beside
    their neighbours stays small."""
    missing = -len(entries) % ALONE
    zero = 0.0 * entries[0].x
    length = zero + (-1.0 if isinstance(entries[0], Runs) else 1.0)
    given = {"tx": zero + 1.0, "width": zero + 1.0, "length": length}
    absent = type(entries[0])(*(given.get(name, zero) for name in entries[0]._fields))
    return entries + [absent] * missing


def _disc(o: Outline, ahead: Any, up: Any, radius: Any, tread: Any, driven: float = 1.0) -> Discs:
    zero = 0.0 * o.radius_m
    return Discs(ahead - o.mass_ahead_m, 0.5 * tread, up + o.radius_m - o.mass_above_m, radius + zero, zero + driven)


def _run(o: Outline, ahead: Any, up: Any, tx: Any, tz: Any, length: Any, tread: Any, driven: float) -> Runs:
    zero = 0.0 * o.radius_m
    return Runs(
        ahead - o.mass_ahead_m + zero, 0.5 * tread, up + o.radius_m - o.mass_above_m, tx + zero, tz + zero, length + zero,
        zero + driven,
    )  # fmt: skip


def _station(o: Outline, ahead: Any, up: Any, angle: Any, length: Any, width: Any, tread: Any, **more: Any) -> Stations:
    """One segment; its angle is that of the belt against the body's x axis."""
    zero = 0.0 * o.radius_m
    is_plain = more.get("driven", 1.0) == 0.0
    share = 0.0 if is_plain else o.cleat_share
    return Stations(
        x=ahead - o.mass_ahead_m + zero,
        y=0.5 * tread + zero,
        z=up + o.radius_m - o.mass_above_m + zero,
        tx=np.cos(angle) + zero,
        tz=np.sin(angle) + zero,
        driven=zero + more.get("driven", 1.0),
        hard=zero + more.get("hard", 1.0),
        reach=zero if is_plain else o.cleat_height_m,
        length=length + zero,
        area=length * width * (1.0 - share) + zero,
        width=np.minimum(width, length) + zero if is_plain else width + zero,
        cleat_area=length * width * share + zero,
        # The tip bears at its full height, the flanks at half of it on average.
        cleat_height=zero if is_plain else o.cleat_height_m * (1.0 - 0.5 * o.cleat_taper),
        upstream=zero + more.get("upstream", 0.0),
        downstream=zero + more.get("downstream", 0.0),
    )


def _belt_stations(o: Outline, segments: int) -> list[Stations]:
    """From behind the rear sprocket along the underside to the front one."""
    along, around = counts(o, segments)
    turn, step = np.pi / (around * _PARTS_OF_ARC), o.axle_distance_m / along
    near = [k for k in range(around * _PARTS_OF_ARC) if (k + 0.5) * turn < _REACH_RAD]
    arc = o.radius_m * turn
    found = []
    for k in reversed(near):
        angle = (k + 0.5) * turn
        found.append((-o.radius_m * np.sin(angle), -o.radius_m * np.cos(angle), -angle, arc, 0.0))
    # On hard ground a sprocket's circle bears in place of the segment beside it: with both, the ends would bear twice.
    found += [((k + 0.5) * step, -o.radius_m, 0.0, step, float(0 < k < along - 1)) for k in range(along)]
    for k in near:
        angle = (k + 0.5) * turn
        found.append((o.axle_distance_m + o.radius_m * np.sin(angle), -o.radius_m * np.cos(angle), angle, arc, 0.0))
    gaps = [0.0, *(0.5 * (behind[3] + ahead[3]) for behind, ahead in pairwise(found)), 0.0]
    return [
        _station(o, x, z, angle, length, o.belt_width_m, o.tread_m, hard=hard, upstream=gaps[k + 1], downstream=gaps[k])
        for k, (x, z, angle, length, hard) in enumerate(found)
    ]


def _flipper(o: Outline, segments: int) -> tuple[list[Stations], list[Discs], Runs]:
    """Underside of a flipper from the front axle to its tip, a little steeper where it tapers; its tip and its own sprocket,
    which stands beside the track's."""
    drum = _DRUM_SHARE * o.radius_m
    count = _of_all(_divided(o, segments)[1])
    taper = np.arcsin((drum - o.flipper_tip_radius_m) / o.flipper_length_m)
    slope = o.flipper_angle_rad + taper
    tx, tz = np.cos(slope), np.sin(slope)
    length = o.flipper_length_m * np.cos(taper)
    x0, z0 = o.axle_distance_m + drum * tz, -drum * tx
    step = length / count
    stations = [
        _station(
            o, x0 + (k + 0.5) * step * tx, z0 + (k + 0.5) * step * tz, slope, step, o.flipper_width_m, o.flipper_tread_m,
            upstream=step * (k < count - 1), downstream=step * (k > 0),
        )
        for k in range(count)
    ]  # fmt: skip
    tip_x = o.axle_distance_m + o.flipper_length_m * np.cos(o.flipper_angle_rad)
    out = o.cleat_height_m
    ends = [
        _disc(o, tip_x, o.flipper_length_m * np.sin(o.flipper_angle_rad), o.flipper_tip_radius_m + out, o.flipper_tread_m),
        _disc(o, o.axle_distance_m, 0.0, drum + out, o.flipper_tread_m),
    ]
    run = _run(o, x0 + out * tz, z0 - out * tx, tx, tz, length, o.flipper_tread_m, 1.0)
    return stations, ends, run


def _belly(o: Outline) -> tuple[list[Stations], list[Discs], Runs]:
    """The plate between the tracks, half of it on either side, and its ends, bent up about the axles: an edge that is met askew
    comes to the plate from there."""
    up, step = o.belly_clearance_m - o.radius_m, o.axle_distance_m / _BELLY
    half = 0.5 * o.belly_width_m
    stations = [_station(o, (k + 0.5) * step, up, 0.0, step, half, half, driven=0.0) for k in range(_BELLY)]
    bend = np.maximum(-up, _LEAST_BEND * o.radius_m)
    ends = [_disc(o, ahead, up + bend, bend, half, driven=0.0) for ahead in (0.0 * up, o.axle_distance_m)]
    return stations, ends, _run(o, 0.0, up, 1.0, 0.0, o.axle_distance_m, half, 0.0)
