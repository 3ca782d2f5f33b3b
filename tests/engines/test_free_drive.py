"""Twenty seconds of steps, arcs and spins: the exported twin in an engine stays beside the twin in our simulator (issue 4)."""

import numpy as np
import pytest

from known_twins import known_twin
from slipfit.engines import WheelCommands, find_engine
from slipfit.exporters.dialects import FORTRESS
from slipfit.exporters.mjcf import export_mjcf
from slipfit.exporters.record import Settings as ExportSettings
from slipfit.exporters.sdf import export_sdf
from slipfit.simulation import Command, Scenario, simulate
from slipfit.simulation.commands import command_table

pytestmark = pytest.mark.engine

DRIVE = Scenario(
    commands=[
        Command(for_s=2.0, v_mps=0.5),
        Command(for_s=4.0, v_mps=0.6, yaw_rate_radps=0.5),
        Command(for_s=3.0, yaw_rate_radps=1.0),
        Command(for_s=4.0, v_mps=1.0, yaw_rate_radps=-0.4, profile="quintic"),
        Command(for_s=3.0, v_mps=-0.4),
        Command(for_s=2.0, yaw_rate_radps=-1.2),
        Command(for_s=2.0, v_mps=0.3, yaw_rate_radps=0.2),
    ]
)


@pytest.mark.parametrize(
    ("engine", "share", "heading_deg"),
    [("ode", 0.01, 1.0), ("gz-physics", 0.01, 1.0), ("mujoco", 0.02, 2.0)],
)
def test_engine_and_twin_drive_together(engine, share, heading_deg, need, tmp_path):
    """Distance apart at most this share of the way, headings at most so many degrees, at any time."""
    need(engine)
    twin = known_twin()
    path = tmp_path / ("p3at.xml" if engine == "mujoco" else "p3at.sdf")
    exported = export_mjcf(twin) if engine == "mujoco" else export_sdf(twin, FORTRESS, settings=ExportSettings(world=True))
    exported.save(path)
    ours = simulate(twin.robot, DRIVE, ground=twin.ground(twin.ground_name(None)))
    run = find_engine(engine).run(path, WheelCommands(command_table(twin.robot, DRIVE), DRIVE.time_step_s))
    theirs = run.trajectory()
    x, y, heading = (
        np.interp(ours.time_s, theirs.time_s, column - column[0]) for column in (theirs.x_m, theirs.y_m, theirs.heading_rad)
    )
    assert np.hypot(x - ours.x_m, y - ours.y_m).max() < share * ours.distance_m
    assert np.degrees(np.abs(heading - ours.heading_rad)).max() < heading_deg
