"""slipfit tracks: what a tracked robot's steady states tell about its slip."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.cli.track_twin import TwinOption, twin_target
from slipfit.errors import ParameterError


def tracks(
    states: Annotated[
        Path, typer.Argument(help="Steady states, .csv: left_radps, right_radps, slip_left_mps, slip_right_mps; or no header.")
    ],
    robot: Annotated[str, typer.Option(help="Tracked robot of the library, its file or its twin, for radius and tread.")],
    gear_ratio: Annotated[float, typer.Option(help="Turns of what was measured over turns of the sprocket.")] = 1.0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the result (.json).")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw measured against predicted yaw rates (.png, .svg or .pdf).")
    ] = None,
    twin: TwinOption = None,
    ground: Annotated[str, typer.Option(help="What to call the ground in the twin.")] = "driven",
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Compare ideal tracks, a constant effective track and slip of each track on states that they were not fitted to.

    Example: slipfit tracks states.csv --robot maxxii --gear-ratio 34.45
    """
    from slipfit.calibration.track_slip import compare_track_models, predict_tracks, read_track_states
    from slipfit.cli.results import check_results
    from slipfit.library import tracked_robot
    from slipfit.library.files import check_target
    from slipfit.twin import find_driver

    if not 0.0 < gear_ratio < 1e6:
        raise ParameterError(f"--gear-ratio {gear_ratio:g}: expected a number above 0, 1 where sprockets were measured")
    driver = find_driver(robot)
    record = tracked_robot(driver.robot, "tracks")
    target = twin_target(twin, driver, ground, force=force)
    if out:
        check_target(out, force=force, formats=(".json",))
    check_results(None, plot, force=force)
    measured = read_track_states(states, radius_m=record.tracks.sprocket_radius_m.value, gear_ratio=gear_ratio)
    result = compare_track_models(measured, tread_m=record.track_m)
    written = [out] if out else []
    if out:
        result.save(out, force=force)
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.report.track_slip_figure import draw_tracks

        save_figure(draw_tracks(result, predict_tracks(measured, tread_m=record.track_m)), plot, force=force)
        written.append(plot)
    if target:
        from slipfit.calibration.track_twin import ground_of_states, origin_of

        origin = origin_of(states)
        found = ground_of_states(measured, tread_m=record.track_m, origin=origin)
        written.append(target.write({ground: found}, [origin]))
    lines = [result.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), result.to_document() | ({"written": written} if written else {}), as_json=json)
