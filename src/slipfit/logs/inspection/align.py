"""How late one sensor's clock is against another's, from motion that both saw.

A sensor that is late by tau tells at stamp t what was at t - tau. Over spans between edges its increments y are compared with
those x of the other sensor, read at shifted edges:

    y_i = k x_i(tau, q) + b + noise.

k is a scale (slip, units, signs), b a bias. q exists only between wheels and body: on a wheel_slip floor the body follows the
rim with a lag that grows with rim speed (`Wheels.followed`), which must not be taken for a clock. Signals: yaw, distance ahead,
and acceleration as second difference of distance.

The estimate minimises sum_s n_s log RSS_s(tau, q), each signal with its own unknown noise. Its covariance is the sandwich
A^-1 B A^-1 with A = sum g g' / s^2 and B the long-run covariance of g r / s^2 (Bartlett window), g the derivatives by tau and q
after projection on k and b: residuals of a drive are never white.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slipfit.logs.inspection.signals import Inertial, Seen, Sums, Wheels, edges_for

#: Clocks are searched this far apart: drivers and middleware delay by tenths of a second; beyond, stamps are of other clocks.
FARTHEST_S = 2.0
COARSE_STEP_S = 0.05

#: Below this share of explained variance two signals do not tell of the same motion.
LEAST_R2 = 0.25

#: Spans of yaw and distance, and of second differences, which are noisier: seconds.
SPAN_S, ACCEL_SPAN_S = 0.05, 0.1

#: Lags of the body behind the rim that are tried, s per m/s: c_long m / n is 0.025 for document 000's robot and floor.
LAGS_S2PM = (0.0, 0.005, 0.015, 0.03, 0.06, 0.12)

Z_90 = 1.6449

Increments = Callable[[Sums, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, slots=True)
class Signal:
    """One quantity that two sensors tell: from a sensor and edges to increments, for the reference and for the other."""

    name: str
    of_reference: Increments
    of_other: Increments
    edges_s: np.ndarray
    is_second: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """Where two sensors agree best on a coarse grid of offsets: R² and sign of every signal there."""

    late_s: float
    r2: dict[str, float]
    sign: dict[str, float]
    is_clear: bool  # no offset elsewhere is as good


@dataclass(frozen=True, slots=True)
class Offset:
    """Seconds by which a sensor is late, with its spread; how well the best signal agrees."""

    late_s: float
    std_s: float
    r2: float
    is_clear: bool

    @property
    def interval_90(self) -> tuple[float, float]:
        return self.late_s - Z_90 * self.std_s, self.late_s + Z_90 * self.std_s


def column(k: int, *, second: bool = False) -> Increments:
    """Increments of one running sum, or their increments."""
    return lambda sums, edges_s: np.diff(sums.at(edges_s, k)[:, 0], n=2 if second else 1)


def wheels_yaw(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    left, right = np.diff(sums.at(edges_s), axis=0).T
    return np.asarray((right - left) / sums.track_m)  # type: ignore[attr-defined]


def wheels_ahead(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    return np.asarray(np.diff(sums.at(edges_s), axis=0).mean(axis=1))


def wheels_path(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(wheels_ahead(sums, edges_s)))


def wheels_accel(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    return np.diff(wheels_ahead(sums, edges_s))


def signals_between(reference: Wheels | Inertial, other: Inertial | Seen, *, signed: bool) -> list[Signal]:
    """What two sensors have in common. Unsigned, distances are compared as lengths, whatever the yaw of the pose means."""
    edges = edges_for((reference, other), SPAN_S)
    wide = edges_for((reference, other), ACCEL_SPAN_S)
    if isinstance(reference, Wheels):
        yaw = Signal("yaw", wheels_yaw, column(0), edges)
        if isinstance(other, Inertial):
            return [yaw, Signal("accel", wheels_accel, column(3, second=True), wide, is_second=True)]
        return [yaw, Signal("ahead", wheels_ahead if signed else wheels_path, column(1 if signed else 2), edges)]
    return [
        Signal("yaw", column(0), column(0), edges),
        Signal("accel", column(3, second=True), column(1, second=True), wide, is_second=True),
    ]


def pair(signal: Signal, reference: Sums, other: Sums, late_s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Increments x of the reference and y of the other at an offset, and which of them both saw from begin to end.

    Edges are fixed in the clock of the slower sensor, so that it need not be interpolated.
    """
    early, late = signal.edges_s, signal.edges_s
    if other.period_s >= reference.period_s:
        early = early - late_s
    else:
        late = late + late_s
    whole = reference.is_whole(early) & other.is_whole(late)
    if signal.is_second:
        whole = whole[1:] & whole[:-1]
    return signal.of_reference(reference, early), signal.of_other(other, late), np.asarray(whole)


def _r2(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Share of explained variance and sign of the slope."""
    if len(x) < 8 or x.std() < 1e-12 or y.std() < 1e-12:
        return 0.0, 0.0
    r = float(np.corrcoef(x, y)[0, 1])
    return r * r, float(np.sign(r))


def find_agreement(reference: Wheels | Inertial, other: Inertial | Seen, *, signed: bool = False) -> Agreement | None:
    """Best offset on a coarse grid; signs and scales are left open. None where there is no motion in common."""
    reach = round(FARTHEST_S / COARSE_STEP_S)
    begin, end = max(reference.time_s[0], other.time_s[0]), min(reference.time_s[-1], other.time_s[-1])
    if end - begin < 4.0 * FARTHEST_S * 0.25:
        return None
    grid = np.arange(begin - FARTHEST_S, end + FARTHEST_S, COARSE_STEP_S)
    x_ok, y_ok = reference.is_whole(grid), other.is_whole(grid)
    shifts = np.array(sorted(range(-reach, reach + 1), key=abs))
    scores = np.zeros(len(shifts))
    told: dict[str, list[tuple[float, float]]] = {}
    for signal in signals_between(reference, other, signed=signed):
        x, y = (
            _on_grid(f(sums, grid), is_second=signal.is_second)
            for f, sums in ((signal.of_reference, reference), (signal.of_other, other))
        )
        rows = [_r2_shifted(x, y, x_ok, y_ok, int(shift)) for shift in shifts]
        told[signal.name] = [(r2, sign) for r2, sign, _ in rows]
        scores += [-0.5 * n * np.log1p(-min(r2, 1.0 - 1e-9)) for r2, _, n in rows]
    best = int(np.argmax(scores))
    best_of = {name: rows[best] for name, rows in told.items() if rows[best][0] >= LEAST_R2}
    if not best_of:
        return None
    apart = np.abs(shifts - shifts[best]) * COARSE_STEP_S > 0.3
    is_clear = bool(scores[best] > 10.0 and scores[best] - scores[apart].max() > 5.0)
    late_s = float(shifts[best] * COARSE_STEP_S)
    return Agreement(late_s, {n: b[0] for n, b in best_of.items()}, {n: b[1] for n, b in best_of.items()}, is_clear)


def _on_grid(increments: np.ndarray, *, is_second: bool) -> np.ndarray:
    """One value per span of the grid. Second differences are summed to twice the span, 1 2 1, because they are noisy."""
    if not is_second:
        return increments
    return np.convolve(np.pad(increments, (1, 0)), np.array([1.0, 2.0, 1.0]), mode="same")


def _r2_shifted(x: np.ndarray, y: np.ndarray, x_ok: np.ndarray, y_ok: np.ndarray, shift: int) -> tuple[float, float, int]:
    """R², sign and number of spans when y is late by `shift` spans."""
    ours = slice(max(0, -shift), len(x) - max(0, shift))
    theirs = slice(max(0, shift), len(x) - max(0, -shift))
    ok = x_ok[ours] & y_ok[theirs]
    return *_r2(x[ours][ok], y[theirs][ok]), int(np.count_nonzero(ok))


def find_offset(reference: Wheels | Inertial, other: Inertial | Seen) -> Offset | None:
    """Offset of `other` against `reference`, once units and signs are right. None where they have no motion in common."""
    start = find_agreement(reference, other, signed=True)
    if start is None:
        return None
    signals = [s for s in signals_between(reference, other, signed=True) if s.name in start.r2]
    lags = LAGS_S2PM if isinstance(reference, Wheels) else (0.0,)
    tried: list[tuple[float, float, float]] = []
    for lag in lags:
        body = _body(reference, lag)
        late, step = (tried[-1][1], 0.2 * COARSE_STEP_S) if tried else (start.late_s, COARSE_STEP_S)
        tried.append((*_refine(signals, body, other, late, step), lag))
    _, late, lag = min(tried)
    if len(lags) > 1:
        late, lag = _polish(signals, reference, other, late, lag)
    std = _spread(signals, reference, other, late, lag)
    return None if std is None else Offset(late, std, max(start.r2.values()), start.is_clear)


def _body(reference: Wheels | Inertial, lag: float) -> Sums:
    return reference.followed(lag) if isinstance(reference, Wheels) and lag > 0.0 else reference


def _fit(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Slope, and residuals of the straight line through all."""
    dx = x - x.mean()
    slope = float(dx @ y) / max(float(dx @ dx), 1e-300)
    return slope, y - y.mean() - slope * dx


def _cost(signals: list[Signal], reference: Sums, other: Sums, late_s: float) -> float:
    total = 0.0
    for signal in signals:
        x, y, ok = pair(signal, reference, other, late_s)
        if np.count_nonzero(ok) < 8:
            return float("inf")
        power = float((_fit(x[ok], y[ok])[1] ** 2).mean()) / max(float(y[ok].var()), 1e-300)
        total += np.count_nonzero(ok) * np.log(max(power, 1e-12))
    return total


def _refine(signals: list[Signal], reference: Sums, other: Sums, start: float, step: float) -> tuple[float, float]:
    """Least cost and its place, on finer and finer grids: the cost has kinks where samples enter or leave."""
    best = (_cost(signals, reference, other, start), start)
    while step > 1e-3:
        grid = best[1] + step * np.array([-1.0, -0.5, 0.5, 1.0])
        best = min(best, *((_cost(signals, reference, other, float(late)), float(late)) for late in grid))
        step *= 0.4
    return best


def _polish(signals: list[Signal], reference: Wheels | Inertial, other: Sums, late: float, lag: float) -> tuple[float, float]:
    """Offset and lag together, by a simplex; the lag is not negative."""
    from scipy.optimize import minimize

    scale = np.array([1e-3, max(0.3 * lag, 2e-3)])
    first = np.array([late, lag])

    def cost(steps: np.ndarray) -> float:
        when, behind = first + scale * steps
        return _cost(signals, _body(reference, abs(float(behind))), other, float(when))

    corners = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
    options = {"initial_simplex": corners, "maxfev": 60, "xatol": 0.02, "fatol": 1e-3}
    best = first + scale * minimize(cost, corners[0], method="Nelder-Mead", options=options).x
    return float(best[0]), abs(float(best[1]))


def _spread(signals: list[Signal], reference: Wheels | Inertial, other: Sums, late: float, lag: float) -> float | None:
    """Standard deviation of the offset, the lag being unknown too."""
    has_lag = isinstance(reference, Wheels)
    information, variance = np.zeros((2, 2)), np.zeros((2, 2))
    h_late, h_lag = 2e-3, 2e-3
    for signal in signals:
        x, y, ok = pair(signal, _body(reference, lag), other, late)
        slope, residual = _fit(x[ok], y[ok])
        power = float(residual @ residual) / max(len(residual) - 4, 1)
        if power <= 0.0:
            continue

        def misfit(when: float, behind: float, signal: Signal = signal, slope: float = slope, ok: np.ndarray = ok) -> np.ndarray:
            x, y, _ = pair(signal, _body(reference, behind), other, when)
            return np.asarray(y[ok] - slope * x[ok])

        by_late = (misfit(late - h_late, lag) - misfit(late + h_late, lag)) / (2.0 * h_late)
        by_lag = (misfit(late, lag) - misfit(late, lag + h_lag)) / h_lag if has_lag else np.zeros_like(by_late)
        g = np.column_stack([by_late, by_lag])
        line = np.column_stack([np.ones(len(g)), x[ok]])
        g = g - line @ np.linalg.lstsq(line, g, rcond=None)[0]
        information += g.T @ g / power
        variance += _long_run(g * (residual / power)[:, None])
    if information[0, 0] <= 0.0:
        return None
    if not has_lag:
        information[1, 1] = 1.0
    inverse = np.linalg.pinv(information, rcond=1e-10)
    sandwich = inverse @ variance @ inverse
    return float(np.sqrt(max(sandwich[0, 0], inverse[0, 0])))


def _long_run(scores: np.ndarray) -> np.ndarray:
    """Covariance of a sum of correlated terms (T, 2), Bartlett window of about half a second to a second of spans."""
    longest = min(len(scores) // 4, 8 + int(4.0 * (len(scores) / 100.0) ** (2.0 / 9.0)))
    total = scores.T @ scores
    for lag in range(1, longest + 1):
        part = scores[lag:].T @ scores[:-lag]
        total = total + (1.0 - lag / (longest + 1.0)) * (part + part.T)
    return np.asarray(total)
