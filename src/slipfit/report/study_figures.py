"""Figures of a study: go/no-go curves with bands, what decides, and how runs ended."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.report import figures
from slipfit.report.board import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SHADE, YELLOW, Board
from slipfit.study import Point, Study
from slipfit.study.result import number_text

#: Points of a drawn curve.
_FINE = 200

#: One colour for each curve, and for each outcome (no failure is green, and greys are no neighbours); more begin again.
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, INK)
_ENDS = (BLUE, ORANGE, PURPLE, YELLOW, GREY, INK)
_INKS = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.GREY)


def _fine(points: list[Point], name: str) -> np.ndarray:
    return np.linspace(points[0].at[name], points[-1].at[name], _FINE)


def slice_name(others: dict[str, float]) -> str:
    return ", ".join(f"{name} = {number_text(value, 4)}" for name, value in others.items()) or "P"


# --- for the browser --------------------------------------------------------------------------------------------------


def curves(answer: Study) -> dict[str, Any]:
    """P along the first design variable, for each combination of the others: points with intervals, probit with band."""
    name = answer.design_names[0]
    board = Board(1, row_px=330)
    board.axes(0, title=f"P({answer.success})", x=name, y="probability", yaxis={"range": [-0.03, 1.03]})
    for k, (others, points) in enumerate(answer.slices()):
        colour = COLOURS[k % len(COLOURS)]
        fit = answer.probit(points) if len(points) > 2 else None
        x = np.array([p.at[name] for p in points])
        if fit is not None:
            fine = _fine(points, name)
            for edge in fit.band(fine):
                board.line(0, 0, "band", fine, edge, color=colour, width=0.7)
            board.line(0, 0, slice_name(others), fine, fit.probability(fine), color=colour, width=2.0, legend=bool(others))
        curve = answer.monotone(points)
        board.line(0, 0, "monotone", curve.x, curve.probability, color=GREY, width=1.5)
        shares = np.array([p.probability for p in points])
        bars = {
            "type": "data",
            "symmetric": False,
            "array": [p.high - p.probability for p in points],
            "arrayminus": [p.probability - p.low for p in points],
            "color": colour,
            "thickness": 1.2,
        }
        told = [f"{p.successes} of {p.runs} runs" for p in points]
        board.dots(0, 0, slice_name(others), x, shares, color=colour, size=6, error_y=bars, text=told)
    return board.figure(hovermode="closest")


def grip_reserves(answer: Study) -> dict[str, Any]:
    """Grip reserve along the first design variable: the middle run, and where 90 % of the runs lie."""
    name = answer.design_names[0] if answer.design_names else ""
    board = Board(1, row_px=290)
    board.axes(0, title="grip reserve: share of grip to spare (above 0) or lacking (below)", x=name, y="grip reserve")
    board.rule(0, 0, y=0.0, color=GREY, dash="dot")
    for k, (others, points) in enumerate(answer.slices()):
        known = [(p.at.get(name, 0.0), *p.grip_reserve) for p in points if p.grip_reserve]
        if not known:
            continue
        x, low, middle, high = (np.array(column) for column in zip(*known, strict=True))
        colour = COLOURS[k % len(COLOURS)]
        bars = {"type": "data", "symmetric": False, "array": (high - middle).tolist(), "arrayminus": (middle - low).tolist()}
        bars |= {"color": colour, "thickness": 1.2}
        board.dots(0, 0, slice_name(others), x, middle, color=colour, size=6, error_y=bars, showlegend=bool(others))
    return board.figure(hovermode="closest")


def tornado(answer: Study) -> dict[str, Any]:
    """P at the lowest (blue) and highest (orange) tenth of each input, the most important at the top."""
    names = [swing.name for swing in answer.tornado]
    board = Board(1, row_px=46 + 30 * len(names))
    places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5], "automargin": True}
    board.axes(
        0, title="P at the lowest tenth (blue) and the highest tenth (orange) of each input", x="probability", yaxis=places
    )
    board.rule(0, 0, x=answer.probability, color=GREY, dash="dot")
    for k, swing in enumerate(answer.tornado):
        board.line(0, 0, swing.name, np.array([swing.at_low[0], swing.at_high[0]]), np.array([k, k]), color=SHADE, width=10.0)
    for end, colour in (("at_low", BLUE), ("at_high", ORANGE)):
        ends = [getattr(swing, end) for swing in answer.tornado]
        bars = _bars_x([p for p, _, _ in ends], [low for _, low, _ in ends], [high for _, _, high in ends], colour)
        board.dots(0, 0, end, [p for p, _, _ in ends], list(range(len(names))), color=colour, size=8, error_x=bars)
    return board.figure(hovermode="closest")


def sobol(answer: Study) -> dict[str, Any]:
    """First-order (blue) and total (orange) Sobol indices with their intervals."""
    ordered = sorted(answer.indices, key=lambda index: -index.total)
    names = [index.name for index in ordered]
    board = Board(1, row_px=46 + 34 * len(names))
    places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5], "automargin": True}
    board.axes(0, title="Sobol indices: first order (blue), total (orange)", x="share of the verdict's variance", yaxis=places)
    board.rule(0, 0, x=0.0, color=GREY, dash="dot")
    for shift, kind, colour in ((-0.14, "first", BLUE), (0.14, "total", ORANGE)):
        values = [getattr(index, kind) for index in ordered]
        halves = [getattr(index, f"{kind}_half_width") for index in ordered]
        bars = _bars_x(values, [v - h for v, h in zip(values, halves, strict=True)],
                       [v + h for v, h in zip(values, halves, strict=True)], colour)  # fmt: skip
        board.dots(0, 0, kind, values, [k + shift for k in range(len(names))], color=colour, size=8, error_x=bars)
    return board.figure(hovermode="closest")


def outcomes(answer: Study) -> dict[str, Any]:
    """How runs ended along the first design variable (of the first slice); one bar where there is no design."""
    others, points = answer.slices()[0]
    names = [answer.success, *sorted({name for p in points for name in p.outcomes} - {answer.success})]  # success is always blue
    x = np.array([p.at[answer.design_names[0]] for p in points]) if answer.design_names else np.array([0.0])
    board = Board(1, row_px=260)
    axis: dict[str, Any] = {} if answer.design_names else {"xaxis": {"showticklabels": False}}
    board.axes(
        0,
        title=f"how runs ended{f' ({slice_name(others)})' if others else ''}",
        x=answer.design_names[0] if answer.design_names else "",
        y="share of runs",
        **axis,
    )
    for k, name in enumerate(names):
        shares = np.array([p.outcomes.get(name, 0) / p.runs for p in points])
        board.bars(0, 0, name.replace("_", " "), x, shares, color=_ENDS[k % len(_ENDS)], legend=True)
    return board.figure(barmode="stack")


def _bars_x(middle: list[float], low: list[float], high: list[float], colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [h - m for m, h in zip(middle, high, strict=True)],
        "arrayminus": [m - low_end for m, low_end in zip(middle, low, strict=True)],
        "color": colour,
        "thickness": 1.4,
    }


# --- on paper -----------------------------------------------------------------------------------------------------------------


def draw_study(answer: Study) -> Figure:
    """The curve with its band on the left, what decides on the right."""
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    title = answer.about or answer.model
    figure.suptitle(f"{title}: P({answer.success}), {answer.runs} runs, {100 * answer.confidence:g} % intervals", fontsize=11)
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1.0])
    if answer.design_names:
        _draw_curves(left, answer)
    else:
        p = answer.points[0]
        left.errorbar([0], [p.probability], [[p.probability - p.low], [p.high - p.probability]], fmt="o", color=figures.BLUE)
        left.set_ylim(0.0, 1.0)
        left.set_xticks([])
        figures._tidy(left, "", f"P({answer.success})")
    _draw_what_decides(right, answer)
    return figure


def _draw_curves(axes: Any, answer: Study) -> None:
    name = answer.design_names[0]
    for k, (others, points) in enumerate(answer.slices()):
        colour = _INKS[k % len(_INKS)]
        x, shares = [p.at[name] for p in points], np.array([p.probability for p in points])
        below, above = shares - [p.low for p in points], np.array([p.high for p in points]) - shares
        axes.errorbar(x, shares, [below, above], fmt="o", markersize=4, capsize=2, color=colour, label=slice_name(others))
        fit = answer.probit(points) if len(points) > 2 else None
        if fit is not None:
            fine = _fine(points, name)
            axes.plot(fine, fit.probability(fine), color=colour)
            axes.fill_between(fine, *fit.band(fine), color=colour, alpha=0.25, linewidth=0)
        if len(points) > 1:
            curve = answer.monotone(points)
            axes.plot(curve.x, curve.probability, color=figures.GREY, linewidth=1.0, linestyle=":")
    axes.set_ylim(-0.03, 1.03)
    if len(answer.slices()) > 1:
        axes.legend(fontsize=8, frameon=False)
    figures._tidy(axes, name, f"P({answer.success})", "points with intervals; probit with band; dotted: only rises or falls")


def _draw_what_decides(axes: Any, answer: Study) -> None:
    if answer.indices:
        ordered = sorted(answer.indices, key=lambda index: index.total)
        y = np.arange(len(ordered))
        for shift, kind, colour in ((0.15, "first", figures.BLUE), (-0.15, "total", figures.ORANGE)):
            values = [getattr(index, kind) for index in ordered]
            halves = [getattr(index, f"{kind}_half_width") for index in ordered]
            axes.errorbar(values, y + shift, xerr=halves, fmt="o", capsize=2, color=colour, label=kind)
        axes.set_yticks(y, [index.name for index in ordered])
        axes.legend(fontsize=8, frameon=False, loc="lower right")
        figures._tidy(axes, "share of the verdict's variance", "", "Sobol indices")
        return
    ordered_swings = list(reversed(answer.tornado))
    for k, swing in enumerate(ordered_swings):
        axes.plot([swing.at_low[0], swing.at_high[0]], [k, k], color="0.8", linewidth=7, solid_capstyle="butt", zorder=0)
        for (p, low, high), colour in ((swing.at_low, figures.BLUE), (swing.at_high, figures.ORANGE)):
            axes.errorbar([p], [k], xerr=[[p - low], [high - p]], fmt="o", capsize=2, color=colour)
    axes.set_yticks(range(len(ordered_swings)), [swing.name for swing in ordered_swings])
    axes.set_xlim(-0.05, 1.05)
    figures._tidy(axes, f"P({answer.success})", "", "at the lowest (blue) and\nhighest (orange) tenth")
