"""Soil tests and what was fitted to them: pressure over sinkage, shear over displacement, pull and sinkage over slip."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.soil import PlateData, ShearData, SoilFit, WheelData, predict_wheel
from slipfit.report import board
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

#: More dots of one kind than this are thinned.
MOST_DOTS = 400

#: Colours of plates' sizes and of normal stresses, and what pages call those that they know; the last three are Okabe and Ito's.
_COLOURS = (BLUE, ORANGE, GREEN, GREY, "#cc79a7", "#56b4e9", "#e69f00")
_NAMED = {BLUE: board.BLUE, ORANGE: board.ORANGE, GREEN: board.GREEN, GREY: board.GREY}

SoilData = PlateData | ShearData | WheelData


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """One set of dots or one line."""

    name: str
    x: np.ndarray
    y: np.ndarray
    colour: str
    is_line: bool


@dataclass(frozen=True, eq=False, slots=True)
class SoilAxes:
    """What stands in one pair of axes."""

    title: str
    x: str
    y: str
    marks: tuple[Marks, ...]


def soil_axes(fit: SoilFit, data: SoilData) -> list[SoilAxes]:
    """Axes of a fit beside its data."""
    if isinstance(data, PlateData):
        return [_plates(fit, data)]
    if isinstance(data, ShearData):
        return [_shear(fit, data)]
    return _wheel(fit, data)


def _plates(fit: SoilFit, data: PlateData) -> SoilAxes:
    marks: list[Marks] = []
    depth = np.linspace(0.0, float(data.sinkage_m.max()), 80)
    for number, width in enumerate(data.widths_m):
        colour, rows = _COLOURS[number % len(_COLOURS)], data.width_m == width
        marks.append(_dots(data.size_words(width), 1e3 * data.sinkage_m[rows], 1e-3 * data.pressure_pa[rows], colour))
        k = fit.values["k_c"] / width + fit.values["k_phi"]
        reached = depth <= 1.02 * float(data.sinkage_m[rows].max())
        line = 1e-3 * k * depth[reached] ** fit.values["n"]
        marks.append(Marks(data.size_words(width), 1e3 * depth[reached], line, colour, is_line=True))
    return SoilAxes(f"{fit.data}: plates", "sinkage [mm]", "pressure [kPa]", tuple(marks))


def _shear(fit: SoilFit, data: ShearData) -> SoilAxes:
    marks: list[Marks] = []
    way = np.linspace(0.0, float(data.displacement_m.max()), 80)
    for number, normal in enumerate(np.unique(data.normal_pa)):
        colour, rows = _COLOURS[number % len(_COLOURS)], data.normal_pa == normal
        name = f"p = {1e-3 * normal:.3g} kPa"
        marks.append(_dots(name, 1e3 * data.displacement_m[rows], 1e-3 * data.shear_pa[rows], colour))
        strength = fit.values["cohesion_pa"] + normal * np.tan(fit.values["friction_angle_rad"])
        line = 1e-3 * strength * -np.expm1(-way / fit.values["shear_modulus_m"])
        marks.append(Marks(name, 1e3 * way, line, colour, is_line=True))
    return SoilAxes(f"{fit.data}: shear", "shear displacement [mm]", "shear stress [kPa]", tuple(marks))


def _wheel(fit: SoilFit, data: WheelData) -> list[SoilAxes]:
    bins, index = np.unique(np.round(data.slip, 2), return_inverse=True)
    mean_load = np.bincount(index, data.load_n) / np.bincount(index)
    slips = np.linspace(float(data.slip.min()), float(data.slip.max()), 81)
    loads = np.interp(slips, bins, mean_load)
    found = predict_wheel(fit.values, replace(data, slip=slips, load_n=loads))
    pull = (
        _dots("measured", data.slip, data.pull_n / data.load_n, GREY),
        Marks("fit", slips, found.pull_n / loads, BLUE, is_line=True),
    )
    depth = (
        _dots("measured", data.slip, 1e3 * data.sinkage_m, GREY),
        Marks("fit", slips, 1e3 * found.sinkage_m, BLUE, is_line=True),
    )
    return [
        SoilAxes(f"{fit.data}: drawbar pull", "slip [-]", "pull over load [-]", pull),
        SoilAxes("sinkage", "slip [-]", "sinkage [mm]", depth),
    ]


def _dots(name: str, x: np.ndarray, y: np.ndarray, colour: str) -> Marks:
    step = max(1, len(x) // MOST_DOTS)
    return Marks(name, np.asarray(x)[::step], np.asarray(y)[::step], colour, is_line=False)


def draw_soil(fit: SoilFit, data: SoilData) -> Figure:
    """A picture of a fit beside its data."""
    all_axes = soil_axes(fit, data)
    figure = Figure(figsize=(5.6 * len(all_axes) + 0.8, 4.2), layout="constrained")
    for axes, content in zip(np.atleast_1d(figure.subplots(1, len(all_axes))), all_axes, strict=True):
        for marks in content.marks:
            look: dict[str, Any] = (
                {"linewidth": 1.6} if marks.is_line else {"linestyle": "", "marker": ".", "markersize": 4.5, "alpha": 0.5}
            )
            axes.plot(marks.x, marks.y, color=marks.colour, label=marks.name if marks.is_line else "_", **look)
        axes.legend(frameon=False, fontsize=8, title="lines: fit, dots: tests", title_fontsize=8, alignment="left")
        _tidy(axes, content.x, content.y, content.title)
    return figure


def soil_board(all_axes: Sequence[SoilAxes]) -> dict[str, Any]:
    """The same for a page."""
    drawn = board.Board(1, len(all_axes), row_px=330)
    for col, content in enumerate(all_axes):
        drawn.axes(0, col, title=content.title, x=content.x, y=content.y)
        for marks in content.marks:
            colour = _NAMED.get(marks.colour, marks.colour)
            if marks.is_line:
                drawn.line(0, col, marks.name, marks.x, marks.y, color=colour, width=2.0, legend=col == 0)
            else:
                drawn.dots(0, col, marks.name, marks.x, marks.y, color=colour, size=4.0, opacity=0.5)
    return drawn.figure()
