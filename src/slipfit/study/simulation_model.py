"""A robot or twin in a scenario as the model of a study: simulated by the engine, only the end of each run is recorded."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library import find_terrain
from slipfit.library.files import nearest
from slipfit.simulation import Batch, Outcome
from slipfit.simulation.climb_reserve import check_has_goal, reserve_beside
from slipfit.simulation.engine import Records, Resolved, drive_runs
from slipfit.study.file import Limits, StudyFile
from slipfit.study.spread import Spread
from slipfit.study.verdicts import Arrays, Bounds, Verdicts
from slipfit.twin.posterior import EvenBetween, NormalTogether, spreads, without

#: How runs end where `success` has limits.
SUCCESS, _FELL_SHORT = "success", "fell short"

#: Names that the quasi-static step has too, so that one study can be asked of both.
_OF_THE_STEP = {
    "curb.height_m": "height_m",
    "curb.friction": "mu_static",
    "curb.edge_radius_m": "edge_radius_m",
    "curb.yaw_rad": "yaw_rad",
}


@dataclass(frozen=True, eq=False)
class SimulationModel:
    """Who drives what, and where; numbers of the study's file, and what counts as success."""

    found: Resolved
    fixed: dict[str, float]
    success: str | dict[str, Limits]
    has_reserve: bool = False  # whether each run's grip reserve is found

    no_soil = ""

    def __post_init__(self) -> None:
        words = [_word(outcome) for outcome in self.found.vehicle.possible]
        if isinstance(self.success, str) and self.success not in words:
            raise ParameterError(
                f"success: there is no verdict '{self.success}' for this scenario; {nearest(self.success, words)}"
            )
        for name in self.success if isinstance(self.success, dict) else ():
            if name not in self.measures:
                raise ParameterError(f"success.{name}: there is no such outcome; {nearest(name, self.measures)}")
        if self.success == _word(Outcome.ARRIVED) and self.found.scenario.route is None:
            raise ParameterError("success: arrived needs a route in the scenario; give end_x_m a limit instead")
        if self.has_reserve:
            self._check_reserve()

    def _check_reserve(self) -> None:
        if not self.found.robot.has_belts:
            raise ParameterError("reserve: grip reserves are of tracked robots' climbs (`robot: packbot`); leave `reserve` out")
        check_has_goal(self.found.scenario)
        if self.success != _word(Outcome.CLIMBED):
            raise ParameterError(f"reserve: grip reserves are distances from `climbed`, and success is {self.success!r}")

    # --- what is studied --------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> tuple[str, ...]:
        words = tuple(_word(outcome) for outcome in self.found.vehicle.possible)
        if isinstance(self.success, str):
            return (self.success, *(word for word in words if word != self.success))
        return (SUCCESS, _FELL_SHORT, *words)

    @property
    def measures(self) -> tuple[str, ...]:
        return (*self.found.vehicle.measures, *(("grip_reserve",) if self.has_reserve else ()))

    @property
    def seen_from(self) -> str:
        return "side" if self.found.robot.has_belts else "above"

    def full_name(self, name: str) -> str:
        vehicle, where = self.found.vehicle, (self.found.robot, self.found.ground, self.found.scenario)
        known = {*vehicle.numbers(*where), *vehicle.bounds(*where)}
        short = {key: full for key, full in _OF_THE_STEP.items() if full in known} | dict(vehicle.short_names(self.found.ground))
        if short.get(name, name) not in known:
            raise ParameterError(f"there is no number '{name}' in this run; {nearest(name, {*known, *short})}")
        return short.get(name, name)

    def bounds(self, name: str) -> Bounds:
        found = self.found
        return found.vehicle.bounds(found.robot, found.ground, found.scenario).get(name, (-np.inf, np.inf))

    def title(self, study: StudyFile) -> str:
        return f"{study.twin or study.robot} in {study.scenario}"

    def verdicts_only(self) -> "SimulationModel":
        return replace(self, has_reserve=False)

    def made_of(self) -> dict[str, Any]:
        found = self.found
        records = {"driver": found.twin or found.robot, "scenario": found.scenario, "surface": found.ground}
        made: dict[str, Any] = {name: record.to_mapping() for name, record in records.items() if record is not None}
        made["numbers"] = found.vehicle.numbers(found.robot, found.ground, found.scenario)
        if found.scenario.ground.terrain:
            made["terrain"] = find_terrain(found.scenario.ground.terrain).digest()
        return made

    def posterior(self, study: StudyFile) -> list[NormalTogether | EvenBetween]:
        """Of the twin's grounds that are driven on, less what the study itself gives: a curb's friction under `uncertain` is the
        curb's, and not the twin's."""
        twin = self.found.twin
        if twin is None or not self.found.twin_grounds:
            raise ParameterError(
                f"uncertain.twin: no ground of {study.twin} is driven on here, surface and soil are the scenario's or the study's"
            )
        own = {*study.fixed, *study.design, *(name for name, entry in study.uncertain.items() if isinstance(entry, Spread))}
        given = {self.full_name(name) for name in own}
        grounds = [twin.grounds[name] for name in self.found.twin_grounds]
        entries = [entry for ground in grounds for entry in spreads(ground, ground.info, twin.robot)]
        found = [left for entry in entries if (left := without(entry, given)) is not None]
        if entries and not found:
            raise ParameterError(
                f"uncertain.twin: the study itself gives all that {study.twin} is unsure of ({', '.join(sorted(given))}); leave "
                f"`twin: posterior` out, or those"
            )
        return found

    # --- runs -------------------------------------------------------------------------------------------------------

    def evaluate(self, inputs: Arrays, workers: int = 1) -> Verdicts:
        n = len(next(iter(inputs.values())))
        vary = {self.full_name(name): np.full(n, number) for name, number in self.fixed.items()} | dict(inputs)
        batch = drive_runs(self.found, vary, Records.ENDS, workers=workers)
        measures = {name: np.ascontiguousarray(batch.measure(name)) for name in self.found.vehicle.measures}
        if self.has_reserve:
            measures["grip_reserve"] = np.ascontiguousarray(reserve_beside(batch, workers=workers).reserve)
        code = {word: k for k, word in enumerate(self.outcomes)}
        return Verdicts(np.array([code[word] for word in self._verdicts(batch)], dtype=np.int16), measures)

    def _verdicts(self, batch: Batch) -> list[str]:
        words = [_word(outcome) for outcome in batch.outcomes]
        if isinstance(self.success, str):
            return words
        done = np.array(batch.is_finished)
        is_good = done.copy()
        for name, limits in self.success.items():
            found = batch.measure(name)
            is_good &= (found >= (-np.inf if limits.at_least is None else limits.at_least)) & (
                found <= (np.inf if limits.at_most is None else limits.at_most)
            )
        return [SUCCESS if good else _FELL_SHORT if d else w for good, d, w in zip(is_good, done, words, strict=True)]


def _word(outcome: Outcome) -> str:
    return outcome.name.lower()
