"""Constants of DC motors from logs of wheel speed, current and, where there is one, voltage; bounds where a log cannot tell.

    V = R_a i + L_a di/dt + k w        k is back EMF per speed and torque per ampere, both at the wheel
    |i| = i_0 + i_1 |w|                what an unloaded motor takes

Without a voltage the supply's V_s bounds them: what drives a current is never more than V_s and as much back EMF again, so
k <= V_s / W, R_a <= V_s (1 + |w| / W) / |i| at any time, L_a <= 2 V_s dt / |change of |i| in dt|.

Symbols    V voltage, held from its stamp to the next · i current · w wheel speed, W the fastest that lasts · dt sampling interval
Reference  the motor's circuit; spreads by blocks of time, `spread.block_scores`. Currents without sign get that of V - k w.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import median_filter

from slipfit.calibrate.odometry.spreads import Estimate, mean_of
from slipfit.calibrate.odometry.travel import name_of
from slipfit.calibrate.spread import BLOCK_S, FEWEST_BLOCKS, block_scores, inverse_of
from slipfit.errors import LogError
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, MOTORS, motor_column, wheel_columns
from slipfit.twin import FittedParameter, Status

#: A constant is told when its standard deviation is below this share of it.
TOLD = 0.2

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
    """Least squares of the circuit over all motors, with blocks of time as independent."""
    rows, target, block = [], [], []
    for motor in motors:
        assert motor.voltage_v is not None
        current = _with_sign(motor)
        change = np.diff(current) / np.diff(motor.time_s)
        rows.append(np.column_stack([_between(current), change, _between(motor.speed_radps)]))
        target.append(motor.voltage_v[:-1])
        block.append(motor.time_s[:-1])
    matrix, volts = np.vstack(rows), np.concatenate(target)
    inverse = inverse_of(matrix.T @ matrix)
    values = inverse @ (matrix.T @ volts)
    residual = volts - matrix @ values
    scores = np.vstack([block_scores(t - t[0], m * r[:, None], BLOCK_S) for t, m, r in _split(block, matrix, residual)])
    if len(scores) < FEWEST_BLOCKS:
        raise LogError(f"{source}: {len(scores)} blocks of {BLOCK_S:g} s; expected {FEWEST_BLOCKS} or more to tell a spread")
    covariance = inverse @ (scores.T @ scores * len(scores) / (len(scores) - 1)) @ inverse
    found = {}
    for name, value, variance in zip(NAMES, values, np.diag(covariance), strict=True):
        estimate = Estimate(float(value), math.sqrt(float(variance)), float(len(scores) - 1))
        if value > 0.0 and estimate.std < TOLD * value:
            found[name] = estimate.fitted(source)
        else:
            at_most = max(float(value), 0.0) + estimate.half_width_90
            found[name] = FittedParameter(
                status=Status.BOUND_ONLY, at_most=at_most, source=source, note="within its spread of zero"
            )
    return found


def _between(samples: np.ndarray) -> np.ndarray:
    """Means over the intervals between samples."""
    return np.asarray(0.5 * (samples[1:] + samples[:-1]))


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
    for _ in range(20):  # the drop over the resistance is part of V: k comes down, and with it the signs settle
        sign = np.sign(motor.voltage_v - k * motor.speed_radps)
        rows = np.column_stack([sign * motor.current_a, motor.speed_radps])
        before, k = k, float(np.linalg.lstsq(rows, motor.voltage_v, rcond=None)[0][1])
        if abs(k - before) < 1e-6 * abs(k):
            break
    return np.asarray(np.sign(motor.voltage_v - k * motor.speed_radps) * motor.current_a)


def _bounds(motors: Sequence[_Motor], supply_v: float | None, source: str) -> tuple[dict[str, FittedParameter], tuple[str, ...]]:
    missing = "no voltage was recorded: speeds and currents alone scale with it; record the motors' voltage, or their duty cycle"
    if supply_v is None:
        found = {name: FittedParameter(status=Status.NOT_EXCITED, source=source, note=missing) for name in NAMES}
        return found, (missing, "a supply voltage would give bounds")
    fastest = max(float(median_filter(np.abs(m.speed_radps), LASTING).max()) for m in motors)
    strongest = max(float((np.abs(m.current_a) / (1.0 + np.abs(m.speed_radps) / max(fastest, 1e-9))).max()) for m in motors)
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
