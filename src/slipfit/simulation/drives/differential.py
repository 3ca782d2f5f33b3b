"""Differential-drive robots: the motion of skid-steer robots, with casters under a part of the weight."""

from slipfit.errors import SimulationError
from slipfit.library import Ground
from slipfit.library.differential_robot import DifferentialRobot
from slipfit.simulation.assemble import moves_in_space
from slipfit.simulation.drives.skid_steer import SkidSteer
from slipfit.simulation.scenario import Scenario


class Differential(SkidSteer):
    """Two driven wheels and casters; commands, routes and energy on planes."""

    def check(self, robot: DifferentialRobot, ground: Ground, scenario: Scenario) -> None:
        """Casters are points that carry weight and have no size."""
        if moves_in_space(ground, scenario):
            where = "a terrain" if scenario.ground.shape == "terrain" else f"{ground.name}, which is soil"
            raise SimulationError(
                f"{robot.name} stands on casters, which are supports without friction and size here; on {where} they would sink "
                f"and push against it: take a plane with a hard surface, or a robot without casters"
            )
