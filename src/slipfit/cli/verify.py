"""slipfit verify: does the exported twin move in a physics engine as the twin does, and if not, why."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.errors import ParameterError


def verify(
    twin: Annotated[Path, typer.Argument(help="Twin file.")],
    engine: Annotated[str, typer.Option(help="ode, mujoco, gz-physics, or all that are installed.")] = "all",
    ground: Annotated[str | None, typer.Option(help="Ground of the twin, where it has several.")] = None,
    model: Annotated[
        Path | None, typer.Option(help="Your own model (SDF; for mujoco exported MJCF) in place of the export.")
    ] = None,
    step_s: Annotated[float | None, typer.Option(help="Step size in place of the file's.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Solver iterations in place of the file's.")] = None,
    kp_n_per_m: Annotated[float | None, typer.Option(help="Contact stiffness of wheels in place of the file's (ode).")] = None,
    kd_ns_per_m: Annotated[float | None, typer.Option(help="Contact damping of wheels in place of the file's (ode).")] = None,
    within_percent: Annotated[float | None, typer.Option(help="Wanted: % of distance; 1, in MuJoCo 2.")] = None,
    within_deg: Annotated[float | None, typer.Option(help="Wanted: degrees of heading; 1, in MuJoCo 2.")] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Find kp, step and iterations that meet what is wanted at least cost.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="With --tune: write the export with the found settings.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report (.html).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the drives into this picture (.png, .svg or .pdf).")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Drive the exported twin in real physics engines through spin, speed step, side slope and a free drive of 20 s; say how far
    it moves from the twin's own simulation, and why. Exit code 1 when an engine differs from the twin.

    Example: slipfit verify p3at.twin.yaml --engine ode
    """
    from slipfit.library.files import check_target
    from slipfit.twin import SkidSteerTwin

    _check_options(tune, out, model, within_percent, within_deg, report, plot)
    if tune and any(value is not None for value in (step_s, iterations, kp_n_per_m, kd_ns_per_m)):
        raise ParameterError(
            "--tune finds step, iterations, kp and kd; take --step-s, --iterations, --kp-n-per-m, --kd-ns-per-m out"
        )
    if report:
        check_target(report, force=force, formats=(".html",))
    if plot:
        check_target(plot, force=force, formats=(".png", ".svg", ".pdf"))
    record = SkidSteerTwin.load(twin)
    names = _engines(engine, model)
    share = None if within_percent is None else within_percent / 100.0
    if tune:
        _tune(record, names, ground, share, within_deg, out, json=json, force=force)
        return
    from slipfit.engines import Settings
    from slipfit.verification.run import Course, verify_on

    settings = Settings(step_s=step_s, iterations=iterations, kp_n_per_m=kp_n_per_m, kd_ns_per_m=kd_ns_per_m)
    course = Course(record, ground)
    found = [verify_on(course, name, model, settings, share, within_deg, _progress) for name in names]
    written: list[Path] = []
    if report:
        from slipfit.verification.page import write_verification_page

        write_verification_page(found, report, force=force)
        written.append(report)
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.verification.figures import draw_verifications

        save_figure(draw_verifications(found), plot, force=force)
        written.append(plot)
    lines = [*(v.summary() for v in found), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {"verifications": [v.to_document() for v in found], "written": written}, as_json=json)
    if not all(v.is_good for v in found):
        raise typer.Exit(1)


def _tune(
    twin: Any,
    names: list[str],
    ground: str | None,
    share: float | None,
    deg: float | None,
    out: Path | None,
    *,
    json: bool,
    force: bool,
) -> None:
    from dataclasses import replace

    from slipfit.exporters import export
    from slipfit.library.files import check_target
    from slipfit.verification.record import WANTED
    from slipfit.verification.run import TARGETS, Course
    from slipfit.verification.tune import tune

    if len(names) != 1:
        raise ParameterError("--tune needs one engine; expected --engine ode, gz-physics or mujoco")
    (name,) = names
    usual_share, usual_deg = WANTED[name]
    course = Course(twin, ground)
    if out is not None:  # the search takes minutes: refuse before it
        for path in export(twin, TARGETS[name], ground=course.ground_name).files(out):
            check_target(path, force=force)
    found = tune(course, name, within_share=share or usual_share, within_deg=deg or usual_deg, progress=_progress)
    written = []
    if out is not None:
        settings = replace(found.export_settings(), world=TARGETS[name] != "mjcf")
        written = export(twin, TARGETS[name], ground=course.ground_name, settings=settings).save(out, force=force)
    lines = [found.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**found.to_document(), "written": written}, as_json=json)


def _engines(asked: str, model: Path | None) -> list[str]:
    """The engines to run; `all` are those that are installed and read the model's file."""
    from slipfit.engines import ENGINES, available, find_engine

    if asked != "all":
        return [find_engine(asked).name]
    reads = {engine.name: engine.reads for engine in ENGINES}
    ending = None if model is None else ".xml" if model.suffix == ".xml" else ".sdf"
    chosen = [e for e in available() if ending in (None, reads[e.name])]
    installed = [e.name for e in chosen if e.is_installed]
    if not installed:
        raise ParameterError("no engine is installed: " + "; ".join(e.problem for e in chosen))
    for e in chosen:
        if not e.is_installed:
            _progress(f"left out: {e.problem}")
    return installed


def _check_options(
    tune: bool,
    out: Path | None,
    model: Path | None,
    percent: float | None,
    deg: float | None,
    report: Path | None,
    plot: Path | None,
) -> None:
    for flag, value in (("--within-percent", percent), ("--within-deg", deg)):
        if value is not None and not 0.0 < value <= 100.0:
            raise ParameterError(f"{flag} is {value:g}; expected more than 0 and at most 100")
    if out is not None and not tune:
        raise ParameterError("-o goes with --tune; a plain export is written by slipfit export")
    if tune and (model is not None or report is not None or plot is not None):
        raise ParameterError("--tune goes without --model, --report and --plot; expected slipfit verify TWIN --engine ode --tune")


def _progress(text: str) -> None:
    print(f"slipfit: {text}", file=sys.stderr, flush=True)
