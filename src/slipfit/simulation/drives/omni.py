"""Omnidirectional and mecanum robots: wheels with rollers, at any place and angle."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipfit.contact import GROUND_LAWS
from slipfit.errors import SimulationError
from slipfit.ground import plane
from slipfit.kernels import as_batch
from slipfit.library import Ground, OmniRobot, find_ground, ground_names
from slipfit.simulation.assemble import Values, body_of, law_of, powertrain_of, start_of, supports_of
from slipfit.simulation.drives.wheeled import Wheeled
from slipfit.simulation.engine import Bounds, Resolved
from slipfit.simulation.scenario import Scenario
from slipfit.vehicles import omni
from slipfit.vehicles.books import NoBooks
from slipfit.vehicles.driver import table_for_all
from slipfit.vehicles.losses import NoBattery


class Omni(Wheeled):
    """Robots on wheels with rollers."""

    kernel = staticmethod(omni.in_lanes)

    def check(self, robot: OmniRobot, ground: Ground, scenario: Scenario) -> None:
        """Wheels with rollers need a law that tells rollers from what lies between them, and a plane."""
        if scenario.keeps_books:
            raise SimulationError(
                f"{robot.name} is an omnidirectional robot; routes, terrains and energy books are for skid-steer robots, give it "
                f"commands on a plane"
            )
        if GROUND_LAWS[ground.law].rigid is None:
            fitting = ", ".join(name for name in ground_names() if GROUND_LAWS[find_ground(name).law].rigid is not None)
            raise SimulationError(
                f"ground {ground.name} has the law {ground.law}, which has no coefficients for rollers (mu_w, mu_t); "
                f"{robot.name} needs the law arctan: take {fitting}, or write a ground of your own with it"
            )

    def numbers(self, robot: OmniRobot, ground: Any, scenario: Any) -> Values:
        """Those of wheels, and the sectors of each."""
        phases = robot.wheels.each(robot.wheels.phase_sectors)
        rollers = {"rigid_fraction": robot.wheels.rigid_share, **{f"phase_{w}_sectors": p for w, p in enumerate(phases)}}
        return super().numbers(robot, ground, scenario) | rollers

    def bounds(self, robot: OmniRobot, ground: Any, scenario: Any) -> Bounds:
        """Those of wheels, and of their rigid parts."""
        return super().bounds(robot, ground, scenario) | {"rigid_fraction": (0.0, 1.0)}

    def varied(self, found: Resolved, vary: Mapping[str, Any]) -> tuple[Values, int]:
        """More rollers leave less between them."""
        values, n = super().varied(found, vary)
        if "rollers" in vary and "rigid_fraction" not in vary:
            values["rigid_fraction"] = found.robot.wheels.rigid_share_of(values["rollers"])
        return values, n

    def assemble(self, robot: OmniRobot, ground: Ground, values: Values, commands: np.ndarray, n: int) -> Any:
        """The kernel's tuple of n runs on a plane that follow a table of commands, (steps, wheels)."""
        v, law = values, GROUND_LAWS[ground.law]
        return as_batch(
            omni.OmniRuns(
                body=body_of(v),
                wheels=_wheels(robot, v, n),
                powertrain=powertrain_of(robot, v),
                law=law_of(ground, v),
                rigid_law=law.rigid_model({p.name: v[p.name] for p in law.parameters if p.name in v}),
                ground=plane(v["gravity_mps2"], v["slope_rad"], v["uphill_rad"]),
                start=start_of(v),
                driver=table_for_all(commands, n),
                battery=NoBattery(0.0),
                books=NoBooks(0.0),
                supports=supports_of(robot, n),
            ),
            n,
        )


def _wheels(robot: OmniRobot, v: Values, n: int) -> omni.OmniWheels:
    """Tables of n runs, of which some numbers may vary."""
    count = len(robot.at_m)
    one = omni.wheels(
        robot.at_m, robot.rolling_rad, robot.roller_rad, 1.0, rollers=1.0, rigid=0.0, phase_sectors=0.0,
        equal_loads=robot.loads == "equal",
    )  # fmt: skip

    def column(values: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(values, dtype=float).reshape(-1, 1), (n, 1))

    return omni.OmniWheels(*(np.tile(table, (n, 1)) for table in one))._replace(
        radius=column(v["radius_m"]) * robot.wheels.each(robot.wheels.radius_ratio),
        per_rad=np.tile(column(v["rollers"]) / (2.0 * np.pi), (1, count)),
        phase=np.hstack([column(v[f"phase_{w}_sectors"]) for w in range(count)]),
        rigid=np.tile(column(v["rigid_fraction"]), (1, count)),
    )
