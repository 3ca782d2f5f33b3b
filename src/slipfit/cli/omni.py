"""slipfit omni: robots on omni and mecanum wheels from logs: slip by direction, friction, motors, tilt tests."""

import math
from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli import omni_motion
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
from slipfit.cli.output import ForceFlag, JsonFlag, show, table, working
from slipfit.errors import ParameterError

app = typer.Typer(invoke_without_command=True)

TASKS = {
    "limit": "largest push, acceleration and braking in each direction before a wheel slips",
    "move": "a way or a turn within that limit, and the slip that it saves",
    "calibrate": "constants, friction and slip by direction from runs with true poses",
    "tilt": "four friction coefficients from angles at which wheels began to slide",
    "motor": "constants of DC motors, or bounds, from speeds and currents",
}

OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write what was found, .json.")]


@app.callback()
def list_tasks(context: typer.Context, json: JsonFlag = False) -> None:
    """List what can be done; each is a command of its own.

    Example: slipfit omni limit robotino --ground ohio_paper
    """
    if not context.invoked_subcommand:
        text = table(list(TASKS.items()), ("command", "what it tells")) + "\n\nslipfit omni COMMAND --help tells what each takes."
        show(text, {"commands": TASKS}, as_json=json)


@app.command("calibrate")
def calibrate(
    logs: Annotated[list[Path], typer.Argument(help="Logs of runs on one surface, with encoders and a pose: one run each.")],
    robot: RobotOption,
    surface: Annotated[str, typer.Option("--surface", help="What the surface is called in the result.")] = "surface",
    hold_out: Annotated[
        int, typer.Option("--hold-out", help="Fit without every so-manieth log, and judge on those; 0: none.")
    ] = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of slip by direction, .png, .svg or .pdf.")] = None,
    out: OutOption = None,
    ground_out: Annotated[
        Path | None, typer.Option("--ground-out", help="Write the surface as a ground for slipfit simulate, .yaml.")
    ] = None,
    topic: TopicOption = None,
    truth: TruthOption = None,
    columns: ColumnsOption = None,
    counts_per_turn: CountsOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Constants, friction and slip by direction of motion, from runs with true poses on one surface.

    Example: slipfit omni calibrate runs/*.mcap --robot robotino --surface carpet --hold-out 2 -o carpet.json --plot carpet.png
    """
    from slipfit.calibration.omni import calibrate_omni, runs_of_logs
    from slipfit.library import omni_robot
    from slipfit.library.files import check_target
    from slipfit.report.figures import FIGURE_FORMATS, save_figure
    from slipfit.report.omni_figure import draw_omni

    if hold_out < 0 or hold_out == 1:
        raise ParameterError(f"--hold-out {hold_out}: expected 0, or 2 and more: every second log, every third …")
    if out:
        check_target(out, force=force, formats=(".json",))
    if plot:
        check_target(plot, force=force, formats=FIGURE_FORMATS)
    if ground_out:
        check_target(ground_out, force=force, formats=(".yaml", ".yml"))
    chosen = omni_robot(robot)
    with working(f"{chosen.name} from {len(logs)} runs") as work:
        drives = read_drives(logs, topics=named_topics(topic), columns=columns, truth=truth, progress=work)
        work("fitting")
        runs = runs_of_logs(drives, chosen, counts_per_turn=counts_per_turn)
        held = [run for k, run in enumerate(runs) if hold_out and k % hold_out == hold_out - 1]
        kept = [run for k, run in enumerate(runs) if not (hold_out and k % hold_out == hold_out - 1)]
        found = calibrate_omni(kept, chosen, surface=surface, held_out=held)
    written = []
    if ground_out:
        if found.friction is None:
            raise ParameterError(f"{ground_out}: these runs are no straight lines, which friction is told by; drive lines")
        found.friction.ground().save(ground_out, force=force)
        written.append(ground_out)
    if out:
        found.save(out, force=force)
        written.append(out)
    if plot:
        save_figure(draw_omni(found), plot, force=force)
        written.append(plot)
    text = "\n".join([found.summary(), *truth_lines(drives), *(f"wrote {path}" for path in written)])
    show(text, found.to_document() | truth_documents(drives) | {"written": written}, as_json=json)


@app.command("tilt")
def tilt(
    mu_w_deg: Annotated[
        list[float] | None, typer.Option(help="Angles of sliding, on rollers, along the rolling direction.")
    ] = None,
    mu_t_deg: Annotated[list[float] | None, typer.Option(help="The same along the axles.")] = None,
    mu_w_rigid_deg: Annotated[list[float] | None, typer.Option(help="Between rollers, along the rolling direction.")] = None,
    mu_t_rigid_deg: Annotated[list[float] | None, typer.Option(help="Between rollers, along the axles.")] = None,
    angle_std_deg: Annotated[float | None, typer.Option(help="Standard deviation of one reading.")] = None,
    surface: Annotated[str, typer.Option("--surface", help="What the surface is called in the result.")] = "surface",
    json: JsonFlag = False,
) -> None:
    """Four friction coefficients from angles at which a vehicle with parallel, locked wheels began to slide.

    Example: slipfit omni tilt --mu-w-deg 14.2 --mu-w-deg 14.6 --mu-t-deg 5.2 --mu-t-deg 5.5 --surface paper
    """
    from slipfit.calibration.omni import tilt_tests

    given = {"mu_w": mu_w_deg, "mu_t": mu_t_deg, "mu_w_rigid": mu_w_rigid_deg, "mu_t_rigid": mu_t_rigid_deg}
    angles = {name: [math.radians(angle) for angle in degrees] for name, degrees in given.items() if degrees}
    std = None if angle_std_deg is None else math.radians(angle_std_deg)
    found = tilt_tests(angles, surface=surface, angle_std_rad=std)
    show(found.summary(), found.to_document(), as_json=json)


@app.command("motor")
def motor(
    logs: Annotated[list[Path], typer.Argument(help="Logs of wheel speeds, motor currents and, better, voltages.")],
    supply_v: Annotated[float | None, typer.Option("--supply-v", help="Supply voltage: bounds where none was recorded.")] = None,
    topic: TopicOption = None,
    columns: ColumnsOption = None,
    json: JsonFlag = False,
) -> None:
    """Resistance, inductance and torque constant of DC motors, or bounds, and what an unloaded motor takes.

    Example: slipfit omni motor steps.csv --columns motor.yaml --supply-v 24
    """
    from slipfit.calibration.omni import fit_motors

    with working(f"motors from {len(logs)} logs") as work:
        drives = read_drives(logs, topics=named_topics(topic), columns=columns, progress=work)
        found = fit_motors(drives, supply_v=supply_v)
    show(found.summary(), found.to_document(), as_json=json)


app.command("limit")(omni_motion.limit)
app.command("move")(omni_motion.move)
