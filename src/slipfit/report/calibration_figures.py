"""Figures of a calibration's report: fit over data, residuals, posterior, repeatability, methods side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np

from slipfit.calibration.fit import DriveFit, Fit, Trace
from slipfit.calibration.spread import BLOCK_S, quantile
from slipfit.report.board import BLUE, GREEN, GREY, INK, ORANGE, Board
from slipfit.report.decimate import MOST_POINTS, envelope, unused_spans
from slipfit.report.wording import short, unit_of, with_unit

#: Half width of a 90 % interval of a Gaussian, in standard deviations.
NINETY = 1.645

#: Start and end nearer than this share of the drive's extent get one label.
CLOSED = 0.15

#: Height of a line of a label.
LABEL_PX = 16

#: Draws of the posterior that are shown as dots.
MOST_DOTS = 1500

#: Constants in the order in which pairs show them; others follow.
_ORDER = ("c_long", "c_lat", "mu", "mass")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one method says about one constant, with its 90 % interval where it has one."""

    method: str
    value: float
    interval_90: tuple[float, float] | None = None


def fit_figure(drive: DriveFit, most_points: int = MOST_POINTS) -> dict[str, Any]:
    """Measured and predicted over time, one row for each signal; what was not used is shaded."""
    board = _rows_of_time(drive.traces, row_px=118)
    for row, trace in enumerate(drive.traces):
        measured, predicted = (envelope(trace.time_s, values, most_points) for values in (trace.measured, trace.predicted))
        board.line(row, 0, "measured", *measured, color=GREY, width=1.0, legend=row == 0)
        board.line(row, 0, "model", *predicted, color=BLUE, width=1.6, legend=row == 0)
    return board.figure()


def residual_figure(drive: DriveFit, most_points: int = MOST_POINTS) -> dict[str, Any]:
    """Measured minus predicted over time, with twice the sensor's noise; what was not used is shaded."""
    board = _rows_of_time(drive.traces, row_px=84, reaches=[_used_reach(trace) for trace in drive.traces])
    for row, trace in enumerate(drive.traces):
        left = envelope(trace.time_s, trace.residual, most_points)
        board.line(row, 0, "measured − model", *left, color=ORANGE, width=1.0, legend=row == 0)
        if np.isfinite(trace.noise_std) and trace.noise_std > 0.0:
            for side in (-2.0, 2.0):
                board.rule(row, 0, y=side * float(trace.noise_std))
    return board.figure()


def whiteness_figure(drive: DriveFit) -> dict[str, Any]:
    """Whitened residuals: their histogram beside the unit Gaussian, and their autocorrelation with ± 2 / sqrt(n)."""
    traces = [trace for trace in drive.traces if np.isfinite(trace.whitened).any()]
    board = Board(len(traces), 2, row_px=104, gap_px=54)
    for row, trace in enumerate(traces):
        is_last = row == len(traces) - 1
        labels = ("residual / its deviation", "lag [samples]") if is_last else ("", "")
        board.axes(row, 0, title=f"{short(trace.name)}: histogram", x=labels[0], yaxis={"showticklabels": False})
        _histogram(board, row, trace.whitened[np.isfinite(trace.whitened)])
        _autocorrelation(board, row, trace, labels[1])
    return board.figure()


def path_figure(drive: DriveFit) -> dict[str, Any]:
    """The drive from above, by the model."""
    places = drive.odometry_m[:: max(1, len(drive.odometry_m) // MOST_POINTS)]
    board = Board(1, row_px=300)
    board.axes(0, x="x [m]", y="y [m]", yaxis={"scaleanchor": "x", "scaleratio": 1})
    board.line(0, 0, "path", places[:, 1], places[:, 2], color=BLUE, width=1.6)
    ends = places[[0, -1]]
    extent = float(np.ptp(places[:, 1:], axis=0).max())
    is_closed = bool(np.hypot(*(ends[1, 1:] - ends[0, 1:])) < CLOSED * extent)
    labels = {"text": ["", "start and end"] if is_closed else ["start", "end"], "textposition": ["bottom center", "top center"]}
    board.dots(0, 0, "start and end", ends[:, 1], ends[:, 2], color=ORANGE, size=8, mode="markers+text", **labels)
    return board.figure(hovermode="closest")


def pairs_figure(posterior: Mapping[str, np.ndarray], truth: Mapping[str, float]) -> dict[str, Any] | None:
    """Every constant against every other, histograms on the diagonal; None where there is nothing to draw."""
    names = drawn_constants(posterior)
    if not names:
        return None
    count = len(names)
    board = Board(count, count, row_px=min(190, 640 // count), gap_px=14, gap=0.03 if count > 1 else 0.0, share="columns")
    for row, across in enumerate(names):
        for col, along in enumerate(names[: row + 1]):
            is_diagonal = row == col
            quiet = {"showticklabels": False} if is_diagonal or col > 0 else {}
            x_title = with_unit(along) if row == count - 1 else ""
            y_title = with_unit(across) if col == 0 and not is_diagonal else ""
            # Labels of neighbours would run into each other on a narrow page.
            board.axes(row, col, x=x_title, y=y_title, xaxis={"nticks": 5 if count < 3 else 4}, yaxis={"nticks": 5, **quiet})
            if is_diagonal:
                _marginal(board, row, posterior[along], short(along))
            else:
                _cloud(board, row, col, posterior[along], posterior[across], f"{short(across)} against {short(along)}")
                if across in truth:
                    board.rule(row, col, y=truth[across], color=GREEN, width=1.6)
            if along in truth:
                board.rule(row, col, x=truth[along], color=GREEN, width=1.6)
    return board.figure(hovermode="closest", showlegend=False)


def repeatability_figure(fit: Fit, names: Sequence[str]) -> dict[str, Any]:
    """What each drive says by itself, with 90 % intervals, beside the pooled value and its interval."""
    board = Board(len(names), row_px=150, share="columns")
    for row, name in enumerate(names):
        board.axes(row, title=with_unit(name), xaxis={"type": "category", "automargin": True})
        drives = [(drive, drive.names.index(name)) for drive in fit.drives if name in drive.names]
        values = np.array([drive.values[k] for drive, k in drives])
        widths = np.array([_ninety(drive) * np.sqrt(drive.covariance[k, k]) for drive, k in drives])
        bars = {"type": "data", "array": widths.tolist(), "color": BLUE, "thickness": 1.5, "width": 5}
        board.dots(row, 0, short(name), [_wrapped(d.name, 16) for d, _ in drives], values, color=BLUE, size=9, error_y=bars)
        pooled = fit.parameters.get(name)
        if pooled and pooled.value is not None:
            board.rule(row, 0, y=pooled.value, color=ORANGE, width=1.5, dash="solid")
            if pooled.interval_90:
                board.band(row, 0, y=pooled.interval_90, fillcolor=ORANGE, opacity=0.15)
    return board.figure(hovermode="closest", showlegend=False)


def methods_figure(estimates: Mapping[str, Sequence[Estimate]], truth: Mapping[str, float]) -> dict[str, Any]:
    """What every method says about each constant; the truth as a line where it is known."""
    most = max(len(found) for found in estimates.values())
    lines = max(_wrapped(e.method).count("<br>") + 1 for found in estimates.values() for e in found)
    board = Board(len(estimates), row_px=max(40, LABEL_PX * lines + 10) * most + 16, gap_px=64)
    for row, (name, found) in enumerate(estimates.items()):
        board.axes(row, title=with_unit(name), yaxis={"type": "category", "autorange": "reversed", "automargin": True})
        intervals = [e.interval_90 or (e.value, e.value) for e in found]
        above = [high - e.value for e, (_, high) in zip(found, intervals, strict=True)]
        below = [e.value - low for e, (low, _) in zip(found, intervals, strict=True)]
        ends = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        bars = {**ends, "color": BLUE, "thickness": 1.5, "width": 5}
        values = np.array([e.value for e in found])
        board.dots(row, 0, short(name), values, [_wrapped(e.method) for e in found], color=BLUE, size=10, error_x=bars)
        if name in truth:
            board.rule(row, 0, x=truth[name], color=GREEN, width=1.6)
    return board.figure(hovermode="closest", showlegend=False)


def drawn_constants(posterior: Mapping[str, np.ndarray]) -> list[str]:
    """Constants whose draws differ, the slip constants first."""
    varied = [name for name, draws in posterior.items() if len(draws) > 1 and np.isfinite(draws).all() and np.ptp(draws) > 0.0]
    return sorted(varied, key=lambda name: _ORDER.index(short(name)) if short(name) in _ORDER else len(_ORDER))


def _ninety(drive: DriveFit) -> float:
    """Standard deviations that hold 90 % of a drive by itself, as its own calibration would count them."""
    return quantile(max(8, round(drive.duration_s / BLOCK_S)))


def _wrapped(label: str, width: int = 26) -> str:
    """In lines that leave a phone some width for the dots."""
    return "<br>".join(escape(line) for line in wrap(label, width, break_on_hyphens=False))


def _used_reach(trace: Trace) -> float:
    """Largest residual of what was used: what was not may be far larger, and would flatten the rest."""
    used = np.abs(trace.residual[(trace.weight >= 0.5) & np.isfinite(trace.residual)])
    return 1.1 * float(used.max(initial=3.0 * trace.noise_std if np.isfinite(trace.noise_std) else 0.0))


def _rows_of_time(traces: Sequence[Trace], *, row_px: int, reaches: Sequence[float] = ()) -> Board:
    """One row for each signal over the same time, stretches that were not used shaded; `reaches` limit the rows' heights."""
    board = Board(len(traces), row_px=row_px, share="time")
    for row, trace in enumerate(traces):
        title = f"{short(trace.name)}: {escape(trace.about)}" if trace.about else short(trace.name)
        height = {"range": [-reaches[row], reaches[row]]} if reaches and reaches[row] > 0.0 else {}
        board.axes(row, title=title, x="time [s]" if row == len(traces) - 1 else "", y=unit_of(trace.name), yaxis=height)
        for span in unused_spans(trace.time_s, trace.weight):
            board.band(row, 0, x=span)
    return board


def _histogram(board: Board, row: int, residuals: np.ndarray) -> None:
    """Residuals beyond the reach are counted in the outermost bars."""
    reach = float(np.clip(np.abs(residuals).max(initial=0.0), 3.5, 8.0))
    density, edges = np.histogram(np.clip(residuals, -reach, reach), bins=50, range=(-reach, reach), density=True)
    middle = 0.5 * (edges[1:] + edges[:-1])
    board.bars(row, 0, "residuals", middle, density, color=ORANGE, opacity=0.6, legend=row == 0)
    fine = np.linspace(-reach, reach, 121)
    gauss = np.exp(-0.5 * fine**2) / np.sqrt(2.0 * np.pi)
    board.line(row, 0, "unit Gaussian", fine, gauss, color=INK, width=1.2, legend=row == 0)


def _autocorrelation(board: Board, row: int, trace: Trace, x_title: str) -> None:
    memory = trace.autocorrelation()[1:]  # at lag 0 it is 1 and says nothing
    limit = 2.0 / float(np.sqrt(len(trace.whitened)))
    reach = max(0.2, 1.15 * float(np.abs(memory).max(initial=0.0)), 1.5 * limit)
    board.axes(row, 1, title=f"{short(trace.name)}: autocorrelation", x=x_title, yaxis={"range": [-reach, reach]})
    board.band(row, 1, y=(-limit, limit))
    board.bars(row, 1, "autocorrelation", np.arange(1.0, len(memory) + 1.0), memory, color=BLUE)


def _marginal(board: Board, row: int, draws: np.ndarray, name: str) -> None:
    height, edges = np.histogram(draws, bins=40, density=True)
    board.bars(row, row, name, 0.5 * (edges[1:] + edges[:-1]), height, color=BLUE, opacity=0.7)


def _cloud(board: Board, row: int, col: int, x: np.ndarray, y: np.ndarray, name: str) -> None:
    every = max(1, len(x) // MOST_DOTS)
    board.dots(row, col, name, x[::every], y[::every], color=BLUE, size=3, opacity=0.35)
