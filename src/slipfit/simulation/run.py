"""Simulate one drive, or thousands: robot or twin and scenario in, trajectories out."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipfit.library import Ground, Robot
from slipfit.simulation.batch import Batch
from slipfit.simulation.drives import VEHICLES
from slipfit.simulation.engine import Records, Resolved, drive_runs
from slipfit.simulation.sensors import read_sensors
from slipfit.simulation.trajectory import Trajectory
from slipfit.twin import Driver, Twin, find_driver


def simulate(
    robot: Driver | Robot | Twin | str | Path,
    scenario: Any,
    *,
    ground: Ground | str | Path | None = None,
) -> Trajectory:
    """Drive a robot through a scenario, with sensors if the scenario has some.

    Parameters
    ----------
    robot : a record, a name of the library, or the path of a file, whatever its drive; a twin in its place brings its ground
        along, and the lags, dead bands and limits of its powertrain
    scenario : a record, what a scenario file holds, a name of the library, or the path of a file
    ground : overrides the surface that the scenario names, and the twin's; of a twin with several grounds it chooses one

    Examples
    --------
    >>> trajectory = simulate("p3at", {"commands": [{"for_s": 2.0, "v_mps": 0.5}]})
    """
    found = resolve(robot, scenario, ground)
    sensors = found.scenario.sensors
    if not sensors.names:
        return drive_runs(found, {}, Records.AS_SCENARIO).run(0)
    found.vehicle.check_sensors(found)
    fine = drive_runs(found, {}, Records.EVERY_STEP).run(0)
    readings = read_sensors(fine, found.robot, found.ground, found.scenario)
    every = max(1, round(found.scenario.record_interval_s / found.scenario.time_step_s))
    return replace(fine.thinned(every), readings=readings)


def simulate_many(
    robot: Driver | Robot | Twin | str | Path,
    scenario: Any,
    vary: Mapping[str, Any],
    *,
    ground: Ground | str | Path | None = None,
    ends_only: bool = False,
    workers: int | None = None,
) -> Batch:
    """The same drive many times on all cores, with numbers that differ from run to run. Sensors are left out.

    Parameters
    ----------
    vary : arrays by name (mass_kg, c_long_per_n, slope_rad, height_m, ...), one entry per run; a wrong name is answered with the
        right ones; a twin's are `twin.draws(n, seed)`
    ends_only : record only start and end of each run
    workers : threads, all cores by default; results do not depend on it

    A run whose numbers stop being finite has that outcome, the others go on. Run 317 gives the same bits alone or in a million.
    """
    return drive_runs(resolve(robot, scenario, ground), vary, Records.ENDS if ends_only else Records.AS_SCENARIO, workers=workers)


def resolve(robot: Driver | Robot | Twin | str | Path, scenario: Any, ground: Ground | str | Path | None = None) -> Resolved:
    """Who drives what, and on which ground."""
    driver = find_driver(robot)
    return VEHICLES[driver.robot.drive].resolve(driver, scenario, ground)
