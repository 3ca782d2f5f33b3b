"""A drive seen from above, moving: body, wheels coloured by how fast they slip, the ground's forces on them, the path so far.

On the left the robot drives through the plane, on the right it is seen from near, in its own axes. A wheel slips with

    s = R omega e - (velocity of the body at the contact)

Symbols    R radius, omega speed of the wheel, e the direction in which it rolls
of which all counts where a tyre or the rigid part between two rollers touches, and the part along the roller's axis where a
roller does: across it the roller rolls.
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.library import OmniRobot, SkidSteerRobot, omni_robot
from slipfit.report.board import BLUE, GREY, INK, ORANGE, SHADE, Board, packed
from slipfit.report.playing import CONTROLS_PX, controls, frame_name, pace_s, spread_out
from slipfit.simulation.omni_slip import roller_slip, touches_rigid
from slipfit.simulation.trajectory import Trajectory

#: Points of the path, of which every picture holds those so far.
_PATH_POINTS = 200

#: Viridis: readable in grey and by the colour-blind, on white and on black.
SLIP_COLOURS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")

#: Slower than this (m/s) nothing slips, as far as colours go: rounding has no colour of its own.
_STILL_MPS = 1e-6

_ROW_PX = 430


class Drawn(NamedTuple):
    """A robot from above in its own axes: closed outlines in metres, first axis the wheel."""

    body: np.ndarray  # (k, 2)
    wheels: np.ndarray  # (n, 5, 2)
    at: np.ndarray  # (n, 2)
    reach_m: float  # from the origin to the farthest point of a wheel


class Scales(NamedTuple):
    """What colours and arrows stand for."""

    slip_top_mps: float  # brightest colour
    m_per_n: float  # length of arrows
    force_mark_n: float  # of the arrow that explains them


def slip_speed(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot) -> np.ndarray:
    """How fast each wheel slips over the ground (m/s), shape (T, n)."""
    t = trajectory
    if not robot.has_sides:
        slip = roller_slip(t, omni_robot(robot))
        across = np.where(rigid_wheels(t, robot), slip[:, :, 1], 0.0)
        return np.asarray(np.hypot(slip[:, :, 0], across))
    at = np.array(robot.wheels.at_m.value)
    along = t.wheel_speed_radps * robot.wheels.radius_m.value - (t.vx_mps[:, None] - t.yaw_rate_radps[:, None] * at[:, 1])
    across = -(t.vy_mps[:, None] + t.yaw_rate_radps[:, None] * at[:, 0])
    return np.asarray(np.hypot(along, across))


def rigid_wheels(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot) -> np.ndarray:
    """Whether each wheel stands on the rigid part between two rollers, shape (T, n); never without rollers."""
    return np.zeros(trajectory.load_n.shape, dtype=bool) if robot.has_sides else touches_rigid(trajectory, omni_robot(robot))


def drawn_robot(robot: SkidSteerRobot | OmniRobot) -> Drawn:
    """Outlines of body and wheels; an arrow from the body's origin points ahead."""
    at, radii, rolling = robot.at_m, robot.radii_m, robot.rolling_rad
    half = 0.5 * robot.drawn_width_m(radii)
    if not robot.has_sides:
        centred = at - at.mean(axis=0)
        corners = at[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]
    else:
        side, (rear, front) = at[:, 1].max() - half[0], (at[:, 0].min(), at[:, 0].max())
        overhang = 0.5 * radii[0]
        corners = np.array([(front, side), (rear, side), (rear, -side), (front, -side)])
        corners[:, 0] += overhang * np.sign(corners[:, 0])
    square = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1)])
    wheels = np.stack(
        [_turned(square * (r, h), angle) + place for r, h, angle, place in zip(radii, half, rolling, at, strict=True)]
    )
    ahead = _arrow(np.zeros(2), np.array([0.7 * corners[:, 0].max(), 0.0]))
    body = np.concatenate([corners, corners[:1], [(np.nan, np.nan)], ahead])
    return Drawn(body, wheels, at, float(np.hypot(wheels[..., 0], wheels[..., 1]).max()))


def frame_places(trajectory: Trajectory) -> np.ndarray:
    """Records that become pictures: evenly in time, the first and the last one among them, none that is not finite."""
    t = trajectory
    seen = np.flatnonzero(np.isfinite(np.column_stack([t.x_m, t.y_m, t.heading_rad])).all(axis=1))
    return np.asarray(seen[spread_out(len(seen))])


def top_view(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot) -> dict[str, Any]:
    """The figure with its frames, as Plotly reads it. A frame's name is its time in seconds."""
    t, shape = trajectory, drawn_robot(robot)
    slip, rigid, places = slip_speed(t, robot), rigid_wheels(t, robot), frame_places(t)
    scales = _scales(t, slip, places, shape)
    path = np.unique(np.linspace(places[0], places[-1], min(_PATH_POINTS, places[-1] - places[0] + 1)).round().astype(int))
    moving = [_moving(t, k, shape, slip[k], rigid[k], scales, path) for k in places]
    still = _still(t, robot, shape, scales, path)
    looks = _looks(shape)
    data = [*still, *(_merged(look, entries) for look, entries in zip(looks, moving[0], strict=True))]
    traces = list(range(len(still), len(data)))
    frames = [
        {"name": frame_name(t.time_s[k]), "data": entries, "traces": traces}
        for k, entries in zip(places, moving, strict=True)
    ]  # fmt: skip
    return {"data": data, "layout": _layout(t, shape, scales, places), "frames": frames}


def _merged(look: dict[str, Any], entries: dict[str, Any]) -> dict[str, Any]:
    """A trace with the entries of a frame, as the browser applies them: marker and line keep what a frame leaves out."""
    inner = {key: {**look[key], **entry} for key, entry in entries.items() if key in ("line", "marker")}
    return look | entries | inner


def playing_s(trajectory: Trajectory) -> tuple[float, float]:
    """How long one picture stays, and the time of the drive that it stands for."""
    return pace_s(trajectory.time_s[frame_places(trajectory)])


# --- what stands still, and what moves ---------------------------------------------------------------------------------


def _line(name: str, points: np.ndarray, axes: str, *, color: str, width: float = 1.0, **more: Any) -> dict[str, Any]:
    look = {"type": "scatter", "mode": "lines", "name": name, "xaxis": f"x{axes}", "yaxis": f"y{axes}", "hoverinfo": "skip"}
    return {**look, "showlegend": False, "line": {"color": color, "width": width}, **_xy(points)} | more


def _still(
    t: Trajectory, robot: SkidSteerRobot | OmniRobot, shape: Drawn, scales: Scales, path: np.ndarray
) -> list[dict[str, Any]]:
    whole = np.column_stack([t.x_m[path], t.y_m[path]])
    mark = _arrow(shape.reach_m * np.array([-1.95, -1.85]), np.array([scales.m_per_n * scales.force_mark_n, 0.0]))
    names: dict[str, Any] = {
        "mode": "text",
        "text": [name.replace(" ", "<br>", 1) for name in t.wheel_names],
        "textfont": {"size": 10.5, "color": "var(--quiet)"},
    }
    traces = [
        _line("whole path", whole, "", color=SHADE, width=1.5, showlegend=True),
        _line("body", shape.body, "2", color=GREY, fill="toself", fillcolor="rgba(138,147,155,0.22)"),
        _line("names", shape.at + _outward(shape), "2", color=INK, **names),
        _line("force mark", mark, "2", color=INK, width=2.0),
    ]
    if robot.rigid_share > 0.0:
        on_rigid = "wheel on a rigid part"
        traces.append(_line(on_rigid, np.full((1, 2), np.nan), "2", color=ORANGE, width=4.0, showlegend=True))
    return traces


def _outward(shape: Drawn) -> np.ndarray:
    """From each wheel's centre to where its name stands, (n, 2)."""
    away = shape.at / np.maximum(np.hypot(*shape.at.T), 1e-9)[:, None]
    size = 0.5 * np.ptp(shape.wheels, axis=1)
    return np.asarray(away * (np.hypot(*size.T) + 0.16 * shape.reach_m)[:, None])


def _looks(shape: Drawn) -> list[dict[str, Any]]:
    """Traces that change, without what changes, in the order of `_moving`."""
    nothing = np.empty((0, 2))
    far = [_line("wheel", nothing, "", color=INK, fill="toself") for _ in shape.wheels]
    near = [_line("wheel", wheel, "2", color=INK, fill="toself") for wheel in shape.wheels]
    marker = {"size": 22, "opacity": 0.0, "coloraxis": "coloraxis"}  # nothing to see: they tell numbers and have the colour bar
    return [
        _line("path so far", nothing, "", color=BLUE, width=2.5, showlegend=True),
        _line("body", nothing, "", color=GREY, fill="toself", fillcolor="rgba(138,147,155,0.22)"),
        *far,
        _line("force", nothing, "", color=INK, width=1.5),
        *near,
        _line("force on the wheel", nothing, "2", color=INK, width=2.0, showlegend=True),
        _line("slip", shape.at, "2", color=INK, mode="markers", hoverinfo="text", marker=marker),
    ]


def _moving(
    t: Trajectory, k: int, shape: Drawn, slip: np.ndarray, rigid: np.ndarray, scales: Scales, path: np.ndarray
) -> list[dict[str, Any]]:
    """What one picture changes: place and colour of everything that moves."""
    here, heading = np.array([t.x_m[k], t.y_m[k]]), float(t.heading_rad[k])
    so_far = np.append(path[path < k], k)
    paint = [
        {"fillcolor": _colour(s / scales.slip_top_mps), "line": {"color": ORANGE if r else INK, "width": 4.0 if r else 1.0}}
        for s, r in zip(slip, rigid, strict=True)
    ]
    forces = np.column_stack([t.force_x_n[k], t.force_y_n[k]])
    arrows = np.concatenate([_arrow(at, scales.m_per_n * f) for at, f in zip(shape.at, forces, strict=True)])
    numbers = zip(t.wheel_names, slip, t.load_n[k], np.hypot(*forces.T), rigid, strict=True)
    told = [
        f"{name}: slip {1e3 * s:.3g} mm/s, load {load:.4g} N, force {f:.3g} N{', on a rigid part' if r else ''}"
        for name, s, load, f, r in numbers
    ]
    return [
        {"x": packed(t.x_m[so_far]), "y": packed(t.y_m[so_far])},
        _xy(_turned(shape.body, heading) + here),
        *(_xy(_turned(wheel, heading) + here) | look for wheel, look in zip(shape.wheels, paint, strict=True)),
        _xy(_turned(arrows, heading) + here),
        *paint,
        _xy(arrows),
        {"text": told, "marker": {"color": (1e3 * slip).round(3).tolist()}},
    ]


def _layout(t: Trajectory, shape: Drawn, scales: Scales, places: np.ndarray) -> dict[str, Any]:
    board = Board(1, 2, row_px=_ROW_PX, gap=0.1)
    margin = 1.6 * shape.reach_m
    ranges = [[float(np.min(way[places]) - margin), float(np.max(way[places]) + margin)] for way in (t.x_m, t.y_m)]
    equal = {"scaleanchor": "x", "range": ranges[1]}
    board.axes(0, 0, title="in the plane", x="x [m]", y="y [m]", xaxis={"range": ranges[0]}, yaxis=equal)
    near = [-2.1 * shape.reach_m, 2.1 * shape.reach_m]
    nearby = {"scaleanchor": "x2", "range": near}
    board.axes(0, 1, title="near, in its own axes", x="ahead [m]", y="to the left [m]", xaxis={"range": near}, yaxis=nearby)
    figure = board.figure(hovermode="closest", margin={"l": 66, "r": 90, "t": 70, "b": 46 + CONTROLS_PX})
    layout: dict[str, Any] = figure["layout"]
    layout["height"] += CONTROLS_PX + 18
    x, y = shape.reach_m * np.array([-1.95, -1.72])
    note = {"xref": "x2", "yref": "y2", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    layout["annotations"].append({"x": x, "y": y, "text": f"{scales.force_mark_n:g} N", **note})
    return layout | controls(t.time_s[places]) | {"coloraxis": _colour_bar(scales)}


# --- scales and shapes -------------------------------------------------------------------------------------------------


def _scales(t: Trajectory, slip: np.ndarray, places: np.ndarray, shape: Drawn) -> Scales:
    """Colours reach to what 99 of 100 records stay below: one moment of a change-over leaves the others their colours."""
    speeds, forces = slip[places], np.hypot(t.force_x_n, t.force_y_n)[places]
    fast = float(np.percentile(np.append(speeds[np.isfinite(speeds)], 0.0), 99.0))
    strong = float(np.max(forces, initial=0.0, where=np.isfinite(forces))) or 1.0
    return Scales(_round_up(max(fast, _STILL_MPS)), shape.reach_m / strong, _round_up(0.3 * strong))


def _round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7.5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next(step for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0) if step * power >= value * (1.0 - 1e-9)))


def _colour(share: float) -> str:
    """Between the stops as the browser does it: straight, in red, green and blue."""
    if not np.isfinite(share):
        return "rgba(0,0,0,0)"
    stops = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in SLIP_COLOURS])
    mixed = [np.interp(share, np.linspace(0.0, 1.0, len(stops)), stops[:, k]) for k in range(3)]
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def _colour_bar(scales: Scales) -> dict[str, Any]:
    bar = {"title": {"text": "slip [mm/s]", "side": "right"}, "thickness": 14, "outlinewidth": 0, "x": 1.02, "len": 1.0}
    stops = [[k / (len(SLIP_COLOURS) - 1), stop] for k, stop in enumerate(SLIP_COLOURS)]
    return {"colorscale": stops, "cmin": 0.0, "cmax": 1e3 * scales.slip_top_mps, "showscale": True, "colorbar": bar}


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def _arrow(tail: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Shaft and head of an arrow as one line that ends in a gap, (6, 2)."""
    tip = tail + along
    head = np.stack([tip - 0.25 * _turned(along, angle) for angle in (0.45, -0.45)])
    return np.stack([tail, tip, head[0], tip, head[1], np.full(2, np.nan)])


def _xy(points: np.ndarray) -> dict[str, list[float]]:
    """To a hundredth of a millimetre."""
    rounded = np.round(points, 5) + 0.0
    return {"x": rounded[:, 0].tolist(), "y": rounded[:, 1].tolist()}
