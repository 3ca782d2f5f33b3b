"""slipfit simulate: drive a robot over a level or tilted plane, or over a terrain."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError, SlipfitError

#: Endings of logs that are one file; another name is that of a folder.
BAGS = (".mcap", ".bag")

#: No tyre grips so well: a coefficient like this says that the limit is never reached.
ENDLESS_MU = 5.0


def simulate(
    robot: Annotated[str, typer.Argument(help="Robot of the library (slipfit robots), a robot file, or a twin.")],
    scenario: Annotated[
        str | None,
        typer.Option(help="Scenario of the library (slipfit scenarios), or a .yaml file; else a drive that suits the robot."),
    ] = None,
    ground: Annotated[str | None, typer.Option(help="Ground of library or twin, or a file; instead of the scenario's.")] = None,
    slope_deg: Annotated[float | None, typer.Option(help="Slope of the plane, degrees; instead of the scenario's.")] = None,
    uphill_deg: Annotated[float | None, typer.Option(help="Direction of steepest ascent from the x axis, degrees.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the motion: .parquet, .csv or .tum (evo).")] = None,
    readings: Annotated[
        Path | None, typer.Option(help="Write what the sensors said: .mcap, .bag, or a folder of CSV files.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the drive into this picture (.png, .svg or .pdf).")] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a page of the drive, .html: in motion or in 3D, with wheel slip; over time; of rovers, energy."),
    ] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Drive a robot through a scenario and say where it went.

    Example: slipfit simulate p3at --slope-deg 10 --plot drive.png -o drive.csv
    """
    from slipfit.library import TrackedRobot
    from slipfit.simulate import simulate as run
    from slipfit.simulate.run import robot_on_ground
    from slipfit.simulate.scenario import find_scenario, standard_drive
    from slipfit.twin import Twin, find_driver

    driver = find_driver(robot)
    if isinstance(driver, TrackedRobot):
        _climb(driver, scenario or "curb_117mm", out, report, json=json, force=force)
        return
    drive = find_scenario(scenario) if scenario else standard_drive(getattr(driver, "drive", "skid_steer"))
    asked_by = robot if isinstance(driver, Twin) else None if ground else scenario
    with _told_with(asked_by):
        chosen, surface = robot_on_ground(driver, drive, ground)
    drive = _tilted(drive, slope_deg, uphill_deg)
    _check_targets(out, readings, plot, report, drive, force=force)
    with (
        working("simulating; a law that was never run here is compiled first, some 20 s, up to a minute or two on soil"),
        _told_with(scenario),
    ):
        trajectory = run(chosen, drive, ground=surface)
    if out:
        trajectory.save(out, force=force)
    written = [out] if out else []
    if readings and readings.suffix in BAGS:
        trajectory.readings.save(readings, force=force)
        written.append(readings)
    elif readings:
        written += trajectory.readings.save_csv(readings, force=force)
    notes = _assumed(driver, surface) if isinstance(driver, Twin) else []
    if plot:
        _draw(trajectory, chosen, drive, plot, force=force)
        written.append(plot)
    if report:
        is_as_written = ground is None and not isinstance(driver, Twin)
        _write_report(trajectory, chosen, surface, drive, report, notes, is_as_written=is_as_written, force=force)
        written.append(report)
    lines = [trajectory.summary()]
    if trajectory.readings.channels:
        lines.append(trajectory.readings.summary())
    lines += [f"note: {note}" for note in notes]
    lines += [f"wrote {path}" for path in written]
    document = _document(trajectory, written)
    if drive.keeps_books:
        document |= _rover_document(trajectory)
    show("\n".join(lines), {**document, "notes": [*document.get("notes", []), *notes]}, as_json=json)
    if trajectory.status.name not in ("FINISHED", "ARRIVED"):
        raise typer.Exit(1)


def _climb(robot: Any, scenario: str, out: Path | None, report: Path | None, *, json: bool, force: bool) -> None:
    """A tracked robot climbs."""
    from slipfit.library.files import check_target
    from slipfit.report.climb_report import write_climb_report
    from slipfit.report.html import PAGE_FORMATS
    from slipfit.simulate.climb import Verdict, simulate_climb
    from slipfit.simulate.climb_scenario import find_climb

    climb = find_climb(scenario)
    for target, formats in ((out, (".csv",)), (report, PAGE_FORMATS)):
        if target:
            check_target(target, force=force, formats=formats)
    with working("simulating; tracked robots that were never run here are compiled first, some 60 s"), _told_with(scenario):
        trajectory = simulate_climb(robot, climb)
    written = [path for path in (out, report) if path]
    if out:
        trajectory.save(out, force=force)
    if report:
        write_climb_report(trajectory, robot, climb, report, force=force)
    columns = trajectory.columns
    document = {
        "robot": robot.name,
        "scenario": scenario,
        "verdict": trajectory.verdict.name.lower(),
        "margin": trajectory.margin,
        "stopped_at_s": trajectory.stopped_at_s,
        "end": {name: float(columns[name][-1]) for name in ("x_m", "y_m", "z_m")},
        "largest_pitch_up_rad": float(trajectory.pitch_up_rad.max()),
        "deepest_sinkage_m": float(columns["deepest_m"].max()),
        "notes": list(trajectory.notes),
        "written": written,
    }
    show("\n".join([trajectory.summary(), *(f"wrote {path}" for path in written)]), document, as_json=json)
    if trajectory.verdict not in (Verdict.CLIMBED, Verdict.FINISHED):
        raise typer.Exit(1)


@contextlib.contextmanager
def _told_with(file: str | None) -> Iterator[None]:
    """What turns out to be wrong with a drive is told with the file that asks for it."""
    try:
        yield
    except SlipfitError as error:
        raise type(error)(f"{file}: {error}" if file else str(error)) from None


def _tilted(drive: Any, slope_deg: float | None, uphill_deg: float | None) -> Any:
    """The scenario with the slope of the command line."""
    given = {"--slope-deg": slope_deg, "--uphill-deg": uphill_deg}
    flags = [flag for flag, degrees in given.items() if degrees is not None]
    if flags and drive.ground.shape == "terrain":
        raise ParameterError(
            f"{flags[0]} {given[flags[0]]:g}: the scenario's ground is the terrain {drive.ground.terrain}, which has the slopes "
            f"of its heights; leave it out, or take a scenario on a plane"
        )
    tilt: dict[str, Any] = {}
    if slope_deg is not None:
        tilt["slope_rad"] = _radians("--slope-deg", slope_deg, 0.0, 89.9)
    if uphill_deg is not None:
        tilt["uphill_rad"] = _radians("--uphill-deg", uphill_deg, -360.0, 360.0)
    return drive.model_copy(update={"ground": drive.ground.model_copy(update=tilt)})


def _draw(trajectory: Any, robot: Any, drive: Any, plot: Path, *, force: bool) -> None:
    from slipfit.report.figures import draw_drive, save_figure

    if drive.keeps_books:
        from slipfit.report.rover_picture import draw_rover

        save_figure(draw_rover(trajectory, robot, drive), plot, force=force)
    else:
        save_figure(draw_drive(trajectory, robot), plot, force=force)


def _write_report(
    trajectory: Any,
    robot: Any,
    surface: Any,
    drive: Any,
    report: Path,
    notes: list[str],
    *,
    is_as_written: bool,
    force: bool,
) -> None:
    if drive.keeps_books:
        from slipfit.report.rover_report import write_rover_report
        from slipfit.simulate.torque_model import simulate_torque_model

        # The torque model takes gravity from the surface that the scenario names: both must have driven under the same.
        is_same = is_as_written and drive.ground.shape == "plane" and drive.ground.gravity_mps2 is None
        beside = simulate_torque_model(robot, drive) if is_same and robot.torque_model is not None else None
        write_rover_report(trajectory, robot, surface, drive, report, beside=beside, notes=notes, force=force)
    else:
        from slipfit.report.drive_report import write_drive_report

        write_drive_report(trajectory, robot, surface, drive, report, notes=notes, force=force)


def _radians(flag: str, degrees: float, lower: float, upper: float) -> float:
    from slipfit.library.parameter import out_of_range

    problem = out_of_range(flag, degrees, lower, upper)
    if problem:
        raise ParameterError(f"{problem} degrees")
    return math.radians(degrees)


def _check_targets(
    out: Path | None, readings: Path | None, plot: Path | None, report: Path | None, drive: Any, *, force: bool
) -> None:
    """All of them before the first is written: a command that fails leaves nothing behind."""
    from slipfit.library.files import check_folder, check_target

    if out:
        from slipfit.simulate.trajectory import TRAJECTORY_FORMATS

        check_target(out, force=force, formats=TRAJECTORY_FORMATS)
    if plot:
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)
    if report:
        from slipfit.report.html import PAGE_FORMATS

        check_target(report, force=force, formats=PAGE_FORMATS)
    if readings:
        if not drive.sensors.names:
            raise ParameterError(f"{readings}: there is nothing to write, the scenario has no sensors; name some under 'sensors'")
        if readings.suffix == ".db3":
            raise ParameterError(f"{readings}: cannot write '.db3'; expected .mcap, .bag, or a folder's name for CSV files")
        if readings.suffix in BAGS:
            check_target(readings, force=force)
        else:
            check_folder(readings, [f"{name}.csv" for name in drive.sensors.names], force=force)


def _assumed(twin: Any, ground: Any) -> list[str]:
    """Coulomb's coefficients that no drive of the twin told, and what was driven with in their place."""
    fitted = twin.grounds.get(ground.name)
    if fitted is None or ground != twin.ground(ground.name):
        return []  # a ground from elsewhere
    notes = []
    for name, value in ground.values().items():
        told = fitted.parameters.get(name)
        if name.startswith("mu") and (told is None or told.value is None):
            proven = f"at least {told.at_least:.2g} was proven" if told and told.at_least is not None else "nothing was proven"
            never = " (grip never runs out)" if value >= ENDLESS_MU else ""
            notes.append(f"the twin's drives do not tell {name}: {name} = {value:g}{never} was assumed, {proven}")
    return notes


def _document(trajectory: Any, written: list[Path]) -> dict[str, Any]:
    t = trajectory
    return {
        "robot": t.robot,
        "ground": t.ground,
        "status": t.status.name.lower(),
        "duration_s": float(t.time_s[-1]),
        "distance_m": t.distance_m,
        "end": {"x_m": float(t.x_m[-1]), "y_m": float(t.y_m[-1]), "heading_rad": float(t.heading_rad[-1])},
        "end_velocity": {
            "vx_mps": float(t.vx_mps[-1]),
            "vy_mps": float(t.vy_mps[-1]),
            "yaw_rate_radps": float(t.yaw_rate_radps[-1]),
        },
        "largest_grip_used": t.largest_grip_used,
        "at_effort_limit_s": t.at_effort_limit_s,
        "slope_rad": t.slope_rad,
        "commanded_turn_rad": t.commanded_turn_rad,
        "lifted_wheels": [{"wheel": w, "first_at_s": when} for w, when in t.lifted_wheels.items()],
        "readings": {c.name: {"samples": len(c.stamps_ns), "rate_hz": c.rate_hz} for c in t.readings.channels.values()},
        "written": written,
    }


def _rover_document(t: Any) -> dict[str, Any]:
    """What drives with books tell besides: route, slip, tipping over, and every joule."""
    from dataclasses import asdict

    import numpy as np

    quantiles = {"median": 0.5, "at_95": 0.95}
    slip = {name: float(np.nanquantile(np.abs(t.slip), share)) for name, share in quantiles.items()}
    angle = {name: float(np.nanquantile(np.abs(t.slip_angle_rad), share)) for name, share in quantiles.items()}
    energy = t.energy
    sums = {name: getattr(energy, name) for name in ("dissipated_j", "stored_j", "remainder_j", "remainder_share")}
    return {
        "shape": t.shape,
        "gravity_mps2": t.gravity_mps2,
        "arrived_at_s": t.arrived_at_s,
        "stopped_at_s": t.stopped_at_s,
        "waypoints": len(t.waypoints_m),
        "waypoints_reached": int(t.waypoint[-1]) if t.waypoints_m else 0,
        "largest_cross_track_m": t.largest_cross_track_m,
        "smallest_tip_over_margin_rad": t.smallest_tip_over_margin_rad,
        "slip": slip,
        "slip_angle_rad": angle,
        "energy": asdict(energy) | sums,
        "notes": list(t.all_notes),
    }
