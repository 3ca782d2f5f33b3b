"""Pictures of verifications: paths, distance and heading apart over time, yaw rate over heading."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.report.board import BLUE as BOARD_BLUE
from slipfit.report.board import GREEN as BOARD_GREEN
from slipfit.report.board import GREY as BOARD_GREY
from slipfit.report.board import ORANGE as BOARD_ORANGE
from slipfit.report.board import Board
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE
from slipfit.verification.record import Verification

_COLOURS = (BLUE, ORANGE, GREEN)
_BOARD_COLOURS = (BOARD_BLUE, BOARD_ORANGE, BOARD_GREEN)

#: Points of a line in a page.
_MOST_POINTS = 1500


def draw_verifications(found: Sequence[Verification]) -> Figure:
    """Four panels, one colour for each engine, grey the twin."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    figure.suptitle(f"{found[0].robot} on {found[0].ground}: engines against the twin")
    path, apart, yaw, heading = figure.subplots(2, 2).ravel()
    twin = found[0].paths
    path.plot(*twin.twin_m.T, color=GREY, linewidth=3, alpha=0.6, label="twin")
    for v, colour in zip(found, _COLOURS, strict=False):
        path.plot(*v.paths.engine_m.T, color=colour, linewidth=1, label=v.engine)
        apart.plot(v.paths.time_s, 1e3 * v.paths.apart_m, color=colour, label=v.engine)
        heading.plot(v.paths.time_s, np.degrees(v.paths.turned_apart_rad), color=colour)
        yaw.plot(np.degrees(v.yaw_rate[0]), v.yaw_rate[1], color=colour)
    path.set_aspect("equal", adjustable="datalim")
    labels = (
        (path, "x [m]", "y [m]", "free drive"),
        (apart, "time [s]", "apart [mm]", "free drive: distance from the twin"),
        (yaw, "heading [°]", "yaw rate [rad/s]", "spin: yaw rate over heading"),
        (heading, "time [s]", "apart [°]", "free drive: heading from the twin's"),
    )
    for axes, x, y, title in labels:
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    path.legend(frameon=False)
    return figure


def path_board(found: Sequence[Verification]) -> dict[str, Any]:
    """The free drive from above."""
    board = Board(1, row_px=320)
    board.axes(0, x="x [m]", y="y [m]", yaxis={"scaleanchor": "x", "scaleratio": 1})
    thin = _thin(len(found[0].paths.time_s))
    board.line(0, 0, "twin", *found[0].paths.twin_m[thin].T, color=BOARD_GREY, width=4.0, legend=True)
    for v, colour in zip(found, _BOARD_COLOURS, strict=False):
        board.line(0, 0, v.engine, *v.paths.engine_m[thin].T, color=colour, legend=True)
    return board.figure(hovermode="closest")


def apart_board(found: Sequence[Verification]) -> dict[str, Any]:
    """Distance and heading from the twin over time."""
    board = Board(2, row_px=150, share="time")
    board.axes(0, title="distance from the twin [mm]")
    board.axes(1, title="heading from the twin's [°]", x="time [s]")
    for v, colour in zip(found, _BOARD_COLOURS, strict=False):
        thin = _thin(len(v.paths.time_s))
        time_s = v.paths.time_s[thin]
        board.line(0, 0, v.engine, time_s, 1e3 * v.paths.apart_m[thin], color=colour, legend=True)
        board.line(1, 0, v.engine, time_s, np.degrees(v.paths.turned_apart_rad)[thin], color=colour)
    return board.figure()


def yaw_board(found: Sequence[Verification]) -> dict[str, Any]:
    """Yaw rate of the spin over the heading."""
    board = Board(1, row_px=200)
    board.axes(0, x="heading [°]", y="yaw rate [rad/s]")
    for v, colour in zip(found, _BOARD_COLOURS, strict=False):
        board.line(0, 0, v.engine, np.degrees(v.yaw_rate[0]), np.array(v.yaw_rate[1]), color=colour, legend=True)
    return board.figure()


def _thin(count: int) -> slice:
    return slice(None, None, max(1, count // _MOST_POINTS))
