"""The speed loop between a command and a wheel: dead band, limits, delay and lag, exact for commands that hold for a step.

    x1' = (u - x1) / tau1,    x2' = (x1 - x2) / tau2,    u = limited(told(t - delay)) / told_per_reached

    x1(t + h) = u + (x1 - u) E1,    x2(t + h) = u + (x2 - u) E2 + (x1 - u) c,    E = exp(-h / tau)
    c = (E1 - E2) / (1 - tau2 / tau1), and h / tau E where both lags are equal

Symbols    u speed asked of the wheel · x1, x2 after one and two lags · h step · a lag of zero follows at once
Reference  derived in docs/theory/odometry, eq. (speed loop)
Valid for  the unloaded loop: torque limits and slip come after it, in the vehicle
"""

from dataclasses import dataclass

import numpy as np

from slipfit.twin import FittedPowertrain, Side

#: Lags shorter than this share of a step are none: exp(-100) is nothing.
_NO_LAG = 0.01


@dataclass(frozen=True, slots=True)
class SpeedLoop:
    """One side's loop. `told` is what the robot is told: rad/s of the wheel, or any unit of which it takes `told_per_reached`."""

    told_per_reached: float = 1.0
    dead_band: float = 0.0  # told; below it nothing turns
    lowest: float = -np.inf  # told
    highest: float = np.inf
    saturation_radps: float = np.inf  # reached
    delay_s: float = 0.0
    lag_s: float = 0.0
    second_lag_s: float = 0.0

    @classmethod
    def of(cls, powertrain: FittedPowertrain, side: Side) -> "SpeedLoop":
        """The loop for commands in rad/s. A driver turns them into a controller's units by the same constant that the controller
        undoes, so that only a robot that is told rad/s by itself has a gain."""
        low, high = powertrain.setpoint_limits
        per_radps = side.value("setpoint_per_radps", np.nan)
        is_told_speeds = powertrain.setpoint_unit == "radps"
        unit = 1.0 if is_told_speeds else per_radps
        known = bool(np.isfinite(unit))
        return cls(
            told_per_reached=per_radps if is_told_speeds and np.isfinite(per_radps) else 1.0,
            dead_band=side.value("dead_band_setpoint", 0.0) / unit if known else 0.0,
            lowest=low / unit if known else -np.inf,
            highest=high / unit if known else np.inf,
            saturation_radps=side.value("saturation_radps", np.inf),
            delay_s=side.value("delay_s", 0.0),
            lag_s=side.value("lag_s", 0.0),
            second_lag_s=side.value("second_lag_s", 0.0),
        )

    def asked(self, told: np.ndarray) -> np.ndarray:
        """Speed that the loop is to reach (rad/s), without delay and lag."""
        limited = np.where(np.abs(told) < self.dead_band, 0.0, np.clip(told, self.lowest, self.highest))
        return np.clip(limited / self.told_per_reached, -self.saturation_radps, self.saturation_radps)

    def reached(self, told: np.ndarray, step_s: float, before: float = 0.0) -> np.ndarray:
        """Speed of the wheel at the end of each step; before the first one it was told `before` for long."""
        return self.followed(self.asked(told), step_s, float(self.asked(np.array(before))))

    def followed(self, asked: np.ndarray, step_s: float, steady: float = 0.0) -> np.ndarray:
        """What delay and lag make of asked speeds, at the end of each step, starting from a steady speed."""
        u = _delayed(asked, self.delay_s / step_s, steady)
        first, second = sorted((self.lag_s, self.second_lag_s), reverse=True)
        if first <= _NO_LAG * step_s:
            return u
        from scipy.signal import lfilter  # here: it loads half of scipy, and robots without a fitted powertrain have no lag

        e1 = np.exp(-step_s / first)
        once = lfilter([1.0 - e1], [1.0, -e1], u, zi=[e1 * steady])[0]
        if second <= _NO_LAG * step_s:
            return np.asarray(once)
        e2 = np.exp(-step_s / second)
        ratio = second / first
        c = step_s / first * e1 if abs(1.0 - ratio) < 1e-6 else (e1 - e2) / (1.0 - ratio)
        start = np.concatenate([[steady], once[:-1]])
        twice = lfilter([1.0], [1.0, -e2], (1.0 - e2) * u + c * (start - u), zi=[e2 * steady])[0]
        return np.asarray(twice)


def _delayed(u: np.ndarray, steps: float, before: float) -> np.ndarray:
    """The row's mean over its step, so many steps later; a part of a step mixes two rows."""
    whole = int(np.floor(steps))
    part = steps - whole
    padded = np.concatenate([np.full(whole + 1, before), u])
    return np.asarray((1.0 - part) * padded[1 : len(u) + 1] + part * padded[: len(u)])


def through_loops(
    table: np.ndarray, powertrain: FittedPowertrain, start: np.ndarray, radius_m: float, step_s: float
) -> np.ndarray:
    """A table of commanded wheel speeds, (rows, wheels), as both sides' loops let them through.

    The vehicle's wheels have one radius. Speeds in its table are those of the rims over that radius: a side that was found to
    roll at another one has its loop's speeds scaled alike, so that its rims saturate where they do.

    start : (wheels,), speeds that were commanded for long before the first row
    """
    rolled = powertrain.rolled_at(radius_m)
    loops = (SpeedLoop.of(rolled, rolled.left), SpeedLoop.of(rolled, rolled.right))
    columns = [loops[w % 2].reached(table[:, w], step_s, float(start[w])) for w in range(table.shape[1])]
    return np.column_stack(columns)
