"""slipfit attribute: is it slip, the controller, or the odometry?"""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.log_options import (
    ColumnsOption,
    CountsOption,
    RobotOption,
    SameDriveFlag,
    TopicOption,
    TruthOption,
    check_one_drive,
    named_topics,
    read_drives,
    truth_documents,
    truth_lines,
)
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.cli.results import check_results, write_results


def attribute(
    logs: Annotated[list[Path], typer.Argument(help="A drive: ROS 1 or ROS 2 bag, or CSV; several files with --same-drive.")],
    robot: RobotOption,
    horizon: Annotated[float, typer.Option(help="Length of the windows, seconds.", min=0.2, max=60.0)] = 2.0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the parts (.json).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the parts (.png, .svg or .pdf).")] = None,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Split the error of an ideal drive into powertrain (wheels do not do as told), kinematics or slip (the body does not follow
    its wheels), sensors (clocks, signs, scales, biases) and what remains. Without commands in the log it begins at the wheels.

    Example: slipfit attribute drive.csv --columns map.yaml --robot warthog --plot parts.png
    """
    from slipfit.calibration.ladder import compare
    from slipfit.calibration.ladder.attribution import attribute as split

    named = named_topics(topic)
    check_one_drive(logs, same_drive=same_drive)
    check_results(out, plot, force=force)
    with working(f"splitting errors of {', '.join(log.name for log in logs)}") as work:
        (drive,) = read_drives(logs, topics=named, columns=columns, truth=truth, same_drive=same_drive, progress=work)
        ladder = compare(drive, robot=robot, horizon_s=horizon, counts_per_turn=counts_per_turn, progress=work)
        work("splitting errors")
        found = split(ladder, drive, counts_per_turn=counts_per_turn)
    written = write_results(found, lambda: _drawn(found), out, plot, force=force)
    lines = [found.summary(), *truth_lines([drive]), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**found.to_document(), **truth_documents([drive]), "written": written}, as_json=json)


def _drawn(attribution):  # type: ignore[no-untyped-def]  # imports are heavy
    from slipfit.report.attribution_figure import draw_attribution

    return draw_attribution(attribution)
