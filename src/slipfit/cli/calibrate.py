"""slipfit calibrate: from drive logs to a twin."""

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
    named_topics,
    read_drives,
)
from slipfit.cli.output import ForceFlag, JsonFlag, show, working

#: What --gravity-mps2 is where nobody says.
GRAVITY_MPS2 = 9.81


def calibrate(
    logs: Annotated[
        list[Path], typer.Argument(help="ROS 1 or ROS 2 bags (.bag, .mcap, .db3, folder), or CSV; several are pooled.")
    ],
    robot: RobotOption,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the twin here (.yaml); its report goes beside it.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the HTML report here instead.")] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    ground: Annotated[
        str, typer.Option(help="What to call the ground in the twin: a name of yours; the constants come from the logs alone.")
    ] = "calibrated",
    law: Annotated[str, typer.Option(help="wheel_slip or wheel_slip_cone.")] = "wheel_slip",
    gravity_mps2: Annotated[float, typer.Option(help="Gravity.")] = GRAVITY_MPS2,
    gyro_scale_std: Annotated[
        float, typer.Option(help="How far the gyro's scale may be off (0.005: half a per cent), where no pose tells it.")
    ] = 0.0,
    posterior: Annotated[
        str, typer.Option(help="gauss, or emcee: intervals from draws, of one log (pip install 'slipfit\\[posterior]').")
    ] = "gauss",
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    same_drive: SameDriveFlag = False,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Find a robot's slip constants on a ground from recorded drives, with intervals; write a twin and a report.

    A log needs wheel or side encoders and an IMU, a pose, or both: straight speed steps and spins on the spot (slipfit plan).

    Example: slipfit calibrate run.mcap --robot p3at -o p3at.twin.yaml

    Two files of one drive: slipfit calibrate a.csv b.csv --same-drive --columns a.yaml --columns b.yaml --robot p3at
    """
    from slipfit.calibration.posterior import checked_kind
    from slipfit.calibration.run import calibrate as fit_drives
    from slipfit.library import skid_steer_robot
    from slipfit.library.files import check_target

    page = None if no_report else report or (_beside(out) if out else None)
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    if page:
        check_target(page, force=force, formats=(".html",))
    kind, chosen, named = checked_kind(posterior), skid_steer_robot(robot, "calibrate"), named_topics(topic)
    with working(f"calibrating {chosen.name} from {', '.join(log.name for log in logs)}") as work:
        drives = read_drives(logs, topics=named, columns=columns, truth=truth, same_drive=same_drive, progress=work)
        without = _without_accelerations(drives)
        if without:
            unused = {
                f"--law {law}": law != "wheel_slip",
                f"--gravity-mps2 {gravity_mps2:g}": gravity_mps2 != GRAVITY_MPS2,
                f"--gyro-scale-std {gyro_scale_std:g}": gyro_scale_std != 0.0,
                f"--posterior {posterior}": posterior != "gauss",
                f"--report {report}": report is not None,
            }
            _refuse(drives[0], without, [option for option, is_given in unused.items() if is_given])
            by_ladder(drives[0], without, chosen, ground, out, page, work, counts_per_turn, as_json=json, force=force)
            return
        fit = fit_drives(
            *drives,
            robot=chosen,
            ground=ground,
            law=law,
            gravity_mps2=gravity_mps2,
            counts_per_turn=counts_per_turn,
            gyro_scale_std=gyro_scale_std,
            posterior=kind,
            progress=work,
        )
        if page:
            from slipfit.report.calibration_report import write_report

            work("writing the report")
            write_report(fit, page, force=force)
            work.wrote(page)
        if out:
            fit.to_twin().save(out, force=force)
            work.wrote(out)
    lines = [fit.summary(), *(f"wrote {path}" for path in work.written)]
    show("\n".join(lines), {**fit.to_document(), "written": work.written}, as_json=json)


def _without_accelerations(drives) -> str:  # type: ignore[no-untyped-def]  # imports are heavy
    """Why accelerations cannot be told, which the joint fit needs; empty where they can. Of several drives none may be so."""
    from slipfit.errors import LogError
    from slipfit.logs.channels import IMU
    from slipfit.logs.rims import seldom_hz

    def why(drive) -> str:  # type: ignore[no-untyped-def]
        rate_hz = seldom_hz(drive)
        if rate_hz is not None:
            return f"the wheels' speeds come {rate_hz:.2g} times a second, too seldom for accelerations"
        return "the IMU tells no accelerations" if IMU in drive and "accel_x_mps2" not in drive[IMU].columns else ""

    told = [(drive, reason) for drive in drives if (reason := why(drive))]
    if told and len(drives) > 1:
        drive, reason = told[0]
        raise LogError(
            f"{drive.source or 'a drive'}: {reason}; expected accelerations, and speeds 15 times a second, in each of several "
            f"logs: leave it out, or give each log to slipfit compare with --twin and --ground"
        )
    return told[0][1] if told else ""


def _refuse(drive, without: str, options: list[str]) -> None:  # type: ignore[no-untyped-def]  # imports are heavy
    """Options of the joint fit that models from speeds to motion have no use for."""
    from slipfit.errors import ParameterError

    if options:
        them = "it" if len(options) == 1 else "them"
        raise ParameterError(
            f"{drive.source or 'the drive'}: {without}, which the joint fit needs; models from speeds to motion have no use for "
            f"{', '.join(options)}: leave {them} out"
        )


def by_ladder(  # type: ignore[no-untyped-def]  # imports are heavy
    drive,
    without: str,
    robot,
    ground: str,
    out: Path | None,
    page: Path | None,
    work,
    counts_per_turn,
    *,
    as_json: bool,
    force: bool,
) -> None:
    """A log without accelerations: models that need speeds and turning only, and their twin."""
    from slipfit.calibration.ladder import compare
    from slipfit.calibration.ladder.to_twin import with_ladder
    from slipfit.library.files import check_target
    from slipfit.report.figures import save_figure
    from slipfit.report.ladder_figure import draw_ladder

    picture = page.with_suffix(".png") if page else None
    if picture:
        check_target(picture, force=force)
    ladder = compare(drive, robot=robot, counts_per_turn=counts_per_turn, progress=work)
    why = (
        f"{without}: models from speeds to motion are compared instead (slipfit compare)"
        f"{', a figure stands in for the report' if picture else ''}; "
        f"{ladder.chosen.name} is chosen"
    )
    if picture:
        save_figure(draw_ladder(ladder), picture, force=force)
        work.wrote(picture)
    twin = with_ladder(None, ladder, ground)
    if out:
        twin.save(out, force=force)
        work.wrote(out)
    lines = [why, ladder.summary(), *(f"wrote {path}" for path in work.written)]
    show("\n".join(lines), {"note": why, **ladder.to_document(), "written": work.written}, as_json=as_json)


def _beside(twin: Path) -> Path:
    """p3at.twin.yaml -> p3at.report.html."""
    return twin.with_name(twin.name.removesuffix(twin.suffix).removesuffix(".twin") + ".report.html")
