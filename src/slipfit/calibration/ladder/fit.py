"""Fit one rung to windows of a drive: robust least squares of where the robot went and how far it turned, clocks included."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

from slipfit.calibration.ladder.rungs import Rung, Values
from slipfit.calibration.ladder.windows import SHARES, Windows, blocks_of
from slipfit.calibration.spread import block_scores, inverse_of, quantile, robust_weights
from slipfit.calibration.unknowns import Unknown
from slipfit.library.deviation import robust_std
from slipfit.logs.rims import GRID_S, Rims

#: Windows of one block of time count as one voice when spreads are told (s).
BLOCK_S = 12.0
SHORTER_BLOCKS_S = (2.0, 4.0)

#: Beyond so many deviations a residual counts less and less.
ROBUST_FROM = 1.5

#: Noise that a first round supposes, per horizon (m, m, rad), and the least that any round does.
FIRST_NOISE, LEAST_NOISE = (0.2, 0.2, 0.05), (1e-3, 1e-3, 1e-4)

#: Rounds end when no noise changes by more than this share.
ROUNDS, SETTLED = 6, 0.05

#: How many of a rung's starts a first round is run from.
STARTS = 2

#: How far a gain may be off 1 where no pose tells it: not at all.
GAIN_STD_WITHOUT_POSE = 1e-3

#: A number is told where its spread is below this share of what was expected before, and a length below this share of itself.
TOLD_BELOW, TOLD_SHARE = 0.8, 0.25


def soft_l1(z: np.ndarray) -> np.ndarray:
    """Cost of each residual, in units of where it begins to count less: 2 (sqrt(1 + z²) - 1)."""
    return np.asarray(2.0 * (np.sqrt(1.0 + z * z) - 1.0))


def sensor_unknowns(windows: Windows) -> tuple[Unknown, ...]:
    """Clocks, and the gyro's bias."""
    found = []
    if np.isfinite(windows.gyro_rad).any():
        found.append(Unknown("imu_late_s", 0.0, 0.02, 0.15, "IMU stamps behind the encoders'", "sensors"))
        found.append(Unknown("gyro_bias_radps", 0.0, 0.001, windows.gyro_bias_std_radps, "gyro bias", "sensors"))
    if np.isfinite(windows.moved).any():
        late = windows.pose_late_s
        found.append(Unknown("pose_late_s", late, 0.02, 0.3, "poses behind the encoders", "sensors", late))
    return tuple(found)


@dataclass(frozen=True, eq=False, slots=True)
class FittedRung:
    """A rung with its numbers."""

    rung: Rung
    unknowns: tuple[Unknown, ...]
    values: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray  # (shares, 3): what is left over windows of each length: m ahead, m to the left, rad
    blocks: int
    windows: int
    prior_std: np.ndarray | None = None  # what the fit supposed beforehand; the unknowns' own where nobody says otherwise

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.unknowns)

    def value(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def std(self, name: str) -> float:
        k = self.names.index(name)
        return float(np.sqrt(self.covariance[k, k]))

    def tells(self, name: str) -> bool:
        """Whether the drive, and not what was expected before it, told this number."""
        k, std = self.names.index(name), self.std(name)
        expected = self.unknowns[k].prior_std if self.prior_std is None else float(self.prior_std[k])
        if not np.isfinite(std) or (expected is not None and std > TOLD_BELOW * expected):
            return False
        return not name.startswith(("effective_track", "y_")) or std < TOLD_SHARE * abs(self.value(name))

    def interval_90(self, name: str) -> tuple[float, float]:
        """By Student's distribution: blocks tell the spread, and they are few."""
        reach = quantile(self.blocks) * self.std(name)
        return self.value(name) - reach, self.value(name) + reach

    def as_values(self) -> dict[str, float]:
        return dict(zip(self.names, map(float, self.values), strict=True))

    def predict(self, rims: Rims, windows: Windows) -> np.ndarray:
        """Ahead, to the left, turned, (n, 3), of every window: the first two between its poses, the last between its stamps."""
        values = self.as_values()
        return predicted_motion(self.rung.twists(rims, [values])[0], windows, values)


def path_of(twist: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pose at every point of the grid; each interval with the heading of its middle."""
    turn = 0.5 * (twist[1:, 2] + twist[:-1, 2]) * GRID_S
    heading = np.concatenate([[0.0], np.cumsum(turn)])
    middle = heading[:-1] + 0.5 * turn
    u, v = (0.5 * (twist[1:, k] + twist[:-1, k]) * GRID_S for k in (0, 1))
    c, s = np.cos(middle), np.sin(middle)
    return np.concatenate([[0.0], np.cumsum(c * u - s * v)]), np.concatenate([[0.0], np.cumsum(s * u + c * v)]), heading


def predicted_motion(twist: np.ndarray, windows: Windows, values: Values) -> np.ndarray:
    x, y, heading = path_of(twist)
    time_s = np.arange(len(twist)) * GRID_S
    late = values.get("imu_late_s", 0.0)
    turned = np.interp(windows.to_s - late, time_s, heading) - np.interp(windows.from_s - late, time_s, heading)
    turned += values.get("gyro_bias_radps", 0.0) * (windows.to_s - windows.from_s)
    if not np.isfinite(windows.moved).any():
        return np.column_stack([np.full((len(windows), 2), np.nan), turned])
    late = values.get("pose_late_s", 0.0)
    a, b = windows.pose_from_s - late, windows.pose_to_s - late
    dx, dy = np.interp(b, time_s, x) - np.interp(a, time_s, x), np.interp(b, time_s, y) - np.interp(a, time_s, y)
    first = np.interp(a, time_s, heading)
    if not np.isfinite(windows.gyro_rad).any():
        turned = np.interp(b, time_s, heading) - first
    c, s = np.cos(first), np.sin(first)
    return np.column_stack([c * dx + s * dy, c * dy - s * dx, turned])


def measured(windows: Windows) -> np.ndarray:
    """The same as the sensors say it; turned by the gyro, or by the pose where there is none."""
    turned = windows.gyro_rad if np.isfinite(windows.gyro_rad).any() else windows.moved[:, 2]
    return np.column_stack([windows.moved[:, :2], turned])


class _Problem:
    """Residuals and slopes of one rung on chosen windows, for the solver."""

    def __init__(self, rung: Rung, rims: Rims, windows: Windows, used: np.ndarray) -> None:
        self.rung, self.rims, self.windows, self.used = rung, rims, windows, used
        self.unknowns = (*rung.unknowns, *sensor_unknowns(windows))
        self.names = tuple(u.name for u in self.unknowns)
        self.told = measured(windows)
        self.share = np.searchsorted(SHARES, windows.share)
        self.noise = np.array(SHARES)[:, None] * np.array(FIRST_NOISE)
        self.prior = np.array([1.0 / u.prior_std if u.prior_std else 0.0 for u in self.unknowns])
        if not np.isfinite(windows.moved).any():
            # Turning tells gain over track only: the gain is taken as 1, and the track stands for both.
            self.prior[[name.startswith("gain") for name in self.names]] = 1.0 / GAIN_STD_WITHOUT_POSE
        self.expected = np.array([u.expected for u in self.unknowns])
        self.scale = np.array([u.scale for u in self.unknowns])
        self._latest: tuple[bytes, np.ndarray] | None = None

    def _set(self, point: np.ndarray) -> dict[str, float]:
        return dict(zip(self.names, map(float, point), strict=True))

    def twist(self, point: np.ndarray) -> np.ndarray:
        key = point[: len(self.rung.unknowns)].tobytes()
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self.rung.twists(self.rims, [self._set(point)])[0]
        return self._latest[1]

    def raw(self, point: np.ndarray, twist: np.ndarray) -> np.ndarray:
        """Predicted minus measured, (n, 3)."""
        return np.asarray((predicted_motion(twist, self.windows, self._set(point)) - self.told)[self.used])

    def weighted(self, point: np.ndarray, twist: np.ndarray) -> np.ndarray:
        return np.asarray(np.nan_to_num(self.raw(point, twist) / self.noise[self.share[self.used]]).ravel())

    def residuals(self, point: np.ndarray) -> np.ndarray:
        return np.concatenate([self.weighted(point, self.twist(point)), self.prior * (point - self.expected)])

    def beginnings(self, begin: Values | None) -> list[np.ndarray]:
        """Where to begin: as told, or at the `STARTS` best of the rung's own starts."""
        told = [begin] if begin is not None else list(self.rung.starts) or [{}]
        points = [np.array([start.get(u.name, u.start) for u in self.unknowns]) for start in told]
        if len(points) == 1:
            return points
        twists = self.rung.twists(self.rims, [self._set(point) for point in points])
        costs = [float(np.sum(soft_l1(self.weighted(p, twist) / ROBUST_FROM))) for p, twist in zip(points, twists, strict=True)]
        return [points[k] for k in np.argsort(costs)[:STARTS]]

    def slopes(self, point: np.ndarray) -> np.ndarray:
        here, moving = self.twist(point), len(self.rung.unknowns)
        shifted = np.repeat(point[None], len(point), axis=0) + np.diag(0.1 * self.scale)
        twists = self.rung.twists(self.rims, [self._set(p) for p in shifted[:moving]]) if moving else []
        base = self.weighted(point, here)
        columns = [
            (self.weighted(p, twists[j] if j < moving else here) - base) / (0.1 * self.scale[j]) for j, p in enumerate(shifted)
        ]
        return np.vstack([np.column_stack(columns) if columns else np.zeros((len(base), 0)), np.diag(self.prior)])

    def reweigh(self, point: np.ndarray) -> bool:
        """Noise of each length of window from what is left; and whether it has settled."""
        left, share, before = self.raw(point, self.twist(point)), self.share[self.used], self.noise.copy()
        for k in range(len(SHARES)):
            for signal in range(3):
                rest = left[share == k, signal]
                rest = rest[np.isfinite(rest)]
                if len(rest) > 5:
                    self.noise[k, signal] = max(robust_std(rest, about=0.0), LEAST_NOISE[signal])
        return bool((np.abs(self.noise / before - 1.0) < SETTLED).all())


def fit_rung(
    rung: Rung,
    rims: Rims,
    windows: Windows,
    used: np.ndarray | None = None,
    *,
    start: FittedRung | None = None,
    begin: Values | None = None,
    evaluations: int = 12,
) -> FittedRung:
    """The rung's numbers from the `used` windows.

    Parameters
    ----------
    start : a fit of the same rung to nearly the same windows: one round from there, with its noise
    begin : where to begin, of the unknowns that are named: a rung with a regression begins where its base ended
    """
    used = windows.is_trusted if used is None else used & windows.is_trusted
    problem = _Problem(rung, rims, windows, used)
    if start is not None:
        points, problem.noise = [start.values], start.noise.copy()
    else:
        points = problem.beginnings(begin)
    for _ in range(ROUNDS if start is None else 1):
        # Only the first round may have several points: the noise that it supposes is the same for all.
        point, _, has_ended = min((_solved(problem, point, evaluations) for point in points), key=lambda end: end[1])
        points = [point]
        if problem.reweigh(point) and has_ended:
            break
    covariance, blocks = _covariance(problem, point)
    with np.errstate(divide="ignore"):
        supposed = 1.0 / problem.prior
    return FittedRung(rung, problem.unknowns, point, covariance, problem.noise, blocks, int(used.sum()), supposed)


def _solved(problem: _Problem, point: np.ndarray, evaluations: int) -> tuple[np.ndarray, float, bool]:
    """Where the solver ends, the cost there, and whether it ended by itself."""
    if not len(point):
        return point, 0.0, True
    bounds = np.array([u.bounds() for u in problem.unknowns]).T.reshape(2, -1)
    with threadpool_limits(1):
        found = least_squares(
            problem.residuals, np.clip(point, bounds[0] + 1e-9, bounds[1] - 1e-9), jac=problem.slopes, bounds=bounds,
            x_scale=problem.scale, loss="soft_l1", f_scale=ROBUST_FROM, max_nfev=evaluations, ftol=1e-4, xtol=1e-4,
        )  # fmt: skip
    return found.x, float(found.cost), found.status > 0


def _covariance(problem: _Problem, point: np.ndarray) -> tuple[np.ndarray, int]:
    """Sandwich of the scores of blocks of time: windows overlap, and floors change slowly. The widest of short and long blocks:
    of a short drive long ones are too few, and their scores add up to nothing."""
    count = len(np.unique(blocks_of(problem.windows, BLOCK_S)[problem.used]))
    if not len(point):
        return np.zeros((0, 0)), count
    slopes = problem.slopes(point)[: -len(point)]
    white = problem.weighted(point, problem.twist(point))
    robust = robust_weights(white, ROBUST_FROM)
    # Slope of the score z / sqrt(1 + z^2): with the weight itself, far residuals would count as knowledge.
    information = slopes.T @ (slopes * (robust**3)[:, None]) + np.diag(problem.prior**2)
    times, weighted = np.repeat(problem.windows.from_s[problem.used], 3), slopes * (robust * white)[:, None]
    inverse = inverse_of(information)
    sandwiches = []
    for length_s in (BLOCK_S, *SHORTER_BLOCKS_S):
        scores = block_scores(times, weighted, length_s)
        # Few blocks see too little of what their own fit has taken away.
        few = len(scores) / max(0.5 * len(scores), len(scores) - len(point))
        sandwiches.append(inverse @ (scores.T @ scores * few + np.diag(problem.prior**2)) @ inverse)
    covariance = sandwiches[0]
    # They may agree by chance: never below the noise's own, nor below what shorter blocks say.
    least = np.max([np.diag(inverse), *(np.diag(other) for other in sandwiches[1:])], axis=0)
    widened = np.sqrt(np.maximum(1.0, least / np.maximum(np.diag(covariance), 1e-300)))
    return covariance * np.outer(widened, widened), count
