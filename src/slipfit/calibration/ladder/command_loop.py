"""From commands to wheels over short pieces of a drive: what a driver node and its motors make of both sides' speeds.

Commands are body velocities to most driver nodes, limited as such, and turned into wheel speeds by a geometry that need not be
the log's. With m the mean and d half the difference of both sides' commands:

    M = clip(gain_mean m, ±mean_limit),  D = clip(gain_turn d, ±turn_limit),  target = clip(M ∓ D, ±side_limit)
    x' = clip((target(t - delay) + held(t) - x) / lag, ±acceleration)

A piece starts from the speeds that the encoders told last. What they then miss of a target that has stood for long (`settle_s`)
is a load that motors do not overcome: it is held, and fades with `fade_s`, until the command changes.

Symbols    x rim speed of a side (m/s) · held starts at (1 - exp(-age / settle_s)) (x - target) · age of the command
Reference  derived above; limits as in ros2_control's diff_drive_controller
Valid for  pieces of some seconds: a restart from the measured speeds is part of the model
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from slipfit.calibration.ladder.windows import Windows
from slipfit.calibration.spread import block_scores, inverse_of, quantile, robust_weights
from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, SIDES, side_column
from slipfit.logs.rims import GRID_S, Rims, commanded_rims

#: Step of the model (s): half the interval of quick encoders.
STEP_S = 0.05

#: Residuals beyond this (m/s) weigh less: stalls, emergency stops.
ROBUST_FROM_MPS = 0.1

#: How hard a logarithm is held where it began (m/s), and how far off that may be: a factor of four or so.
HELD_BY_MPS, BEGIN_STD = 1e-2, 1.5

#: Step of a logarithm by which slopes are taken.
DIFFERENCE = 1e-3

#: Pieces of one block of time count as one voice when spreads are told (s).
BLOCK_S = 12.0

#: A number is told where the standard deviation of its logarithm is below this.
TOLD_BELOW = 0.3

#: Numbers that matter only where something reaches them, and how many standard errors say that something does.
LIMITS, MET_FROM = ("mean_limit_mps", "turn_limit_mps", "side_limit_mps", "acceleration_mps2"), 2.0

#: A command that moved less than this is the same (m/s).
SAME_MPS = 1e-6


@dataclass(frozen=True, slots=True)
class LoopSpread:
    """How sure the numbers of a loop are: standard deviations of their logarithms, over so many blocks of time."""

    log_std: dict[str, float]
    blocks: int


@dataclass(frozen=True, slots=True)
class CommandLoop:
    """The numbers; speeds are those of rims (m/s)."""

    gain_mean: float = 1.0
    gain_turn: float = 1.0
    mean_limit_mps: float = np.inf
    turn_limit_mps: float = np.inf
    side_limit_mps: float = np.inf
    delay_s: float = 0.1
    lag_s: float = 0.2
    acceleration_mps2: float = np.inf
    settle_s: float = 0.5
    fade_s: float = 5.0
    spread: LoopSpread | None = field(default=None, compare=False)  # of a loop that was fitted

    @property
    def names(self) -> tuple[str, ...]:
        """Numbers that are finite: a limit that is not there has none."""
        names = (f.name for f in fields(self) if f.name != "spread")
        return tuple(name for name in names if np.isfinite(getattr(self, name)))

    def tells(self, name: str) -> bool:
        """Whether the drive told this number: a limit that nothing reaches is not."""
        return self.spread is not None and self.spread.log_std[name] < TOLD_BELOW

    def std(self, name: str) -> float:
        """By the derivative of the exponential; NaN of a loop that nobody fitted."""
        return float(getattr(self, name)) * self.spread.log_std[name] if self.spread else float("nan")

    def interval_90(self, name: str) -> tuple[float, float]:
        """The logarithm's, by Student's distribution, carried over."""
        value = float(getattr(self, name))
        if self.spread is None:
            return float("nan"), float("nan")
        reach = float(np.exp(quantile(self.spread.blocks) * self.spread.log_std[name]))
        return value / reach, value * reach

    def targets(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.clip(self.gain_mean * 0.5 * (left + right), -self.mean_limit_mps, self.mean_limit_mps)
        turn = np.clip(self.gain_turn * 0.5 * (right - left), -self.turn_limit_mps, self.turn_limit_mps)
        limit = self.side_limit_mps
        return np.clip(mean - turn, -limit, limit), np.clip(mean + turn, -limit, limit)

    def summary(self) -> str:
        return "\n".join(f"  {name:<20}{self._said(name)}" for name in self.names)

    def _said(self, name: str) -> str:
        if self.spread is None:
            return f"{getattr(self, name):>9.3f}"
        if not self.tells(name):
            return f"{'-':>9}   not told by this drive"
        low, high = self.interval_90(name)
        return f"{getattr(self, name):>9.3f}   90 % in {low:.3f} to {high:.3f}"

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        if self.spread is None:
            return {name: {"value": getattr(self, name)} for name in self.names}
        return {
            name: {
                "value": getattr(self, name),
                "std": self.std(name),
                "interval_90": list(self.interval_90(name)),
                "is_told": self.tells(name),
            }
            for name in self.names
        }


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Pieces of a drive, each with commands and measured speeds on steps from its start: (n, K) and (n,)."""

    start_s: np.ndarray
    told: tuple[Rims, np.ndarray]  # commands, and the age of each on their grid
    at_s: np.ndarray  # (K,) since the start
    begun: np.ndarray  # (n, 2) rim speeds that were known at the start
    measured: np.ndarray  # (n, K, 2)

    def run(self, loop: CommandLoop) -> np.ndarray:
        """Rim speeds of every piece, (n, K, 2)."""
        commands, age = self.told
        grid = commands.time_s
        sides = np.column_stack(loop.targets(commands.left_mps, commands.right_mps))
        # Means over steps, by differences of the running sum: a delay then has a slope wherever commands jump.
        run = np.vstack([np.zeros((1, 2)), np.cumsum(sides, axis=0)])
        place = np.clip((self.start_s[:, None] + self.at_s[None] - loop.delay_s) / GRID_S, 0.0, len(grid) - 1.0)
        low = place.astype(int)
        total = run[low] + (place - low)[..., None] * sides[low]
        target = np.concatenate([sides[low[:, :1]], np.diff(total, axis=1) * (GRID_S / STEP_S)], axis=1)
        held = (1.0 - np.exp(-age[low[:, 0]] / loop.settle_s))[:, None] * (self.begun - target[:, 0])
        same = np.cumprod(np.abs(target - target[:, :1]).max(axis=2) < SAME_MPS, axis=1)[..., None]
        x = np.empty_like(self.measured)
        x[:, 0] = self.begun
        share, reach = -np.expm1(-STEP_S / loop.lag_s), loop.acceleration_mps2 * STEP_S
        for k in range(1, x.shape[1]):
            aim = target[:, k] + same[:, k] * held * np.exp(-self.at_s[k] / loop.fade_s)
            x[:, k] = x[:, k - 1] + np.clip(share * (aim - x[:, k - 1]), -reach, reach)
        return x


def pieces_of(log: DriveLog, robot: SkidSteerRobot, rims: Rims, windows: Windows) -> Pieces | None:
    """The windows that last the horizon; commands on the clock of the measured speeds. None where the log has no commands."""
    commands = commanded_rims(log, robot)
    if commands is None:
        return None
    start = windows.from_s[windows.whole]
    length = float(np.median((windows.to_s - windows.from_s)[windows.whole]))
    at = np.arange(int(np.ceil(length / STEP_S - 1e-6)) + 2) * STEP_S
    shifted = _on_clock(commands, rims)
    time_s = start[:, None] + at[None]
    measured = np.stack([np.interp(time_s, rims.time_s, side) for side in (rims.left_mps, rims.right_mps)], axis=2)
    return Pieces(start, (shifted, _ages(shifted)), at, _known(log, robot, rims, start), measured)


def _known(log: DriveLog, robot: SkidSteerRobot, rims: Rims, start_s: np.ndarray) -> np.ndarray:
    """The latest speeds of both sides at each start, (n, 2): a line to the next sample would tell what comes."""
    channel, names = log[ENCODERS], [side_column("speed", side) for side in SIDES]
    if not set(names) <= set(channel.columns):
        rows = np.clip((start_s / GRID_S).astype(int), 0, len(rims.left_mps) - 1)
        return np.column_stack([rims.left_mps[rows], rims.right_mps[rows]])
    speeds = robot.wheels.radius_m.value * np.column_stack([channel.column(name) for name in names])
    kept = np.isfinite(speeds).all(axis=1)
    at = np.searchsorted(rims.seconds(channel.stamps_ns[kept]), start_s + 1e-6, side="right") - 1
    return np.asarray(speeds[kept][np.maximum(at, 0)])


def _on_clock(commands: Rims, rims: Rims) -> Rims:
    """Commands on the grid of the rims."""
    from_start = commands.seconds(np.array([rims.start_ns]))[0] + rims.time_s
    row = np.clip((from_start / GRID_S + 1e-6).astype(int), 0, len(commands.left_mps) - 1)
    return Rims(rims.start_ns, commands.left_mps[row], commands.right_mps[row])


def _ages(commands: Rims) -> np.ndarray:
    """How long each command has stood."""
    changed = np.concatenate([[True], (np.diff(commands.left_mps) != 0.0) | (np.diff(commands.right_mps) != 0.0)])
    since = np.maximum.accumulate(np.where(changed, np.arange(len(changed)), 0))
    return np.asarray((np.arange(len(changed)) - since) * GRID_S)


def fit_command_loop(pieces: Pieces, used: np.ndarray | None = None) -> CommandLoop:
    """All numbers from the `used` pieces, robust; limits that nothing reaches end beyond what was measured."""
    kept = np.ones(len(pieces.start_s), dtype=bool) if used is None else used
    chosen = Pieces(pieces.start_s[kept], pieces.told, pieces.at_s, pieces.begun[kept], pieces.measured[kept])
    left, right = chosen.measured[..., 0], chosen.measured[..., 1]
    # Limits begin at what was reached: from beyond it nothing leads back.
    mean, turn, side = (
        max(float(np.percentile(np.abs(v), 99.0)), 0.01) for v in (0.5 * (left + right), 0.5 * (right - left), chosen.measured)
    )
    start = {
        "gain_mean": _gain(chosen, 1.0), "gain_turn": _gain(chosen, -1.0), "mean_limit_mps": mean, "turn_limit_mps": turn,
        "side_limit_mps": side, "delay_s": 0.15, "lag_s": 0.25, "acceleration_mps2": 5.0 * side, "settle_s": 1.0, "fade_s": 5.0,
    }  # fmt: skip
    names = list(start)

    def loop_of(logs: np.ndarray) -> CommandLoop:
        values: dict[str, Any] = dict(zip(names, map(float, np.exp(logs)), strict=True))
        return CommandLoop(**values)

    def missed(logs: np.ndarray) -> np.ndarray:
        return np.asarray((chosen.run(loop_of(logs)) - chosen.measured).ravel())

    def residual(logs: np.ndarray) -> np.ndarray:
        return np.concatenate([missed(logs), HELD_BY_MPS * (logs - begin)])

    begin = np.log(list(start.values()))
    found = least_squares(
        residual, begin, loss="soft_l1", f_scale=ROBUST_FROM_MPS, max_nfev=40, diff_step=DIFFERENCE,
        bounds=(begin - 3.0, begin + 3.0),
    )  # fmt: skip
    steps = DIFFERENCE * np.eye(len(names))
    slopes = np.column_stack([(missed(found.x + step) - missed(found.x - step)) / (2.0 * DIFFERENCE) for step in steps])
    time_s = np.repeat((chosen.start_s[:, None] + chosen.at_s[None]).ravel(), 2)
    log_std, blocks = _spread(missed(found.x), slopes, time_s)
    for k, name in enumerate(names):
        if name in LIMITS and not _is_met(missed(found.x), missed(found.x + BEGIN_STD * np.eye(len(names))[k]), time_s):
            log_std[k] = max(log_std[k], BEGIN_STD)
    # Whether encoders tell moments or means of a step nobody says: half of one, evenly spread.
    at = names.index("delay_s")
    log_std[at] = np.hypot(log_std[at], 0.5 * STEP_S / np.sqrt(3.0) / np.exp(found.x[at]))
    return replace(loop_of(found.x), spread=LoopSpread(dict(zip(names, map(float, log_std), strict=True)), blocks))


def _spread(missed: np.ndarray, slopes: np.ndarray, time_s: np.ndarray) -> tuple[np.ndarray, int]:
    """Standard deviations by the sandwich of the scores of blocks of time, as of a rung; and the number of blocks."""
    robust = robust_weights(missed, ROBUST_FROM_MPS)
    held = np.full(slopes.shape[1], HELD_BY_MPS**2)
    inverse = inverse_of(slopes.T @ (slopes * (robust**3)[:, None]) + np.diag(held))
    scores = block_scores(time_s, slopes * (robust * missed)[:, None], BLOCK_S)
    count = max(len(scores), 1)
    few = count / max(0.5 * count, count - slopes.shape[1])
    covariance = inverse @ (scores.T @ scores * few + np.diag((held * BEGIN_STD) ** 2)) @ inverse
    # Blocks may agree by chance: never below the noise's own.
    least = robust_std(missed, about=0.0) ** 2 * np.diag(inverse)
    return np.sqrt(np.maximum(np.diag(covariance), least)), count


def _is_met(missed: np.ndarray, without: np.ndarray, time_s: np.ndarray) -> bool:
    """Whether several blocks of time say that a limit is there: they are predicted worse without it. One that is as high as the
    fastest moment of a drive costs nothing, and is none."""
    worse = np.sqrt(1.0 + (without / ROBUST_FROM_MPS) ** 2) - np.sqrt(1.0 + (missed / ROBUST_FROM_MPS) ** 2)
    block = np.floor(time_s / BLOCK_S).astype(int)
    sums = np.bincount(block - block.min(), weights=worse)[np.unique(block - block.min())]
    return len(sums) > 2 and bool(sums.mean() > MET_FROM * sums.std(ddof=1) / np.sqrt(len(sums)) and sums.mean() > 0.0)


def _gain(pieces: Pieces, other: float) -> float:
    """Median of measured over commanded at the pieces' ends, of the mean (1) or the difference (-1)."""
    commands, _ = pieces.told
    row = np.clip(((pieces.start_s + pieces.at_s[-1]) / GRID_S).astype(int), 0, len(commands.left_mps) - 1)
    told = commands.right_mps[row] + other * commands.left_mps[row]
    reached = pieces.measured[:, -1, 1] + other * pieces.measured[:, -1, 0]
    clear = (np.abs(told) > 0.1) & (np.abs(told) < np.percentile(np.abs(told), 60.0))
    return float(np.clip(np.median(reached[clear] / told[clear]), 0.3, 3.0)) if clear.any() else 1.0


def predicted_rims(loop: CommandLoop, pieces: Pieces, rims: Rims) -> Rims:
    """Both sides as the loop predicts them from each piece's start on; between pieces as measured."""
    x = pieces.run(loop)
    sides = [rims.left_mps.copy(), rims.right_mps.copy()]
    ends = np.append(pieces.start_s[1:], np.inf)
    for k, (start, end) in enumerate(zip(pieces.start_s, ends, strict=True)):
        first, last = round(start / GRID_S), int(min(end, start + pieces.at_s[-1]) / GRID_S)
        rows = np.arange(first, min(last + 1, len(sides[0])))
        for side in (0, 1):
            sides[side][rows] = np.interp(rows * GRID_S - start, pieces.at_s, x[k, :, side])
    return Rims(rims.start_ns, sides[0], sides[1])
