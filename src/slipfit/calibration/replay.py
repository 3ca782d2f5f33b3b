"""The robot driven by the wheel speeds that its encoders told: the model behind every fit, many parameter sets in one batch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slipfit.kernels import run_chunks
from slipfit.library import Ground, Parameter, SkidSteerRobot
from slipfit.library.robot import SpeedLoop
from slipfit.simulation import Command, Scenario
from slipfit.simulation.assemble import Values, named_values
from slipfit.simulation.drives.skid_steer import SkidSteer
from slipfit.vehicles import skid_steer

#: Step of a replay (s): the time constant m c |w| / n of a P3AT with c = .001 at .2 m/s is 1 ms.
STEP_S = 0.001

#: Torque that holds any wheel at its measured speed.
UNLIMITED_NM = 1e9

_BODY = len(skid_steer.BODY_COLUMNS)


@dataclass(frozen=True, eq=False, slots=True)
class Replay:
    """A drive of the model along measured wheel speeds; powertrains have no part in it."""

    robot: SkidSteerRobot
    ground: Ground
    wheel_speeds: np.ndarray  # (steps, wheels), rad/s at the end of each step
    values: Values
    step_s: float = STEP_S

    @property
    def time_s(self) -> np.ndarray:
        """Times of the records."""
        return np.arange(len(self.wheel_speeds) + 1) * self.step_s

    def bodies(self, vary: Mapping[str, Any], n: int) -> np.ndarray:
        """Motion of the body for n sets of numbers, (n, steps + 1, columns of the body)."""
        return self._run(vary, n, _BODY)

    def whole(self, vary: Mapping[str, Any]) -> np.ndarray:
        """One run with the wheels' columns too: loads and forces, (steps + 1, columns)."""
        return np.asarray(self._run(vary, 1, _BODY + len(skid_steer.WHEEL_COLUMNS) * self.wheel_speeds.shape[1])[0])

    def coarse(self, times: int = 5) -> "Replay":
        """The same drive in larger steps, for a first look."""
        return replace(self, wheel_speeds=np.ascontiguousarray(self.wheel_speeds[times - 1 :: times]), step_s=times * self.step_s)

    def _run(self, vary: Mapping[str, Any], n: int, columns: int) -> np.ndarray:
        batch = SkidSteer().assemble(self.robot, self.ground, self.values | dict(vary), self.wheel_speeds, n)
        out, status = np.empty((n, len(self.wheel_speeds) + 1, columns)), np.empty(n)

        def chunk(lo: int, hi: int) -> None:
            skid_steer.in_lanes(batch, lo, hi, 1, 1, self.step_s, out, status)

        run_chunks(chunk, n)
        return out


def replay(robot: SkidSteerRobot, ground: Ground, wheel_speeds: np.ndarray, *, step_s: float = STEP_S) -> Replay:
    """A replay that starts with the wheels' first speeds, rolling without slip."""
    held = _with_held_wheels(robot)
    still = Scenario(commands=[Command(for_s=1.0, v_mps=0.0)])
    rims = wheel_speeds[0] * robot.wheels.radius_m.value
    left, right = float(rims[::2].mean()), float(rims[1::2].mean())
    start = {"start_v_mps": 0.5 * (left + right), "start_yaw_rate_radps": (right - left) / robot.track_m}
    return Replay(held, ground, np.ascontiguousarray(wheel_speeds), named_values(held, ground, still) | start, step_s)


def _with_held_wheels(robot: SkidSteerRobot) -> SkidSteerRobot:
    """The same robot whose wheels turn as they are told, whatever drives them."""
    strong = SpeedLoop(kind="speed_loop", torque_limit_nm=Parameter("torque_limit_nm", UNLIMITED_NM))
    return robot.model_copy(update={"powertrain": strong})
