"""The quasi-static step as the model of a study: closed forms, no simulation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library.files import nearest
from slipfit.study.file import StepClimb, StudyFile
from slipfit.study.verdicts import Arrays, Bounds, Verdicts
from slipfit.twin.posterior import EvenBetween, NormalTogether
from slipfit.vehicles.step_climb import ClimberShape, friction_needed, friction_to_tip

#: Numbers of the step besides the robot's side view, with their bounds; what is not given is 0.
_STEP: dict[str, Bounds] = {
    "curb.height_m": (0.0, 5.0),
    "curb.friction": (0.0, 5.0),
    "curb.edge_radius_m": (0.0, 2.0),
    "curb.sinkage_m": (0.0, 2.0),
}
NEEDED = ("curb.height_m", "curb.friction")
CLIMBED, TOO_HIGH, SLIPPED, NOSE_SLIPPED = range(4)


@dataclass(frozen=True)
class StepModel:
    """A tracked robot at a step, quasi-statically (`vehicles/step_climb`): with flippers by the closed form (tip), without by
    the balance along the way. Sinkage of the ground before the step adds to its height."""

    shape: StepClimb
    fixed: dict[str, float]

    outcomes = ("climbed", "step too high", "slipped", "nose slipped on the wall")
    measures = ("friction_margin",)
    seen_from: ClassVar[str] = "step"
    no_soil: ClassVar[str] = "a step on hard ground has no soil; give curb.sinkage_m a distribution"

    def full_name(self, name: str) -> str:
        if name not in _STEP and name not in ClimberShape._fields:
            raise ParameterError(f"there is no number '{name}' at a step; {nearest(name, {*_STEP, *ClimberShape._fields})}")
        return name

    def bounds(self, name: str) -> Bounds:
        return _STEP.get(name, (1e-3, 20.0))

    def made_of(self) -> dict[str, Any]:
        return {}

    def title(self, study: StudyFile) -> str:
        return f"quasi-static step climb, {'with' if self.shape.has_flippers else 'without'} flippers"

    def verdicts_only(self) -> "StepModel":
        return self

    def posterior(self, study: StudyFile) -> list[NormalTogether | EvenBetween]:
        return []

    def evaluate(self, inputs: Arrays, workers: int = 1) -> Verdicts:
        entries = {field: getattr(self.shape, field).value for field in ClimberShape._fields}
        numbers: dict[str, Any] = dict.fromkeys(_STEP, 0.0) | entries | self.fixed | dict(inputs)
        shape = ClimberShape(*(numbers[field] for field in ClimberShape._fields))
        height, friction, edge, sinkage = (np.asarray(numbers[name], dtype=float) for name in _STEP)
        to_tip = friction_to_tip(shape, height + sinkage, edge)
        needed = to_tip if self.shape.has_flippers else friction_needed(shape, height + sinkage, edge, has_flippers=False)
        outcome = np.select(
            [friction >= needed, np.isinf(to_tip), friction < to_tip], [CLIMBED, TOO_HIGH, SLIPPED], default=NOSE_SLIPPED
        )
        return Verdicts(outcome.astype(np.int16), {"friction_margin": np.asarray(friction - needed, dtype=float)})
