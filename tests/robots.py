"""Robots, grounds and batches that several tests drive."""

import numpy as np

from slipfit.contact import LAWS
from slipfit.library import Ground, Parameter, Robot, find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import command_table
from slipfit.simulation.drives import VEHICLES
from slipfit.vehicles import skid_steer


def ground_with(law: str, **values: float) -> Ground:
    """A ground with a law's example constants, some replaced."""
    parameters = dict(LAWS[law].example) | values
    data = {"schema": Ground.kind(), "name": "example", "law": law, "parameters": parameters}
    return Ground.from_mapping(data, where="example")


def wheel_slip(c_long: float = 0.005, c_lat: float = 0.05, mu: float = 10.0) -> Ground:
    """The ground of document 000's validation, by default."""
    return ground_with("wheel_slip", c_long_per_n=c_long, c_lat_per_n=c_lat, mu=mu)


def changed(robot: str, **changes: object) -> Robot:
    """A robot of the library with some of its file's entries replaced: wheels__radius_m=0.1 changes one below."""
    data = find_robot(robot).to_mapping()
    for key, value in changes.items():
        *path, last = key.split("__")
        entry = data
        for name in path:
            entry = entry[name]
        entry[last] = value
    return Robot.from_mapping(data, where="changed robot")


def unlimited(robot: Robot) -> Robot:
    """The same robot with motors that hold any speed."""
    strong = robot.powertrain.model_copy(update={"torque_limit_nm": Parameter("torque_limit_nm", float("inf"))})
    return robot.model_copy(update={"powertrain": strong})


def six_wheeled() -> Robot:
    """A P3AT with a third axle."""
    at = [[0.25, 0.201], [0.25, -0.201], [0.0, 0.201], [0.0, -0.201], [-0.25, 0.201], [-0.25, -0.201]]
    return changed("p3at", wheels__at_m=at)


def run_kernel(kernel, robot, ground, scenario, n=1, *, change=None, replaced=None, every=10):
    """Records of n runs by one of the two kernels, straight from the compiled core."""
    table = command_table(robot, scenario)
    vehicle = VEHICLES[robot.drive]
    batch = vehicle.assemble(robot, ground, vehicle.numbers(robot, ground, scenario), table, n)
    if change:
        change(batch)
    if replaced:
        batch = replaced(batch)
    columns = len(skid_steer.BODY_COLUMNS) + len(skid_steer.WHEEL_COLUMNS) * table.shape[1]
    out, status = np.empty((n, len(table) // every + 1, columns)), np.empty(n)
    kernel(batch, 0, n, 1, every, scenario.time_step_s, out, status)
    return out, status


#: Speed, turn, reversal, pivot and rest in six seconds.
BUSY = [
    {"for_s": 1.0, "v_mps": 0.5},
    {"for_s": 1.0, "v_mps": 0.5, "yaw_rate_radps": 1.0},
    {"for_s": 1.0, "v_mps": -0.4, "yaw_rate_radps": 0.5, "profile": "linear", "ramp_s": 0.5},
    {"for_s": 2.0, "yaw_rate_radps": -1.5, "profile": "quintic"},
    {"for_s": 1.0, "v_mps": 0.0},
]


def busy_scenario(**changes: object) -> Scenario:
    """A drive with everything in it."""
    return Scenario.from_mapping({"schema": Scenario.kind(), "commands": BUSY} | changes, where="busy scenario")
