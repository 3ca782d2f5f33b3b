"""What to drive: body velocities over time, from the CSV file of `slipfit plan` or from a scenario; linear in between."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from slipfit.control import Rounder, Scale
from slipfit.control.rounding import Told
from slipfit.errors import DriveError, LogError
from slipfit.hardware import roboteq
from slipfit.library import Parameter, SkidSteerRobot
from slipfit.library.robot import SpeedLoop

COLUMNS = ("time_s", "v_mps", "yaw_rate_radps")


@dataclass(frozen=True, eq=False, slots=True)
class DrivePlan:
    """Velocities at given times, the first at zero."""

    name: str
    time_s: np.ndarray
    v_mps: np.ndarray
    yaw_rate_radps: np.ndarray

    def __post_init__(self) -> None:
        table = np.column_stack([self.time_s, self.v_mps, self.yaw_rate_radps])
        if len(table) < 2:
            raise DriveError(f"{self.name}: the plan has {len(table)} rows; expected two or more, from its start to its end")
        if not np.isfinite(table).all():
            row = int(np.argmin(np.isfinite(table).all(axis=1)))
            raise DriveError(f"{self.name}: row {row + 1} holds an empty or endless number; expected {', '.join(COLUMNS)}")
        if self.time_s[0] != 0.0:
            raise DriveError(f"{self.name}: the plan starts at {self.time_s[0]:g} s; expected 0 s")
        if (back := np.flatnonzero(np.diff(self.time_s) < 0.0)).size:
            row = int(back[0]) + 1
            raise DriveError(
                f"{self.name}: row {row + 1} is at {self.time_s[row]:g} s, after one at {self.time_s[row - 1]:g} s; sort the rows"
            )
        if self.duration_s <= 0.0:
            raise DriveError(f"{self.name}: the plan lasts 0 s; expected an end after its start")

    @classmethod
    def load(cls, path: Path | str, robot: SkidSteerRobot, effective_track_m: float) -> "DrivePlan":
        """A .csv file with time_s, v_mps and yaw_rate_radps, or a scenario (.yaml).

        Wheel speeds that a scenario commands are kept: its yaw rate becomes the one that the effective track makes of them.
        """
        path = Path(path)
        return _of_scenario(path, robot, effective_track_m) if path.suffix in (".yaml", ".yml") else _of_csv(path)

    @property
    def duration_s(self) -> float:
        return float(self.time_s[-1])

    def at(self, time_s: float) -> tuple[float, float]:
        """Speed and yaw rate at a time."""
        return float(np.interp(time_s, self.time_s, self.v_mps)), float(np.interp(time_s, self.time_s, self.yaw_rate_radps))

    def sent(self, rounder: Rounder, rate_hz: float) -> Iterator[tuple[tuple[float, float], Told]]:
        """What is wanted and told at each moment of a drive that is never late."""
        time_s = 0.0
        while time_s < self.duration_s:
            wanted = self.at(time_s)
            told = rounder(*wanted)
            yield wanted, told
            time_s += told.progress / rate_hz

    def check(self, robot: SkidSteerRobot, scale: Scale) -> None:
        """Refuse what the robot cannot drive or the protocol cannot say, with the first place where it could not."""
        scale = within_protocol(scale)
        limits = robot.limits
        fastest = limits.speed_mps.value if limits and limits.speed_mps else np.inf
        quickest = limits.yaw_rate_radps.value if limits and limits.yaw_rate_radps else np.inf
        for t, v, rate in zip(self.time_s.tolist(), self.v_mps.tolist(), self.yaw_rate_radps.tolist(), strict=True):
            problem = scale.problem(v, rate)
            if problem and not replace(scale, effective_track_m=robot.track_m).problem(v, rate):
                problem += f": {more_for_turns(scale, robot)}"
            if not problem and abs(v) > fastest:
                problem = f"{robot.name} drives {fastest:g} m/s at most"
            if not problem and abs(rate) > quickest:
                problem = f"{robot.name} turns at {quickest:g} rad/s at most"
            if problem:
                raise DriveError(
                    f"{self.name}: at {t:g} s the plan asks for {v:.4g} m/s and {rate:.4g} rad/s; {problem}. Plan slower: "
                    f"straight ahead {min(fastest, scale.fastest_mps):.3g} m/s, on the spot "
                    f"{min(quickest, scale.quickest_radps):.3g} rad/s at most"
                )


def more_for_turns(scale: Scale, robot: SkidSteerRobot) -> str:
    """What the effective track does to turns, as a clause: wheels that slip sideways must roll farther to turn as far."""
    return (
        f"turns take {scale.effective_track_m / robot.track_m:.2f} times the wheel speeds that {robot.track_m:.3g} m between the "
        f"wheels would, because they slip in turns (effective track {scale.effective_track_m:.3g} m)"
    )


def within_protocol(scale: Scale) -> Scale:
    """With limits that the protocol can say: a twin's may be wider."""
    lowest, highest = scale.limits
    return replace(scale, limits=(max(lowest, -roboteq.LARGEST), min(highest, roboteq.LARGEST)))


def _of_csv(path: Path) -> DrivePlan:
    from slipfit.logs.csv_table import read_table

    if not path.is_file():
        raise DriveError(f"{path}: there is no such file; write one with slipfit plan ROBOT --csv {path.name}")
    try:
        table = read_table(path)
        time_s, v_mps, yaw_rate = (table.numbers(name) for name in COLUMNS)
    except LogError as error:
        raise DriveError(f"{error}; a plan has the columns {', '.join(COLUMNS)}") from None
    return DrivePlan(path.name, time_s, v_mps, yaw_rate)


def _of_scenario(path: Path, robot: SkidSteerRobot, effective_track_m: float) -> DrivePlan:
    from slipfit.simulation import Scenario
    from slipfit.simulation.commands import command_table

    scenario = Scenario.load(path)
    if scenario.start.v_mps or scenario.start.yaw_rate_radps:
        raise DriveError(f"{path}: the scenario starts at speed; a robot starts at rest: set start.v_mps and yaw_rate_radps to 0")
    for k, command in enumerate(scenario.commands):
        if command.wheels_v is not None:
            raise DriveError(f"{path}: commands[{k}] gives voltages; a controller with a speed loop takes v_mps, yaw_rate_radps")
    loop = SpeedLoop(kind="speed_loop", torque_limit_nm=Parameter("torque_limit_nm", 1.0))  # so that commands are wheel speeds
    rims = command_table(robot.model_copy(update={"powertrain": loop}), scenario) * robot.wheels.radius_m.value
    left, right = rims[:, ::2].mean(axis=1), rims[:, 1::2].mean(axis=1)
    tells_wheels = np.repeat(
        [command.wheels_radps is not None for command in scenario.commands],
        np.diff(np.round(np.cumsum([0.0, *(c.for_s for c in scenario.commands)]) / scenario.time_step_s).astype(int)),
    )
    rate = (right - left) / np.where(tells_wheels, effective_track_m, robot.track_m)
    kept = _corners(np.column_stack([left, right]))
    time_s = np.arange(len(rims) + 1) * scenario.time_step_s
    rows = [*kept, kept[-1]]  # a row holds until the next, the last one until the end
    return DrivePlan(path.name, time_s[[*kept, -1]], (0.5 * (left + right))[rows], rate[rows])


def _corners(rows: np.ndarray) -> list[int]:
    """Rows that a table cannot do without: the first, the last, and both ends of every change."""
    changed = np.flatnonzero((np.diff(rows, axis=0) != 0.0).any(axis=1))
    return sorted({0, len(rows) - 1, *changed.tolist(), *(changed + 1).tolist()})
