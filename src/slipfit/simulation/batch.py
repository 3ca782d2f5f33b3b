"""Many runs of one scenario, whatever drove: how each ended, and what they recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slipfit.library.files import check_target, write_text
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.run_commands import RunCommands
from slipfit.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from slipfit.simulation.engine import Run

#: Numbers of a run's end: its pose, and what some drive types record.
POSE_COLUMNS = ("end_x_m", "end_y_m", "end_heading_rad")
END_COLUMNS = ("margin", "stopped_at_s", "deepest_m")


@dataclass(frozen=True, eq=False)
class Batch:
    """Records of all runs, shape (runs, records, columns); `column` finds one by its name."""

    run_of: "Run"
    time_s: np.ndarray
    records: np.ndarray
    codes: np.ndarray  # (runs,), how the kernel left each run
    columns: Mapping[str, int]  # names and widths, in order
    ends_s: np.ndarray  # (runs,), when each ends at the latest
    commands: RunCommands | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    # --- what was driven --------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Any:
        """The robot's record."""
        return self.run_of.of.robot

    @property
    def scenario(self) -> Any:
        """The scenario's record."""
        return self.run_of.of.scenario

    @property
    def ground(self) -> str:
        """Where it drove, in words."""
        return self.run_of.of.vehicle.place(self.run_of.of)

    @property
    def varied(self) -> Mapping[str, np.ndarray]:
        """Numbers that differ from run to run, by name."""
        return self.run_of.varied

    def value(self, name: str, i: int) -> float:
        """A number of run i as it was driven with; 0 where the scenario has none of that name."""
        return float(np.broadcast_to(np.asarray(self.run_of.values.get(name, 0.0), dtype=float), len(self))[i])

    # --- what was recorded ------------------------------------------------------------------------------------------

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each column stands."""
        ends = np.cumsum(list(self.columns.values())).tolist()
        return {name: slice(end - width, end) for (name, width), end in zip(self.columns.items(), ends, strict=True)}

    def column(self, name: str) -> np.ndarray:
        """One column of all runs, (runs, records); of wheels (runs, records, wheels)."""
        found = self.records[:, :, self.slices[name]]
        return found if name.startswith("wheel_") else found[:, :, 0]

    @property
    def last_record(self) -> np.ndarray:
        """Number of the record that ends each run, (runs,): others of the batch may have more time."""
        ends_s = np.nan_to_num(self.ends_s, nan=np.inf, posinf=np.inf)
        return np.asarray(np.minimum(np.searchsorted(self.time_s, ends_s * (1.0 - 1e-12)), len(self.time_s) - 1))

    def at_end(self, name: str) -> np.ndarray:
        """A column at the end of each run, (runs,); NaN where this drive type records none of that name."""
        if name not in self.columns:
            return np.full(len(self), np.nan)
        return np.asarray(self.column(name)[np.arange(len(self)), self.last_record])

    # --- how runs ended ---------------------------------------------------------------------------------------------

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How each run ended."""
        return self.run_of.of.vehicle.outcomes(self)

    @property
    def is_finished(self) -> np.ndarray:
        """Which runs reached their end or their goal, (runs,)."""
        return np.array([outcome.is_success for outcome in self.outcomes])

    @property
    def end_pose(self) -> np.ndarray:
        """x, y, heading at the end, (runs, 3)."""
        return self.run_of.of.vehicle.end_pose(self)

    @property
    def has_climbed(self) -> np.ndarray:
        """Which runs got over their obstacle, (runs,)."""
        return np.array([outcome is Outcome.CLIMBED for outcome in self.outcomes])

    @property
    def margin(self) -> np.ndarray:
        """How clearly each run got over its obstacle, (runs,): above zero where it did, below elsewhere; NaN without one."""
        return self.run_of.of.vehicle.margin(self)

    @property
    def stopped_at_s(self) -> np.ndarray:
        """When each run ended before its time, (runs,); NaN where this drive type records none."""
        return self.at_end("stopped_at_s")

    @property
    def deepest_m(self) -> np.ndarray:
        """Deepest sinkage of each run, (runs,); NaN where this drive type records none."""
        return self.at_end("deepest_m")

    @property
    def arrived_at_s(self) -> np.ndarray:
        """When each run reached its last waypoint, (runs,); NaN where it did not before its time limit, or without a route."""
        return self.run_of.of.vehicle.arrived_at_s(self)

    def measure(self, name: str) -> np.ndarray:
        """A number of each run's end, (runs,): of POSE_COLUMNS or END_COLUMNS."""
        return np.asarray(self.end_pose[:, POSE_COLUMNS.index(name)] if name in POSE_COLUMNS else getattr(self, name))

    def run(self, i: int) -> Trajectory:
        """One run as a trajectory, up to its end."""
        return self.run_of.of.vehicle.trajectory(self, i)

    def table(self) -> dict[str, np.ndarray]:
        """One row per run: what was varied, how and where it ended; as pandas takes it."""
        outcome = np.array([found.name.lower() for found in self.outcomes])
        ends = dict(zip(POSE_COLUMNS, self.end_pose.T, strict=True))
        ends |= {name: getattr(self, name) for name in END_COLUMNS if name in self.columns}
        return {"run": np.arange(len(self)), **self.varied, "outcome": outcome, **ends}

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write the table as a .csv file."""
        table, target = self.table(), Path(path)
        check_target(target, force=force, formats=(".csv",))
        rows = (",".join(map(str, row)) for row in zip(*(c.tolist() for c in table.values()), strict=True))
        write_text(target, "\n".join([",".join(table), *rows]) + "\n", force=force)

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} runs of {self.robot.name} on {self.ground}>"

    def summary(self) -> str:
        """A few lines for people."""
        found = self.outcomes
        rows = [f"{len(self)} runs of {self.robot.name} on {self.ground}, {self.time_s[-1]:.4g} s at most"]
        rows += [f"  {found.count(outcome):>6}  {outcome.value}" for outcome in dict.fromkeys(found)]
        done = self.is_finished
        if done.any():
            low, mid, high = np.percentile(self.end_pose[done], (5, 50, 95), axis=0)
            for k, name in enumerate(("x_m", "y_m", "heading_rad")):
                rows.append(f"  {name:<12}{mid[k]:>10.4f}  (90 % of runs: {low[k]:.4f} to {high[k]:.4f})")
        return "\n".join([*rows, *(f"  note     {note}" for note in self.notes)])
