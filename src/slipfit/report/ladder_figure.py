"""The ladder of models: errors of each on what it has not seen, simplest at the top."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from slipfit.calibration.ladder import Ladder, Scored
from slipfit.report.figures import BLUE, ORANGE, _tidy

GREY = "0.55"


def draw_ladder(ladder: Ladder) -> Figure:
    """Medians as dots, the middle half of the windows as bars; the chosen model in blue, the best in orange."""
    figure = Figure(figsize=(10, 0.9 + 0.42 * len(ladder.rungs)), layout="constrained")
    figure.suptitle(f"{ladder.robot.name}, {ladder.drive.name}: {len(ladder.block)} windows", fontsize=11, fontweight="bold")
    kinds = [("place_m", "error of place [m]"), ("heading_rad", "error of heading [rad]")]
    seen = [kind for kind in kinds if np.isfinite(getattr(ladder.rungs[0], kind[0])).any()]
    for axes, (kind, label) in zip(np.atleast_1d(figure.subplots(1, len(seen), sharey=True)), seen, strict=True):
        for k, scored in enumerate(ladder.rungs):
            _draw(axes, k, scored, kind, colour=_colour(ladder, scored))
        _tidy(axes, f"{label} after {ladder.horizon_s:g} s", "")
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter("")
        axes.set_yticks(range(len(ladder.rungs)), [_label(ladder, scored) for scored in ladder.rungs])
        axes.set_ylim(len(ladder.rungs) - 0.5, -0.5)
    return figure


def _colour(ladder: Ladder, scored: Scored) -> str:
    return BLUE if scored is ladder.chosen else ORANGE if scored is ladder.best else GREY


def _label(ladder: Ladder, scored: Scored) -> str:
    mark = " (chosen)" if scored is ladder.chosen else " (best)" if scored is ladder.best else ""
    return f"{scored.name}{mark}"


def _draw(axes: Any, row: int, scored: Scored, kind: str, *, colour: str) -> None:
    errors = getattr(scored, kind)
    low, middle, high = np.quantile(errors[np.isfinite(errors)], [0.25, 0.5, 0.75])
    axes.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
    axes.plot([middle], [row], "o", color=colour)
    axes.annotate(f"{middle:.3g}", (middle, row), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8)
