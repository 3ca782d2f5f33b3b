"""Slip of an omnidirectional robot over its travel direction, and what each model leaves."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.omni import OmniCalibration
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

#: 90 % of a normal distribution, to either side.
_HALF_90 = 1.645


def draw_omni(*calibrations: OmniCalibration) -> Figure:
    """A row for each surface: slip and drift by travel direction, turn per metre, end errors of every model."""
    figure = Figure(figsize=(12, 3.2 * len(calibrations)), layout="constrained")
    grid = np.atleast_2d(figure.subplots(len(calibrations), 3))
    travel = np.radians(np.arange(0.0, 361.0, 2.0))
    for (ways, turns, errors), found in zip(grid, calibrations, strict=True):
        headings = found.slip_map.by_travel(travel)
        degrees = np.degrees(travel)
        slip, across = 100.0 * np.array([h.slip for h in headings]), 100.0 * np.array([h.across for h in headings])
        band = 100.0 * _HALF_90 * np.array([h.along_std for h in headings])
        for values, colour, label in ((slip, BLUE, "slip along"), (across, ORANGE, "drift to the left")):
            ways.fill_between(degrees, values - band, values + band, color=colour, alpha=0.2, linewidth=0)
            ways.plot(degrees, values, color=colour, label=label)
        ways.legend(frameon=False, fontsize=8)
        _tidy(ways, "travel direction [°]", "share of the rolled way [%]", f"{found.robot} on {found.surface}")
        turn = np.degrees([h.turn_radpm for h in headings])
        turn_band = _HALF_90 * np.degrees([h.turn_std_radpm for h in headings])
        turns.fill_between(degrees, turn - turn_band, turn + turn_band, color=GREEN, alpha=0.2, linewidth=0)
        turns.plot(degrees, turn, color=GREEN)
        _tidy(turns, "travel direction [°]", "turn [°/m]", "turning that was not commanded")
        for axes in (ways, turns):
            axes.set_xticks(range(0, 361, 60))
        _draw_errors(errors, found)
    return figure


def _draw_errors(axes: Any, found: OmniCalibration) -> None:
    rows = np.arange(len(found.scores))
    axes.barh(rows - 0.2, [s.with_heading_percent for s in found.scores], 0.38, color=BLUE, label="heading measured")
    axes.barh(rows + 0.2, [s.percent for s in found.scores], 0.38, color=GREY, label="heading by the model")
    axes.set_yticks(rows, [s.model for s in found.scores])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(frameon=False, fontsize=8)
    held = "not fitted" if found.is_held_out else "fitted too"
    _tidy(axes, "median end error [% of the way]", "", f"{len(found.judged_on)} runs, {held}")
