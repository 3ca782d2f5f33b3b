"""slipfit omni limit, slipfit omni move: how hard and how fast an omnidirectional robot can go without slipping."""

import math
from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError

OmniArgument = Annotated[str, typer.Argument(help="Omnidirectional robot of the library (slipfit robots), or a robot file.")]
GroundOption = Annotated[str, typer.Option("--ground", help="Ground with the friction of rollers: of the library, or a file.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Draw it into this picture (.png, .svg or .pdf).")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write the numbers, .json.")]


def limit(
    robot: OmniArgument,
    ground: GroundOption,
    every_deg: Annotated[float, typer.Option("--every-deg", help="Directions, degrees apart.", min=1.0, max=180.0)] = 15.0,
    moment_nm: Annotated[float, typer.Option("--moment-nm", help="A moment that must be held besides the push, N m.")] = 0.0,
    sector: Annotated[str, typer.Option("--sector", help="All wheels stand on a roller, or on a rigid part.")] = "roller",
    plot: PlotOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Largest push, acceleration and braking in each direction before a wheel slips.

    Example: slipfit omni limit ohio_omni --ground ohio_paper --plot limit.png
    """
    import numpy as np

    from slipfit.control.static_limit import static_limit
    from slipfit.library import find_ground, omni_robot

    _check(out, plot, force=force)
    if not math.isfinite(moment_nm):
        raise ParameterError(f"--moment-nm {moment_nm}: expected a finite moment")
    chosen, surface = omni_robot(robot), find_ground(ground)
    found = static_limit(
        chosen, surface, directions_rad=np.radians(np.arange(0.0, 360.0, every_deg)), moment_nm=moment_nm, sector=sector
    )
    written = []
    if out:
        found.save(out, force=force)
        written.append(out)
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.report.omni_limit_figure import draw_static_limit

        finely = np.radians(np.arange(0.0, 360.0, 2.0))
        drawn = static_limit(chosen, surface, directions_rad=finely, moment_nm=moment_nm, sector=sector)
        save_figure(draw_static_limit(drawn), plot, force=force)
        written.append(plot)
    text = "\n".join([found.summary(), *(f"wrote {path}" for path in written)])
    show(text, found.to_document() | {"written": written}, as_json=json)


def move(
    robot: OmniArgument,
    ground: GroundOption,
    speed: Annotated[float, typer.Option("--speed", help="At most this fast, m/s, or rad/s of a turn.")],
    way_m: Annotated[float | None, typer.Option("--way-m", help="How far, m.")] = None,
    direction_deg: Annotated[float, typer.Option("--direction-deg", help="Where to, degrees from the robot's x axis.")] = 0.0,
    turn_deg: Annotated[float | None, typer.Option("--turn-deg", help="Turn on the spot instead, degrees.")] = None,
    share: Annotated[float, typer.Option("--share", help="How much of the limit to use.", min=0.01, max=1.0)] = 0.8,
    scenario: Annotated[Path | None, typer.Option("--scenario", help="Write the quintic move as a scenario, .yaml.")] = None,
    plot: PlotOption = None,
    out: OutOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Plan a way or a turn within the static limit, drive it in the simulator, and say how much slip it saves over steps.

    Example: slipfit omni move robotino --ground ohio_paper --way-m 0.4 --speed 0.5 --plot move.png
    """
    from slipfit.library import find_ground, omni_robot
    from slipfit.library.files import check_target
    from slipfit.simulation.gentle import STEEPEST, gentle_move, saved_slip
    from slipfit.simulation.scenario import Scenario
    from slipfit.simulation.scenario_ground import ScenarioGround

    _check(out, plot, force=force)
    if scenario:
        check_target(scenario, force=force, formats=(".yaml", ".yml"))
    chosen, surface = omni_robot(robot), find_ground(ground)
    moves = {
        profile: gentle_move(
            chosen, surface, way_m=way_m, direction_rad=math.radians(direction_deg),
            turn_rad=None if turn_deg is None else math.radians(turn_deg), speed=speed, profile=profile, share=share,
        )
        for profile in STEEPEST
    }  # fmt: skip
    with working("simulating; a law that was never run here is compiled first, some 20 s"):
        found = saved_slip(chosen, surface, moves)
    written = []
    if scenario:
        about = f"{moves['quintic'].summary()}; {chosen.name}"
        Scenario(about=about, ground=ScenarioGround(surface=ground), commands=moves["quintic"].commands(), step_s=0.00025).save(
            scenario, force=force
        )
        written.append(scenario)
    if out:
        found.save(out, force=force)
        written.append(out)
    if plot:
        from slipfit.report.figures import save_figure
        from slipfit.report.omni_limit_figure import draw_saved_slip

        save_figure(draw_saved_slip(found, chosen), plot, force=force)
        written.append(plot)
    text = "\n".join([found.summary(), *(f"wrote {path}" for path in written)])
    show(text, found.to_document() | {"written": written}, as_json=json)


def _check(out: Path | None, plot: Path | None, *, force: bool) -> None:
    from slipfit.library.files import check_target

    if out:
        check_target(out, force=force, formats=(".json",))
    if plot:
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)
