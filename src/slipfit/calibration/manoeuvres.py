"""Find the manoeuvres of a drive in what its encoders say: rest, straight runs, speed steps, spins, arcs.

The speeds of both sides are taken over `WINDOW_S`. Where neither changes by more than a tolerance within `STEADY_S` the drive
is steady: a plateau, which is rest, straight, spin or arc by its two speeds. Between two straight plateaus (or rest) of
different speed lies a speed step, if both sides changed alike. Spins and arcs start when the robot's yaw rate has settled.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import WheelMotion, wheel_motion

#: Speeds are looked at on this grid, each over a window of three samples or of `WINDOW_S`, whichever is longer.
GRID_S, WINDOW_S = 0.02, 0.1

#: A drive is steady where its speeds stay within the tolerance for so long; a plateau has to last as long again.
STEADY_S = 0.3

#: What counts as the same speed: absolute, as a share of it, and as a multiple of the encoders' noise.
SAME_MPS, SAME_SHARE, SAME_NOISES = 0.03, 0.03, 6.0

#: Slower rims are at rest; the share of the other motion that a straight run or a spin may have.
REST_MPS, PURE_SHARE = 0.01, 0.1

#: Smallest change of speed that is a step: below it the slip is less than sensors resolve.
LEAST_STEP_MPS = 0.1

#: How much of the plateaus around a step belongs to it: contacts settle with m c v / n, 25 ms for a P3AT on a lab floor.
STEP_MARGIN_S = 0.5

#: A spin's first part that is left out at least, and what must remain.
RUN_IN_S, LEAST_SPIN_S = 0.3, 0.5

#: Yaw rates are averaged over this long to see when they have settled: within this share, or this many deviations, of the rest.
SETTLE_BLOCK_S, SETTLED_SHARE, SETTLED_DEVIATIONS = 0.1, 2e-3, 4.0

#: Pauses of the encoders longer than this divide the drive.
LONGEST_GAP_S = 0.3


class ManoeuvreKind(Enum):
    """What the wheels did."""

    REST = "rest"
    STRAIGHT = "straight"
    STEP = "step"
    SPIN = "spin"
    ARC = "arc"


@dataclass(frozen=True, slots=True)
class Manoeuvre:
    """A piece of a drive. Speeds and yaw rate are the wheels', as if nothing slipped."""

    kind: ManoeuvreKind
    start_ns: int
    end_ns: int
    from_mps: float
    to_mps: float
    yaw_rate_radps: float
    change_start_ns: int  # of a step: when the speed begins and ends to change; otherwise start and end
    change_end_ns: int
    run_in_s: float = 0.0  # of a spin or arc: what was left out before its start

    @property
    def duration_s(self) -> float:
        return (self.end_ns - self.start_ns) / NANOSECONDS

    @property
    def has_margins(self) -> bool:
        """Whether a step starts and ends at a steady speed, where nothing slips."""
        least_ns = 0.1 * NANOSECONDS
        return self.change_start_ns - self.start_ns >= least_ns and self.end_ns - self.change_end_ns >= least_ns

    def summary(self) -> str:
        """One line."""
        match self.kind:
            case ManoeuvreKind.STEP:
                what = f"{self.from_mps:.2f} to {self.to_mps:.2f} m/s"
            case ManoeuvreKind.STRAIGHT:
                what = f"{self.to_mps:.2f} m/s"
            case ManoeuvreKind.REST:
                what = ""
            case _:
                what = (
                    f"{self.to_mps:.2f} m/s, wheels turn {self.yaw_rate_radps:.3f} rad/s, without {self.run_in_s:.2f} s of run-in"
                )
        return f"{self.kind.value:<9}{self.duration_s:>7.2f} s  {what}".rstrip()

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind.value,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "from_mps": self.from_mps,
            "to_mps": self.to_mps,
            "yaw_rate_radps": self.yaw_rate_radps,
            "run_in_s": self.run_in_s,
        }


def find_manoeuvres(log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: float | None = None) -> tuple[Manoeuvre, ...]:
    """Every manoeuvre of a drive, in order of their start. Pieces that are none of them (steering, reversals) are left out."""
    motion = wheel_motion(log, robot, counts_per_turn=counts_per_turn)
    found = [m for piece in _pieces(motion) for m in _in_piece(piece, robot.track_m, log)]
    return tuple(sorted(found, key=lambda m: (m.start_ns, m.end_ns)))


def _pieces(motion: WheelMotion) -> Iterator[WheelMotion]:
    """The drive between the encoders' pauses."""
    longest = max(LONGEST_GAP_S, 5.0 / motion.rate_hz) * NANOSECONDS
    cuts = np.flatnonzero(np.diff(motion.stamps_ns) > longest) + 1
    for first, last in pairwise([0, *cuts.tolist(), len(motion.stamps_ns)]):
        if last - first > 2 and motion.stamps_ns[last - 1] - motion.stamps_ns[first] > 2 * STEADY_S * NANOSECONDS:
            yield WheelMotion(motion.stamps_ns[first:last], motion.left_m[first:last], motion.right_m[first:last])


@dataclass(frozen=True, eq=False, slots=True)
class _Speeds:
    """Side speeds on an even grid."""

    start_ns: int
    left: np.ndarray
    right: np.ndarray
    same: np.ndarray  # m/s, what counts as the same speed here

    def ns(self, k: int) -> int:
        return self.start_ns + round(k * GRID_S * NANOSECONDS)


def _speeds(motion: WheelMotion) -> _Speeds:
    window = max(WINDOW_S, 3.0 / motion.rate_hz)
    t = motion.time_s
    grid = np.arange(0.0, t[-1], GRID_S)
    before, after = np.maximum(grid - 0.5 * window, 0.0), np.minimum(grid + 0.5 * window, t[-1])
    left, right = ((np.interp(after, t, s) - np.interp(before, t, s)) / (after - before) for s in (motion.left_m, motion.right_m))
    # Noise of the speeds by samples one window apart: medians do not see the manoeuvres.
    apart = max(1, round(window / GRID_S))
    jumps = np.concatenate([side[apart:] - side[:-apart] for side in (left, right)]) if len(grid) > apart else np.zeros(1)
    noise = robust_std(jumps) / float(np.sqrt(2.0))
    fastest = np.maximum(np.abs(left), np.abs(right))
    return _Speeds(int(motion.stamps_ns[0]), left, right, SAME_MPS + SAME_SHARE * fastest + SAME_NOISES * noise)


def _in_piece(motion: WheelMotion, track_m: float, log: DriveLog) -> Iterator[Manoeuvre]:
    speeds = _speeds(motion)
    plateaus = _plateaus(speeds)
    for first, last in plateaus:
        manoeuvre = _steady(speeds, first, last, track_m)
        if manoeuvre.kind in (ManoeuvreKind.SPIN, ManoeuvreKind.ARC):
            settled = _settled(manoeuvre, log)
            if settled:
                yield settled
        else:
            yield manoeuvre
    edges = ([(0, 0)] if plateaus and plateaus[0][0] > 0 else []) + plateaus
    for before, after in pairwise(edges):
        step = _step(speeds, before, after, track_m)
        if step:
            yield step


def _plateaus(speeds: _Speeds) -> list[tuple[int, int]]:
    """First and last grid point of every steady piece."""
    width = max(3, round(STEADY_S / GRID_S) | 1)
    change = np.maximum(*(maximum_filter1d(s, width) - minimum_filter1d(s, width) for s in (speeds.left, speeds.right)))
    steady = np.concatenate([[False], change < speeds.same, [False]])
    turns = np.flatnonzero(steady[1:] != steady[:-1])
    least = round(STEADY_S / GRID_S)
    found = []
    for first, end in turns.reshape(-1, 2).tolist():
        if end - first >= least:
            found.append((first, end - 1))
    return found


def _kind(left: float, right: float) -> ManoeuvreKind:
    along, turning = 0.5 * abs(left + right), 0.5 * abs(right - left)
    if max(abs(left), abs(right)) < REST_MPS:
        return ManoeuvreKind.REST
    if turning <= max(PURE_SHARE * along, REST_MPS):
        return ManoeuvreKind.STRAIGHT
    return ManoeuvreKind.SPIN if along <= max(PURE_SHARE * turning, REST_MPS) else ManoeuvreKind.ARC


def _steady(speeds: _Speeds, first: int, last: int, track_m: float) -> Manoeuvre:
    left, right = float(np.median(speeds.left[first : last + 1])), float(np.median(speeds.right[first : last + 1]))
    along = 0.5 * (left + right)
    start, end = speeds.ns(first), speeds.ns(last)
    return Manoeuvre(_kind(left, right), start, end, along, along, (right - left) / track_m, start, end)


def _step(speeds: _Speeds, before: tuple[int, int], after: tuple[int, int], track_m: float) -> Manoeuvre | None:
    """The speed step between two plateaus, if it is one."""
    start, end = _steady(speeds, *before, track_m), _steady(speeds, *after, track_m)
    straight = (ManoeuvreKind.STRAIGHT, ManoeuvreKind.REST)
    if start.kind not in straight or end.kind not in straight or start.to_mps * end.to_mps < -(REST_MPS**2):
        return None
    between = slice(before[1], after[0] + 1)
    left, right = speeds.left[between], speeds.right[between]
    fastest = float(np.maximum(np.abs(left), np.abs(right)).max())
    if float(np.abs(right - left).max()) > 2.0 * PURE_SHARE * fastest + 2.0 * REST_MPS:
        return None
    along = 0.5 * (left + right)
    if abs(end.to_mps - start.to_mps) < LEAST_STEP_MPS or along.min() * along.max() < -(REST_MPS**2):
        return None
    margin = round(STEP_MARGIN_S / GRID_S)
    # Never more than half of a plateau, so that a step's margins are its own.
    first = before[1] - min(margin, (before[1] - before[0]) // 2)
    last = after[0] + min(margin, (after[1] - after[0]) // 2)
    return Manoeuvre(
        ManoeuvreKind.STEP,
        speeds.ns(first),
        speeds.ns(last),
        start.to_mps,
        end.to_mps,
        0.0,
        speeds.ns(before[1]),
        speeds.ns(after[0]),
    )


def _settled(turning: Manoeuvre, log: DriveLog) -> Manoeuvre | None:
    """The same spin or arc without its run-in; None if too little is left."""
    run_in = max(RUN_IN_S, _settling_s(turning, log))
    start_ns = turning.start_ns + round(run_in * NANOSECONDS)
    if turning.end_ns - start_ns < LEAST_SPIN_S * NANOSECONDS:
        return None
    return Manoeuvre(
        turning.kind, start_ns, turning.end_ns, turning.from_mps, turning.to_mps, turning.yaw_rate_radps,
        start_ns, turning.end_ns, run_in,
    )  # fmt: skip


def _settling_s(turning: Manoeuvre, log: DriveLog) -> float:
    """How long the gyro's rate still changes after the wheels' speeds are steady; zero without a gyro."""
    if IMU not in log or "gyro_z_radps" not in log[IMU].columns:
        return 0.0
    imu = log[IMU]
    inside = (imu.stamps_ns >= turning.start_ns) & (imu.stamps_ns <= turning.end_ns)
    rate = imu.column("gyro_z_radps")[inside]
    per_block = max(1, round(SETTLE_BLOCK_S * len(rate) / max(turning.duration_s, 1e-9)))
    blocks = len(rate) // per_block
    if blocks < 6 or not np.isfinite(rate).all():
        return 0.0
    means = rate[: blocks * per_block].reshape(blocks, per_block).mean(axis=1)
    late = means[blocks // 2 :]
    allowed = SETTLED_SHARE * abs(float(np.median(late))) + SETTLED_DEVIATIONS * float(np.std(late))
    unsettled = np.flatnonzero(np.abs(means[: blocks // 2] - np.median(late)) > allowed)
    return float((unsettled[-1] + 1) * SETTLE_BLOCK_S) if len(unsettled) else 0.0
