"""A twin against drives it has not seen: how errors grow with the length of a window, model by model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.validation import ABOUT, MODELS, Horizon, Validation
from slipfit.report.figures import BLUE, GREEN, ORANGE, _tidy

#: Errors below a tenth of a millimetre and a thousandth of a degree are drawn there: zero has no place on a logarithmic axis.
SMALLEST = {"translation_m": 1e-4, "heading_deg": 1e-3}

COLOURS = dict(zip(MODELS, (BLUE, ORANGE, GREEN), strict=True))


def draw_validation(validation: Validation) -> Figure:
    """Errors of place and heading over seconds and over metres, on a logarithmic axis because models differ by orders: medians
    as lines, 90 % of windows below the bars' ends, the number of windows under each length. Without a pose the root mean squares
    against the IMU."""
    figure = Figure(figsize=(11, 7.5 if validation.rates is None else 4.0), layout="constrained")
    title = f"{validation.twin} on {validation.ground}, against {', '.join(validation.logs)}"
    figure.suptitle(title if len(title) < 110 else f"{title[:107]}...", fontsize=11, fontweight="bold")
    if validation.rates is not None:
        _draw_rates(figure, validation)
        return figure
    units = [unit for unit in ("s", "m") if any(h.unit == unit for h in validation.horizons)]
    grid = figure.subplots(len(units), 2, squeeze=False)
    for row, unit in zip(grid, units, strict=True):
        horizons = [h for h in validation.horizons if h.unit == unit]
        over = "time of prediction [s]" if unit == "s" else "way of prediction [m]"
        for axes, kind, label in (
            (row[0], "translation_m", "error of place [m]"),
            (row[1], "heading_deg", "error of heading [°]"),
        ):
            _draw_errors(axes, horizons, kind)
            _tidy(axes, over, label)
    # Below the axes: lines of errors fill them in every way.
    lines, names = grid[0][1].get_legend_handles_labels()
    note = "medians; bars reach to 90 % of the windows"
    figure.legend(lines, names, title=note, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9)
    return figure


def _draw_errors(axes: Any, horizons: Sequence[Horizon], kind: str) -> None:
    lengths = np.array([h.length for h in horizons])
    for k, model in enumerate(MODELS):
        pairs = np.maximum([h.errors[model].quantiles()[kind] for h in horizons], SMALLEST[kind])
        place = lengths * (1.0 + 0.03 * (k - 1))  # beside each other
        above = np.maximum(pairs[:, 1] - pairs[:, 0], 0.0)
        reach = np.vstack([np.zeros(len(place)), above])
        axes.errorbar(place, pairs[:, 0], reach, color=COLOURS[model], marker="o", capsize=3, label=ABOUT[model])
    axes.set_xscale("log")
    counts = [f"{h.windows} window{'s' if h.windows != 1 else ''}" for h in horizons]
    axes.set_xticks(lengths, [f"{length:g}\n{count}" for length, count in zip(lengths, counts, strict=True)], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if _is_labelled(axes, value) else "")
    axes.tick_params(axis="y", which="minor", labelsize=8)


def _is_labelled(axes: Any, value: float) -> bool:
    """Between powers of ten twos and fives are labelled too where there are few powers."""
    low, high = axes.get_ylim()
    return bool(high / low < 1e3 and round(value / 10.0 ** np.floor(np.log10(value) + 1e-9)) in (2, 5))


def _draw_rates(figure: Figure, validation: Validation) -> None:
    assert validation.rates is not None
    turning, pushing = figure.subplots(1, 2)
    parts = (
        (turning, validation.rates.yaw_rate_radps, "yaw rate [rad/s]"),
        (pushing, validation.rates.acceleration_mps2, "acceleration ahead [m/s²]"),
    )
    for axes, values, label in parts:
        names = [ABOUT[model] for model in MODELS]
        axes.bar(names, [values[model] for model in MODELS], color=[COLOURS[model] for model in MODELS])
        _tidy(axes, "", f"root mean square error, {label}")
