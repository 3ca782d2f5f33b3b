"""Friction curves: the families side by side, and a fit of one against measured forces."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.tyre import TyreData, TyreFit, fit_flexible
from slipfit.calibration.tyre.law_fit import forces_of
from slipfit.contact import CURVES, LAWS, curve
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy, draw_laws

#: Colour-blind safe (Okabe and Ito), with the three of `figures`; a style each for prints without colour.
PURPLE, YELLOW, BLACK = "#CC79A7", "#E69F00", "#000000"
_STYLES = (
    (BLUE, "-"),
    (ORANGE, "--"),
    (GREEN, "-."),
    (PURPLE, (0, (5, 1, 1, 1, 1, 1))),
    (BLACK, ":"),
    (YELLOW, (0, (3, 2))),
)


def draw_law_comparison() -> Figure:
    """The friction curves with their examples, which share their peak, above; every law along and across below."""
    figure = Figure(figsize=(11, 14), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[0.75, 1.25])
    above, below = parts
    draw_families(above.subplots())
    draw_laws(below)
    return figure


def draw_families(axes: Any) -> None:
    """mu over slip of all families, as [Shilliday2023] fig. 5 compares five; which five those are, the paper does not say."""
    slips = np.linspace(0.0, 1.0, 401)
    for name, (colour, style) in zip(CURVES, _STYLES, strict=False):
        axes.plot(slips, curve(name, LAWS[name].example, slips), color=colour, linestyle=style, linewidth=1.8, label=name)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False, ncols=len(CURVES), loc="lower center")
    _tidy(axes, "resultant slip S [-]", "friction coefficient mu [-]", "friction curves with the same peak, 0.8 at slip 0.2")


def draw_tyre_fit(fit: TyreFit, data: TyreData) -> Figure:
    """Measured forces and what law and flexible curve make of them; the curve with its band; errors on what was left out."""
    figure = Figure(figsize=(12, 8), layout="constrained")
    curve_axes, errors, *axes = figure.subplots(2, 2).ravel()
    _draw_curve(curve_axes, fit, data)
    _draw_errors(errors, fit)
    law = forces_of(fit.law, fit.values | fit.offsets, data)
    flexible = fit_flexible(data).predict(data)
    for place, (axis, force) in zip(axes, data.forces().items(), strict=False):
        ends = [float(np.min([force, law[axis]])), float(np.max([force, law[axis]]))]
        place.plot(ends, ends, color=GREY, linewidth=0.8)
        place.plot(force, flexible[axis], ".", color=GREEN, markersize=5, label="flexible curve")
        place.plot(force, law[axis], "x", color=BLUE, markersize=4, label=fit.law)
        place.legend(frameon=False, fontsize=8)
        _tidy(place, f"measured force {axis} [N]", "fitted force [N]", f"force {axis} the wheel")
    for place in axes[len(data.forces()) :]:
        place.set_visible(False)
    return figure


def _draw_curve(axes: Any, fit: TyreFit, data: TyreData) -> None:
    """Friction over the resultant slip. Measured: the force along the slip, over the load, its part across taken of the ratio."""
    total = np.maximum(data.resultant_slip, 1e-12)
    direction = data.slip / total[:, None]
    ratio = max(fit.values["lateral_ratio"], 1e-6)
    parts = {"along": (direction[:, 0], 1.0), "across": (direction[:, 1], ratio)}
    along_slip = np.zeros(len(data))
    for axis, force in data.forces().items():
        towards, times = parts[axis]
        along_slip += (force / data.load_n - fit.offsets.get(f"offset_{axis}", 0.0)) / times * towards
    axes.plot(total, along_slip, ".", color=GREY, markersize=4, label="measured, along the slip")
    axes.fill_between(
        fit.slips, fit.friction - fit.band_90, fit.friction + fit.band_90, color=BLUE, alpha=0.25, linewidth=0, label="90 % band"
    )
    axes.plot(fit.slips, fit.friction, color=BLUE, label=fit.law)
    axes.set_xlim(left=0.0)
    axes.legend(frameon=False, fontsize=8)
    _tidy(axes, "resultant slip S [-]", "friction coefficient mu [-]", f"{fit.data}: {fit.law}")


def _draw_errors(axes: Any, fit: TyreFit) -> None:
    """Root mean square errors of all candidates on repeats that were left out, against the spread of repeated settings."""
    order = sorted(fit.candidates, key=lambda c: -c.total_n)
    places = np.arange(len(order))
    names = list(fit.residual_n)
    for k, (axis, colour) in enumerate(zip(names, (BLUE, ORANGE), strict=False)):
        height = 0.8 / len(names)
        axes.barh(
            places + (0.5 * (len(names) - 1) - k) * height, [c.rms_n[axis] for c in order], height, color=colour, label=axis
        )
        if axis in fit.spread_n:
            axes.axvline(fit.spread_n[axis], color=colour, linestyle=":", linewidth=1.2)
    axes.set_yticks(places, [c.name for c in order])
    axes.legend(frameon=False, fontsize=8)
    title = "forces that were left out" + ("; dotted: spread of repeats" if fit.spread_n else "")
    _tidy(axes, "root mean square error [N]", "", title)
