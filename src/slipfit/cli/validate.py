"""slipfit validate: how well a twin predicts drives that it has not seen."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.log_options import (
    ColumnsOption,
    CountsOption,
    SameDriveFlag,
    TopicOption,
    TruthOption,
    named_topics,
    read_drives,
)
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError


def validate(
    twin: Annotated[Path, typer.Argument(help="Twin file.")],
    logs: Annotated[list[Path], typer.Argument(help="ROS 1 or ROS 2 bags (.bag, .mcap, .db3, folder), or CSV.")],
    ground: Annotated[str | None, typer.Option(help="Ground of the twin that the logs were driven on.")] = None,
    horizons: Annotated[str, typer.Option(help="Lengths of windows, in seconds, with commas.")] = "1,2,5,10",
    plot: Annotated[Path | None, typer.Option(help="Draw the errors into this picture (.png, .svg or .pdf).")] = None,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Predict recorded drives from their wheel speeds and compare with where the robot was: the twin beside the no-slip model and
    the one with equal slip (T²+B²). Exit code 1 when the twin does not beat the no-slip model.

    Example: slipfit validate p3at.twin.yaml second_run.mcap --plot errors.png
    """
    from slipfit.calibration.validation import validate as compare
    from slipfit.twin import SkidSteerTwin

    lengths = _lengths(horizons)
    record, named = SkidSteerTwin.load(twin), named_topics(topic)
    if plot:
        from slipfit.library.files import check_target
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)
    with working(f"validating on {', '.join(log.name for log in logs)}") as work:
        drives = read_drives(logs, topics=named, columns=columns, truth=truth, same_drive=same_drive, progress=work)
        work("predicting")
        validation = compare(record, *drives, ground=ground, horizons_s=lengths, counts_per_turn=counts_per_turn)
    written = []
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.report.validation_figure import draw_validation

        save_figure(draw_validation(validation), plot, force=force)
        written.append(plot)
    lines = [validation.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**validation.to_document(), "written": written}, as_json=json)
    if not validation.beats_no_slip:
        raise typer.Exit(1)


def _lengths(text: str) -> list[float]:
    try:
        lengths = sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise ParameterError(f"--horizons is '{text}'; expected seconds with commas, as 1,2,5,10") from None
    if not all(0.05 <= length <= 3600.0 for length in lengths):
        raise ParameterError(f"--horizons is '{text}'; expected between 0.05 and 3600 s each")
    return lengths
