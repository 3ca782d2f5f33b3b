"""A rover's drive in space: the ground, the path over it coloured by slip, waypoints with the circles that count as reached.

Axes are the world's, z against gravity, and equal. What would touch the surface is drawn a little above it.
"""

from typing import Any

import numpy as np

from slipfit.library import Terrain
from slipfit.report.board import BLUE, GREEN, GRID, INK, ORANGE, packed
from slipfit.report.top_view import SLIP_COLOURS
from slipfit.simulation.quantities import plane_to_world
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.torque_model import TorqueModelRun
from slipfit.simulation.trajectory import Trajectory

#: Heights along each side of the surface: more than a screen shows, 0.2 MB of the page.
MOST_HEIGHTS = 200

#: Points of the path.
MOST_PLACES = 1500

#: Ground shown around the path, as a share of its longer side; at least this much (m).
_MARGIN, _LEAST_MARGIN_M = 0.35, 0.5

#: What is drawn on the ground stands above it by this share of the longer side: browsers mix up surfaces that touch. Dots, which
#: face the camera and would sink in, stand four times as high.
_ABOVE = 0.003

#: Colours reach to what 95 of 100 records stay below, and not beyond 1: a wheel that spins on the spot.
_SHARE_COLOURED, _LEAST_TOP, _LARGEST_TOP = 0.95, 0.05, 1.0

#: The ground is light on every page, and so are words on it dark.
_DARK = "#1d2329"

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 49)
_PLANE_PLACES, _LINES_OF_HEIGHT = 21, 12

#: The longer side of a level scene in the browser's lengths, which its camera counts in too; a tall one is drawn smaller, by this
#: share of its height. Heights get at least that share of the side.
_SIDE, _TALL, _LEAST_HEIGHT = 1.8, 0.6, 0.03
_HEIGHT_PX = 600


def worst_slip(trajectory: Trajectory) -> np.ndarray:
    """Largest |slip| of the wheels at each record, (T,)."""
    return np.asarray(np.abs(trajectory.slip).max(axis=1))


def slip_top(trajectory: Trajectory) -> float:
    """The slip of the brightest colour, which stands for all above it too."""
    slip = worst_slip(trajectory)
    reached = float(np.quantile(slip[np.isfinite(slip)], _SHARE_COLOURED)) if np.isfinite(slip).any() else 0.0
    return float(np.clip(np.ceil(20.0 * reached) / 20.0, _LEAST_TOP, _LARGEST_TOP))


def coloured_path(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time (n,), places in the world (n, 3) and slip (n,) of at most `MOST_PLACES` points; each shows the largest slip since the
    one before."""
    t, slip = trajectory, worst_slip(trajectory)
    world = t.world_xyz_m()
    seen = np.flatnonzero(np.isfinite(world).all(axis=1) & np.isfinite(slip))
    kept = np.unique(np.linspace(0, len(seen) - 1, min(MOST_PLACES, len(seen))).round().astype(int))
    since = np.maximum.reduceat(slip[seen], np.append(0, kept[:-1] + 1))
    return t.time_s[seen[kept]], world[seen[kept]], since


def scene(
    trajectory: Trajectory, scenario: Scenario, terrain: Terrain | None = None, beside: TorqueModelRun | None = None
) -> dict[str, Any]:
    """The figure as Plotly reads it; `beside` is the torque model's run of the same scenario."""
    ground = _Ground(trajectory, terrain)
    time_s, places, slip = coloured_path(trajectory)
    drawn = ground.above(places)
    data = [ground.surface(), _path(time_s, drawn, places[:, 2], slip, slip_top(trajectory))]
    if scenario.route:
        data += _waypoints(ground, trajectory.waypoints_m, scenario.route.acceptance_m)
    if beside is not None:
        x, y = believable(beside, trajectory)
        data.append(_line("torque model", ground.lifted(x, y), _DARK, 4.0, dash="dash"))
    clear_m = np.array([0.0, 0.0, 3.0 * ground.above_m])
    data += [_dot("start", drawn[0] + clear_m, GREEN), _dot("end", drawn[-1] + clear_m, ORANGE)]
    corners = np.concatenate([drawn, np.column_stack(ground.extremes())])
    return {"data": data, "layout": _layout(corners.min(axis=0), corners.max(axis=0))}


def believable(beside: TorqueModelRun, trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Places of the torque model until it arrived, broke down, or the other drive ended."""
    return beside.x_m[: believable_records(beside, trajectory)], beside.y_m[: believable_records(beside, trajectory)]


def believable_records(beside: TorqueModelRun, trajectory: Trajectory) -> int:
    """How many of its records count."""
    ends = [when for when in (beside.broke_down_at_s, beside.arrived_at_s, float(trajectory.time_s[-1])) if when is not None]
    return int(np.searchsorted(beside.time_s, min(ends), side="right"))


class _Ground:
    """The piece of ground around a drive: a tilted plane, or a terrain's heights."""

    def __init__(self, trajectory: Trajectory, terrain: Terrain | None) -> None:
        t = trajectory
        self.terrain = terrain
        self._turn = np.eye(3) if terrain else plane_to_world(t.slope_rad, t.uphill_rad)
        there = np.isfinite(t.x_m) & np.isfinite(t.y_m)
        shown = np.concatenate([np.column_stack([t.x_m, t.y_m])[there], np.reshape(t.waypoints_m, (-1, 2))])
        low, high = shown.min(axis=0), shown.max(axis=0)
        margin = max(_MARGIN * float((high - low).max()), _LEAST_MARGIN_M)
        self._low, self._high = low - margin, high + margin
        self.above_m = _ABOVE * float((self._high - self._low).max())

    def lifted(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Places of the ground's own x and y, just above it, in the world, (n, 3)."""
        z = self.terrain.height_at(x, y) if self.terrain else np.zeros_like(x)
        return np.asarray(np.column_stack([x, y, z + self.above_m]) @ self._turn.T)

    def above(self, places: np.ndarray) -> np.ndarray:
        """Places in the world, nowhere below the surface."""
        if self.terrain is None:
            normal = self._turn[:, 2]
            sunk_m = np.maximum(0.0, -places @ normal)  # in soil the robot's origin is below the untouched surface
            return np.asarray(places + (sunk_m + self.above_m)[:, None] * normal)
        heights = np.maximum(places[:, 2], self.terrain.height_at(places[:, 0], places[:, 1]))
        return np.column_stack([places[:, :2], heights + self.above_m])

    def extremes(self) -> list[np.ndarray]:
        """Smallest and largest x, y and z of the surface."""
        return [np.array([values.min(), values.max()]) for values in self.heights()]

    def surface(self) -> dict[str, Any]:
        x, y, z = self.heights()
        low, high = self.extremes()[2].tolist()
        z_lines: dict[str, Any] = {"show": high > low, "color": "rgba(60,50,40,0.5)", "width": 1, "highlight": False}
        if high > low:
            z_lines |= {"start": low, "end": high, "size": (high - low) / _LINES_OF_HEIGHT}
        look = {"colorscale": [[0.0, "#9c9284"], [1.0, "#e6e0d4"]], "showscale": False, "opacity": 1.0, "showlegend": False}
        sides = {"x": packed(x[0]), "y": packed(y[:, 0])} if self.terrain else {"x": _grid(x), "y": _grid(y)}
        light = {"ambient": 0.75, "diffuse": 0.6, "specular": 0.03, "roughness": 0.9}
        return {
            "type": "surface", "name": "ground", **look, **sides, "z": _grid(z), "lighting": light,
            "contours": {"z": z_lines, "x": {"highlight": False}, "y": {"highlight": False}},
            "hovertemplate": "x %{x:.2f} m, y %{y:.2f} m, height %{z:.3f} m<extra></extra>",
        }  # fmt: skip

    def heights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y and z of the surface, each (rows, columns): of a terrain every so-manieth of its own heights."""
        if self.terrain is None:
            sides = [np.linspace(low, high, _PLANE_PLACES) for low, high in zip(self._low, self._high, strict=True)]
            x, y = np.meshgrid(*sides)
            world = np.stack([x, y, np.zeros_like(x)], axis=-1) @ self._turn.T
            return world[..., 0], world[..., 1], world[..., 2]
        columns, rows = (self._places(axis) for axis in (0, 1))
        x0, y0 = self.terrain.origin_m
        x, y = np.meshgrid(x0 + self.terrain.spacing_m * columns, y0 + self.terrain.spacing_m * rows)
        return x, y, self.terrain.heights_m[np.ix_(rows, columns)]

    def _places(self, axis: int) -> np.ndarray:
        """Which columns (0) or rows (1) of the map are shown."""
        assert self.terrain is not None
        count, origin, d = self.terrain.heights_m.shape[1 - axis], self.terrain.origin_m[axis], self.terrain.spacing_m
        first = int(np.clip((self._low[axis] - origin) // d, 0, count - 2))
        last = int(np.clip(np.ceil((self._high[axis] - origin) / d), first + 1, count - 1))
        return np.unique(np.linspace(first, last, min(MOST_HEIGHTS, last - first + 1)).round().astype(int))


def _grid(values: np.ndarray) -> dict[str, str]:
    return packed(values) | {"shape": f"{values.shape[0]}, {values.shape[1]}"}


def _xyz(places: np.ndarray) -> dict[str, Any]:
    return {axis: packed(places[:, k]) for k, axis in enumerate("xyz")}


def _path(time_s: np.ndarray, places: np.ndarray, height_m: np.ndarray, slip: np.ndarray, top: float) -> dict[str, Any]:
    stops = [[k / (len(SLIP_COLOURS) - 1), stop] for k, stop in enumerate(SLIP_COLOURS)]
    bar = {"title": {"text": "largest slip of a wheel [-]", "side": "right"}, "thickness": 14, "outlinewidth": 0, "len": 0.8}
    colour = {"color": packed(slip), "colorscale": stops, "cmin": 0.0, "cmax": top, "showscale": True, "colorbar": bar}
    told = [f"{t:.2f} s, height {z:.3f} m, slip {s:.2f}" for t, z, s in zip(time_s, height_m, slip, strict=True)]
    look = {"type": "scatter3d", "mode": "lines", "name": "path", "showlegend": False, "line": {"width": 7, **colour}}
    return {**look, **_xyz(places), "text": told, "hovertemplate": "%{text}<extra></extra>"}


def _line(name: str, places: np.ndarray, colour: str, width: float, **more: Any) -> dict[str, Any]:
    look = {"type": "scatter3d", "mode": "lines", "name": name, "hoverinfo": "skip"}
    return {**look, **_xyz(places), "line": {"color": colour, "width": width, **more}}


def _dot(name: str, place: np.ndarray, colour: str) -> dict[str, Any]:
    look = {"type": "scatter3d", "mode": "markers", "name": name, "hoverinfo": "name"}
    return {**look, **_xyz(place[None, :]), "marker": {"size": 7, "color": colour, "line": {"width": 1, "color": INK}}}


def _waypoints(ground: _Ground, waypoints_m: tuple[tuple[float, float], ...], acceptance_m: float) -> list[dict[str, Any]]:
    """Circles that count as reached, and numbers in their middles."""
    middles = np.array(waypoints_m)
    around = middles[:, None, :] + acceptance_m * np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
    rings = [np.vstack([ground.lifted(*ring.T), np.full(3, np.nan)]) for ring in around]
    numbers = [str(k + 1) for k in range(len(middles))]
    look = {"type": "scatter3d", "mode": "markers+text", "name": "waypoints", "text": numbers, "textposition": "top center"}
    marks = {"marker": {"size": 3, "color": BLUE}, "textfont": {"color": _DARK, "size": 12}, "hoverinfo": "text"}
    return [_line("reached within", np.concatenate(rings), BLUE, 3.0), {**look, **marks, **_xyz(ground.lifted(*middles.T))}]


def _layout(low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    """Axes around the corners that are given: a metre is as long along each of them."""
    clear, longest = "rgba(0,0,0,0)", float((high - low).max())
    flat = max(0.0, _LEAST_HEIGHT * longest - float(high[2] - low[2]))
    low, high = low - np.array([0.0, 0.0, 0.5 * flat]), high + np.array([0.0, 0.0, 0.5 * flat])
    look = {"gridcolor": GRID, "zerolinecolor": GRID, "linecolor": GRID, "showbackground": False, "showspikes": False}
    titles = ("x [m]", "y [m]", "height [m]")
    axes = {
        f"{axis}axis": {
            **look,
            "title": {"text": titles[k]},
            "range": [float(low[k]), float(high[k])],
            "nticks": 5 if k == 2 else 10,
        }
        for k, axis in enumerate("xyz")
    }
    scale = _SIDE / (longest + _TALL * float(high[2] - low[2]))
    ratio = dict(zip("xyz", (scale * (high - low)).tolist(), strict=True))
    camera = {"eye": {"x": -1.05, "y": -1.5, "z": 0.95}, "center": {"x": 0.0, "y": 0.0, "z": -0.3}}
    return {
        "height": _HEIGHT_PX,
        "paper_bgcolor": clear,
        "font": {"color": INK, "size": 12},
        "margin": {"l": 0, "r": 0, "t": 34, "b": 0},
        "legend": {"orientation": "h", "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "top", "yref": "container"},
        "scene": {**axes, "aspectmode": "manual", "aspectratio": ratio, "camera": camera, "dragmode": "turntable"},
    }
