"""slipfit demo: the whole story, from a plan to a validated twin, with no file needed."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working

FILES = (
    "plan.scenario.yaml",
    "plan.csv",
    "run.mcap",
    "second.mcap",
    "p3at.twin.yaml",
    "p3at.report.html",
    "slip.png",
    "inspection.png",
    "validation.png",
)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the twin, its report, logs and pictures.")] = Path("demo"),
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Plan a drive, drive a simulated robot with real-world sensors, calibrate, compare with the truth, validate."""
    from slipfit.library.files import check_folder, make_folder

    check_folder(out, FILES, force=force)
    with working("demo (a first run compiles the simulator, some 30 s)") as work:
        from slipfit.calibration.story import tell_story

        story = tell_story(work)
        work("driving the twin in physics engines")
        engines = _in_engines(story.twin)
        work(f"writing {out}")
        make_folder(out)
        written = _write(story, engines, out, force=force)
    lines = [story.summary(), "5. exported, and driven in the physics engines that are installed:"]
    lines += [f"     {line}" for line in engines] + [f"wrote {path}" for path in written]
    show("\n".join(lines), story.to_document() | {"engines": engines, "written": written}, as_json=json)


def _in_engines(twin) -> list[str]:  # type: ignore[no-untyped-def]  # its import is heavy
    """How near each engine's robot stays to the twin; an engine that fails does not spoil the demo."""
    from slipfit.errors import SlipfitError
    from slipfit.verification import quick

    try:
        found = quick(twin)
    except SlipfitError as error:
        return [str(error)]
    return found or ["none is installed; tools/install_engines.sh, or pip install 'slipfit[engines]' for MuJoCo"]


def _write(story, engines: list[str], out: Path, *, force: bool) -> list[Path]:  # type: ignore[no-untyped-def]  # its import is heavy
    from slipfit.report.calibration_report import write_report
    from slipfit.report.figures import draw_demo, save_figure
    from slipfit.report.inspection_figure import draw_inspection
    from slipfit.report.validation_figure import draw_validation
    from slipfit.simulation.showcase import showcase

    scenario, csv, run, second, twin, page, slip, inspection, validation = (out / name for name in FILES)
    beside = story.plan.save(scenario, force=force)
    story.plan.write_csv(csv, force=force)
    story.drive.save(run, force=force)
    story.second.save(second, force=force)
    story.twin.save(twin, force=force)
    write_report(story.fit, page, truth=story.truth.values(), protocols=(story.protocol,), engines=engines, force=force)
    save_figure(draw_demo(showcase()), slip, force=force)
    save_figure(draw_inspection(story.fit.drives[0].inspection, story.robot), inspection, force=force)
    save_figure(draw_validation(story.validation), validation, force=force)
    named = [out / name for name in FILES]
    return [*named, *(path for path in beside if path not in named)]
