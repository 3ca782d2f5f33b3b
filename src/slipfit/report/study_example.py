"""One animated run for each way to fail: a robot at a step from the side, or a drive from above."""

from typing import Any, NamedTuple

import numpy as np

from slipfit.report.board import BLUE, INK, ORANGE, Board, packed
from slipfit.report.html import Panel
from slipfit.report.top_view import playing_s, top_view
from slipfit.simulate import simulate_many
from slipfit.simulate.climb import climb_many, climb_numbers
from slipfit.simulate.rover import RoverBatch
from slipfit.study.climb_model import ClimbModel
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
    if isinstance(model, ClimbModel):
        side = climb_view(model, mode.example)
        return Panel(f"example-{number}", side, caption) if side else None
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


def climb_view(model: ClimbModel, example: dict[str, float]) -> dict[str, Any] | None:
    """A simulated climb from the side; None where the obstacle is no curb."""
    if model.climb.obstacle.kind != "curb":
        return None
    # Two of it: a run alone has a kernel of its own, which is not that of the study.
    vary = {model.full_name(name): [value, value] for name, value in (model.fixed | example).items()}
    drive = climb_many(model.robot, model.climb, vary).run(0)
    v = climb_numbers(model.robot, model.climb) | {name: entry[0] for name, entry in vary.items()}
    length, radius = float(v["axle_distance_m"]), float(v["sprocket_radius_m"])
    shape = ClimberShape(radius, length, 0.5 * length + v["centre_of_mass_x_m"], v["centre_of_mass_height_m"])
    face = 0.5 * length + radius + v.get("cleat_height_m", 0.0) + v["distance_m"]
    chosen = np.unique(np.linspace(0, len(drive["time_s"]) - 1, _FRAMES).round().astype(int))
    places, told = [], []
    for k in chosen:
        pitch = float(drive.pitch_up_rad[k])
        c, s = np.cos(pitch), np.sin(pitch)
        along, up = shape.mass_ahead_m, shape.mass_above_m - radius
        rear_x, rear_z = drive["x_m"][k] - c * along + s * up, drive["z_m"][k] - s * along - c * up
        places.append(_Side(float(rear_x - face), float(rear_z), pitch))
        told.append(f"{drive['time_s'][k]:.2f} s, pitch {np.degrees(pitch):.1f}°, belts {drive['belt_left_mps'][k]:.2f} m/s")
    return _side_view(shape, places, told, float(v["height_m"]), float(v["edge_radius_m"]))


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
