"""Robots on soil straight in the compiled core, or in plain Python where a few hundred steps do: nothing is compiled then."""

import numpy as np

from slipfit.kernels import as_batch
from slipfit.library import find_ground, find_robot
from slipfit.simulation.batch import Batch
from slipfit.simulation.drives import rover
from slipfit.simulation.engine import Resolved, Run
from slipfit.simulation.run_commands import RunCommands
from slipfit.vehicles import rough, run_loop
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS
from slipfit.vehicles.driver import NOTE_COLUMNS

#: Cells so small that no wheel ever meets what another has left.
NO_RUTS_PER_M = 1e4


def drive(robot, scenario, ground="dry_sand", *, vary=None, every=10, in_lanes=False, ruts=True):
    """A `Batch` of drives, on a plane or over a terrain."""
    robot = find_robot(robot) if isinstance(robot, str) else robot
    ground = find_ground(ground) if isinstance(ground, str) else ground
    values, n = rover.Rover().varied(Resolved(rover.Rover(), robot, scenario, ground), vary or {})
    commands = None if scenario.route else RunCommands.of(robot, scenario, values, n, every=every)
    driver, hold, steps = rover.driver_of(robot, scenario, values, commands)
    batch = as_batch(rover.runs_of(robot, ground, scenario, values, driver, rover._terrain(robot, scenario), n), n)
    if not ruts:
        batch = batch._replace(ground=batch.ground._replace(per_cell=np.full(n, NO_RUTS_PER_M)))
    per_wheel = len(run_loop.WHEEL_COLUMNS) + len(run_loop.SLIP_COLUMNS)
    more = len(NOTE_COLUMNS) + len(FLOW_COLUMNS) + len(STORE_COLUMNS) + 1
    out = np.empty((n, steps // every + 1, len(rough.BODY6_COLUMNS) + 4 * per_wheel + more))
    status = np.empty(n)
    kernel = rough.in_lanes if in_lanes else rough.one_by_one.py_func
    kernel(batch, 0, n, hold, every, scenario.time_step_s, out, status)
    found = Resolved(rover.Rover(), robot, scenario, ground)
    columns = rover.columns_of(len(robot.wheels.at_m.value), is_in_space=True)
    time_s = np.arange(out.shape[1]) * every * scenario.time_step_s
    return Batch(Run(found, values, n, vary or {}), time_s, out, status, columns, np.full(n, np.inf))
