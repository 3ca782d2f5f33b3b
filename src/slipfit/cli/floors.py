"""slipfit floors: is this floor another floor?"""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.log_options import (
    ColumnsOption,
    CountsOption,
    RobotOption,
    TopicOption,
    TruthOption,
    named_topics,
    read_drives,
    truth_documents,
    truth_lines,
)
from slipfit.cli.output import JsonFlag, show, working


def floors(
    first: Annotated[Path, typer.Argument(help="A drive: ROS 1 or ROS 2 bag, or CSV.")],
    second: Annotated[Path, typer.Argument(help="Another drive of the same robot.")],
    robot: RobotOption,
    horizon: Annotated[float, typer.Option(help="Length of the windows, seconds.", min=0.2, max=60.0)] = 2.0,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
) -> None:
    """Compare two drives of one robot: which numbers differ by more than chance, and how well one's predict the other. Exit
    code 1 when it is another floor.

    Example: slipfit floors monday.csv tuesday.csv --columns map.yaml --robot husky
    """
    from slipfit.calibration.ladder import drive_of
    from slipfit.calibration.ladder.rungs import drifting_icr
    from slipfit.calibration.ladder.surfaces import same_floor_of_drives
    from slipfit.library import skid_steer_robot

    chosen, named = skid_steer_robot(robot, "floors"), named_topics(topic)
    with working(f"comparing {first.name} and {second.name}") as work:
        logs = read_drives([first, second], topics=named, columns=columns, truth=truth, progress=work)
        work("fitting both")
        one, other = (drive_of(log, chosen, horizon_s=horizon, counts_per_turn=counts_per_turn) for log in logs)
        found = same_floor_of_drives(one, other, drifting_icr(chosen))
    lines = [found.summary(), *truth_lines(logs)]
    show("\n".join(lines), {**found.to_document(), **truth_documents(logs)}, as_json=json)
    if found.is_other:
        raise typer.Exit(1)
