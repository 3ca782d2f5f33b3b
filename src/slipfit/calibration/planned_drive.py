"""A planned drive: what to drive, how precisely it will tell the slip constants, and its files."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibration.plan_manoeuvres import Floor, Manoeuvre
from slipfit.errors import ParameterError
from slipfit.library import Ground, SkidSteerRobot, find_ground
from slipfit.library.files import check_target, write_through
from slipfit.simulation import Command, Scenario
from slipfit.simulation.commands import quintic
from slipfit.simulation.scenario import Sensors
from slipfit.simulation.scenario_ground import ScenarioGround

#: Rest at the beginning, where biases show, and at the end (s).
REST_S, END_S = 1.5, 1.0

#: Rows of a plan's table per second.
TABLE_HZ = 20.0


@dataclass(frozen=True, slots=True)
class Promise:
    """How precisely a constant will be known."""

    guess: float
    std: float  # as a fit will state it, with the spread of the robot's own numbers
    std_without_mass: float  # if the mass were known exactly
    scatter: float  # over repetitions of the drive by one and the same robot

    @property
    def relative(self) -> float:
        """What the plan is made for: the mass's share no drive can lower."""
        return self.std_without_mass / self.guess


@dataclass(frozen=True, slots=True)
class Planned:
    """A manoeuvre of a plan: how often, and what it asks of the ground."""

    manoeuvre: Manoeuvre
    repetitions: int
    grip_used: float  # largest |F|/N
    reason: str

    @property
    def duration_s(self) -> float:
        return self.repetitions * self.manoeuvre.duration_s


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A drive that tells the slip constants to a wanted precision."""

    robot: SkidSteerRobot
    ground: Ground  # as guessed
    sensors: Sensors
    floor: Floor
    floor_used_m: tuple[float, float]  # with the margin around
    precision: float
    manoeuvres: tuple[Planned, ...]
    promises: dict[str, Promise]
    duration_s: float
    reasons: tuple[str, ...]

    @property
    def is_reached(self) -> bool:
        """Whether the wanted precision will be."""
        return all(p.relative <= self.precision for p in self.promises.values())

    @property
    def commands(self) -> list[Command]:
        """The whole drive: rest, manoeuvres by turns, rest."""
        rounds = zip_longest(*([p.manoeuvre] * p.repetitions for p in self.manoeuvres))
        driven = [c for turn in rounds for m in turn if m for c in m.commands]
        return [Command(for_s=REST_S, v_mps=0.0), *driven, Command(for_s=END_S, v_mps=0.0)]

    def to_scenario(self, seed: int = 0, surface: str | None = None) -> Scenario:
        """The drive as `simulate` runs it, with the sensors that the plan was made for."""
        return Scenario(
            about=f"Planned drive of {self.robot.name}: c_long and c_lat to {100.0 * self.precision:g} %",
            ground=ScenarioGround(surface=surface or self.ground.name),
            commands=self.commands,
            sensors=self.sensors,
            seed=seed,
        )

    def save(self, path: Path | str, *, force: bool = False) -> list[Path]:
        """Write the scenario; a ground that is no name of the library goes into a file beside it. Gives what was written."""
        path = Path(path)
        check_target(path, force=force, formats=(".yaml", ".yml"))
        if not self.ground_file_name(path):
            self.to_scenario().save(path, force=force)
            return [path]
        beside = path.with_name(self.ground_file_name(path))
        check_target(beside, force=force)
        self.ground.save(beside, force=force)
        self.to_scenario(surface=beside.name).save(path, force=force)
        return [path, beside]

    def ground_file_name(self, path: Path) -> str:
        """plan.scenario.yaml -> plan.ground.yaml; empty where the library has the ground."""
        try:
            if find_ground(self.ground.name).values() == self.ground.values():
                return ""
        except ParameterError:
            pass
        return path.name.removesuffix(path.suffix).removesuffix(".scenario") + f".ground{path.suffix}"

    def table(self) -> np.ndarray:
        """time_s, v_mps, yaw_rate_radps at 20 Hz, (T, 3), for a robot's own player."""
        fine = _body_commands(self.commands)
        at_s = np.arange(int(np.floor(self.duration_s * TABLE_HZ)) + 1) / TABLE_HZ
        return np.column_stack([at_s, *(np.interp(at_s, fine[:, 0], fine[:, k]) for k in (1, 2))])

    def write_csv(self, path: Path | str, *, force: bool = False) -> None:
        """The table as a CSV file."""

        def write(temporary: Path) -> None:
            with temporary.open("w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(("time_s", "v_mps", "yaw_rate_radps"))
                rows.writerows([f"{entry:.6g}" for entry in row] for row in self.table())

        write_through(Path(path), write, force=force, formats=(".csv",))

    def summary(self) -> str:
        """A screen of text: what to drive, what it will tell, why."""
        aim = f"c_long and c_lat to {100.0 * self.precision:g} %"
        said = aim if self.is_reached else f"{aim} cannot be reached; this comes nearest"
        used = " x ".join(f"{side:.1f}" for side in self.floor_used_m)
        rows = [f"{self.robot.name} on {self.floor} of floor: {said}; {self.duration_s:.0f} s, {used} m of floor used"]
        rows += [f"  stand still for {REST_S:g} s first; repeat the manoeuvres by turns"]
        for p in self.manoeuvres:
            rows.append(
                f"  {p.repetitions:>2} x {p.manoeuvre.kind:<11}{p.manoeuvre.about}; {p.duration_s:.0f} s, grip {p.grip_used:.2f}"
            )
        for name, promise in self.promises.items():
            parts = (promise.std_without_mass, promise.std, promise.scatter)
            known, stated, repeated = (f"{100.0 * part / promise.guess:.2g} %" for part in parts)
            rows.append(
                f"  {name:<14}near {promise.guess:.4g}: ± {known} with an exact mass, ± {stated} with its spread, "
                f"± {repeated} from drive to drive"
            )
        return "\n".join([*rows, *(f"  {reason}" for reason in self.reasons)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "robot": self.robot.name,
            "ground": self.ground.to_mapping(),
            "sensors": self.sensors.model_dump(exclude_none=True),
            "floor_m": [self.floor.length_m, self.floor.width_m],
            "floor_used_m": list(self.floor_used_m),
            "precision": self.precision,
            "is_reached": self.is_reached,
            "duration_s": self.duration_s,
            "manoeuvres": [
                {
                    "kind": p.manoeuvre.kind,
                    "about": p.manoeuvre.about,
                    "repetitions": p.repetitions,
                    "duration_s": p.duration_s,
                    "grip_used": p.grip_used,
                    "reason": p.reason,
                }
                for p in self.manoeuvres
            ],
            "promises": {
                name: {
                    "guess": p.guess,
                    "std": p.std,
                    "std_without_mass": p.std_without_mass,
                    "scatter": p.scatter,
                    "relative": p.relative,
                }
                for name, p in self.promises.items()
            },
            "reasons": list(self.reasons),
        }


def _body_commands(commands: Sequence[Command], step_s: float = 0.01) -> np.ndarray:
    """time, v and yaw rate as commanded, with ramps, every 10 ms."""
    rows, before, begin = [(0.0, 0.0, 0.0)], np.zeros(2), 0.0
    for command in commands:
        after = np.array([command.v_mps or 0.0, command.yaw_rate_radps or 0.0])
        for k in range(1, round(command.for_s / step_s) + 1):
            share = min(1.0, k * step_s / command.ramp) if command.ramp else 1.0
            at = before + (after - before) * (float(quintic(np.array(share))) if command.profile == "quintic" else share)
            rows.append((begin + k * step_s, float(at[0]), float(at[1])))
        before, begin = after, begin + command.for_s
    return np.array(rows)
