"""The report of an estimate: one page with slip over time, what was found, and how consistent the filter was."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import slipfit
from slipfit.estimate.record import SlipEstimate
from slipfit.report.board import BLUE, GREEN, ORANGE, SHADE, Board
from slipfit.report.decimate import MOST_POINTS, envelope
from slipfit.report.estimate_figure import REACH
from slipfit.report.html import Panel, render, write_page

CONSISTENCY_HEADS = ["sensor", "readings", "mean of normalised innovation squared", "95 % of means", "refused", "verdict"]

_COLOURS = (BLUE, ORANGE, GREEN)


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    robot: str
    log: str
    summary: str
    more: Sequence[str]
    over_time: Panel
    heads: list[str]
    rows: list[list[str]]
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
    caption = "Slip ratios with 90 % bands (pale); a slip that nothing tells is held. A line at 0.8: beyond it a robot is stuck."
    report = _Report(
        e.robot, e.name, e.summary(), tuple(more), Panel("over-time", over_time(e), caption), CONSISTENCY_HEADS, rows,
        [str(finding) for finding in e.findings],
    )  # fmt: skip
    return render("estimate.html.j2", r=report, version=slipfit.__version__)


def over_time(e: SlipEstimate) -> dict[str, Any]:
    """Rows that share their time axis."""
    board, most = Board(4, row_px=150, share="time"), MOST_POINTS // 2
    board.axes(0, title="slip ratios" if e.is_omni else "slip of left (blue) and right (orange) side", y="ratio")
    board.axes(1, title="slip turning" if e.is_omni else "slip angle", y="" if e.is_omni else "rad")
    for k, name in enumerate(e.slip_names):
        row = 1 if k == 2 else 0
        for side in (-REACH, REACH):
            board.line(row, 0, f"{name}, 90 %", *envelope(e.time_s, e.slip[:, k] + side * e.slip_std[:, k], most), color=SHADE)
        board.line(row, 0, name, *envelope(e.time_s, e.slip[:, k], most), color=_COLOURS[k], legend=True)
    board.rule(0, 0, y=0.8)
    board.axes(2, title="velocity ahead (blue), to the left (green), yaw rate (orange)", y="m/s, rad/s")
    for name, colour, column in zip(("ahead", "left", "yaw rate"), (BLUE, GREEN, ORANGE), e.velocity.T, strict=True):
        board.line(2, 0, name, *envelope(e.time_s, column, most), color=colour)
    board.axes(3, title="probability of being stuck", y="", x="time [s]", yaxis={"range": [-0.05, 1.05]})
    board.line(3, 0, "stuck", *envelope(e.time_s, np.asarray(e.stuck), most), color=ORANGE)
    for alarm in e.alarms_s:
        board.rule(3, 0, x=alarm, dash="dot")
    return board.figure()
