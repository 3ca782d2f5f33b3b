"""slipfit friction: friction coefficients by tilting, pulling, stalling or braking, typed or from a log."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from slipfit.cli.log_options import ColumnsOption, TopicOption, named_topics, read_drives
from slipfit.cli.output import ForceFlag, JsonFlag, show, table
from slipfit.errors import ParameterError

app = typer.Typer(invoke_without_command=True)

TESTS = {
    "tilt": "lock the wheels and tilt the ground until the robot slides: mu = tan(angle), static",
    "pull": "spin all wheels against a scale, or drag the locked robot: mu = F / (m g), sliding",
    "stall": "spin all wheels of a held robot: mu = torque / (R m g), sliding",
    "braking": "lock the wheels at speed: mu = v^2 / (2 g d), sliding",
}

LogOption = Annotated[list[Path] | None, typer.Option("--log", help="Log of a test, instead of typed readings; may be repeated.")]
ReadingsOption = Annotated[Path | None, typer.Option("--readings", help="Table of readings, .csv or .yaml, with these names.")]
IntoOption = Annotated[Path | None, typer.Option("--into", help="Twin to put the coefficient into.")]
GroundOption = Annotated[str | None, typer.Option("--ground", help="Ground of the twin; needed if it has several.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write the twin that has it.")]
RobotOption = Annotated[str | None, typer.Option("--robot", help="Robot of the library, or a file.")]
MassOption = Annotated[float | None, typer.Option("--mass-kg", help="Mass, instead of the robot's.")]
MassStdOption = Annotated[float | None, typer.Option("--mass-std-kg", help="Standard deviation of that mass.")]
SlopeOption = Annotated[float, typer.Option("--slope-deg", help="Slope; above zero if the robot pulls or drives uphill.")]
GravityOption = Annotated[float, typer.Option("--gravity-mps2", help="Gravity.")]
BreakawayFlag = Annotated[bool, typer.Option("--breakaway", help="Readings are the last before sliding: static friction.")]


@app.callback()
def list_tests(context: typer.Context, json: JsonFlag = False) -> None:
    """List the tests; each is a command of its own.

    Example: slipfit friction tilt --angle-deg 31.2 --angle-deg 30.8 --angle-deg 31.5
    """
    if not context.invoked_subcommand:
        text = table(list(TESTS.items()), ("test", "what to do")) + "\n\nslipfit friction TEST --help tells what each takes."
        show(text, {"tests": TESTS}, as_json=json)


@app.command("tilt")
def tilt(
    angle_deg: Annotated[list[float] | None, typer.Option(help="Angle at which it began to slide; may be repeated.")] = None,
    angle_std_deg: Annotated[float | None, typer.Option(help="Standard deviation of one reading.")] = None,
    readings: ReadingsOption = None,
    log: LogOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    into: IntoOption = None,
    ground: GroundOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Static friction from the angle at which a robot with locked wheels begins to slide.

    Example: slipfit friction tilt --angle-deg 31.2 --angle-deg 30.8 --angle-deg 31.5
    """
    from slipfit.calibration import friction, friction_logs

    _check_target(into, out, force=force)
    if log:
        _only_log(log, angle_deg=angle_deg, readings=readings)
        logs = _logs(log, columns, topic)
        result = friction_logs.from_logs("tilt", [r for each in logs for r in friction_logs.tilt_log(each)], logs)
    else:
        (angles,) = _typed(readings, angle_deg=angle_deg)
        std = None if angle_std_deg is None else math.radians(angle_std_deg)
        result = friction.tilt([math.radians(angle) for angle in angles], angle_std_rad=std, source=_source(readings))
    _finish(result, into, ground, out, json=json, force=force)


@app.command("pull")
def pull(
    force_n: Annotated[list[float] | None, typer.Option(help="Force on the drawbar; may be repeated.")] = None,
    force_std_n: Annotated[float | None, typer.Option(help="Standard deviation of one reading.")] = None,
    robot: RobotOption = None,
    mass_kg: MassOption = None,
    mass_std_kg: MassStdOption = None,
    slope_deg: SlopeOption = 0.0,
    gravity_mps2: GravityOption = 9.81,
    breakaway: BreakawayFlag = False,
    readings: ReadingsOption = None,
    log: LogOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    into: IntoOption = None,
    ground: GroundOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Friction from the force with which the wheels slip, or a robot with locked wheels is dragged.

    Example: slipfit friction pull --force-n 95 --force-n 92 --force-n 98 --robot p3at
    """
    from slipfit.calibration import friction, friction_logs

    _check_target(into, out, force=force)
    slope, gravity = _slope(slope_deg), _gravity(gravity_mps2)
    mass = _mass(robot, mass_kg, mass_std_kg)
    if log:
        _only_log(log, force_n=force_n, readings=readings)
        machine, logs = _robot("pull", robot), _logs(log, columns, topic)
        found = [r for each in logs for r in friction_logs.pull_log(each, machine, mass, gravity, slope)]
        result = friction_logs.from_logs("pull", found, logs, shared=(mass.std or 0.0) / mass.value)
    else:
        (forces,) = _typed(readings, force_n=force_n)
        kind = friction.STATIC if breakaway else friction.SLIDING
        result = friction.pull(
            forces, mass, gravity_mps2=gravity, slope_rad=slope, force_std_n=force_std_n, kind=kind, source=_source(readings)
        )
    _finish(result, into, ground, out, json=json, force=force)


@app.command("stall")
def stall(
    robot: RobotOption = None,
    current_a: Annotated[list[float] | None, typer.Option(help="Current of all motors together; may be repeated.")] = None,
    current_std_a: Annotated[float | None, typer.Option(help="Standard deviation of one reading.")] = None,
    torque_nm: Annotated[list[float] | None, typer.Option(help="Torque of all wheels together; may be repeated.")] = None,
    torque_std_nm: Annotated[float | None, typer.Option(help="Standard deviation of one reading.")] = None,
    torque_constant_nm_per_a: Annotated[float | None, typer.Option(help="At the wheel; instead of the robot's motors'.")] = None,
    torque_constant_std_nm_per_a: Annotated[float | None, typer.Option(help="Standard deviation of it.")] = None,
    mass_kg: MassOption = None,
    mass_std_kg: MassStdOption = None,
    slope_deg: SlopeOption = 0.0,
    gravity_mps2: GravityOption = 9.81,
    breakaway: BreakawayFlag = False,
    readings: ReadingsOption = None,
    log: LogOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    into: IntoOption = None,
    ground: GroundOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Friction from current or torque at which the wheels of a held robot spin.

    Example: slipfit friction stall --robot lynxmotion_4wd3 --current-a 3.1 --current-a 3.0 --current-a 3.2
    """
    from slipfit.calibration import friction, friction_logs

    _check_target(into, out, force=force)
    slope, gravity = _slope(slope_deg), _gravity(gravity_mps2)
    machine = _robot("stall", robot)
    mass, radius = _mass(robot, mass_kg, mass_std_kg), machine.wheels.radius_m
    given = _parameter("torque_constant_nm_per_a", torque_constant_nm_per_a, torque_constant_std_nm_per_a)
    if log:
        _only_log(log, current_a=current_a, torque_nm=torque_nm, readings=readings)
        constant, logs = friction.torque_constant(machine, given), _logs(log, columns, topic)
        found = [r for each in logs for r in friction_logs.stall_log(each, machine, constant, mass, gravity, slope)]
        shared = math.hypot(*((p.std or 0.0) / p.value for p in (mass, radius, constant)))
        result = friction_logs.from_logs("stall", found, logs, shared=shared)
    else:
        if current_a and torque_nm:
            raise ParameterError("--current-a and --torque-nm exclude each other; choose one")
        relative = 0.0
        if torque_nm or (readings and _has_column(readings, "torque_nm")):
            (torques,), std = _typed(readings, torque_nm=torque_nm), torque_std_nm
        else:
            constant = friction.torque_constant(machine, given)
            (currents,) = _typed(readings, current_a=current_a)
            torques, relative = [constant.value * current for current in currents], (constant.std or 0.0) / constant.value
            std = None if current_std_a is None else constant.value * current_std_a
        result = friction.stall(
            torques,
            mass,
            radius,
            gravity_mps2=gravity,
            slope_rad=slope,
            torque_std_nm=std,
            relative_std=relative,
            kind=friction.STATIC if breakaway else friction.SLIDING,
            source=_source(readings),
        )
    _finish(result, into, ground, out, json=json, force=force)


@app.command("braking")
def braking(
    speed_mps: Annotated[list[float] | None, typer.Option(help="Speed when the wheels lock; may be repeated.")] = None,
    distance_m: Annotated[list[float] | None, typer.Option(help="Distance until it stands; one for each speed.")] = None,
    speed_std_mps: Annotated[float | None, typer.Option(help="Standard deviation of one speed.")] = None,
    distance_std_m: Annotated[float | None, typer.Option(help="Standard deviation of one distance.")] = None,
    robot: RobotOption = None,
    slope_deg: SlopeOption = 0.0,
    gravity_mps2: GravityOption = 9.81,
    readings: ReadingsOption = None,
    log: LogOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    into: IntoOption = None,
    ground: GroundOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Sliding friction from the distance, or the deceleration, with locked wheels.

    Example: slipfit friction braking --speed-mps 1.0 --distance-m 0.10 --speed-mps 1.2 --distance-m 0.15
    """
    from slipfit.calibration import friction, friction_logs

    _check_target(into, out, force=force)
    slope, gravity = _slope(slope_deg), _gravity(gravity_mps2)
    if log:
        _only_log(log, speed_mps=speed_mps, distance_m=distance_m, readings=readings)
        machine, logs = _robot("braking", robot), _logs(log, columns, topic)
        found = [r for each in logs for r in friction_logs.braking_log(each, machine, gravity, slope)]
        result = friction_logs.from_logs("braking", found, logs)
    else:
        speeds, distances = _typed(readings, speed_mps=speed_mps, distance_m=distance_m)
        result = friction.braking(
            speeds,
            distances,
            gravity_mps2=gravity,
            slope_rad=slope,
            speed_std_mps=speed_std_mps,
            distance_std_m=distance_std_m,
            source=_source(readings),
        )
    _finish(result, into, ground, out, json=json, force=force)


# --- what the four have in common ------------------------------------------------------------------------------------


def _check_target(into: Path | None, out: Path | None, *, force: bool) -> None:
    from slipfit.library.files import check_target

    if (into is None) != (out is None):
        missing = "--out" if out is None else "--into"
        raise ParameterError(f"{missing} is missing: --into names the twin to read, --out the one to write")
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))


def _finish(result: Any, into: Path | None, ground: str | None, out: Path | None, *, json: bool, force: bool) -> None:
    text, document = result.summary(), result.document()
    if into and out:
        from slipfit.twin import Twin

        result.into(Twin.load(into), ground).save(out, force=force)
        text += f"\nwrote {out}"
        document |= {"written": [out]}
    show(text, document, as_json=json)


def _only_log(log: list[Path], **typed: Any) -> None:
    for name, given in typed.items():
        if given:
            raise ParameterError(f"--log {log[0]} and --{name.replace('_', '-')} exclude each other; choose one")


def _logs(paths: list[Path], columns: list[Path] | None, topics: list[str] | None) -> list[Any]:
    return read_drives(paths, topics=named_topics(topics), columns=columns)


def _typed(readings: Path | None, **given: list[float] | None) -> list[list[float]]:
    """Columns of readings, from options or from a file."""
    if readings is None:
        flags = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        if not all(given.values()):
            raise ParameterError(f"there are no readings; give {flags}, --readings FILE or --log FILE")
        return [list(numbers or []) for numbers in given.values()]
    for name, numbers in given.items():
        if numbers:
            raise ParameterError(f"--readings {readings} and --{name.replace('_', '-')} exclude each other; choose one")
    from slipfit.calibration.readings import read_readings

    return read_readings(readings, tuple(given))


def _has_column(readings: Path, name: str) -> bool:
    from slipfit.calibration.readings import names_of_readings

    return name in names_of_readings(readings)


def _source(readings: Path | None) -> str:
    return "typed readings" if readings is None else f"readings {readings.name}"


def _robot(method: str, name: str | None) -> Any:
    from slipfit.library import skid_steer_robot
    from slipfit.twin import find_driver

    if name is None:
        raise ParameterError(f"{method}: whose wheels? Give --robot, a name of the library or a file")
    return skid_steer_robot(find_driver(name).robot, f"friction {method}")


def _mass(robot: str | None, mass_kg: float | None, std_kg: float | None) -> Any:
    given = _parameter("mass_kg", mass_kg, std_kg)
    if given is not None:
        return given
    if robot is None:
        raise ParameterError("the mass is not known; give --robot or --mass-kg")
    return _robot("mass", robot).mass_kg


def _parameter(name: str, value: float | None, std: float | None) -> Any:
    from slipfit.library import Parameter

    if value is None:
        if std is not None:
            raise ParameterError(f"a standard deviation of {name} was given, but no value; give both")
        return None
    return Parameter(name, value, "typed", std, lower_bound=1e-9, upper_bound=1e6)


def _slope(degrees: float) -> float:
    if not -60.0 <= degrees <= 60.0:
        raise ParameterError(f"--slope-deg = {degrees:g}; expected between -60 and 60 degrees")
    return math.radians(degrees)


def _gravity(mps2: float) -> float:
    if not 0.1 <= mps2 <= 30.0:
        raise ParameterError(f"--gravity-mps2 = {mps2:g}; expected between 0.1 and 30 m/s²")
    return mps2
