"""The report of an estimate: one page with slip over time, what was found, and how consistent the filter was."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import slipfit
from slipfit.estimation.immobilisation import STUCK_SLIP
from slipfit.estimation.record import WINDOW_S, SlipEstimate
from slipfit.report.board import BLUE, GREEN, GREY, ORANGE, SHADE, Board
from slipfit.report.decimate import MOST_POINTS, envelope
from slipfit.report.estimate_figure import REACH
from slipfit.report.html import Panel, render, write_page

CONSISTENCY_HEADS = ["sensor", "readings", "mean of normalised innovation squared", "95 % of means", "refused", "verdict"]

ERROR_HEADS = ["of", "moments", "mean NEES", "95 % of means", "moments inside their 95 % band", "verdict"]

_COLOURS = (BLUE, ORANGE, GREEN)
_NAMES = {BLUE: "blue", GREEN: "green", ORANGE: "orange"}


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    robot: str
    log: str
    summary: str
    more: Sequence[str]
    over_time: Panel
    heads: list[str]
    rows: list[list[str]]
    error_heads: list[str]
    errors: list[list[str]]
    findings: list[str]


def write_estimate_report(estimate: SlipEstimate, path: Path | str, *, more: Sequence[str] = (), force: bool = False) -> None:
    """Write the page; `more` are texts of friction, soil or surfaces."""
    write_page(estimate_page(estimate, more=more), Path(path), force=force)


def estimate_page(estimate: SlipEstimate, *, more: Sequence[str] = ()) -> str:
    """The report as text."""
    e = estimate
    rows = [
        [c.sensor, f"{c.readings}", f"{c.mean:.3g}", f"{c.band_95[0]:.3g} to {c.band_95[1]:.3g}", f"{c.refused}",
         "as expected" if c.is_consistent else "too sure" if c.mean > 1.0 else "too unsure"]
        for c in e.consistency
    ]  # fmt: skip
    errors = [
        [f"{f.state}, {f.way}", f"{f.moments}", f"{f.mean:.3g}", f"{f.band_95[0]:.3g} to {f.band_95[1]:.3g}",
         f"{100.0 * f.inside:.0f} % ({f.sides})", f.verdict]
        for f in e.errors
    ]  # fmt: skip
    caption = (
        "Slip with 90 % bands (pale). Grey: held, because nothing tells it there (a stopped side has no ratio, a turn on the "
        f"spot no slip angle). A line at {STUCK_SLIP:g}: beyond it a robot is stuck. Innovations are normalised and squared, "
        f"means of {WINDOW_S:g} s; 1 is as expected."
    )
    if e.errors:
        caption += " NEES: errors against the truth, squared, over what the filter says, and their 95 % band."
    report = _Report(
        e.robot, e.name, e.summary(), tuple(more), Panel("over-time", over_time(e), caption), CONSISTENCY_HEADS, rows,
        ERROR_HEADS, errors, [str(finding) for finding in e.findings],
    )  # fmt: skip
    return render("estimate.html.j2", r=report, version=slipfit.__version__)


def over_time(e: SlipEstimate) -> dict[str, Any]:
    """Rows that share their time axis."""
    board, most = Board(6 if e.errors else 5, row_px=150, share="time"), MOST_POINTS // 2
    board.axes(0, title="slip ratios" if e.is_omni else "slip of left (blue) and right (orange) side", y="ratio")
    board.axes(1, title="slip turning" if e.is_omni else "slip angle", y="ratio" if e.is_omni else "rad")
    for k, name in enumerate(e.slip_names):
        _draw_slip(board, e, k, name.removesuffix("_rad").replace("_", " "), most)
    board.rule(0, 0, y=STUCK_SLIP)
    board.axes(2, title="velocity ahead (blue), to the left (green), yaw rate (orange)", y="m/s, rad/s")
    for name, colour, column in zip(("ahead", "left", "yaw rate"), (BLUE, GREEN, ORANGE), e.velocity.T, strict=True):
        board.line(2, 0, name, *envelope(e.time_s, column, most), color=colour)
    board.axes(3, title="probability of being stuck", y="", yaxis={"range": [-0.05, 1.05]})
    board.line(3, 0, "stuck", *envelope(e.time_s, np.asarray(e.stuck), most), color=ORANGE)
    for alarm in e.alarms_s:
        board.rule(3, 0, x=alarm, dash="dot")
    _draw_innovations(board, e)
    if e.errors:
        _draw_errors(board, e)
    return board.figure()


def _draw_slip(board: Board, e: SlipEstimate, k: int, name: str, most: int) -> None:
    row, told = 1 if k == 2 else 0, e.is_told[:, k]
    for side in (-REACH, REACH):
        bound = np.where(told, e.slip[:, k] + side * np.where(told, e.slip_std[:, k], 0.0), np.nan)
        board.line(row, 0, f"{name}, 90 %", *envelope(e.time_s, bound, most), color=SHADE)
    if not told.all():
        board.line(row, 0, f"{name}, held", *envelope(e.time_s, np.where(told, np.nan, e.slip[:, k]), most), color=GREY)
    if told.any():
        board.line(row, 0, name, *envelope(e.time_s, np.where(told, e.slip[:, k], np.nan), most), color=_COLOURS[k], legend=True)


def _draw_innovations(board: Board, e: SlipEstimate) -> None:
    colours = dict(zip((c.sensor for c in e.consistency), (BLUE, GREEN, ORANGE), strict=False))
    said = ", ".join(f"{sensor} ({_NAMES[colour]})" for sensor, colour in colours.items())
    board.axes(
        4, title=f"innovations: {said}" if said else "no innovations", y="", x="" if e.errors else "time [s]",
        yaxis={"type": "log", "dtick": 1},
    )  # fmt: skip
    for c in e.consistency:
        if c.sensor in colours and c.over_time:
            time_s, means = np.array(c.over_time).T
            board.line(4, 0, c.sensor, time_s, np.maximum(means, 1e-3), color=colours[c.sensor])
    board.rule(4, 0, y=1.0)


def _draw_errors(board: Board, e: SlipEstimate) -> None:
    """NEES of what is reported: smoothed where it is."""
    shown = [f for f in e.errors if (f.way == "smoothed") == e.is_smoothed]
    said = ", ".join(f"{f.state} ({_NAMES[colour]})" for f, colour in zip(shown, (BLUE, ORANGE), strict=False))
    board.axes(5, title=f"NEES: {said}", y="", x="time [s]", yaxis={"type": "log", "dtick": 1})
    for found, colour in zip(shown, (BLUE, ORANGE), strict=False):
        time_s, nees = np.array(found.over_time).T
        board.line(5, 0, f"NEES, {found.state}", *envelope(time_s, np.maximum(nees, 1e-3), MOST_POINTS // 2), color=colour)
    for bound in shown[0].moment_95:
        board.rule(5, 0, y=bound, dash="dot")
    board.rule(5, 0, y=1.0)
