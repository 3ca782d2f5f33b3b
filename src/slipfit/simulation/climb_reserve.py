"""The grip reserve of a climb: how much grip could go before it fails, or how much is lacking before it succeeds.

All grip of a run is multiplied by one factor: friction at rest and sliding, on the ground and on the obstacle; in soil cohesion
and tan(phi). With lambda* the factor nearest to 1 (in its logarithm) beyond which the verdict is another one,

    reserve = 1 - lambda*            where the robot climbs:  0.23, it would still climb with 23 % less grip
    reserve = -(1 - 1 / lambda*)     where it does not:      -0.23, it would climb with 1 / 0.77 = 1.30 times the grip

and both with 1 / lambda* for lambda* where the change lies on the other side of 1: robots that tip over backwards with more grip.
So |reserve| = 1 - exp(-d), d = |ln lambda*|: the distance to the nearest change, whose sign is the verdict. It goes through zero
where the verdict changes, with the same slope from both sides, which what the robot's motion shows cannot (docs/theory/tracked).

The search first looks at the two factors exp(-d), exp(d) for d on rings of ln(sqrt 2) up to ln 4, and ends at the first ring with
another verdict; then it halves the distance between this ring and the one before. What changes twice within a ring is not seen.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from slipfit.contact.soil.constants import LEAST_COHESION_PA
from slipfit.errors import ParameterError, SimulationError
from slipfit.library import Robot
from slipfit.library.files import check_target, write_text
from slipfit.library.parameter import out_of_range
from slipfit.simulation.batch import Batch
from slipfit.simulation.drives.tracked import outcome_of
from slipfit.simulation.engine import Records, drive_runs
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.run import resolve
from slipfit.simulation.scenario import Scenario
from slipfit.twin import Twin
from slipfit.vehicles import track_verdict

#: Grip is looked at from a quarter to four times of what it is: from ice to rubber on concrete, starting from either.
WIDEST_FACTOR = 4.0

#: Rings of equal ratio up to there.
_RINGS = 4

#: ln(lambda*) lies in a bracket not wider than this: a reserve to half a percent, well below what friction is known to.
TOLERANCE = 0.01

#: Numbers of a run that are multiplied by the factor; of the soil's friction angle it is the tangent.
_GRIP = ("mu_static", "mu_dynamic", "cohesion_pa", "friction_angle_rad")

_LESS, _MORE = 0, 1

_COLUMNS = ("reserve", "factor", "factor_low", "factor_high")


@dataclass(frozen=True, eq=False)
class GripReserve:
    """Grip reserves of climbs, (runs,) each."""

    reserve: np.ndarray  # in [-0.75, 0.75]: above zero where climbed; at an end where no factor changes the verdict
    factor: np.ndarray  # lambda*, middle of the bracket; NaN where no factor changes the verdict
    factor_low: np.ndarray  # the bracket: the verdict changes between these factors
    factor_high: np.ndarray
    outcomes: tuple[Outcome, ...]  # as the runs are
    beyond: tuple[Outcome | None, ...]  # just beyond the factor; None where no factor changes the verdict
    robot: str
    scenario: str

    def __len__(self) -> int:
        return len(self.reserve)

    @property
    def has_climbed(self) -> np.ndarray:
        """Which runs climbed, (runs,)."""
        return np.array([verdict is Outcome.CLIMBED for verdict in self.outcomes])

    @property
    def is_found(self) -> np.ndarray:
        """Where a factor between 1/4 and 4 changes the verdict, (runs,)."""
        return np.asarray(np.isfinite(self.factor))

    def sentence(self, i: int = 0) -> str:
        """The reserve of one run, in words."""
        reserve, factor = float(self.reserve[i]), float(self.factor[i])
        if np.isnan(reserve):
            return "none: the run is no number"
        less, more = f"{100.0 * (1.0 - factor):.1f} % less grip", f"{100.0 * (factor - 1.0):.1f} % more grip"
        then = self.beyond[i]
        if self.has_climbed[i]:
            if then is None:
                return f"{reserve:+.2f} or more: the robot would climb with a quarter of the grip, and with four times as much"
            if factor <= 1.0:
                return f"{reserve:+.3f}: the robot would still climb with {less}; below that, {_word(then)}"
            return f"{reserve:+.3f}: the robot would still climb with {more}; above that, {_word(then)}"
        if then is None:
            return f"{reserve:+.2f} or less: no grip from a quarter to four times of this suffices"
        return f"{reserve:+.3f}: the robot would climb with {more if factor > 1.0 else less}"

    def table(self) -> dict[str, np.ndarray]:
        """One row per run; as pandas takes it."""
        words = {"verdict": self.outcomes, "beyond": self.beyond}
        texts = {name: np.array([_word(verdict) for verdict in found]) for name, found in words.items()}
        return {"run": np.arange(len(self)), **texts, **{name: getattr(self, name) for name in _COLUMNS}}

    def document(self, i: int = 0) -> dict[str, Any]:
        """One run for JSON; what there is not is null."""
        numbers = {name: float(getattr(self, name)[i]) for name in _COLUMNS}
        beyond = self.beyond[i]
        return {name: v if np.isfinite(v) else None for name, v in numbers.items()} | {
            "beyond": _word(beyond) if beyond else None
        }

    def summary(self) -> str:
        """A few lines for people."""
        if len(self) == 1:
            return f"grip reserve of {self.robot}, {self.scenario}: {self.sentence()}"
        known = self.reserve[np.isfinite(self.reserve)]
        rows = [f"grip reserves of {len(self)} climbs of {self.robot}, {self.scenario}"]
        if len(known):
            low, middle, high = np.quantile(known, (0.05, 0.5, 0.95))
            rows.append(f"  median {middle:+.3f}, 90 % between {low:+.3f} and {high:+.3f}; {int((known > 0.0).sum())} climbed")
        beyond = int((np.isfinite(self.reserve) & ~self.is_found).sum())
        if beyond:
            rows.append(f"  {beyond} whose verdict no grip from a quarter to four times changes")
        return "\n".join(rows)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write the table as a .csv file whose first line tells the origin."""
        table, target = self.table(), Path(path)
        check_target(target, force=force, formats=(".csv",))
        rows = (",".join(map(str, row)) for row in zip(*(column.tolist() for column in table.values()), strict=True))
        about = json.dumps({"robot": self.robot, "scenario": self.scenario})
        write_text(target, "\n".join([f"# {about}", ",".join(table), *rows]) + "\n", force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` wrote."""
        try:
            first, names, *rows = Path(path).read_text(encoding="utf-8").splitlines()
            about = json.loads(first.removeprefix("# "))
            columns = dict(zip(names.split(","), zip(*(row.split(",") for row in rows), strict=True), strict=True))
            numbers = {name: np.array([float(v) for v in columns[name]]) for name in _COLUMNS}
            verdicts = tuple(Outcome[word.upper()] for word in columns["verdict"])
            beyond = tuple(Outcome[word.upper()] if word else None for word in columns["beyond"])
            return cls(**numbers, outcomes=verdicts, beyond=beyond, robot=about["robot"], scenario=about["scenario"])
        except OSError as error:
            raise SimulationError(
                f"{path}: cannot be read ({error.strerror}); expected grip reserves that slipfit saved"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SimulationError(
                f"{path}: these are no grip reserves that slipfit saved; expected a .csv file of `GripReserve.save`"
            ) from None


def _word(verdict: Outcome | None) -> str:
    return verdict.name.lower() if verdict else ""


def grip_reserve(
    robot: Robot | Twin | str | Path,
    scenario: Scenario | Mapping[str, Any] | str | Path,
    vary: Mapping[str, Any] | None = None,
    *,
    tolerance: float = TOLERANCE,
    workers: int | None = None,
) -> GripReserve:
    """How far each run of a climb is from the other verdict, in grip; 8 to 14 further runs of each.

    vary : arrays by name, one entry per run, as of `simulate_many`
    tolerance : widest bracket of ln(lambda*)

    Examples
    --------
    >>> reserve = grip_reserve("packbot", "curb_117mm_dry_concrete")
    """
    found = resolve(robot, scenario)
    problem = out_of_range("tolerance", tolerance, 1e-5, 0.3)
    if problem:
        raise ParameterError(f"{problem}; it is the widest bracket of the factor's logarithm, {TOLERANCE:g} is usual")
    check_has_goal(found.scenario)
    batch = drive_runs(found, vary or {}, Records.ENDS, workers=workers)
    return reserve_beside(batch, tolerance=tolerance, workers=workers)


def check_has_goal(scenario: Scenario) -> None:
    """A drive without a goal has nothing that it could miss."""
    if not scenario.has_goal:
        raise ParameterError(
            "the scenario has no goal: a grip reserve is of a drive that can fail; give it an obstacle, or a straight drive"
        )


def reserve_beside(batch: Batch, *, tolerance: float = TOLERANCE, workers: int | None = None) -> GripReserve:
    """Grip reserves of climbs that were run. What a run gets does not depend on its neighbours, to the last bit."""
    again = _Again(batch, workers)
    n, is_number = len(batch), batch.codes != track_verdict.NOT_FINITE
    ring = np.log(WIDEST_FACTOR) / _RINGS
    inner, outer = np.zeros(n), np.full(n, ring)  # distances: no change up to the one, a change at the other
    sides, seeks = np.ones((n, 2), dtype=bool), is_number.copy()
    for _ in range(_RINGS):
        has_changed = again.has_changed(sides & seeks[:, None], outer)
        found = has_changed.any(axis=1)
        sides[found] = has_changed[found]
        seeks &= ~found
        inner, outer = np.where(seeks, outer, inner), np.where(seeks, outer + ring, outer)
    is_found = is_number & ~seeks
    for _ in range(max(0, int(np.ceil(np.log2(ring / tolerance))))):
        middle = 0.5 * (inner + outer)
        has_changed = again.has_changed(sides & is_found[:, None], middle)
        nearer = has_changed.any(axis=1)
        sides[nearer] = has_changed[nearer]
        inner, outer = np.where(nearer, inner, middle), np.where(nearer, middle, outer)
    return _record(batch, again, is_found, sides, inner, outer)


class _Again:
    """Runs of a batch once more with their grip multiplied, and how they ended then."""

    def __init__(self, batch: Batch, workers: int | None) -> None:
        values, n = batch.run_of.values, len(batch)
        self.found, self.workers = batch.run_of.of, workers
        self.varied = batch.varied
        self.grip = {name: np.broadcast_to(values[name], n) for name in _GRIP if name in values}
        self.bounds = self.found.vehicle.bounds(batch.robot, None, batch.scenario)
        self.has_climbed = batch.has_climbed
        self.beyond = np.zeros((n, 2))  # code of the last other verdict on each side

    def has_changed(self, wanted: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Which runs (runs, 2: less and more grip) end otherwise at this distance; only those that are wanted are run."""
        changed = np.zeros_like(wanted)
        runs, side = np.nonzero(wanted)
        if not len(runs):
            return changed
        codes = self._codes(runs, np.exp(np.where(side == _LESS, -1.0, 1.0) * distance[runs]))
        changed[runs, side] = (codes == track_verdict.CLIMBED) != self.has_climbed[runs]
        is_other = changed[runs, side]
        self.beyond[runs[is_other], side[is_other]] = codes[is_other]
        return changed

    def _codes(self, runs: np.ndarray, factor: np.ndarray) -> np.ndarray:
        vary = {name: column[runs] for name, column in self.varied.items()}
        vary |= {name: self._scaled(name, column[runs], factor) for name, column in self.grip.items()}
        return drive_runs(self.found, vary, Records.ENDS, workers=self.workers).codes

    def _scaled(self, name: str, value: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """A number of grip times the factor, as far as such numbers may go: a soil's friction not beyond 60 degrees."""
        low, high = self.bounds[name]
        if name == "cohesion_pa":  # less than a soil's is taken for kPa
            return np.where(value > 0.0, np.clip(factor * value, LEAST_COHESION_PA, high), 0.0)
        scaled = np.arctan(factor * np.tan(value)) if name == "friction_angle_rad" else factor * value
        return np.asarray(np.clip(scaled, low, high))


def _record(
    batch: Batch, again: _Again, is_found: np.ndarray, sides: np.ndarray, inner: np.ndarray, outer: np.ndarray
) -> GripReserve:
    """Where both sides change at the same distance, what climbs is said to lose grip and what does not to gain some."""
    usual = np.where(batch.has_climbed, _LESS, _MORE)
    side = np.where(sides[np.arange(len(batch)), usual], usual, 1 - usual)
    way, sign = np.where(side == _LESS, -1.0, 1.0), np.where(batch.has_climbed, 1.0, -1.0)
    near, far, middle = (np.where(is_found, np.exp(way * d), np.nan) for d in (inner, outer, 0.5 * (inner + outer)))
    reserve = sign * np.where(is_found, 1.0 - np.exp(-0.5 * (inner + outer)), 1.0 - 1.0 / WIDEST_FACTOR)
    codes = again.beyond[np.arange(len(batch)), side]
    return GripReserve(
        reserve=np.where(batch.codes == track_verdict.NOT_FINITE, np.nan, reserve),
        factor=middle,
        factor_low=np.fmin(near, far),
        factor_high=np.fmax(near, far),
        outcomes=batch.outcomes,
        beyond=tuple(outcome_of(code) if found else None for code, found in zip(codes.tolist(), is_found, strict=True)),
        robot=batch.robot.name,
        scenario=batch.ground,
    )
