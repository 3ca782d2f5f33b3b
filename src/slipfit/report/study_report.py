"""The report of a study: one page with curves, what decides, and how runs failed, each with an example in motion."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import slipfit
from slipfit.report import study_figures
from slipfit.report.html import Panel, render, write_page
from slipfit.report.study_example import example_panel
from slipfit.simulation.climb_reserve import WIDEST_FACTOR
from slipfit.study import Study
from slipfit.study.result import NO_CROSSING_INTERVAL, number_text, span_text
from slipfit.study.run import Prepared

#: Ways to fail that get an example: the most frequent.
MOST_EXAMPLES = 6


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    """What the template shows, in its order."""

    title: str
    success: str
    headlines: list[str]
    summary: str
    findings: tuple[str, ...]
    panels: list[Panel]
    point_heads: list[str]
    point_rows: list[list[str]]
    mode_heads: list[str]
    mode_rows: list[list[str]]
    examples: list[Panel]
    study_yaml: str


def write_study_report(answer: Study, prepared: Prepared, path: Path | str, *, force: bool = False) -> None:
    """Write the report of a study: one .html file that loads nothing from anywhere."""
    write_page(study_page(answer, prepared), Path(path), force=force)


def study_page(answer: Study, prepared: Prepared) -> str:
    """The report as text."""
    inputs = list(prepared.sampler.shown_names)
    examples = [example_panel(prepared.model, mode, k) for k, mode in enumerate(answer.modes[:MOST_EXAMPLES])]
    report = _Report(
        title=answer.about or answer.model,
        success=answer.success,
        headlines=headlines(answer),
        summary="\n".join(answer.rows()),
        findings=answer.findings,
        panels=_panels(answer),
        point_heads=[*answer.design_names, "runs", "successes", "P", f"{100 * answer.confidence:g} % interval"],
        point_rows=[
            [
                *(number_text(v, 4) for v in p.at.values()),
                f"{p.runs}",
                f"{p.successes}",
                f"{p.probability:.4f}",
                f"{p.low:.4f} to {p.high:.4f}",
            ]
            for p in answer.points
        ],
        mode_heads=["", *(mode.words for mode in answer.modes)] if answer.modes else [],
        mode_rows=_mode_rows(answer, inputs),
        examples=[panel for panel in examples if panel],
        study_yaml=prepared.file.to_yaml(),
    )
    return render("study.html.j2", r=report, version=slipfit.__version__)


def _mode_rows(answer: Study, inputs: list[str]) -> list[list[str]]:
    """A column for each way to fail, a row for each input: there may be many of those, and a page is long rather than wide."""
    if not answer.modes:
        return []
    return [
        ["share of runs", *(f"{100 * mode.share:.1f} %" for mode in answer.modes)],
        ["its interval", *(f"{100 * mode.low:.1f} to {100 * mode.high:.1f} %" for mode in answer.modes)],
        *([name, *(span_text(mode.region[name][0], mode.region[name][2]) for mode in answer.modes)] for name in inputs),
    ]


def headlines(answer: Study) -> list[str]:
    """The answer in a few sentences: where P falls, what decides, and how most runs failed."""
    level, success = f"{100 * answer.confidence:g} %", answer.success.replace("_", " ")
    lines = []
    for others, points in answer.slices():
        where = f"{study_figures.slice_name(others)}: " if others else ""
        shares = [p.probability for p in points]
        steps = " and ".join(f"between {number_text(a)} and {number_text(b)}" for a, b in answer.passings(points))
        if not points[0].at:
            p = points[0]
            lines.append(f"P({success}) = {p.probability:.3g}, {level} interval {p.low:.3g} to {p.high:.3g}")
        elif crossings := answer.crossings(points):
            told = [
                f"{share:g} at {number_text(x)} ({span_text(low, high) if isfinite(low) else NO_CROSSING_INTERVAL})"
                for share, x, low, high in crossings
            ]
            also = f"; by the points alone it passes 0.5 {steps}" if steps else ""
            lines.append(f"{where}P({success}) is {', '.join(told)} of {answer.design_names[0]}, with {level} intervals{also}")
        elif steps:
            lines.append(f"{where}P({success}) passes 0.5 {steps} of {answer.design_names[0]}; more points there tell where")
        else:
            lines.append(f"{where}P({success}) lies between {min(shares):.3g} and {max(shares):.3g} at all points")
    if answer.indices:
        first = max(answer.indices, key=lambda index: index.total)
        lines.append(f"what decides most is {first.name}: total Sobol index {first.total:.2g} ± {first.total_half_width:.1g}")
    if answer.modes:
        lines.append(
            f"most failures: {answer.modes[0].words}, {100 * answer.modes[0].share:.0f} % of runs, all points counted alike"
        )
    return lines


def _panels(answer: Study) -> list[Panel]:
    level = f"{100 * answer.confidence:g} %"
    panels = []
    if answer.design_names:
        panels.append(
            Panel(
                "curves",
                study_figures.curves(answer),
                f"Dots with {level} intervals ({answer.interval}); line and thin edges: probit with its {level} band, where the "
                f"points tell its slope; grey: the best curve that only rises or only falls.",
            )
        )
    if any(p.grip_reserve for p in answer.points):
        caption = (
            "Dots: half of the runs have more; bars: 90 % of the runs. Below 0 the robot did not climb; at an end of the scale, "
            f"±{1.0 - 1.0 / WIDEST_FACTOR:g}, no grip from 1/{WIDEST_FACTOR:g} to {WIDEST_FACTOR:g} times its own changes that."
        )
        panels.append(Panel("reserves", study_figures.grip_reserves(answer), caption))
    panels.append(Panel("outcomes", study_figures.outcomes(answer), "Shares of all outcomes."))
    if answer.indices:
        caption = (
            f"First order: what an input explains by itself. Total: what is left when all others are known. Bars are {level} "
            f"intervals by bootstrap; an index slightly below 0 is 0."
        )
        panels.append(Panel("sobol", study_figures.sobol(answer), caption))
    caption = f"P among the runs with the lowest and the highest tenth of each input, {level} intervals; dotted: P of all."
    panels.append(Panel("tornado", study_figures.tornado(answer), caption))
    return panels
