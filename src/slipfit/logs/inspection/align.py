"""How late one sensor's clock is against another's, from motion that both saw.

A sensor that is late by tau tells at stamp t what was at t - tau. Over spans between edges its increments y are compared with
those x of the other sensor, read at shifted edges:

    y_i = k x_i(tau, q) + j z_i(tau, q) + b + noise.

k is a scale (slip, units, signs), b a bias. Of wheels there is z, too: sides that slip unequally turn a robot whose wheels run
equally fast, so that its yaw holds some of their way ahead, j, and the other way round. Without it that share, which comes and
goes at other times than turns do, is taken for a delay. q exists only between wheels and body: on a wheel_slip floor the body
follows the rim with a lag that grows with rim speed (`Wheels.followed`), which must not be taken for a clock. Signals: yaw,
distance ahead, and acceleration as second difference of distance.

A coarse search over all offsets comes first (`find_agreement`), then Gauss-Newton on sum_s n_s log RSS_s(tau, q), each signal
with its own unknown noise (`find_offset`). The covariance is the sandwich A^-1 B A^-1 with A = sum g g' / s^2 and B the long-run
covariance of g r / s^2 (Bartlett window), g the derivatives by tau and q after projection on k and b: residuals of a drive are
never white. Whether a sensor tells moments, means or what a filter left of them nobody says: half a sampling interval of the
slower one, evenly spread, is added.

Far from its best the misfit is no parabola, and a lag of the body, which may be long, stands in for an offset. So an offset has
to lead: evidence against all offsets up to `LEAST_S`, each with a lag of its own, n_s/2 log(RSS_s / RSS_s best) summed, over the
number of spans that are as good as one because residuals of neighbours are alike.
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

#: Evidence, in units of log likelihood, that a correlation is none of chance, and that one offset is better than another.
LEAST_EVIDENCE, LEAST_LEAD = 10.0, 5.0

#: An offset is certain when yaw agrees so well, or any signal so well: R². Distance alone looks alike at many offsets.
CERTAIN_YAW_R2, CERTAIN_R2 = 0.5, 0.85

#: Offsets below this stay: calibration fits a clock of its own, 50 ms to both sides, and slip of an unknown law, filters and
#: means of sensors look like a few milliseconds. What is shifted here wrongly, calibration would have to find first.
LEAST_S = 0.02

#: Spans of yaw and distance, and of second differences, which are noisier: seconds.
SPAN_S, ACCEL_SPAN_S = 0.05, 0.1

#: Lags of the body behind the rim from which the fit starts, s per m/s: c_long m / n is 0.025 on the floor of [Trimble2022].
LAGS_S2PM = (0.005, 0.04, 0.15)
LONGEST_LAG_S2PM = 0.6

Z_90 = 1.6449

Increments = Callable[[Sums, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, slots=True)
class Signal:
    """One quantity that two sensors tell: from a sensor and edges to increments, for the reference and for the other.

    `beside` is what sides that slip unequally mix into it. Edges are fixed in the clock of the slower sensor, so that it need not
    be interpolated; those of the other are shifted.
    """

    name: str
    of_reference: Increments
    of_other: Increments
    edges_s: np.ndarray
    shifts_reference: bool
    is_second: bool = False
    beside: Increments | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Where two sensors agree best on a coarse grid of offsets: R² and sign of every signal that tells there."""

    late_s: float
    r2: dict[str, float]
    sign: dict[str, float]
    is_clear: bool  # no offset elsewhere is as good

    @property
    def is_certain(self) -> bool:
        """Clear, and by a signal that can be trusted with a correction."""
        return self.is_clear and (self.r2.get("yaw", 0.0) > CERTAIN_YAW_R2 or max(self.r2.values()) > CERTAIN_R2)


@dataclass(frozen=True, slots=True)
class Offset:
    """Seconds by which a sensor is late, with its spread; how well the signals agree; how the body lags behind the rim; evidence
    against there being next to no offset."""

    late_s: float
    std_s: float
    lag_s2pm: float
    agreement: Agreement
    lead: float

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


def wheels_yaw_accel(sums: Sums, edges_s: np.ndarray) -> np.ndarray:
    return np.diff(wheels_yaw(sums, edges_s))


def signals_between(reference: Wheels | Inertial, other: Inertial | Seen, *, signed: bool) -> list[Signal]:
    """What two sensors have in common. Unsigned, distances are compared as lengths, whatever the yaw of the pose means."""
    edges = edges_for((reference, other), SPAN_S)
    wide = edges_for((reference, other), ACCEL_SPAN_S)
    moved = other.period_s >= reference.period_s
    if isinstance(reference, Wheels):
        yaw = Signal("yaw", wheels_yaw, column(0), edges, moved, beside=wheels_ahead)
        if isinstance(other, Inertial):
            felt = column(3, second=True)
            return [yaw, Signal("accel", wheels_accel, felt, wide, moved, is_second=True, beside=wheels_yaw_accel)]
        ahead, seen = (wheels_ahead, column(1)) if signed else (wheels_path, column(2))
        return [yaw, Signal("ahead", ahead, seen, edges, moved, beside=wheels_yaw if signed else None)]
    return [
        Signal("yaw", column(0), column(0), edges, moved),
        Signal("accel", column(3, second=True), column(1, second=True), wide, moved, is_second=True),
    ]


def increments(signal: Signal, reference: Sums, other: Sums, late_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Increments x of the reference and y of the other at an offset."""
    early, late = _edges(signal, late_s)
    return signal.of_reference(reference, early), signal.of_other(other, late)


def seen_by_both(signal: Signal, reference: Sums, other: Sums, late_s: float) -> np.ndarray:
    """Which increments both sensors saw from begin to end."""
    early, late = _edges(signal, late_s)
    whole = reference.is_whole(early) & other.is_whole(late)
    return np.asarray(whole[1:] & whole[:-1] if signal.is_second else whole)


def _edges(signal: Signal, late_s: float) -> tuple[np.ndarray, np.ndarray]:
    if signal.shifts_reference:
        return signal.edges_s - late_s, signal.edges_s
    return signal.edges_s, signal.edges_s + late_s


def pair(signal: Signal, reference: Sums, other: Sums, late_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Increments x and y at an offset, of spans that both saw."""
    x, y = increments(signal, reference, other, late_s)
    ok = seen_by_both(signal, reference, other, late_s)
    return x[ok], y[ok]


def find_agreement(reference: Wheels | Inertial, other: Inertial | Seen, *, signed: bool = False) -> Agreement | None:
    """Best offset on a coarse grid; signs and scales are left open. None where there is no motion in common.

    Chance gives two series that have nothing to do with each other a correlation of variance sum_k rho_x(k) rho_y(k) / n
    (Bartlett), so n over that sum is the number of independent spans, and -n/2 log(1 - r²) the evidence.
    """
    begin, end = max(reference.time_s[0], other.time_s[0]), min(reference.time_s[-1], other.time_s[-1])
    if end - begin < FARTHEST_S:
        return None
    grid = np.arange(begin - FARTHEST_S, end + FARTHEST_S, COARSE_STEP_S)
    x_ok, y_ok = reference.is_whole(grid), other.is_whole(grid)
    reach = round(FARTHEST_S / COARSE_STEP_S)
    shifts = np.arange(-reach, reach + 1)
    evidence, told = {}, {}
    for signal in signals_between(reference, other, signed=signed):
        x = _on_grid(signal.of_reference(reference, grid), is_second=signal.is_second)
        y = _on_grid(signal.of_other(other, grid), is_second=signal.is_second)
        told[signal.name], evidence[signal.name] = _correlations(x, y, x_ok, y_ok, reach)
    total = np.sum(list(evidence.values()), axis=0)
    best = int(np.argmax(total - 1e-9 * np.abs(shifts)))
    telling = [n for n in told if told[n][best] ** 2 >= LEAST_R2 and evidence[n][best] > LEAST_EVIDENCE]
    if not telling:
        return None
    apart = np.abs(shifts - shifts[best]) * COARSE_STEP_S > 0.3
    is_clear = bool(total[best] - total[apart].max() > LEAST_LEAD)
    r = {name: float(told[name][best]) for name in telling}
    late_s = float(shifts[best] * COARSE_STEP_S)
    return Agreement(late_s, {n: v * v for n, v in r.items()}, {n: float(np.sign(v)) for n, v in r.items()}, is_clear)


def _on_grid(increments: np.ndarray, *, is_second: bool) -> np.ndarray:
    """One value per span of the grid. Second differences are summed to twice the span, 1 2 1, because they are noisy."""
    if not is_second:
        return increments
    return np.convolve(np.pad(increments, (1, 0)), np.array([1.0, 2.0, 1.0]), mode="same")


def _correlations(x: np.ndarray, y: np.ndarray, x_ok: np.ndarray, y_ok: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of x with y late by -reach … reach spans, over spans that both have, and its evidence.

    All sums over common spans are correlations themselves, taken by Fourier transform.
    """
    size = 1 << (len(x) + reach).bit_length()
    unit = []
    for values, ok in ((x, x_ok), (y, y_ok)):
        centred = np.where(ok, values - values[ok].mean() if ok.any() else 0.0, 0.0)
        scale = np.sqrt((centred**2).sum() / max(np.count_nonzero(ok), 1))
        unit.append(centred / scale if scale > 1e-12 else np.zeros(len(values)))
    waves = [np.fft.rfft(v, size) for u, ok in zip(unit, (x_ok, y_ok), strict=True) for v in (ok.astype(float), u, u * u)]
    ones_x, first_x, second_x, ones_y, first_y, second_y = waves
    product = [(ones_x, ones_y), (first_x, ones_y), (ones_x, first_y), (second_x, ones_y), (ones_x, second_y), (first_x, first_y)]
    places = np.arange(-reach, reach + 1) % size
    n, sx, sy, sxx, syy, sxy = np.fft.irfft(np.array([np.conj(a) * b for a, b in product]), size)[:, places]
    n = np.maximum(np.round(n), 1.0)
    spread = np.sqrt(np.maximum(sxx - sx**2 / n, 0.0) * np.maximum(syy - sy**2 / n, 0.0))
    is_enough = (n >= 8.0) & (spread > 1e-6 * n)
    r = np.where(is_enough, (sxy - sx * sy / n) / np.where(is_enough, spread, 1.0), 0.0)
    alike = (_own_correlation(first_x, size) * _own_correlation(first_y, size))[: len(x) // 4]
    independent = n / max(1.0, 2.0 * float(alike.sum()) - 1.0)
    return r, -0.5 * independent * np.log1p(-np.minimum(r * r, 1.0 - 1e-9))


def _own_correlation(wave: np.ndarray, size: int) -> np.ndarray:
    """Correlation of a series with itself, by lag from 0 on, from its transform."""
    own = np.fft.irfft(np.abs(wave) ** 2, size)
    return np.asarray(own / own[0]) if own[0] > 0.0 else np.zeros(size)


def find_offset(wheels: Wheels, other: Inertial | Seen) -> Offset | None:
    """Offset of `other` against the wheels, once units and signs are right. None where they have no motion in common."""
    agreement = find_agreement(wheels, other, signed=True)
    if agreement is None:
        return None
    signals = [s for s in signals_between(wheels, other, signed=True) if s.name in agreement.r2]
    start_s = agreement.late_s
    for _ in range(3):  # to the coarse search a lag of the body looks like a clock: the best offset may be out of reach
        comparison = compare(wheels, other, signals, (start_s, 0.0))
        at = comparison.best_of(start_s, comparison.reach_s)
        if abs(at[0] - start_s) < 0.9 * comparison.reach_s:
            break
        start_s = float(at[0])
    none = comparison.best_of(0.0, LEAST_S)
    at = min(at, none, key=comparison.cost)
    std_s = comparison.spread(at)
    if std_s is None:
        return None
    unknown_s = 0.5 * max(wheels.period_s, other.period_s) / np.sqrt(3.0)
    std_s = float(np.hypot(std_s, unknown_s))
    return Offset(float(at[0]), std_s, float(at[1]), agreement, comparison.lead(at, none))


def compare(wheels: Wheels, other: Sums, signals: list[Signal], around_s: tuple[float, ...]) -> "Comparison":
    """Over the spans that both see at all offsets within reach of some."""
    reach = max(1.5 * COARSE_STEP_S, wheels.period_s, other.period_s)
    shifts = [late_s + shift for late_s in around_s for shift in (-reach, 0.0, reach)]
    kept = [np.logical_and.reduce([seen_by_both(s, wheels, other, shift) for shift in shifts]) for s in signals]
    return Comparison(wheels, other, tuple(signals), reach, tuple(kept))


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """Misfit of wheels and another sensor at (offset, lag of the body), over a fixed set of spans."""

    wheels: Wheels
    other: Sums
    signals: tuple[Signal, ...]
    reach_s: float
    kept: tuple[np.ndarray, ...]

    def misfits(self, at: np.ndarray) -> list[np.ndarray]:
        """Residuals of y = k x + j z + b, for each signal."""
        return self._residuals(float(at[0]), self.wheels.followed(float(at[1])))

    def _residuals(self, late_s: float, body: Wheels) -> list[np.ndarray]:
        residuals = []
        for signal, kept in zip(self.signals, self.kept, strict=True):
            early, late = _edges(signal, late_s)
            told, y = _centred(_told(signal, body, early)[kept]), _centred(signal.of_other(self.other, late)[kept])
            residuals.append(y - told @ _scales(told, y))
        return residuals

    def cost(self, at: np.ndarray) -> float:
        return _cost(self.misfits(at))

    def derivatives(self, at: np.ndarray, now: list[np.ndarray]) -> list[np.ndarray]:
        """Of the residuals by offset and lag, (n, 2) for each signal. Sums are kinked at stamps: 2 ms look past them."""
        h, (late_s, lag) = 2e-3, (float(at[0]), float(at[1]))
        body = self.wheels.followed(lag)
        early, late = self._residuals(late_s - h, body), self._residuals(late_s + h, body)
        lagging = self._residuals(late_s, self.wheels.followed(lag + h))
        by_late = [(b - a) / (2.0 * h) for a, b in zip(early, late, strict=True)]
        by_lag = [(b - a) / h for a, b in zip(now, lagging, strict=True)]
        return [np.column_stack(pair) for pair in zip(by_late, by_lag, strict=True)]

    def best_of(self, late_s: float, reach_s: float) -> np.ndarray:
        """Offset near one, and lag of the body, by the best of several starts."""
        return min((self.best(np.array([late_s, lag]), reach_s) for lag in LAGS_S2PM), key=self.cost)

    def best(self, start: np.ndarray, reach_s: float) -> np.ndarray:
        """Gauss-Newton from a start, damped where a step does not help, within reach."""
        at = start
        low, high = np.array([start[0] - reach_s, 0.0]), np.array([start[0] + reach_s, LONGEST_LAG_S2PM])
        residuals = self.misfits(at)
        damping = 1e-3
        for _ in range(12):
            curvature, slope = np.zeros((2, 2)), np.zeros(2)
            for r, g in zip(residuals, self.derivatives(at, residuals), strict=True):
                weight = len(r) / max(float(r @ r), 1e-300)
                curvature += weight * g.T @ g
                slope += weight * g.T @ r
            if not curvature[0, 0] > 0.0:
                break
            for _ in range(4):
                damped = curvature + damping * np.diag(np.diag(curvature) + 1e-12)
                there = np.clip(at - np.linalg.solve(damped, slope), low, high)
                tried = self.misfits(there)
                if _cost(tried) < _cost(residuals):
                    damping *= 0.1
                    break
                damping = 10.0 * max(damping, 1e-3)
            else:
                break
            moved = np.abs(there - at)
            at, residuals = there, tried
            if moved[0] < 1e-4 and moved[1] < 2e-4:
                break
        return at

    def lead(self, at: np.ndarray, than: np.ndarray) -> float:
        """Evidence for one place against another."""
        total = 0.0
        for here, there in zip(self.misfits(at), self.misfits(than), strict=True):
            power, other = (max(float(r @ r), 1e-300) for r in (here, there))
            alike = max(1.0, float(_long_run(here[:, None])[0, 0]) / power)
            total += 0.5 * len(here) * float(np.log(other / power)) / alike
        return total

    def _by_wheels(self, at: np.ndarray) -> list[np.ndarray]:
        """What the residuals owe to the offset by what the wheels say: shifted readings of the other sensor shift its noise, too,
        which looks like knowledge where a drive tells nothing."""
        h, body, found = 2e-3, self.wheels.followed(float(at[1])), []
        for signal, kept in zip(self.signals, self.kept, strict=True):
            early, late = _edges(signal, float(at[0]))
            told, y = _centred(_told(signal, body, early)[kept]), _centred(signal.of_other(self.other, late)[kept])
            slope = (_told(signal, body, early + h) - _told(signal, body, early - h))[kept] @ _scales(told, y) / (2.0 * h)
            found.append(_centred(slope) - told @ _scales(told, _centred(slope)))
        return found

    def spread(self, at: np.ndarray) -> float | None:
        """Standard deviation of the offset, the lag being unknown too; None where nothing is shifted at all."""
        information, variance = np.zeros((2, 2)), np.zeros((2, 2))
        now = self.misfits(at)
        for r, by_lag, by_late in zip(now, self.derivatives(at, now), self._by_wheels(at), strict=True):
            g = np.column_stack([by_late, by_lag[:, 1]])
            power = float(r @ r) / max(len(r) - 4, 1)
            if power > 0.0:
                information += g.T @ g / power
                variance += _long_run(g * (r / power)[:, None])
        if information[0, 0] <= 0.0:
            return None
        told = information[0, 0] - information[0, 1] ** 2 / max(information[1, 1], 1e-300)  # the lag being unknown
        if told < FARTHEST_S**-2:
            return FARTHEST_S
        inverse = np.linalg.pinv(information, rcond=1e-10, hermitian=True)
        sandwich = inverse @ variance @ inverse
        return float(np.sqrt(max(sandwich[0, 0], 1.0 / told)))


def _told(signal: Signal, body: Wheels, edges_s: np.ndarray) -> np.ndarray:
    """What the wheels say of a signal, one column or two."""
    return np.column_stack([f(body, edges_s) for f in (signal.of_reference, signal.beside) if f is not None])


def _centred(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - values.mean(axis=0)) if len(values) else values


def _scales(told: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the columns of `told`, by least squares; columns that say the same share what they say."""
    return np.asarray(np.linalg.pinv(told.T @ told, rcond=1e-12, hermitian=True) @ (told.T @ y))


def _cost(residuals: list[np.ndarray]) -> float:
    return sum(len(r) * float(np.log(max(float(r @ r), 1e-300))) for r in residuals)


def _long_run(scores: np.ndarray) -> np.ndarray:
    """Covariance of a sum of correlated terms (T, 2), Bartlett window of about half a second to a second of spans."""
    longest = min(len(scores) // 4, 8 + int(4.0 * (len(scores) / 100.0) ** (2.0 / 9.0)))
    total = scores.T @ scores
    for lag in range(1, longest + 1):
        part = scores[lag:].T @ scores[:-lag]
        total = total + (1.0 - lag / (longest + 1.0)) * (part + part.T)
    return np.asarray(total)
