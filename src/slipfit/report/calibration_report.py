"""The report of a calibration: a page that a roboticist shows to a colleague. It reads the fit and computes nothing.

Everything that the page says is put into words here; the template only places it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

import slipfit
from slipfit.calibration.fit import DriveFit, Fit
from slipfit.calibration.protocol import ProtocolResult
from slipfit.contact import LAWS
from slipfit.logs.inspection import Severity
from slipfit.logs.inspection.record import NO_REMEDY
from slipfit.report.answer_wording import Answer, Verdict, answers, sdf_snippet, validity, verdict
from slipfit.report.calibration_figures import (
    drawn_constants,
    fit_figure,
    pairs_figure,
    path_figure,
    repeatability_figure,
    residual_figure,
    whiteness_figure,
)
from slipfit.report.decimate import MOST_POINTS
from slipfit.report.html import Panel, render, write_page
from slipfit.report.protocol_section import ProtocolSection, protocol_section
from slipfit.report.wording import listed, motion, number, percent, short, with_spread, with_unit
from slipfit.twin import Provenance

#: Drives whose signals are drawn; of more, those that fit worst.
MOST_DRIVES = 12

#: Signals that are drawn with all their points; of more, each gets fewer, so that the page stays below 8 MB.
FULL_SIGNALS = 16

_LEVELS = {Severity.FATAL: "doubt", Severity.ERROR: "doubt", Severity.WARNING: "caution", Severity.INFO: ""}


@dataclass(frozen=True, eq=False, slots=True)
class _Drive:
    name: str
    in_words: str
    misfit: str
    fit: Panel | None
    residuals: Panel | None
    whiteness: Panel | None
    path: Panel | None


@dataclass(frozen=True, slots=True)
class _FindingRow:
    drive: str
    severity: str
    level: str
    where: str
    found: str
    remedy: str
    is_corrected: bool


@dataclass(frozen=True, eq=False, slots=True)
class _Repeatability:
    heads: list[str]
    rows: list[list[str]]
    panel: Panel


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    """What the template shows, in its order."""

    robot: str
    ground: str
    robot_about: str
    date: str
    drives_in_words: str
    log_rows: list[list[str]]
    answers: list[Answer]
    validity: str
    verdict: Verdict
    sdf: str
    left_out: str
    drives: list[_Drive]
    pairs: Panel | None
    protocol: ProtocolSection | None
    nuisance_heads: list[str]
    nuisances: list[list[str]]
    corrected: list[str]
    findings: list[_FindingRow]
    has_several: bool
    identifiability: tuple[str, ...]
    advice: tuple[str, ...]
    repeatability: _Repeatability | None
    provenance: list[list[str]]
    notes: tuple[str, ...]
    twin_yaml: str


def write_report(
    fit: Fit,
    path: Path | str,
    *,
    truth: Mapping[str, float] | None = None,
    protocols: Sequence[ProtocolResult] = (),
    engines: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write the report as one HTML file; an existing one only with `force`.

    Parameters
    ----------
    truth : the constants by name or short name where they are known, as in a simulated drive: shown beside what was found
    protocols : further results of the published protocol [Trimble2022] to show beside those of the drives
    engines : sentences about the twin in real physics engines, as `verify.quick` says them
    """
    write_page(report_html(fit, truth=truth, protocols=protocols, engines=engines), Path(path), force=force)


def report_html(
    fit: Fit,
    *,
    truth: Mapping[str, float] | None = None,
    protocols: Sequence[ProtocolResult] = (),
    engines: Sequence[str] = (),
) -> str:
    """The report as text; see `write_report`."""
    report = _report(fit, _full_names(fit, truth or {}), protocols)
    return render("calibration.html.j2", r=report, engines=tuple(engines), version=slipfit.__version__)


def _report(fit: Fit, truth: Mapping[str, float], protocols: Sequence[ProtocolResult]) -> _Report:
    twin = fit.to_twin()
    drawn = _worst_drives(fit.drives)
    several = len(fit.drives) > 1
    return _Report(
        robot=fit.robot.name,
        ground=fit.ground,
        robot_about=fit.robot.about.rstrip("."),
        date=_day(twin.provenance.made),
        drives_in_words=_in_words(fit.drives),
        log_rows=[[d.name, d.digest[:12] or "no file", f"{d.duration_s:.1f} s", number(d.misfit, 0.1)] for d in fit.drives],
        answers=answers(fit),
        validity=validity(fit),
        verdict=verdict(fit),
        sdf=sdf_snippet(fit),
        left_out=""
        if len(drawn) == len(fit.drives)
        else f"Of {len(fit.drives)} drives the {MOST_DRIVES} that fit worst are drawn.",
        drives=_drives(drawn),
        pairs=_pairs(fit, truth),
        protocol=protocol_section(fit, truth, protocols),
        nuisance_heads=["number", *([d.name for d in fit.drives] if several else ["value"]), "expected", "what it is"],
        nuisances=_nuisances(fit.drives),
        corrected=fit.corrected,
        findings=_findings(fit.drives),
        has_several=several,
        identifiability=fit.identifiability,
        advice=fit.advice,
        repeatability=_repeatability(fit) if several else None,
        provenance=_provenance(fit, twin.provenance),
        notes=fit.notes,
        twin_yaml=twin.to_yaml(),
    )


def _full_names(fit: Fit, truth: Mapping[str, float]) -> dict[str, float]:
    known = {name: LAWS[fit.law].parameter(name) for name in truth}
    return {(p.name if (p := known[name]) else name): float(value) for name, value in truth.items()}


def _day(made: str) -> str:
    when = datetime.fromisoformat(made)
    return f"{when.day} {when:%B %Y}, {when:%H:%M} UTC"


def _in_words(drives: Sequence[DriveFit]) -> str:
    seconds = sum(d.duration_s for d in drives)
    return (
        f"{len(drives)} drive{'s' if len(drives) != 1 else ''} of {seconds:.0f} s in all"
        if len(drives) != 1
        else f"one drive of {seconds:.0f} s"
    )


# --- figures by drive -----------------------------------------------------------------------------------------------


def _worst_drives(drives: Sequence[DriveFit]) -> list[DriveFit]:
    """All drives in their order, or of many those that fit worst."""
    kept = sorted(range(len(drives)), key=lambda k: -drives[k].misfit)[:MOST_DRIVES]
    return [drives[k] for k in sorted(kept)]


def _drives(drives: Sequence[DriveFit]) -> list[_Drive]:
    signals = sum(len(d.traces) for d in drives)
    most = int(MOST_POINTS * min(1.0, FULL_SIGNALS / max(signals, 1)))
    return [_drive(drive, k, most) for k, drive in enumerate(drives, 1)]


def _drive(drive: DriveFit, index: int, most_points: int) -> _Drive:
    link, has_traces = f"drive-{index}", bool(drive.traces)
    fitted = residuals = whiteness = path = None
    if has_traces:
        fitted = Panel(f"fit-{index}", fit_figure(drive, most_points), f"Measured and model, {drive.name}.", link)
        residuals = Panel(f"residuals-{index}", residual_figure(drive, most_points), f"Measured minus model, {drive.name}.", link)
        if any(np.isfinite(trace.whitened).any() for trace in drive.traces):
            caption = (
                "Residuals as the fit saw them, divided by their expected deviation: shape on the left, memory on the right."
            )
            whiteness = Panel(f"whiteness-{index}", whiteness_figure(drive), caption)
    if len(drive.odometry_m) > 1:
        path = Panel(f"path-{index}", path_figure(drive), "The drive from above, by the model.")
    return _Drive(
        name=drive.name,
        in_words=f"{drive.duration_s:.1f} s, {motion(drive.speed_range_mps, drive.yaw_rate_range_radps)}",
        misfit=f"residuals {drive.misfit:.2f} times the noise, intervals widened by {drive.inflation:.2f}",
        fit=fitted,
        residuals=residuals,
        whiteness=whiteness,
        path=path,
    )


def _pairs(fit: Fit, truth: Mapping[str, float]) -> Panel | None:
    figure = pairs_figure(fit.posterior, truth)
    if figure is None:
        return None
    names = [short(name) for name in drawn_constants(fit.posterior)]
    caption = (
        f"Draws of {listed(names)}, as far as the drives and the robot's own numbers tell them apart. A narrow slanted cloud "
        f"means that only a combination is known well."
    )
    if truth:
        caption += " The dashed green lines are the truth."
    return Panel("pairs", figure, caption)


def _repeatability(fit: Fit) -> _Repeatability | None:
    names = [name for name in fit.parameters if sum(name in d.names for d in fit.drives) > 1]
    if not names:
        return None
    rows = [[d.name, *(_alone(d, name) for name in names)] for d in fit.drives]
    rows.append(["all together", *(_pooled(fit, name) for name in names)])
    if fit.repeatability:
        spread = [percent(fit.repeatability[n]) if n in fit.repeatability else "" for n in names]
        rows.append(["spread between drives", *spread])
    caption = "Each drive by itself with its 90 % interval; the line and its band are all drives together."
    heads = ["drive", *(with_unit(name) for name in names)]
    return _Repeatability(heads, rows, Panel("repeats", repeatability_figure(fit, names), caption))


def _alone(drive: DriveFit, name: str) -> str:
    if name not in drive.names:
        return ""
    k = drive.names.index(name)
    return with_spread(float(drive.values[k]), float(np.sqrt(drive.covariance[k, k])))


def _pooled(fit: Fit, name: str) -> str:
    p = fit.parameters[name]
    return p.text() if p.value is None else with_spread(p.value, p.std)


# --- tables ---------------------------------------------------------------------------------------------------------


def _nuisances(drives: Sequence[DriveFit]) -> list[list[str]]:
    """One row for each number, one column for each drive."""
    by_drive = [{n.name: n for n in drive.nuisances} for drive in drives]
    known = {n.name: n for drive in reversed(drives) for n in drive.nuisances}
    order = dict.fromkeys(n.name for drive in drives for n in drive.nuisances)
    rows = []
    for name in order:
        found = [with_spread(here[name].value, here[name].std) if name in here else "" for here in by_drive]
        prior = known[name].prior_std
        expected = "anything" if prior is None else f"± {number(prior)}"
        rows.append([with_unit(name), *found, expected, known[name].about])
    return rows


def _findings(drives: Sequence[DriveFit]) -> list[_FindingRow]:
    return [
        _FindingRow(
            drive=d.name,
            severity=f.severity.word,
            level="" if f.is_corrected else _LEVELS[f.severity],
            where=f.channel or "log",
            found=f"{f.kind}: {f.found}",
            remedy="corrected" if f.is_corrected else "–" if f.remedy == NO_REMEDY else f.remedy,
            is_corrected=f.is_corrected,
        )
        for d in drives
        for f in d.inspection.findings
    ]


def _provenance(fit: Fit, provenance: Provenance) -> list[list[str]]:
    robot = fit.robot
    mass = with_spread(robot.mass_kg.value, robot.mass_kg.std)
    rows = [
        ["made", f"{provenance.made} by slipfit {provenance.slipfit}"],
        [
            "robot",
            f"{robot.name}, {mass} kg ({robot.mass_kg.source}), track {robot.track_m:g} m, wheelbase {robot.wheelbase_m:g} m",
        ],
        ["law", f"{fit.law}: {LAWS[fit.law].formula}"],
        ["gravity", f"{fit.gravity_mps2:g} m/s²"],
    ]
    rows += [["pose used", line] for line in provenance.truth]
    return rows + [["log", f"{log.name}, sha256 {log.sha256 or 'none, there was no file'}"] for log in provenance.logs]
