"""Where a drive's error comes from: powertrain, slip, sensors and what remains, part by part and window by window."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.ladder.attribution import POWERTRAIN, REST, SENSORS, SLIP, Attribution
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

COLOURS = {POWERTRAIN: ORANGE, SLIP: BLUE, SENSORS: GREEN, REST: GREY}


def draw_attribution(attribution: Attribution) -> Figure:
    """Above, medians as bars with the middle half of the windows as lines; below, every window over the time of the drive."""
    kinds = [("place_m", "error of place [m]", 1.0), ("heading_rad", "error of heading [°]", np.degrees(1.0))]
    kinds = [kind for kind in kinds if any(np.isfinite(getattr(attribution, kind[0])(part)).any() for part in attribution.parts)]
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    title = f"{attribution.robot}, {attribution.name}: what an ideal drive misses in {attribution.horizon_s:g} s"
    figure.suptitle(title if len(title) < 110 else f"{title[:107]}...", fontsize=11, fontweight="bold")
    grid = figure.subplots(2, len(kinds), squeeze=False)
    for column, (kind, label, scale) in enumerate(kinds):
        _draw_medians(grid[0][column], attribution, kind, scale)
        _tidy(grid[0][column], label, "")
        _draw_windows(grid[1][column], attribution, kind, scale)
        _tidy(grid[1][column], "time of the drive [s]", label)
    lines, names = grid[1][0].get_legend_handles_labels()
    note = "bars: medians over windows; lines: their middle half"
    figure.legend(lines, names, title=note, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9)
    return figure


def _draw_medians(axes: Any, attribution: Attribution, kind: str, scale: float) -> None:
    names = list(attribution.parts)
    for row, part in enumerate(names):
        errors = getattr(attribution, kind)(part) * scale
        low, middle, high = np.quantile(errors[np.isfinite(errors)], [0.25, 0.5, 0.75])
        axes.barh(row, middle, color=COLOURS[part], alpha=0.8)
        axes.plot([low, high], [row, row], color="0.2", linewidth=1.5)
        axes.annotate(f"{middle:.3g}", (high, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.margins(x=0.15)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _draw_windows(axes: Any, attribution: Attribution, kind: str, scale: float) -> None:
    for part in attribution.parts:
        errors = getattr(attribution, kind)(part) * scale
        axes.plot(attribution.time_s, errors, ".", markersize=4, color=COLOURS[part], label=part, alpha=0.7)
    axes.set_yscale("symlog", linthresh=0.01 * scale)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
