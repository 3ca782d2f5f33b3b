"""The report of a rover's drive: one page with the drive in space, over time, its energy, and the numbers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import slipfit
from slipfit.contact import GROUND_LAWS
from slipfit.library import Ground, SkidSteerRobot, citation, find_terrain, references
from slipfit.report.drive_report import NUMBER_HEADS, number_row, numbers_of
from slipfit.report.html import Panel, render, write_page
from slipfit.report.rover_figures import energy_over_time, energy_parts, rover_over_time
from slipfit.report.rover_scene import scene, slip_top
from slipfit.report.wording import percent
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.torque_model import TorqueModelRun
from slipfit.simulation.trajectory import Trajectory

#: Panels of this link zoom their time axes together.
_TIME = "time"


@dataclass(frozen=True, eq=False, slots=True)
class _Report:
    """What the template shows, in its order."""

    robot: str
    robot_about: str
    ground: str
    ground_about: str
    scenario_about: str
    verdict: str
    is_good: bool
    told_rows: list[list[str]]
    notes: Sequence[str]
    scene: Panel
    over_time: Panel
    energy_parts: Panel
    energy_over_time: Panel
    number_heads: list[str]
    robot_rows: list[list[str]]
    law: str
    ground_rows: list[list[str]]
    works: list[str]
    scenario_yaml: str


def write_rover_report(
    trajectory: Trajectory,
    robot: SkidSteerRobot,
    ground: Ground,
    scenario: Scenario,
    path: Path | str,
    *,
    beside: TorqueModelRun | None = None,
    notes: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write the report of a rover's drive: one .html file that loads nothing from anywhere.

    Parameters
    ----------
    beside : the same scenario by the torque model (`simulate_torque_model`), drawn for comparison
    notes : sentences for the reader, besides the drive's own
    """
    write_page(rover_page(trajectory, robot, ground, scenario, beside=beside, notes=notes), Path(path), force=force)


def rover_page(
    trajectory: Trajectory,
    robot: SkidSteerRobot,
    ground: Ground,
    scenario: Scenario,
    *,
    beside: TorqueModelRun | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The report as text."""
    t = trajectory
    terrain = find_terrain(scenario.ground.terrain) if scenario.ground.terrain else None
    numbers = numbers_of(robot)
    constants = [*ground.parameters.values(), ground.gravity_mps2]
    sources = sorted({entry.source for entry in (*numbers, *constants)} & set(references()))
    law = GROUND_LAWS[ground.law]
    report = _Report(
        robot=t.robot,
        robot_about=robot.about,
        ground=t.ground,
        ground_about=f"{ground.about}. {terrain.about}" if terrain and terrain.about else ground.about,
        scenario_about=scenario.about,
        verdict=verdict(t),
        is_good=t.outcome.is_success and not np.isfinite(t.spins_from_s),
        told_rows=told_rows(t, beside),
        notes=[*t.all_notes, *notes, *_about_torque_model(beside)],
        scene=Panel("scene", scene(t, scenario, terrain, beside), _scene_caption(t)),
        over_time=Panel("over-time", rover_over_time(t, robot, beside), _over_time_caption(t, beside), _TIME),
        energy_parts=Panel("energy-parts", energy_parts(t.energy), _energy_caption(t)),
        energy_over_time=Panel("energy-time", energy_over_time(t), "The time axis follows the one above.", _TIME),
        number_heads=NUMBER_HEADS,
        robot_rows=[number_row(entry) for entry in numbers],
        law=f"{law.name}: {law.formula}",
        ground_rows=[number_row(entry) for entry in constants],
        works=[f"{key}: {citation(key)}" for key in sources],
        scenario_yaml=scenario.to_yaml(),
    )
    return render("rover.html.j2", r=report, version=slipfit.__version__)


def verdict(trajectory: Trajectory) -> str:
    """How the drive ended, and when."""
    t = trajectory
    if t.outcome is Outcome.ARRIVED:
        return f"{t.outcome.value.removesuffix('.')} after {t.arrived_at_s:.2f} s."
    when = f" It happened at {t.stopped_at_s:.2f} s." if np.isfinite(t.stopped_at_s) else ""
    return f"{t.outcome.value}{when}"


def told_rows(trajectory: Trajectory, beside: TorqueModelRun | None = None) -> list[list[str]]:
    """The numbers that people ask for first: what, and how much."""
    t, energy = trajectory, trajectory.energy
    slip, angle = np.abs(t.slip), np.degrees(np.abs(t.slip_angle_rad))
    rows = [["time and way", f"{t.time_s[-1]:.2f} s, {t.distance_m:.2f} m, {t.vx_mps.max():.2f} m/s ahead at most"]]
    if t.waypoints_m:
        rows.append(["waypoints reached", f"{int(t.waypoint[-1])} of {len(t.waypoints_m)}"])
        rows.append(["farthest from the path", f"{t.largest_cross_track_m:.3f} m"])
    if t.shape == "plane":
        rows.append(["slope", f"{np.degrees(t.slope_rad):.3g}°"])
    middle, most = np.nanquantile(slip, (0.5, 0.95))
    rows += [
        ["gravity", f"{t.gravity_mps2:.4g} m/s²"],
        ["slip ratio", f"median {middle:.3f}, 95 % of the time below {most:.3f}"],
        ["slip angle", f"95 % of the time below {np.nanquantile(angle, 0.95):.1f}°"],
        ["grip used", f"{t.largest_grip_used:.2f} of the load, kept for 0.05 s"],
        ["nearest to tipping over", f"{np.degrees(t.smallest_tip_over_margin_rad):.1f}° left"],
    ]
    if t.is_on_soil:
        middle_mm, deepest_mm = 1e3 * np.nanmedian(t.sinkage_m), 1e3 * np.nanmax(t.sinkage_m)
        rows.append(["sinkage of wheels", f"median {middle_mm:.1f} mm, at most {deepest_mm:.1f} mm"])
    lifted = [f"{t.wheel_names[w]} first at {when:.2f} s" for w, when in t.lifted_wheels.items()]
    rows.append(["wheels off the ground", ", ".join(lifted) or "none"])
    rows.append(["energy from the supply", f"{energy.supplied_j:.4g} J{_per_metre(t)}"])
    rows.append(
        ["not explained by the books", f"{energy.remainder_j:.2g} J, {percent(energy.remainder_share)} of what went through"]
    )
    if beside is not None:
        rows.append(["by the torque model", _torque_model_told(beside, bool(t.waypoints_m))])
    return rows


def _per_metre(t: Trajectory) -> str:
    return f", {t.energy.supplied_j / t.distance_m:.3g} J for each metre" if t.distance_m > 0.0 else ""


def _torque_model_told(beside: TorqueModelRun, is_route: bool) -> str:
    if beside.broke_down_at_s is not None:
        return f"broke down at {beside.broke_down_at_s:.2f} s"
    if beside.arrived_at_s is not None:
        return f"arrived after {beside.arrived_at_s:.2f} s"
    if is_route:
        return "did not arrive"
    return f"{np.nanmax(beside.vx_mps):.2f} m/s ahead at most"


def _about_torque_model(beside: TorqueModelRun | None) -> list[str]:
    if beside is None:
        return []
    lines = [
        "The torque model is the comparison that has no wheels: motors run unloaded, viscous friction stands for the ground."
    ]
    if beside.broke_down_at_s is not None:
        lines.append(
            f"It broke down at {beside.broke_down_at_s:.2f} s: its thrust points where the robot moves, not where it faces, and "
            f"on a slope the robot slid past sideways. It is drawn until then."
        )
    return lines


def _scene_caption(t: Trajectory) -> str:
    above = "" if slip_top(t) >= 1.0 else " and all above"
    slip = (
        f"The path has the colour of the wheel that slips most at the moment; the brightest stands for {slip_top(t):.2g}{above}."
    )
    more = " Lines on the ground are those of equal height." if t.shape != "plane" or t.slope_rad else ""
    return f"Drag to turn, scroll to come nearer; axes are equal. {slip}{more}"


def _over_time_caption(t: Trajectory, beside: TorqueModelRun | None) -> str:
    wheels = "Zoom one row, and all follow. "
    lifted = "A wheel that is off the ground has no load; bars in the last row show when. " if t.lifted_wheels else ""
    model = "The wide and pale line in the first row is the torque model." if beside is not None else ""
    return f"{wheels}{lifted}{model}".strip()


def _energy_caption(t: Trajectory) -> str:
    came_down = " A bar that goes back to the right is a store that gave: a robot that came down, or slowed."
    gave = came_down if t.energy.stored_j < 0.0 else ""
    share = percent(t.energy.remainder_share)
    return (
        f"Each bar takes from what the one above has left.{gave} What the books do not explain is what the stepping scheme "
        f"itself swallowed: {share} of all that went through the motors, less with a shorter step_s."
    )
