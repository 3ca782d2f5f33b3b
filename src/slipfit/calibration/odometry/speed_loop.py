"""Gain, dead band, saturation, lag and delay of each side's speed loop, from commanded and measured wheel speeds.

The model is the simulator's own loop (`slipfit.simulation.speed_loop`). Measured are mean speeds between encoder stamps a while
apart, which counts hardly coarsen and drift does not pile up in:

    r_i = (angle(t_i) - angle(t_i - D)) / D - mean of x over the same time

Least squares over gain, lag, delay, and a second lag and a saturation where the log shows them; residuals that lie far out weigh
less, as those of wheels that a torque limit held. The dead band is a threshold, not
a slope: the cost is compared between the levels that were commanded, and the interval is what their spacing and the noise leave.

Spread     the larger of s^2 (J^T J)^-1 and the sandwich over blocks of a second, which holds for residuals that are not white
Reference  derived in docs/theory/odometry, eq. (speed loop); sandwich [White1980], over blocks
Valid for  wheels that the motors can turn as told: torque limits and stalls are not in the loop
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from slipfit.calibration.odometry.commands import Told, told_speeds
from slipfit.calibration.odometry.constants import OdometryConstants
from slipfit.calibration.odometry.spreads import Estimate
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs import DriveLog
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import TurnCounts, wheel_angles
from slipfit.simulation.speed_loop import SpeedLoop
from slipfit.twin import FittedParameter, FittedPowertrain, Side, Status
from slipfit.twin.powertrain import USUAL_LIMITS

#: Speeds are means over about this long (s): shorter than lags of drives, longer than most encoders' intervals.
MEAN_S = 0.04

#: Steps of the model, at most (s); a part of a delay mixes two of them.
STEP_S = 0.005

#: Blocks of the sandwich (s), longer than any lag that is found.
BLOCK_S = 1.0

#: Places where the search starts (s): least squares finds the valley from the nearest.
DELAYS_S, LAGS_S = (0.0, 0.05, 0.15, 0.4), (0.02, 0.1, 0.4)

#: A further constant must lower chi^2 by this much to be believed (99 % with one degree of freedom).
GAINED = 6.63

#: Speeds beyond this share of the largest told one are kept out of the first guess of the gain: they may saturate.
UNSATURATED = 0.6

#: A loop saturates if it is told this much more than it reaches, for this long (s).
BEYOND, BEYOND_S = 1.03, 0.2

#: Residuals beyond this many robust standard deviations weigh less, in inverse proportion; noise is not among them.
OUTLYING = 4.0

#: Most levels between which a dead band is looked for.
MOST_LEVELS = 40

#: Of longer logs the first so many seconds are used.
LONGEST_S = 600.0

#: Wheel speeds that no robot is told beyond (rad/s); saturation is a constant of its own.
NO_LIMITS = (-1e4, 1e4)


@dataclass(frozen=True, eq=False, slots=True)
class _Measured:
    """One side's log: commands that hold from their time to the next, and wheel angles; times from the first angle on."""

    told_s: np.ndarray  # (N,), the first not after zero
    told: np.ndarray
    time_s: np.ndarray  # (T,)
    angle_rad: np.ndarray
    step_s: float
    apart: int  # samples between the ends of a mean
    weight: np.ndarray | None = None  # of each mean, 1 where nothing speaks against it

    def residual(self, loop: SpeedLoop) -> np.ndarray:
        """Measured less predicted mean speeds, weighed."""
        miss = self.speed - self.predicted(loop)
        return np.asarray(miss if self.weight is None else miss * self.weight)

    def doubted(self, loop: SpeedLoop) -> "_Measured":
        """The same with less weight where the loop misses by much: there a torque limit or a stall held the wheels."""
        said = self.predicted(loop)
        miss, turning = self.speed - said, np.abs(said) > 0.0
        usual = OUTLYING * max(robust_std(miss[turning], about=0.0) if turning.any() else 0.0, 1e-9)
        return replace(self, weight=1.0 / np.sqrt(np.maximum(1.0, np.abs(miss) / usual)))

    @property
    def speed(self) -> np.ndarray:
        return self._mean(self.angle_rad)

    @property
    def interval_s(self) -> float:
        """Between two means."""
        return self.apart * float(np.median(np.diff(self.time_s)))

    def _ends(self) -> np.ndarray:
        return np.arange(self.apart, len(self.time_s), self.apart)

    def _mean(self, angle: np.ndarray) -> np.ndarray:
        ends, n = self._ends(), self.apart
        return np.asarray((angle[ends] - angle[ends - n]) / (self.time_s[ends] - self.time_s[ends - n]))

    def predicted(self, loop: SpeedLoop) -> np.ndarray:
        """Mean speeds. Commands come between steps: a step gets the mean of what was asked during it."""
        asked = loop.asked(self.told)
        edges = np.arange(math.ceil(self.time_s[-1] / self.step_s) + 2) * self.step_s
        total = np.concatenate([[0.0], np.cumsum(asked[:-1] * np.diff(self.told_s))])
        k = np.searchsorted(self.told_s, edges, side="right") - 1
        rows = np.diff(total[k] + asked[k] * (edges - self.told_s[k])) / self.step_s
        x = np.concatenate([[rows[0]], loop.followed(rows, self.step_s, float(rows[0]))])
        angle = np.concatenate([[0.0], np.cumsum(0.5 * (x[1:] + x[:-1])) * self.step_s])
        return self._mean(np.interp(self.time_s, edges, angle))

    def told_at_means(self) -> np.ndarray:
        return np.asarray(self.told[np.searchsorted(self.told_s, self.time_s[self._ends()], side="right") - 1])


def fit_speed_loops(
    log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None, known: FittedPowertrain | None = None
) -> OdometryConstants:
    """The powertrain of a robot from a log of what it was told and how its wheels turned; left and right apart.

    Parameters
    ----------
    known : constants that the driver used when the log was made: its commanded speeds are then setpoints again
    """
    name = log.source or log.about or "log"
    told = told_speeds(log, robot, known)
    wheels = wheel_angles(log, robot, counts_per_turn=counts_per_turn)
    source = f"log {log.digest[:12] or name}"
    sides, findings = {}, []
    for k, side in enumerate(("left", "right")):
        angle = wheels.angle_rad[:, k::2].mean(axis=1)
        try:
            measured = _measured(told, k, wheels.stamps_ns, angle)
            sides[side], said = _fit_side(measured, source)
        except LogError as error:
            raise LogError(f"{name}: {side} side: {error}") from None
        findings += [f"{side}: {line}" for line in said]
    findings += _compared(sides["left"], sides["right"])
    limits = NO_LIMITS if told.unit == "radps" else known.setpoint_limits if known else USUAL_LIMITS
    powertrain = FittedPowertrain(setpoint_unit=told.unit, setpoint_limits=limits, left=sides["left"], right=sides["right"])
    return OdometryConstants(powertrain, tuple(findings), name)


def _measured(told: Told, side: int, stamps_ns: np.ndarray, angle: np.ndarray) -> _Measured:
    kept = (stamps_ns >= told.stamps_ns[0]) & (stamps_ns <= stamps_ns[0] + int(LONGEST_S * NANOSECONDS))
    stamps, angle = stamps_ns[kept], angle[kept]
    if len(stamps) < 20:
        raise LogError("fewer than 20 encoder samples after the first command; expected both at the same time")
    time_s, told_s = (stamps - stamps[0]) / NANOSECONDS, (told.stamps_ns - stamps[0]) / NANOSECONDS
    interval = float(np.median(np.diff(time_s)))
    used = (told_s <= time_s[-1]) & (np.arange(len(told_s)) >= np.searchsorted(told_s, 0.0, side="right") - 1)
    commands = told.values[used, side]
    if np.ptp(commands) == 0.0:
        raise LogError(f"the command is {commands[0]:g} throughout; expected steps between speeds, and zero")
    if np.ptp(angle) == 0.0:
        raise LogError("the wheels never turn; expected that they follow the commands")
    return _Measured(told_s[used], commands, time_s, angle - angle[0], min(STEP_S, interval), max(1, round(MEAN_S / interval)))


# --- one side --------------------------------------------------------------------------------------------------------

Build = Callable[[np.ndarray], SpeedLoop]


def _fit_side(m: _Measured, source: str) -> tuple[Side, list[str]]:
    loop = _start(m)
    saturates = _saturates(m, loop)
    names = ["told_per_reached", "lag_s", "delay_s", *(["saturation_radps"] if saturates else [])]
    if saturates:
        loop = replace(loop, saturation_radps=float(np.percentile(np.abs(m.speed), 99.0)))
    loop, _ = _solve(m, loop, names)
    levels = _levels(m)
    richer = [*names, "second_lag_s"]
    for _ in range(3):  # threshold, slopes and weights in turn; two lags, so that what they explain is not doubted
        loop = replace(loop, dead_band=_best_band(m, loop, levels))
        loop, _ = _solve(m, loop, names)
        two, _ = _solve(m, replace(loop, second_lag_s=0.5 * loop.lag_s), richer)
        m = m.doubted(two)
    loop, solution = _solve(m, loop, names)
    first_cost = 2.0 * solution.cost
    two, second = _solve(m, replace(loop, second_lag_s=0.5 * loop.lag_s), richer)
    variance = _inflated(m, second, len(names) + 1)
    if (first_cost - 2.0 * second.cost) / variance > GAINED and min(two.lag_s, two.second_lag_s) > m.step_s:
        loop, solution, names = two, second, richer
    return _side(m, loop, solution, names, levels, source)


def _start(m: _Measured) -> SpeedLoop:
    """Gain by a line through slow commands, delay and lag from a coarse grid."""
    told, speed = m.told_at_means(), m.speed
    slow = (np.abs(told) > 0.0) & (np.abs(told) <= UNSATURATED * np.abs(told).max())
    slow = slow if slow.sum() >= 5 else np.abs(told) > 0.0
    slope = float(told[slow] @ speed[slow] / (told[slow] @ told[slow]))
    if slope <= 0.0:
        raise LogError("the wheels turn against their commands; check signs, sides and which channel is which")
    candidates = [SpeedLoop(1.0 / slope, lag_s=lag, delay_s=delay) for delay in DELAYS_S for lag in LAGS_S]
    return min(candidates, key=lambda loop: float(np.sum((m.speed - m.predicted(loop)) ** 2)))


def _saturates(m: _Measured, loop: SpeedLoop) -> bool:
    told, speed = np.abs(m.told_at_means()) / loop.told_per_reached, np.abs(m.speed)
    return bool((told > BEYOND * np.percentile(speed, 99.0)).sum() * m.interval_s > BEYOND_S)


def _levels(m: _Measured) -> np.ndarray:
    """Commanded sizes between which a dead band may lie, rising."""
    levels = np.unique(np.round(np.abs(m.told[m.told != 0.0]), 9))
    levels = levels[levels <= max(UNSATURATED * levels[-1], levels[0])]
    return np.asarray(levels if len(levels) <= MOST_LEVELS else np.quantile(levels, np.linspace(0.0, 1.0, MOST_LEVELS)))


def _bands(levels: np.ndarray) -> np.ndarray:
    """One threshold below the smallest level, and one between each pair."""
    return np.concatenate([[0.0], 0.5 * (levels[1:] + levels[:-1])])


def _best_band(m: _Measured, loop: SpeedLoop, levels: np.ndarray) -> float:
    return float(_bands(levels)[np.argmin(_band_costs(m, loop, levels))])


def _band_costs(m: _Measured, loop: SpeedLoop, levels: np.ndarray) -> np.ndarray:
    return np.array([np.sum(m.residual(replace(loop, dead_band=band)) ** 2) for band in _bands(levels)])


def _solve(m: _Measured, start: SpeedLoop, names: list[str]) -> tuple[SpeedLoop, OptimizeResult]:
    scale = np.array([{"told_per_reached": start.told_per_reached, "saturation_radps": 1.0}.get(n, 0.1) for n in names])

    def loop_of(x: np.ndarray) -> SpeedLoop:
        return replace(start, **dict(zip(names, (float(v) for v in x * scale), strict=True)))

    begin = np.array([getattr(start, n) for n in names]) / scale
    low = np.where(np.isin(names, ("told_per_reached", "saturation_radps")), 1e-3, 0.0)
    solution = least_squares(lambda x: m.residual(loop_of(x)), np.maximum(begin, low + 1e-6), bounds=(low, np.inf), x_scale=0.1)
    loop = loop_of(solution.x)
    solution.jac = _with_secants(m, loop, names, solution.fun, solution.jac / scale)  # in the constants' own units
    return loop, solution


def _with_secants(m: _Measured, loop: SpeedLoop, names: list[str], residual: np.ndarray, jac: np.ndarray) -> np.ndarray:
    """The derivatives, for times shorter than a step by secants to a step more: there a lag changes nothing, which does not say
    that it is known to be zero."""
    for k, name in enumerate(names):
        if name.endswith("_s") and getattr(loop, name) < m.step_s:
            longer = replace(loop, **{name: getattr(loop, name) + m.step_s})
            jac[:, k] = (m.residual(longer) - residual) / m.step_s
    return jac


def _inflated(m: _Measured, solution: OptimizeResult, unknowns: int) -> float:
    """Variance of a residual, times how much more than white ones their sums scatter."""
    r = solution.fun
    variance = float(r @ r) / max(1, len(r) - unknowns)
    rho = [float(r[:-k] @ r[k:]) / float(r @ r) for k in range(1, 6)] if len(r) > 20 and variance > 0.0 else []
    return variance * max(1.0, 1.0 + 2.0 * sum(c for c in rho if c > 0.0))


def _covariance(m: _Measured, solution: OptimizeResult) -> tuple[np.ndarray, float]:
    """Covariance of the constants, and the number of blocks behind it."""
    jac, r = solution.jac, solution.fun
    bread = np.linalg.pinv(jac.T @ jac)
    plain = _inflated(m, solution, jac.shape[1]) * bread
    width = max(1, round(BLOCK_S / m.interval_s))
    blocks = [slice(k, k + width) for k in range(0, len(r), width)]
    # A block's own residuals are small because it pulled the fit: undone by its leverage, as in the jackknife.
    pulled = [np.linalg.solve(np.eye(len(r[b])) - jac[b] @ bread @ jac[b].T + 1e-9 * np.eye(len(r[b])), r[b]) for b in blocks]
    sums = np.array([jac[b].T @ free for b, free in zip(blocks, pulled, strict=True)])
    freedom = max(1, len(blocks) - jac.shape[1])
    sandwich = bread @ (sums.T @ sums) @ bread
    wider = np.sqrt(np.maximum(1.0, np.diag(sandwich) / np.maximum(np.diag(plain), 1e-300)))
    return plain * np.outer(wider, wider), float(freedom)


# --- what goes into the twin -----------------------------------------------------------------------------------------


def _side(
    m: _Measured, loop: SpeedLoop, solution: OptimizeResult, names: list[str], levels: np.ndarray, source: str
) -> tuple[Side, list[str]]:
    covariance, freedom = _covariance(m, solution)
    values = np.array([float(getattr(loop, name)) for name in names])
    times = np.array([name.endswith("_s") for name in names])
    together = Estimate(float(values[times].sum()), math.sqrt(max(0.0, float(covariance[np.ix_(times, times)].sum()))), freedom)
    found = {}
    for k, name in enumerate(names):
        estimate = Estimate(float(values[k]), math.sqrt(max(0.0, covariance[k, k])), freedom)
        key = {"told_per_reached": "setpoint_per_radps"}.get(name, name)
        found[key] = _time_or_bound(estimate, together, m.step_s, source) if times[k] else estimate.fitted(source)
    if "saturation_radps" not in found:
        fastest = float(min(np.percentile(np.abs(m.speed), 99.0), np.abs(loop.asked(m.told)).max()))
        note = "the wheels did as told up to here"
        found["saturation_radps"] = FittedParameter(status=Status.BOUND_ONLY, at_least=fastest, source=source, note=note)
    found["dead_band_setpoint"], said = _dead_band(m, loop, levels, _inflated(m, solution, len(names)), source)
    order = "two lags in a row explain the log better than one" if "second_lag_s" in names else ""
    return Side(**found), [line for line in (said, order) if line]


def _time_or_bound(estimate: Estimate, together: Estimate, step_s: float, source: str) -> FittedParameter:
    """A time that is not told from zero is a bound, and not one below the model's step. Short lags and delays look alike; none is
    longer than all of them together."""
    if estimate.value > estimate.half_width_90:
        return estimate.fitted(source)
    upper = max(step_s, min(one.value + one.half_width_90 for one in (estimate, together)))
    return FittedParameter(status=Status.BOUND_ONLY, at_most=upper, source=source, note="not told from zero")


def _dead_band(m: _Measured, loop: SpeedLoop, levels: np.ndarray, variance: float, source: str) -> tuple[FittedParameter, str]:
    costs = _band_costs(m, loop, levels)
    likely = np.flatnonzero(costs - costs.min() <= 2.71 * max(variance, 1e-18))
    first, last = int(likely[0]), int(likely[-1])
    if first == 0:
        note = "every command turned the wheels" if last == 0 else "commands this small are too few to tell"
        return FittedParameter(status=Status.BOUND_ONLY, at_most=float(levels[last]), source=source, note=note), ""
    low, high = float(levels[first - 1]), float(levels[last])
    value = min(max(float(_bands(levels)[np.argmin(costs)]), low), high)
    note = "between a command that turned nothing and one that did"
    entry = FittedParameter(
        value=value,
        std=(high - low) / math.sqrt(12.0),
        interval_90=(low, high),
        status=Status.CONVERGED,
        source=source,
        note=note,
    )
    return entry, f"commands up to {low:.4g} turn nothing"


def _compared(left: Side, right: Side) -> list[str]:
    one, other = left.setpoint_per_radps, right.setpoint_per_radps
    if one is None or other is None or one.value is None or other.value is None:
        return []
    share = 100.0 * (other.value / one.value - 1.0)
    std = 100.0 * math.hypot((one.std or 0.0) / one.value, (other.std or 0.0) / other.value)
    return [f"right over left in setpoint per speed: {share:+.2f} ± {std:.2f} %: kept as a gain of each side"]
