"""The report of a simulated drive: one page with the drive from above as it moves, over time, and the numbers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import slipfit
from slipfit.contact import GROUND_LAWS
from slipfit.library import Ground, OmniRobot, SkidSteerRobot, citation, references
from slipfit.library.parameter import Parameter, VectorParameter
from slipfit.report.drive_figures import over_time
from slipfit.report.html import Panel, render, write_page
from slipfit.report.playing import pace_told
from slipfit.report.top_view import frame_places, rigid_wheels, top_view
from slipfit.report.wording import with_spread
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory

NUMBER_HEADS = ["number", "value", "source", "note"]


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    """What the template shows, in its order."""

    robot: str
    robot_about: str
    ground: str
    ground_about: str
    scenario_about: str
    summary: str
    notes: Sequence[str]
    top_view: Panel
    over_time: Panel
    number_heads: list[str]
    robot_rows: list[list[str]]
    law: str
    ground_rows: list[list[str]]
    works: list[str]
    scenario_yaml: str


def write_drive_report(
    trajectory: Trajectory,
    robot: SkidSteerRobot | OmniRobot,
    ground: Ground,
    scenario: Scenario,
    path: Path | str,
    *,
    notes: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write the report of a drive of this robot through this scenario: one .html file that loads nothing from anywhere."""
    write_page(drive_page(trajectory, robot, ground, scenario, notes=notes), Path(path), force=force)


def drive_page(
    trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot, ground: Ground, scenario: Scenario, *, notes: Sequence[str] = ()
) -> str:
    """The report as text."""
    t = trajectory
    numbers = numbers_of(robot)
    constants = [*ground.parameters.values(), ground.gravity_mps2]
    sources = sorted({entry.source for entry in (*numbers, *constants)} & set(references()))
    law = GROUND_LAWS[ground.law]
    report = _Report(
        robot=t.robot,
        robot_about=robot.about,
        ground=t.ground,
        ground_about=ground.about,
        scenario_about=scenario.about,
        summary=t.summary(),
        notes=notes,
        top_view=Panel("top-view", top_view(t, robot), _top_view_caption(t, robot)),
        over_time=Panel("over-time", over_time(t, robot, scenario), _over_time_caption(robot)),
        number_heads=NUMBER_HEADS,
        robot_rows=[number_row(entry) for entry in numbers],
        law=f"{law.name}: {law.formula}",
        ground_rows=[number_row(entry) for entry in constants],
        works=[f"{key}: {citation(key)}" for key in sources],
        scenario_yaml=scenario.to_yaml(),
    )
    return render("drive.html.j2", r=report, version=slipfit.__version__)


def _top_view_caption(t: Trajectory, robot: SkidSteerRobot | OmniRobot) -> str:
    wheels = "Wheels are rectangles in their rolling direction; the colour is the speed of the contact over the ground"
    if not robot.has_sides:
        wheels += ": along the roller's axis on a roller, which rolls across it, and all of it on the rigid part between two"
        if rigid_wheels(t, robot).any():
            wheels += " (thick orange edge)"
    return (
        f"{wheels}; the brightest colour is for all that is faster, too. Arrows are the ground's forces on the wheels. Played "
        f"{pace_told(t.time_s[frame_places(t)])}, or as fast as the browser draws. A wheel under the pointer tells its numbers."
    )


def _over_time_caption(robot: SkidSteerRobot | OmniRobot) -> str:
    asked = "speeds of the motors at no load" if robot.powertrain.kind == "dc_motor" else "wheel speeds"
    return f"Commanded are {asked}. The upright line is the moment shown above; a click on a curve shows that moment above."


def numbers_of(robot: SkidSteerRobot | OmniRobot) -> list[Parameter | VectorParameter]:
    """Every number of a robot's file, in its order."""
    parts = [robot, robot.wheels, robot.powertrain]
    return [entry for part in parts for _, entry in part if isinstance(entry, Parameter | VectorParameter)]


def number_row(entry: Parameter | VectorParameter) -> list[str]:
    if isinstance(entry, Parameter):
        return [entry.name, with_spread(entry.value, entry.std), entry.source, entry.note]
    shown = [f"[{', '.join(f'{c:g}' for c in part)}]" if isinstance(part, tuple) else f"{part:.4g}" for part in entry.value]
    spread = "" if entry.std is None else f" ± {entry.std:g}"
    return [entry.name, f"{', '.join(shown)}{spread}", entry.source, entry.note]
