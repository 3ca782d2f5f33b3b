"""A climb seen from the side, moving: tracks with their links, flippers, the ground with its soil, and the rut that is left.

The picture's plane is upright and holds the direction in which obstacles follow each other, so that an edge is an edge also for a
robot that meets it aslant; both tracks are then seen. On a terrain it holds the line along which the robot starts. A point b of
the body, from the centre of mass, is drawn at

    xi = (p + R b - o) . (cos yaw, sin yaw, 0),     z = (p + R b) . (0, 0, 1)

Symbols    p centre of mass, R attitude from the recorded quaternion; o, yaw origin and direction of the plane (`climb_profile`)
The rut at a place is as deep below the ground there as the lowest point of a belt that was ever there: soil springs back by less
than a line's width. On a terrain both tracks have ground of their own below them; the picture draws each rut below its line.
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.library import TrackedRobot
from slipfit.report.board import BLUE, GREY, INK, ORANGE, SHADE, Board
from slipfit.report.climb_profile import Profile, climb_profile, hard_ground, soil_body
from slipfit.report.playing import CONTROLS_PX, controls, frame_name, spread_out
from slipfit.simulation.climb import climb_numbers
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.track_shape import Outline

_ROW_PX = 400

#: Points of a drawn half circle; spacing of places that a rut is told at, m.
_ARC, _RUT_M = 24, 0.01

#: Every so manieth of the moments that are drawn says what is shown.
_WINDOW_EVERY = 10

#: Soil and tracks, in any light.
_SAND, _RUBBER, _FAR_RUBBER = "rgba(214,170,92,0.45)", "rgba(0,114,178,0.28)", "rgba(138,147,155,0.22)"


class SideShape(NamedTuple):
    """A robot from the side in its own axes, from the centre of mass: closed outlines (k, 2) of x ahead and z up."""

    track: np.ndarray
    flipper: np.ndarray  # empty without flippers
    belly: np.ndarray  # likewise
    outline: Outline
    cleat_m: float


def side_shape(robot: TrackedRobot, flipper_angle_rad: float | None = None) -> SideShape:
    """Outlines of track, flipper and belly."""
    o = robot.outline()
    rear, front, up = -o.mass_ahead_m, o.axle_distance_m - o.mass_ahead_m, o.radius_m - o.mass_above_m
    half = np.linspace(0.0, np.pi, _ARC)
    track = np.concatenate(
        [
            np.column_stack([rear - o.radius_m * np.sin(half), up - o.radius_m * np.cos(half)]),
            np.column_stack([front + o.radius_m * np.sin(half), up + o.radius_m * np.cos(half)]),
        ]
    )
    flipper = belly = np.empty((0, 2))
    if robot.flippers:
        angle = o.flipper_angle_rad if flipper_angle_rad is None else flipper_angle_rad
        flipper = _two_circles(o.radius_m, o.flipper_tip_radius_m, o.flipper_length_m, angle) + np.array([front, up])
    if robot.belly:
        low = o.belly_clearance_m - o.mass_above_m
        high = 1.6 * o.radius_m - o.mass_above_m  # the hull's top is not told; drawn a little below the belts'
        belly = np.array([(rear, low), (front, low), (front, high), (rear, high)])
    cleat = robot.tracks.cleat_height_m
    return SideShape(_closed(track), _closed(flipper), _closed(belly), o, cleat.value if cleat else 0.0)


def _two_circles(near_m: float, far_m: float, apart_m: float, angle_rad: float) -> np.ndarray:
    """The belt around two circles, the far one this far away at an angle."""
    touch = float(np.arccos(np.clip((near_m - far_m) / apart_m, -1.0, 1.0)))
    far, near = np.linspace(-touch, touch, _ARC) + angle_rad, np.linspace(touch, 2.0 * np.pi - touch, _ARC) + angle_rad
    at_far = far_m * np.column_stack([np.cos(far), np.sin(far)]) + apart_m * np.array([np.cos(angle_rad), np.sin(angle_rad)])
    return np.concatenate([at_far, near_m * np.column_stack([np.cos(near), np.sin(near)])])


def _closed(points: np.ndarray) -> np.ndarray:
    return np.concatenate([points, points[:1]])


def link_places(shape: SideShape, segments: int, travelled_m: float, off_m: float = 0.0) -> np.ndarray:
    """Where the ends of a belt's links are after it has run so far, (segments, 2), this far outside the belt: they go along the
    underside to the rear, and over the top to the front."""
    o = shape.outline
    arc, length = np.pi * o.radius_m, o.axle_distance_m
    loop = 2.0 * (length + arc)
    s = np.remainder(np.arange(segments) / segments * loop + travelled_m, loop)
    rear, front, up = -o.mass_ahead_m, length - o.mass_ahead_m, o.radius_m - o.mass_above_m
    back, ahead = (s - length) / o.radius_m, (s - 2.0 * length - arc) / o.radius_m
    is_under, is_back, is_over = s < length, s < length + arc, s < 2.0 * length + arc
    reach, where = o.radius_m + off_m, [is_under, is_back, is_over]
    x = np.select(where, [front - s, rear - reach * np.sin(back), rear + s - length - arc], front + reach * np.sin(ahead))
    z = np.select(where, [up - reach + 0.0 * s, up - reach * np.cos(back), up + reach + 0.0 * s], up + reach * np.cos(ahead))
    return np.column_stack([x, z])


class Stage(NamedTuple):
    """How points of the body are seen at every record."""

    profile: Profile
    centre_m: np.ndarray  # (T, 3), of mass
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]  # of the attitude, (T, 3) each

    @property
    def xi_m(self) -> np.ndarray:
        """The centre of mass along the plane, (T,)."""
        return np.asarray(self.profile.along(self.centre_m[:, 0], self.centre_m[:, 1]))

    @property
    def z_m(self) -> np.ndarray:
        return self.centre_m[:, 2]

    def there(self, k: int, points: np.ndarray, y_m: float) -> np.ndarray:
        """Points (n, 2) of x and z in the body, this far to the left, in the ground's frame (n, 3) at record k."""
        body = np.column_stack([points[:, 0], np.full(len(points), y_m), points[:, 1]])
        return np.asarray(self.centre_m[k] + np.column_stack([body @ row[k] for row in self.rows]))

    def seen(self, k: int, points: np.ndarray, y_m: float) -> np.ndarray:
        """The same points in the picture, (n, 2)."""
        x, y, z = self.there(k, points, y_m).T
        return np.column_stack([self.profile.along(x, y), z])


def stage(climb: Trajectory, profile: Profile) -> Stage:
    """The picture's plane over a climb."""
    return Stage(profile, np.column_stack([climb[name] for name in ("x_m", "y_m", "z_m")]), attitude_rows(climb))


def attitude_rows(climb: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the matrices that turn the body's axes into the ground's, (T, 3) each."""
    w, x, y, z = (climb[name] for name in ("qw", "qx", "qy", "qz"))
    row_x = np.column_stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)])
    row_y = np.column_stack([2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)])
    row_z = np.column_stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
    return row_x, row_y, row_z


def travelled_m(climb: Trajectory, side: str) -> np.ndarray:
    """How far a belt has run, (T,)."""
    t, speed = climb["time_s"], climb[f"belt_{side}_mps"]
    return np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))])


def ruts(climb: Trajectory, shape: SideShape, seen_from: Stage, until_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Places before the soil's end, and how high the soil stands there at each record above where it stood before, (T, places):
    0 where no belt was."""
    profile, reach = seen_from.profile, shape.outline.axle_distance_m + 2.0 * shape.outline.radius_m
    low, high = seen_from.xi_m.min() - reach, min(until_m, seen_from.xi_m.max() + reach)
    places = np.arange(low, max(high, low + _RUT_M), _RUT_M)
    height = np.zeros((len(climb["time_s"]), len(places)))
    deepest = np.zeros(len(places))
    underside, half = _underside(shape), 0.5 * shape.outline.tread_m
    for k in range(len(height)):
        for y_m in (half, -half):
            x, y, z = seen_from.there(k, underside, y_m).T
            xi, below = profile.along(x, y), z - profile.height(x, y)
            order = np.argsort(xi, kind="stable")
            deepest = np.minimum(deepest, np.interp(places, xi[order], below[order], left=0.0, right=0.0))
        height[k] = deepest
    return places, height


def _underside(shape: SideShape) -> np.ndarray:
    """Points (n, 2) of a track around the rear, along the straight run as densely as ruts are told, and around the front."""
    rear, front = shape.track[np.r_[_ARC // 2 : 0 : -1, 0]], shape.track[-2 : -_ARC // 2 : -1]
    between = np.linspace(rear[-1], front[0], int(shape.outline.axle_distance_m / _RUT_M) + 2)[1:-1]
    return np.concatenate([rear, between, front])


def side_view(climb: Trajectory, robot: TrackedRobot, scenario: Scenario) -> dict[str, Any]:
    """The figure with its frames, as Plotly reads it. A frame's name is its time in seconds."""
    v = climb_numbers(robot, scenario)
    profile, shape = climb_profile(scenario, v), side_shape(robot, scenario.start.flipper_angle_rad)
    seen_from = stage(climb, profile)
    window = _window(climb, seen_from, shape, v)
    hard, soil_until = hard_ground(scenario, v, profile, window[0][0] - 1.0, window[0][1] + 1.0)
    has_soil = scenario.ground.soil is not None
    places, rut = ruts(climb, shape, seen_from, soil_until) if has_soil else (np.empty(0), np.empty((len(climb["time_s"]), 0)))
    kept = spread_out(len(climb["time_s"]))
    links, told = round(robot.tracks.segments.value), _told(climb, has_soil=has_soil)
    ways = travelled_m(climb, "right")
    corner = np.array([[window[0][0], window[1][1]]])
    moving = [
        [*_moving(shape, seen_from, k, places, rut[k], links, ways[k]), _xy(corner) | {"text": [told[k]]}] for k in kept.tolist()
    ]
    still = [_line("hard ground", hard, color=GREY, width=1.5, fill="toself", fillcolor=SHADE)]
    if has_soil:
        sand = soil_body(scenario, profile, window[0][0] - 1.0, min(soil_until, window[0][1] + 1.0))
        still.append(_line("soil", sand, color=_SAND, width=1.0, fill="toself", fillcolor=_SAND))
    way = np.column_stack([seen_from.xi_m, seen_from.z_m])
    still.append(_line("path of the centre of mass", way, color=SHADE, width=1.5))
    data = [*still, *(look | entry for look, entry in zip(_looks(), moving[0], strict=True))]
    traces = list(range(len(still), len(data)))
    times = climb["time_s"][kept]
    frames = [{"name": frame_name(t), "data": entry, "traces": traces} for t, entry in zip(times, moving, strict=True)]
    return {"data": data, "layout": _layout(window, times, profile.axis_title), "frames": frames}


def _window(climb: Trajectory, seen_from: Stage, shape: SideShape, v: dict[str, Any]) -> tuple[list[float], list[float]]:
    """What is shown: wherever the robot was, and the obstacle."""
    everything = np.concatenate([shape.track, shape.flipper]) if len(shape.flipper) else shape.track
    moments = [
        *spread_out(len(climb["time_s"])).tolist()[::_WINDOW_EVERY],
        len(climb["time_s"]) - 1,
        int(np.argmax(climb.pitch_up_rad)),
    ]
    points = np.concatenate([seen_from.seen(k, everything, 0.0) for k in moments])
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    edge = shape.outline.radius_m
    left, right = float(left - edge), float(right + 2.0 * edge)
    ground = seen_from.profile.line(seen_from.profile.places(left, right))
    top = max(high, ground.max() + v["height_m"])
    return [left, right], [float(min(low, ground.min()) - edge), float(top + 1.5 * edge)]


def _looks() -> list[dict[str, Any]]:
    """Traces that move, without what changes, in the order of `_moving`."""
    nothing = np.empty((0, 2))
    return [
        _line("rut", nothing, color=ORANGE, width=2.0),
        _line("flippers", nothing, color=GREY, width=1.0, fill="toself", fillcolor=_FAR_RUBBER),
        _line("left track", nothing, color=GREY, width=1.0, fill="toself", fillcolor=_FAR_RUBBER),
        _line("hull", nothing, color=GREY, width=1.0, fill="toself", fillcolor=_FAR_RUBBER),
        _line("right track", nothing, color=BLUE, width=2.0, fill="toself", fillcolor=_RUBBER),
        _line("links of the right track", nothing, color=INK, width=2.0),
        _line("centre of mass", nothing, color=ORANGE, mode="markers", marker={"size": 9, "color": ORANGE, "symbol": "cross"}),
        _line("numbers", nothing, color=INK, mode="text", textposition="bottom right", textfont={"size": 13, "color": INK}),
    ]


def _told(climb: Trajectory, *, has_soil: bool) -> list[str]:
    """Numbers of each record in a line."""
    pitch, slip = np.round(np.degrees(climb.pitch_up_rad), 1) + 0.0, np.round(climb.slip, 2) + 0.0  # no "-0.0"
    sunk = 1e3 * np.maximum(climb["sinkage_left_m"], climb["sinkage_right_m"])
    rows = [f"{t:.2f} s   nose up {p:.1f}°   slip {s:.2f}" for t, p, s in zip(climb["time_s"], pitch, slip, strict=True)]
    return [f"{row}   sinkage {z:.0f} mm" for row, z in zip(rows, sunk, strict=True)] if has_soil else rows


def _moving(
    shape: SideShape, seen_from: Stage, k: int, places: np.ndarray, rut: np.ndarray, links: int, way_m: float
) -> list[dict[str, Any]]:
    """What one picture changes, but for its numbers."""
    half, outer, gap = 0.5 * shape.outline.tread_m, 0.5 * shape.outline.flipper_tread_m, np.full((1, 2), np.nan)
    strokes = [link_places(shape, links, way_m, off) for off in (-0.15 * shape.outline.radius_m, shape.cleat_m)]
    broken = np.stack([*(seen_from.seen(k, ends, -half) for ends in strokes), np.full((links, 2), np.nan)], axis=1)
    flippers = [seen_from.seen(k, shape.flipper, y) for y in (outer, -outer)] if len(shape.flipper) else [gap, gap]
    return [
        _xy(np.column_stack([places, np.where(rut < 0.0, seen_from.profile.line(places) + rut, np.nan)])),
        _xy(np.concatenate([flippers[0], gap, flippers[1]])),
        _xy(seen_from.seen(k, shape.track, half)),
        _xy(seen_from.seen(k, shape.belly, 0.0)),
        _xy(seen_from.seen(k, shape.track, -half)),
        _xy(broken.reshape(-1, 2)),
        _xy(np.array([[seen_from.xi_m[k], seen_from.z_m[k]]])),
    ]


def _layout(window: tuple[list[float], list[float]], times_s: np.ndarray, axis_title: str) -> dict[str, Any]:
    board = Board(1, row_px=_ROW_PX)
    equal = {"scaleanchor": "x", "range": window[1]}
    board.axes(0, x=axis_title, y="height [m]", xaxis={"range": window[0]}, yaxis=equal)
    figure = board.figure(hovermode="closest", margin={"l": 66, "r": 14, "t": 20, "b": 46 + CONTROLS_PX}, showlegend=False)
    layout: dict[str, Any] = figure["layout"]
    layout["height"] += CONTROLS_PX - 32
    return layout | controls(times_s) | {"meta": {"opens": "playing"}}


def _line(name: str, points: np.ndarray, *, color: str, width: float = 1.0, **more: Any) -> dict[str, Any]:
    look = {"type": "scatter", "mode": "lines", "name": name, "hoverinfo": "name", "showlegend": False}
    return {**look, "line": {"color": color, "width": width}, **_xy(points)} | more


def _xy(points: np.ndarray) -> dict[str, list[float]]:
    """To a tenth of a millimetre."""
    rounded = np.round(points, 4) + 0.0
    return {"x": rounded[:, 0].tolist(), "y": rounded[:, 1].tolist()}
