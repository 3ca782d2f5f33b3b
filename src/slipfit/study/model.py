"""What a study evaluates: arrays of numbers in, a verdict for each run out. Models know nothing of samples and statistics."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from slipfit.contact import GROUND_LAWS
from slipfit.errors import ParameterError
from slipfit.library import Ground, OmniRobot, SkidSteerRobot, TrackedRobot, find_terrain
from slipfit.library.files import nearest
from slipfit.simulation import Outcome, Scenario, simulate_many
from slipfit.simulation.climb_scenario import ClimbScenario, find_climb, is_climb
from slipfit.simulation.climb_twin import climber_on_ground
from slipfit.simulation.drives import VEHICLES
from slipfit.simulation.outcome import WHEELED_OUTCOMES
from slipfit.simulation.run import resolve
from slipfit.simulation.scenario import find_scenario
from slipfit.study.climb_model import ClimbModel
from slipfit.study.file import FromTable, Limits, StepClimb, StudyFile
from slipfit.study.verdicts import Arrays, Bounds, Verdicts
from slipfit.twin import OmniTwin, SkidSteerTwin, TrackedTwin, find_driver
from slipfit.twin.tracked import FRICTION
from slipfit.vehicles.step_climb import ClimberShape, friction_needed, friction_to_tip


class Model(Protocol):
    """Anything that can be studied. It is sent to workers, so it holds records and plain numbers only."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What the codes mean; the first is success."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Numbers beside the verdict."""

    def full_name(self, name: str) -> str:
        """The name of a number that can vary, where a short one was given; a sentence where there is none."""

    def bounds(self, name: str) -> Bounds:
        """Between which values a number may lie."""

    def made_of(self) -> dict[str, Any]:
        """Robot, ground and scenario as they were read: what verdicts follow from, besides the study's own file."""

    def evaluate(self, inputs: Arrays, workers: int) -> Verdicts:
        """Run all; `workers` threads at most."""


# --- the quasi-static step ----------------------------------------------------------------------------------------------------

#: Numbers of the step besides the robot's side view, with their bounds; what is not given is 0.
_STEP: dict[str, Bounds] = {
    "curb.height_m": (0.0, 5.0),
    "curb.friction": (0.0, 5.0),
    "curb.edge_radius_m": (0.0, 2.0),
    "curb.sinkage_m": (0.0, 2.0),
}
_NEEDED = ("curb.height_m", "curb.friction")
CLIMBED, TOO_HIGH, SLIPPED, NOSE_SLIPPED = range(4)


@dataclass(frozen=True)
class StepModel:
    """A tracked robot at a step, quasi-statically (`vehicles/step_climb`): with flippers by the closed form (tip), without by
    the balance along the way. Sinkage of the ground before the step adds to its height."""

    shape: StepClimb
    fixed: dict[str, float]

    outcomes = ("climbed", "step too high", "slipped", "nose slipped on the wall")
    measures = ("friction_margin",)

    def full_name(self, name: str) -> str:
        if name not in _STEP and name not in ClimberShape._fields:
            raise ParameterError(f"there is no number '{name}' at a step; {nearest(name, {*_STEP, *ClimberShape._fields})}")
        return name

    def bounds(self, name: str) -> Bounds:
        return _STEP.get(name, (1e-3, 20.0))

    def made_of(self) -> dict[str, Any]:
        return {}

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


# --- full simulations ---------------------------------------------------------------------------------------------------------

#: How runs end where `success` has limits.
SUCCESS, _FELL_SHORT = "success", "fell short"


@dataclass(frozen=True, eq=False)
class ScenarioModel:
    """A robot or twin driven through a scenario by `simulate_many`; only start and end of each run are recorded."""

    driver: SkidSteerRobot | OmniRobot | SkidSteerTwin | OmniTwin
    scenario: Scenario
    surface: Ground
    fixed: dict[str, float]
    success: str | dict[str, Limits]

    measures = ("end_x_m", "end_y_m", "end_heading_rad")

    def __post_init__(self) -> None:
        words = [_word(outcome) for outcome in WHEELED_OUTCOMES]
        if isinstance(self.success, str) and self.success not in words:
            raise ParameterError(
                f"success: there is no verdict '{self.success}' for this scenario; {nearest(self.success, words)}"
            )
        for name in self.success if isinstance(self.success, dict) else ():
            if name not in self.measures:
                raise ParameterError(f"success.{name}: there is no such outcome; {nearest(name, self.measures)}")
        if self.success == _word(Outcome.ARRIVED) and self.scenario.route is None:
            raise ParameterError("success: arrived needs a route in the scenario; give end_x_m a limit instead")

    @property
    def robot(self) -> Any:
        return find_driver(self.driver).robot

    @property
    def outcomes(self) -> tuple[str, ...]:
        words = tuple(_word(outcome) for outcome in WHEELED_OUTCOMES)
        if isinstance(self.success, str):
            return (self.success, *(word for word in words if word != self.success))
        return (SUCCESS, _FELL_SHORT, *words)

    def full_name(self, name: str) -> str:
        short = {p.alias: p.name for p in GROUND_LAWS[self.surface.law].parameters if p.alias}
        vehicle, where = VEHICLES[self.robot.drive], (self.robot, self.surface, self.scenario)
        known = {*vehicle.numbers(*where), *vehicle.bounds(*where)}
        if short.get(name, name) not in known:
            raise ParameterError(f"there is no number '{name}' in this run; {nearest(name, known)}")
        return short.get(name, name)

    def bounds(self, name: str) -> Bounds:
        return VEHICLES[self.robot.drive].bounds(self.robot, self.surface, self.scenario).get(name, (-np.inf, np.inf))

    def made_of(self) -> dict[str, Any]:
        records = {"driver": self.driver, "scenario": self.scenario, "surface": self.surface}
        found: dict[str, Any] = {name: record.to_mapping() for name, record in records.items()}
        if self.scenario.ground.terrain:
            found["terrain"] = find_terrain(self.scenario.ground.terrain).digest()
        return found

    def evaluate(self, inputs: Arrays, workers: int = 1) -> Verdicts:
        n = len(next(iter(inputs.values())))
        vary = {self.full_name(name): np.full(n, number) for name, number in self.fixed.items()} | dict(inputs)
        batch = simulate_many(self.driver, self.scenario, vary, ground=self.surface, ends_only=True, workers=workers)
        end = batch.end_pose
        words = [_word(outcome) for outcome in batch.outcomes]
        if isinstance(self.success, dict):
            is_good = np.array(batch.is_finished)
            for name, limits in self.success.items():
                found = end[:, self.measures.index(name)]
                is_good &= (found >= (-np.inf if limits.at_least is None else limits.at_least)) & (
                    found <= (np.inf if limits.at_most is None else limits.at_most)
                )
            done = np.array(batch.is_finished)
            words = [SUCCESS if good else _FELL_SHORT if d else w for good, d, w in zip(is_good, done, words, strict=True)]
        code = {word: k for k, word in enumerate(self.outcomes)}
        return Verdicts(
            np.array([code[word] for word in words], dtype=np.int16),
            {name: np.ascontiguousarray(end[:, k]) for k, name in enumerate(self.measures)},
        )


def _word(outcome: Outcome) -> str:
    return outcome.name.lower()


def model_of(study: StudyFile) -> Model:
    """The model that a study's file asks for."""
    model = _model_of(study)
    if study.reserve and not isinstance(model, ClimbModel):
        raise ParameterError("reserve: grip reserves are of tracked robots' climbs (`robot: packbot`); leave `reserve` out")
    return model


def _model_of(study: StudyFile) -> Model:
    if study.step_climb is not None:
        if study.success != "climbed":
            raise ParameterError(f"success: found {_told(study.success)}; expected 'climbed', the one good end of a step")
        step = StepModel(study.step_climb, dict(study.fixed))
        given = {*study.fixed, *study.design, *study.uncertain}
        missing = [name for name in _NEEDED if name not in given]
        if missing:
            for name in sorted(given):  # a slip of the pen is told as such
                step.full_name(name)
            raise ParameterError(f"{missing[0]} is given nowhere; put it under design, uncertain or fixed")
        return step
    found = find_driver(study.twin or study.robot or "")
    driver: Any = found.twin or found.robot
    if study.twin is not None and found.twin is None:
        raise ParameterError(f"twin: {study.twin} is no twin; a robot goes under `robot:`")
    assert study.scenario is not None
    if found.robot.has_belts:
        return _climb_model(driver, study)
    if is_climb(study.scenario):
        raise ParameterError(
            f"scenario {study.scenario}: climbs are for tracked robots such as packbot, and this one is on wheels"
        )
    scenario = find_scenario(study.scenario)
    surface = resolve(driver, scenario, _table_ground(study) or study.ground).ground
    assert surface is not None
    return ScenarioModel(driver, scenario, surface, dict(study.fixed), study.success)


def verdicts_only(model: Model) -> Model:
    """The same model without what takes further runs: Sobol indices ask for verdicts alone."""
    return replace(model, has_reserve=False) if isinstance(model, ClimbModel) else model


def _told(success: str | dict[str, Limits]) -> str:
    return f"'{success}'" if isinstance(success, str) else f"limits of {', '.join(success)}"


def _climb_model(driver: TrackedRobot | TrackedTwin, study: StudyFile) -> ClimbModel:
    assert study.scenario is not None
    climb = find_climb(study.scenario)
    soil = _table_ground(study)
    twin = driver if isinstance(driver, TrackedTwin) else None
    if study.ground is not None and twin is None:
        raise ParameterError("ground: a climb's surface and soil stand in its scenario; leave `ground` out")
    robot, climb, grounds, _ = climber_on_ground(find_driver(driver), climb, study.ground)
    if soil is not None:  # the study's own soil, not the twin's
        climb = ClimbScenario.from_mapping(climb.to_mapping() | {"soil": soil}, where=study.scenario)
        grounds = tuple(name for name in grounds if twin and twin.grounds[name].law == FRICTION)
    if not isinstance(study.success, str):
        raise ParameterError(f"success: found {_told(study.success)}; a climb ends with a verdict, expected climbed")
    return ClimbModel(robot, climb, dict(study.fixed), study.success, study.reserve, twin, grounds)


def _table_ground(study: StudyFile) -> str | None:
    """The ground that `uncertain.soil` names is the one that is driven on."""
    return next((entry.from_ for entry in study.uncertain.values() if isinstance(entry, FromTable)), None)
