"""A side whose encoder is disconnected, or frozen at a speed: it says the same while the other one rolls, and the body turns
otherwise.

A robot that really turns about its standing side turns by about

    E = (right - left) / track,

less where wheels slip, but always by the same share. One whose encoder is dead drives straight where E would be large, or turns
as a side tells that nobody hears. A stretch in which one side says nothing is dead where over a good part of the other side's way
the body turned by less than a tenth of E, or where E explains little of its turning.

A robot that is stuck does not turn as E either. Two things tell it from a dead side. A pose: a robot with a dead side goes ahead
where it does not turn, one that is stuck stands. And the other side: where both keep exactly constant speeds, as commands and
simulated drives do, neither is frozen beside a live one. Then the side is dead only if the body turns against E or beyond it,
which no slip does, or goes ahead without turning, or if commands change while the wheels do not.

Valid for  encoders in angles or speeds; of ticks nobody knows E yet: it is taken from the fastest turns of the stretch
"""

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step, spans
from slipfit.logs.inspection.signals import Seen, Wheels, inertial_of, origin_ns, rotation_of, seconds, seen_of, wheels_of
from slipfit.logs.inspection.stamps import rows_of

#: A stretch is looked at from this long (s) and this much of the other side's way (m) on: wheels stall for a second now and then.
#: Clocks hardly matter over spans so long (s).
LEAST_S, LEAST_WAY_M, SPAN_S = 2.0, 1.0, 1.0

#: Turned by less than this share of E is straight: on ice robots turn by a third of it. Chance makes few spans of a turn so.
STRAIGHT, STRAIGHT_WAY = 0.1, 0.25

#: A body that goes by more than this share of its rims' way goes ahead; by more than this much of E it turns beyond it.
AHEAD, BEYOND = 0.5, 1.5

#: E explains at least this share of the turning about a standing side, told from so many spans on, twice as long.
EXPLAINED, LEAST_SPANS = 0.7, 8

#: A side that is dead for this share of the other one's way is disconnected, and the rest no drive.
DISCONNECTED = 0.8


def require_both_sides(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """A dead side is fatal; rows of stretches in which one is dead are left out."""
    origin = origin_ns(log)
    wheels = wheels_of(log, robot, origin)
    turned = _turned(log, origin)
    if wheels is None or turned is None:
        return Step(log)
    gone = seen_of(log, origin)
    is_ticks = (rotation_of(log[names.ENCODERS]) or ("",))[0] == "ticks"
    findings, corrections, left_out = [], [], np.zeros(len(wheels.time_s), dtype=bool)
    for k, side in enumerate(names.SIDES):
        other = np.abs(np.diff(wheels.values[:, 1 - k]))
        # A counter at rest toggles nothing; speeds of a dead encoder are exactly zero, or never change.
        silent = (np.abs(np.diff(wheels.values[:, k])) == 0.0) | _stays(log, k)
        kept = _stays(log, 0) & _stays(log, 1) & _rolls(wheels) & ~_told_anew(log, wheels, origin)
        dead = [
            (a, b + 1)
            for a, b in spans(silent)
            if _is_dead(wheels, turned, gone, a, b + 1, in_ticks=is_ticks, both_stay=bool(kept[a:b].all()))
        ]
        if not dead:
            continue
        way = sum(float(other[a:b].sum()) for a, b in dead)
        while_other = names.SIDES[1 - k]
        if way > DISCONNECTED * other.sum():
            found = f"the {side} side stays as it is while the {while_other} one rolls and the robot does not turn so"
            found += ": one side disconnected"
            remedy = f"look after the encoder of the {side} side, and drive again"
            return Step(log, (Finding(Severity.FATAL, names.ENCODERS, "dead side", found, remedy),))
        a, b = max(dead, key=lambda span: wheels.time_s[span[1]] - wheels.time_s[span[0]])
        for first, last in dead:
            left_out[first + 1 : last + 1] = True
        found = (
            f"the {side} side stays as it is from {wheels.time_s[a]:.2f} s to {wheels.time_s[b]:.2f} s while the {while_other} "
            f"one rolls and the robot does not turn so; {len(dead)} place{'s' if len(dead) > 1 else ''}"
        )
        remedy = f"look after the encoder of the {side} side; these rows are left out"
        findings.append(Finding(Severity.ERROR, names.ENCODERS, "dead side", found, remedy, is_corrected=True))
        corrections.append(f"rows of encoders while the {side} side was dead")
    if not findings:
        return Step(log)
    return Step(log.having(rows_of(log[names.ENCODERS], ~left_out)), tuple(findings), tuple(corrections))


def _stays(log: DriveLog, side: int) -> np.ndarray:
    """Between which rows all that a side tells stays the same: an angle at rest, or a speed that was frozen."""
    found = rotation_of(log[names.ENCODERS])
    values = log[names.ENCODERS].values
    if found is None:
        return np.zeros(max(0, len(values) - 1), dtype=bool)
    _, left, right = found
    return np.asarray((np.diff(values[:, (left, right)[side]], axis=0) == 0.0).all(axis=1))


def _turned(log: DriveLog, origin: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and heading by the gyro, or by the pose where there is none that moves."""
    for sums in (inertial_of(log, origin), seen_of(log, origin)):
        if sums is not None and np.ptp(sums.values[:, 0]) > 0.0:
            return sums.time_s, sums.values[:, 0]
    return None


def _rolls(wheels: Wheels) -> np.ndarray:
    """Between which rows both sides say that they turn: one that says zero may be dead."""
    return np.asarray((np.diff(wheels.values, axis=0) != 0.0).all(axis=1))


def _told_anew(log: DriveLog, wheels: Wheels, origin: int) -> np.ndarray:
    """Between which rows of the wheels commands change."""
    found = np.zeros(max(0, len(wheels.time_s) - 1), dtype=bool)
    if names.COMMANDS not in log or len(log[names.COMMANDS].stamps_ns) < 2:
        return found
    commands = log[names.COMMANDS]
    anew = (np.diff(np.nan_to_num(commands.values), axis=0) != 0.0).any(axis=1)
    when_s = seconds(commands, origin)[1:][anew]
    places = np.searchsorted(wheels.time_s, when_s, side="right") - 1
    found[places[(places >= 0) & (places < len(found))]] = True
    return found


def _is_dead(
    wheels: Wheels,
    turned: tuple[np.ndarray, np.ndarray],
    gone: Seen | None,
    first: int,
    last: int,
    *,
    in_ticks: bool,
    both_stay: bool,
) -> bool:
    begin, end = max(wheels.time_s[first], turned[0][0]), min(wheels.time_s[last], turned[0][-1])
    if end - begin < LEAST_S:
        return False
    expected, said = _turns(wheels, turned, begin, end, SPAN_S)
    if np.abs(expected).sum() * wheels.track_m < LEAST_WAY_M:
        return False
    ahead = _ahead(wheels, gone, begin, end, SPAN_S)
    if both_stay and not in_ticks:
        against = said * np.sign(expected)
        otherwise = (against < -STRAIGHT * np.abs(expected)) | (against > BEYOND * np.abs(expected))
        otherwise |= (ahead > AHEAD) & (np.abs(said) < STRAIGHT * np.abs(expected))
        return float(np.abs(expected[otherwise]).sum()) > STRAIGHT_WAY * float(np.abs(expected).sum())
    expected, said = np.abs(expected), np.abs(said)
    if in_ticks:
        clear = expected > 0.1 * expected.max()
        expected = expected * float(np.quantile(said[clear] / expected[clear], 0.95))
    straight = (said < STRAIGHT * expected) & ~(ahead < STRAIGHT)
    if float(expected[straight].sum()) > STRAIGHT_WAY * float(expected.sum()):
        return True
    expected, said = _turns(wheels, turned, begin, end, 2.0 * SPAN_S)
    moves = ~((_ahead(wheels, gone, begin, end, 2.0 * SPAN_S) < STRAIGHT) & (np.abs(said) < STRAIGHT * np.abs(expected)))
    expected, said = expected[moves], said[moves]
    if len(said) < LEAST_SPANS:
        return False
    explained = float(expected @ said) ** 2 / max(float(expected @ expected) * float(said @ said), 1e-300)
    return explained < EXPLAINED


def _ahead(wheels: Wheels, gone: Seen | None, begin: float, end: float, span_s: float) -> np.ndarray:
    """How far the body went over spans, by the pose, as a share of the faster side's way; NaN where no pose tells it."""
    edges = np.linspace(begin, end, int((end - begin) / span_s) + 1)
    rolled = np.abs(np.diff(wheels.at(edges), axis=0)).max(axis=1)
    if gone is None:
        return np.full(len(rolled), np.nan)
    share = np.abs(np.diff(gone.at(edges, 1)[:, 0])) / np.maximum(rolled, 1e-9)
    return np.where(gone.is_whole(edges), share, np.nan)


def _turns(
    wheels: Wheels, turned: tuple[np.ndarray, np.ndarray], begin: float, end: float, span_s: float
) -> tuple[np.ndarray, np.ndarray]:
    """E, and how far the body turned, over spans."""
    edges = np.linspace(begin, end, int((end - begin) / span_s) + 1)
    return np.diff(wheels.at(edges) @ np.array([-1.0, 1.0])) / wheels.track_m, np.diff(np.interp(edges, *turned))
