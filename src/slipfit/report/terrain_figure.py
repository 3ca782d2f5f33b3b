"""A terrain from above: height, slope and roughness side by side, lit from the north-west."""

from typing import Any

import numpy as np
from matplotlib.colors import LightSource
from matplotlib.figure import Figure

from slipfit.library import Terrain

#: Larger maps are drawn from every n-th height: no screen shows more.
MOST_DRAWN = 800

#: About this many lines of equal height.
CONTOURS = 10


def draw_terrain(terrain: Terrain, window_m: float | None = None) -> Figure:
    """Maps of height (with contours), slope and roughness over the same ground."""
    x_from, x_to, y_from, y_to = terrain.extent_m
    tall = min(max(4.0 * (y_to - y_from) / (x_to - x_from) + 1.0, 2.8), 10.0)
    figure = Figure(figsize=(14, tall), layout="constrained")
    figure.suptitle(f"{terrain.name}: {terrain.about}" if terrain.about else terrain.name, fontsize=11, fontweight="bold")
    height, slope, rough = figure.subplots(1, 3, sharex=True, sharey=True)
    every = max(1, int(np.ceil(max(terrain.heights_m.shape) / MOST_DRAWN)))
    rows, columns = terrain.heights_m.shape
    x, y = x_from + terrain.spacing_m * np.arange(0, columns, every), y_from + terrain.spacing_m * np.arange(0, rows, every)
    heights = terrain.heights_m[::every, ::every]
    _draw_map(height, x, y, heights, "cividis", "height [m]")
    _draw_relief(height, x, y, heights)
    _draw_map(slope, x, y, np.degrees(terrain.slope_map_rad())[::every, ::every], "inferno", "slope [°]")
    title = f"roughness [mm rms about planes of {terrain.window_m(window_m):g} m]"
    _draw_map(rough, x, y, 1e3 * terrain.roughness_map_m(window_m)[::every, ::every], "viridis", title)
    height.set(xlim=(x_from, x_to), ylim=(y_from, y_to))
    height.set_ylabel("y, north [m]")
    return figure


def _extent(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """Edges of the picture: heights stand in the middle of its pixels."""
    half = 0.5 * (x[1] - x[0])
    return x[0] - half, x[-1] + half, y[0] - half, y[-1] + half


def _draw_relief(axes: Any, x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> None:
    spacing = x[1] - x[0]
    light = LightSource(azdeg=315, altdeg=40).hillshade(heights, dx=spacing, dy=-spacing)
    axes.imshow(light, cmap="gray", alpha=0.35, extent=_extent(x, y), origin="lower", vmin=0.0, vmax=1.0)
    if np.ptp(heights) > 0.0:
        axes.contour(x, y, heights, CONTOURS, colors="black", linewidths=0.5, alpha=0.6)


def _draw_map(axes: Any, x: np.ndarray, y: np.ndarray, values: np.ndarray, colours: str, title: str) -> None:
    image = axes.imshow(values, cmap=colours, extent=_extent(x, y), origin="lower", interpolation="nearest")
    axes.figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.set_xlabel("x, east [m]")
    axes.set_aspect("equal")
