"""slipfit estimate: slip, friction and soil over time, from a robot's own sensors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
from slipfit.cli.track_twin import TwinOption, TwinTarget, twin_target
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.estimation import SlipEstimate
    from slipfit.estimation.friction import DriveConstants
    from slipfit.estimation.motion import BodyMotion
    from slipfit.estimation.surfaces import Surfaces
    from slipfit.estimation.truth import Truth
    from slipfit.library import Ground, OmniRobot, Robot, SkidSteerRobot
    from slipfit.logs import DriveLog


def estimate(
    twin: Annotated[str, typer.Argument(help="Twin file; or a robot of any drive of the library, or its file.")],
    logs: Annotated[list[Path], typer.Argument(help="ROS 1 or ROS 2 bag (.bag, .mcap, .db3, folder), or CSV; one drive.")],
    ground: Annotated[str | None, typer.Option(help="Ground of the twin, where it has several.")] = None,
    centres: Annotated[bool, typer.Option("--centres", help="Estimate rotation centres instead of slip velocities.")] = False,
    forward: Annotated[bool, typer.Option("--forward", help="No smoothing: every moment rests on what came before it.")] = False,
    pose_std_m: Annotated[
        float | None, typer.Option(help="Standard deviation of a pose's place; 0.02, or what poses scatter by, where not given.")
    ] = None,
    pose_std_rad: Annotated[float | None, typer.Option(help="Of a pose's heading; 0.01 likewise.")] = None,
    pose_late_s: Annotated[
        float | None, typer.Option(help="By how much poses are late; found by itself where not given.")
    ] = None,
    imu_at_m: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="X Y", help="Where the IMU sits, ahead and to the left of the wheels' centre."),
    ] = None,
    effective_track_m: Annotated[
        float | None, typer.Option(help="Track by which the robot turns as it does: which slip to expect without a twin.")
    ] = None,
    slip_map: Annotated[
        Path | None, typer.Option(help="What `slipfit omni calibrate -o` wrote: which slip to expect of an omni robot.")
    ] = None,
    adapt: Annotated[bool, typer.Option("--adapt", help="Let the noise of slip follow the innovations.")] = False,
    newton_per_ampere: Annotated[
        float | None, typer.Option(help="Force of a side for each ampere; tells friction from motor currents.")
    ] = None,
    newton_per_ampere_std: Annotated[float, typer.Option(help="Its standard deviation.")] = 0.0,
    contact_length_m: Annotated[
        float | None, typer.Option(help="Length of a track's contact, for friction of tracks and soil.")
    ] = None,
    contact_area_m2: Annotated[float | None, typer.Option(help="Area of a side's contact: fit soil constants too.")] = None,
    soil: Annotated[
        str | None, typer.Option(help="Soil to take the constants from that a drive does not tell: name, or .yaml.")
    ] = None,
    with_surfaces: Annotated[
        bool, typer.Option("--surfaces", help="Tell where the drive comes onto another surface (two minutes of motion or more).")
    ] = False,
    into: TwinOption = None,
    new_ground: Annotated[str, typer.Option(help="What to call the ground in that twin.")] = "driven",
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC|none|FILE",
            help="Pose of the log that the filter uses, or none (default: one that is independent of the wheels). Or a file to "
            "compare with: what `slipfit simulate -o` wrote (.parquet, .csv), or a log with a better pose.",
        ),
    ] = None,
    withhold: Annotated[
        list[str] | None,
        typer.Option(help="Sensor that the filter is not told, as pose; a withheld pose is the truth where none is given."),
    ] = None,
    series: Annotated[
        Path | None, typer.Option(help="Write all series: topics into an .mcap or .bag file, or CSV files into a folder.")
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
    """Slip of both sides and slip angle over time (of omni robots ahead, aside and turning), with spreads, and whether the robot
    is stuck. With motor currents, friction and soil.

    Example: slipfit estimate husky.twin.yaml run.mcap --plot slip.png --series slip.mcap
    """
    from slipfit.estimation import FilterSettings
    from slipfit.estimation.from_log import estimate as run
    from slipfit.estimation.readings import SENSORS
    from slipfit.twin import find_driver

    if Path(twin).suffix in (".mcap", ".bag", ".db3"):
        raise ParameterError(f"{twin} is a log, and the twin or robot comes first: slipfit estimate husky.twin.yaml {twin}")
    check_one_drive(logs, same_drive=same_drive)
    driver, named = find_driver(twin), named_topics(topic)
    target = twin_target(into, driver, new_ground, force=force)
    _check_targets(out, plot, series, report, force=force)
    usual = FilterSettings()
    settings = FilterSettings(
        pose_m=usual.pose_m if pose_std_m is None else _spread("--pose-std-m", pose_std_m, "m"),
        pose_rad=usual.pose_rad if pose_std_rad is None else _spread("--pose-std-rad", pose_std_rad, "rad"),
        adapt=0.05 if adapt else 0.0,
    )
    is_pose_given = pose_std_m is not None or pose_std_rad is not None
    widen = tuple(sensor for sensor in SENSORS if not (sensor == "pose" and is_pose_given))
    robot, expected, used = driver.robot.as_wheeled(), _expected(slip_map, driver.robot), _used(withhold)
    reference = Path(truth) if truth is not None and _is_file(truth) else None
    _check_truth(reference, used, logs)
    forces = _forces(driver.robot, newton_per_ampere, newton_per_ampere_std, contact_length_m, contact_area_m2, soil)
    said = "; a filter that was never run here is compiled first, a minute or two"
    with working(f"estimating slip in {', '.join(log.name for log in logs)}{said}") as work:
        pose = None if reference is not None else truth
        (log,) = read_drives(logs, topics=named, columns=columns, same_drive=same_drive, truth=pose, progress=work)
        _check_currents(log, robot, wanted=newton_per_ampere is not None or contact_area_m2 is not None)
        work("filtering")
        found = run(
            driver, log, ground=ground, formulation="centres" if centres else "slip", settings=settings, smooth=not forward,
            counts_per_turn=counts_per_turn, late_s=None if pose_late_s is None else {"pose": pose_late_s}, imu_at_m=imu_at_m,
            effective_track_m=effective_track_m, expected=expected, widen=widen, use=used,
            truth=_truth(reference, used, log, named),
        )  # fmt: skip
        more = _more(found, log, robot, forces)
        if with_surfaces:
            work("looking for changes of the surface")
            more["surfaces"] = _surfaces(found, log, robot)
    written = write_results(found, lambda: _figure(found, more), out, plot, force=force)
    if target:
        written.append(_into_twin(target, new_ground, found, forces, more))
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


class _Forces(NamedTuple):
    """What turns currents into friction and soil: constants of the drive (None where nobody says them), the contact of a side,
    and the soil that constants are taken from which a drive does not tell."""

    constants: "DriveConstants | None"
    length_m: float | None
    area_m2: float | None
    base: "Ground | None"


def _forces(
    robot: "Robot",
    per_ampere: float | None,
    std: float,
    length_m: float | None,
    area_m2: float | None,
    soil: str | None,
) -> _Forces:
    """The options of friction and soil, checked together."""
    from slipfit.library import find_ground

    constants = _constants(robot, per_ampere, std)
    if robot.has_belts and length_m is None:
        length_m = robot.wheelbase_m
    if soil is not None and area_m2 is None:
        raise ParameterError("--soil is given without --contact-area-m2; soil constants need the area of a side's contact")
    if area_m2 is not None and length_m is None:
        raise ParameterError("--contact-area-m2 is given without --contact-length-m; soil constants need both")
    if area_m2 is not None and constants is None:
        raise ParameterError(
            "--contact-area-m2 is given without --newton-per-ampere, and the robot's file has no motors; soil needs forces"
        )
    return _Forces(constants, length_m, area_m2, None if soil is None else find_ground(soil))


def _into_twin(target: TwinTarget, ground: str, found: "SlipEstimate", forces: _Forces, more: dict[str, Any]) -> Path:
    """Put what a drive told into a tracked robot's twin."""
    from slipfit.estimation.track_twin import Contact, grounds_of_drive
    from slipfit.twin import LogOrigin

    patch = Contact(forces.length_m or target.robot.wheelbase_m, forces.area_m2)
    grounds = grounds_of_drive(ground, found, target.robot, patch, more.get("friction"), more.get("soil"), forces.base)
    return target.write(grounds, [LogOrigin(name=found.name, sha256=found.digest)])


def _used(withhold: list[str] | None) -> tuple[str, ...]:
    """Sensors that the filter is told."""
    from slipfit.estimation.from_log import USUAL

    for name in withhold or ():
        if name not in USUAL:
            raise ParameterError(f"--withhold {name}: there is no such sensor; expected one of {', '.join(USUAL)}")
    return tuple(sensor for sensor in USUAL if sensor not in (withhold or ()))


def _spread(option: str, given: float, unit: str) -> float:
    if not 0.0 < given < float("inf"):
        raise ParameterError(f"{option} is {given:g}; expected the standard deviation of a pose, more than 0 {unit}")
    return given


def _is_file(truth: str) -> bool:
    """Whether --truth names a file, and not a topic."""
    return Path(truth).exists() or Path(truth).suffix in (".parquet", ".csv", ".mcap", ".bag", ".db3")


def _check_truth(truth: Path | None, used: tuple[str, ...], logs: list[Path]) -> None:
    """A pose that the filter follows cannot judge it."""
    if truth is not None and "pose" in used and truth.resolve() in {log.resolve() for log in logs}:
        raise ParameterError(f"--truth {truth}: the filter is told this pose itself; `--withhold pose` keeps it from the filter")


def _truth(path: Path | None, used: tuple[str, ...], log: "DriveLog", topics: dict[str, str]) -> "Truth | None":
    """What errors are taken against: a file, or the pose that was withheld."""
    from slipfit.estimation.truth import Truth

    if path is not None:
        return Truth.load(path, topics)
    return None if "pose" in used else Truth.of_log(log)


def _expected(slip_map: Path | None, robot: "Robot") -> "BodyMotion | None":
    """The motion that a calibration of an omni robot expects."""
    if slip_map is None:
        return None
    from slipfit.calibration.omni import OmniCalibration

    found = OmniCalibration.load(slip_map)
    if found.robot != robot.name:
        raise ParameterError(
            f"{slip_map}: the slip map of {found.robot}; expected one of {robot.name}, calibrate it with its own runs"
        )
    return found.slip_map.velocity


def _check_targets(out: Path | None, plot: Path | None, series: Path | None, report: Path | None, *, force: bool) -> None:
    """Stop before any work where a result could not be written."""
    from slipfit.library.files import check_folder, check_target

    check_results(out, plot, force=force)
    if series and series.suffix:
        if series.suffix not in (".mcap", ".bag"):
            raise ParameterError(
                f"--series {series}: cannot write one file of '{series.suffix}'; expected a name that ends in .mcap or .bag, or "
                f"a folder for CSV files, as {series.with_suffix('')}"
            )
        check_target(series, force=force)
    elif series:
        check_folder(series, ["slip_estimate.csv"], force=force)  # written together with the others
    if report:
        check_target(report, force=force, formats=(".html",))


def _constants(robot: "Robot", per_ampere: float | None, std: float) -> "DriveConstants | None":
    """What a current means: given, or by the motors of the robot's file; None where neither says so."""
    from slipfit.estimation.friction import DriveConstants
    from slipfit.library import skid_steer_robot, tracked_robot
    from slipfit.library.robot import DcMotor

    if per_ampere is not None:
        return (
            DriveConstants.of_tracks(tracked_robot(robot), per_ampere, std)
            if robot.has_belts
            else DriveConstants(per_ampere, std)
        )
    if not robot.has_sides or not isinstance(robot.powertrain, DcMotor):
        return None
    return DriveConstants.of(skid_steer_robot(robot))


def _check_currents(log: "DriveLog", robot: "SkidSteerRobot | OmniRobot", *, wanted: bool) -> None:
    """Friction or soil that was asked for and cannot be told is no silence but a sentence."""
    from slipfit.logs.channels import MOTORS

    if wanted and not robot.has_sides:
        raise ParameterError(
            f"friction and soil are told of skid-steer and tracked robots, and {robot.name} is an omni robot; leave out "
            "--newton-per-ampere and --contact-area-m2, or see `slipfit omni calibrate`"
        )
    if wanted and MOTORS not in log:
        raise ParameterError(
            f"{log.source}: friction and soil need motor currents, and the log has none; name their topics "
            "(--topic motors.left_current_a=/status:left_current) or columns (left_motor_current), or leave out "
            "--newton-per-ampere and --contact-area-m2"
        )


def _more(found: "SlipEstimate", log: "DriveLog", robot: "SkidSteerRobot | OmniRobot", forces: _Forces) -> dict[str, Any]:
    """Friction where the log has currents that mean something; soil where the patch is given too."""
    from slipfit.library import skid_steer_robot
    from slipfit.logs.channels import MOTORS

    constants, length_m, area_m2, base = forces
    if constants is None or MOTORS not in log or not robot.has_sides:
        return {}
    sided = skid_steer_robot(robot)
    from slipfit.estimation.friction import friction

    more: dict[str, Any] = {"friction": friction(found, log, sided, constants, contact_length_m=length_m)}
    if area_m2 is not None and length_m is not None:
        from slipfit.estimation.soil_of_drive import fit_soil_of_drive, tractions
        from slipfit.estimation.track_twin import prior_of

        measured = tractions(found, log, sided, constants, area_m2=area_m2, length_m=length_m)
        share = constants.newton_per_ampere_std / constants.newton_per_ampere
        more["soil"] = fit_soil_of_drive(measured, force_std=share, prior=prior_of(base) if base else None)
    return more


def _surfaces(found: "SlipEstimate", log: "DriveLog", robot: "SkidSteerRobot | OmniRobot") -> "Surfaces":
    from slipfit.estimation.surfaces import surfaces
    from slipfit.library import skid_steer_robot

    if not robot.has_sides:
        raise ParameterError(
            f"--surfaces: {robot.name} has omni wheels; surfaces are told of robots with a left and a right side"
        )
    return surfaces(found, log, skid_steer_robot(robot))


def _figure(found: "SlipEstimate", more: dict[str, Any]) -> Any:
    from slipfit.report.estimate_figure import draw_estimate

    return draw_estimate(found, more.get("friction"))
