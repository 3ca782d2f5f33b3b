"""The twin: the contract between all stages. A calibration writes it, everything else reads it."""

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import ConfigDict, Field

from slipfit.library import SkidSteerRobot
from slipfit.twin.fitted import Covariance
from slipfit.twin.fitted_ground import FittedGround, factors
from slipfit.twin.payload import PER_LOAD, loaded
from slipfit.twin.powertrain import FittedPowertrain
from slipfit.twin.record import GroundName, LogOrigin, Twin, parameter_rows

#: The robot's load per wheel may differ this much from the load of the constants before the summary speaks of it.
LOAD_TOLERANCE = 0.02

_SETPOINTS = {"controller": "units of the controller", "radps": "rad/s of the wheels"}


class SkidSteerTwin(Twin):
    """A skid-steer robot and the grounds it was calibrated on."""

    model_config = ConfigDict(title="Twin")  # as the JSON schema of version 1 has it

    drive: ClassVar[str] = "skid_steer"
    whose: ClassVar[str] = "a skid-steer robot"
    at_home: ClassVar[str] = "`slipfit simulate` drives it, and in Python Twin.load reads it"

    robot: SkidSteerRobot
    grounds: Annotated[dict[GroundName, FittedGround], Field(min_length=1)]
    powertrain: FittedPowertrain | None = None

    def with_payload(self, mass_kg: float, at_m: tuple[float, float, float] | None = None) -> Self:
        """The twin with a payload at [x, y, height]: mass, centre of mass and inertias by parallel axes, and slip constants
        of which c N stays (`slipfit.twin.payload`). Spreads, intervals and bounds go along; statuses and notes stay."""
        robot = loaded(self.robot, mass_kg, at_m)
        grounds = {name: _at_load_of(ground, self.robot, robot) for name, ground in self.grounds.items()}
        place = "its centre of mass" if at_m is None else f"[{', '.join(f'{c:g}' for c in at_m)}] m"
        note = f"payload of {mass_kg:g} kg at {place}: slip constants scaled by {_ratio(self.robot, robot):.6g}"
        provenance = self.provenance.model_copy(update={"notes": [*self.provenance.notes, note]})
        twin = self.model_copy(update={"robot": robot, "grounds": grounds, "provenance": provenance})
        return self.from_mapping(twin.to_mapping(), where=f"the twin of {robot.name} with {mass_kg:g} kg of payload")

    def with_powertrain(self, found: FittedPowertrain, *, logs: list[LogOrigin] | None = None, note: str = "") -> "SkidSteerTwin":
        """The twin with odometer, speed and turning constants added, or in place of older ones."""
        old = self.provenance
        origins = [*old.logs, *(log for log in logs or [] if log not in old.logs)]
        provenance = old.model_copy(update={"logs": origins, "notes": [*old.notes, note] if note else old.notes})
        powertrain = found if self.powertrain is None else self.powertrain.merged(found)
        return self.model_copy(update={"powertrain": powertrain, "provenance": provenance})

    # --- text -------------------------------------------------------------------------------------------------------

    def _body_row(self) -> str:
        r = self.robot
        return f"  {r.mass_kg.value:g} kg, track {r.track_m:g} m, wheelbase {r.wheelbase_m:g} m"

    def _rows_beside(self, ground: FittedGround) -> list[str]:
        load_n = mean_load_n(self.robot, ground)
        if ground.load_n is None or abs(ground.load_n / load_n - 1.0) <= LOAD_TOLERANCE:
            return []
        return [
            f"  the constants hold at {ground.load_n:.4g} N per wheel, the robot has {load_n:.4g} N: its mass was changed by "
            f"hand; with_payload changes both"
        ]

    def _rows_of_drive(self) -> list[str]:
        if not self.powertrain:
            return []
        unit = _SETPOINTS[self.powertrain.setpoint_unit]
        return [f"powertrain, setpoints in {unit}", *parameter_rows(dict(self.powertrain.parameters()))]


def mean_load_n(robot: SkidSteerRobot, ground: FittedGround) -> float:
    """Mean load of a wheel on level ground."""
    return robot.mass_kg.value * ground.gravity_mps2.value / len(robot.wheels.at_m.value)


def _ratio(before: SkidSteerRobot, after: SkidSteerRobot) -> float:
    return before.mass_kg.value / after.mass_kg.value


def _at_load_of(ground: FittedGround, before: SkidSteerRobot, after: SkidSteerRobot) -> FittedGround:
    """The constants as they are under the heavier robot."""
    ratio = _ratio(before, after)
    parameters = {name: p.scaled(ratio) if name in PER_LOAD else p for name, p in ground.parameters.items()}
    inertia = after.yaw_inertia_kgm2.value / before.yaw_inertia_kgm2.value
    grows = {"mass": 1.0 / ratio, "mass_kg": 1.0 / ratio, "yaw_inertia": inertia, "yaw_inertia_kgm2": inertia}
    grows |= dict.fromkeys((n for p in ground.info.parameters if p.name in PER_LOAD for n in (p.name, p.alias) if n), ratio)
    combinations = {
        key: p.scaled(float(np.prod([grows.get(name, 1.0) ** power for name, power in factors(key).items()])))
        for key, p in ground.combinations.items()
    }
    return ground.model_copy(
        update={
            "parameters": parameters,
            "combinations": combinations,
            "covariance": ground.covariance and _covariance_at_load(ground, ground.covariance, before, after),
            "load_n": None if ground.load_n is None else ground.load_n / ratio,
        }
    )


def _covariance_at_load(
    ground: FittedGround, covariance: Covariance, before: SkidSteerRobot, after: SkidSteerRobot
) -> Covariance:
    """J P J^T with c' = c m / (m + M): the errors of c shrink, and an error of the mass moves c' too."""
    ratio, heavy = _ratio(before, after), after.mass_kg.value
    jacobian = np.eye(len(covariance.names))
    for k, name in enumerate(covariance.names):
        if name in PER_LOAD:
            jacobian[k, k] = ratio
            if "mass_kg" in covariance.names:
                c = ground.parameters[name].value or 0.0
                jacobian[k, covariance.names.index("mass_kg")] = c * (1.0 - ratio) / heavy
    matrix = jacobian @ covariance.array @ jacobian.T
    return covariance.model_copy(update={"matrix": (0.5 * (matrix + matrix.T)).tolist()})
