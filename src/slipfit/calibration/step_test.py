"""c_long from a speed step: the longitudinal test of [Trimble2022] with its corrected equations.

    v_r = v / (1 - a c m / n),    d = ∫ v / (1 - a c m / n) dt

The distance d that the wheels rolled is matched by bracketing c between zero and n / (a_max m), where the integrand's pole
enters the run. The integral is convex in c. In runs that gain speed it rises from c = 0 on: one root or none. In runs that lose
speed it falls first, and rises again where some sample accelerates, be it by noise: two roots, of which the one on the falling
branch is the answer: it alone goes to zero with the slip, and there more slip means a shorter way of the wheels, as in braking.

Symbols    v, a speed and acceleration of the robot · v_r rim speed · c c_long (1/N) · m mass · n wheels
Reference  [Trimble2022] eqs. (1), (2), corrected in docs/theory/wheel_slip_protocol, eqs. (rim), (odometer)
Valid for  straight runs on level ground without other drag, below Coulomb's limit, speed not changing its sign
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.optimize import brentq

from slipfit.errors import FitError

#: The bracket stays this share away from the pole, where the integral is infinite.
_FROM_POLE = 1e-9

#: Upper end of the bracket where nothing accelerates, a braking run: c_long of 1 per newton is no tyre.
MOST_C_LONG_PER_N = 1.0


class StepOutcome(Enum):
    """How the search for c_long ended; the value is what the user reads."""

    FOUND = "The distances match at this c_long."
    NO_SLIP = "The wheels did not roll further than the robot drove (braking: less far), so no c_long of the bracket fits."
    NO_ROOT = "The wheels slipped more than any c_long below n / (a_max m) explains: Coulomb sliding, or a wrong radius or mass."
    NO_SPEED_CHANGE = "The robot's speed did not change: without acceleration there is no slip to measure."


@dataclass(frozen=True, slots=True)
class StepResult:
    """c_long of one speed step, or the reason why there is none."""

    c_long_per_n: float | None
    outcome: StepOutcome
    odometer_m: float
    travelled_m: float
    largest_accel_mps2: float
    most_c_long_per_n: float  # upper end of the bracket

    @property
    def slipped_m(self) -> float:
        """How much further the wheels rolled than the robot drove."""
        return self.odometer_m - self.travelled_m

    def summary(self) -> str:
        """One line."""
        found = "no c_long" if self.c_long_per_n is None else f"c_long {self.c_long_per_n:.5f} 1/N"
        return f"{found}: {1000 * self.slipped_m:.1f} mm of slip in {self.travelled_m:.3f} m. {self.outcome.value}"

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "c_long_per_n": self.c_long_per_n,
            "outcome": self.outcome.name.lower(),
            "odometer_m": self.odometer_m,
            "travelled_m": self.travelled_m,
            "largest_accel_mps2": self.largest_accel_mps2,
        }


def rolled_m(
    v_mps: np.ndarray, a_mps2: np.ndarray, time_s: np.ndarray, *, c_long_per_n: float, mass_kg: float, wheels: int
) -> float:
    """How far the wheels roll while the robot moves like this: the right side of the corrected eq. (2), by trapezia."""
    return float(np.trapezoid(v_mps / (1.0 - a_mps2 * c_long_per_n * mass_kg / wheels), time_s))


def c_long_from_step(
    v_mps: np.ndarray,
    a_mps2: np.ndarray,
    time_s: np.ndarray,
    odometer_m: float,
    mass_kg: float,
    wheels: int = 4,
    *,
    least_c_long_per_n: float = 0.0,
) -> StepResult:
    """Find c_long such that the wheels roll as far as the odometer says. That none fits is an answer, not an error.

    Parameters
    ----------
    v_mps, a_mps2, time_s : speed and acceleration of the robot over the run, shape (T,)
    odometer_m : how far the wheels rolled between the first and the last of these times
    least_c_long_per_n : lower end of the bracket; a negative one shows how far noise and bias push the estimate
    """
    v, a, t = (np.asarray(given, dtype=float) for given in (v_mps, a_mps2, time_s))
    if not len(v) == len(a) == len(t) or len(t) < 3 or not np.isfinite([v, a, t]).all():
        raise FitError(
            f"a speed step with {len(v)}, {len(a)} and {len(t)} samples of speed, acceleration and time; expected three or "
            "more finite samples, the same number of each"
        )
    if np.trapezoid(v, t) < 0.0:  # backing up is driving forward, mirrored
        v, a, odometer_m = -v, -a, -odometer_m
    travelled, largest = float(np.trapezoid(v, t)), float(a.max())
    most = wheels / (largest * mass_kg) * (1.0 - _FROM_POLE) if largest > 0.0 else MOST_C_LONG_PER_N
    most = min(most, MOST_C_LONG_PER_N)

    def excess_m(c: float) -> float:
        return rolled_m(v, a, t, c_long_per_n=c, mass_kg=mass_kg, wheels=wheels) - odometer_m

    def result(outcome: StepOutcome, c: float | None = None) -> StepResult:
        return StepResult(c, outcome, odometer_m, travelled, largest, most)

    if not np.any(a):
        return result(StepOutcome.NO_SPEED_CHANGE)
    lowest = _lowest(v, a * mass_kg / wheels, t, least_c_long_per_n, most)
    is_braking = float(np.trapezoid(v * a, t)) < 0.0
    near, far = (least_c_long_per_n, lowest) if is_braking else (lowest, most)
    sign = -1.0 if is_braking else 1.0
    if sign * excess_m(near) > 0.0:
        return result(StepOutcome.NO_SLIP)
    if sign * excess_m(far) < 0.0:
        return result(StepOutcome.NO_ROOT)
    return result(StepOutcome.FOUND, float(brentq(excess_m, near, far, xtol=1e-12, rtol=1e-12)))


def _lowest(v_mps: np.ndarray, pull: np.ndarray, time_s: np.ndarray, least: float, most: float) -> float:
    """Where the convex integral of v / (1 - pull c) is least within the bracket: its derivative rises throughout."""

    def slope(c: float) -> float:
        return float(np.trapezoid(v_mps * pull / (1.0 - pull * c) ** 2, time_s))

    if slope(least) >= 0.0:
        return least
    return most if slope(most) <= 0.0 else float(brentq(slope, least, most, xtol=1e-15))


Differences = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def central_differences(time_s: np.ndarray, position_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(time, speed, acceleration) by the three-point formulas, at all samples but the first and last.

        v_k = (x_k+1 - x_k-1) / 2h,    a_k = (x_k+1 - 2 x_k + x_k-1) / h^2

    White noise s of the positions becomes √6 s / h² of acceleration: 5 mm at 20 Hz are 4.9 m/s². Stamps may be uneven.
    """
    t, x = np.asarray(time_s, dtype=float), np.asarray(position_m, dtype=float)
    before, after = np.diff(t)[:-1], np.diff(t)[1:]
    slope_before, slope_after = np.diff(x)[:-1] / before, np.diff(x)[1:] / after
    v = (after * slope_before + before * slope_after) / (before + after)
    return t[1:-1], v, 2.0 * (slope_after - slope_before) / (before + after)


def repeated_differences(time_s: np.ndarray, position_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(time, speed, acceleration) by central differences taken twice, one-sided at the ends, at all samples.

    Twice as wide as the three-point formula, a quarter of its noise (√6 s / 4h²), and blunter peaks.
    """
    t, x = np.asarray(time_s, dtype=float), np.asarray(position_m, dtype=float)
    v = np.gradient(x, t)
    return t, v, np.gradient(v, t)


def backward_differences(time_s: np.ndarray, position_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(time, speed, acceleration) by differences with the sample before: speed is late by h/2, acceleration by h.

    A late speed is too low while the robot accelerates, so the wheels seem to slip more: c_long comes out far too large.
    """
    t, x = np.asarray(time_s, dtype=float), np.asarray(position_m, dtype=float)
    v = np.diff(x) / np.diff(t)
    return t[2:], v[1:], np.diff(v) / np.diff(t)[1:]


def integrated_speed(time_s: np.ndarray, accel_mps2: np.ndarray, start_mps: float) -> np.ndarray:
    """Speed from an accelerometer, by trapezia from a known start."""
    t, a = np.asarray(time_s, dtype=float), np.asarray(accel_mps2, dtype=float)
    return np.asarray(start_mps + cumulative_trapezoid(a, t, initial=0.0))
