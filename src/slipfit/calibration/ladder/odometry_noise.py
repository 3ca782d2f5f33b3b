"""What wheel odometry errs, in the words of localisation filters: spreads per window, nav2's alphas, drift per second.

Squared residuals of windows are regressed on what unit noise would do to them, with numbers that are not negative.

nav2_amcl's differential motion model turns by a (rot1), goes d (trans), turns by b (rot2) with each update, and draws for them

    Var(a) = alpha1 a² + alpha2 d²,    Var(d) = alpha3 d² + alpha4 (a² + b²),    Var(b) = alpha1 b² + alpha2 d²

so alphas multiply variances. On an arc a = b = theta / 2, on the spot a = 0 and b = theta, thus of an update

    Var(heading) = alpha1 theta² / 2 + 2 alpha2 d²,    Var(way) = alpha3 d² + alpha4 theta² / 2

with theta² in place of theta² / 2 on the spot. Skid-steer odometry errs for seconds in the same direction (`growth` near 1: a
floor, a load, a speed), so an update's share of a window's error is its share of the motion: what holds for windows holds for
updates.

Symbols    d way · theta turn
Reference  nav2_amcl, differential_motion_model.cpp (after Probabilistic Robotics, ch. 5); the rest: derived here
Valid for  errors that are small against a radian; noise of the pose counts as the robot's
"""

import numpy as np
from scipy.optimize import nnls
from scipy.stats import t as student

from slipfit.calibration.ladder.comparison import Drive, Scored
from slipfit.calibration.ladder.fit import BLOCK_S, measured, path_of
from slipfit.calibration.ladder.windows import SHARES, Windows, blocks_of
from slipfit.library.deviation import robust_std
from slipfit.logs.rims import GRID_S
from slipfit.twin import AmclNoise, FittedParameter, OdometryNoise, Status
from slipfit.twin.kinematics import ALPHAS

#: nav2_amcl updates after this much motion if nobody says otherwise (m, rad); windows with less tell nothing.
UPDATE_M, UPDATE_RAD = 0.25, 0.2

#: An update that goes less than this is a turn on the spot for nav2_amcl (m): after UPDATE_RAD, a radius below 5 cm.
ON_THE_SPOT_M = 0.01

#: Errors below these are the sensors': windows that hardly move do not get more weight for it.
SENSOR_M, SENSOR_RAD = 0.02, 0.005

#: A residual counts up to this many of its standard deviations; what a normal distribution loses by it is given back.
MOST_DEVIATIONS = 3.0
KEPT_BY_NORMAL = 0.995007  # mean of min(z², 9): erf(3/√2) - 3 √(2/π) exp(-9/2) + 9 erfc(3/√2)

#: Rounds of the regression, and groups of blocks that are left out in turn for its spread.
ROUNDS, GROUPS = 25, 12

#: Fewest windows with motion that noise is told from.
FEWEST = 12

#: The robot's own changes of speed are looked at over this long (s).
CHANGE_OVER_S = 0.5

#: Which alphas multiply turning, and which the way.
OF_TURNS, OF_WAYS = (0, 3), (1, 2)

_STDS = ("ahead_m", "left_m", "heading_rad")
_DRIFTS = ("ahead_m2_per_s", "left_m2_per_s", "heading_rad2_per_s")


def odometry_noise(scored: Scored, drive: Drive, horizon_s: float) -> OdometryNoise:
    """Of a rung, usually track and gain: what a controller's odometry is."""
    windows, fit = drive.windows, scored.fit
    asked = windows.believed
    left = (fit.predict(drive.rims, windows) - measured(windows))[asked]
    twist = fit.rung.twists(drive.rims, [fit.as_values()])[0]
    paths = window_paths(twist, windows, asked, fit.as_values())
    found: dict[str, float] = {}
    for k, name in enumerate(_STDS):
        seen = left[np.isfinite(left[:, k]), k]
        if len(seen):
            found[name] = robust_std(seen, about=0.0)
    found["growth"] = _growth(fit.noise[:, [k for k, name in enumerate(_STDS) if name in found and name != "left_m"]])
    found["speed_change_m2_per_s3"] = _change(twist[:, 0])
    found["yaw_rate_change_rad2_per_s3"] = _change(twist[:, 2])
    moving = np.array([_moves(path) for path in paths], dtype=bool)
    amcl = None
    if moving.sum() >= FEWEST:
        used, block = (
            [path for path, moves in zip(paths, moving, strict=True) if moves],
            blocks_of(windows, BLOCK_S)[asked][moving],
        )
        amcl = amcl_noise(used, left[moving], block)
        found |= drifts(used, left[moving], block)
    return OdometryNoise(horizon_s=horizon_s, windows=int(asked.sum()), amcl=amcl, **found)


def amcl_noise(paths: list[np.ndarray], residuals: np.ndarray, block: np.ndarray) -> AmclNoise:
    """alpha1 to alpha4 from residuals (n, 3): ahead, left, heading, of windows in blocks of time."""
    both = zip(paths, residuals, strict=True)
    along = np.array([without_heading(path, r)[:2] @ _direction(path) for path, r in both])
    effects = np.array([amcl_effects(path) for path in paths])
    if sum(abs(float(path[-1, 2])) > UPDATE_RAD for path in paths) < FEWEST:
        effects[:, :, list(OF_TURNS)] = 0.0  # of a robot that hardly turns, little turning would have to explain everything
    if sum(float(np.hypot(*path[-1, :2])) > UPDATE_M for path in paths) < FEWEST:
        effects[:, :, list(OF_WAYS)] = 0.0
    squared = np.column_stack([along, residuals[:, 2]]) ** 2
    values, stds, groups = regressed(squared, effects, block, (SENSOR_M, SENSOR_RAD))
    told = [_alpha(value, std, groups, len(paths)) for value, std in zip(values, stds, strict=True)]
    return AmclNoise(**dict(zip(ALPHAS, told, strict=True)))


def amcl_effects(path: np.ndarray) -> np.ndarray:
    """Variances of the way along the chord and of the heading at a path's end, per unit of alpha1 to alpha4, (2, 4)."""
    step = np.diff(path, axis=0)
    way, turn = np.hypot(step[:, 0], step[:, 1]), step[:, 2]
    is_on_the_spot = way * UPDATE_RAD < ON_THE_SPOT_M * np.abs(turn)
    turn = np.where(is_on_the_spot, turn, turn / np.sqrt(2.0))
    ahead = np.column_stack([np.cos(path[:-1, 2]), np.sin(path[:-1, 2])]) @ _direction(path)
    return np.array([
        [0.0, 0.0, float(step[:, :2].sum(axis=0) @ _direction(path)) ** 2, float(np.abs(turn) @ ahead) ** 2],
        [float(turn.sum()) ** 2, 2.0 * float(way.sum()) ** 2, 0.0, 0.0],
    ])  # fmt: skip


def drifts(paths: list[np.ndarray], residuals: np.ndarray, block: np.ndarray) -> dict[str, float]:
    """Variances that a filter with white noise adds per second, so that its own spread is right after a window."""
    of_places = np.array([without_heading(path, r) for path, r in zip(paths, residuals, strict=True)])
    effects = np.array([white_effects(path) for path in paths])
    values, *_ = regressed(of_places**2, effects, block, (SENSOR_M, SENSOR_M, SENSOR_RAD))
    return {name: float(q) for name, q in zip(_DRIFTS, values, strict=True) if np.isfinite(q)}


def white_effects(path: np.ndarray, step_s: float = GRID_S) -> np.ndarray:
    """Variances of ahead and left with the heading's error at the end taken off (`without_heading`), and of the heading, per unit
    of white noise (variance per second) of the speed ahead, of the one to the left, and of the yaw rate, (3, 3).

    White noise that ends at a known error is a bridge: what is left of its effect h(t) is the variance of h along the path.
    """
    time_s = step_s * (len(path) - 1)
    c, s = np.mean(np.cos(path[:-1, 2]) ** 2), np.mean(np.sin(path[:-1, 2]) ** 2)
    return time_s * np.array([[c, s, path[:-1, 1].var()], [s, c, path[:-1, 0].var()], [0.0, 0.0, 1.0]])


def without_heading(path: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Residual (ahead, left, heading) without what a heading that went wrong evenly has done to the place."""
    to_go = path[-1, :2] - path[:-1, :2].mean(axis=0)
    turn = residual[2] if np.isfinite(residual[2]) else 0.0
    return np.array([residual[0] + turn * to_go[1], residual[1] - turn * to_go[0], residual[2]])


def window_paths(twist: np.ndarray, windows: Windows, asked: np.ndarray, values: dict[str, float]) -> list[np.ndarray]:
    """Pose x, y, heading on the grid, (T, 3), of each window that is asked for, in the frame of its first pose."""
    by_pose = np.isfinite(windows.pose_from_s)
    pose_late, imu_late = values.get("pose_late_s", 0.0), values.get("imu_late_s", 0.0)
    first = np.where(by_pose, windows.pose_from_s - pose_late, windows.from_s - imu_late)
    last = np.where(by_pose, windows.pose_to_s - pose_late, windows.to_s - imu_late)
    x, y, heading = path_of(twist)
    paths = []
    for a, b in zip(first[asked], last[asked], strict=True):
        i = int(np.clip(round(a / GRID_S), 0, len(x) - 2))
        j = int(np.clip(round(b / GRID_S), i + 1, len(x) - 1))
        dx, dy, c, s = x[i : j + 1] - x[i], y[i : j + 1] - y[i], np.cos(heading[i]), np.sin(heading[i])
        paths.append(np.column_stack([c * dx + s * dy, c * dy - s * dx, heading[i : j + 1] - heading[i]]))
    return paths


def regressed(
    squared: np.ndarray, effects: np.ndarray, block: np.ndarray, sensors: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray, int]:
    """Noise numbers n_k >= 0 with squared (n, m) = effects (n, m, k) n_k on average, their spread, and the groups that told it.

    Variances err in proportion to themselves, so rows are weighted by what the numbers of the round before expect. A number that
    no row tells is NaN. The spread is that of leaving out groups of blocks in turn.
    """
    rows = np.isfinite(squared).ravel()
    y, e = squared.ravel()[rows], effects.reshape(-1, effects.shape[-1])[rows]
    floor = np.broadcast_to(np.array(sensors) ** 2, squared.shape).ravel()[rows]
    group = (np.repeat(np.unique(block, return_inverse=True)[1], squared.shape[1]) % GROUPS)[rows]
    values, names = _numbers(y, e, floor), np.unique(group)
    if len(names) < 3:
        return values, np.full(len(values), np.nan), len(names)
    without = np.array([_numbers(y[group != g], e[group != g], floor[group != g]) for g in names])
    return values, np.sqrt((len(names) - 1) * without.var(axis=0)), len(names)


def _numbers(y: np.ndarray, effects: np.ndarray, floor: np.ndarray) -> np.ndarray:
    told = effects.max(axis=0, initial=0.0) > 0.0
    found = np.full(effects.shape[1], np.nan)
    if not told.any():
        return found
    scale = 1.0 / effects[:, told].mean(axis=0)
    e = effects[:, told] * scale
    expected, numbers = np.full(len(y), float(np.median(y))), np.zeros(e.shape[1])
    for _ in range(ROUNDS):
        usual = expected + floor
        counted = np.minimum(y, MOST_DEVIATIONS**2 * usual) / KEPT_BY_NORMAL
        before, numbers = numbers, nnls(e / usual[:, None], counted / usual)[0]
        expected = e @ numbers
        if np.allclose(before, numbers, rtol=1e-4):
            break
    found[told] = numbers * scale
    return found


def _moves(path: np.ndarray) -> bool:
    return bool(np.hypot(path[:, 0], path[:, 1]).max() > UPDATE_M or np.abs(path[:, 2]).max() > UPDATE_RAD)


def _direction(path: np.ndarray) -> np.ndarray:
    """Of the chord; of a turn on the spot, the mean heading."""
    chord = path[-1, :2]
    if np.hypot(*chord) < ON_THE_SPOT_M:
        chord = np.array([np.cos(path[:-1, 2]).sum(), np.sin(path[:-1, 2]).sum()])
    return np.asarray(chord / max(float(np.hypot(*chord)), 1e-12))


def _alpha(value: float, std: float, groups: int, windows: int) -> FittedParameter:
    source = f"{windows} windows"
    if not np.isfinite(value):
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note="no pose, or no such motion")
    if not np.isfinite(std):
        return FittedParameter(value=float(value), status=Status.CONVERGED, source=source)
    reach = float(student.ppf(0.95, groups - 1)) * std
    ends = (max(0.0, float(value) - reach), float(value) + reach)
    return FittedParameter(value=float(value), std=float(std), interval_90=ends, status=Status.CONVERGED, source=source)


def _growth(noise: np.ndarray) -> float:
    """Exponent with which spreads (shares, signals) grow with time: 1 where errors last, 1/2 where they start afresh."""
    if not noise.size:
        return 1.0
    return float(np.mean(np.log(noise[-1] / noise[0])) / np.log(SHARES[-1] / SHARES[0]))


def _change(speed: np.ndarray) -> float:
    """Mean square change per second."""
    apart = round(CHANGE_OVER_S / GRID_S)
    return float(np.mean((speed[apart:] - speed[:-apart]) ** 2) / CHANGE_OVER_S) if len(speed) > apart else 0.0
