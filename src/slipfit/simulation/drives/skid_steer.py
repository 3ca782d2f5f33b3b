"""Skid-steer robots: on planes by commands alone, or (`Rover`) on routes, over terrains, on soil, and with an energy balance."""

from typing import Any

import numpy as np

from slipfit.ground import plane
from slipfit.kernels import as_batch
from slipfit.library import Ground, SkidSteerRobot
from slipfit.simulation.assemble import (
    Values,
    battery_of,
    body_of,
    is_soft,
    law_of,
    losses_of,
    powertrain_of,
    start_of,
    supports_of,
    wheels_of,
)
from slipfit.simulation.drives.rover import Rover
from slipfit.simulation.drives.wheeled import Wheeled
from slipfit.simulation.engine import Resolved
from slipfit.twin import Driver
from slipfit.vehicles import skid_steer
from slipfit.vehicles.books import NoBooks
from slipfit.vehicles.driver import table_for_all


class SkidSteer(Wheeled):
    """Wheels in pairs that all point ahead."""

    kernel = staticmethod(skid_steer.in_lanes)
    rover = Rover()

    def resolve(self, driver: Driver, scenario: Any, ground: Any) -> Resolved:
        """Routes, terrains, soil and energy need records that plain drives do without."""
        found = super().resolve(driver, scenario, ground)
        assert found.ground is not None
        has_more = found.scenario.keeps_books or is_soft(found.ground)
        return self.rover.resolve(driver, scenario, ground) if has_more else found

    def assemble(self, robot: SkidSteerRobot, ground: Ground, values: Values, commands: np.ndarray, n: int) -> Any:
        """The kernel's tuple of n runs on a plane that follow a table of commands, (steps, wheels)."""
        v = values
        return as_batch(
            skid_steer.SkidSteerRuns(
                body=body_of(v),
                wheels=wheels_of(robot, v, n),
                powertrain=powertrain_of(robot, v),
                law=law_of(ground, v),
                ground=plane(v["gravity_mps2"], v["slope_rad"], v["uphill_rad"]),
                start=start_of(v),
                driver=table_for_all(commands, n),
                losses=losses_of(v),
                battery=battery_of(robot, v),
                books=NoBooks(0.0),
                supports=supports_of(robot, n),
            ),
            n,
        )
