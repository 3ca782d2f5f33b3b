"""The report of a soil calibration: one page with constants, what the tests cannot tell, figures and held-out errors."""

from pathlib import Path

import slipfit
from slipfit.calibration.soil import SoilFit
from slipfit.calibration.soil.cone import TABLE_ROWS
from slipfit.contact.soil import INFO
from slipfit.library import Ground
from slipfit.report.html import Panel, render, write_page
from slipfit.report.soil_figure import SoilData, soil_axes, soil_board
from slipfit.twin import FittedParameter, Status

HEADS = ["constant", "value ± standard deviation, 90 % interval", "status", "source", "note"]
HELD_OUT_HEADS = ["model", "left out", "pull, % of load", "sinkage, mm", "on fitted repeats: pull, %", "sinkage, mm"]


def write_soil_report(
    fit: SoilFit, data: SoilData | None, path: Path | str, *, ground: Ground | None = None, force: bool = False
) -> None:
    """Write the report: one .html file that loads nothing from anywhere."""
    write_page(soil_page(fit, data, ground=ground), Path(path), force=force)


def soil_page(fit: SoilFit, data: SoilData | None, *, ground: Ground | None = None) -> str:
    """The report as text."""
    panels = []
    if data is not None:
        caption = "Dots: measured. Lines: the fit."
        panels.append(Panel("soil-fit", soil_board(soil_axes(fit, data)), caption))
    content = {
        "test": fit.test,
        "about": _about(fit),
        "data": fit.data,
        "rows": fit.rows,
        "heads": HEADS,
        "constants": [_row(fit, name, told) for name, told in fit.parameters.items()],
        "combinations": [_row(fit, name, told) for name, told in fit.combinations.items()],
        "rank": f"{fit.told_sentence().capitalize()}." if fit.names else "",
        "errors": fit.errors_told(),
        "valid": fit.range_told(),
        "held_out_heads": HELD_OUT_HEADS,
        "held_out": [
            [
                one["model"] + (" (chosen by the other repeats)" if one.get("chosen") else ""),
                f"repeat {one['left_out'] + 1}",
                f"{100 * one['pull']:.1f}",
                f"{1e3 * one['sinkage_m']:.1f}",
                f"{100 * one['fitted_pull']:.1f}",
                f"{1e3 * one['fitted_sinkage_m']:.1f}",
            ]
            for one in fit.held_out
        ],
        "findings": list(fit.findings),
        "panels": panels,
        "ground": ground.to_yaml() if ground else "",
    }
    return render("soil.html.j2", r=content, version=slipfit.__version__)


def _about(fit: SoilFit) -> str:
    if fit.test == "cone":
        return (
            "Constants of the soil from one number, the cone index. Intervals hold 90 %: factors for what the index tells, all "
            "rows of the table for the rest."
        )
    return (
        f"Constants of the soil from {fit.test} tests, {fit.rows} rows. Intervals hold 90 %; rows of one test count as one, "
        f"because they share their errors."
    )


def _row(fit: SoilFit, name: str, told: FittedParameter) -> list[str]:
    text = told.text()
    if name in fit.parameters:
        text = " ".join(filter(None, [", ".join(filter(None, fit.told_cells(name)[1:3])), _best(fit, name)]))
    known = INFO.parameter(name)
    return [name, text, _status(fit, told), told.source, told.note or (known.about if known else "")]


def _best(fit: SoilFit, name: str) -> str:
    """What stands for a constant that is not told."""
    return fit.told_cells(name)[3] if fit.parameters[name].value is None else ""


def _status(fit: SoilFit, told: FittedParameter) -> str:
    if told.status is Status.AT_BOUND:
        return "sits on the bound of its range"
    if fit.test == "cone" and told.value is not None:
        return "of the table" if told.source.startswith(TABLE_ROWS) else "from the index"
    return "not told" if told.value is None else "found"
