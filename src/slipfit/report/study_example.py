"""One animated run for each way to fail: a robot at a step from the side, or a drive from above."""

from typing import Any

import numpy as np

from slipfit.report.board import BLUE, GREY, INK, ORANGE, Board, packed
from slipfit.report.html import Panel
from slipfit.report.top_view import playing_s, top_view
from slipfit.simulate import simulate_many
from slipfit.simulate.rover import RoverBatch
from slipfit.study.model import Model, ScenarioModel, StepModel
from slipfit.study.modes import Mode
from slipfit.vehicles.step_climb import ClimberShape, climb_path

#: Pictures of one climb, and how long each stays (ms).
_FRAMES, _STAYS_MS = 40, 70

#: Points of a drawn half circle.
_ARC = 24


def example_panel(model: Model, mode: Mode, number: int) -> Panel | None:
    """The example of a mode in motion; None where there is no picture for such a model."""
    where = ", ".join(f"{name} = {value:.4g}" for name, value in mode.example.items())
    caption = f"{mode.name}: run {mode.example_run}, {where}."
    if isinstance(model, StepModel):
        return Panel(f"example-{number}", step_view(model, mode.example), caption)
    if isinstance(model, ScenarioModel):
        vary = {name: [value] for name, value in (model.fixed | mode.example).items()}
        batch = simulate_many(model.driver, model.scenario, vary, ground=model.surface)
        drive = batch.run(0)
        if isinstance(batch, RoverBatch) and model.scenario.ground.shape != "plane":
            return None
        figure = top_view(drive, model.robot)
        _play_by_itself(figure, 1e3 * playing_s(drive)[0])
        return Panel(f"example-{number}", figure, caption)
    return None


def _play_by_itself(figure: dict[str, Any], stays_ms: float) -> None:
    """Buttons that Plotly serves without a script of the page."""
    still = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    play = {
        "frame": {"duration": stays_ms, "redraw": True},
        "transition": {"duration": 0},
        "fromcurrent": True,
        "mode": "immediate",
    }
    buttons = [
        {"label": "▶ play", "method": "animate", "args": [None, play]},
        {"label": "❚❚ pause", "method": "animate", "args": [[None], still]},
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
    path = climb_path(shape, height, edge, has_flippers=model.shape.has_flippers, pitches=_FRAMES)
    stuck = np.flatnonzero(path.friction > numbers["curb.friction"])
    last = int(stuck[0]) if len(stuck) else len(path.pitch_rad) - 1
    board = Board(1, row_px=260)
    reach = float(numbers["underside_m"] + 2.0 * numbers["sprocket_radius_m"])
    board.axes(
        0,
        x="ahead of the edge [m]",
        y="height [m]",
        xaxis={"range": [-1.25 * reach, 0.75 * reach]},
        yaxis={"scaleanchor": "x", "range": [-0.05, 0.75 * reach]},
    )
    board.line(0, 0, "step", *_step_outline(height, edge, reach), color=INK, width=2.0)
    first = _robot_outline(shape, path, 0)
    board.line(0, 0, "robot", *first[0], color=BLUE, width=2.0)
    board.dots(0, 0, "mass", *first[1], color=ORANGE, size=9)
    figure = board.figure(hovermode="closest", showlegend=False)
    figure["layout"]["annotations"].append(_told(path, 0, numbers["curb.friction"]))
    frames = []
    for k in range(last + 1):
        outline, mass = _robot_outline(shape, path, k)
        moving = [{"x": packed(x), "y": packed(y)} for x, y in (outline, mass)]
        note = {"annotations": [_told(path, k, numbers["curb.friction"])]}
        frames.append({"name": f"{k}", "data": moving, "traces": [1, 2], "layout": note})
    figure["frames"] = frames
    _play_by_itself(figure, _STAYS_MS)
    return figure


def _told(path: Any, k: int, friction: float) -> dict[str, Any]:
    needed = path.friction[k]
    text = f"pitch {np.degrees(path.pitch_rad[k]):.1f}°, needs a friction of {needed:.3f}, has {friction:.3f}"
    place = {"xref": "paper", "yref": "paper", "x": 1.0, "y": 1.0, "xanchor": "right", "yanchor": "bottom"}
    return {"text": text, **place, "showarrow": False, "font": {"color": ORANGE if needed > friction else GREY, "size": 12.5}}


def _step_outline(height: float, edge: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    angle = np.linspace(0.5 * np.pi, 0.0, _ARC)
    x = np.concatenate([[-1.25 * reach, 0.0], edge - edge * np.sin(angle), [0.75 * reach]])
    y = np.concatenate([[0.0, 0.0], height - edge + edge * np.cos(angle), [height]])
    return x, np.maximum(y, 0.0)


def _robot_outline(shape: ClimberShape, path: Any, k: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Belt around both sprockets, and the mass."""
    radius, length, ahead, above = (float(entry) for entry in shape)
    pitch, rear_x = float(path.pitch_rad[k]), float(path.rear_x_m[k])
    half = np.linspace(0.5 * np.pi, 1.5 * np.pi, _ARC)
    belt_x = np.concatenate([radius * np.cos(half), length - radius * np.cos(half), [0.0]])
    belt_z = np.concatenate([radius * np.sin(half), -radius * np.sin(half), [radius]])
    c, s = np.cos(pitch), np.sin(pitch)
    mass_x, mass_z = ahead, above - radius
    return (
        (rear_x + c * belt_x - s * belt_z, radius + s * belt_x + c * belt_z),
        (np.array([rear_x + c * mass_x - s * mass_z]), np.array([radius + s * mass_x + c * mass_z])),
    )
