"""slipfit simulate: drive a robot over a level or tilted plane, or over a terrain."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

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
    replay: Annotated[
        Path | None, typer.Option(help="Write a replay of a tracked robot's climb for the rerun viewer, .rrd.")
    ] = None,
    reserve: Annotated[
        bool, typer.Option("--reserve", help="Tell how much less grip a climb could do with, or how much it lacks.")
    ] = False,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Drive a robot through a scenario and say where it went.

    Example: slipfit simulate p3at --slope-deg 10 --plot drive.png -o drive.csv
    """
    from slipfit.simulation import simulate as run
    from slipfit.simulation.run import resolve
    from slipfit.simulation.scenario import find_scenario, standard_drive
    from slipfit.twin import find_driver

    found = find_driver(robot)
    driver: Any = found.twin or found.robot
    if found.robot.has_belts:
        wheels = {"--slope-deg": slope_deg, "--uphill-deg": uphill_deg, "--readings": readings}
        _only_of_wheels(robot, wheels if found.twin else {"--ground": ground} | wheels)
        to = _Targets(out, report, plot, replay)
        _climb(driver, scenario, ground, to, has_reserve=reserve, json=json, force=force)
        return
    if reserve:
        raise ParameterError(f"--reserve: grip reserves are of climbs by tracked robots, and {robot} is on wheels; leave it out")
    if replay:
        raise ParameterError(f"{replay}: replays are written of tracked robots, and {robot} is on wheels; take --report")
    drive = find_scenario(scenario) if scenario else standard_drive(driver.drive)
    is_twin = found.twin is not None
    asked_by = robot if is_twin else None if ground else scenario
    with _told_with(asked_by, keys_of=scenario):
        resolved = resolve(driver, drive, ground)
        chosen, surface = resolved.robot, resolved.ground
    drive = _tilted(drive, slope_deg, uphill_deg)
    _check_targets(out, readings, plot, report, drive, force=force)
    with (
        working("simulating; a law that was never run here is compiled first, some 20 s, up to a minute or two on soil"),
        _told_with(scenario),
    ):
        trajectory = run(driver, drive, ground=surface)  # a twin brings its powertrain along
    if out:
        trajectory.save(out, force=force)
    written = [out] if out else []
    if readings and readings.suffix in BAGS:
        trajectory.readings.save(readings, force=force)
        written.append(readings)
    elif readings:
        written += trajectory.readings.save_csv(readings, force=force)
    notes = _assumed(driver, surface) if is_twin else []
    if plot:
        _draw(trajectory, chosen, drive, plot, force=force)
        written.append(plot)
    if report:
        is_as_written = ground is None and not is_twin
        _write_report(trajectory, chosen, surface, drive, report, notes, is_as_written=is_as_written, force=force)
        written.append(report)
    lines = [trajectory.summary()]
    if trajectory.readings.channels and not trajectory.has_failed_at_once:
        lines.append(trajectory.readings.summary())
    lines += [f"note: {note}" for note in notes]
    lines += [f"wrote {path}" for path in written]
    document = _document(trajectory, written)
    if trajectory.has_energy_balance:
        document |= _rover_document(trajectory)
    show("\n".join(lines), {**document, "notes": [*document["notes"], *notes]}, as_json=json)
    if not trajectory.outcome.is_success:
        raise typer.Exit(1)


class _Targets(NamedTuple):
    """Files that a climb is written to."""

    out: Path | None
    report: Path | None
    plot: Path | None
    replay: Path | None


def _only_of_wheels(robot: str, given: dict[str, Any]) -> None:
    """A climb's file says what these flags say elsewhere."""
    flag = next((flag for flag, entry in given.items() if entry is not None), None)
    if flag == "--readings":
        raise ParameterError(f"--readings: {robot} is tracked, and climbs have no sensors; -o writes the motion")
    if flag:
        raise ParameterError(
            f"{flag}: {robot} is tracked, and a climb's ground stands in its file (surface, soil, a ramp as obstacle); start "
            f"from `slipfit scenarios show ramp_20deg`"
        )


def _climb(
    driver: Any, name: str | None, ground: str | None, to: _Targets, *, has_reserve: bool, json: bool, force: bool
) -> None:
    """A tracked robot climbs, or its twin."""
    from slipfit.library.files import check_target
    from slipfit.report.climb_report import write_climb_report
    from slipfit.report.figures import FIGURE_FORMATS
    from slipfit.report.html import PAGE_FORMATS
    from slipfit.report.replay import check_replay
    from slipfit.simulation import simulate
    from slipfit.simulation.climb_reserve import grip_reserve
    from slipfit.simulation.run import resolve
    from slipfit.simulation.scenario import find_scenario, standard_drive
    from slipfit.simulation.trajectory import TRAJECTORY_FORMATS

    scenario = find_scenario(name) if name else standard_drive("tracked")
    with _told_with(name):
        found = resolve(driver, scenario, ground)
    robot, climb = found.robot, found.scenario
    for target, formats in ((to.out, TRAJECTORY_FORMATS), (to.report, PAGE_FORMATS), (to.plot, FIGURE_FORMATS)):
        if target:
            check_target(target, force=force, formats=formats)
    if to.replay:
        check_replay(to.replay, force=force)
    with working("simulating; tracked robots that were never run here are compiled first, some 60 s"), _told_with(name):
        trajectory = simulate(driver, scenario, ground=ground)
        reserve = grip_reserve(robot, climb) if has_reserve else None
    written = [path for path in to if path]
    if to.out:
        trajectory.save(to.out, force=force)
    if to.report:
        write_climb_report(trajectory, robot, climb, to.report, reserve=reserve, force=force)
    if to.plot:
        from slipfit.report.climb_picture import draw_climb
        from slipfit.report.figures import save_figure

        save_figure(draw_climb(trajectory, robot, climb), to.plot, force=force)
    if to.replay:
        from slipfit.report.climb_replay import climb_scene
        from slipfit.report.replay import write_replay

        write_replay(climb_scene(trajectory, robot, climb), to.replay, force=force)
    columns = trajectory.columns
    document = {
        "robot": robot.name,
        "scenario": name or "curb_117mm",
        "verdict": trajectory.outcome.name.lower(),
        "margin": trajectory.margin,
        "stopped_at_s": trajectory.stopped_at_s,
        "end": {name: float(columns[name][-1]) for name in ("x_m", "y_m", "z_m")},
        "largest_pitch_up_rad": float(trajectory.pitch_up_rad.max()),
        "deepest_sinkage_m": float(columns["deepest_m"].max()),
        "notes": list(trajectory.notes),
        "written": written,
    }
    lines = [trajectory.summary()]
    if reserve:
        document["grip_reserve"] = reserve.document()
        lines.append(f"  reserve  {reserve.sentence()}")
    show("\n".join([*lines, *(f"wrote {path}" for path in written)]), document, as_json=json)
    if not trajectory.outcome.is_success:
        raise typer.Exit(1)


@contextlib.contextmanager
def _told_with(file: str | None, keys_of: str | None = None) -> Iterator[None]:
    """What turns out to be wrong with a drive is told with the file that asks for it; keys with the one that has them."""
    from slipfit.simulation.scenario_keys import UnusedKeyError

    try:
        yield
    except UnusedKeyError as error:
        raise UnusedKeyError(f"{keys_of or file}: {error}" if keys_of or file else str(error)) from None
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

    if trajectory.has_energy_balance:
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
    if trajectory.has_energy_balance:
        from slipfit.report.rover_report import write_rover_report
        from slipfit.simulation.torque_model import simulate_torque_model

        # The torque model takes gravity from the surface that the scenario names: both must have driven under the same.
        is_same = is_as_written and drive.ground.shape == "plane" and drive.ground.gravity_mps2 is None
        is_same = is_same and drive.battery == type(drive.battery)()
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
        from slipfit.simulation.trajectory import TRAJECTORY_FORMATS

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
        "status": t.outcome.name.lower(),
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
        "notes": list(t.all_notes),
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
    depth = {"median": float(np.nanmedian(t.sinkage_m)), "deepest": float(np.nanmax(t.sinkage_m))}
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
        **({"sinkage_m": depth} if t.is_on_soil else {}),
        "energy": asdict(energy) | sums,
    }
