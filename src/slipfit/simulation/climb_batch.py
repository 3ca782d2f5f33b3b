"""What many climbs of a tracked robot were: outcome, margin and records of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slipfit.library.files import check_target, write_text
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles import track_verdict, tracked

_BY_CODE = {
    track_verdict.CLIMBED: Outcome.CLIMBED,
    track_verdict.SLIPPED: Outcome.SLIPPED,
    track_verdict.TIPPED_BACKWARDS: Outcome.TIPPED_BACKWARDS,
    track_verdict.TIPPED_OVER: Outcome.TIPPED_OVER,
    track_verdict.HIGH_CENTRED: Outcome.HIGH_CENTRED,
    track_verdict.STUCK_IN_SOIL: Outcome.STUCK_IN_SOIL,
    track_verdict.TIMED_OUT: Outcome.TIMED_OUT,
    track_verdict.NOT_FINITE: Outcome.DIVERGED,
}


def outcome_of(code: float) -> Outcome:
    """The outcome of a climb whose run ended with this code of vehicles.track_verdict."""
    return _BY_CODE[code]


@dataclass(frozen=True, eq=False)
class ClimbBatch:
    """Many climbs: outcome and margin of each, and what they recorded, (runs, records, columns)."""

    codes: np.ndarray  # (runs,), as in vehicles.track_verdict
    margin: np.ndarray  # (runs,): above zero where climbed, below elsewhere; NaN where there is no obstacle
    stopped_at_s: np.ndarray
    deepest_m: np.ndarray  # deepest sinkage
    records: np.ndarray
    time_s: np.ndarray
    varied: Mapping[str, np.ndarray]
    robot: str
    scenario: str
    has_goal: bool
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How each run ended."""
        found = [outcome_of(code) for code in self.codes.tolist()]
        return tuple(Outcome.FINISHED if o is Outcome.TIMED_OUT and not self.has_goal else o for o in found)

    @property
    def has_climbed(self) -> np.ndarray:
        """Which runs climbed, (runs,)."""
        return np.asarray(self.codes == track_verdict.CLIMBED)

    def run(self, i: int) -> Trajectory:
        """One run as a trajectory, up to its end."""
        until = int(np.searchsorted(self.time_s, self.stopped_at_s[i] * (1.0 + 1e-12), side="right"))
        columns = {"time_s": self.time_s[:until]}
        columns |= {name: self.records[i, :until, k] for k, name in enumerate(tracked.TRACK_COLUMNS)}
        return Trajectory(
            columns,
            robot=self.robot,
            scenario=self.scenario,
            drive="tracked",
            shape="obstacle" if self.has_goal else "plane",
            outcome=self.outcomes[i],
            notes=self.notes,
            stopped_at_s=float(self.stopped_at_s[i]),
            margin=float(self.margin[i]) if self.has_goal else None,
        )

    def table(self) -> dict[str, np.ndarray]:
        """One row per run: what was varied, how it ended; as pandas takes it."""
        ends = {"margin": self.margin, "stopped_at_s": self.stopped_at_s, "deepest_m": self.deepest_m}
        words = np.array([outcome.name.lower() for outcome in self.outcomes])
        return {"run": np.arange(len(self)), **self.varied, "verdict": words, **ends}

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write the table as a .csv file."""
        table = self.table()
        lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*(c.tolist() for c in table.values()), strict=True))]
        target = Path(path)
        check_target(target, force=force, formats=(".csv",))
        write_text(target, "\n".join(lines) + "\n", force=force)

    def summary(self) -> str:
        """A few lines for people."""
        rows = [f"{len(self)} climbs of {self.robot}, {self.scenario}"]
        found = self.outcomes
        rows += [f"  {found.count(outcome):>6}  {outcome.value}" for outcome in dict.fromkeys(found)]
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)
