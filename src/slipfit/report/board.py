"""A grid of axes that a browser draws: plain mappings as Plotly reads them, placed by pixels.

Plotly's own Python classes check every entry on every change, a second for each page; here a test hands them the result once.
Colours are the names of CSS variables, which the page resolves.
"""

from base64 import b64encode
from typing import Any, Literal

import numpy as np

#: One meaning each; `templates/page.css` knows the colours.
BLUE, ORANGE, GREEN, GREY, SHADE, INK, GRID = (f"var(--{n})" for n in ("blue", "orange", "green", "grey", "shade", "ink", "grid"))

#: For what has more than three kinds.
PURPLE, YELLOW = "var(--purple)", "var(--yellow)"

_MARGIN_PX = {"l": 66, "r": 14, "t": 52, "b": 46}


def packed(values: np.ndarray) -> dict[str, str]:
    """An array as the page holds it: single precision, base64."""
    return {"dtype": "f4", "bdata": b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")}


class Board:
    """Axes in rows and columns, from the top left, counted from 0. Cells that nothing is put into stay empty."""

    def __init__(
        self,
        rows: int,
        cols: int = 1,
        *,
        row_px: int,
        gap_px: int = 34,
        share: Literal["time", "columns", ""] = "",
        gap: float = 0.09,
    ) -> None:
        self._rows, self._cols, self._share = rows, cols, share
        self._row_px, self._gap_px, self._gap = row_px, gap_px, gap
        self._cells: dict[tuple[int, int], str] = {}
        self._axes: dict[str, dict[str, Any]] = {}
        self._data: list[dict[str, Any]] = []
        self._shapes: list[dict[str, Any]] = []
        self._notes: list[dict[str, Any]] = []

    @property
    def _plot_px(self) -> int:
        return self._rows * self._row_px + (self._rows - 1) * self._gap_px

    def axes(self, row: int, col: int = 0, *, title: str = "", x: str = "", y: str = "", **more: Any) -> None:
        """Make a cell's axes: a title above it, titles along both axes; entries of `xaxis` and `yaxis` may be added."""
        key = self._cells.setdefault((row, col), str(len(self._cells) + 1) if self._cells else "")
        width = (1.0 - self._gap * (self._cols - 1)) / self._cols
        left = col * (width + self._gap)
        top = 1.0 - row * (self._row_px + self._gap_px) / self._plot_px
        look = {"gridcolor": GRID, "zerolinecolor": GRID, "linecolor": GRID, "showline": True, "ticks": ""}
        across = {**look, "domain": [left, left + width], "anchor": f"y{key}"}
        if x:
            across["title"] = {"text": x, "standoff": 6}
        upper = next((k for (r, c), k in self._cells.items() if k != key and (c == col or self._share == "time")), None)
        if self._share and upper is not None:
            across["matches"] = f"x{upper}"
        if self._share and row < self._rows - 1:
            across["showticklabels"] = False
        upright = {**look, "domain": [max(0.0, top - self._row_px / self._plot_px), min(1.0, top)], "anchor": f"x{key}"}
        if y:
            upright["title"] = {"text": y, "standoff": 6}
        self._axes[f"xaxis{key}"] = across | more.get("xaxis", {})
        self._axes[f"yaxis{key}"] = upright | more.get("yaxis", {})
        if title:
            place = {"xref": f"x{key} domain", "yref": f"y{key} domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
            self._notes.append({"text": title, **place, "showarrow": False, "font": {"size": 12.5}, "yshift": 2})

    def _mark(self, row: int, col: int, name: str, legend: bool, entries: dict[str, Any]) -> None:
        key = self._cells[row, col]
        self._data.append(
            {"name": name, "xaxis": f"x{key}", "yaxis": f"y{key}", "legendgroup": name, "showlegend": legend, **entries}
        )

    def line(
        self, row: int, col: int, name: str, x: np.ndarray, y: np.ndarray, *, color: str, width: float = 1.4, legend: bool = False
    ) -> None:
        """A line; NaN breaks it."""
        entries = {"type": "scatter", "mode": "lines", "x": packed(x), "y": packed(y), "line": {"color": color, "width": width}}
        self._mark(row, col, name, legend, entries | {"hovertemplate": "%{y:.4g}"})

    def dots(self, row: int, col: int, name: str, x: Any, y: Any, *, color: str, size: float, **more: Any) -> None:
        """Dots; `more` adds error bars or text. A list of words makes that axis one of categories."""
        x, y = (packed(v) if isinstance(v, np.ndarray) else v for v in (x, y))
        marker = {"color": color, "size": size, "opacity": more.pop("opacity", 1.0)}
        self._mark(row, col, name, False, {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, **more})

    def bars(
        self,
        row: int,
        col: int,
        name: str,
        x: np.ndarray,
        y: np.ndarray,
        *,
        color: str,
        opacity: float = 1.0,
        legend: bool = False,
    ) -> None:
        """Bars that touch each other when x is evenly spaced."""
        width = 0.92 * float(x[1] - x[0]) if len(x) > 1 else 1.0
        entries = {"type": "bar", "x": packed(x), "y": packed(y), "width": width, "marker": {"color": color, "opacity": opacity}}
        self._mark(row, col, name, legend, entries | {"hovertemplate": "%{y:.3g}"})

    def band(
        self, row: int, col: int, *, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None, **look: Any
    ) -> None:
        """A shaded stretch: over all heights between two x, or over the whole width between two y."""
        key = self._cells[row, col]
        (x0, x1), (y0, y1) = x or (0, 1), y or (0, 1)
        place = {"xref": f"x{key}" if x else f"x{key} domain", "yref": f"y{key}" if y else f"y{key} domain"}
        look = {"fillcolor": SHADE, "opacity": 0.35, **look}
        self._shapes.append(
            {"type": "rect", **place, "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"width": 0}, "layer": "below", **look}
        )

    def rule(
        self,
        row: int,
        col: int,
        *,
        x: float | None = None,
        y: float | None = None,
        color: str = INK,
        width: float = 1.0,
        dash: str = "dash",
    ) -> None:
        """A straight line across the cell, at an x or at a y."""
        key = self._cells[row, col]
        ends = {"x0": x, "x1": x, "y0": 0, "y1": 1} if x is not None else {"x0": 0, "x1": 1, "y0": y, "y1": y}
        place = {
            "xref": f"x{key}" if x is not None else f"x{key} domain",
            "yref": f"y{key} domain" if x is not None else f"y{key}",
        }
        self._shapes.append({"type": "line", **place, **ends, "line": {"color": color, "width": width, "dash": dash}})

    def figure(self, **layout: Any) -> dict[str, Any]:
        """What Plotly draws."""
        clear = "rgba(0,0,0,0)"
        legend = {"orientation": "h", "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "top", "yref": "container"}
        frame = {
            "height": self._plot_px + _MARGIN_PX["t"] + _MARGIN_PX["b"],
            "paper_bgcolor": clear,
            "plot_bgcolor": clear,
            "font": {"color": INK, "size": 12},
            "margin": _MARGIN_PX,
            "legend": legend,
            "hovermode": "x",
            "shapes": self._shapes,
            "annotations": self._notes,
        }
        return {"data": self._data, "layout": {**frame, **self._axes, **layout}}
