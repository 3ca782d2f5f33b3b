"""slipfit odometry, umbmark and circle: from counters, stopwatches, logs and driven paths to a robot's odometry constants."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.calibration.odometry import OdometryConstants
    from slipfit.library import SkidSteerRobot
    from slipfit.logs import DriveLog
    from slipfit.twin import FittedPowertrain, LogOrigin, SkidSteerTwin

TwinOption = Annotated[Path | None, typer.Option("--twin", help="Twin to add the constants to; without it a new one is made.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write the twin that has them (.yaml).")]
GroundOption = Annotated[str, typer.Option("--ground", help="Ground of the library for a new twin; not calibrated.")]


def odometry(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="READINGS|LOG...", help="Tables of readings (.yaml, .csv), or logs with commands or turns."),
    ],
    robot: RobotOption,
    twin: TwinOption = None,
    out: OutOption = None,
    ground: GroundOption = "lab_floor",
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Find counts per turn, metres per count, setpoint per speed, speed loops and the effective track; left and right apart.

    Readings are marked turns, taped runs, timed counts, spins. A log of commands and wheel speeds tells gain, dead band,
    saturation, lag and delay; one with turns and a pose or gyro tells the effective track.

    Example: slipfit odometry atrv_jr_odometry.yaml --robot atrv_jr -o atrv_jr.twin.yaml
    """
    from slipfit.calibration.odometry import constants_of, constants_of_log, is_readings
    from slipfit.twin import FittedPowertrain, LogOrigin

    given = _given("odometry", robot, twin, counts_per_turn, out, force=force)
    known, found, origins, drives = given.known, [], [], []
    with working(f"odometry of {given.robot.name}") as work:
        for path in inputs:
            work(f"reading {path.name}")
            if is_readings(path):
                found.append(constants_of(path, given.robot, known=known))
            else:
                (log,) = read_drives([path], topics=named_topics(topic), columns=columns, truth=truth)
                drives.append(log)
                counts = known.turn_counts_both if known else None
                found.append(constants_of_log(log, given.robot, counts_per_turn=counts, known=known))
                origins.append(LogOrigin(name=log.source, sha256=log.digest))
            known = (known or FittedPowertrain()).merged(found[-1].powertrain)
    lines = [*(one.summary() for one in found), *truth_lines(drives)]
    document = {
        **_together(found),
        **truth_documents(drives),
        "powertrain": known.model_dump(exclude_none=True) if known else None,
    }
    if known and (out or given.base):
        made = given.with_powertrain(known, ground, origins, f"powertrain from {', '.join(path.name for path in inputs)}")
        lines += _told(made, document, out, force=force)
    show("\n".join(lines), document | {"written": [out] if out else []}, as_json=json)


def umbmark(
    logs: Annotated[list[Path], typer.Argument(help="Logs of driven paths with encoders and a pose: one path each.")],
    robot: RobotOption,
    side_m: Annotated[float | None, typer.Option(help="Side of the squares; else a quarter of the way.")] = None,
    any_path: Annotated[bool, typer.Option("--any-path", help="Paths of any shape: a general fit of radii and tracks.")] = False,
    twin: TwinOption = None,
    out: OutOption = None,
    ground: GroundOption = "lab_floor",
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Radii and track from squares driven both ways (UMBmark), or with --any-path from paths of any shape.

    Example: slipfit umbmark cw_1.mcap cw_2.mcap ccw_1.mcap ccw_2.mcap --robot p3at -o p3at.twin.yaml
    """
    from slipfit.calibration.odometry import calibrate_paths, run_umbmark
    from slipfit.twin import LogOrigin

    if any_path and side_m is not None:
        raise ParameterError(f"umbmark: --side-m {side_m:g} with --any-path; expected one of them: only squares have a side")
    given = _given("umbmark", robot, twin, counts_per_turn, out, force=force)
    known = given.known
    counts = known.turn_counts_both if known else None
    with working(f"odometry of {given.robot.name} from {len(logs)} paths") as work:
        drives = read_drives(logs, topics=named_topics(topic), columns=columns, truth=truth, progress=work)
        result = (
            calibrate_paths(*drives, robot=given.robot, known=known)
            if any_path
            else run_umbmark(*drives, robot=given.robot, known=known, side_m=side_m)
        )
    document, found = {**result.to_document(), **truth_documents(drives)}, result.powertrain(counts)
    document["powertrain"] = found.model_dump(exclude_none=True)
    lines = [result.summary(), *truth_lines(drives)]
    if out:
        origins = [LogOrigin(name=log.source, sha256=log.digest) for log in drives]
        whole = known.merged(found) if known else found
        made = given.with_powertrain(whole, ground, origins, f"radii and track from {len(drives)} driven paths")
        if (used := found.effective_track_m) is not None:
            is_told = used.value is not None
            told = f"{used.text()}, {used.note}" if is_told else "as before, the paths do not tell it"
            lines.append(f"  effective_track_m of the twin: {told}")
        lines += _told(made, document, out, force=force)
        if counts is None:
            lines.append("radii are not in the twin: metres per count need --counts-per-turn")
    show("\n".join(lines), document | {"written": [out] if out else []}, as_json=json)


def circle(
    log: Annotated[
        Path | None, typer.Argument(help="Log of a driven circle with encoders and a pose; without it the twin drives.")
    ] = None,
    twin: Annotated[Path | None, typer.Option("--twin", help="Twin whose constants steer a simulated circle.")] = None,
    robot: Annotated[str | None, typer.Option("--robot", help="Robot of the library, or a file; for a log.")] = None,
    v_mps: Annotated[float, typer.Option("--v-mps", help="Translation that was commanded.")] = 0.1,
    yaw_rate_radps: Annotated[
        float, typer.Option("--yaw-rate-radps", help="Rotation that was commanded; to the right below zero.")
    ] = 0.1,
    turn_deg: Annotated[float, typer.Option("--turn-deg", help="How far to drive in simulation.")] = 360.0,
    start_s: Annotated[float, typer.Option("--start-s", help="When the circle begins in the log.")] = 0.0,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
) -> None:
    """Errors along and across a circle at every quarter, of a log or of a simulated twin, as % of the way.

    Example: slipfit circle --twin atrv_jr.twin.yaml --v-mps 0.2 --yaw-rate-radps 0.1
    """
    from slipfit.calibration.odometry import check_run, run_of_log
    from slipfit.calibration.odometry.path_check import simulate_circle
    from slipfit.library import skid_steer_robot
    from slipfit.twin import SkidSteerTwin

    if log is None:
        if twin is None:
            raise ParameterError("circle: neither log nor twin; give a LOG with --robot, or --twin TWIN to simulate")
        drives: list[DriveLog] = []
        checked = simulate_circle(SkidSteerTwin.load(twin), v_mps, yaw_rate_radps, math.radians(turn_deg))
    else:
        if robot is None and twin is None:
            raise ParameterError(f"circle: {log} needs --robot, to know its wheels")
        base = SkidSteerTwin.load(twin) if twin else None
        chosen = skid_steer_robot(robot, "circle") if robot else base.robot if base else None
        assert chosen is not None
        known = _with_counts(base.powertrain if base else None, counts_per_turn)
        drives = read_drives([log], topics=named_topics(topic), columns=columns, truth=truth)
        run = run_of_log(drives[0], chosen, counts_per_turn=known.turn_counts_both if known else None)
        checked = check_run(run, v_mps, yaw_rate_radps, start_s=start_s)
    text = "\n".join([checked.summary(), *truth_lines(drives)])
    show(text, {**checked.to_document(), **(truth_documents(drives) if drives else {})}, as_json=json)


class _Given(NamedTuple):
    """What `odometry` and `umbmark` start from."""

    robot: "SkidSteerRobot"
    base: "SkidSteerTwin | None"
    known: "FittedPowertrain | None"

    def with_powertrain(self, found: "FittedPowertrain", ground: str, logs: "list[LogOrigin]", note: str) -> "SkidSteerTwin":
        """The twin to add to, or a new one on this ground, with what was found."""
        return (self.base or _new_twin(self.robot, ground)).with_powertrain(found, logs=logs, note=note)


def _given(
    command: str, robot: str, twin: Path | None, counts_per_turn: float | None, out: Path | None, *, force: bool
) -> _Given:
    from slipfit.library import skid_steer_robot
    from slipfit.library.files import check_target

    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    chosen = skid_steer_robot(robot, command)
    base = _twin_of(twin, chosen)
    return _Given(chosen, base, _with_counts(base.powertrain if base else None, counts_per_turn))


def _told(made: "SkidSteerTwin", document: dict[str, Any], out: Path | None, *, force: bool) -> list[str]:
    """Save a twin where it is wanted; what is to be said of its tracks, in lines and in the document."""
    from slipfit.control.setpoints import track_findings

    said = track_findings(made)
    document["findings"] = [*document.get("findings", []), *said]
    lines = [f"  {line}" for line in said]
    if out:
        made.save(out, force=force)
        lines.append(f"wrote {out}")
    return lines


def _twin_of(path: Path | None, robot: "SkidSteerRobot") -> "SkidSteerTwin | None":
    """The twin to add to, which must be one of this robot."""
    from slipfit.twin import SkidSteerTwin

    if path is None:
        return None
    twin = SkidSteerTwin.load(path)
    wheels = twin.robot.wheels
    if twin.robot.name != robot.name or (wheels.at_m.value, wheels.radius_m.value) != (
        robot.wheels.at_m.value,
        robot.wheels.radius_m.value,
    ):
        what = f"is a twin of {twin.robot.name}" if twin.robot.name != robot.name else "has other wheels"
        raise ParameterError(f"{path} {what}, but --robot is {robot.name}; expected the same robot in both")
    return twin


def _with_counts(known: "FittedPowertrain | None", counts_per_turn: float | None) -> "FittedPowertrain | None":
    """What is known before, with --counts-per-turn in place of older counts."""
    from slipfit.twin import FittedParameter, FittedPowertrain, Status

    if counts_per_turn is None:
        return known
    if not (math.isfinite(counts_per_turn) and counts_per_turn > 0.0):
        raise ParameterError(f"--counts-per-turn is {counts_per_turn:g}; expected a number above zero")
    told = FittedParameter(value=counts_per_turn, status=Status.CONVERGED, source="--counts-per-turn")
    return (known or FittedPowertrain()).merged(FittedPowertrain(counts_per_turn=told))


def _new_twin(robot: "SkidSteerRobot", ground: str) -> "SkidSteerTwin":
    from slipfit.library import find_ground
    from slipfit.twin.uncalibrated import uncalibrated_twin

    return uncalibrated_twin(robot, find_ground(ground))


def _together(found: "list[OdometryConstants]") -> dict[str, Any]:
    """The documents of several inputs: what a later one found stands for what an earlier one did."""
    documents = [one.to_document() for one in found]
    parameters: dict[str, Any] = {}
    for document in documents:
        for name, p in document["parameters"].items():
            if p.get("value") is not None or parameters.get(name, {}).get("value") is None:
                parameters[name] = p
    return {
        "sources": [document["source"] for document in documents],
        "parameters": parameters,
        "findings": [line for document in documents for line in document["findings"]],
    }
