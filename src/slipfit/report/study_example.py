"""One animated run for each way to fail: tracked robots from the side, drives from above, over the heights of a terrain."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from slipfit.library import Terrain, TrackedRobot, find_terrain
from slipfit.report.board import BLUE, GREY, INK, ORANGE, Board, packed
from slipfit.report.html import Panel
from slipfit.report.playing import pace_s, spread_out
from slipfit.report.side_view import side_view
from slipfit.report.top_view import playing_s, top_view
from slipfit.simulation.engine import Records, Resolved, drive_runs
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.scenario_ground import Obstacle
from slipfit.study.chunk import NOT_POSSIBLE
from slipfit.study.model import Model
from slipfit.study.modes import Mode
from slipfit.study.result import number_text
from slipfit.study.simulation_model import SimulationModel
from slipfit.study.step_model import StepModel
from slipfit.vehicles.step_climb import ClimberShape, climb_path

#: Pictures of one climb, and how long each stays (ms).
_FRAMES, _STAYS_MS = 40, 70

#: Points of a drawn half circle, and heights along each side of a terrain.
_ARC, _HEIGHTS = 24, 60

#: Room around waypoints (m).
_AROUND_M = 0.3

#: How Plotly shows a frame that somebody chose.
_AT_ONCE = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}


def example_panel(model: Model, mode: Mode, number: int) -> Panel | None:
    """The example of a mode in motion; None where the run is not possible, so that nothing moves."""
    if mode.name == NOT_POSSIBLE:
        return None
    where = ", ".join(f"{name} = {number_text(value, 4)}" for name, value in mode.example.items())
    figure = _VIEWS[model.seen_from](model, mode.example)
    return Panel(f"example-{number}", figure, f"{mode.words}: run {mode.example_run}, {where}.")


def drive_view(model: SimulationModel, example: dict[str, float]) -> dict[str, Any]:
    """A drive from above; waypoints, and lines of equal height on a terrain, lie below it."""
    vary = {model.full_name(name): [value] for name, value in (model.fixed | example).items()}
    drive = drive_runs(model.found, vary, Records.AS_SCENARIO).run(0)
    figure, scenario = top_view(drive, model.found.robot), model.found.scenario
    _play_by_itself(figure, 1e3 * playing_s(drive)[0])
    layout = figure["layout"]
    if scenario.route:
        x, y = np.array(scenario.route.waypoints_m, dtype=float).T
        look = {"symbol": "circle-open", "size": 11, "color": INK, "line": {"width": 1.5}}
        marks = {"type": "scatter", "mode": "markers", "name": "waypoints", "marker": look, "showlegend": True}
        figure["data"].append(marks | {"x": packed(x), "y": packed(y)})
        for axis, way in (("xaxis", x), ("yaxis", y)):
            low, high = layout[axis]["range"]
            layout[axis]["range"] = [min(low, float(way.min()) - _AROUND_M), max(high, float(way.max()) + _AROUND_M)]
    if scenario.ground.terrain:
        sides = (layout["xaxis"]["range"], layout["yaxis"]["range"])
        figure["data"].append(_heights(find_terrain(scenario.ground.terrain), *sides))
    return figure


def _heights(terrain: Terrain, x_range: list[float], y_range: list[float]) -> dict[str, Any]:
    """Lines of equal height of the part that is seen."""
    x_from, x_to, y_from, y_to = terrain.extent_m
    x = np.linspace(max(x_range[0], x_from), min(x_range[1], x_to), _HEIGHTS)
    y = np.linspace(max(y_range[0], y_from), min(y_range[1], y_to), _HEIGHTS)
    z = terrain.height_at(*(side.ravel() for side in np.meshgrid(x, y))).reshape(_HEIGHTS, _HEIGHTS)
    look = {"coloring": "none", "showlabels": True, "labelfont": {"size": 9, "color": GREY}}
    lines = {"type": "contour", "name": "height", "showscale": False, "contours": look, "line": {"color": GREY, "width": 0.7}}
    return lines | {"x": packed(x), "y": packed(y), "z": np.round(z, 3).tolist(), "hoverinfo": "skip", "ncontours": 12}


def _play_by_itself(figure: dict[str, Any], stays_ms: float) -> None:
    """Buttons that Plotly serves without a script of the page."""
    play = _AT_ONCE | {"frame": {"duration": stays_ms, "redraw": True}, "fromcurrent": True}
    buttons = [
        {"label": "▶ play", "method": "animate", "args": [None, play]},
        {"label": "❚❚ pause", "method": "animate", "args": [[None], _AT_ONCE]},
    ]
    menus = figure["layout"].get("updatemenus") or [
        {
            "type": "buttons",
            "direction": "left",
            "showactive": False,
            "x": 0.0,
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "bottom",
            "pad": {"b": 24},
            "font": {"color": INK},
            "bgcolor": "var(--soft)",
        }
    ]
    figure["layout"]["updatemenus"] = [menus[0] | {"buttons": buttons}]


def step_view(model: StepModel, example: dict[str, float]) -> dict[str, Any]:
    """A robot from the side on its way up a step, to where friction or geometry ends it."""
    entries = {field: getattr(model.shape, field).value for field in ClimberShape._fields}
    numbers = dict.fromkeys(("curb.height_m", "curb.friction", "curb.edge_radius_m", "curb.sinkage_m"), 0.0)
    numbers |= entries | model.fixed | example
    shape = ClimberShape(*(numbers[field] for field in ClimberShape._fields))
    height, edge = numbers["curb.height_m"] + numbers["curb.sinkage_m"], numbers["curb.edge_radius_m"]
    friction = numbers["curb.friction"]
    path = climb_path(shape, height, edge, has_flippers=model.shape.has_flippers, pitches=_FRAMES)
    stuck = np.flatnonzero(path.friction > friction)
    last = int(stuck[0]) if len(stuck) else len(path.pitch_rad) - 1
    told = [
        f"pitch {np.degrees(pitch):.1f}°, needs a friction of {needed:.3f}, has {friction:.3f}"
        for pitch, needed in zip(path.pitch_rad, path.friction, strict=True)
    ]
    places = [
        _Side(float(x), float(numbers["sprocket_radius_m"]), float(pitch))
        for x, pitch in zip(path.rear_x_m, path.pitch_rad, strict=True)
    ]
    return _side_view(shape, places[: last + 1], told, height, edge)


def climb_view(model: SimulationModel, example: dict[str, float]) -> dict[str, Any]:
    """A simulated climb from the side, over the profile of its obstacle."""
    numbers = {model.full_name(name): value for name, value in (model.fixed | example).items()}
    drive = drive_runs(model.found, {name: [value] for name, value in numbers.items()}, Records.AS_SCENARIO).run(0)
    figure = side_view(drive, *_as_in_run(model.found, numbers))
    _play_by_itself(figure, 1e3 * pace_s(drive["time_s"][spread_out(len(drive["time_s"]))])[0])
    return figure


def _as_in_run(found: Resolved, numbers: dict[str, float]) -> tuple[TrackedRobot, Scenario]:
    """Robot and scenario with the numbers of one run, to draw them."""
    robot = _replaced(found.robot.to_mapping(), numbers)
    x, y, height = found.robot.centre_of_mass_m.value
    at = [numbers.get("centre_of_mass_x_m", x), y, numbers.get("centre_of_mass_height_m", height)]
    robot["centre_of_mass_m"] = {"value": at, "source": "assumed", "note": "of this run"}
    scenario, start = found.scenario, {"start_x_m": "x_m", "start_y_m": "y_m"}
    start |= {name: name for name in ("heading_rad", "flipper_angle_rad")}
    its_start = {key: numbers[name] for name, key in start.items() if name in numbers}
    update: dict[str, Any] = {"start": scenario.start.model_copy(update=its_start)}
    if obstacle := scenario.ground.obstacle:
        its = {name: numbers[name] for name in Obstacle.model_fields if name in numbers}
        update["ground"] = scenario.ground.model_copy(update={"obstacle": obstacle.model_copy(update=its)})
    return TrackedRobot.from_mapping(robot, where="example"), scenario.model_copy(update=update)


def _replaced(entry: dict[str, Any], numbers: dict[str, float]) -> dict[str, Any]:
    """A robot's file with other values of its numbers, wherever they stand."""
    found: dict[str, Any] = {}
    for name, part in entry.items():
        if name in numbers:
            found[name] = {"value": numbers[name], "source": "assumed", "note": "of this run"}
        else:
            found[name] = _replaced(part, numbers) if isinstance(part, dict) else part
    return found


class _Side(NamedTuple):
    """Where a robot is, from the side: its rear axle from the wall's face and above the ground, and its pitch."""

    rear_x_m: float
    rear_z_m: float
    pitch_rad: float


def _side_view(shape: ClimberShape, places: list[_Side], told: list[str], height: float, edge: float) -> dict[str, Any]:
    """Belt, mass and step, with a frame for every place."""
    reach = float(shape.underside_m + 2.0 * shape.sprocket_radius_m)
    board = Board(1, row_px=260)
    board.axes(
        0,
        x="ahead of the wall [m]",
        y="height [m]",
        xaxis={"range": [-1.6 * reach, 1.2 * reach]},
        yaxis={"scaleanchor": "x", "range": [-0.05, 0.9 * reach]},
    )
    board.line(0, 0, "step", *_step_outline(height, edge, reach), color=INK, width=2.0)
    outline, mass = _robot_outline(shape, places[0])
    board.line(0, 0, "robot", *outline, color=BLUE, width=2.0)
    board.dots(0, 0, "mass", *mass, color=ORANGE, size=9)
    figure = board.figure(hovermode="closest", showlegend=False)
    frames = []
    for k, place in enumerate(places):
        moving = [{"x": packed(x), "y": packed(y)} for x, y in _robot_outline(shape, place)]
        frames.append({"name": f"{k}", "data": moving, "traces": [1, 2], "layout": {"annotations": [_note(told[k])]}})
    figure["layout"]["annotations"].append(_note(told[0]))
    figure["frames"] = frames
    _play_by_itself(figure, _STAYS_MS)
    return figure


def _note(text: str) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "x": 1.0, "y": 1.0, "xanchor": "right", "yanchor": "bottom"}
    return {"text": text, **place, "showarrow": False, "font": {"color": INK, "size": 12.5}}


def _step_outline(height: float, edge: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    angle = np.linspace(0.5 * np.pi, 0.0, _ARC)
    x = np.concatenate([[-1.6 * reach, 0.0], edge - edge * np.sin(angle), [1.2 * reach]])
    y = np.concatenate([[0.0, 0.0], height - edge + edge * np.cos(angle), [height]])
    return x, np.maximum(y, 0.0)


def _robot_outline(shape: ClimberShape, place: _Side) -> list[tuple[np.ndarray, np.ndarray]]:
    """Belt around both sprockets, and the mass."""
    radius, length, ahead, above = (float(entry) for entry in shape)
    half = np.linspace(0.5 * np.pi, 1.5 * np.pi, _ARC)
    belt = [
        np.concatenate([radius * np.cos(half), length - radius * np.cos(half), [0.0]]),
        np.concatenate([radius * np.sin(half), -radius * np.sin(half), [radius]]),
    ]
    mass = [np.array([ahead]), np.array([above - radius])]
    c, s = np.cos(place.pitch_rad), np.sin(place.pitch_rad)
    return [(place.rear_x_m + c * x - s * z, place.rear_z_m + s * x + c * z) for x, z in (belt, mass)]


#: What draws a run, by how the model says it is seen.
_VIEWS: dict[str, Callable[[Any, dict[str, float]], dict[str, Any]]] = {
    "step": step_view,
    "side": climb_view,
    "above": drive_view,
}
