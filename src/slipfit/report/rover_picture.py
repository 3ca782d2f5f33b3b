"""A rover's drive as a picture: the path over the ground coloured by slip, speeds, loads, and where the energy went."""

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from slipfit.library import SkidSteerRobot, Terrain, find_terrain
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE
from slipfit.report.rover_figures import falls, joules_told
from slipfit.report.rover_scene import slip_top, worst_slip
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory

#: Lines of equal height, about; and pixels of the ground along a side.
_CONTOURS, _MOST_DRAWN = 12, 500

#: The page's colours, as a picture has them; its names are CSS variables.
_PRINTED = {"var(--blue)": BLUE, "var(--orange)": ORANGE, "var(--green)": GREEN, "var(--grey)": GREY}


def draw_rover(trajectory: Trajectory, robot: SkidSteerRobot, scenario: Scenario) -> Figure:
    """From above, in the ground's own axes; rim and ground speeds; loads, on soil also sinkage; the energy's way down."""
    t = trajectory
    terrain = find_terrain(scenario.ground.terrain) if scenario.ground.terrain else None
    figure = Figure(figsize=(12, 12 if t.is_on_soil else 8.5), layout="constrained")
    cells: Any = [["path", "speed"], ["load", "sinkage" if t.is_on_soil else "energy"]]
    if t.is_on_soil:
        cells.append(["energy", "energy"])
    axes = figure.subplot_mosaic(cells, height_ratios=[1.25, 1.0, 0.7][: len(cells)])
    path, speed, load, energy = (axes[name] for name in ("path", "speed", "load", "energy"))
    _draw_path(path, t, scenario, terrain)
    _draw_wheels(speed, t, t.rim_mps)
    speed.plot(t.time_s, t.vx_mps, color="black", linewidth=1.6, label="robot, ahead")
    speed.legend(frameon=False, fontsize=8, ncols=2)
    _tidy(speed, "time [s]", "m/s", "speeds of the rims, and of the robot")
    _draw_wheels(load, t, t.load_n)
    load.legend(frameon=False, fontsize=8, ncols=2)
    _tidy(load, "time [s]", "load [N]", "wheel loads; zero: off the ground")
    if t.is_on_soil:
        _draw_wheels(axes["sinkage"], t, 1e3 * t.sinkage_m)
        axes["sinkage"].invert_yaxis()
        _tidy(axes["sinkage"], "time [s]", "sinkage [mm]", "sinkage of the wheels, downwards")
    _draw_energy(energy, t)
    return figure


def _draw_wheels(axes: Any, t: Trajectory, values: np.ndarray) -> None:
    """A line for each wheel."""
    colours = (BLUE, ORANGE, GREEN, GREY)
    for w, name in enumerate(t.wheel_names):
        style = ("-", "--", ":")[w // len(colours) % 3]
        axes.plot(t.time_s, values[:, w], style, color=colours[w % len(colours)], linewidth=1.0, label=name)


def _tidy(axes: Any, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_path(axes: Any, t: Trajectory, scenario: Scenario, terrain: Terrain | None) -> None:
    there = np.isfinite(t.x_m) & np.isfinite(t.y_m)
    places, slip = np.column_stack([t.x_m, t.y_m])[there], worst_slip(t)[there]
    pieces = LineCollection(list(np.stack([places[:-1], places[1:]], axis=1)), cmap="viridis", linewidths=3.0, zorder=3)
    pieces.set_array(slip[1:])
    pieces.set_clim(0.0, slip_top(t))
    shown = np.concatenate([places, np.reshape(t.waypoints_m, (-1, 2))])
    low, high = shown.min(axis=0), shown.max(axis=0)
    margin = max(0.15 * float((high - low).max()), 0.5)
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    _draw_ground(axes, t, terrain)
    axes.add_collection(pieces)
    for k, (x, y) in enumerate(t.waypoints_m):
        acceptance_m = scenario.route.acceptance_m if scenario.route else 0.0
        axes.add_patch(Circle((x, y), acceptance_m, fill=False, color=BLUE, zorder=4))
        axes.annotate(str(k + 1), (x, y), textcoords="offset points", xytext=(6, 6), fontsize=8)
    axes.plot(*places[0], "o", color=GREEN, zorder=5)
    axes.plot(*places[-1], "s", color=ORANGE, zorder=5)
    axes.figure.colorbar(pieces, ax=axes, location="bottom", shrink=0.8, aspect=35, label="largest slip of a wheel [-]")
    axes.set_aspect("equal")
    _tidy(axes, "x [m]", "y [m]", f"{t.robot} on {t.ground}{_slope_told(t)}")
    axes.grid(visible=False)


def _slope_told(t: Trajectory) -> str:
    return f" at {np.degrees(t.slope_rad):.3g}°" if t.slope_rad else ""


def _draw_ground(axes: Any, t: Trajectory, terrain: Terrain | None) -> None:
    """Lines of equal height, of a tilted plane too."""
    if terrain is None:
        if t.slope_rad:
            x, y = np.meshgrid(np.array(axes.get_xlim()), np.array(axes.get_ylim()))
            height = np.sin(t.slope_rad) * (x * np.cos(t.uphill_rad) + y * np.sin(t.uphill_rad))
            axes.contour(x, y, height, _CONTOURS, colors="0.7", linewidths=0.7, linestyles="solid")
        return
    every = max(1, int(np.ceil(max(terrain.heights_m.shape) / _MOST_DRAWN)))
    rows, columns = (np.arange(0, count, every) for count in terrain.heights_m.shape)
    x, y = terrain.origin_m[0] + terrain.spacing_m * columns, terrain.origin_m[1] + terrain.spacing_m * rows
    heights = terrain.heights_m[::every, ::every]
    axes.contourf(x, y, heights, 2 * _CONTOURS, cmap="Greys_r", alpha=0.35)
    axes.contour(x, y, heights, _CONTOURS, colors="0.5", linewidths=0.5, linestyles="solid")


def _draw_energy(axes: Any, t: Trajectory) -> None:
    bars = falls(t.energy)
    starts, lengths = [bar.begin_j for bar in bars], [bar.end_j - bar.begin_j for bar in bars]
    axes.barh([bar.word for bar in bars], lengths, left=starts, color=[_PRINTED[bar.colour] for bar in bars])
    for k, bar in enumerate(bars):
        axes.annotate(
            joules_told(bar.joules), (max(bar.begin_j, bar.end_j), k), textcoords="offset points", xytext=(3, -3), fontsize=8
        )
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.tick_params(axis="y", labelsize=8)
    _tidy(axes, "J", "", "energy: heat (orange), stores (green)")
