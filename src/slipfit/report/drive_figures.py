"""A drive over time: velocities of the body, and of each wheel its speed as it was and as commanded, slip, load and force."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slipfit.library import OmniRobot, SkidSteerRobot
from slipfit.library.robot import DcMotor
from slipfit.report.board import BLUE, GREEN, GREY, INK, ORANGE, SHADE, Board
from slipfit.report.decimate import MOST_POINTS, envelope, unused_spans
from slipfit.report.top_view import rigid_wheels, slip_speed
from slipfit.simulation.commands import command_table, no_load_voltage
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory

#: Points of all lines together: 0.4 MB of the page.
_ALL_POINTS = 36_000

#: One colour for each wheel; more wheels begin again.
WHEEL_COLOURS = (BLUE, ORANGE, GREEN, GREY, INK, SHADE)

#: The row of wheel speeds.
_WHEEL_SPEEDS = 2


def commanded_speeds(robot: SkidSteerRobot | OmniRobot, scenario: Scenario, time_s: np.ndarray) -> np.ndarray:
    """Wheel speeds (rad/s) that were asked for in the step that ends at each time, shape (T, n); motors' at no load."""
    table = command_table(robot, scenario)
    steps = np.round(np.asarray(time_s) / scenario.time_step_s).astype(int) - 1
    asked = table[np.clip(steps, 0, len(table) - 1)]
    if isinstance(robot.powertrain, DcMotor):
        return np.asarray(asked / float(no_load_voltage(robot.powertrain, np.array(1.0))))
    return np.asarray(asked)


def over_time(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot, scenario: Scenario) -> dict[str, Any]:
    """Rows that share their time axis."""
    t, rigid = trajectory, rigid_wheels(trajectory, robot)
    rows = [
        (
            "velocity of the robot's origin: ahead (blue), to the left (green)",
            "m/s",
            [("ahead", BLUE, t.vx_mps), ("to the left", GREEN, t.vy_mps)],
        ),
        ("yaw rate", "rad/s", [("yaw rate", ORANGE, t.yaw_rate_radps)]),
        ("wheel speeds, and what was commanded (wide and pale)", "rad/s", _wheels(t, t.wheel_speed_radps)),
        ("slip of each wheel over the ground", "mm/s", _wheels(t, 1e3 * slip_speed(t, robot))),
        ("load of each wheel", "N", _wheels(t, t.load_n)),
        ("force of the ground on each wheel, along the plane", "N", _wheels(t, np.hypot(t.force_x_n, t.force_y_n))),
    ]
    asked = np.unique(commanded_speeds(robot, scenario, t.time_s), axis=1)  # wheels of one side are told the same
    most = min(MOST_POINTS, _ALL_POINTS // (sum(len(lines) for _, _, lines in rows) + asked.shape[1]))
    board = Board(len(rows) + int(rigid.any()), row_px=130, share="time")
    for row, (title, unit, lines) in enumerate(rows):
        is_last = row == len(rows) - 1 and not rigid.any()
        board.axes(row, title=title, y=unit, x="time [s]" if is_last else "")
        for values in asked.T if row == _WHEEL_SPEEDS else ():
            board.line(row, 0, "commanded", *envelope(t.time_s, values, most), color=SHADE, width=5.0)
        for name, colour, values in lines:
            board.line(row, 0, name, *envelope(t.time_s, values, most), color=colour, legend=row == _WHEEL_SPEEDS)
    if rigid.any():
        _draw_rigid(board, len(rows), t, rigid)
    return board.figure()


def _wheels(t: Trajectory, values: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
    return [(name, WHEEL_COLOURS[w % len(WHEEL_COLOURS)], values[:, w]) for w, name in enumerate(t.wheel_names)]


def _draw_rigid(board: Board, row: int, t: Trajectory, rigid: np.ndarray) -> None:
    """A bar for every stretch in which a wheel stands on a rigid part."""
    names = t.wheel_names
    places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5], "showgrid": False}
    board.axes(row, title="on the rigid part between two rollers", x="time [s]", yaxis=places)
    for w, name in enumerate(names):
        spans = unused_spans(t.time_s, 1.0 - rigid[:, w], least_share=0.0)
        x = np.array([[begin, end, np.nan] for begin, end in spans]).ravel()
        y = np.array([[w, w, np.nan] for _ in spans]).ravel()
        if spans:
            board.line(row, 0, name, x, y, color=WHEEL_COLOURS[w % len(WHEEL_COLOURS)], width=7.0)
