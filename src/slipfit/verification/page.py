"""The report of verifications as one HTML page. It reads the records and computes nothing."""

from collections.abc import Sequence
from pathlib import Path

import slipfit
from slipfit.report.html import Panel, render, write_page
from slipfit.report.wording import number, percent
from slipfit.verification.figures import apart_board, path_board, yaw_board
from slipfit.verification.record import Verification

HEADS = ["engine", "verdict", "free drive: distance", "heading", "c_lat / c_long (twin)", "c_long [1/N] (twin)", "settings"]


def verification_rows(found: Sequence[Verification]) -> list[list[str]]:
    """One row for each engine, under `HEADS`."""
    return [
        [
            v.version,
            "agrees with the twin" if v.is_good else "differs from the twin",
            f"{percent(v.free.share)} of {number(v.free.distance_m)} m",
            f"{v.free.heading_deg:.2f}°",
            f"{number(v.ratio.found)} ({number(v.ratio.twin)})" if v.ratio else "not read",
            f"{number(v.c_long.found)} ({number(v.c_long.twin)})",
            ", ".join(f"{name} {value:g}" for name, value in v.settings.items()),
        ]
        for v in found
    ]


def artefact_rows(found: Sequence[Verification]) -> list[list[str]]:
    """Artefacts of all engines: engine, what, found, the setting to change."""
    return [[v.version, a.kind.value, a.found, a.setting] for v in found for a in v.artefacts]


def panels(found: Sequence[Verification]) -> list[Panel]:
    """Figures for a page, of this module's or of another report."""
    drawn = [v for v in found if v.free.share == v.free.share]  # a run that diverged has no path
    if not drawn:
        return []
    return [
        Panel("verify-path", path_board(drawn), "The free drive from above: the twin and each engine."),
        Panel("verify-apart", apart_board(drawn), "How far each engine's robot is from the twin's, over the free drive."),
        Panel("verify-yaw", yaw_board(drawn), "Yaw rate of the spin over the heading: level where slip turns with the wheels."),
    ]


def write_verification_page(found: Sequence[Verification], path: Path | str, *, force: bool = False) -> None:
    """Write the page; an existing file only with `force`."""
    write_page(verification_html(found), Path(path), force=force)


def verification_html(found: Sequence[Verification]) -> str:
    """The page as text."""
    content = {
        "robot": found[0].robot,
        "ground": found[0].ground,
        "heads": HEADS,
        "rows": verification_rows(found),
        "artefacts": artefact_rows(found),
        "panels": panels(found),
        "rest_rows": [
            [
                v.version,
                f"{1e3 * v.rest.drift_mps:.2g} mm/s",
                f"{1e3 * v.rest.sinkage_m:.2g} mm",
                f"{v.rest.contacts:.2g}",
                ", ".join(f"{load:.1f}" for load in v.rest.loads_n),
            ]
            for v in found
        ],
        "notes": [f"{v.version}: {note}" for v in found for note in v.notes],
    }
    return render("verification.html.j2", r=content, version=slipfit.__version__)
