"""The report of a climb: one page with the robot from the side, moment by moment, and what happened over time."""

from pathlib import Path
from typing import Any

import numpy as np

import slipfit
from slipfit.library import TrackedRobot, citation, references
from slipfit.report.board import BLUE, GREEN, INK, ORANGE, Board
from slipfit.report.drive_report import NUMBER_HEADS, number_row
from slipfit.report.html import Panel, render, write_page
from slipfit.report.playing import pace_told, spread_out
from slipfit.report.side_view import side_view
from slipfit.simulation.climb_reserve import GripReserve
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory


def write_climb_report(
    climb: Trajectory,
    robot: TrackedRobot,
    scenario: Scenario,
    path: Path | str,
    *,
    reserve: GripReserve | None = None,
    force: bool = False,
) -> None:
    """Write the report of a climb: one .html file that loads nothing from anywhere."""
    numbers = list(robot.parameters().values())
    works = sorted({p.source for p in numbers} & set(references()))
    html = render(
        "climb.html.j2",
        climb=climb,
        robot=robot,
        about=scenario.about,
        is_good=climb.outcome.is_success,
        told=told_rows(climb, reserve),
        side=Panel("side-view", side_view(climb, robot, scenario), side_caption(climb, scenario)),
        over_time=Panel("over-time", over_time(climb, robot), "The upright line is the moment shown; a click shows another one."),
        number_heads=NUMBER_HEADS,
        robot_rows=[number_row(p) for p in numbers],
        works=[f"{key}: {citation(key)}" for key in works],
        scenario_yaml=scenario.to_yaml(),
        version=slipfit.__version__,
    )
    write_page(html, Path(path), force=force)


def side_caption(climb: Trajectory, scenario: Scenario) -> str:
    """What is drawn, and how fast it plays."""
    times = climb["time_s"][spread_out(len(climb["time_s"]))]
    rut = " Sand is soil that nothing has touched; the orange line is the lowest that a belt was." if scenario.ground.soil else ""
    return (
        f"The robot from its right side: links move as the belts do, so that slip is seen.{rut} Plays when the page opens, "
        f"{pace_told(times)} or as fast as the browser draws; buttons and slider choose the moment."
    )


def told_rows(climb: Trajectory, reserve: GripReserve | None = None) -> list[list[str]]:
    """What happened, in rows."""
    c = climb.columns
    rows = [["verdict reached after", f"{climb.stopped_at_s:.2f} s"]]
    if climb.margin is not None:
        rows.append(["margin", f"{climb.margin:+.3f}"])
    if reserve is not None:
        rows.append(["grip reserve", reserve.sentence()])
    rows.append(["nose up to", f"{np.degrees(climb.pitch_up_rad.max()):.1f}°"])
    rows.append(["deepest sinkage", f"{1e3 * c['deepest_m'].max():.1f} mm"])
    rows.append(["largest drive force of a belt", f"{np.abs([c['drive_left_n'], c['drive_right_n']]).max():.0f} N"])
    return rows


def over_time(climb: Trajectory, robot: TrackedRobot) -> dict[str, Any]:
    """Pitch, slip, sinkage, torques and loads, with one time axis."""
    t, c = climb["time_s"], climb.columns
    radius_m = robot.tracks.sprocket_radius_m.value
    rows: list[tuple[str, list[tuple[str, np.ndarray, str]]]] = [
        ("nose up [°]", [("nose up", np.degrees(climb.pitch_up_rad), BLUE)]),
        ("slip [-]", [("slip of both belts", climb.slip, ORANGE)]),
        (
            "sinkage [mm]",
            [("left belt", 1e3 * c["sinkage_left_m"], BLUE), ("right belt", 1e3 * c["sinkage_right_m"], ORANGE)],
        ),
        (
            "torque [N m]",
            [("left sprocket", radius_m * c["drive_left_n"], BLUE), ("right sprocket", radius_m * c["drive_right_n"], ORANGE)],
        ),
        (
            "load [N]",
            [
                ("on hard ground", c["hard_load_left_n"] + c["hard_load_right_n"], INK),
                ("on soil", c["soil_load_left_n"] + c["soil_load_right_n"], GREEN),
                ("on the belly", c["belly_load_n"], ORANGE),
            ],
        ),
    ]
    board = Board(len(rows), row_px=96, gap_px=30, share="time")
    for k, (title, curves) in enumerate(rows):
        names = ", ".join(f"<span style='color:{colour}'>{name}</span>" for name, _, colour in curves)
        board.axes(k, title=names, x="time [s]" if k == len(rows) - 1 else "", y=title)
        for name, values, colour in curves:
            board.line(k, 0, name, t, values, color=colour)
    return board.figure(showlegend=False)
