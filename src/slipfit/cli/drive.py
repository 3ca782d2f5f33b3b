"""slipfit drive: a plan on a motor controller."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, Stopped, show, working
from slipfit.signals import Asked, noted

if TYPE_CHECKING:
    from slipfit.control import Scale
    from slipfit.hardware import Drive, Settings
    from slipfit.library import SkidSteerRobot
    from slipfit.logs import DriveLog

#: Exit codes of drives by their end, as shells have them for signals (Ctrl-C is `Stopped`); a stop file is an answer of "no".
_CODES = {"finished": 0, "stop_file": 1, "terminated": 143, "hung_up": 129}

#: Tracks that differ by less than this share are not worth a word.
SAME_TRACK = 0.005


def drive(
    plan: Annotated[Path, typer.Argument(help="What to drive: time_s, v_mps, yaw_rate_radps (.csv), or a scenario (.yaml).")],
    twin: Annotated[Path, typer.Option(help="Twin of the robot; its powertrain gives setpoints.")],
    port: Annotated[str, typer.Option(help="Serial port of the controller, as /dev/ttyUSB0; sim for a simulated one.")],
    log: Annotated[Path | None, typer.Option(help="Write what was sent and read: .mcap, .bag, or a folder of CSV files.")] = None,
    stop_file: Annotated[Path | None, typer.Option(help="The robot stops when this file appears.")] = None,
    rate: Annotated[float, typer.Option(help="Commands of each channel a second.")] = 50.0,
    rounding: Annotated[str, typer.Option(help="Whole setpoints by half_even, half_up, dither or best_pair.")] = "half_even",
    mode: Annotated[str, typer.Option(help="Channels are mixed (translation, rotation) or separate (left, right).")] = "mixed",
    baud: Annotated[int | None, typer.Option(help="Baud rate; else 9600, on sim 115200.")] = None,
    framing: Annotated[str, typer.Option(help="Data bits, parity, stop bits: 7E1 or 8N1.")] = "7E1",
    ground: Annotated[str | None, typer.Option(help="Ground of the twin, where it has several.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the plan and say what setpoints do to it; open no port.")
    ] = False,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Drive a plan on a Roboteq AX controller, or on a simulated one, and log what was sent and read.

    The motors are set to zero at the end, on Ctrl-C, when the stop file appears, and when acknowledgements are lost; the log is
    written in each case. Exit code 1 when the stop file ended the drive.

    Example: slipfit drive plan.csv --twin atrv_jr.twin.yaml --port sim --log run.mcap
    """
    with noted() as asked:  # before the heavy imports, and until the log is written: neither is torn apart
        settings = _settings(rate, mode, rounding, baud, framing, stop_file, ground)
        if log is not None:
            _check_log(log, force=force)
        if dry_run:
            _foresee(plan, twin, port, settings, as_json=json)
        else:
            _run(plan, twin, port, settings, log, asked, force=force, as_json=json)
    if dry_run and asked.first == "SIGINT":
        raise Stopped("stopped by Ctrl-C; a dry run opens no port and writes nothing")


def _settings(
    rate: float, mode: str, rounding: str, baud: int | None, framing: str, stop_file: Path | None, ground: str | None
) -> "Settings":
    from slipfit.control import Mode, Rounding
    from slipfit.hardware import Settings

    return Settings(
        rate_hz=rate,
        mode=Mode(_known("--mode", mode, [m.value for m in Mode])),
        rounding=Rounding(_known("--rounding", rounding, [r.value for r in Rounding])),
        baud=baud,
        framing=framing,
        stop_file=stop_file,
        ground=ground,
    )


def _foresee(plan: Path, twin: Path, port: str, settings: "Settings", *, as_json: bool) -> None:
    """The dry run: every check that needs no port, and what whole setpoints will do."""
    from slipfit.hardware import foreseen_effect, prepare
    from slipfit.twin import SkidSteerTwin

    robot = SkidSteerTwin.load(twin)
    what, scale = prepare(plan, robot, port, settings)
    effect = foreseen_effect(what, scale, settings)
    lines = [
        f"{what.name}: {what.duration_s:.2f} s, within the robot's limits",
        f"  track    {scale.effective_track_m:.4f} m effective, from {scale.track_source}",
        f"  turns    {_turns(scale, robot.robot)}",
        f"  effect   {effect.summary()}",
    ]
    document = {
        "plan": what.name,
        "planned_s": what.duration_s,
        "effective_track_m": scale.effective_track_m,
        "track_m": robot.robot.track_m,
        "effect": effect.to_document(),
    }
    show("\n".join(lines), document, as_json=as_json)


def _run(
    plan: Path, twin: Path, port: str, settings: "Settings", log: Path | None, asked: Asked, *, force: bool, as_json: bool
) -> None:
    """The drive: its log is written before anything is printed, for the terminal may be gone."""
    from slipfit.errors import DriveError
    from slipfit.hardware import drive as run
    from slipfit.hardware import prepare
    from slipfit.twin import SkidSteerTwin

    robot = SkidSteerTwin.load(twin)
    what, _ = prepare(plan, robot, port, settings)
    with working(f"driving {what.name}, {what.duration_s:.0f} s, on {port}"):
        done = run(what, robot, port, settings, asked)
        written = [log] if log is not None and done.log.channels else []
        for path in written:
            done.log.save(path, force=force)
    document = {**done.to_document(), "written": written}
    kept = f"; the log up to there is in {log}" if written else ""
    if done.problem:
        if as_json:
            show("", document, as_json=True)
        raise DriveError(f"{done.problem}; {done.stop}{kept}")
    is_stopped = done.ending.value == "interrupted"
    show("\n".join(_lines(done, [] if is_stopped else written)), document, as_json=as_json)
    if is_stopped:
        raise Stopped(f"{done.ending.sentence}; {done.stop}{kept or '; no log was written'}")
    raise typer.Exit(_CODES[done.ending.value])


def _lines(done: "Drive", written: list[Path]) -> list[str]:
    truth = ["  robot    " + _end(done.log)] if "pose" in done.log.channels else []
    return [done.summary(), *truth, *(f"wrote {path}" for path in written)]


def _known(flag: str, name: str, names: list[str]) -> str:
    from slipfit.errors import ParameterError
    from slipfit.library.files import nearest

    if name not in names:
        raise ParameterError(f"{flag} is '{name}'; {nearest(name, names)}")
    return name


def _check_log(log: Path, *, force: bool) -> None:
    """Before anything moves: a drive whose log cannot be written is not begun."""
    from slipfit.library.files import check_folder, check_target

    if log.suffix:
        check_target(log, force=force, formats=(".mcap", ".bag"))
    else:
        check_folder(log, ["commands.csv", "plan.csv", "setpoints.csv", "counters.csv", "encoders.csv", "pose.csv"], force=force)


def _turns(scale: "Scale", robot: "SkidSteerRobot") -> str:
    """How yaw rates become wheel speeds."""
    from slipfit.hardware.plan import more_for_turns

    if abs(scale.effective_track_m / robot.track_m - 1.0) < SAME_TRACK:
        return "yaw rates as the track between the wheels gives them"
    return f"so that yaw rates are reached, {more_for_turns(scale, robot)}"


def _end(log: "DriveLog") -> str:
    x, y, heading = log["pose"].values[-1]
    return f"at x {x:.3f} m, y {y:.3f} m, heading {heading:.3f} rad, by the simulator"
