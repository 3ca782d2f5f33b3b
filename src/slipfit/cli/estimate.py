"""slipfit estimate: slip, friction and soil over time, from a robot's own sensors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipfit.cli.log_options import (
    ColumnsOption,
    CountsOption,
    SameDriveFlag,
    TopicOption,
    check_one_drive,
    named_topics,
    read_drives,
)
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.cli.results import check_results, write_results
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.estimate import SlipEstimate
    from slipfit.estimate.friction import DriveConstants
    from slipfit.library import OmniRobot, Robot
    from slipfit.logs import DriveLog


def estimate(
    twin: Annotated[str, typer.Argument(help="Twin file; or a robot of the library, or its file.")],
    logs: Annotated[list[Path], typer.Argument(help="ROS 1 or ROS 2 bag (.bag, .mcap, .db3, folder), or CSV; one drive.")],
    ground: Annotated[str | None, typer.Option(help="Ground of the twin, where it has several.")] = None,
    centres: Annotated[bool, typer.Option("--centres", help="Estimate rotation centres instead of slip velocities.")] = False,
    forward: Annotated[bool, typer.Option("--forward", help="No smoothing: every moment rests on what came before it.")] = False,
    pose_std_m: Annotated[float, typer.Option(help="Standard deviation of a pose's place.")] = 0.02,
    pose_std_rad: Annotated[float, typer.Option(help="Standard deviation of a pose's heading.")] = 0.01,
    adapt: Annotated[bool, typer.Option("--adapt", help="Let the noise of slip follow the innovations.")] = False,
    newton_per_ampere: Annotated[
        float | None, typer.Option(help="Force of a side for each ampere; tells friction from motor currents.")
    ] = None,
    newton_per_ampere_std: Annotated[float, typer.Option(help="Its standard deviation.")] = 0.0,
    contact_length_m: Annotated[
        float | None, typer.Option(help="Length of a track's contact, for friction of tracks and soil.")
    ] = None,
    contact_area_m2: Annotated[float | None, typer.Option(help="Area of a side's contact: fit soil constants too.")] = None,
    series: Annotated[
        Path | None, typer.Option(help="Write all series: topics into an .mcap file, or CSV files into a folder.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the estimate as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this picture (.png, .svg or .pdf).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report.")] = None,
    topic: TopicOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Slip of both sides and slip angle over time, with spreads, and whether the robot is stuck. With motor currents, friction
    and soil.

    Example: slipfit estimate husky.twin.yaml run.mcap --plot slip.png --series slip.mcap
    """
    from slipfit.estimate import FilterSettings
    from slipfit.estimate.from_log import CORRELATION_S
    from slipfit.estimate.from_log import estimate as run
    from slipfit.twin import Twin, find_wheeled

    check_one_drive(logs, same_drive=same_drive)
    driver, named = find_wheeled(twin), named_topics(topic)
    _check_targets(out, plot, series, report, force=force)
    settings = FilterSettings(
        pose_m=pose_std_m, pose_rad=pose_std_rad, adapt=0.05 if adapt else 0.0,
        correlation_s=CORRELATION_S if isinstance(driver, Twin) else None,
    )  # fmt: skip
    robot = driver.robot if isinstance(driver, Twin) else driver
    constants = _constants(robot, newton_per_ampere, newton_per_ampere_std)
    if contact_area_m2 is not None and contact_length_m is None:
        raise ParameterError("--contact-area-m2 is given without --contact-length-m; soil constants need both")
    with working(f"estimating slip in {', '.join(log.name for log in logs)}") as work:
        (log,) = read_drives(logs, topics=named, columns=columns, same_drive=same_drive, progress=work)
        work("filtering")
        found = run(
            driver, log, ground=ground, formulation="centres" if centres else "slip", settings=settings, smooth=not forward,
            counts_per_turn=counts_per_turn,
        )  # fmt: skip
        more = _more(found, log, robot, constants, contact_length_m, contact_area_m2)
    written = write_results(found, lambda: _figure(found, more), out, plot, force=force)
    if series:
        found.to_log().save(series, force=force)
        written.append(series)
    if report:
        from slipfit.report.estimate_report import write_estimate_report

        write_estimate_report(found, report, more=[record.summary() for record in more.values()], force=force)
        written.append(report)
    text = [found.summary(), *(record.summary() for record in more.values()), *(f"wrote {path}" for path in written)]
    document = {**found.to_document(), **{name: record.to_document() for name, record in more.items()}, "written": written}
    show("\n".join(text), document, as_json=json)


def _check_targets(out: Path | None, plot: Path | None, series: Path | None, report: Path | None, *, force: bool) -> None:
    """Stop before any work where a result could not be written."""
    from slipfit.library.files import check_target

    check_results(out, plot, force=force)
    if series and series.suffix:
        check_target(series, force=force, formats=(".mcap", ".bag"))
    if report:
        check_target(report, force=force, formats=(".html",))


def _constants(robot: "Robot | OmniRobot", per_ampere: float | None, std: float) -> "DriveConstants | None":
    """What a current means: given, or by the motors of the robot's file; None where neither says so."""
    from slipfit.estimate.friction import DriveConstants
    from slipfit.library import OmniRobot
    from slipfit.library.robot import DcMotor

    if per_ampere is not None:
        return DriveConstants(per_ampere, std)
    if isinstance(robot, OmniRobot) or not isinstance(robot.powertrain, DcMotor):
        return None
    return DriveConstants.of(robot)


def _more(
    found: "SlipEstimate",
    log: "DriveLog",
    robot: "Robot | OmniRobot",
    constants: "DriveConstants | None",
    length_m: float | None,
    area_m2: float | None,
) -> dict[str, Any]:
    """Friction where the log has currents that mean something; soil where the patch is given too."""
    from slipfit.library import OmniRobot
    from slipfit.logs.channels import MOTORS

    if constants is None or MOTORS not in log or isinstance(robot, OmniRobot):
        return {}
    from slipfit.estimate.friction import friction

    more: dict[str, Any] = {"friction": friction(found, log, robot, constants, contact_length_m=length_m)}
    if area_m2 is not None and length_m is not None:
        from slipfit.estimate.soil import fit_soil
        from slipfit.estimate.soil_of_drive import tractions

        more["soil"] = fit_soil(tractions(found, log, robot, constants, area_m2=area_m2, length_m=length_m))
    return more


def _figure(found: "SlipEstimate", more: dict[str, Any]) -> Any:
    from slipfit.report.estimate_figure import draw_estimate

    return draw_estimate(found, more.get("friction"))
