"""slipfit inspect: what is wrong with a drive log."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError


def inspect(
    log: Annotated[Path, typer.Argument(help="ROS 1 or ROS 2 bag (.bag, .mcap, .db3, folder), or CSV.")],
    robot: Annotated[str, typer.Option(help="Robot of the library (slipfit robots), or a robot file.")],
    topics: Annotated[
        list[str] | None, typer.Option(help="Topic of a channel, as pose=/vicon/robot; may be given several times.")
    ] = None,
    columns: Annotated[Path | None, typer.Option(help="Column map of a CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw what the sensors say into this picture (.png, .svg or .pdf).")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Look a drive log over: rates, gaps, clocks, units, signs, bias, wheel lift. Exit code 1 where calibration cannot go on.

    Example: slipfit inspect run.mcap --robot p3at --plot run.png
    """
    from slipfit.library import find_robot
    from slipfit.logs import inspect_log, read_log

    chosen = find_robot(robot)
    if plot:
        from slipfit.library.files import check_target
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)
    named = _named(topics or [])
    with working(f"reading and inspecting {log.name}"):
        inspection = inspect_log(read_log(log, topics=named, columns=columns), chosen)
    lines = [inspection.summary()]
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.report.inspection_figure import draw_inspection

        save_figure(draw_inspection(inspection, chosen), plot, force=force)
        lines.append(f"wrote {plot}")
    document = {**inspection.to_document(), "robot": chosen.name, "written": [plot] if plot else []}
    show("\n".join(lines), document, as_json=json)
    if inspection.fatal:
        raise typer.Exit(1)


def _named(topics: list[str]) -> dict[str, str]:
    """--topics pose=/vicon/robot, as `read_log` takes them."""
    named = {}
    for entry in topics:
        channel, equals, topic = entry.partition("=")
        if not (channel and equals and topic):
            raise ParameterError(f"--topics {entry}: expected channel=topic, as pose=/vicon/robot")
        named[channel] = topic
    return named
