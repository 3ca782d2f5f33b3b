"""Tracked robots over obstacles and through soil as the model of a study."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library import TrackedRobot, find_terrain
from slipfit.library.files import nearest
from slipfit.simulation import simulate_many
from slipfit.simulation.climb import climb_bounds, climb_numbers
from slipfit.simulation.climb_reserve import check_has_goal, reserve_beside
from slipfit.simulation.climb_scenario import ClimbScenario
from slipfit.simulation.outcome import TRACKED_OUTCOMES, Outcome
from slipfit.study.verdicts import Arrays, Bounds, Verdicts
from slipfit.twin import TrackedTwin

#: Names that the quasi-static step has too, so that one study can be asked of both.
_SHARED_NAMES = {
    "curb.height_m": "height_m",
    "curb.friction": "mu_static",
    "curb.edge_radius_m": "edge_radius_m",
    "curb.yaw_rad": "yaw_rad",
}


@dataclass(frozen=True, eq=False)
class ClimbModel:
    """A tracked robot and a climb, by `simulate_many`; runs stop at their verdict, only the end is recorded."""

    robot: TrackedRobot
    climb: ClimbScenario
    fixed: dict[str, float]
    success: str
    has_reserve: bool = False
    twin: TrackedTwin | None = None  # whose robot it is, and
    grounds: tuple[str, ...] = ()  # those of its grounds that stand in the climb

    def __post_init__(self) -> None:
        words = [outcome.name.lower() for outcome in TRACKED_OUTCOMES]
        if self.success not in words:
            raise ParameterError(f"success: there is no verdict '{self.success}' of a climb; {nearest(self.success, words)}")
        if self.has_reserve:
            check_has_goal(self.climb)
            if self.success != Outcome.CLIMBED.name.lower():
                raise ParameterError(f"reserve: grip reserves tell how far `climbed` is, and success is '{self.success}'")

    @property
    def outcomes(self) -> tuple[str, ...]:
        return (self.success, *(o.name.lower() for o in TRACKED_OUTCOMES if o.name.lower() != self.success))

    @property
    def measures(self) -> tuple[str, ...]:
        return ("margin", "stopped_at_s", "deepest_m", *(("grip_reserve",) if self.has_reserve else ()))

    def full_name(self, name: str) -> str:
        known = climb_numbers(self.robot, self.climb)
        found = _SHARED_NAMES.get(name, name)
        if found not in known:
            raise ParameterError(f"there is no number '{name}' in this climb; {nearest(name, {*known, *_SHARED_NAMES})}")
        return found

    def bounds(self, name: str) -> Bounds:
        return climb_bounds(self.robot, self.climb).get(name, (-np.inf, np.inf))

    def made_of(self) -> dict[str, Any]:
        values: dict[str, Any] = {"friction": list(self.climb.friction()), "soil": self.climb.soil_values()}
        if self.climb.obstacle.terrain:
            values["terrain"] = find_terrain(self.climb.obstacle.terrain).digest()
        driver = self.robot if self.twin is None else self.twin
        return {"driver": driver.to_mapping(), "scenario": self.climb.to_mapping(), **values}

    def evaluate(self, inputs: Arrays, workers: int = 1) -> Verdicts:
        n = len(next(iter(inputs.values())))
        vary = {self.full_name(name): np.full(n, number) for name, number in self.fixed.items()} | dict(inputs)
        batch = simulate_many(self.robot, self.climb, vary, ends_only=True, workers=workers)
        code = {word: k for k, word in enumerate(self.outcomes)}
        found = [code[outcome.name.lower()] for outcome in batch.outcomes]
        numbers = [batch.margin, batch.stopped_at_s, batch.deepest_m]
        if self.has_reserve:
            numbers.append(reserve_beside(batch, workers=workers).reserve)
        measures = {name: np.ascontiguousarray(column) for name, column in zip(self.measures, numbers, strict=True)}
        return Verdicts(np.array(found, dtype=np.int16), measures)
