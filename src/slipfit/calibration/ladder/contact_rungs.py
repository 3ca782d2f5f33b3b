"""Rungs that replay the drive with a contact law: constants that mean something, and that hold where nobody has driven."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.calibration.ladder.rungs import Values
from slipfit.calibration.replay import replay
from slipfit.calibration.unknowns import Unknown
from slipfit.library import Ground, SkidSteerRobot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.logs.rims import GRID_S, Rims
from slipfit.vehicles.skid_steer import BODY_COLUMNS

#: Step of these replays (s): rim speeds of such logs come at 4 to 10 Hz.
STEP_S = 0.01

_TWIST = [BODY_COLUMNS.index(name) for name in ("vx_mps", "vy_mps", "yaw_rate_radps")]

#: What each law seeks: name, start, spread of its logarithm. Slip constants stand for a wheel with its share of the weight.
_SOUGHT = {
    "wheel_slip": (("c_long_per_n", 0.1, 1.5), ("c_lat_per_n", 0.4, 1.5), ("mu", 0.7, 0.5)),
    "magic_formula": (("mu", 0.7, 0.5), ("stiffness_b", 8.0, 0.7), ("lateral_ratio", 0.9, 0.2)),
}
_FIXED = {"wheel_slip": {}, "magic_formula": {"shape_c": 1.4, "critical_slip": 0.2}}
#: Friction coefficients, and factors on slip constants, that fits begin with.
_GRIPS, _SOFTER = (0.1, 0.2, 0.4, 0.7), (0.3, 1.0)

_PER_LOAD = ("c_long_per_n", "c_lat_per_n")


@dataclass(frozen=True, slots=True)
class ContactRung:
    """The robot on a ground with a law, driven by the wheels' speeds; loads shift as in every simulation."""

    robot: SkidSteerRobot
    law: str
    gravity_mps2: float = STANDARD_GRAVITY.value

    @property
    def name(self) -> str:
        return self.law.replace("_", " ") if self.law != "wheel_slip" else self.law

    @property
    def about(self) -> str:
        return f"the simulator with {self.law}, loads shifting"

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        com_x, com_y, _ = self.robot.centre_of_mass_m.value
        laws = [
            Unknown(f"log {name}", np.log(start * self._per_load(name)), 0.05, spread, f"logarithm of {name}", "motion",
                    float(np.log(start * self._per_load(name))))
            for name, start, spread in _SOUGHT[self.law]
        ]  # fmt: skip
        return (
            *laws,
            Unknown("gain", 1.0, 0.02, 0.1, "rolling radius over that of the robot's file", "motion", 1.0),
            Unknown("x_m", 0.0, 0.02, 0.3, "wheels' centre ahead of the pose's origin", "motion"),
            Unknown("centre_of_mass_x_m", com_x, 0.01, 0.05, "centre of mass ahead of the wheels' centre", "motion", com_x),
            Unknown("centre_of_mass_y_m", com_y, 0.01, 0.03, "centre of mass left of the wheels' centre", "motion", com_y),
        )

    @property
    def starts(self) -> tuple[Values, ...]:
        """Slippery and grippy grounds, soft and stiff ones: from the wrong end a fit gets stuck."""
        found = []
        for mu, softer in itertools.product(_GRIPS, _SOFTER):
            start = {u.name: u.start for u in self.unknowns if u.name.startswith("log ")}
            start |= {name: value + np.log(softer) for name, value in start.items() if name.endswith("_per_n")}
            start |= {name: value - np.log(softer) for name, value in start.items() if name.endswith("stiffness_b")}
            found.append(start | {"log mu": float(np.log(mu))})
        return tuple(found)

    def twists(self, rims: Rims, sets: Sequence[Values]) -> list[np.ndarray]:
        """All sets in one batch; the grid of the rims is left and met again by straight lines."""
        per = round(GRID_S / STEP_S)
        time_s = np.arange(1, (len(rims.left_mps) - 1) * per + 1) * STEP_S
        radius = self.robot.wheels.radius_m.value
        left, right = (np.interp(time_s, rims.time_s, side) / radius for side in (rims.left_mps, rims.right_mps))
        wheels = len(self.robot.wheels.at_m.value)
        drive = replay(self.robot, self._ground(), np.tile(np.column_stack([left, right]), (1, wheels // 2)), step_s=STEP_S)
        vary = {name: np.array([np.exp(values[f"log {name}"]) for values in sets]) for name, *_ in _SOUGHT[self.law]}
        vary["radius_m"] = np.array([radius * values["gain"] for values in sets])
        vary |= {name: np.array([values[name] for values in sets]) for name in ("centre_of_mass_x_m", "centre_of_mass_y_m")}
        bodies = drive.bodies(vary, len(sets))[:, ::per]
        found = []
        for body, values in zip(bodies, sets, strict=True):
            twist = body[:, _TWIST]
            twist[:, 1] -= values["x_m"] * twist[:, 2]
            found.append(twist)
        return found

    def _per_load(self, name: str) -> float:
        load = self.robot.mass_kg.value * self.gravity_mps2 / len(self.robot.wheels.at_m.value)
        return 1.0 / load if name in _PER_LOAD else 1.0

    def _ground(self) -> Ground:
        parameters = {name: start * self._per_load(name) for name, start, _ in _SOUGHT[self.law]} | _FIXED[self.law]
        known = {"schema": Ground.kind(), "name": "sought", "gravity_mps2": self.gravity_mps2}
        mapping = known | {"law": self.law, "parameters": parameters}
        return Ground.from_mapping(mapping, where=f"rung {self.law}")
