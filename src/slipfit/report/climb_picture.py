"""A climb as a picture: the robot from the side at some moments, and pitch, slip, sinkage and torque over time."""

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.library import TrackedRobot
from slipfit.report.climb_profile import climb_profile, hard_ground, soil_body
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy
from slipfit.report.side_view import ruts, side_shape, stage
from slipfit.simulation.climb import climb_numbers
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory

#: Robots in one picture.
_MOMENTS = 5

#: So many letters fit over the picture in one line.
_TITLE_LETTERS = 110


def draw_climb(climb: Trajectory, robot: TrackedRobot, scenario: Scenario) -> Figure:
    """From the side above, four curves below."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    side, *curves = (figure.add_subplot(place) for place in _places(figure))
    _draw_side(side, climb, robot, scenario)
    t, radius_m = climb["time_s"], robot.tracks.sprocket_radius_m.value
    sides = (("left", BLUE), ("right", ORANGE))
    rows: list[tuple[str, str, list[tuple[str, np.ndarray, str]]]] = [
        ("nose up", "°", [("", np.degrees(climb.pitch_up_rad), BLUE)]),
        ("slip of both belts", "-", [("", climb.slip, BLUE)]),
        ("sinkage", "mm", [(s, 1e3 * climb[f"sinkage_{s}_m"], c) for s, c in sides]),
        ("torque of a sprocket", "N m", [(s, radius_m * climb[f"drive_{s}_n"], c) for s, c in sides]),
    ]
    for axes, (title, unit, lines) in zip(curves, rows, strict=True):
        for name, values, colour in lines:
            axes.plot(t, values, color=colour, linewidth=1.2, label=name, linestyle="--" if name == "right" else "-")
        if len(lines) > 1:
            axes.legend(frameon=False, fontsize=8)
        _tidy(axes, "time [s]", f"[{unit}]", title)
    return figure


def _places(figure: Figure) -> list[Any]:
    grid = figure.add_gridspec(3, 2, height_ratios=[1.6, 1.0, 1.0])
    return [grid[0, :], grid[1, 0], grid[1, 1], grid[2, 0], grid[2, 1]]


def _draw_side(axes: Any, climb: Trajectory, robot: TrackedRobot, scenario: Scenario) -> None:
    v, shape = climb_numbers(robot, scenario), side_shape(robot, scenario.start.flipper_angle_rad)
    profile = climb_profile(scenario, v)
    seen_from = stage(climb, profile)
    length = shape.outline.axle_distance_m + 2.0 * shape.outline.radius_m
    left, right = float(seen_from.xi_m.min()) - length, float(seen_from.xi_m.max()) + length
    hard, until = hard_ground(scenario, v, profile, left - 1.0, right + 1.0)
    axes.fill(*hard.T, facecolor="0.8", edgecolor=GREY)
    if scenario.ground.soil is not None:
        axes.fill(*soil_body(scenario, profile, left, min(until, right)).T, color="#d6aa5c", alpha=0.45, linewidth=0.0)
        places, rut = ruts(climb, shape, seen_from, until)
        lowest = np.where(rut[-1] < 0.0, profile.line(places) + rut[-1], np.nan)
        axes.plot(places, lowest, color=ORANGE, linewidth=1.5, label="lowest that a belt was")
    axes.plot(seen_from.xi_m, seen_from.z_m, color=GREEN, linewidth=1.0, label="centre of mass")
    kept = np.unique(np.linspace(0, len(climb["time_s"]) - 1, _MOMENTS).round().astype(int))
    half = 0.5 * shape.outline.tread_m
    for k in kept.tolist():
        for outline in (shape.flipper, shape.track):
            if len(outline):
                axes.plot(*seen_from.seen(k, outline, -half).T, color=BLUE, linewidth=1.2, alpha=0.35 + 0.65 * k / kept[-1])
        axes.annotate(f"{climb['time_s'][k]:.1f} s", (seen_from.xi_m[k], seen_from.z_m[k]), fontsize=8, ha="center")
    ground = profile.line(profile.places(left, right))
    top = float(max(seen_from.z_m.max(), ground.max() + v["height_m"])) + 0.75 * length
    axes.set(xlim=(left, right), ylim=(float(min(ground.min() - 0.12, seen_from.z_m.min() - 0.15)), top))
    axes.set_aspect("equal")
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    about = "\n".join(wrap(f"{climb.robot}: {climb.scenario}", _TITLE_LETTERS))
    _tidy(axes, profile.axis_title, "height [m]", f"{climb.outcome.value}\n{about}")
