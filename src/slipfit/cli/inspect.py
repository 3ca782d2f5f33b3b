"""slipfit inspect: what is wrong with a drive log."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.log_options import ColumnsOption, SameDriveFlag, TopicOption, TruthOption, named_topics, read_drives
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError


def inspect(
    logs: Annotated[
        list[Path], typer.Argument(help="ROS 1 or ROS 2 bag (.bag, .mcap, .db3, folder), or CSV; several with --same-drive.")
    ],
    robot: Annotated[
        str | None,
        typer.Option(help="Robot of the library (slipfit robots), or a robot file; without it, only what needs no robot."),
    ] = None,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    plot: Annotated[Path | None, typer.Option(help="Draw what the sensors say into this picture (.png, .svg or .pdf).")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Check a drive log for problems: topics, rates, gaps, which pose is independent of the wheels; with --robot also clock
    offsets, units, signs, bias, wheel lift. Exits 1 if the log cannot be calibrated.

    Example: slipfit inspect run.mcap --robot p3at --plot run.png
    """
    from slipfit.library import skid_steer_robot
    from slipfit.logs import inspect_log
    from slipfit.logs.inspection import inspect_stamps

    if len(logs) > 1 and not same_drive:
        raise ParameterError(
            f"inspect looks at one drive, and {len(logs)} files were given; add --same-drive where they are parts of one drive, "
            f"or inspect them one by one"
        )
    chosen = skid_steer_robot(robot, "inspect") if robot is not None else None
    if plot and chosen is None:
        raise ParameterError("--plot draws wheels beside the other sensors, and needs their radius: pass --robot, too")
    if plot:
        from slipfit.library.files import check_target
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)
    named = named_topics(topic)
    with working(f"inspecting {', '.join(log.name for log in logs)}") as work:
        (drive,) = read_drives(logs, topics=named, columns=columns, truth=truth, same_drive=same_drive, progress=work)
        work("comparing its sensors")
        inspection = inspect_log(drive, chosen) if chosen is not None else inspect_stamps(drive)
    lines = [inspection.summary()]
    if plot and chosen is not None:
        from slipfit.report.figures import save_figure
        from slipfit.report.inspection_figure import draw_inspection

        save_figure(draw_inspection(inspection, chosen), plot, force=force)
        lines.append(f"wrote {plot}")
    document = {
        **inspection.to_document(),
        "robot": chosen.name if chosen is not None else None,
        "written": [plot] if plot else [],
    }
    show("\n".join(lines), document, as_json=json)
    if inspection.fatal:
        raise typer.Exit(1)
