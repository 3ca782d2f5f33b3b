"""slipfit odometry, umbmark and circle: from counters, stopwatches, logs and driven paths to a robot's odometry constants."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipfit.cli.log_options import ColumnsOption, CountsOption, RobotOption, TopicOption, named_topics, read_drives
from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.calibrate.odometry import OdometryConstants
    from slipfit.library import Robot
    from slipfit.twin import FittedPowertrain, Twin

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
    from slipfit.calibrate.odometry import constants_of, constants_of_log
    from slipfit.library import find_robot
    from slipfit.twin import FittedPowertrain, LogOrigin, Twin

    _check(out, force=force)
    chosen, base = find_robot(robot), Twin.load(twin) if twin else None
    known = base.powertrain if base else None
    found, origins = [], []
    with working(f"odometry of {chosen.name}") as work:
        for path in inputs:
            work(f"reading {path.name}")
            if _is_readings(path):
                found.append(constants_of(path, chosen))
            else:
                (log,) = read_drives([path], topics=named_topics(topic), columns=columns)
                counts = counts_per_turn or _counts(known)
                found.append(constants_of_log(log, chosen, counts_per_turn=counts, known=known))
                origins.append(LogOrigin(name=log.source, sha256=log.digest))
            known = (known or FittedPowertrain()).merged(found[-1].powertrain)
    lines = [one.summary() for one in found]
    document = {**_together(found), "powertrain": known.model_dump(exclude_none=True) if known else None}
    if out and known:
        source = ", ".join(path.name for path in inputs)
        start = base or _new_twin(chosen, ground)
        start.with_powertrain(known, logs=origins, note=f"powertrain from {source}").save(out, force=force)
        lines.append(f"wrote {out}")
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
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Radii and track from squares driven both ways (UMBmark), or with --any-path from paths of any shape.

    Example: slipfit umbmark cw_1.mcap cw_2.mcap ccw_1.mcap ccw_2.mcap --robot p3at -o p3at.twin.yaml
    """
    from slipfit.calibrate.odometry import fit_runs, run_of_log, umbmark_of_runs
    from slipfit.library import find_robot
    from slipfit.twin import FittedPowertrain, LogOrigin, Side, Twin

    _check(out, force=force)
    chosen, base = find_robot(robot), Twin.load(twin) if twin else None
    counts = counts_per_turn or _counts(base.powertrain if base else None)
    with working(f"odometry of {chosen.name} from {len(logs)} paths") as work:
        drives = read_drives(logs, topics=named_topics(topic), columns=columns, progress=work)
        runs = [run_of_log(log, chosen, counts_per_turn=counts) for log in drives]
        radius, track = chosen.wheels.radius_m.value, chosen.track_m
        result = (
            fit_runs(runs, radius_m=radius, track_m=track)
            if any_path
            else umbmark_of_runs(runs, radius_m=radius, track_m=track, side_m=side_m)
        )
    document = result.to_document()
    lines = [result.summary()]
    if out:
        parameters = result.parameters()
        sides = {}
        for side in ("left", "right"):
            found_radius = parameters[f"radius_{side}_m"]
            per_count = found_radius.scaled(2.0 * math.pi / counts) if counts and found_radius.value is not None else None
            sides[side] = Side(metres_per_count=per_count)
        found = FittedPowertrain(effective_track_m=parameters["track_m"], **sides)
        start = base or _new_twin(chosen, ground)
        origins = [LogOrigin(name=log.source, sha256=log.digest) for log in drives]
        start.with_powertrain(found, logs=origins, note=f"radii and track from {len(runs)} driven paths").save(out, force=force)
        lines.append(f"wrote {out}")
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
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
) -> None:
    """Errors along and across a circle at every quarter, of a log or of a simulated twin, as % of the way.

    Example: slipfit circle --twin atrv_jr.twin.yaml --v-mps 0.2 --yaw-rate-radps 0.1
    """
    from slipfit.calibrate.odometry import check_run, run_of_log
    from slipfit.calibrate.odometry.path_check import simulate_circle
    from slipfit.library import find_robot
    from slipfit.twin import Twin

    if log is None:
        if twin is None:
            raise ParameterError("circle: neither log nor twin; give a LOG with --robot, or --twin TWIN to simulate")
        checked = simulate_circle(Twin.load(twin), v_mps, yaw_rate_radps, math.radians(turn_deg))
    else:
        if robot is None and twin is None:
            raise ParameterError(f"circle: {log} needs --robot, to know its wheels")
        chosen = find_robot(robot) if robot else Twin.load(twin).robot if twin else None
        (drive,) = read_drives([log], topics=named_topics(topic), columns=columns)
        assert chosen is not None
        run = run_of_log(drive, chosen, counts_per_turn=counts_per_turn)
        checked = check_run(run, v_mps, yaw_rate_radps, start_s=start_s)
    show(checked.summary(), checked.to_document(), as_json=json)


def _check(out: Path | None, *, force: bool) -> None:
    from slipfit.library.files import check_target

    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))


def _is_readings(path: Path) -> bool:
    """A YAML file is a table of readings, a CSV file is one if its header says so."""
    from slipfit.calibrate.readings import names_of_readings

    if path.suffix in (".yaml", ".yml"):
        return True
    return path.suffix == ".csv" and "setpoint" in names_of_readings(path)


def _counts(powertrain: "FittedPowertrain | None") -> float | None:
    known = powertrain.counts_per_turn if powertrain else None
    return None if known is None else known.value


def _new_twin(robot: "Robot", ground: str) -> "Twin":
    from slipfit.library import find_ground
    from slipfit.twin.uncalibrated import uncalibrated_twin

    return uncalibrated_twin(robot, find_ground(ground))


def _together(found: "list[OdometryConstants]") -> dict[str, object]:
    """The documents of several inputs: what a later one found stands for what an earlier one did."""
    documents = [one.to_document() for one in found]
    parameters = {name: p for document in documents for name, p in document["parameters"].items()}
    return {
        "sources": [document["source"] for document in documents],
        "parameters": parameters,
        "findings": [line for document in documents for line in document["findings"]],
    }
