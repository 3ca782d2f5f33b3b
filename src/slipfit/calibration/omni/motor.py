"""Constants of DC motors from logs of wheel speed, current and, where there is one, voltage; bounds where a log cannot tell.

    V = R_a i + L_a di/dt + k w        k is back EMF per speed and torque per ampere, both at the wheel
    i' = a i + (1 - a) (V - k w) / R_a - (1 - T (1 - a) / dt) k dw / R_a,        a = exp(-dt / T),    T = L_a / R_a
    |i| = i_0 + i_1 |w|                what an unloaded motor takes

Without a voltage the supply's V_s bounds them: what drives a current is never more than V_s and as much back EMF again, so
k <= V_s / W, R_a <= V_s (1 + |w| / W) / |i| at any time, L_a <= 2 V_s dt / |change of |i| in dt|.
These suppose that k w never exceeds V_s (no wheel is pushed faster), and hold right after plugging too: while a current decays,
L_a di/dt drives it on from what it was, which the supply and the back EMF of that moment bounded; R_a |i| is taken with the
fastest speed of the last `LASTING` samples, from before the wheel slowed down.

The second line is the first over an interval, exact where V is held and w goes straight by dw. Where a current settles between
samples (dt > `SETTLED` T), L_a has a bound only.

Symbols    V voltage, held from its stamp to the next · i current, i' the next one · w wheel speed, W the fastest that lasts ·
           dt sampling interval
Reference  the motor's circuit; spreads by blocks of time, `spread.block_scores`. Currents without sign get that of V - k w.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d, median_filter
from scipy.optimize import least_squares

from slipfit.calibration.odometry.spreads import Estimate, mean_of
from slipfit.calibration.odometry.travel import name_of
from slipfit.calibration.spread import BLOCK_S, FEWEST_BLOCKS, block_scores, inverse_of
from slipfit.errors import LogError
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, MOTORS, motor_column, wheel_columns
from slipfit.twin import FittedParameter, Status

#: A constant is told when its standard deviation is below this share of it.
TOLD = 0.2

#: A current that decays by e to the power of this between samples has settled: its way there is not seen.
SETTLED = 3.0

#: Speeds below this share of the fastest are at rest, where a current does not tell friction.
MOVING = 0.05

#: A speed lasts when it is the median of so many samples: single readings of coarse encoders overshoot.
LASTING = 9

NAMES = ("resistance_ohm", "inductance_h", "torque_constant_nm_per_a")


@dataclass(frozen=True, eq=False, slots=True)
class MotorConstants:
    """Constants of one kind of motor, each with a spread, or a bound, or said not to be told."""

    source: str
    parameters: dict[str, FittedParameter]
    findings: tuple[str, ...]

    def summary(self) -> str:
        """A few lines of text."""
        rows = [f"{self.source}: motor constants, at the wheel"]
        rows += [f"  {name:<28}{p.text()}  ({p.status.sentence})" for name, p in self.parameters.items()]
        return "\n".join([*rows, *(f"  {finding}" for finding in self.findings)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "source": self.source,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
            "findings": list(self.findings),
        }


@dataclass(frozen=True, eq=False, slots=True)
class _Motor:
    time_s: np.ndarray
    speed_radps: np.ndarray
    current_a: np.ndarray
    voltage_v: np.ndarray | None


def fit_motors(logs: Sequence[DriveLog], *, supply_v: float | None = None) -> MotorConstants:
    """R_a, L_a and k of motors of one kind, from all of their logs; `supply_v` bounds them where no voltage was recorded."""
    if supply_v is not None and not (math.isfinite(supply_v) and supply_v > 0.0):
        raise LogError(f"motors: a supply of {supply_v:g} V; expected a voltage above zero")
    motors = [motor for log in logs for motor in _motors(log)]
    source = ", ".join(name_of(log) for log in logs)
    with_voltage = [motor for motor in motors if motor.voltage_v is not None]
    findings: tuple[str, ...] = ()
    if with_voltage:
        parameters = _by_voltage(with_voltage, source)
    else:
        parameters, findings = _bounds(motors, supply_v, source)
    return MotorConstants(source, parameters | _idle(motors, source), findings)


def _motors(log: DriveLog) -> list[_Motor]:
    count = len(log[ENCODERS].columns)
    names = [name for name in wheel_columns("speed", count) if name in log[ENCODERS].columns]
    if MOTORS not in log or not names:
        raise LogError(
            f"{name_of(log)}: needs speeds of wheels and currents of their motors; it has {', '.join(sorted(log.channels))}"
        )
    encoders, motors = log[ENCODERS], log[MOTORS]
    found = []
    for k, name in enumerate(names):
        current, voltage = motor_column("current", k), motor_column("voltage", k)
        if current not in motors.columns:
            continue
        speed = np.interp(motors.time_s, encoders.time_s, encoders.column(name))
        volts = motors.column(voltage) if voltage in motors.columns else None
        found.append(_Motor(motors.time_s, speed, motors.column(current), volts))
    if not found:
        raise LogError(f"{name_of(log)}: no motor has a current; its motors tell {', '.join(motors.columns)}")
    return found


def _by_voltage(motors: Sequence[_Motor], source: str) -> dict[str, FittedParameter]:
    """Least squares of the circuit's exact steps over all motors, with blocks of time as independent."""
    steps = [_Steps.of(motor) for motor in motors]
    guess = _first_guess(steps)
    if guess is None:
        return _settled(steps, source)
    found = least_squares(lambda p: np.concatenate([s.missed_a(*p) for s in steps]), guess, x_scale="jac", jac="3-point")
    values, matrix, residual = found.x, found.jac, found.fun
    inverse = inverse_of(matrix.T @ matrix)
    blocks = [s.begins_s for s in steps]
    scores = np.vstack([block_scores(t - t[0], m * r[:, None], BLOCK_S) for t, m, r in _split(blocks, matrix, residual)])
    if len(scores) < FEWEST_BLOCKS:
        raise LogError(f"{source}: {len(scores)} blocks of {BLOCK_S:g} s; expected {FEWEST_BLOCKS} or more to tell a spread")
    covariance = inverse @ (scores.T @ scores * len(scores) / (len(scores) - 1)) @ inverse
    for pull in (_pull_of_noise(steps, values, residual), _pull_of_bends(steps, values, matrix)):
        covariance += np.outer(inverse @ pull, inverse @ pull)
    unseen_h = float(values[0]) * float(np.median(np.concatenate([s.lasts_s for s in steps]))) / SETTLED
    told = {}
    for name, value, variance in zip(NAMES, values, np.diag(covariance), strict=True):
        estimate = Estimate(float(value), math.sqrt(float(variance)), float(len(scores) - 1))
        is_seen = name != "inductance_h"
        floor, note = (0.0, "within its spread of zero") if is_seen else (unseen_h, "currents settle between samples")
        if value > floor and estimate.std < TOLD * value:
            told[name] = estimate.fitted(source)
        else:
            at_most = max(floor, max(float(value), 0.0) + estimate.half_width_90)
            told[name] = FittedParameter(status=Status.BOUND_ONLY, at_most=at_most, source=source, note=note)
    return told


@dataclass(frozen=True, eq=False, slots=True)
class _Steps:
    """What a motor did from each sample to the next, (T - 1,)."""

    begins_s: np.ndarray
    lasts_s: np.ndarray
    voltage_v: np.ndarray
    speed_radps: np.ndarray
    speed_change_radps: np.ndarray
    current_a: np.ndarray
    next_a: np.ndarray

    @classmethod
    def of(cls, motor: _Motor) -> "_Steps":
        assert motor.voltage_v is not None
        t, w, i = motor.time_s, motor.speed_radps, _with_sign(motor)
        return cls(t[:-1], np.diff(t), motor.voltage_v[:-1], w[:-1], np.diff(w), i[:-1], i[1:])

    def driven(self, lag_s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For L / R = lag: the current that is left of the last one, and what 1 / R and k / R are multiplied by."""
        left = np.exp(-self.lasts_s / lag_s)
        gone = 1.0 - left
        slowed = gone * self.speed_radps + (1.0 - lag_s * gone / self.lasts_s) * self.speed_change_radps
        return left * self.current_a, gone * self.voltage_v, -slowed

    def missed_a(self, resistance_ohm: float, inductance_h: float, k: float) -> np.ndarray:
        """Predicted minus measured next currents."""
        left, by_voltage, by_speed = self.driven(max(inductance_h / resistance_ohm, 1e-3 * float(self.lasts_s.min())))
        return np.asarray(left + by_voltage / resistance_ohm + by_speed * k / resistance_ohm - self.next_a)


def _pull_of_noise(steps: Sequence[_Steps], values: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """What noise of the currents adds to the normal equations (3,), were residuals nothing else: sum a da/dp s^2.

    The noise of a current is in its own residual and in the next: s^2 = mean r^2 / (1 + a^2).
    """
    resistance, inductance, _ = values
    dt = np.concatenate([s.lasts_s for s in steps])
    left = np.exp(-dt * resistance / max(inductance, 1e-12))
    noise = float(np.mean(residual**2)) / (1.0 + float(np.mean(left**2)))
    by_lag = float(np.sum(left**2 * dt)) * noise / max(inductance, 1e-12)
    return np.array([-by_lag, by_lag * resistance / max(inductance, 1e-12), 0.0])


def _pull_of_bends(steps: Sequence[_Steps], values: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """What speeds that bend between samples add to them: w is less than straight by c u (1 - u) / 2, c the second difference.

    The current sees k c q / (2 R_a), with x = dt / T and q = integral of x e^(-x u) u (1 - u) over u from 0 to 1.
    """
    resistance, inductance, k = values
    missed = []
    for s in steps:
        x = s.lasts_s * resistance / max(inductance, 1e-12)
        decayed = np.exp(-x)
        q = (1.0 - decayed * (1.0 + x)) / x - (2.0 - decayed * (x * x + 2.0 * x + 2.0)) / x**2
        missed.append(0.5 * k / resistance * q * np.gradient(s.speed_change_radps))
    return np.asarray(matrix.T @ np.concatenate(missed))


def _first_guess(steps: Sequence[_Steps]) -> np.ndarray | None:
    """R, L, k by the best of many lags L / R, for each of which 1 / R and k / R are linear; none where no current follows."""
    usual, best = float(np.median(np.concatenate([s.lasts_s for s in steps]))), None
    target = np.concatenate([s.next_a for s in steps])
    for lag_s in usual * np.logspace(-1.0, 2.0, 16):
        left, *columns = (np.concatenate(parts) for parts in zip(*(s.driven(lag_s) for s in steps), strict=True))
        rows = np.column_stack(columns)
        conductance, per_speed = np.linalg.lstsq(rows, target - left, rcond=None)[0]
        off = float(np.sum((rows @ [conductance, per_speed] + left - target) ** 2))
        if conductance > 0.0 and (best is None or off < best[0]):
            best = (off, np.array([1.0, lag_s, per_speed]) / conductance)
    return None if best is None else best[1]


def _settled(steps: Sequence[_Steps], source: str) -> dict[str, FittedParameter]:
    """k by V = R_a i + k w, for samples too slow to follow a current; R_a and L_a have bounds at most.

    The voltage is the target: where it changed within a step, it is that which is wrong. It is taken with the current at its own
    stamp or at the next, whichever follows it better. L_a di/dt is left out, which may be as much of R_a i as the lag
    L_a / R_a is of a step.
    """
    volts, blocks = np.concatenate([s.voltage_v for s in steps]), [s.begins_s for s in steps]
    paired = [
        np.vstack([np.column_stack([s.current_a, s.speed_radps]) for s in steps]),
        np.vstack([np.column_stack([s.next_a, s.speed_radps + s.speed_change_radps]) for s in steps]),
    ]
    matrix = min(paired, key=lambda rows: float(np.linalg.lstsq(rows, volts, rcond=None)[1].sum()))
    inverse = inverse_of(matrix.T @ matrix)
    resistance, k = values = inverse @ (matrix.T @ volts)
    parts = _split(blocks, matrix, volts - matrix @ values)
    scores = np.vstack([block_scores(t - t[0], m * r[:, None], BLOCK_S) for t, m, r in parts])
    if len(scores) < FEWEST_BLOCKS or not resistance > 0.0 or not k > 0.0:
        raise LogError(f"{source}: currents and speeds do not follow the voltages; expected all of one motor, with one sign")
    std = np.sqrt(np.diag(inverse @ (scores.T @ scores * len(scores) / (len(scores) - 1)) @ inverse))
    free = float(len(scores) - 1)
    most_ohm = float(resistance) * (1.0 + 1.0 / SETTLED) + Estimate(0.0, float(std[0]), free).half_width_90
    most = (most_ohm, most_ohm * float(np.median(np.concatenate([s.lasts_s for s in steps]))) / SETTLED)
    note = "currents settle between samples"
    told = {
        name: FittedParameter(status=Status.BOUND_ONLY, at_most=bound, source=source, note=note)
        for name, bound in zip(NAMES, most, strict=False)
    }
    return told | {NAMES[2]: Estimate(float(k), float(std[1]), free).fitted(source)}


def _split(blocks: list[np.ndarray], matrix: np.ndarray, residual: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    ends = np.cumsum([len(t) for t in blocks])[:-1]
    return list(zip(blocks, np.split(matrix, ends), np.split(residual, ends), strict=True))


def _with_sign(motor: _Motor) -> np.ndarray:
    """Currents that were recorded without sign get that of what drives them, V - k w, with k by motion at full speed."""
    assert motor.voltage_v is not None
    if (motor.current_a < 0.0).any():
        return motor.current_a
    fast = np.abs(motor.speed_radps) > 0.5 * np.abs(motor.speed_radps).max()
    k = float((motor.voltage_v[fast] @ motor.speed_radps[fast]) / (motor.speed_radps[fast] @ motor.speed_radps[fast]))
    held = np.concatenate([motor.voltage_v[:1], motor.voltage_v[:-1]])  # until a sample: what its current was driven by
    for _ in range(20):  # the drop over the resistance is part of V: k comes down, and with it the signs settle
        sign = np.sign(held - k * motor.speed_radps)
        rows = np.column_stack([sign * motor.current_a, motor.speed_radps])
        before, k = k, float(np.linalg.lstsq(rows, held, rcond=None)[0][1])
        if abs(k - before) < 1e-6 * abs(k):
            break
    return np.asarray(np.sign(held - k * motor.speed_radps) * motor.current_a)


def _bounds(motors: Sequence[_Motor], supply_v: float | None, source: str) -> tuple[dict[str, FittedParameter], tuple[str, ...]]:
    missing = "no voltage was recorded: speeds and currents alone scale with it; record the motors' voltage, or their duty cycle"
    if supply_v is None:
        found = {name: FittedParameter(status=Status.NOT_EXCITED, source=source, note=missing) for name in NAMES}
        return found, (missing, "a supply voltage would give bounds")
    fastest = max(float(median_filter(np.abs(m.speed_radps), LASTING).max()) for m in motors)
    strongest = max(float((np.abs(m.current_a) / (1.0 + _recent(m.speed_radps) / max(fastest, 1e-9))).max()) for m in motors)
    quickest = max(float((np.abs(np.diff(np.abs(m.current_a))) / np.diff(m.time_s)).max()) for m in motors)
    if not (fastest > 0.0 and strongest > 0.0):
        raise LogError(f"{source}: the motors never turned; expected a recording of steps in speed")
    most = {
        "resistance_ohm": supply_v / strongest,
        "inductance_h": 2.0 * supply_v / quickest,
        "torque_constant_nm_per_a": supply_v / fastest,
    }
    note = f"by a supply of {supply_v:g} V"
    found = {
        name: FittedParameter(status=Status.BOUND_ONLY, at_most=bound, source=source, note=note) for name, bound in most.items()
    }
    return found, (missing,)


def _recent(speed_radps: np.ndarray) -> np.ndarray:
    """Fastest speed of a sample and those before it, as many as `LASTING`."""
    return np.asarray(maximum_filter1d(np.abs(speed_radps), LASTING, origin=LASTING // 2))


def _idle(motors: Sequence[_Motor], source: str) -> dict[str, FittedParameter]:
    """Current of a motor that turns steadily: a constant part, and one that grows with speed."""
    parts = []
    for motor in motors:
        speed, current = np.abs(motor.speed_radps), np.abs(motor.current_a)
        steady = (speed > MOVING * speed.max()) & (np.abs(np.gradient(speed)) < MOVING * speed.max())
        if steady.sum() < 20 or np.ptp(speed[steady]) < 0.2 * speed.max():
            continue
        rows = np.column_stack([np.ones(steady.sum()), speed[steady]])
        inverse = np.linalg.inv(rows.T @ rows)
        values = inverse @ (rows.T @ current[steady])
        residual = current[steady] - rows @ values
        scores = block_scores(motor.time_s[steady] - motor.time_s[0], rows * residual[:, None], BLOCK_S)
        parts.append((values, np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))))
    if not parts:
        note = "needs a motor that keeps several speeds"
        return {"idle_current_a": FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)}
    constant, slope = (mean_of([v[k] for v, _ in parts], [max(s[k], 1e-9) for _, s in parts]) for k in (0, 1))
    note = f"of {len(parts)} motors, unloaded where the log is"
    return {"idle_current_a": constant.fitted(source, note), "idle_current_a_s_per_rad": slope.fitted(source, note)}
