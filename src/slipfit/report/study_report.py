"""The report of a study: one page with curves, what decides, and how runs failed, each with an example in motion."""

from dataclasses import dataclass
from pathlib import Path

import slipfit
from slipfit.report import study_figures
from slipfit.report.html import Panel, render, write_page
from slipfit.report.study_example import example_panel
from slipfit.study import Study
from slipfit.study.run import Prepared

#: Ways to fail that get an example: the most frequent.
MOST_EXAMPLES = 6


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    """What the template shows, in its order."""

    title: str
    success: str
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
    inputs = list(prepared.sampler.names)
    examples = [example_panel(prepared.model, mode, k) for k, mode in enumerate(answer.modes[:MOST_EXAMPLES])]
    report = _Report(
        title=answer.about or answer.model,
        success=answer.success,
        summary=answer.summary(),
        findings=answer.findings,
        panels=_panels(answer),
        point_heads=[*answer.design_names, "runs", "successes", "P", f"{100 * answer.confidence:g} % interval"],
        point_rows=[
            [
                *(f"{v:.4g}" for v in p.at.values()),
                f"{p.runs}",
                f"{p.successes}",
                f"{p.probability:.4f}",
                f"{p.low:.4f} to {p.high:.4f}",
            ]
            for p in answer.points
        ],
        mode_heads=["failure", "share", "interval", *inputs],
        mode_rows=[
            [
                mode.name,
                f"{100 * mode.share:.1f} %",
                f"{100 * mode.low:.1f} to {100 * mode.high:.1f} %",
                *(f"{mode.region[name][0]:.3g} to {mode.region[name][2]:.3g}" for name in inputs),
            ]
            for mode in answer.modes
        ],
        examples=[panel for panel in examples if panel],
        study_yaml=prepared.file.to_yaml(),
    )
    return render("study.html.j2", r=report, version=slipfit.__version__)


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
