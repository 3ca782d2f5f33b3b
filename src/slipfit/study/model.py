"""What a study evaluates: arrays of numbers in, a verdict for each run out. Models know nothing of samples and statistics."""

from dataclasses import replace
from typing import Any, Protocol

from slipfit.contact.soil import INFO as SOIL
from slipfit.errors import ParameterError
from slipfit.simulation.engine import Resolved
from slipfit.simulation.run import resolve
from slipfit.simulation.scenario import find_scenario
from slipfit.study.file import FromTable, Limits, StudyFile
from slipfit.study.simulation_model import SimulationModel
from slipfit.study.step_model import NEEDED, StepModel
from slipfit.study.verdicts import Arrays, Bounds, Verdicts
from slipfit.twin import find_driver
from slipfit.twin.posterior import EvenBetween, NormalTogether


class Model(Protocol):
    """Anything that can be studied. It is sent to workers, so it holds records and plain numbers only."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What the codes mean; the first is success."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Numbers beside the verdict."""

    @property
    def seen_from(self) -> str:
        """How a run is drawn: "above", "side" with its obstacle, or "step" without a simulation."""

    @property
    def no_soil(self) -> str:
        """Why constants of a soil or ground do not vary here; empty where they do."""

    def full_name(self, name: str) -> str:
        """The name of a number that can vary, where a short one was given; a sentence where there is none."""

    def bounds(self, name: str) -> Bounds:
        """Between which values a number may lie."""

    def made_of(self) -> dict[str, Any]:
        """Robot, ground and scenario as they were read: what verdicts follow from, besides the study's own file."""

    def title(self, study: StudyFile) -> str:
        """What is studied, in a few words."""

    def verdicts_only(self) -> "Model":
        """The same model without what takes further runs: Sobol indices need verdicts alone."""

    def posterior(self, study: StudyFile) -> list[NormalTogether | EvenBetween]:
        """The twin's constants that are driven on, as sure or unsure as its calibration left them, less those of the study."""

    def evaluate(self, inputs: Arrays, workers: int) -> Verdicts:
        """Run all; `workers` threads at most."""


def model_of(study: StudyFile) -> Model:
    """The model that a study's file asks for."""
    return _simulation_model(study) if study.step_climb is None else _step_model(study)


def _step_model(study: StudyFile) -> StepModel:
    assert study.step_climb is not None
    if study.success != "climbed":
        raise ParameterError(f"success: found {_found(study.success)}; expected 'climbed', the one good end of a step")
    step = StepModel(study.step_climb, dict(study.fixed))
    given = {*study.fixed, *study.design, *study.uncertain}
    missing = [name for name in NEEDED if name not in given]
    if missing:
        for name in sorted(given):  # a misspelt name is reported as such
            step.full_name(name)
        raise ParameterError(f"{missing[0]} is given nowhere; put it under design, uncertain or fixed")
    if study.reserve:
        raise ParameterError("reserve: grip reserves are of tracked robots' climbs (`robot: packbot`); leave `reserve` out")
    return step


def _simulation_model(study: StudyFile) -> SimulationModel:
    driver = find_driver(study.twin or study.robot or "")
    if study.twin is not None and driver.twin is None:
        raise ParameterError(f"twin: {study.twin} is no twin; a robot goes under `robot:`")
    assert study.scenario is not None
    scenario, table = find_scenario(study.scenario), _table_ground(study)
    if driver.robot.has_belts:
        found = resolve(driver, scenario, study.ground)
        found = found if table is None else _on_soil(found, table)
    else:
        found = resolve(driver, scenario, table or study.ground)
    return SimulationModel(found, dict(study.fixed), study.success, study.reserve)


def _on_soil(found: Resolved, soil: str) -> Resolved:
    """The study's own soil in place of the scenario's and the twin's."""
    ground = found.scenario.ground.model_copy(update={"soil": soil})
    ground.soil_values()  # a sentence where this is no soil
    own = tuple(name for name in found.twin_grounds if found.twin and found.twin.grounds[name].law != SOIL.name)
    return replace(found, scenario=found.scenario.model_copy(update={"ground": ground}), twin_grounds=own)


def _found(success: str | dict[str, Limits]) -> str:
    return f"'{success}'" if isinstance(success, str) else f"limits of {', '.join(success)}"


def _table_ground(study: StudyFile) -> str | None:
    """The ground that `uncertain.soil` names is the one that is driven on."""
    return next((entry.from_ for entry in study.uncertain.values() if isinstance(entry, FromTable)), None)
