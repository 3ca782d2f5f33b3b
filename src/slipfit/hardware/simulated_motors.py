"""Motors, wheels and counters behind a simulated controller, in steps of a millisecond.

    u = setpoint / setpoint_per_radps outside the dead band, within the saturation, delay_s late
    x1' = u + (x1 - u) E1,    x2' = u + (x2 - u) E2 + (x1 - u) c,    E = exp(-h / tau),    c = (E1 - E2) / (1 - tau2 / tau1)

Symbols    h step · x1, x2 wheel speed after one and two lags · ' at the end of the step · c = h / tau E for equal lags
Reference  the powertrain of `twin.powertrain`; the same equations as `simulate.speed_loop`, one step at a time
"""

import math
from array import array
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from slipfit.control import Scale
from slipfit.library import Ground
from slipfit.twin import SkidSteerTwin

STEP_S = 0.001

#: Counts per wheel turn of a twin that tells none: those of [Haas2009] section 2.1.
USUAL_COUNTS_PER_TURN = 44000.0


@dataclass(slots=True)
class SideMotor:
    """One side: told setpoints, it turns its wheels and counts."""

    radps_per_setpoint: float
    dead_band_setpoint: float = 0.0
    saturation_radps: float = math.inf
    lag_s: float = 0.0
    second_lag_s: float = 0.0
    delay_s: float = 0.0
    counts_per_turn: float = USUAL_COUNTS_PER_TURN
    angle_rad: float = 0.0
    history_radps: "array[float]" = field(default_factory=lambda: array("d"))
    _target: float = 0.0
    _lagged: float = 0.0
    _speed: float = 0.0
    _due: deque[tuple[float, float]] = field(default_factory=deque)
    _coefficients: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        first, second = sorted((self.lag_s, self.second_lag_s), reverse=True)
        e1, e2 = _kept(first), _kept(second)
        if first <= 0.0:
            self._coefficients = 0.0, 0.0, 0.0
        elif abs(first - second) < 1e-6 * first:
            self._coefficients = e1, e2, STEP_S / first * e1
        else:
            self._coefficients = e1, e2, (e1 - e2) / (1.0 - second / first)

    def tell(self, setpoint: float, at_s: float) -> None:
        """A setpoint that arrives at a time, and acts `delay_s` later."""
        target = 0.0 if abs(setpoint) < self.dead_band_setpoint else setpoint * self.radps_per_setpoint
        self._due.append((at_s + self.delay_s, max(-self.saturation_radps, min(self.saturation_radps, target))))

    def step(self, begin_s: float) -> None:
        """One millisecond from `begin_s` on."""
        while self._due and self._due[0][0] <= begin_s + 1e-9:
            self._target = self._due.popleft()[1]
        e1, e2, c = self._coefficients
        ahead, behind = self._lagged - self._target, self._speed - self._target
        self._lagged, self._speed = self._target + ahead * e1, self._target + behind * e2 + ahead * c
        self.angle_rad += STEP_S * self._speed
        self.history_radps.append(self._speed)

    @property
    def count(self) -> int:
        """The encoder's counter."""
        return math.floor(self.angle_rad * self.counts_per_turn / (2.0 * math.pi))


def _kept(lag_s: float) -> float:
    return math.exp(-STEP_S / lag_s) if lag_s > 0.0 else 0.0


class Motors:
    """Both sides of a simulated robot, and the time they have come to."""

    def __init__(self, left: SideMotor, right: SideMotor) -> None:
        self.left, self.right = left, right
        self.steps = 0

    @classmethod
    def of(cls, twin: SkidSteerTwin, scale: Scale) -> "Motors":
        """With a twin's lag, delay, dead band and counts."""
        power = twin.powertrain
        assert power is not None
        turns = power.turn_counts("left"), power.turn_counts("right")
        sides = []
        for side, known, turn in zip((power.left, power.right), (scale.left, scale.right), turns, strict=True):
            sides.append(
                SideMotor(
                    radps_per_setpoint=1.0 / (known.setpoint_per_mps * known.wheel_radius_m),
                    dead_band_setpoint=known.dead_band_setpoint,
                    saturation_radps=side.value("saturation_radps", math.inf),
                    lag_s=side.value("lag_s", 0.0),
                    second_lag_s=side.value("second_lag_s", 0.0),
                    delay_s=side.value("delay_s", 0.0),
                    counts_per_turn=turn or USUAL_COUNTS_PER_TURN,
                )
            )
        return cls(*sides)

    def tell(self, left: float, right: float, at_s: float) -> None:
        """Setpoints of both sides."""
        self.left.tell(left, at_s)
        self.right.tell(right, at_s)

    def advance(self, to_s: float) -> None:
        """Turn until this time."""
        while (self.steps + 1) * STEP_S <= to_s + 1e-9:
            begin_s = self.steps * STEP_S
            self.left.step(begin_s)
            self.right.step(begin_s)
            self.steps += 1

    @property
    def speeds_radps(self) -> np.ndarray:
        """Wheel speeds of left and right at the end of every step so far, (steps, 2)."""
        return np.column_stack([np.array(side.history_radps[: self.steps]) for side in (self.left, self.right)])


def poses_of(motors: Motors, twin: SkidSteerTwin, scale: Scale, ground: Ground) -> np.ndarray:
    """Where wheels that turned like this took the robot, by slipfit's simulator: x, y, heading every millisecond, (steps + 1, 3).

    Nothing of the body acts back on wheels whose speed is held, so that the drive may be computed after it happened.
    """
    from slipfit.calibration.replay import replay

    robot = twin.robot
    radii = np.array([scale.left.wheel_radius_m, scale.right.wheel_radius_m]) / robot.wheels.radius_m.value
    speeds = motors.speeds_radps * radii
    if not len(speeds):
        return np.zeros((1, 3))
    table = np.tile(speeds, len(robot.wheels.at_m.value) // 2)
    at_rest = {"start_v_mps": 0.0, "start_yaw_rate_radps": 0.0}  # the first step's speeds are those at its end
    return np.asarray(replay(robot, ground, table, step_s=STEP_S).bodies(at_rest, 1)[0, :, :3])
