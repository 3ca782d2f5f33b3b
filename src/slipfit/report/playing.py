"""Figures that move: how long a picture stays, and the buttons and slider below it. The page's own script (`drive.js`) plays."""

from typing import Any

import numpy as np

from slipfit.report.board import BLUE, GRID, INK

#: Pictures of one drive: enough to see it move, few enough for a small page.
MOST_FRAMES = 150

#: A picture stays at least this long (what a browser needs to draw it) and at most that long (s).
_SHORTEST_S, _LONGEST_S = 0.04, 0.15

#: Room for buttons and slider below the axes, px.
CONTROLS_PX = 120


def frame_name(time_s: float) -> str:
    """Its time, as the page reads it back."""
    return f"{time_s:.9g}"


def spread_out(count: int) -> np.ndarray:
    """Which of so many records become pictures: evenly, the first and the last among them."""
    return np.asarray(np.unique(np.linspace(0, count - 1, min(MOST_FRAMES, count)).round().astype(int)))


def pace_s(times_s: np.ndarray) -> tuple[float, float]:
    """How long one picture stays, and the time that it stands for."""
    every = float(times_s[-1] - times_s[0]) / max(1, len(times_s) - 1)
    return float(np.clip(every, _SHORTEST_S, _LONGEST_S)), every


def pace_told(times_s: np.ndarray) -> str:
    """The pace in words."""
    stays_s, every_s = pace_s(times_s)
    return "at real speed" if abs(every_s / stays_s - 1.0) < 0.01 else f"at {every_s / stays_s:.2g} times the real speed"


def controls(times_s: np.ndarray) -> dict[str, Any]:
    """Buttons and a slider below the axes. The page's own script plays, with the first button's time of a picture (ms)."""
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    names = [frame_name(time) for time in times_s]
    steps = [{"label": f"{float(name):.2f} s", "method": "animate", "args": [[name], at_once]} for name in names]
    buttons = [
        {"label": "▶ play", "name": "play", "method": "skip", "args": [1e3 * pace_s(times_s)[0]]},
        {"label": "❚❚ pause", "name": "pause", "method": "skip"},
    ]
    place = {"x": 0.0, "xanchor": "left", "y": 0.0, "yanchor": "top", "bordercolor": GRID}
    menu = {**place, "pad": {"t": 50}, "type": "buttons", "direction": "left", "showactive": False, "buttons": buttons}
    menu |= {"font": {"color": INK}, "bgcolor": "var(--soft)"}
    slider = {**place, "pad": {"t": 96, "b": 8}, "len": 1.0, "steps": steps, "active": 0, "ticklen": 0, "minorticklen": 0}
    slider |= {"bgcolor": GRID, "activebgcolor": BLUE, "font": {"color": "rgba(0,0,0,0)", "size": 1}}  # no room for labels
    slider["currentvalue"] = {"prefix": "time ", "xanchor": "left", "font": {"color": INK, "size": 13}}
    return {"updatemenus": [menu], "sliders": [slider]}
