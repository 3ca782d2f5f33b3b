"""slipfit compare: which model of the robot's motion do the drives ask for?"""

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
)
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.cli.results import check_results, write_results


def compare(
    logs: Annotated[list[Path], typer.Argument(help="Drives: ROS 1 or ROS 2 bags (.bag, .mcap, .db3, folder), or CSV.")],
    robot: RobotOption,
    horizon: Annotated[
        float, typer.Option(help="A model is asked where the robot is after so many seconds.", min=0.2, max=60.0)
    ] = 2.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all models with their numbers and errors (.json).")
    ] = None,
    twin: Annotated[Path | None, typer.Option(help="Write the result as a ground of this twin (.yaml), new or extended.")] = None,
    ground: Annotated[str, typer.Option(help="What to call the ground in the twin.")] = "calibrated",
    plot: Annotated[Path | None, typer.Option(help="Draw the ladder of models (.png, .svg or .pdf).")] = None,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Fit a ladder of models from wheel speeds to motion, from no slip to contact laws with a regression on top; rank them by
    their errors on blocks of time that they have not seen, and name the simplest one that is as good as the best.

    Example: slipfit compare drive.csv --columns map.yaml --robot husky --plot ladder.png

    A further ground: slipfit compare gravel.csv --columns map.yaml --robot husky --twin husky.twin.yaml --ground gravel
    """
    from slipfit.calibration.ladder import compare as build
    from slipfit.calibration.ladder.to_twin import check_robot
    from slipfit.library.files import check_target

    named = named_topics(topic)
    check_one_drive(logs, same_drive=same_drive)
    check_results(out, plot, force=force)
    if twin:
        from slipfit.twin import SkidSteerTwin

        older = SkidSteerTwin.load(twin) if twin.exists() else None
        # Another ground is an addition; one of that name would be lost.
        is_added = older is not None and ground not in older.grounds
        check_target(twin, force=force or is_added, formats=(".yaml", ".yml"))
        check_robot(older, robot)
    with working(f"comparing models on {', '.join(log.name for log in logs)}") as work:
        (drive,) = read_drives(logs, topics=named, columns=columns, truth=truth, same_drive=same_drive, progress=work)
        ladder = build(drive, robot=robot, horizon_s=horizon, counts_per_turn=counts_per_turn, progress=work)
    written = []
    if twin:
        from slipfit.calibration.ladder.to_twin import with_ladder

        with_ladder(older, ladder, ground).save(twin, force=force or is_added)
        written.append(twin)
    written += write_results(ladder, lambda: _drawn(ladder), out, plot, force=force)
    lines = [ladder.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**ladder.to_document(), "written": written}, as_json=json)


def _drawn(ladder):  # type: ignore[no-untyped-def]  # imports are heavy
    from slipfit.report.ladder_figure import draw_ladder

    return draw_ladder(ladder)
