"""The demo's story: one list of commands, driven without slip, with slip, and on a side slope."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.library import SkidSteerRobot, skid_steer_robot
from slipfit.simulation.commands import command_table
from slipfit.simulation.run import simulate
from slipfit.simulation.scenario import Command, Scenario
from slipfit.simulation.scenario_ground import ScenarioGround
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.kinematic import EqualSlip, IdealDrive, drive_one

#: A slalom and a pivot: turns are where skid-steer robots slip.
COMMANDS = [
    Command(for_s=1.0, v_mps=0.5, profile="quintic"),
    Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=0.8, profile="quintic"),
    Command(for_s=4.0, v_mps=0.5, yaw_rate_radps=-0.8, profile="quintic"),
    Command(for_s=1.0, v_mps=0.5, profile="quintic"),
    Command(for_s=1.0, v_mps=0.0, profile="quintic"),
    Command(for_s=4.0, yaw_rate_radps=1.0, profile="quintic"),
    Command(for_s=1.0, v_mps=0.0, profile="quintic"),
]
DRIVES = ("slip_on_the_floor", "slip_on_a_side_slope")
SIDE_SLOPE_DEG = 5.0


@dataclass(frozen=True, eq=False)
class Showcase:
    """Drives by name, and the paths that models without forces predict from the same wheel speeds."""

    robot: SkidSteerRobot
    drives: Mapping[str, Trajectory]
    without_slip: np.ndarray  # (T, 3): x, y, heading
    equal_slip: np.ndarray
    commanded_yaw_rate_radps: np.ndarray
    step_s: float

    def summary(self) -> str:
        """What the demo shows, in lines."""
        ideal, equal = np.degrees(self.without_slip[-1, 2]), np.degrees(self.equal_slip[-1, 2])
        rows = [
            "One list of commands (a slalom, then a spin on the spot):",
            f"  without slip it would end heading {ideal:7.1f}°",
        ]
        rows.append(f"  with equal slip of all wheels      {equal:7.1f}°")
        for name, t in self.drives.items():
            rows.append(f"  {name.replace('_', ' '):<35}{np.degrees(t.heading_rad[-1]):7.1f}°")
        return "\n".join([*rows, "", *(t.summary() for t in self.drives.values())])

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        ends = {name: (t.x_m[-1], t.y_m[-1], t.heading_rad[-1]) for name, t in self.drives.items()}
        ends |= {"without_slip": tuple(self.without_slip[-1]), "equal_slip": tuple(self.equal_slip[-1])}
        keys = ("x_m", "y_m", "heading_rad")
        return {
            "robot": self.robot.name,
            "end_poses": {name: dict(zip(keys, map(float, end), strict=True)) for name, end in ends.items()},
        }


def showcase() -> Showcase:
    """Run the demo's drives."""
    robot = skid_steer_robot("p3at")
    level = Scenario(commands=COMMANDS)
    slope = Scenario(
        commands=COMMANDS, ground=ScenarioGround(slope_rad=float(np.radians(SIDE_SLOPE_DEG)), uphill_rad=float(np.pi / 2))
    )
    table = command_table(robot, level)
    rims = table[:, :2] * robot.wheels.radius_m.value
    return Showcase(
        robot=robot,
        drives=dict(zip(DRIVES, (simulate(robot, level), simulate(robot, slope)), strict=True)),
        without_slip=drive_one(IdealDrive(robot.track_m), rims, level.time_step_s),
        equal_slip=drive_one(EqualSlip(robot.track_m, robot.wheelbase_m), rims, level.time_step_s),
        commanded_yaw_rate_radps=(rims[:, 1] - rims[:, 0]) / robot.track_m,
        step_s=level.time_step_s,
    )
