"""Pieces of a drive over which a model is asked where the robot went: pairs of poses, and what the gyro turned meanwhile.

A pose is older than its stamp: it is late by some time that the fit finds, and a logger repeats it until the next one comes.
Where the pose starts anew with each segment, its first row repeats the last pose of the segment before.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, IMU, SEGMENTS
from slipfit.logs.poses import Poses, has_pose, poses_of
from slipfit.logs.rims import Rims, silences

#: Shares of the horizon at which a window's motion is looked at: early parts tell clocks, the whole tells the model.
SHARES = (0.25, 0.5, 0.75, 1.0)

#: Poses this much later than the wheels are looked for (s).
LATEST_S, LATE_STEP_S = 1.2, 0.05

#: A pose is not believed where it turned otherwise than the gyro by more than this, plus a share of it; or went farther than the
#: wheels rolled, by a factor and a way.
TURN_APART_RAD, TURN_APART_SHARE = 0.3, 0.25
FARTHER, FARTHER_M = 1.2, 0.5

#: A segment is one window where it lasts the horizon within these shares; a longer one is cut, a shorter one is left out.
SHORTEST, LONGEST = 0.9, 1.1

#: A body that moves by less than this share of what its wheels rolled, of some metres at least, is stuck; turns count at an arm.
STUCK_SHARE, STUCK_FROM_M, STUCK_ARM_M = 0.1, 0.4, 0.5


@dataclass(frozen=True, eq=False, slots=True)
class Windows:
    """n pieces; times are seconds on the grid of the wheels, by the stamps; poses are of `pose_from_s` and `pose_to_s`."""

    from_s: np.ndarray
    to_s: np.ndarray
    pose_from_s: np.ndarray
    pose_to_s: np.ndarray
    moved: np.ndarray  # (n, 3): ahead, to the left, turned by the pose, in the frame of the first; NaN without a pose
    gyro_rad: np.ndarray  # turned by the gyro; NaN without one
    share: np.ndarray  # of the horizon
    piece: np.ndarray  # number of the segment, or of the stretch of time, that a window starts
    is_trusted: np.ndarray  # pose, gyro and wheels do not contradict each other
    pose_late_s: float  # what the pose is late by, by its own turning against the gyro's; zero where nothing tells
    gyro_bias_std_radps: float = 0.001  # how far the gyro's bias may be off: little where the robot stood still
    meets_silence: np.ndarray | None = None  # a sensor paused meanwhile; such windows are not trusted either
    stuck: np.ndarray | None = None
    silences: tuple[str, ...] = ()  # the pauses that windows meet, longest first, in words
    short: int = 0  # segments that end before the horizon does
    is_gyro_given_up: bool = False  # silent for most of the drive, where poses tell turns as well

    def __len__(self) -> int:
        return len(self.from_s)

    @property
    def is_stuck(self) -> np.ndarray:
        """Windows in which wheels spin and the body stays."""
        return np.zeros(len(self), dtype=bool) if self.stuck is None else self.stuck

    @property
    def is_silent(self) -> np.ndarray:
        """Windows in which a sensor paused."""
        return np.zeros(len(self), dtype=bool) if self.meets_silence is None else self.meets_silence

    @property
    def whole(self) -> np.ndarray:
        """Windows that last the horizon."""
        return np.asarray(self.share == SHARES[-1])

    @property
    def believed(self) -> np.ndarray:
        """Those of them that are trusted."""
        return np.asarray(self.whole & self.is_trusted)


def windows_of(log: DriveLog, rims: Rims, *, horizon_s: float = 2.0) -> Windows:
    """All windows of a log; without poses where the log has none that are finite."""
    poses = poses_of(log, rims) if has_pose(log) else None
    pieces, short = _pieces(log, rims, horizon_s)
    rows = [
        window_row(poses, start, start + share * (end - start), share, piece) for piece, start, end in pieces for share in SHARES
    ]
    rows = [row for row in rows if row is not None]
    table = np.array(rows) if rows else np.zeros((0, 9))
    from_s, to_s, pose_from, pose_to, share, piece = table[:, :6].T if len(table) else np.zeros((6, 0))
    moved = table[:, 6:9]
    gyro = _gyro(log, rims)
    is_given_up = gyro is not None and poses is not None and _is_mostly_silent(gyro[0], from_s, to_s)
    gyro = None if is_given_up else gyro
    turned = _turned(gyro, from_s, to_s)
    late = _late(gyro, pose_from, pose_to, moved[:, 2])
    # Wheels are asked for the time of the poses too.
    first, last = np.fmin(from_s, pose_from - late), np.fmax(to_s, pose_to - late)
    pauses = {ENCODERS: rims.silent_s, **({} if gyro is None else {"gyro": silences(gyro[0])})}
    asked = {ENCODERS: (first, last), "gyro": (from_s, to_s)}
    met = {name: _touch(*asked[name], spans) for name, spans in pauses.items()}
    silent = np.any([touched.any(axis=1) for touched in met.values()], axis=0)
    stuck = _stuck(rims, pose_from - late, pose_to - late, moved, turned)
    return Windows(
        from_s, to_s, pose_from, pose_to, moved, turned, share, piece.astype(int),
        _trusted(gyro, rims, pose_from - late, pose_to - late, moved) & ~silent & ~stuck, late,
        meets_silence=silent, stuck=stuck & ~silent, silences=_in_words(pauses, met), short=short,
        is_gyro_given_up=is_given_up,
    )  # fmt: skip


def _stuck(rims: Rims, from_s: np.ndarray, to_s: np.ndarray, moved: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """Whether the body went and turned by a tenth at most of what the faster side rolled."""
    seen = np.isfinite(moved).all(axis=1)
    rolled = np.where(seen, rims.rolled_m(np.nan_to_num(from_s), np.nan_to_num(to_s)), 0.0)
    went = np.hypot(moved[:, 0], moved[:, 1]) + STUCK_ARM_M * np.fmax(np.abs(moved[:, 2]), np.abs(turned))
    return np.asarray(seen & (rolled > STUCK_FROM_M) & (went < STUCK_SHARE * rolled))


def _touch(from_s: np.ndarray, to_s: np.ndarray, spans_s: np.ndarray) -> np.ndarray:
    """Which windows have time in common with which spans, (n, k)."""
    return np.asarray((from_s[:, None] < spans_s[:, 1]) & (to_s[:, None] > spans_s[:, 0]))


def _is_mostly_silent(time_s: np.ndarray, from_s: np.ndarray, to_s: np.ndarray) -> bool:
    """Whether more than half of the windows meet a pause."""
    return len(from_s) > 0 and bool(_touch(from_s, to_s, silences(time_s)).any(axis=1).mean() > 0.5)


def _in_words(pauses: dict[str, np.ndarray], met: dict[str, np.ndarray]) -> tuple[str, ...]:
    said = []
    for name, spans in pauses.items():
        for begin, end in spans[met[name].any(axis=0)].tolist():
            if np.isfinite(begin) and np.isfinite(end):
                said.append((end - begin, f"{name} silent for {end - begin:.1f} s at {begin:.1f} s"))
            else:
                said.append((np.inf, f"{name} silent {f'from {begin:.1f} s on' if np.isfinite(begin) else f'until {end:.1f} s'}"))
    return tuple(dict.fromkeys(words for _, words in sorted(said, reverse=True)))


def _gyro(log: DriveLog, rims: Rims) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and angles of the integrated gyro."""
    if IMU not in log or "gyro_z_radps" not in log[IMU].columns:
        return None
    channel = log[IMU]
    rate = channel.column("gyro_z_radps")
    kept = np.isfinite(rate)
    if kept.sum() < 3:
        return None
    time_s, rate = rims.seconds(channel.stamps_ns[kept]), rate[kept]
    return time_s, np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(time_s))])


def _turned(gyro: tuple[np.ndarray, np.ndarray] | None, from_s: np.ndarray, to_s: np.ndarray) -> np.ndarray:
    if gyro is None:
        return np.full(len(from_s), np.nan)
    return np.asarray(np.interp(to_s, *gyro) - np.interp(from_s, *gyro))


def _pieces(log: DriveLog, rims: Rims, horizon_s: float) -> tuple[list[tuple[int, float, float]], int]:
    """Number, start and end of each stretch that is asked for: the segments, or stretches of the horizon's length; and how many
    segments are too short for it."""
    if SEGMENTS in log:
        channel = log[SEGMENTS]
        index, time_s = channel.values[:, 0].astype(int), rims.seconds(channel.stamps_ns)
        edges = np.concatenate([[0], np.flatnonzero(np.diff(index)) + 1, [len(index)]])
        long = [(a, b) for a, b in pairwise(edges.tolist()) if b - a > 2]
        found = [(int(index[a]), float(time_s[a]), float(time_s[b - 1])) for a, b in long]
        cut = [_stretches(*piece, horizon_s) for piece in found]
        if found and not any(cut):
            usual = float(np.median([end - start for _, start, end in found]))
            where = f"{log.source}: " if log.source else ""
            raise LogError(
                f"{where}{SEGMENTS}: the pose starts anew every {usual:.3g} s, sooner than the horizon of {horizon_s:g} s ends; "
                f"ask for a horizon of {usual:.2g} s or less"
            )
        return [stretch for stretches in cut for stretch in stretches], sum(not stretches for stretches in cut)
    end = float(rims.time_s[-1])
    return [(k, k * horizon_s, (k + 1) * horizon_s) for k in range(int(end / horizon_s))], 0


def _stretches(piece: int, start: float, end: float, horizon_s: float) -> list[tuple[int, float, float]]:
    """A segment about as long as the horizon is one window; a longer one is cut, of a shorter one nothing is left."""
    if end - start <= LONGEST * horizon_s:
        return [(piece, start, end)] if end - start >= SHORTEST * horizon_s else []
    return [(piece, start + k * horizon_s, start + (k + 1) * horizon_s) for k in range(int((end - start) / horizon_s))]


def window_row(poses: Poses | None, start: float, end: float, share: float, piece: int) -> tuple[float, ...] | None:
    nothing = float("nan")
    if poses is None:
        return start, end, nothing, nothing, share, piece, nothing, nothing, nothing
    first, last = (int(np.searchsorted(poses.time_s, t + 1e-6, side="right")) - 1 for t in (start, end))
    if (
        first < 0
        or last <= first
        or poses.segment[first] != poses.segment[last]
        or end - poses.time_s[last] > 0.5 * (end - start)
        or poses.is_silent(first, last)
    ):
        return None
    c, s = np.cos(poses.yaw_rad[first]), np.sin(poses.yaw_rad[first])
    dx, dy = poses.x_m[last] - poses.x_m[first], poses.y_m[last] - poses.y_m[first]
    turned = float(np.unwrap(poses.yaw_rad[first : last + 1])[-1] - poses.yaw_rad[first])
    return start, end, poses.taken_s[first], poses.taken_s[last], share, piece, c * dx + s * dy, c * dy - s * dx, turned


def _late(gyro: tuple[np.ndarray, np.ndarray] | None, from_s: np.ndarray, to_s: np.ndarray, turned: np.ndarray) -> float:
    """The delay with which the pose's turning agrees best with the gyro's."""
    seen = np.isfinite(turned)
    if gyro is None or seen.sum() < 10:
        return 0.0
    tried = np.arange(0.0, LATEST_S, LATE_STEP_S)
    apart = [float(np.median(np.abs(turned - _turned(gyro, from_s - late, to_s - late))[seen])) for late in tried]
    return float(tried[int(np.argmin(np.round(apart, 4)))])


def _trusted(
    gyro: tuple[np.ndarray, np.ndarray] | None, rims: Rims, from_s: np.ndarray, to_s: np.ndarray, moved: np.ndarray
) -> np.ndarray:
    believed = np.ones(len(from_s), dtype=bool)
    seen = np.isfinite(moved).all(axis=1)
    way = np.hypot(moved[:, 0], moved[:, 1])
    believed[seen] &= (way <= FARTHER * rims.rolled_m(from_s, to_s) + FARTHER_M)[seen]
    if gyro is not None:
        turned = _turned(gyro, from_s, to_s)
        believed[seen] &= (np.abs(moved[:, 2] - turned) <= TURN_APART_RAD + TURN_APART_SHARE * np.abs(turned))[seen]
    return believed


def blocks_of(windows: Windows, block_s: float) -> np.ndarray:
    """Number of the block of time that each window starts in."""
    return np.floor(windows.from_s / block_s).astype(int)
